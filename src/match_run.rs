//! What `sprt` and `match` do alike: from players and a schedule to standings and a record on disk.
//!
//! In: the arguments of either. Out: the standings, how it ended, and who tells it.

use std::path::Path;

use super::match_display::{Facts, NOT_KEPT, Show, ShowArgs};
use super::play::{Field, PlayArgs, open_record};
use super::{Ui, typed};
use patzer_io::error::Result;
use patzer_io::interrupt;
use patzer_match::game::Reason;
use patzer_match::journal::{Arguments, Journalled, Piece};
use patzer_match::openings::Openings;
use patzer_match::pairings::Schedule;
use patzer_match::pairs::Plan;
use patzer_match::participant::Participant;
use patzer_match::runner::{self, Course, Ended, Standings};
use patzer_match::spec::Spec;
use patzer_match::tally::Tally;

/// What is to be played.
pub struct Contest<'a> {
    /// The command's name.
    pub command: &'static str,
    /// How it is played.
    pub play: &'a PlayArgs,
    /// How it is told.
    pub show: &'a ShowArgs,
    /// The players.
    pub specs: &'a [Spec],
    /// Who meets whom.
    pub schedule: Schedule,
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
pub struct Held<S> {
    /// What the pairs add up to.
    pub standings: S,
    /// How it ended.
    pub ended: Ended,
    /// The book, in its order.
    pub openings: Openings,
    /// Who tells the result.
    pub show: Show,
}

/// Plays. `standings` begins them, from the players and the book.
///
/// # Errors
/// If a player or the openings are no good, before any game; if a player fails on the way; or if a game cannot be
/// written down.
pub fn hold<S: Standings>(
    contest: &Contest,
    standings: impl FnOnce(&Field, &Openings) -> S,
    ui: &Ui,
) -> Result<Held<S>> {
    let Contest { play, pgn, .. } = *contest;
    interrupt::listen();
    let stop = interrupt::flag();
    let openings = play.openings()?;
    let endgames = play.endgames()?;
    let field = play.field(contest.specs, stop)?;
    let mut options = play.options(&field, &openings);
    if let Some(endgames) = &endgames {
        options.insert("endgame tables".to_string(), endgames.to_string());
    }
    options.insert(contest.kind.0.to_string(), contest.kind.1.clone());
    let (mut record, done) = open_record(pgn, contest.resume, contest.typed, &options, ui)?;
    play.announce(&field, &openings, ui);
    if let [a, b] = &field.participants[..]
        && (&a.digest, a.terms, a.settings()) == (&b.digest, b.terms, b.settings())
    {
        ui.note("A and B are the same: this tests the test");
    }
    let boards = play.cores(&field, ui);
    let plan = Plan {
        pairs: done.len()..contest.pairs,
        concurrency: play.concurrency(),
        schedule: &contest.schedule,
        terms: &field.terms,
        names: &field.names,
        openings: &openings,
        rules: play.rules(endgames),
        prepare: &|board| boards.iter().for_each(|boards| boards.bind(board)),
    };
    let players =
        |number: usize, stop: &std::sync::atomic::AtomicBool| field.participants[number].player(stop);
    let facts = Facts {
        names: field.names.clone(),
        conditions: play.conditions(&field),
        games: 2 * contest.pairs,
        done: 2 * done.len() as u64,
    };
    let mut show = Show::new(contest.show, contest.command, facts, ui)?;
    let mut standings = standings(&field, &openings);
    let header = play.header(&format!("patzer {}", contest.command), &field);
    let course = Course { plan, header };
    let ended = runner::run(&course, &mut standings, &done, &mut record, &players, stop, &mut show);
    field.participants.iter().for_each(Participant::dismiss);
    record.finish()?;
    let ended = ended.inspect_err(|_| {
        ui.note(format!("the finished pairs are kept in {}; --resume goes on", pgn.display()));
    })?;
    Ok(Held { standings, ended, openings, show })
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
pub fn resumed<E: Piece, A: clap::Args>(
    command: &'static str,
    players: &[&str],
    pgn: &Path,
    resume: bool,
    typed: &mut Arguments,
) -> Result<Option<A>> {
    for here in ["resume", "pgn"].iter().chain(&NOT_KEPT) {
        typed.remove(*here);
    }
    let earlier = if resume { Journalled::<E>::arguments(pgn)? } else { None };
    let Some(mut all) = earlier else { return Ok(None) };
    if players.iter().any(|player| typed.contains_key(*player)) {
        all.retain(|name, _| !players.contains(&name.as_str()));
    }
    all.append(typed);
    *typed = all;
    Ok(Some(typed::parse(command, typed)?))
}
