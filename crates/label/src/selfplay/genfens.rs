//! Openings that an engine makes by itself, in blocks of its `genfens`, so that seed and number of a game decide its
//! opening.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use shakmaty::Chess;

use patzer_chess::fen;
use patzer_chess::rng::mix;
use patzer_match::participant::Participant;
use patzer_match::{Genfens, PlayerError};

/// Openings of a block: starting the engine costs little for each, and a short run waits for few.
const BLOCK: usize = 64;

/// Distance from a first opening's seed to its seed after a rejection. All seeds are below 2^31, which every engine
/// reads.
const SEEDS: u64 = 1 << 20;

/// Times that an engine is started for a block.
const TRIES: usize = 3;

/// Blocks in memory, for the games in play.
const KEPT: usize = 64;

/// Openings of a block; `None` for a text that is no legal position.
type Block = Vec<Option<Chess>>;

#[derive(Serialize)]
pub struct GenfensCache<'a> {
    #[serde(skip)]
    participant: &'a Participant,
    seed: u64,
    #[serde(serialize_with = "patzer_io::path_text")]
    book: Option<PathBuf>,
    words: String,
    /// Blocks by number and attempt.
    #[serde(skip)]
    blocks: Mutex<BTreeMap<(usize, usize), Block>>,
}

impl<'a> GenfensCache<'a> {
    /// Openings of a program, from its book; `words` follow the request.
    pub fn new(
        participant: &'a Participant,
        seed: u64,
        book: Option<PathBuf>,
        words: String,
    ) -> GenfensCache<'a> {
        GenfensCache { participant, seed, book, words, blocks: Mutex::default() }
    }

    /// The opening of a game; `None` if the engine's is no legal position.
    pub fn get(&self, game: usize, attempt: usize, stop: &AtomicBool) -> Result<Option<Chess>, PlayerError> {
        // Another place too, for an engine whose faults have places.
        let (key, place) = ((game / BLOCK, attempt), (game + attempt) % BLOCK);
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks.get(&key) {
            return Ok(block[place].clone());
        }
        let block = self.make(key, stop)?;
        let opening = block[place].clone();
        blocks.insert(key, block);
        if blocks.len() > KEPT {
            blocks.pop_first();
        }
        Ok(opening)
    }

    fn make(&self, (number, attempt): (usize, usize), stop: &AtomicBool) -> Result<Block, PlayerError> {
        let seed = (mix(self.seed, 0) >> 34) + number as u64 + attempt as u64 * SEEDS;
        let (book, words) = (self.book.clone(), self.words.clone());
        let request = Genfens { count: BLOCK, seed: seed & 0x7fff_ffff, book, words };
        let unable = |note| PlayerError::Unable(note);
        let mut tries = 1;
        loop {
            match self.participant.genfens(&request, stop) {
                Some(Ok(texts)) => {
                    return Ok(texts.iter().map(|text| fen::position(text, false).ok()).collect());
                }
                Some(Err(PlayerError::Crash(_) | PlayerError::Stall(_))) if tries < TRIES => tries += 1,
                Some(Err(PlayerError::Stopped)) => return Err(PlayerError::Stopped),
                Some(Err(error)) => return Err(unable(error.to_string())),
                None => return Err(unable("makes no openings: it is an evaluation, not a program".into())),
            }
        }
    }
}
