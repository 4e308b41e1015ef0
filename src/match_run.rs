//! What `sprt` and `match` do alike: from players and a schedule to standings and a record on disk.
//!
//! In: the arguments of either. Out: the standings, how it ended, and who tells it.

use std::path::Path;

use super::match_display::{DisplayArgs, MatchDisplay, MatchInfo, NOT_KEPT};
use super::play::{Lineup, PlayArgs, open_record};
use super::{Ui, typed};
use patzer_io::error::Result;
use patzer_io::interrupt;
use patzer_match::journal::{Arguments, JournalEntry, JournaledFile};
use patzer_match::openings::Openings;
use patzer_match::participant::Participant;
use patzer_match::{MatchConfig, Pairings, Reason, RunSummary, Spec, Standings, Tally, run_match};

/// What is to be played.
pub struct MatchRun<'a> {
    /// The command's name.
    pub command: &'static str,
    /// How it is played.
    pub play: &'a PlayArgs,
    /// How it is told.
    pub show: &'a DisplayArgs,
    /// The players.
    pub specs: &'a [Spec],
    /// Who meets whom.
    pub pairings: Pairings,
    /// All pairs that may be played, those of an earlier run counted.
    pub pairs: usize,
    /// What kind of match it is: an option of the record, which a resumed one must share.
    pub kind: (&'static str, String),
    /// The file of the games.
    pub pgn: &'a Path,
    /// Whether to go on with the record that is there.
    pub resume: bool,
    /// What was typed, to be kept.
    pub typed: &'a Arguments,
}

/// A contest that is over.
pub struct FinishedMatch<S> {
    /// What the pairs add up to.
    pub standings: S,
    /// How it ended.
    pub ended: RunSummary,
    /// The book, in its order.
    pub openings: Openings,
    /// Who tells the result.
    pub show: MatchDisplay,
}

/// Plays. `standings` begins them, from the players and the book.
///
/// # Errors
/// If a player or the openings are no good, before any game; if a player fails on the way; or if a game cannot be
/// written down.
pub fn play_match<S: Standings>(
    run: &MatchRun,
    standings: impl FnOnce(&Lineup, &Openings) -> S,
    ui: &Ui,
) -> Result<FinishedMatch<S>> {
    let MatchRun { play, pgn, .. } = *run;
    interrupt::listen();
    let stop = interrupt::flag();
    let openings = play.openings()?;
    let syzygy = play.syzygy()?;
    let lineup = play.lineup(run.specs, stop)?;
    let mut options = play.options(&lineup, &openings);
    if let Some(syzygy) = &syzygy {
        options.insert("endgame tables".to_string(), syzygy.to_string());
    }
    options.insert(run.kind.0.to_string(), run.kind.1.clone());
    let (mut record, done) = open_record(pgn, run.resume, run.typed, &options, ui)?;
    play.announce(&lineup, &openings, ui);
    if let [a, b] = &lineup.participants[..]
        && (&a.digest, a.time_settings, a.settings()) == (&b.digest, b.time_settings, b.settings())
    {
        ui.note("A and B are the same: this tests the test");
    }
    let boards = play.cores(&lineup, ui);
    let config = MatchConfig {
        pairs: done.len()..run.pairs,
        concurrency: play.concurrency(),
        pairings: &run.pairings,
        time_settings: &lineup.time_settings,
        names: &lineup.names,
        openings: &openings,
        rules: play.rules(syzygy),
        header: play.header(&format!("patzer {}", run.command), &lineup),
        prepare: &|board| boards.iter().for_each(|boards| boards.bind(board)),
    };
    let players =
        |number: usize, stop: &std::sync::atomic::AtomicBool| lineup.participants[number].player(stop);
    let info = MatchInfo {
        names: lineup.names.clone(),
        conditions: play.conditions(&lineup),
        games: 2 * run.pairs,
        done: 2 * done.len() as u64,
    };
    let mut show = MatchDisplay::new(run.show, run.command, info, ui)?;
    let mut standings = standings(&lineup, &openings);
    let ended = run_match(&config, &mut standings, &done, &mut record, &players, stop, &mut show);
    lineup.participants.iter().for_each(Participant::drop_spares);
    record.finish()?;
    let ended = ended.inspect_err(|_| {
        ui.note(format!("the finished pairs are kept in {}; --resume goes on", pgn.display()));
    })?;
    Ok(FinishedMatch { standings, ended, openings, show })
}

/// What a careful author should know about how it went.
pub fn remark(tally: &Tally, two: bool, pgn: &Path, ui: &Ui) {
    if two && tally.identical() {
        ui.note(
            "all pairs are two identical games: A and B play the same moves, so the result says nothing about strength",
        );
    }
    let count = |reason| tally.reasons.get(&reason).copied().unwrap_or(0);
    for (reason, word) in [
        (Reason::TimeForfeit, "on time"),
        (Reason::IllegalMove, "by illegal moves"),
        (Reason::Disconnect, "because an engine crashed"),
        (Reason::Stall, "because an engine did not answer"),
    ] {
        if count(reason) > 0 {
            ui.warn(format!("{} games ended {word}", count(reason)));
        }
    }
    ui.note(format!("games in {}", pgn.display()));
}

/// With `--resume`, what is not given now is as it was given when the match began: the arguments as a whole, and
/// in `typed` what is to be kept. `players` are the arguments that name players: who is named again is not added to
/// those of the journal. `None` if what was typed is all there is.
///
/// # Errors
/// If the journal cannot be read or does not fit.
pub fn resumed<E: JournalEntry, A: clap::Args>(
    command: &'static str,
    players: &[&str],
    pgn: &Path,
    resume: bool,
    typed: &mut Arguments,
) -> Result<Option<A>> {
    for here in ["resume", "pgn"].iter().chain(&NOT_KEPT) {
        typed.remove(*here);
    }
    let earlier = if resume { JournaledFile::<E>::arguments(pgn)? } else { None };
    let Some(mut all) = earlier else { return Ok(None) };
    if players.iter().any(|player| typed.contains_key(*player)) {
        all.retain(|name, _| !players.contains(&name.as_str()));
    }
    all.append(typed);
    *typed = all;
    Ok(Some(typed::parse(command, typed)?))
}
