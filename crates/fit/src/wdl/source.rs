//! Scored positions straight from files of games.
//!
//! In: PGN whose comments hold scores, in any dialect that [`patzer_pgn`] reads. Out: each position of the games
//! that take part is shown to a function, and an [`Account`] of all games and positions. Games stream through: what
//! a chunk of them comes to is handed over in the order of the input, so nothing depends on the number of threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Color;

use super::histogram::{Bin, Observation, material};
use patzer_chess::score::{Score, is_mate};
use patzer_data::{Record, flags};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{Chunk, Event, Parser, Reader, tags};

/// Terminations that say nothing about the position: the values of the tag with which match runners mark them.
pub const NOT_BY_PLAY: [&str; 5] =
    ["time forfeit", "abandoned", "stalled connection", "illegal move", "unterminated"];

/// Whose scores of which games take part.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Games whose Termination tag is one of these stay outside, whatever their letters' case.
    pub exclude: Vec<String>,
    /// Only moves of a player whose name contains this.
    pub player: Option<String>,
}

/// What was read, and what of it stays outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Games that were read, bad ones and skipped ones included.
    pub games: u64,
    /// Games with a fault; nothing of them takes part.
    pub games_bad: u64,
    /// Games without a fault that do not take part, by reason: `no_result`, `variant`, `termination`.
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Positions from which a move was played, those of bad games before the fault included.
    pub positions_read: u64,
    /// Positions that do not take part, by reason: that of their game, `bad_game`, `other_player` or `unscored`.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Account {
    /// Adds another account to this one.
    pub fn add(&mut self, other: Account) {
        self.games += other.games;
        self.games_bad += other.games_bad;
        self.positions_read += other.positions_read;
        for (reason, count) in other.games_skipped {
            *self.games_skipped.entry(reason).or_default() += count;
        }
        for (reason, count) in other.dropped {
            self.drop(reason, count);
        }
    }

    /// Counts positions that do not take part.
    pub fn drop(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.dropped.entry(reason).or_default() += count;
        }
    }
}

/// What is worth telling while it goes on.
#[derive(Debug)]
pub enum Notice {
    /// How many bytes of the files have been read.
    Bytes(u64),
    /// A broken game, as `file: game N, line L: reason`.
    BadGame(String),
}

/// A position's score and the result of its game, from White's side: what K is fitted to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The score in centipawns.
    pub cp: f32,
    /// The result, from 0 to 1.
    pub result: f32,
    /// The number of the game.
    pub game: u32,
}

impl Scored {
    /// A record with a score of its own or of its leaf, for the side to move there; `None` if that is a mate.
    pub fn of(record: &Record, turn: Color, score: Score) -> Option<Scored> {
        let cp = turn.fold_wb(score, -score) as f32;
        let result = (record.outcome() + 1.0) / 2.0;
        (!is_mate(score)).then_some(Scored { cp, result, game: record.game })
    }

    /// With the score that the playing engine gave, if it gave one.
    pub fn stored(record: &Record) -> Option<Scored> {
        Scored::of(record, record.turn, record.score?.into())
    }
}

/// What the model counts of a scored position; `None` if it has no score.
pub fn observe(record: &Record, bin: Bin) -> Option<Observation> {
    let score = i32::from(record.score?);
    let mate = record.has(flags::MATE_SCORE) || is_mate(score);
    let result = record.turn.fold_wb(record.result, -record.result);
    Some(Observation::new(result, record.fullmove, material(&record.board), score, mate, bin))
}

/// Reads games and shows every scored position that takes part to `observe`, which collects into a fresh `S` a
/// chunk; `absorb` gets those in the order of the input. `observe` runs on any thread.
///
/// # Errors
/// If a file cannot be read to its end or holds no games, if no game at all can be read, or if the user interrupts.
pub fn read<S: Default + Send>(
    files: &[PathBuf],
    choice: &Choice,
    observe: impl Fn(&mut S, &Record) + Sync,
    mut absorb: impl FnMut(S) + Send,
    notice: &mut (dyn FnMut(Notice) + Send),
) -> Result<Account> {
    let reader = Reader::start(files.to_vec())?;
    let mut sink = Sink { files, plausible: false, first_bad: None, account: Account::default(), notice };
    let mut parsed: Vec<Parsed<S>> = Vec::new();
    loop {
        let batch: Vec<Event> =
            std::iter::from_fn(|| reader.next_event()).take(4 * rayon::current_num_threads()).collect();
        if interrupt::requested() {
            return Err(Error::Interrupted("nothing was written"));
        }
        let last = batch.is_empty();
        (sink.notice)(Notice::Bytes(reader.bytes()));
        let (taken, next) = rayon::join(
            || std::mem::take(&mut parsed).into_iter().try_for_each(|p| sink.take(p, &mut absorb)),
            || batch.into_par_iter().map(|event| parse(event, choice, &observe)).collect(),
        );
        taken?;
        parsed = next;
        if last {
            break;
        }
    }
    let account = sink.account;
    if account.games_bad == account.games && account.games > 0 {
        let first = sink.first_bad.unwrap_or_default();
        return Err(Error::usage(format!("{first}; none of the {} games could be read", account.games)));
    }
    Ok(account)
}

