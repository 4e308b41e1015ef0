//! Sections of matches: journals, games and printed results.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{ReportSettings, link};
use crate::contest::games::{self, Games};
use crate::contest::{self, Contest, Pair};
use crate::section::{Item, Missing, Part, Section};
use crate::{screen, spsa};
use patzer_experiments::screen::{Design, Planner};
use patzer_experiments::spsa::Tuning;
use patzer_experiments::why::{Diagnosis, MatchFacts, diagnose, read_match};
use patzer_io::Shard;
use patzer_io::error::{Error, Result};
use patzer_match::journal::{self, Contents};
use patzer_match::record::{PairEntry, check_players, players, shard, test};

pub(super) fn of_journal(
    name: &str,
    journal: &Path,
    pgn: &Path,
    settings: &ReportSettings<'_>,
) -> Result<Section> {
    let Contents { start, entries, complete } = journal::read::<PairEntry>(journal)?;
    let conditions = start.conditions();
    if let Some(tuning) = Tuning::of(conditions) {
        return Ok(spsa::section(name, tuning, &entries));
    }
    if let Some(design) = Design::of(conditions) {
        let shard = shard(conditions).unwrap_or(Shard::WHOLE);
        let players = players(conditions);
        check_players(journal, &entries, players.len())?;
        let section = screen::section(name, Planner::new(design, shard), &players, &entries);
        return Ok(with_state(section, journal, complete));
    }
    let mut contest = Contest { players: players(conditions), ..Contest::default() };
    check_players(journal, &entries, contest.players.len())?;
    contest.test = test(conditions);
    if start.command() == "race" {
        contest.race = Some((settings.race)(&start, contest.players.len())?);
    }
    for entry in entries {
        for reason in entry.reasons {
            *contest.reasons.entry(reason.name().to_string()).or_default() += 1;
        }
        contest.pairs.push(Pair {
            players: entry.players,
            half_points: entry.half_points.map(|points| points.min(2)),
            colours: entry.colours,
            opening: entry.opening,
        });
    }
    if pgn.is_file() {
        let games = games::read(pgn)?;
        contest.openings = fens(&contest.pairs, &games);
        contest.games = Ok(games);
        contest.link = Some((pgn.display().to_string(), link(pgn, settings.page)));
    } else {
        contest.games = Err(Missing(format!("{} is not there", pgn.display())));
    }
    // Long values are hashes, which only `--resume` needs.
    let short = |(name, value): (String, String)| (value.len() < 60).then_some((name, value));
    contest.conditions = patzer_io::fields(conditions).into_iter().filter_map(short).collect();
    let mut section = contest::section(name, &contest);
    if contest.players.len() == 2 && pgn.is_file() {
        section.part(causes(pgn));
    }
    Ok(with_state(section, journal, complete))
}

/// Causes of the result of two players, by their games alone.
fn causes(pgn: &Path) -> Part {
    let mut part = Part::new("Causes");
    let played = match read_match(&[pgn.to_path_buf()], [None, None]) {
        Ok(played) => played,
        Err(error) => {
            part.items.push(Item::Missing(error.to_string()));
            return part;
        }
    };
    let found = diagnose(&MatchFacts::new(&played, None));
    let text = |cause: Diagnosis| Item::Text(format!("{}: {}.", cause.cause, cause.sentence));
    part.items.extend(found.into_iter().map(text));
    if part.items.is_empty() {
        part.items.push(Item::Text("Nothing stands out by the games alone.".into()));
    }
    part.items.push(Item::Text(format!(
        "By the games alone; `patzer why {}` lets an engine score their positions.",
        pgn.display()
    )));
    part
}

/// A section that says where its run has not come to its end.
fn with_state(mut section: Section, journal: &Path, complete: bool) -> Section {
    if !complete {
        let state = match patzer_io::locked_by(journal) {
            Some(process) => format!("Running in {process}."),
            None => "Cut short, or running where this system does not show it.".to_string(),
        };
        section.summary = format!("{state} {}", section.summary);
    }
    section
}

/// The FEN of each opening; the games of the PGN are in the order of the pairs.
fn fens(pairs: &[Pair], games: &Games) -> BTreeMap<usize, String> {
    let firsts = games.games.iter().step_by(2).map(|game| &game.opening);
    let known = pairs.iter().zip(firsts).filter(|(_, fen)| !fen.is_empty());
    known.map(|(pair, fen)| (pair.opening, fen.clone())).collect()
}

pub(super) fn of_pgn(name: &str, path: &Path, report: &Path) -> Result<Section> {
    let mut contest = contest::of_games_alone(games::read(path)?);
    contest.link = Some((path.display().to_string(), link(path, report)));
    let mut section = contest::section(name, &contest);
    if contest.players.len() == 2 {
        section.part(causes(path));
    }
    Ok(section)
}

pub(super) fn of_result(name: &str, path: &str, value: &Value) -> Result<Section> {
    contest::of_result(name, value)
        .ok_or_else(|| Error::data(path, "is not the JSON result of a match of two"))
}
