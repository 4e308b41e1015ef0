//! Pairs of games on several threads, handed over in order.
//!
//! In: openings, rules, and a way to make two players. Out: pair after pair in the order of their numbers,
//! whichever finished first, until the receiver has enough. A pair's games depend on its number alone (opening,
//! players prepared anew), and the receiver sees pairs in one order, so whatever it decides and writes is the
//! same for any number of threads.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use shakmaty::Color;

use super::game::{Game, Rules, play};
use super::openings::Openings;
use super::player::Player;
use crate::error::{Error, Result};

/// Two games from one opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The pair's number, from 0.
    pub index: usize,
    /// The first player has White in the first game and Black in the second.
    pub games: [Game; 2],
}

impl Pair {
    /// The first player's half points in each game, 0 to 2.
    pub fn half_points(&self) -> [u8; 2] {
        [self.games[0].half_points(Color::White), self.games[1].half_points(Color::Black)]
    }

    /// Whether both games have the same moves, as they have if the players play alike.
    pub fn mirrored(&self) -> bool {
        let [first, second] = &self.games;
        first.moves.iter().map(|played| played.m).eq(second.moves.iter().map(|played| played.m))
    }
}

/// The two players of a thread: the first and the second of the test.
pub type Players = [Box<dyn Player>; 2];

/// What is to be played, and how.
pub struct Plan<'a> {
    /// Numbers of the pairs, from 0.
    pub pairs: Range<usize>,
    /// Threads, each with players of its own.
    pub concurrency: usize,
    /// Where the pairs begin.
    pub openings: &'a Openings,
    /// The rules of every game.
    pub rules: Rules,
}

/// How a run of pairs ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// Pairs that were finished, but lie beyond the one at which the receiver had enough, or after an unfinished
    /// one when the run was stopped. They are not used.
    pub discarded: usize,
}

/// How often `idle` is called while no pair comes in, and `stop` looked at.
const TICK: Duration = Duration::from_millis(50);

/// Plays pairs until all are played, `receive` breaks, or `stop` is set. Unfinished pairs are abandoned.
///
/// # Errors
/// What `receive` reports, or that no thread can be started.
pub fn run(
    plan: &Plan,
    players: &(dyn Fn() -> Players + Sync),
    stop: &AtomicBool,
    receive: &mut dyn FnMut(Pair) -> Result<ControlFlow<()>>,
    idle: &mut dyn FnMut(),
) -> Result<Ended> {
    let halt = AtomicBool::new(false);
    let next = AtomicUsize::new(plan.pairs.start);
    let (sender, pairs) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..plan.concurrency.min(plan.pairs.len()) {
            let (sender, halt, next) = (sender.clone(), &halt, &next);
            // Searches recurse deeply, and test builds use more stack than others.
            let builder = std::thread::Builder::new().name(format!("games-{thread}")).stack_size(32 << 20);
            let worker = move || work(plan, players(), next, halt, &sender);
            if let Err(error) = builder.spawn_scoped(scope, worker) {
                halt.store(true, Ordering::Relaxed);
                return Err(Error::internal(format!("no thread for game {thread}: {error}")));
            }
        }
        drop(sender);
        let ended = collect(plan.pairs.start, &pairs, &halt, stop, receive, idle);
        halt.store(true, Ordering::Relaxed);
        let late = pairs.iter().count();
        ended.map(|discarded| Ended { discarded: discarded + late })
    })
}

fn work(
    plan: &Plan,
    mut players: Players,
    next: &AtomicUsize,
    halt: &AtomicBool,
    sender: &mpsc::Sender<Pair>,
) {
    let [first, second] = &mut players;
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= plan.pairs.end || halt.load(Ordering::Relaxed) {
            return;
        }
        let start = &plan.openings.get(index, plan.rules.control.deterministic());
        let Some(one) = play(start, [first.as_mut(), second.as_mut()], &plan.rules, halt) else { return };
        let Some(two) = play(start, [second.as_mut(), first.as_mut()], &plan.rules, halt) else { return };
        if sender.send(Pair { index, games: [one, two] }).is_err() {
            return;
        }
    }
}

