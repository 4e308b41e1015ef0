use std::path::Path;

use serde_json::Value;

use super::link;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_match::record::{Options, PairEntry};
use patzer_match::stats::Sprt;
use patzer_report::contest::{self, Contest, Pair, games};
use patzer_report::section::{Missing, Section};

pub(super) fn of_journal(name: &str, journal: &Path, pgn: &Path, report: &Path) -> Result<Section> {
    let text = io::read_text(journal, io::Limit::JOURNAL)?;
    let mut lines = text.split_inclusive('\n');
    let header: Value = lines
        .next()
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or_else(|| Error::at(journal, "line 1", "is not a journal of patzer"))?;
    let options: Options = header
        .get("options")
        .and_then(|options| serde_json::from_value(options.clone()).ok())
        .ok_or_else(|| Error::at(journal, "line 1", "is a journal of another version of patzer"))?;
    let mut contest = Contest { players: players(&options), ..Contest::default() };
    contest.test = options.get("test").and_then(|words| words.parse::<Sprt>().ok());
    for (at, line) in lines.enumerate() {
        // A killed match may leave part of a line.
        if !line.ends_with('\n') {
            break;
        }
        let fault = |reason: &str| Error::at(journal, format!("line {}", at + 2), reason);
        let entry: PairEntry = serde_json::from_str(line).map_err(|_| fault("is not a pair of games"))?;
        if entry.pair != at + 1 || entry.players.iter().any(|player| *player >= contest.players.len()) {
            return Err(fault("is not the next pair of the journal's players"));
        }
        for reason in entry.reasons {
            *contest.reasons.entry(reason.name().to_string()).or_default() += 1;
        }
        contest.pairs.push(Pair {
            players: entry.players,
            half_points: entry.half_points.map(|points| points.min(2)),
            opening: entry.opening,
        });
    }
    if pgn.is_file() {
        contest.games = Ok(games::read(pgn)?);
        contest.link = Some((pgn.display().to_string(), link(pgn, report)));
    } else {
        contest.games = Err(Missing(format!("{} is not there", pgn.display())));
    }
    // Long values are hashes, which only `--resume` needs.
    let short = |(name, value): (String, String)| (value.len() < 60).then_some((name, value));
    contest.conditions = options.into_iter().filter_map(short).collect();
    Ok(contest::section(name, &contest))
}

fn players(options: &Options) -> Vec<String> {
    let name = |number: usize| options.get(&format!("player {number}")).cloned();
    (1..).map_while(name).collect()
}

pub(super) fn of_pgn(name: &str, path: &Path, report: &Path) -> Result<Section> {
    let mut contest = contest::of_games_alone(games::read(path)?);
    contest.link = Some((path.display().to_string(), link(path, report)));
    Ok(contest::section(name, &contest))
}

pub(super) fn of_result(name: &str, path: &str, value: &Value) -> Result<Section> {
    contest::of_result(name, value)
        .ok_or_else(|| Error::data(path, "is not the result of a match of two that --json printed"))
}
