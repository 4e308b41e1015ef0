//! Reads a match's PGN for lengths, openings, reasons, and time, nodes and depth by player and move.
//!
//! Moves are counted, not played; comments are those of cutechess, fastchess and patzer, `{+0.35/12 0.50s, n=1234}`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{
    Event, GameSpan, GameSplitter, MoveInfo, Reader, Tags, end_reason, move_infos, opening_and_round,
};

/// A game of a match, from its tags and comments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Game {
    /// Name of White.
    pub white: String,
    /// Name of Black.
    pub black: String,
    /// Result from White's side: 1, 0 or -1; `None` without a result.
    pub result: Option<i8>,
    /// Length in plies.
    pub plies: u32,
    /// Reason of the end, such as `mate` or `adjudication`; may be empty.
    pub reason: String,
    /// FEN, or the moves from the standard start position up to the last with a comment `book`; may be empty.
    pub opening: String,
    /// Round up to its dot, equal for the games of a pair.
    pub round: String,
}

/// Totals over moves of a player; a move counts for each quantity that its comment has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MoveTotals {
    /// Seconds used.
    pub seconds: MoveSum,
    /// Nodes searched.
    pub nodes: MoveSum,
    /// Depth reached, in plies.
    pub depth: MoveSum,
}

/// A sum over moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MoveSum {
    /// Number of moves.
    pub moves: u64,
    /// MoveSum of their values.
    pub total: f64,
}

/// Games of a match, with totals by player and move number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Games {
    /// Games in the order of the file.
    pub games: Vec<Game>,
    /// Totals by player, then by move number from 0.
    pub by_move: BTreeMap<String, Vec<MoveTotals>>,
}

/// Moves from this number on (from 0) share one entry.
pub(crate) const LAST_MOVE: usize = 120;

/// Reads a PGN. An error for a file that cannot be read, or without games.
pub fn read(path: &Path) -> Result<Games> {
    let mut reader = Reader::start(vec![path.to_path_buf()], false)?;
    let mut games = Games::default();
    while let Some(event) = reader.next_event() {
        match event {
            // The error follows.
            Event::Chunk(chunk) if chunk.truncated => {}
            Event::Chunk(chunk) => add(&chunk.text, &chunk.games, &mut games),
            Event::End { .. } => {}
            Event::Broken { error, .. } | Event::Failed(error) => return Err(error),
        }
    }
    if interrupt::requested() {
        return Err(interrupt::error());
    }
    // Any text parses as moves, but a game names its players or its result.
    if games.games.iter().all(|game| game.white.is_empty() && game.black.is_empty() && game.result.is_none())
    {
        return Err(Error::data(path, "holds no games"));
    }
    Ok(games)
}

/// Reader of a PGN that grows.
pub struct Follow {
    path: PathBuf,
    games: Games,
    /// Number of bytes read.
    at: u64,
}

impl Follow {
    /// Nothing is read yet.
    pub fn new(path: PathBuf) -> Follow {
        Follow { path, games: Games::default(), at: 0 }
    }

    /// Games read so far.
    pub fn games(&self) -> &Games {
        &self.games
    }

    /// Forgets the games, to read the file from its beginning.
    pub fn restart(&mut self) {
        (self.games, self.at) = (Games::default(), 0);
    }

    /// Reads on to byte `end`, the end of a game; a file that cannot be read adds no games.
    pub fn update(&mut self, end: u64) {
        let mut text = Vec::new();
        let mut read = || -> std::io::Result<u64> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(self.at))?;
            file.take(end.saturating_sub(self.at)).read_to_end(&mut text).map(|count| count as u64)
        };
        if end > self.at && read().is_ok_and(|count| count == end - self.at) {
            let mut splitter = GameSplitter::new();
            *splitter.text() = text;
            splitter.scan(true);
            let (text, spans) = splitter.take();
            add(&text, &spans, &mut self.games);
            self.at = end;
        }
    }
}

impl MoveTotals {
    /// The sum of two totals.
    pub fn plus(self, other: &MoveTotals) -> MoveTotals {
        MoveTotals {
            seconds: self.seconds.plus(other.seconds),
            nodes: self.nodes.plus(other.nodes),
            depth: self.depth.plus(other.depth),
        }
    }
}

impl MoveSum {
    fn of(value: f64) -> MoveSum {
        MoveSum { moves: 1, total: value }
    }

    fn plus(self, other: MoveSum) -> MoveSum {
        MoveSum { moves: self.moves + other.moves, total: self.total + other.total }
    }

    /// Mean of a move; `None` without moves.
    pub fn mean(self) -> Option<f64> {
        (self.moves > 0).then(|| self.total / self.moves as f64)
    }
}