/// What became of an event.
enum Parsed<S> {
    Chunk(Box<Block<S>>),
    Other(Event),
}

/// What a chunk's games came to.
struct Block<S> {
    file: usize,
    state: S,
    account: Account,
    /// Number in the file, line, reason.
    bad: Vec<(u64, u64, String)>,
    plausible: bool,
}

fn parse<S: Default>(event: Event, choice: &Choice, observe: &impl Fn(&mut S, &Record)) -> Parsed<S> {
    match event {
        Event::Chunk(chunk) => Parsed::Chunk(Box::new(parse_chunk(&chunk, choice, observe))),
        other => Parsed::Other(other),
    }
}

fn parse_chunk<S: Default>(chunk: &Chunk, choice: &Choice, observe: &impl Fn(&mut S, &Record)) -> Block<S> {
    let mut block = Block {
        file: chunk.file,
        state: S::default(),
        account: Account { games: chunk.games.len() as u64, ..Account::default() },
        bad: Vec::new(),
        plausible: false,
    };
    let mut parser = Parser::default();
    let mut records = Vec::new();
    for (index, piece) in chunk.games.iter().enumerate() {
        records.clear();
        let number = (chunk.number + index as u64) as u32;
        let game = parser.parse(&chunk.text, piece, number, &mut records);
        block.plausible |= game.plausible;
        let account = &mut block.account;
        let positions = game.records.len() as u64;
        account.positions_read += positions;
        if let Some(fault) = game.error {
            block.bad.push((chunk.first + index as u64, piece.line, fault.reason));
            account.games_bad += 1;
            account.drop("bad_game", positions);
            continue;
        }
        let facts = Facts::of(&chunk.text[piece.start..piece.movetext], choice);
        let skipped = match () {
            () if game.other_variant => Some("variant"),
            () if game.result.is_none() => Some("no_result"),
            () if facts.excluded => Some("termination"),
            () => None,
        };
        if let Some(reason) = skipped {
            *account.games_skipped.entry(reason).or_default() += 1;
            account.drop(reason, positions);
            continue;
        }
        let (mut others, mut unscored) = (0, 0);
        for record in &records {
            if !facts.takes_part[record.turn as usize] {
                others += 1;
            } else if record.score.is_none() {
                unscored += 1;
            } else {
                observe(&mut block.state, record);
            }
        }
        account.drop("other_player", others);
        account.drop("unscored", unscored);
    }
    block
}

/// What the tags say that a [`Choice`] asks.
struct Facts {
    excluded: bool,
    /// Whether the moves of Black and of White take part, by `Color as usize`.
    takes_part: [bool; 2],
}

impl Facts {
    fn of(header: &[u8], choice: &Choice) -> Facts {
        let mut facts = Facts { excluded: false, takes_part: [choice.player.is_none(); 2] };
        if choice.exclude.is_empty() && choice.player.is_none() {
            return facts;
        }
        let plays =
            |value: &[u8]| choice.player.as_ref().is_none_or(|name| tags::plain(value).contains(name));
        for (name, value) in tags::Tags::new(header).iter() {
            match name {
                b"Termination" => {
                    let is = |excluded: &String| value.eq_ignore_ascii_case(excluded.as_bytes());
                    facts.excluded |= choice.exclude.iter().any(is);
                }
                b"White" => facts.takes_part[shakmaty::Color::White as usize] = plays(value),
                b"Black" => facts.takes_part[shakmaty::Color::Black as usize] = plays(value),
                _ => {}
            }
        }
        facts
    }
}

/// Takes what was parsed, in the order of the input.
struct Sink<'a> {
    files: &'a [PathBuf],
    /// Whether anything in the current file looks like a game.
    plausible: bool,
    first_bad: Option<String>,
    account: Account,
    notice: &'a mut (dyn FnMut(Notice) + Send),
}

