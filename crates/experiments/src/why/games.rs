//! Games of a match of two players, with the positions and search data of their moves.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use patzer_io::error::{Error, Result};
use patzer_io::{Printable, interrupt};
use patzer_pgn::{
    Event, GameSpan, MoveInfo, Parser, Record, ScoreOptions, Surveyed, SurveyedReader, end_reason,
    move_infos, opening_and_round,
};

/// One move with the position before it.
#[derive(Debug, Clone)]
pub struct MatchMove {
    /// Its score is the mover's.
    pub record: Record,
    pub info: MoveInfo,
}

/// One game, from the first player's side.
#[derive(Debug, Clone)]
pub struct MatchGame {
    /// Place among the games of the two players, from 0.
    pub number: usize,
    /// FEN or book moves; may be empty.
    pub opening: String,
    pub round: String,
    /// The first player has White.
    pub first_is_white: bool,
    /// Points of the first player: 0, 0.5 or 1.
    pub points: f64,
    /// Reason of the end, such as `checkmate`.
    pub end: String,
    pub moves: Vec<MatchMove>,
}

impl MatchGame {
    /// Number of the player who moves, 0 or 1.
    pub fn mover(&self, played: &MatchMove) -> usize {
        usize::from(played.record.turn.is_white() != self.first_is_white)
    }
}

/// The games of two players.
#[derive(Debug, Clone)]
pub struct MatchGames {
    pub players: [String; 2],
    pub games: Vec<MatchGame>,
    /// Games of the two without a result, or that cannot be read; they do not count.
    pub left_out: u64,
    /// Games of other players in the files.
    pub others: u64,
}

/// Reads the games of two players. Without names: of the first game's players, the first of them by the name of White.
///
/// # Errors
/// A file cannot be read, or has no game of the two.
pub fn read_match(files: &[PathBuf], names: [Option<&str>; 2]) -> Result<MatchGames> {
    let mut reader = SurveyedReader::start(files.to_vec(), ScoreOptions::default(), false)?;
    let mut found = Found::default();
    while let Some(Surveyed { event, scoring, .. }) = reader.next_event() {
        match event {
            Event::Chunk(chunk) => {
                let mut parser = Parser::new(scoring);
                for span in &chunk.games {
                    found.add(&mut parser, &chunk.text, span);
                }
            }
            Event::End { .. } => {}
            Event::Broken { error, .. } | Event::Failed(error) => return Err(error),
        }
    }
    interrupt::check()?;
    found.between(files, names)
}

/// Games of all players of the files.
#[derive(Default)]
struct Found {
    /// By White and Black.
    games: Vec<([String; 2], MatchGame)>,
    /// Games left out by White and Black.
    left_out: HashMap<[String; 2], u64>,
    records: Vec<Record>,
}

impl Found {
    fn add(&mut self, parser: &mut Parser, text: &[u8], span: &GameSpan) {
        self.records.clear();
        let game = parser.parse(text, span, 0, &mut self.records);
        let tag = |name: &str| game.tags.text(name).trim().to_string();
        let players = ["White", "Black"].map(tag);
        let (Some(result), None) = (game.result, &game.error) else {
            *self.left_out.entry(players).or_default() += 1;
            return;
        };
        let movetext = &text[span.movetext..span.end];
        let (infos, last_comment) = move_infos(movetext);
        let [opening, round] = opening_and_round(&game.tags, movetext);
        // Null moves have no record.
        let infos = if game.null_moves == 0 { infos } else { Vec::new() };
        let info = |index: usize| infos.get(index).copied().unwrap_or_default();
        let with_info = |(index, record): (usize, &Record)| MatchMove { record: *record, info: info(index) };
        let moves = self.records[game.records.clone()].iter().enumerate().map(with_info).collect();
        let end = end_reason(&last_comment, &tag("Termination"));
        // Points of White, until it is known who is the first.
        let points = f64::from(result + 1) / 2.0;
        let game = MatchGame { number: 0, opening, round, first_is_white: true, points, end, moves };
        self.games.push((players, game));
    }

    fn between(self, files: &[PathBuf], names: [Option<&str>; 2]) -> Result<MatchGames> {
        let players = self.players(files, names)?;
        let swapped = [players[1].clone(), players[0].clone()];
        let total = self.games.len() as u64;
        let mut games = Vec::new();
        for (named, mut game) in self.games {
            if named == swapped {
                (game.first_is_white, game.points) = (false, 1.0 - game.points);
            } else if named != players {
                continue;
            }
            game.number = games.len();
            games.push(game);
        }
        let left_out = [&players, &swapped].map(|pair| self.left_out.get(pair).copied().unwrap_or(0));
        let others = total - games.len() as u64;
        Ok(MatchGames { players, games, left_out: left_out.iter().sum(), others })
    }

    /// The two players: as named, the other by the most games with a single one.
    fn players(&self, files: &[PathBuf], names: [Option<&str>; 2]) -> Result<[String; 2]> {
        let mut games: BTreeMap<[&str; 2], u64> = BTreeMap::new();
        for ([white, black], _) in &self.games {
            *games.entry([white, black]).or_default() += 1;
            *games.entry([black, white]).or_default() += 1;
        }
        let fits = |player: &str, name: Option<&str>| name.is_none_or(|name| name == player);
        let fitting = games.iter().filter(|([first, second], _)| {
            first != second && fits(first, names[0]) && fits(second, names[1])
        });
        // The first game decides between equals, and the order of an unnamed pair.
        let first_game = self.games.first().map(|(players, _)| [&players[0][..], &players[1][..]]);
        let most = fitting.max_by_key(|(pair, count)| (**count, Some(**pair) == first_game));
        match most {
            Some((pair, _)) => Ok(pair.map(str::to_string)),
            None => Err(Error::data(&files[0], no_games(names))),
        }
    }
}

fn no_games(names: [Option<&str>; 2]) -> String {
    match names {
        [None, None] => "has no game with a result between two players".to_string(),
        [Some(one), None] | [None, Some(one)] => format!("has no game with a result of {}", Printable(one)),
        [Some(one), Some(two)] => {
            format!("has no game with a result between {} and {}", Printable(one), Printable(two))
        }
    }
}