/// Hands pairs over in order; the number of finished ones that were not handed over.
fn collect(
    mut next: usize,
    pairs: &mpsc::Receiver<Pair>,
    halt: &AtomicBool,
    stop: &AtomicBool,
    receive: &mut dyn FnMut(Pair) -> Result<ControlFlow<()>>,
    idle: &mut dyn FnMut(),
) -> Result<usize> {
    let mut waiting = BTreeMap::new();
    loop {
        match pairs.recv_timeout(TICK) {
            Ok(pair) => {
                waiting.insert(pair.index, pair);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(waiting.len()),
        }
        while let Some(pair) = waiting.remove(&next) {
            next += 1;
            if receive(pair)?.is_break() {
                return Ok(waiting.len());
            }
        }
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
        idle();
    }
}

#[cfg(test)]
mod tests {
    use super::super::adjudication::Adjudication;
    use super::super::control::Control;
    use super::super::mock::Hashing;
    use super::super::openings::Order;
    use super::*;

    fn pairs(concurrency: usize, range: Range<usize>, enough: usize) -> Vec<Pair> {
        let openings = Openings::load(None, Order::Random, 1).unwrap();
        let rules = Rules {
            control: Control::Nodes(1),
            adjudication: Adjudication { max_moves: Some(40), ..Adjudication::NONE },
            margin: Duration::ZERO,
            overhead: Duration::ZERO,
        };
        let plan = Plan { pairs: range, concurrency, openings: &openings, rules };
        let players = || -> Players { [Box::new(Hashing::new(100)), Box::new(Hashing::new(7))] };
        let mut got = Vec::new();
        let mut receive = |pair| {
            got.push(pair);
            Ok(if got.len() == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        run(&plan, &players, &AtomicBool::new(false), &mut receive, &mut || {}).unwrap();
        got
    }

    #[test]
    fn any_number_of_threads_plays_the_same_games_in_the_same_order() {
        let alone = pairs(1, 0..12, usize::MAX);
        assert_eq!(alone.len(), 12);
        assert!(alone.iter().enumerate().all(|(i, pair)| pair.index == i));
        assert_eq!(alone, pairs(2, 0..12, usize::MAX));
        assert_eq!(alone, pairs(5, 0..12, usize::MAX));
        // A later start continues the same sequence.
        assert_eq!(alone[5..], pairs(3, 5..12, usize::MAX));
    }

    #[test]
    fn the_receiver_ends_the_run() {
        let alone = pairs(1, 0..1000, 4);
        assert_eq!(alone.len(), 4);
        assert_eq!(alone, pairs(3, 0..1000, 4));
    }

    #[test]
    fn both_games_of_a_pair_begin_from_its_opening_with_colours_swapped() {
        for pair in pairs(2, 0..6, usize::MAX) {
            let [first, second] = &pair.games;
            assert_eq!(first.start, second.start);
            // The two players choose differently, so swapping them changes the game.
            assert!(!pair.mirrored());
        }
    }

    #[test]
    fn a_fault_of_the_receiver_ends_the_run() {
        let openings = Openings::load(None, Order::Random, 1).unwrap();
        let rules = Rules {
            control: Control::Nodes(1),
            adjudication: Adjudication { max_moves: Some(5), ..Adjudication::NONE },
            margin: Duration::ZERO,
            overhead: Duration::ZERO,
        };
        let plan = Plan { pairs: 0..1000, concurrency: 2, openings: &openings, rules };
        let players = || -> Players { [Box::new(Hashing::new(1)), Box::new(Hashing::new(2))] };
        let mut receive = |_| Err(Error::usage("full"));
        let ended = run(&plan, &players, &AtomicBool::new(false), &mut receive, &mut || {});
        assert_eq!(ended.unwrap_err().to_string(), "full");
    }
}
