//! Batches of self-play games: totals, journal entries and encoding.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Position};

use super::finished::{FinishedGame, is_failure};
use super::start::Rejection;
use patzer_chess::PackedMove;
use patzer_data::{Record, flags};
use patzer_formats::extra::ExtraRow;
use patzer_formats::foreign::{self, monty, viri};
use patzer_formats::game_records;
use patzer_formats::visits::Visits;
use patzer_io::error::{Error, Result};
use patzer_match::journal::JournalEntry;
use patzer_match::pgn::{self, Header};
use patzer_match::{Game, PlayedMove, Reason};

pub const GAMES: usize = 16;

const LEVEL: i32 = 9;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameTotals {
    /// Number of games, those left out included.
    pub games: u64,
    pub positions: u64,
    pub white: u64,
    pub draws: u64,
    pub black: u64,
    pub reasons: BTreeMap<Reason, u64>,
    pub rejected: BTreeMap<Rejection, u64>,
    /// Games that a player's failure ended; they are not written.
    #[serde(default)]
    pub left_out: u64,
    /// Positions for whose move the player said no score.
    #[serde(default)]
    pub unscored: u64,
    /// Plies of the shortest and the longest game; 0 without games.
    #[serde(default)]
    pub lengths: [u64; 2],
}

fn join([short, long]: [u64; 2], [other_short, other_long]: [u64; 2]) -> [u64; 2] {
    let shortest =
        if short == 0 || other_short == 0 { short.max(other_short) } else { short.min(other_short) };
    [shortest, long.max(other_long)]
}

fn add_counts<K: Ord + Copy>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(&reason, count)| *sum.entry(reason).or_default() += count);
}

impl GameTotals {
    pub fn add(&mut self, finished: &FinishedGame) {
        let FinishedGame { game, rejected, .. } = finished;
        self.games += 1;
        *self.reasons.entry(game.reason).or_default() += 1;
        add_counts(&mut self.rejected, rejected);
        if is_failure(game.reason) {
            self.left_out += 1;
            return;
        }
        let plies = game.moves.len() as u64;
        self.positions += plies;
        self.lengths = join(self.lengths, [plies; 2]);
        self.unscored += game.moves.iter().filter(|played| played.info.score.is_none()).count() as u64;
        *match game.winner {
            Some(Color::White) => &mut self.white,
            None => &mut self.draws,
            Some(Color::Black) => &mut self.black,
        } += 1;
    }
}

impl AddAssign<&GameTotals> for GameTotals {
    fn add_assign(&mut self, other: &GameTotals) {
        self.games += other.games;
        self.positions += other.positions;
        self.white += other.white;
        self.draws += other.draws;
        self.black += other.black;
        self.left_out += other.left_out;
        self.unscored += other.unscored;
        self.lengths = join(self.lengths, other.lengths);
        add_counts(&mut self.reasons, &other.reasons);
        add_counts(&mut self.rejected, &other.rejected);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub batch: usize,
    /// Indices of games after the first that is missing: those that other boards had finished at an interruption.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<usize>,
    #[serde(flatten)]
    pub counts: GameTotals,
}

impl JournalEntry for Batch {
    const OPTION: &'static str = "-o";
    const OF: &'static str = "self-play";
    const UNITS: [&'static str; 2] = ["batch", "batches"];
    const TEXT: bool = false;
    const KEEPS_RESULTS: bool = false;

    fn number(&self) -> usize {
        self.batch
    }

    fn games(number: usize, batch: Option<&Batch>) -> String {
        let first = (number - 1) * GAMES + 1;
        let last = (first - 1).saturating_add(batch.map_or(GAMES, |batch| batch.counts.games as usize));
        format!("games {first} to {last}")
    }

    /// Appended to the whole name: one run may write `games.pgn` and `games.vf`.
    fn journal(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(".journal");
        name.into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Pgn,
    PgnZst,
    Viri,
    Monty,
    Binpack,
}

impl Format {
    pub fn of(path: &Path) -> Result<Format> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let endings = [(".pgn", Format::Pgn), (".pgn.zst", Format::PgnZst), (".vf", Format::Viri)];
        let more = [(".viri", Format::Viri), (".viriformat", Format::Viri), (".binpack", Format::Binpack)];
        let monty = [(".monty", Format::Monty), (".montyformat", Format::Monty)];
        let found = endings.into_iter().chain(more).chain(monty).find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| format).ok_or_else(|| {
            Error::usage(format!(
                "-o {}: name a .pgn, .pgn.zst, .vf, .monty or .binpack file, or a dataset such as data.parquet",
                path.display()
            ))
        })
    }

