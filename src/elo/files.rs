//! Results of two players from finished games: PGN of any program, and journals.

use std::fmt;

use serde::Serialize;

use super::EloArgs;
use crate::{Error, Result, Ui};
use patzer_io::number::{counted, grouped};
use patzer_io::printable;
use patzer_match::record::check_named_once;
use patzer_report::contest::head_to_head::{FileResults, HeadToHead};
use patzer_stats::{Model, Sprt, Statistics};

/// The statistics of files of games.
#[derive(Debug, Serialize)]
pub struct OfFiles {
    /// The player of the statistics, and the opponent.
    players: [String; 2],
    files: usize,
    /// Games without a partner of the same opening and round with colours exchanged, which pairs leave out.
    games_unpaired: u64,
    games_without_result: u64,
    /// Games of other players.
    games_of_others: u64,
    #[serde(flatten)]
    statistics: Statistics,
}

pub fn statistics(args: &EloArgs, test: &Sprt, ui: &Ui) -> Result<OfFiles> {
    check_named_once(&args.files)?;
    let parts = args.files.iter().map(|path| FileResults::read(path)).collect::<Result<Vec<_>>>()?;
    let players = players(&parts, args)?;
    let test = &test_of(&parts, args, test, ui);
    let mut all = HeadToHead::default();
    parts.iter().for_each(|part| all.add(part, &players));
    let by_pairs = test.model() != Model::Bayesian && all.pairs.pairs() > 0;
    let statistics = match by_pairs {
        true => Statistics::new(test, None, Some(all.pairs))?,
        false if all.games.games() > 0 => Statistics::new(test, Some(all.games), None)?,
        false => {
            return Err(Error::input(format!("no game of {} and {} has a result", players[0], players[1])));
        }
    };
    if !by_pairs && test.model() != Model::Bayesian {
        ui.warn(
            "no two games have the same opening and round with colours exchanged: single games are counted",
        );
    }
    Ok(OfFiles {
        players,
        files: parts.len(),
        games_unpaired: if by_pairs { all.games.games() - 2 * all.pairs.pairs() } else { 0 },
        games_without_result: parts.iter().map(|part| part.without_result).sum(),
        games_of_others: all.of_others,
        statistics,
    })
}

/// The test to judge by: as asked, else the one test that the journals are of.
fn test_of(parts: &[FileResults], args: &EloArgs, asked: &Sprt, ui: &Ui) -> Sprt {
    let mut tests: Vec<Sprt> = Vec::new();
    for test in parts.iter().filter_map(|part| part.test) {
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    match &tests[..] {
        [test] if !args.hypotheses.are_given() => {
            if test != asked {
                ui.note(format_args!("judged as the games were: {test}"));
            }
            *test
        }
        tests => {
            if let Some(other) = tests.iter().find(|test| *test != asked) {
                ui.warn(format_args!("games were played for another test, {other}: judged for {asked}"));
            }
            *asked
        }
    }
}

/// The two players: as asked, else the only two there are.
fn players(parts: &[FileResults], args: &EloArgs) -> Result<[String; 2]> {
    let mut names: Vec<&String> = Vec::new();
    for name in parts.iter().flat_map(|part| &part.players) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for asked in args.player.iter().chain(&args.against) {
        if !names.contains(&asked) {
            return Err(Error::usage(format!("`{}` plays in no game: {}", printable(asked), some(&names))));
        }
    }
    let asked =
        |name: &&String| [&args.player, &args.against].into_iter().flatten().any(|asked| asked == *name);
    let rest: Vec<&String> = names.iter().copied().filter(|name| !asked(name)).collect();
    match (&args.player, &args.against, &rest[..]) {
        (Some(first), Some(second), _) if first != second => Ok([first.clone(), second.clone()]),
        (Some(first), None, [second]) => Ok([first.clone(), second.to_string()]),
        (None, Some(second), [first]) => Ok([first.to_string(), second.clone()]),
        (None, None, [first, second]) => Ok([first.to_string(), second.to_string()]),
        _ => Err(Error::usage(format!(
            "the games are of {}: {}; choose two with --player and --against, or rate all with `patzer rate`",
            counted(names.len() as u64, "player"),
            some(&names)
        ))),
    }
}

/// The first names of a list.
fn some(names: &[&String]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| printable(name).to_string()).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

impl fmt::Display for OfFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.players.each_ref().map(|name| printable(name));
        writeln!(f, "{first} against {second}, {}", counted(self.files as u64, "file"))?;
        for (games, what) in [
            (self.games_unpaired, "without a partner with colours exchanged"),
            (self.games_without_result, "without a result"),
            (self.games_of_others, "of other players"),
        ] {
            if games > 0 {
                writeln!(f, "left out    {} {what}", grouped(games))?;
            }
        }
        write!(f, "{}", self.statistics)
    }
}
