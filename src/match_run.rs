use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::earlier::{self, EarlierArgs};
use super::match_display::{DisplayArgs, MatchDisplay, MatchInfo};
use super::play::PlayArgs;
use crate::{Error, Result, Ui, interrupt};
use patzer_experiments::PairSettings;
use patzer_io::number::counted;
use patzer_io::{Earlier, Shard, printable};
use patzer_match::conditions::MatchConditions;
use patzer_match::journal::{Opened, Start};
use patzer_match::openings::Openings;
use patzer_match::participant::Participant;
use patzer_match::record::{MatchRecord, PairEntry};
use patzer_match::{
    Colours, Lineup, MatchConfig, PairOptions, Reason, RunSummary, Schedule, Sharded, Spec, Standings, Tally,
    run_match,
};

pub struct MatchRun<'a> {
    pub command: &'static str,
    pub play: &'a PlayArgs,
    pub show: &'a DisplayArgs,
    pub specs: &'a [Spec],
    pub pairings: &'a dyn Schedule,
    pub colours: Colours,
    pub pairs: usize,
    /// Openings that the whole run needs, if that is known.
    pub openings: Option<usize>,
    /// Kind of the contest with its settings, which are the same in a resumed run.
    pub contest: Value,
    pub pgn: &'a Path,
    pub earlier: EarlierArgs,
    /// Arguments of the command, for a resumed run.
    pub settings: Value,
    /// Sets the options of each pair, of both players the same program.
    pub pair_settings: Option<&'a dyn PairSettings>,
    /// Plays these pairs alone.
    pub shard: Option<Shard>,
}

pub struct FinishedMatch<S> {
    pub standings: S,
    pub ended: RunSummary,
    pub openings: Openings,
    pub show: MatchDisplay,
}

pub fn play_match<S: Standings>(
    run: &MatchRun,
    standings: impl FnOnce(&Lineup) -> S,
    ui: &Ui,
) -> Result<FinishedMatch<S>> {
    let MatchRun { play, pgn, .. } = *run;
    interrupt::listen()?;
    let stop = interrupt::flag();
    let shard = run.shard.unwrap_or(Shard::WHOLE);
    let pairs = shard.count(run.pairs);
    let openings = play.openings(ui)?;
    // A tuning plays on with values of which the engine crashes: they lose.
    let rules = play.rules(run.pair_settings.is_some())?;
    let choice = run.earlier.choice();
    run.earlier.check_trust::<PairEntry>(pgn, run.specs, ui)?;
    // A refused start leaves the log of the unfinished run as it was.
    MatchRecord::check_free(pgn, choice)?;
    let listen = play.records.listen(pgn, choice == Earlier::Resume)?;
    let log = listen.log.clone();
    let mut lineup = Lineup::load(run.specs, &play.defaults(listen))?;
    run.earlier.check_players::<PairEntry>(pgn, &lineup)?;
    lineup.start(stop)?;
    ui.recorder.players(&lineup);
    lineup.check_openings(&openings, run.pairs, &play.book_name())?;
    if let Some(settings) = run.pair_settings {
        settings.check(&lineup.participants[0], stop)?;
    }
    let mut conditions = MatchConditions::new(
        lineup.conditions(),
        play.book_conditions(&openings),
        run.colours,
        &rules,
        &run.contest,
    );
    conditions.shard = run.shard;
    let conditions = serde_json::to_value(&conditions).map_err(|e| Error::internal(e.to_string()))?;
    let programs = lineup.participants.iter().any(Participant::is_program);
    let key = earlier::signing_key(programs, ui);
    let start =
        Start { command: run.command, settings: &run.settings, conditions: &conditions, key: key.as_ref() };
    let Opened { mut record, entries: done, .. } = earlier::open(pgn, choice, &start, ui)?;
    play.announce(run.specs, &lineup, &openings, ui);
    let mut book_end = Some(play.book_end(&openings, lineup.deterministic()));
    let needs = |(count, _): &mut (usize, String)| run.openings.is_some_and(|needed| needed > *count);
    if let Some((_, text)) = book_end.take_if(needs) {
        ui.warn(text);
    }
    if run.pair_settings.is_none() && lineup.identical() {
        ui.note("A and B are the same: this tests the test");
    }
    let shares = play.cpu_shares(&lineup, ui);
    let pair_options = run
        .pair_settings
        .map(|settings| move |pair: usize, halt: &AtomicBool| settings.options(shard.number(pair), halt));
    let mut header = play.records.apply(lineup.header(&format!("patzer {}", run.command)));
    header.shard = shard;
    let pairings = Sharded { all: run.pairings, shard };
    let config = MatchConfig {
        concurrency: play.concurrency(),
        wait: play.pause(),
        prepare: &|game| shares.iter().for_each(|shares| shares.bind(game)),
        pair_options: pair_options.as_ref().map(|options| options as PairOptions),
        ..MatchConfig::new(&lineup, &openings, rules, header, &pairings, done.len()..pairs)
    };
    let players = |number: usize, stop: &AtomicBool| lineup.participants[number].player(stop);
    let info = MatchInfo {
        names: lineup.names.clone(),
        conditions: lineup.summary(&play.book_name()),
        games: 2 * pairs,
        done: 2 * (done.len() + record.count_ahead()) as u64,
        timed: !lineup.deterministic(),
        book_end,
    };
    let mut show = MatchDisplay::new(run.show, run.command, info, ui)?;
    let mut standings = standings(&lineup);
    let ended = run_match(&config, &mut standings, &done, &mut record, &players, stop, &mut show);
    show.close();
    for participant in &lineup.participants {
        participant.drop_spares();
        if let Some(warning) = participant.strays_warning() {
            ui.warn(warning);
        }
    }
    if let Some(error) = log.and_then(|log| log.error()) {
        ui.warn(format!("--log is cut short: {error}"));
    }
    let complete = ended.as_ref().is_ok_and(|ended| ended.complete || standings.decided());
    if standings.decided() {
        record.drop_ahead();
    }
    let finished = record.finish(complete);
    let ended = ended.and_then(|ended| finished.map(|()| ended)).inspect_err(|_| {
        if record.is_in_place() {
            ui.note(format!("kept: {}; --resume goes on", kept(&standings, &record, pgn)));
        }
    })?;
    if standings.decided() && ended.discarded > 0 {
        let pairs = counted(ended.discarded as u64, "pair");
        ui.note(format!("finished beyond the end, not counted and not written: {pairs}"));
    } else if record.count_ahead() > 0 || (!complete && run.pair_settings.is_none()) {
        ui.note(format!("stopped with {}; --resume goes on", kept(&standings, &record, pgn)));
    }
    check_played(&standings, &lineup.names, pgn)?;
    if ended.single_games > 0 {
        let (games, pgn) = (counted(ended.single_games as u64, "finished game"), pgn.display());
        ui.note(format!(
            "{games} of unfinished pairs in {pgn}, which do not count; --resume plays these pairs again"
        ));
    }
    Ok(FinishedMatch { standings, ended, openings, show })
}