    pub fn is_pgn(self) -> bool {
        matches!(self, Format::Pgn | Format::PgnZst)
    }

    /// Tests whether it has a place for how often a search by playouts visited each move.
    pub fn carries_visits(self) -> bool {
        self.is_pgn() || self == Format::Monty
    }

    /// Encodes the games that are written of a batch.
    pub fn encode(self, games: &[FinishedGame], header: &Header) -> Result<Vec<u8>> {
        let games = games.iter().filter(|finished| !is_failure(finished.game.reason));
        match self {
            Format::Viri => return Ok(games.flat_map(|finished| viriformat(&finished.game)).collect()),
            Format::Monty => return Ok(games.flat_map(montyformat).collect()),
            Format::Binpack => return games.map(binpack).collect::<Result<Vec<_>>>().map(encode_records),
            Format::Pgn | Format::PgnZst => {}
        }
        let mut text = String::new();
        for FinishedGame { game, seats, index, .. } in games {
            pgn::write_game(&mut text, game, header, *seats, &(index + 1).to_string(), None);
        }
        match self {
            Format::PgnZst => zstd::bulk::compress(text.as_bytes(), LEVEL)
                .map_err(|e| Error::internal(format!("zstd: {e}"))),
            _ => Ok(text.into_bytes()),
        }
    }
}

fn result(game: &Game) -> i8 {
    game.winner.map_or(0, |winner| winner.fold_wb(1, -1))
}

fn score(played: &PlayedMove) -> Option<i16> {
    played.info.score.map(|score| score as i16)
}

fn encode_records(games: Vec<Vec<Record>>) -> Vec<u8> {
    foreign::binpack::encode(&games.concat())
}

fn records_of(FinishedGame { game, index, .. }: &FinishedGame) -> Vec<Record> {
    let moves = game.moves.iter().map(|played| (played.m, score(played)));
    game_records(&game.start, *index as u32, result(game), moves)
}

/// Encodes a game with the visits of its moves; moves without a score split it.
fn montyformat(finished: &FinishedGame) -> Vec<u8> {
    let records = records_of(finished);
    let mut rows = vec![ExtraRow::default(); records.len()];
    for (ply, said) in &finished.game.remarks {
        let visits: Visits = said.visits.iter().map(|&(m, count)| (PackedMove::pack(m), count)).collect();
        rows.get_mut(*ply).into_iter().for_each(|row| *row = ExtraRow::of_visits(&visits));
    }
    monty::encode(&records, &rows)
}

fn binpack(finished: &FinishedGame) -> Result<Vec<Record>> {
    let records = records_of(finished);
    if records.iter().any(|record| record.has(flags::CHESS960)) {
        let reason = "has castling rights of Chess960, which binpack cannot carry; write viriformat (.vf)";
        return Err(Error::input(format!("game {}: {reason}", finished.index + 1)));
    }
    Ok(records)
}

/// Encodes a game; moves without a score, which the format cannot say, split it.
fn viriformat(game: &Game) -> Vec<u8> {
    let (mut bytes, mut position, mut rest) = (Vec::new(), game.start.clone(), &game.moves[..]);
    while let Some(first) = rest.first() {
        let scored = rest.iter().take_while(|played| played.info.score.is_some()).count();
        let (now, later) = rest.split_at(scored.max(1));
        if first.info.score.is_some() {
            let moves = now.iter().map(|played| (played.m, score(played).unwrap_or_default()));
            bytes.extend(viri::encode_game(&position, result(game), moves));
        }
        now.iter().for_each(|played| position.play_unchecked(played.m));
        rest = later;
    }
    bytes
}
