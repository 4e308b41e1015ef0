//! Match runner: writes each pair to disk, counts it, reports it, until the standings are decided.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::pairs::{self, MatchConfig, PlayerFactory};
use super::pgn;
use super::record::{PairEntry, PairSink};
use crate::stats::Sprt;
use crate::{Pair, Reason, Tally};
use patzer_io::error::Result;

/// Results that pairs add up to: a sequential test or a tournament.
pub trait Standings {
    fn add(&mut self, entry: &PairEntry);

    fn between(&self, players: [usize; 2]) -> Tally;

    fn player_tally(&self, player: usize) -> Tally;

    /// The sequential test that the standings decide, if any, and its LLR.
    fn test(&self) -> Option<(Sprt, f64)> {
        None
    }

    fn decided(&self) -> bool;

    /// Games until the standings are decided, counting those played, if they go on as they did.
    fn expected_games(&self) -> Option<f64> {
        None
    }

    fn summary_line(&self) -> String;

    /// The summary for a terminal, in one line or several.
    fn live_lines(&self) -> String {
        self.summary_line()
    }

    fn games(&self) -> u64;

    /// Players by score percentage, ties in command-line order.
    fn ranking(&self, players: usize) -> Vec<(usize, Tally)> {
        let mut rows: Vec<_> = (0..players).map(|player| (player, self.player_tally(player))).collect();
        rows.sort_by(|(_, a), (_, b)| b.share().total_cmp(&a.share()));
        rows
    }
}

/// Receives the events of a match.
pub trait Observer {
    /// A pair has been counted. An error ends the match.
    fn pair(&mut self, _pair: &Pair, _entry: &PairEntry, _standings: &dyn Standings) -> Result<()> {
        Ok(())
    }

    /// Each pair is reported as it is counted, so that it has to be on the disk by then.
    fn reports_pairs(&self) -> bool {
        false
    }

    fn incident(&mut self, _text: &str) {}

    fn tick(&mut self, _standings: &dyn Standings) {}
}

impl Observer for () {}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    pub games: u64,
    pub seconds: f64,
    /// Finished pairs that do not count: after the end, or after an unfinished pair.
    pub discarded: usize,
    pub complete: bool,
}

impl RunSummary {
    pub fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.games as f64 / self.seconds } else { 0.0 }
    }
}

/// Why the match stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Verdict,
    /// The error of Elo is as small as asked for.
    Precision,
    Games,
    Interrupted,
}

const PROGRESS: Duration = Duration::from_millis(200);

/// Plays until the standings are decided, all pairs are played, or `stop` is set; `done` are a resumed record's pairs.
pub fn run_match(
    config: &MatchConfig,
    standings: &mut dyn Standings,
    done: &[PairEntry],
    record: &mut dyn PairSink,
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
            let openings = pair.pairing.openings.map(|opening| config.openings.moves_to(opening));
            record.append(&entry, pgn::pair(&pair, &config.header, openings).as_bytes())?;
            if observer.reports_pairs() {
                record.sync()?;
            }
            standings.add(&entry);
            pairs += 1;
            if let Some((last, count)) = config.openings.newly_bad() {
                let more = if count > 1 { format!(", and {} before it", count - 1) } else { String::new() };
                observer.incident(&format!("{last}{more}; left out of the book"));
            }
            incidents(&pair, config.names).iter().for_each(|incident| observer.incident(incident));
            observer.pair(&pair, &entry, &**standings)?;
            Ok(if standings.decided() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let mut idle = || {
            let (standings, record, observer, last) = &mut *shared.borrow_mut();
            if last.elapsed() >= PROGRESS {
                *last = Instant::now();
                // What is shown as done survives a power cut.
                record.sync()?;
                observer.tick(&**standings);
            }
            Ok(())
        };
        discarded = pairs::run(config, players, stop, &mut receive, &mut idle)?;
    }
    let games = standings.games() - before;
    let complete = pairs >= config.pairs.end;
    Ok(RunSummary { games, seconds: begin.elapsed().as_secs_f64(), discarded, complete })
}

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
