//! Batches of self-play games: totals, journal entries and encoding.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::FinishedGame;
use super::start::Rejection;
use patzer_data::format::viri;
use patzer_io::error::{Error, Result};
use patzer_match::journal::JournalEntry;
use patzer_match::pgn::{self, Header};
use patzer_match::{Game, Reason};

pub const GAMES: usize = 16;

const LEVEL: i32 = 9;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameTotals {
    pub games: u64,
    pub positions: u64,
    pub white: u64,
    pub draws: u64,
    pub black: u64,
    pub reasons: BTreeMap<Reason, u64>,
    pub rejected: BTreeMap<Rejection, u64>,
}

fn add_counts<K: Ord + Copy>(sum: &mut BTreeMap<K, u64>, more: &BTreeMap<K, u64>) {
    more.iter().for_each(|(&reason, count)| *sum.entry(reason).or_default() += count);
}

impl GameTotals {
    pub fn add(&mut self, finished: &FinishedGame) {
        let FinishedGame { game, rejected, .. } = finished;
        self.games += 1;
        self.positions += game.moves.len() as u64;
        *match game.winner {
            Some(Color::White) => &mut self.white,
            None => &mut self.draws,
            Some(Color::Black) => &mut self.black,
        } += 1;
        *self.reasons.entry(game.reason).or_default() += 1;
        add_counts(&mut self.rejected, rejected);
    }
}

impl AddAssign<&GameTotals> for GameTotals {
    fn add_assign(&mut self, other: &GameTotals) {
        self.games += other.games;
        self.positions += other.positions;
        self.white += other.white;
        self.draws += other.draws;
        self.black += other.black;
        add_counts(&mut self.reasons, &other.reasons);
        add_counts(&mut self.rejected, &other.rejected);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub batch: usize,
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
}

impl Format {
    pub fn of(path: &Path) -> Result<Format> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let endings = [(".pgn", Format::Pgn), (".pgn.zst", Format::PgnZst), (".vf", Format::Viri)];
        let more = [(".viri", Format::Viri), (".viriformat", Format::Viri)];
        let found = endings.into_iter().chain(more).find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| format).ok_or_else(|| {
            Error::usage(format!(
                "-o {}: name a .pgn, .pgn.zst or .vf file; `patzer extract` makes datasets of them",
                path.display()
            ))
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Format::Pgn => "pgn",
            Format::PgnZst => "pgn.zst",
            Format::Viri => "viriformat",
        }
    }

    /// Encodes a batch; `first` is the index of its first game.
    pub fn encode(self, games: &[FinishedGame], first: usize, header: &Header) -> Result<Vec<u8>> {
        if self == Format::Viri {
            return Ok(games.iter().flat_map(|finished| viriformat(&finished.game)).collect());
        }
        let mut text = String::new();
        for (number, FinishedGame { game, seats, .. }) in (first + 1..).zip(games) {
            pgn::write_game(&mut text, game, header, *seats, &number.to_string());
        }
        match self {
            Format::PgnZst => zstd::bulk::compress(text.as_bytes(), LEVEL)
                .map_err(|e| Error::internal(format!("zstd: {e}"))),
            _ => Ok(text.into_bytes()),
        }
    }
}

fn viriformat(game: &Game) -> Vec<u8> {
    let result = game.winner.map_or(0, |winner| winner.fold_wb(1, -1));
    // In-process players score every move.
    let moves = game.moves.iter().map(|played| (played.m, played.info.score.unwrap_or(0) as i16));
    viri::encode_game(&game.start, result, moves)
}
