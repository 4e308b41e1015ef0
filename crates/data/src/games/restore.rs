//! Games of datasets and of formats that keep games, as PGN.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use super::files::GameFiles;
use crate::extract::Notice;
use crate::{AnyReader, Record, flags};
use patzer_formats::ReadOptions;
use patzer_formats::capabilities::Capabilities;
use patzer_formats::chain::Chain;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::result_text;
use patzer_pgn::write::{Movetext, Notation, push_score, write_move, write_start, write_tag};

#[derive(Debug, Clone, Default, Serialize)]
pub struct Restored {
    pub positions_read: u64,
    /// Positions without a legal move, which no game can hold.
    pub positions_illegal: u64,
    pub positions_written: u64,
    pub games_written: u64,
    /// Games written that go on after a gap in their original, from a position of its own.
    pub gaps: u64,
    /// Files written.
    #[serde(serialize_with = "patzer_io::path_text")]
    pub files: Vec<PathBuf>,
}

/// Writes the games of files of positions, in their order. A game ends where the next position does not follow from
/// its last move. Comments have scores as [`crate::extract`] reads them; names of players are in no format, so tags
/// lack them.
pub fn restore(
    files: &[PathBuf],
    options: &ReadOptions,
    output: &Path,
    per_file: Option<u64>,
    notice: &mut (dyn FnMut(Notice) + Send),
    advance: &mut dyn FnMut(u64),
) -> Result<Restored> {
    let mut out = GameFiles::create(output, per_file, files)?;
    let mut done = Restored::default();
    let (mut chain, mut game, mut records) = (Chain::default(), Game::default(), Vec::new());
    for file in files {
        let mut reader = AnyReader::open(file, options)?;
        if reader.metadata().lacks.contains(Capabilities::MOVE) {
            return Err(Error::data(file, "has no moves, so no games can be made of it"));
        }
        while reader.next_batch(&mut records)? {
            if interrupt::requested() {
                return Err(Error::Interrupted("the last file was not written"));
            }
            advance(records.len() as u64);
            done.positions_read += records.len() as u64;
            for record in records.drain(..) {
                let Some(link) = chain.follow(&record) else {
                    done.positions_illegal += 1;
                    continue;
                };
                if link.starts {
                    done.games_written += game.write(&mut out)?;
                }
                game.plies.push((record, link.position, link.played));
            }
        }
        chain.split();
    }
    done.games_written += game.write(&mut out)?;
    done.gaps = chain.gaps;
    done.positions_written = done.positions_read - done.positions_illegal;
    done.files = out.finish(notice)?;
    Ok(done)
}

/// The game that is being read.
#[derive(Default)]
struct Game {
    plies: Vec<(Record, Chess, Move)>,
    text: String,
}

impl Game {
    /// Writes the game and empties it; the number of games written.
    fn write(&mut self, out: &mut GameFiles) -> Result<u64> {
        let Some((first, start, _)) = self.plies.first() else { return Ok(0) };
        self.text.clear();
        write_tags(&mut self.text, first, start);
        let mut movetext = Movetext::new(&mut self.text);
        for (nth, (record, position, played)) in self.plies.iter().enumerate() {
            movetext.number(position.fullmoves().get(), position.turn(), nth == 0);
            write_move(&mut movetext.token, position, *played, Notation::San);
            if record.has(flags::GIVES_CHECK) {
                let mate = record.to_end == 0 && record.has(flags::MATE_END);
                movetext.token.push(if mate { '#' } else { '+' });
            }
            movetext.push();
            if record.has(flags::BOOK) {
                movetext.token.push_str("{book}");
                movetext.push();
            }
            write_score(&mut movetext.token, record);
            if !movetext.token.is_empty() {
                movetext.push();
            }
        }
        movetext.token.push_str(result_text(Some(first.result)));
        movetext.push();
        self.text.push_str("\n\n");
        self.plies.clear();
        out.write(self.text.as_bytes(), true).map(|()| 1)
    }
}

fn write_tags(out: &mut String, first: &Record, start: &Chess) {
    let round = (u64::from(first.game) + 1).to_string();
    let seven = [("Event", "?"), ("Site", "?"), ("Date", "????.??.??"), ("Round", &round), ("White", "?")];
    seven.iter().for_each(|(name, value)| write_tag(out, name, value));
    write_tag(out, "Black", "?");
    write_tag(out, "Result", result_text(Some(first.result)));
    write_start(out, start, first.has(flags::CHESS960));
    out.push('\n');
}

/// Depth and score as TCEC writes them, whose side, unit and mates no reader has to find out.
fn write_score(out: &mut String, record: &Record) {
    if let Some(score) = record.score {
        out.push('{');
        if let Some(depth) = record.depth {
            let _ = write!(out, "d={depth}, ");
        }
        out.push_str("wv=");
        let score = i32::from(score);
        push_score(out, if record.turn.is_white() { score } else { -score }, false);
        out.push('}');
    }
}
