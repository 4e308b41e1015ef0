use std::path::Path;

use super::match_display::{DisplayArgs, MatchDisplay, MatchInfo, NOT_KEPT};
use super::play::{PlayArgs, open_record};
use crate::{Result, Ui, interrupt, typed};
use patzer_match::journal::{Arguments, JournalEntry, JournaledFile};
use patzer_match::openings::Openings;
use patzer_match::participant::Participant;
use patzer_match::{
    Lineup, MatchConfig, Pairings, Reason, RunSummary, SWAPPED, Spec, Standings, Tally, run_match,
};

pub struct MatchRun<'a> {
    pub command: &'static str,
    pub play: &'a PlayArgs,
    pub show: &'a DisplayArgs,
    pub specs: &'a [Spec],
    pub pairings: Pairings,
    pub pairs: usize,
    /// Name and value of the option that tells matches apart on `--resume`.
    pub kind: (&'static str, String),
    pub pgn: &'a Path,
    pub resume: bool,
    pub typed: &'a Arguments,
}

pub struct FinishedMatch<S> {
    pub standings: S,
    pub ended: RunSummary,
    pub openings: Openings,
    pub show: MatchDisplay,
}

pub fn play_match<S: Standings>(
    run: &MatchRun,
    standings: impl FnOnce(&Lineup, &Openings) -> S,
    ui: &Ui,
) -> Result<FinishedMatch<S>> {
    let MatchRun { play, pgn, .. } = *run;
    interrupt::listen();
    let stop = interrupt::flag();
    let openings = play.openings()?;
    let rules = play.rules()?;
    let listen = play.records.listen(run.resume)?;
    let log = listen.log.clone();
    let lineup = Lineup::load(run.specs, &play.defaults(listen), stop)?;
    let mut options = play.options(&lineup, &openings);
    if let Some(syzygy) = &rules.syzygy {
        options.insert("endgame tables".to_string(), syzygy.to_string());
    }
    options.insert(run.kind.0.to_string(), run.kind.1.clone());
    if run.pairings.colours != SWAPPED {
        options.insert("colours".to_string(), format!("{:?}", run.pairings.colours));
    }
    let (mut record, done) = open_record(pgn, run.resume, run.typed, &options, ui)?;
    play.announce(run.specs, &lineup, &openings, ui);
    if lineup.identical() {
        ui.note("A and B are the same: this tests the test");
    }
    let shares = play.cpu_shares(&lineup, ui);
    let config = MatchConfig {
        pairs: done.len()..run.pairs,
        concurrency: play.concurrency(),
        pairings: &run.pairings,
        time_settings: &lineup.time_settings,
        names: &lineup.names,
        openings: &openings,
        rules,
        header: play.records.apply(lineup.header(&format!("patzer {}", run.command))),
        wait: play.wait(),
        prepare: &|game| shares.iter().for_each(|shares| shares.bind(game)),
    };
    let players =
        |number: usize, stop: &std::sync::atomic::AtomicBool| lineup.participants[number].player(stop);
    let info = MatchInfo {
        names: lineup.names.clone(),
        conditions: lineup.conditions(&play.book_name()),
        games: 2 * run.pairs,
        done: 2 * done.len() as u64,
    };
    let mut show = MatchDisplay::new(run.show, run.command, info, ui)?;
    let mut standings = standings(&lineup, &openings);
    let ended = run_match(&config, &mut standings, &done, &mut record, &players, stop, &mut show);
    lineup.participants.iter().for_each(Participant::drop_spares);
    record.finish()?;
    if let Some(error) = log.and_then(|log| log.error()) {
        ui.warn(format!("--log is cut short: {error}"));
    }
    let ended = ended.inspect_err(|_| {
        ui.note(format!("the finished pairs are kept in {}; --resume goes on", pgn.display()));
    })?;
    Ok(FinishedMatch { standings, ended, openings, show })
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
            ui.warn(format!("{} games ended {word}{by}", count(reason)));
        }
    }
    ui.note(format!("games in {}", pgn.display()));
}

/// With `--resume`, fills the arguments not given now from the journal. Returns all arguments, and in `typed`
/// those to store; `None` without a journal. `players` are the arguments that name players: given again, they
/// replace the stored ones.
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
