//! PositionReader: what is written at once, and what it counts.
//!
//! In: finished games in order. Out: their bytes, as PGN (plain, or a Zstandard frame a batch) or viriformat, and the
//! line of the journal that accounts for them.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::FinishedGame;
use super::start::Rejection;
use patzer_data::format::viri;
use patzer_io::error::{Error, Result};
use patzer_match::game::{Game, Reason};
use patzer_match::journal::JournalEntry;
use patzer_match::pgn::{self, Header};

/// Games in a batch; the last one may have fewer.
pub const GAMES: usize = 16;

/// The level of Zstandard: games are few and kept for long.
const LEVEL: i32 = 9;

/// What games add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameTotals {
    /// Games written.
    pub games: u64,
    /// Positions in which a move was played.
    pub positions: u64,
    /// Games won by White.
    pub white: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games won by Black.
    pub black: u64,
    /// How many games ended for which reason.
    pub reasons: BTreeMap<Reason, u64>,
    /// Starts that were given up for these games, by reason.
    pub rejected: BTreeMap<Rejection, u64>,
}

impl GameTotals {
    /// Counts a game.
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
        for (&reason, count) in rejected {
            *self.rejected.entry(reason).or_default() += count;
        }
    }
}

impl AddAssign<&GameTotals> for GameTotals {
    fn add_assign(&mut self, other: &GameTotals) {
        for (sum, more) in [
            (&mut self.games, other.games),
            (&mut self.positions, other.positions),
            (&mut self.white, other.white),
            (&mut self.draws, other.draws),
            (&mut self.black, other.black),
        ] {
            *sum += more;
        }
        for (&reason, count) in &other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        for (&reason, count) in &other.rejected {
            *self.rejected.entry(reason).or_default() += count;
        }
    }
}

/// A batch, as its line of the journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its number, from 1.
    pub batch: usize,
    /// What it counts.
    #[serde(flatten)]
    pub counts: GameTotals,
}

impl JournalEntry for Batch {
    const OPTION: &'static str = "-o";
    const OF: &'static str = "self-play";

    fn number(&self) -> usize {
        self.batch
    }

    /// Behind the whole name: one run may write `games.pgn` and `games.vf`.
    fn journal(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(".journal");
        name.into()
    }
}

/// How games are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PGN with a comment on each move.
    Pgn,
    /// The same, packed.
    PgnZst,
    /// viriformat.
    Viri,
}

impl Format {
    /// The format that a file's name says.
    ///
    /// # Errors
    /// If it says none.
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

    /// Its name in the journal's options.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pgn => "pgn",
            Format::PgnZst => "pgn.zst",
            Format::Viri => "viriformat",
        }
    }

    /// The bytes of a batch of games, of which the first has this number, from 0.
    ///
    /// # Errors
    /// If they cannot be packed.
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

/// A game as viriformat has it.
fn viriformat(game: &Game) -> Vec<u8> {
    let result = game.winner.map_or(0, |winner| winner.fold_wb(1, -1));
    // Every player in this process scores its moves.
    let moves = game.moves.iter().map(|played| (played.m, played.info.score.unwrap_or(0) as i16));
    viri::encode_game(&game.start, result, moves)
}