fn add(text: &[u8], spans: &[GameSpan], games: &mut Games) {
    for game in spans {
        let tags = Tags::new(&text[game.start..game.movetext]);
        let tag = |name: &str| {
            tags.get(name)
                .map_or_else(String::new, |value| String::from_utf8_lossy(&value).trim().to_string())
        };
        let (white, black) = (tag("White"), tag("Black"));
        let (infos, last_comment) = move_infos(&text[game.movetext..game.end]);
        let fen = tag("FEN");
        let black_begins = fen.split_whitespace().nth(1) == Some("b");
        for (ply, info) in infos.iter().enumerate() {
            let Some(took) = totals(*info) else { continue };
            let black_moves = (ply % 2 == 1) != black_begins;
            let player =
                games.by_move.entry(if black_moves { black.clone() } else { white.clone() }).or_default();
            let number = ((ply + usize::from(black_begins)) / 2).min(LAST_MOVE);
            if player.len() <= number {
                player.resize(number + 1, MoveTotals::default());
            }
            player[number] = player[number].plus(&took);
        }
        let result = match tag("Result").as_str() {
            "1-0" => Some(1),
            "1/2-1/2" => Some(0),
            "0-1" => Some(-1),
            _ => None,
        };
        let [opening, round] = opening_and_round(&tags, &text[game.movetext..game.end]);
        games.games.push(Game {
            reason: end_reason(&last_comment, &tag("Termination")),
            plies: infos.len() as u32,
            round,
            opening,
            white,
            black,
            result,
        });
    }
}

/// A move's totals; `None` without any of them.
fn totals(MoveInfo { depth, seconds, nodes }: MoveInfo) -> Option<MoveTotals> {
    let sum = |value: Option<f64>| value.map_or_else(MoveSum::default, MoveSum::of);
    let [depth, nodes] = [depth, nodes].map(|count| sum(count.map(|count| count as f64)));
    let took = MoveTotals { seconds: sum(seconds), nodes, depth };
    (took != MoveTotals::default()).then_some(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Games> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, text).unwrap();
        super::read(&path)
    }

    #[test]
    fn comments_count_for_the_player_who_moved() {
        let games = read(
            "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n[Round \"3.2\"]\n\n1. e4 {+0.35/12 0.50s, n=100} e5 \
             {-0.2/8 1.5s} (1... c5 {+1/9 9s} 2. Nf3) 2.Nf3 $1 Nc6 3. 0-0 {book} Nf6 {+0.1/3 0.1s, White mates} 1-0\n\n\
             [White \"B\"]\n[Black \"A\"]\n[Result \"1/2-1/2\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 0 1\"]\n\n\
             1... Kd7 {+0.0/5 2s} 2. Kd2 {+0.0/6 4s} 1/2-1/2\n",
        )
        .unwrap();
        let [first, second] = &games.games[..] else { panic!("{games:?}") };
        assert_eq!((first.plies, first.result, first.round.as_str()), (6, Some(1), "3"));
        assert_eq!((first.reason.as_str(), second.reason.as_str()), ("checkmate", "not told"));
        assert_eq!((second.plies, second.result), (2, Some(0)));
        let a = &games.by_move["A"];
        // 1. e4 of the first game, 1... Kd7 of the second.
        let sum = |moves, total| MoveSum { moves, total };
        assert_eq!(a[0], MoveTotals { seconds: sum(2, 2.5), nodes: sum(1, 100.0), depth: sum(2, 17.0) });
        let b = &games.by_move["B"];
        assert_eq!([0, 1, 2].map(|at| b[at].seconds.total), [1.5, 4.0, 0.1]);
        assert_eq!(a.iter().chain(b).map(|took| took.depth.moves).sum::<u64>(), 5);
    }

    #[test]
    fn a_move_counts_for_what_its_comment_has() {
        let search_info = |comment: &str| totals(MoveInfo::parse(comment));
        let sum = |moves, total| MoveSum { moves, total };
        let whole = MoveTotals { seconds: sum(1, 0.5), nodes: sum(1, 1000.0), depth: sum(1, 10.0) };
        assert_eq!(search_info("+0.10/10 0.50s, n=1000"), Some(whole));
        let timed = MoveTotals { seconds: sum(1, 0.7), ..MoveTotals::default() };
        assert_eq!([search_info("0.70s"), search_info("/0 0.70s, n=0")], [Some(timed); 2]);
        assert_eq!(search_info("book"), None);
        let both = whole.plus(&timed);
        assert_eq!([both.seconds, both.nodes].map(MoveSum::mean), [Some(0.6), Some(1000.0)]);
    }

    #[test]
    fn the_games_of_a_growing_file_are_those_of_the_whole() {
        let game =
            "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {+0.1/9 2s, n=7} e5 {-0.1/8 1s} 1-0\n\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let mut follow = Follow::new(path.clone());
        follow.update(10);
        assert_eq!(follow.games(), &Games::default());
        for count in 1..=3 {
            std::fs::write(&path, game.repeat(count) + "[White \"half").unwrap();
            follow.update((count * game.len()) as u64);
            assert_eq!(follow.games(), &read(&game.repeat(count)).unwrap(), "{count}");
        }
        let a = follow.games().by_move["A"].iter().fold(MoveTotals::default(), MoveTotals::plus);
        let sum = |total| MoveSum { moves: 3, total };
        assert_eq!(a, MoveTotals { seconds: sum(6.0), nodes: sum(21.0), depth: sum(27.0) });
    }

    #[test]
    fn a_file_without_games_is_refused() {
        assert!(read("nothing\n").unwrap_err().to_string().contains("holds no games"));
    }
}
