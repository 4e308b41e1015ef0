//! Batches of self-play games: totals, journal entries and encoding.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::finished::FinishedGame;
use super::start::Rejection;
use patzer_chess::PackedMove;
use patzer_data::{Record, flags};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::extra::ExtraRow;
use patzer_formats::game_records;
use patzer_formats::registry;
use patzer_formats::stream::packing;
use patzer_formats::visits::Visits;
use patzer_io::error::{Error, Result};
use patzer_match::Reason;
use patzer_match::journal::{self, JournalEntry};
use patzer_match::pgn::{self, Header};

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
        if game.reason.is_failure() {
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
    const OF: &'static str = "self-play";
    const UNITS: [&'static str; 2] = ["batch", "batches"];
    const TEXT: bool = false;

    fn number(&self) -> usize {
        self.batch
    }

    fn games(number: usize, batch: Option<&Batch>) -> String {
        let first = (number - 1) * GAMES + 1;
        let last = (first - 1).saturating_add(batch.map_or(GAMES, |batch| batch.counts.games as usize));
        format!("games {first} to {last}")
    }

    fn journal(file: &Path) -> PathBuf {
        journal::beside(file)
    }
}

/// Format of a file that grows with the games.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    Pgn,
    PgnZst,
    Positions(&'static registry::Format),
}

impl Format {
    pub fn of(path: &Path) -> Result<Format> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let grows = |format: &&'static registry::Format| format.append.is_some() && packing(path).is_none();
        match registry::of_path(path).filter(grows) {
            _ if name.ends_with(".pgn") => Ok(Format::Pgn),
            _ if name.ends_with(".pgn.zst") => Ok(Format::PgnZst),
            Some(format) => Ok(Format::Positions(format)),
            None => {
                let growing = registry::FORMATS.iter().filter(|format| format.append.is_some());
                let endings: Vec<String> = growing.map(|format| format!(".{}", format.endings[0])).collect();
                Err(Error::usage(format!(
                    "-o {}: name a .pgn, .pgn.zst, {} file, or a dataset such as data.parquet",
                    path.display(),
                    endings.join(", ")
                )))
            }
        }
    }

    pub fn is_pgn(self) -> bool {
        matches!(self, Format::Pgn | Format::PgnZst)
    }

    /// Tests whether it has a place for how often a search by playouts visited each move.
    pub fn carries_visits(self) -> bool {
        match self {
            Format::Pgn | Format::PgnZst => true,
            Format::Positions(format) => format.carries.contains(Capabilities::VISITS),
        }
    }

    /// The name of a format that refuses castling rights of Chess960.
    pub fn refuses_chess960(self) -> Option<&'static str> {
        match self {
            Format::Positions(format) if format.refuses.contains(Capabilities::CHESS960) => Some(format.name),
            _ => None,
        }
    }

    /// Encodes the games that are written of a batch.
    pub fn encode(self, games: &[FinishedGame], header: &Header) -> Result<Vec<u8>> {
        let games = games.iter().filter(|finished| !finished.game.reason.is_failure());
        if let Format::Positions(format) = self {
            let (mut records, mut rows) = (Vec::new(), Vec::new());
            for finished in games {
                let of_game = records_of(finished);
                self.check_chess960(finished, &of_game)?;
                if self.carries_visits() {
                    rows.extend(visits_of(finished, of_game.len()));
                }
                records.extend(of_game);
            }
            let append =
                format.append.ok_or_else(|| Error::internal(format!("{} does not grow", format.name)))?;
            return Ok(append(&records, &rows));
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

    fn check_chess960(self, finished: &FinishedGame, records: &[Record]) -> Result<()> {
        match self.refuses_chess960().filter(|_| records.iter().any(|record| record.has(flags::CHESS960))) {
            None => Ok(()),
            Some(name) => Err(Error::input(format!(
                "game {}: has castling rights of Chess960, which {name} cannot carry; write viriformat (.vf)",
                finished.index + 1
            ))),
        }
    }
}

fn records_of(FinishedGame { game, index, .. }: &FinishedGame) -> Vec<Record> {
    let result = game.winner.map_or(0, |winner| winner.fold_wb(1, -1));
    let moves = game.moves.iter().map(|played| (played.m, played.info.score.map(|score| score as i16)));
    game_records(&game.start, *index as u32, result, moves)
}

/// The visits of a game's moves, a row a position.
fn visits_of(finished: &FinishedGame, positions: usize) -> Vec<ExtraRow> {
    let mut rows = vec![ExtraRow::default(); positions];
    for (ply, said) in &finished.game.remarks {
        let visits: Visits = said.visits.iter().map(|&(m, count)| (PackedMove::pack(m), count)).collect();
        rows.get_mut(*ply).into_iter().for_each(|row| *row = ExtraRow::of_visits(&visits));
    }
    rows
}
