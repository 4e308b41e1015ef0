//! A player that may sample its first moves among the engine's best lines.
//!
//! Line k is played with probability proportional to exp((score k − best score) / temperature). The reported
//! score is the best line's, since training needs the position's score.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use shakmaty::{Chess, Move};

use patzer_chess::rng::Rng;
use patzer_chess::score::{Score, is_mate};
use patzer_match::{InProcess, MoveReply, Player, PlayerError, TimeSettings, Turn, score_position};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Temperature {
    pub plies: usize,
    /// A move this much worse, in centipawns, is sampled e times less often; above 0.
    pub centipawns: f64,
    pub lines: usize,
}

/// Programs play their best move.
pub enum Engine {
    InProcess(Box<InProcess>),
    Program(Box<dyn Player>),
}

pub struct Sampler {
    engine: Engine,
    temperature: Option<Temperature>,
    rng: Rng,
}

impl Sampler {
    pub fn new(engine: Engine, temperature: Option<Temperature>) -> Sampler {
        Sampler { engine, temperature, rng: Rng::new(0) }
    }

    /// Scores a position from the side to move.
    pub fn score(
        &mut self,
        position: &Chess,
        settings: &TimeSettings,
        stop: &AtomicBool,
    ) -> Result<Option<Score>, PlayerError> {
        score_position(self.engine.player(), position, settings, stop)
    }

    pub fn is_program(&self) -> bool {
        matches!(self.engine, Engine::Program(_))
    }

    pub fn seed(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }
}

impl Engine {
    fn player(&mut self) -> &mut dyn Player {
        match self {
            Engine::InProcess(engine) => engine.as_mut(),
            Engine::Program(program) => program.as_mut(),
        }
    }
}

impl Player for Sampler {
    fn new_game(&mut self, start: &Chess, stop: &AtomicBool) -> Result<(), PlayerError> {
        self.engine.player().new_game(start, stop)
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let sampled = self.temperature.filter(|temperature| turn.line.moves().len() < temperature.plies);
        let (engine, Temperature { centipawns, lines, .. }) = match (&mut self.engine, sampled) {
            (Engine::InProcess(engine), Some(temperature)) => (engine, temperature),
            (engine, _) => return engine.player().choose(turn),
        };
        // Latest report of each line; an unfinished iteration leaves lines of the previous one.
        let mut best: Vec<Option<(Move, Score)>> = vec![None; lines];
        let mut choice = engine.search(turn, lines, &mut |report| {
            if let (Some(place), Some(&m)) = (best.get_mut(report.rank - 1), report.pv.first()) {
                *place = Some((m, report.score));
            }
        })?;
        // A move that rose during an unfinished iteration may also be listed at its old rank.
        let mut moves: Vec<(Move, Score)> = Vec::with_capacity(lines);
        for (m, score) in best.into_iter().flatten() {
            if moves.iter().all(|(other, _)| *other != m) {
                moves.push((m, score));
            }
        }
        if let Some(m) = draw(&moves, centipawns, &mut self.rng) {
            choice.best = Ok(m);
        }
        Ok(choice)
    }

    fn abandon(&mut self) {
        self.engine.player().abandon();
    }
}

/// Samples a move, best first in `moves`; `None` if there is none, or the best is a mate.
fn draw(moves: &[(Move, Score)], temperature: f64, rng: &mut Rng) -> Option<Move> {
    let &(_, best) = moves.first()?;
    if is_mate(best) {
        return None;
    }
    let weight = |score: Score| (f64::from((score - best).min(0)) / temperature).exp();
    let mut rest = rng.unit() * moves.iter().map(|&(_, score)| weight(score)).sum::<f64>();
    let drawn = moves.iter().find(|&&(_, score)| {
        rest -= weight(score);
        rest < 0.0
    });
    drawn.or(moves.last()).map(|&(m, _)| m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position;

    #[test]
    fn lots_follow_the_temperature() {
        let position = Chess::default();
        let legal = position.legal_moves();
        let moves = [(legal[0], 50), (legal[1], 20), (legal[2], -10)];
        let mut rng = Rng::new(3);
        let mut counts = [0.0; 3];
        let all = 20_000;
        for _ in 0..all {
            let m = draw(&moves, 30.0, &mut rng).unwrap();
            counts[moves.iter().position(|(other, _)| *other == m).unwrap()] += 1.0;
        }
        // 1, 1/e and 1/e², over their sum.
        for (count, share) in counts.iter().zip([0.665_241, 0.244_728, 0.090_031]) {
            let error: f64 = count / f64::from(all) - share;
            assert!(error.abs() < 0.012, "{counts:?}");
        }
        assert_eq!(draw(&[(legal[0], 31_997), (legal[1], 0)], 30.0, &mut rng), None, "a mate is played");
        assert_eq!(draw(&[], 30.0, &mut rng), None);
    }
}
