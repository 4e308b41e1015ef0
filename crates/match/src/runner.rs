//! The course of a match: each pair goes on disk, is counted and is told of, until there are enough.
//!
//! In: a plan, the record with the pairs that it holds already, standings that count. Out: how it ended. What the
//! pairs add up to is the business of the [`Standings`]: a [sequential test](super::sequential) that ends at its
//! verdict, or the [table](super::tournament) of a tournament.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::game::Reason;
use super::pairs::{self, MatchConfig, Pair, PlayerFactory};
use super::pgn;
use super::record::{MatchRecord, PairEntry};
use super::tally::Tally;
use crate::stats::Sprt;
use patzer_io::error::Result;

/// What pairs add up to.
pub trait Standings {
    /// Counts a pair.
    fn add(&mut self, entry: &PairEntry);

    /// The counts of two players, by their numbers as in the entries' `players`.
    fn between(&self, players: [usize; 2]) -> Tally;

    /// All results of one player, by its number.
    fn player_tally(&self, player: usize) -> Tally;

    /// The test that the counts may decide, with its LLR; `None` if all games are played whatever they say.
    fn test(&self) -> Option<(Sprt, f64)>;

    /// Whether there are enough pairs.
    fn decided(&self) -> bool;

    /// All counts in one line, for people.
    fn summary_line(&self) -> String;

    /// Games counted.
    fn games(&self) -> u64;

    /// So many players with all their results, by their share of points, the best first; equal ones in the order
    /// in which they were named.
    fn ranking(&self, players: usize) -> Vec<(usize, Tally)> {
        let mut rows: Vec<_> = (0..players).map(|player| (player, self.player_tally(player))).collect();
        rows.sort_by(|(_, a), (_, b)| b.share().total_cmp(&a.share()));
        rows
    }
}

/// Who is told what happens.
pub trait Observer {
    /// A pair that now counts.
    ///
    /// # Errors
    /// If it cannot be told, which ends the match.
    fn pair(&mut self, pair: &Pair, entry: &PairEntry, standings: &dyn Standings) -> Result<()>;

    /// A crash or a stall that was lived through.
    fn incident(&mut self, text: &str);

    /// Called a few times a second.
    fn tick(&mut self, standings: &dyn Standings);
}

/// Nobody is told anything.
impl Observer for () {
    fn pair(&mut self, _: &Pair, _: &PairEntry, _: &dyn Standings) -> Result<()> {
        Ok(())
    }

    fn incident(&mut self, _: &str) {}

    fn tick(&mut self, _: &dyn Standings) {}
}

/// How a match ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    /// Games of this run that count.
    pub games: u64,
    /// Wall-clock time of this run in seconds.
    pub seconds: f64,
    /// Finished pairs that are not counted because they lie beyond the end, or behind an unfinished one.
    pub discarded: usize,
    /// Whether all pairs of the plan were played.
    pub complete: bool,
}

impl RunSummary {
    /// Games a second in this run; 0 if nothing was played.
    pub fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.games as f64 / self.seconds } else { 0.0 }
    }
}

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_millis(200);

/// Plays until the standings are decided, the pairs of the plan are played or `stop` is set.
///
/// `done` are the pairs of a resumed record.
///
/// # Errors
/// If the record cannot be written, or a player fails and the rules end the match then.
pub fn run(
    config: &MatchConfig,
    standings: &mut dyn Standings,
    done: &[PairEntry],
    record: &mut MatchRecord,
    players: PlayerFactory,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunSummary> {
    done.iter().for_each(|entry| standings.add(entry));
    let begin = Instant::now();
    let before = standings.games();
    let (mut discarded, mut pairs) = (0, done.len());
    if !standings.decided() && !config.pairs.is_empty() {
        let shared = RefCell::new((&mut *standings, record, &mut *observer, begin));
        let mut receive = |pair: Pair| {
            let (standings, record, observer, _) = &mut *shared.borrow_mut();
            let entry = PairEntry::new(&pair);
            record.append(&entry, pgn::pair(&pair, &config.header).as_bytes())?;
            standings.add(&entry);
            pairs += 1;
            incidents(&pair, config.names).iter().for_each(|incident| observer.incident(incident));
            observer.pair(&pair, &entry, &**standings)?;
            Ok(if standings.decided() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let mut idle = || {
            let (standings, record, observer, last) = &mut *shared.borrow_mut();
            if last.elapsed() >= PROGRESS {
                *last = Instant::now();
                observer.tick(&**standings);
            }
            record.sync_if_due()
        };
        discarded = pairs::run(config, players, stop, &mut receive, &mut idle)?;
    }
    let games = standings.games() - before;
    let complete = pairs >= config.pairs.end;
    Ok(RunSummary { games, seconds: begin.elapsed().as_secs_f64(), discarded, complete })
}

/// What is to be told about games that a player lost by a crash or a stall.
fn incidents(pair: &Pair, names: &[String]) -> Vec<String> {
    let games = pair.seated().into_iter().enumerate();
    games
        .filter(|(_, (game, _))| matches!(game.reason, Reason::Disconnect | Reason::Stall))
        .map(|(number, (game, [white, black]))| {
            let loser = game.winner.map_or(white, |winner| winner.fold_wb(black, white));
            let note = game.note.as_deref().unwrap_or_default();
            format!("game {}.{}: {} {note}", pair.index + 1, number + 1, names[loser])
        })
        .collect()
}
