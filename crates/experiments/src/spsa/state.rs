//! The course of a tuning: its values after each iteration, from the pairs of a match in their order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::{Param, Perturbation, Tuning};
use crate::failed_games::FailedGames;
use crate::{PairSettings, Side};
use patzer_io::error::{Error, Result};
use patzer_io::number::counted;
use patzer_match::participant::Participant;
use patzer_match::record::PairEntry;
use patzer_match::{PlayerError, Standings, Tally};
use patzer_stats::Z95;

/// Values after every iteration so far, shared with the threads that play.
pub struct Tuner {
    pub tuning: Tuning,
    /// The start first.
    values: Mutex<Vec<Vec<f64>>>,
    grown: Condvar,
}

/// Time between two looks at the flag that halts.
const TICK: Duration = Duration::from_millis(50);

impl Tuner {
    pub fn new(tuning: Tuning) -> Tuner {
        let values = Mutex::new(vec![tuning.start()]);
        Tuner { tuning, values, grown: Condvar::new() }
    }

    fn values(&self) -> MutexGuard<'_, Vec<Vec<f64>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that an iteration perturbs, if the results that it needs are known.
    fn known<'a>(&self, values: &'a [Vec<f64>], iteration: usize) -> Option<&'a Vec<f64>> {
        values.get((iteration + 1).saturating_sub(self.tuning.schedule.window))
    }

    /// Perturbation of a pair of games; waits for the results that it needs. `None` if halted.
    pub fn perturbation(&self, pair: usize, halt: &AtomicBool) -> Option<Perturbation> {
        let iteration = pair / self.tuning.schedule.pairs;
        let mut values = self.values();
        loop {
            if halt.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(known) = self.known(&values, iteration) {
                return Some(self.tuning.perturb(iteration, known));
            }
            let waited = self.grown.wait_timeout(values, TICK);
            values = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl PairSettings for Tuner {
    /// Checks that a player takes both ends of every range, and of a float also what is not whole.
    fn check(&self, participant: &Participant, stop: &AtomicBool) -> Result<()> {
        let tuning = &self.tuning;
        let failed = |error: PlayerError| Error::input(format!("{}: {error}", participant.name));
        let mut player = match participant.player(stop) {
            Err(PlayerError::Stopped) => return Ok(()),
            player => player.map_err(failed)?,
        };
        for end in [|param: &Param| param.min, |param: &Param| param.max] {
            let values: Vec<f64> = tuning.params.iter().map(end).collect();
            player.set_options(&tuning.options(&values)).map_err(failed)?;
        }
        for param in tuning.params.iter().filter(|param| param.float) {
            let Err(error) = player.set_options(&[(param.name.clone(), param.text(param.inside()))]) else {
                continue;
            };
            let name = &participant.name;
            return Err(Error::input(format!("{name}: {error}: declared float, but the engine has a spin")));
        }
        Ok(())
    }

    /// Waits for the results of the iterations before the window.
    fn options(&self, pair: usize, halt: &AtomicBool) -> Option<[Side; 2]> {
        let Perturbation { plus, minus, .. } = self.perturbation(pair, halt)?;
        Some([plus, minus].map(|values| self.tuning.options(&values)))
    }
}

impl Tuning {
    pub fn options(&self, values: &[f64]) -> Side {
        self.params
            .iter()
            .zip(values)
            .map(|(param, &value)| (param.name.clone(), param.text(value)))
            .collect()
    }
}

/// A parameter's present value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    #[serde(flatten)]
    pub param: Param,
    pub value: f64,
    /// Value as an option's text.
    pub text: String,
    /// Half the width of the 95 % interval that chance alone explains.
    pub noise: f64,
}

/// The standings of a tuning.
pub struct SpsaState {
    tuner: Arc<Tuner>,
    tally: Tally,
    /// Pairs of the present iteration, and games won less games lost in them.
    unfinished: (usize, f64),
    /// Sum of the squared moves of each parameter.
    squares: Vec<f64>,
    failed: FailedGames,
}

impl SpsaState {
    pub fn new(tuner: Arc<Tuner>) -> SpsaState {
        let squares = vec![0.0; tuner.tuning.params.len()];
        SpsaState {
            tuner,
            tally: Tally::default(),
            unfinished: (0, 0.0),
            squares,
            failed: FailedGames::default(),
        }
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Iterations of the whole schedule.
    pub fn planned(&self) -> usize {
        self.tuner.tuning.schedule.iterations
    }

    pub fn iterations(&self) -> usize {
        self.tuner.values().len() - 1
    }

    /// The present values, each with the interval of chance: the moves of a parameter that makes no difference are a
    /// random walk, whose variance is the sum of their squares.
    pub fn now(&self) -> Vec<Value> {
        let values = self.tuner.values();
        let now = values.last().map_or(&[][..], Vec::as_slice);
        let params = self.tuner.tuning.params.iter().zip(now).zip(&self.squares);
        params
            .map(|((param, &value), square)| Value {
                param: param.clone(),
                value,
                text: param.text(value),
                noise: Z95 * square.sqrt(),
            })
            .collect()
    }

    fn finish_iteration(&mut self, result: f64) {
        let Tuner { tuning, grown, .. } = &*self.tuner;
        let mut values = self.tuner.values();
        let iteration = values.len() - 1;
        let (Some(known), Some(last)) = (self.tuner.known(&values, iteration), values.last()) else { return };
        let drawn = tuning.perturb(iteration, known);
        let mut next = last.clone();
        tuning.update(&mut next, &drawn, result);
        for (square, step) in self.squares.iter_mut().zip(&drawn.step) {
            *square += (step * result).powi(2);
        }
        values.push(next);
        grown.notify_all();
    }
}

impl Standings for SpsaState {
    fn add(&mut self, entry: &PairEntry) {
        self.tally.add(entry);
        self.failed.note(entry);
        let won: f64 = entry.half_points.iter().map(|&points| f64::from(points) - 1.0).sum();
        let (pairs, result) = (self.unfinished.0 + 1, self.unfinished.1 + won);
        self.unfinished = (pairs, result);
        if pairs == self.tuner.tuning.schedule.pairs {
            self.unfinished = (0, 0.0);
            self.finish_iteration(result);
        }
    }

    fn between(&self, _: [usize; 2]) -> Tally {
        self.tally.clone()
    }

    fn player_tally(&self, player: usize) -> Tally {
        if player == 0 { self.tally.clone() } else { self.tally.reversed() }
    }

    fn decided(&self) -> bool {
        self.broken()
    }

    fn summary_line(&self) -> String {
        format!("{}, {}", counted(self.games(), "game"), self.tuning().unwrap_or_default())
    }

    fn tuning(&self) -> Option<String> {
        let values: Vec<String> =
            self.now().iter().take(6).map(|now| format!("{} {:.2}", now.param.name, now.value)).collect();
        let (done, planned) = (self.iterations(), self.planned());
        // A tuning may go on beyond its schedule.
        let of = if done <= planned { format!(" of {planned}") } else { String::new() };
        Some(format!("iteration {done}{of}: {}", values.join(", ")))
    }

    fn games(&self) -> u64 {
        self.tally.games.games()
    }
}

impl SpsaState {
    /// Every game of late ended because an engine crashed, did not answer or played an illegal move.
    pub fn broken(&self) -> bool {
        self.failed.hopeless()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spsa::Schedule;
    use patzer_match::{Reason, SWAPPED};

    fn entry(pair: usize, players: [usize; 2], half_points: [u8; 2]) -> PairEntry {
        let reasons = [Reason::Checkmate, Reason::Repetition];
        let (opening, mirrored) = (pair - 1, false);
        PairEntry { pair, players, opening, half_points, reasons, mirrored, colours: SWAPPED }
    }

    /// A pair's half points by the logistic function of the difference of two strengths in Elo, half the games drawn.
    fn play(rng: &mut patzer_chess::rng::Rng, elo: f64) -> [u8; 2] {
        let win = 1.0 / (1.0 + 10f64.powf(-elo / 400.0));
        [(); 2].map(|()| u8::from(rng.unit() < win) + u8::from(rng.unit() < win))
    }

    fn run(tuning: Tuning, seed: u64, strength: impl Fn(&[f64]) -> f64) -> SpsaState {
        let tuner = Arc::new(Tuner::new(tuning));
        let mut state = SpsaState::new(tuner.clone());
        let mut rng = patzer_chess::rng::Rng::new(seed);
        let Schedule { iterations, pairs, .. } = tuner.tuning.schedule;
        for pair in 0..iterations * pairs {
            let Perturbation { plus, minus, .. } = tuner.perturbation(pair, &AtomicBool::new(false)).unwrap();
            let half_points = play(&mut rng, strength(&plus) - strength(&minus));
            state.add(&entry(pair + 1, [0, 1], half_points));
        }
        state
    }

    const OPTIMUM: [f64; 8] = [30.0, 700.0, 0.2, 61.0, -40.0, 5.0, 1500.0, 0.9];

    fn eight(iterations: usize, pairs: usize, window: usize) -> Tuning {
        let lines = [
            "a, int, 50, 0, 100, 5, 0.002",
            "b, int, 500, 0, 1000, 50, 0.002",
            "c, float, 0.5, 0, 1, 0.05, 0.002",
            "d, int, 40, 0, 100, 5, 0.002",
            "e, int, 0, -100, 100, 10, 0.002",
            "f, int, 8, 0, 16, 0.8, 0.002",
            "g, int, 1000, 0, 2000, 100, 0.002",
            "h, float, 0.5, 0, 1, 0.05, 0.002",
        ];
        let params = lines.iter().map(|line| line.parse().unwrap()).collect();
        let schedule = Schedule { iterations, pairs, window, alpha: 0.602, gamma: 0.101, a_ratio: 0.1 };
        Tuning { params, schedule, seed: 7 }
    }

    /// Elo below the optimum: 15 for each parameter a fifth of its range away.
    fn strength(values: &[f64]) -> f64 {
        let tuning = eight(1, 1, 1);
        let away = tuning.params.iter().zip(values).zip(OPTIMUM);
        -away.map(|((p, value), best)| 15.0 * ((value - best) / (p.max - p.min) * 5.0).powi(2)).sum::<f64>()
    }

    #[test]
    fn eight_parameters_come_back_to_their_optimum() {
        let lost = strength(&eight(1, 1, 1).start());
        assert!(lost < -80.0, "{lost}");
        for (iterations, pairs, window) in [(40_000, 1, 32), (5_000, 8, 4), (40_000, 1, 1)] {
            let state = run(eight(iterations, pairs, window), 11, strength);
            assert_eq!(state.iterations(), iterations);
            let now = state.now();
            let values: Vec<f64> = now.iter().map(|now| now.value).collect();
            let left = strength(&values);
            assert!(left > 0.1 * lost, "{window}: {left} of {lost} Elo are left: {values:?}");
            for (now, best) in now.iter().zip(OPTIMUM) {
                let range = now.param.max - now.param.min;
                assert!(
                    (now.value - best).abs() < 0.1 * range,
                    "{}: {} is not {best}",
                    now.param.name,
                    now.value
                );
            }
        }
    }

    #[test]
    fn the_interval_holds_where_a_parameter_makes_no_difference() {
        let (mut within, mut all) = (0, 0);
        for seed in 0..40 {
            let tuning = Tuning { seed, ..eight(500, 2, 4) };
            for now in run(tuning, 1000 + seed, |_| 0.0).now() {
                all += 1;
                within += u32::from((now.value - now.param.start).abs() <= now.noise);
            }
        }
        let share = f64::from(within) / f64::from(all);
        assert!((0.92..=0.98).contains(&share), "{share}");
    }

    #[test]
    fn an_iteration_waits_for_the_results_of_its_window_alone() {
        let tuner = Tuner::new(eight(10, 2, 3));
        let halted = AtomicBool::new(true);
        assert!(tuner.perturbation(0, &halted).is_none());
        let running = AtomicBool::new(false);
        for pair in 0..6 {
            assert!(tuner.perturbation(pair, &running).is_some(), "{pair}");
        }
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| tuner.perturbation(6, &running));
            std::thread::sleep(3 * TICK);
            assert!(!waiting.is_finished());
            let next = tuner.tuning.start().iter().map(|value| value + 0.125).collect();
            tuner.values().push(next);
            let drawn = waiting.join().unwrap().unwrap();
            assert_eq!(drawn, tuner.tuning.perturb(3, &tuner.values()[1]));
        });
    }

    #[test]
    fn an_engine_that_fails_in_every_game_ends_the_tuning() {
        let mut state = SpsaState::new(Arc::new(Tuner::new(eight(100, 1, 1))));
        for pair in 1..=16 {
            assert!(!state.decided());
            state.add(&PairEntry {
                reasons: [Reason::Stall, Reason::Disconnect],
                ..entry(pair, [0, 1], [0, 2])
            });
        }
        assert!(state.decided() && state.broken());
        state.add(&entry(17, [0, 1], [1, 1]));
        assert!(!state.broken());
    }
}
