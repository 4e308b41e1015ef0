//! Results of two players in finished games: PGN of any program, and journals.

use std::path::Path;

use super::{games, of_games_alone};
use patzer_io::error::Result;
use patzer_match::journal::{self, is_journal};
use patzer_match::record::{self, PairEntry, check_players};
use patzer_stats::{Pentanomial, Sprt, Trinomial};

/// The results of a file, by the numbers of its players.
#[derive(Debug, Default)]
pub struct FileResults {
    /// Names of the players.
    pub players: Vec<String>,
    /// Half points of the first player.
    pub pairs: Vec<([usize; 2], [u8; 2])>,
    /// Every game, in pairs or not: half points of the first player.
    pub games: Vec<([usize; 2], u8)>,
    /// Number of games without a result.
    pub without_result: u64,
    /// The test that the games were played for, if a journal says so.
    pub test: Option<Sprt>,
}

impl FileResults {
    /// Reads a journal, or a PGN of any program.
    pub fn read(path: &Path) -> Result<FileResults> {
        if is_journal(path) { of_journal(path) } else { of_pgn(path) }
    }

    fn add(&mut self, players: [usize; 2], half_points: [u8; 2]) {
        self.pairs.push((players, half_points));
        self.games.extend(half_points.map(|points| (players, points)));
    }
}

fn of_journal(path: &Path) -> Result<FileResults> {
    let contents = journal::read::<PairEntry>(path)?;
    let players = record::players(contents.start.conditions());
    check_players(path, &contents.entries, players.len())?;
    let mut part =
        FileResults { players, test: record::test(contents.start.conditions()), ..FileResults::default() };
    contents.entries.iter().for_each(|entry| part.add(entry.players, entry.half_points));
    Ok(part)
}

fn of_pgn(path: &Path) -> Result<FileResults> {
    let contest = of_games_alone(games::read(path)?);
    // A journal beside the games that cannot be read says nothing of them.
    let start = journal::stored::<PairEntry>(path).ok().flatten();
    let test = start.and_then(|start| record::test(start.conditions()));
    let without_result = contest.without_result;
    let mut part = FileResults { players: contest.players, without_result, test, ..FileResults::default() };
    contest.pairs.iter().for_each(|pair| part.add(pair.players, pair.half_points));
    part.games.extend(contest.singles.iter().map(|single| (single.players, single.half_points)));
    Ok(part)
}

/// Results of two players, from the first one's side.
#[derive(Debug, Default)]
pub struct HeadToHead {
    /// Every game, in pairs or not.
    pub games: Trinomial,
    /// Pairs of games with colours exchanged.
    pub pairs: Pentanomial,
    /// Number of games of other players.
    pub of_others: u64,
}

impl HeadToHead {
    /// Adds the games of a file.
    pub fn add(&mut self, part: &FileResults, [first, second]: &[String; 2]) {
        // Whether the first player is the one asked for; `None` if others play.
        let turned = |[one, other]: [usize; 2]| {
            let names = [&part.players[one], &part.players[other]];
            if names == [first, second] { Some(false) } else { (names == [second, first]).then_some(true) }
        };
        for (players, half_points) in &part.pairs {
            if let Some(turned) = turned(*players) {
                self.pairs.add(half_points.map(|points| if turned { 2 - points.min(2) } else { points }));
            }
        }
        for (players, half_points) in &part.games {
            match turned(*players).map(|turned| if turned { 2 - half_points.min(&2) } else { *half_points }) {
                Some(0) => self.games.losses += 1,
                Some(1) => self.games.draws += 1,
                Some(_) => self.games.wins += 1,
                None => self.of_others += 1,
            }
        }
    }
}
