//! Match runner: writes each pair to disk, counts it, reports it, until the standings are decided.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::ordered_map::Receiver;
use super::pairs::{self, FinishedPair, FirstGames, MatchConfig, PlayerFactory};
use super::pgn;
use super::record::{AheadPair, PairEntry, PairSink};
use crate::{Pair, PairGame, Reason, Tally};
use patzer_io::error::Result;
use patzer_stats::Sprt;

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

    /// Progress of a tuning and its values, with commas between.
    fn tuning(&self) -> Option<String> {
        None
    }

    fn games(&self) -> u64;

    /// Tests whether failures of players ended all games, of more than a pair: a result that says nothing.
    fn failed(&self, players: usize) -> bool {
        let failed = |player| self.player_tally(player).reasons.keys().all(|reason| reason.is_failure());
        self.games() > 2 && (0..players).all(failed)
    }

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

    /// The first game of a pair is over, and its second is not.
    fn first_game(&mut self, _game: &PairGame, _standings: &dyn Standings) -> Result<()> {
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

/// Result of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunSummary {
    pub games: u64,
    pub seconds: f64,
    /// Finished pairs beyond the end, which do not count, or after an unfinished pair.
    pub discarded: usize,
    /// Finished games of unfinished pairs, which are in the PGN and do not count.
    pub single_games: usize,
    pub complete: bool,
}

impl RunSummary {
    pub fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.games as f64 / self.seconds } else { 0.0 }
    }
}

/// Reason why the match stopped.
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
    let (ahead, first_games) = (record.ahead(), FirstGames::default());
    let mut runner = Runner {
        config,
        standings,
        record,
        observer,
        shown: begin,
        pairs: done.len(),
        kept: 0,
        keeps_ahead: false,
        first_games: &first_games,
        written: BTreeSet::new(),
    };
    let mut discarded = 0;
    if !runner.standings.decided() && !config.pairs.is_empty() {
        let ended = pairs::run(config, players, &ahead, &first_games, stop, &mut runner);
        if !runner.standings.decided() {
            runner.write_first_games()?;
        }
        discarded = ended?;
    }
    let Runner { standings, pairs, kept, written, .. } = runner;
    let single_games = written.len();
    let games = standings.games() - before - 2 * kept;
    let complete = pairs >= config.pairs.end;
    Ok(RunSummary { games, seconds: begin.elapsed().as_secs_f64(), discarded, single_games, complete })
}

struct Runner<'a> {
    config: &'a MatchConfig<'a>,
    standings: &'a mut dyn Standings,
    record: &'a mut dyn PairSink,
    observer: &'a mut dyn Observer,
    /// Time of the last progress.
    shown: Instant,
    /// Pairs received in order, with the pairs of earlier runs.
    pairs: usize,
    /// Pairs received that an earlier run played.
    kept: u64,
    /// The record keeps pairs that are ahead of an unfinished one.
    keeps_ahead: bool,
    first_games: &'a FirstGames,
    /// Pairs of which the first game alone is written.
    written: BTreeSet<usize>,
}

impl Runner<'_> {
    fn count_kept(&mut self, ahead: &AheadPair) -> Result<()> {
        self.record.append(&ahead.entry, ahead.games.as_bytes())?;
        self.standings.add(&ahead.entry);
        self.kept += 1;
        Ok(())
    }

    fn count_played(&mut self, pair: &Pair) -> Result<()> {
        let entry = PairEntry::new(pair);
        let begin = usize::from(self.written.remove(&pair.index));
        self.record.append(&entry, games_of(pair, begin..2, self.config).as_bytes())?;
        if self.observer.reports_pairs() {
            self.record.sync()?;
        }
        self.standings.add(&entry);
        if let Some((last, count)) = self.config.openings.newly_bad() {
            let more = if count > 1 { format!(", and {} before it", count - 1) } else { String::new() };
            self.observer.incident(&format!("{last}{more}; left out of the book"));
        }
        let incidents = incidents(pair, self.config.names);
        incidents.iter().for_each(|incident| self.observer.incident(incident));
        self.observer.pair(pair, &entry, &*self.standings)
    }

    /// Writes the games of unfinished pairs.
    fn write_first_games(&mut self) -> Result<()> {
        self.first_games.each(|game| {
            if !self.written.insert(game.index) {
                return Ok(());
            }
            self.record.append_single(text_of(&game, self.config).as_bytes())?;
            self.observer.first_game(&game, &*self.standings)
        })
    }
}

impl Receiver<FinishedPair> for Runner<'_> {
    fn in_order(&self) -> bool {
        !self.config.as_they_finish
    }

    fn receive(&mut self, _: usize, pair: FinishedPair) -> Result<ControlFlow<()>> {
        match &pair {
            FinishedPair::Kept(ahead) => self.count_kept(ahead)?,
            FinishedPair::Played(pair) => self.count_played(pair)?,
        }
        self.pairs += 1;
        Ok(if self.standings.decided() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn arrived_ahead(&mut self, _: usize, pair: &FinishedPair) -> Result<()> {
        if let FinishedPair::Played(pair) = pair {
            let games = || games_of(pair, 0..2, self.config);
            self.keeps_ahead = self.record.append_ahead(&PairEntry::new(pair), &games)?;
        }
        Ok(())
    }

    /// Counts pairs out of their order that the record cannot keep for a resumed run.
    fn left_over(&mut self, _: usize, pair: FinishedPair) -> Result<()> {
        match &pair {
            FinishedPair::Played(pair) if !self.keeps_ahead => self.count_played(pair),
            _ => Ok(()),
        }
    }

    fn idle(&mut self) -> Result<()> {
        if self.config.as_they_finish {
            self.write_first_games()?;
        }
        if self.shown.elapsed() >= PROGRESS {
            self.shown = Instant::now();
            // Sync first: a pair that is shown as done has to survive a power cut.
            self.record.sync()?;
            self.observer.tick(&*self.standings);
        }
        Ok(())
    }
}

fn games_of(pair: &Pair, numbers: Range<usize>, config: &MatchConfig) -> String {
    numbers.map(|number| text_of(&pair.game(number), config)).collect()
}

fn text_of(game: &PairGame, config: &MatchConfig) -> String {
    let mut text = String::with_capacity(48 * game.game.moves.len() + 512);
    let opening = config.openings.moves_to(game.pairing.openings[game.number]);
    pgn::write_pair_game(&mut text, game, &config.header, opening);
    text
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