/// Says how many games are played where their number is odd.
pub fn note_of_odd(games: u64, ui: &Ui) {
    if games % 2 == 1 {
        ui.note(format!("--games {games}: plays {}, in whole pairs", games + 1));
    }
}

/// Error of an engine that is broken, as every game of late ended by its failure.
pub fn hopeless(name: &str, pgn: &Path) -> Error {
    let reason = "every game of late ended because it crashed, did not answer or played an illegal move";
    Error::input(format!("{name}: {reason}; the finished games are kept in {}", pgn.display()))
}

/// Refuses a result of games that failures ended, all of them.
pub fn check_played(standings: &(impl Standings + ?Sized), names: &[String], pgn: &Path) -> Result<()> {
    if !standings.failed(names.len()) {
        return Ok(());
    }
    let mut losses = Vec::new();
    for (player, name) in names.iter().enumerate() {
        let Tally { games, reasons, .. } = standings.player_tally(player);
        let of: Vec<String> = reasons.keys().map(|reason| reason.name()).collect();
        losses.push(format!(
            "{} lost {} ({})",
            printable(name),
            counted(games.losses, "game"),
            of.join(", ")
        ));
    }
    let reason = "holds no game that was played to its end, so there is no result";
    Err(Error::data(pgn, format!("{reason}: {}; `patzer engine check` tells more", losses.join(", "))))
}

/// Says how many games are in the PGN, and how many wait for an unfinished one.
fn kept(standings: &impl Standings, record: &MatchRecord, pgn: &Path) -> String {
    let games = format!("{} in {}", counted(standings.games(), "game"), pgn.display());
    match record.count_ahead() as u64 {
        0 => games,
        pairs => {
            let (ahead, path) = (counted(2 * pairs, "game"), record.ahead_path());
            format!("{games} and {ahead} that finished after an unfinished pair in {}", path.display())
        }
    }
}

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
            let [first, second] = tally.time_losses;
            let by = match reason {
                Reason::TimeForfeit if two => {
                    format!(" (lost by the first player: {first}, by the second: {second})")
                }
                _ => String::new(),
            };
            ui.warn(format!("{} ended {word}{by}", counted(count(reason), "game")));
        }
    }
    if [Reason::IllegalMove, Reason::Disconnect, Reason::Stall].into_iter().any(|reason| count(reason) > 0) {
        ui.note("`patzer engine check ENGINE` shows what an engine does wrong");
    }
    ui.note(format!("games in {}", pgn.display()));
}