impl Sink<'_> {
    fn take<S>(&mut self, parsed: Parsed<S>, absorb: &mut impl FnMut(S)) -> Result<()> {
        match parsed {
            Parsed::Chunk(block) => {
                self.plausible |= block.plausible;
                self.account.add(block.account);
                for (game, line, reason) in block.bad {
                    let path = self.path(block.file).display();
                    let text = format!("{path}: game {game}, line {line}: {reason}");
                    self.first_bad.get_or_insert_with(|| text.clone());
                    (self.notice)(Notice::BadGame(text));
                }
                absorb(block.state);
                Ok(())
            }
            Parsed::Other(Event::End { .. }) if std::mem::take(&mut self.plausible) => Ok(()),
            Parsed::Other(Event::End { file, .. }) => {
                Err(Error::data(self.path(file), "holds no games in PGN"))
            }
            Parsed::Other(Event::Broken { error, .. } | Event::Failed(error)) => Err(error),
            Parsed::Other(Event::Chunk(_)) => Err(Error::internal("a chunk was not parsed")),
        }
    }

    fn path(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new("-"), PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wdl::Histogram;

    const GAMES: &str = "[White \"Old\"]\n[Black \"New 2\"]\n[Result \"1-0\"]\n\n\
        1. e4 {+0.35/12 1s} e5 {-0.28/11 1s} 2. Nf3 {book} Nc6 {-M8/9 1s} 1-0\n\n\
        [White \"New 1\"]\n[Result \"0-1\"]\n[Termination \"Time forfeit\"]\n\n1. d4 {+0.10/9 1s} d5 {+0.10/9 1s} 0-1\n\n\
        [Result \"1-0\"]\n\n1. e4 {+0.35/12 1s} Ke4 1-0\n\n[Result \"*\"]\n\n1. e4 {+0.35/12 1s} *\n\n\
        [White \"a\"]\n[Result \"1/2-1/2\"]\n[Variant \"atomic\"]\n\n1. e4 1/2-1/2\n\n\
        [White \"New 1\"]\n[Result \"0-1\"]\n[Termination \"adjudication\"]\n\n1. d4 {+0.11/9\n1s} d5 0-1\n";

    fn count(choice: &Choice) -> (Histogram, Account, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, GAMES).unwrap();
        let (mut histogram, mut bad) = (Histogram::default(), Vec::new());
        let observe = |seen: &mut Vec<Observation>, record: &Record| {
            seen.extend(super::observe(record, Bin::default()))
        };
        let absorb = |seen: Vec<Observation>| seen.into_iter().for_each(|o| histogram.add(o, 1));
        let mut notice = |notice| match notice {
            Notice::BadGame(text) => bad.push(text),
            Notice::Bytes(_) => {}
        };
        let account = read(&[path], choice, observe, absorb, &mut notice).unwrap();
        (histogram, account, bad)
    }

    fn not_by_play() -> Vec<String> {
        NOT_BY_PLAY.map(str::to_string).to_vec()
    }

    #[test]
    fn scores_count_for_the_side_to_move_and_every_game_has_a_place() {
        let (histogram, account, bad) = count(&Choice { exclude: not_by_play(), player: None });
        let mut want = Histogram::default();
        for (result, number, score, mate) in
            [(1, 1, 35, false), (-1, 1, -28, false), (-1, 2, -31_992, true), (-1, 1, 11, false)]
        {
            want.add(Observation::new(result, number, 78, score, mate, Bin::default()), 1);
        }
        assert_eq!(histogram, want);
        assert_eq!((account.games, account.games_bad, account.positions_read), (6, 1, 10));
        assert_eq!(account.games_skipped, [("no_result", 1), ("termination", 1), ("variant", 1)].into());
        let dropped = [("bad_game", 1), ("no_result", 1), ("termination", 2), ("unscored", 2)];
        assert_eq!(account.dropped, dropped.into());
        assert!(bad.len() == 1 && bad[0].contains("x.pgn: game 3, line 13: illegal"), "{bad:?}");
    }

    #[test]
    fn one_players_scores_can_be_chosen() {
        let (histogram, account, _) = count(&Choice { exclude: vec![], player: Some("New".into()) });
        // Black's two of the first game, White's of the second and the last.
        assert_eq!((histogram.total(), account.dropped["other_player"]), (4, 4));
    }

    #[test]
    fn a_file_without_games_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, "no games here\n").unwrap();
        let read = read(&[path], &Choice::default(), |_: &mut (), _| {}, |()| {}, &mut |_| {});
        assert!(read.unwrap_err().to_string().contains("no games"));
    }
}
