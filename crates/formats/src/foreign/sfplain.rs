//! Stockfish's `.plain`: six lines of text per position.
//!
//! `fen`, `move` (UCI), `score` and `result` from the side to move, `ply`, and a final `e`. The score 32002 means none.
//! Consecutive positions form a game.

use std::io::Write;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move};

use crate::Record;
use crate::capabilities::{self, Capabilities};
use crate::chain::Chain;
use crate::codec::{PositionReader, PositionWriter};
use crate::fen;
use crate::fen::LineError;
use crate::foreign::binpack::NO_SCORE;
use crate::foreign::joined::{self, JoinedGames};
use crate::stream::{CompressedOutput, Input};
use patzer_io::error::Result;

pub struct Reader {
    input: Input,
    line: Vec<u8>,
    games: JoinedGames,
}

/// Keys of a position, each at most once: a second one belongs to a position whose first lines are lost.
const KEYS: [&str; 5] = ["fen", "move", "score", "ply", "result"];

#[derive(Default)]
struct Entry {
    /// Flags of the [`KEYS`] read so far.
    given: [bool; KEYS.len()],
    position: Option<Chess>,
    played: Option<Move>,
    score: Option<i16>,
    ply: u16,
    result: Option<i8>,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        Reader { input, line: Vec::new(), games: JoinedGames::default() }
    }

    /// Reads the lines up to the next `e`; `None` at the end of the file.
    fn entry(&mut self) -> Result<Option<Entry>> {
        let (mut entry, mut begun) = (Entry::default(), false);
        while self.input.line(&mut self.line)? {
            if self.line.is_empty() {
                continue;
            }
            begun = true;
            let text = std::str::from_utf8(&self.line).map_err(|_| self.input.line_error("is not text"))?;
            match entry.take(text) {
                Ok(true) => return Ok(Some(entry)),
                Ok(false) => {}
                Err(reason) => return Err(self.input.line_error(reason)),
            }
        }
        if begun { Err(self.input.line_error("the file ends within a position")) } else { Ok(None) }
    }
}

impl Entry {
    /// Parses a line; true if it ends the position.
    fn take(&mut self, text: &str) -> std::result::Result<bool, LineError> {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        let value = value.trim();
        let invalid = |reason| LineError::text(text, reason);
        let number = || value.parse::<i16>().map_err(|_| invalid("not a whole number in range"));
        if let Some(known) = KEYS.iter().position(|name| *name == key)
            && std::mem::replace(&mut self.given[known], true)
        {
            return Err(invalid("the position has one already; `e` ends a position"));
        }
        match key {
            "fen" => self.position = Some(fen::parse(value)?),
            "move" => {
                let position =
                    self.position.as_ref().ok_or(LineError::Structure("a move before the position"))?;
                let m = value.parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
                self.played = Some(m.ok_or_else(|| invalid("not a legal move"))?);
            }
            "score" => self.score = Some(number()?).filter(|score| *score != NO_SCORE),
            "ply" => self.ply = value.parse().map_err(|_| invalid("not a ply"))?,
            "result" => match number()? {
                result @ -1..=1 => self.result = Some(result as i8),
                _ => return Err(invalid("not one of 1, 0 and -1")),
            },
            "e" if self.position.is_none() => return Err(LineError::Structure("a position without `fen`")),
            "e" if self.result.is_none() => return Err(LineError::Structure("a position without `result`")),
            "e" => return Ok(true),
            _ => return Err(invalid("none of fen, move, score, ply, result and e")),
        }
        Ok(false)
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let mut entry = match self.entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => {
                self.games.close(records);
                return Ok(false);
            }
            Err(error) => {
                self.input.bad_rows.pass(Err(error), &self.input.notices)?;
                while self.line != b"e" && self.input.line(&mut self.line)? {}
                return Ok(true);
            }
        };
        if let Some(position) = entry.position.take() {
            let Entry { played, score, ply, result, .. } = entry;
            let result = result.unwrap_or(0);
            self.games.add(joined::Entry { position, played, score, ply, result }, records);
        }
        Ok(true)
    }
}

pub struct Writer {
    out: CompressedOutput,
    chain: Chain,
    text: Vec<u8>,
}

impl Writer {
    pub fn new(out: CompressedOutput) -> Writer {
        Writer { out, chain: Chain::default(), text: Vec::new() }
    }
}

impl PositionWriter for Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        let mut illegal = 0;
        for record in records {
            let Some(link) = self.chain.follow(record) else {
                illegal += 1;
                continue;
            };
            self.text.extend_from_slice(b"fen ");
            fen::six(&mut self.text, record);
            let standard = capabilities::castling(&record.board) != Capabilities::CHESS960;
            let uci = link.played.to_uci(CastlingMode::from_standard(standard));
            let score = record.score.unwrap_or(NO_SCORE);
            let result = record.turn.fold_wb(record.result, -record.result);
            let ply = record.game_ply().min(u16::MAX.into());
            // Writing to a vector cannot fail.
            let _ = write!(self.text, "\nmove {uci}\nscore {score}\nply {ply}\nresult {result}\ne\n");
        }
        self.out.put(&self.text)?;
        self.text.clear();
        Ok(illegal)
    }

    fn gaps(&self) -> u64 {
        self.chain.gaps
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.out.commit()
    }
}
