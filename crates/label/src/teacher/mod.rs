//! Labels positions by the searches of a UCI engine or by a static evaluation: a pool of labellers, a journal from
//! which a killed run resumes, and the dataset with the answers.

mod answer;
mod blocks;
mod journal;
mod known;
mod pool;
mod searching;
mod static_labels;
mod verify;

use std::path::Path;

pub use self::blocks::{Cut, rows};
pub use self::journal::Journal;
pub use self::known::{KnownAnswers, NoTeacher};
pub use self::pool::{Block, Event, Labeller, Labels, label};
pub use self::searching::{Teacher, start};
pub use self::static_labels::{STATIC_BLOCK, StaticTeacher};
pub use self::verify::{Verified, sample, verify};

use self::blocks::{Blocks, checksum};
use crate::tables::Tables;
use patzer_chess::PackedMove;
use patzer_data::{AnyWriter, DataFile, Metadata, Record, Target, Written, flags};
use patzer_formats::extra_rows::ExtraRows;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;
use patzer_match::{Control, Time};

/// Positions between two `ucinewgame`: those that an engine searches in about 64,000 nodes or milliseconds, at most
/// 64. So clearing its tables costs little, and a killed run loses little.
pub fn default_block(control: &Control) -> usize {
    let nodes = control.nodes.map_or(64, |nodes| 64_000 / nodes.max(1));
    let time = match control.time {
        Some(Time::Move(time)) => 64 / time.as_millis().max(1) as u64,
        _ => 64,
    };
    // An engine's nodes to a depth are unknown; these are usual ones.
    let depth = match control.depth {
        None | Some(..=8) => 64,
        Some(9..=12) => 8,
        Some(_) => 1,
    };
    nodes.min(time).min(depth).clamp(1, 64) as usize
}

/// Positions by what the teacher said of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub positions: u64,
    /// The score was taken from a file.
    pub joined: u64,
    pub scored: u64,
    /// Scored as a forced mate.
    pub mates: u64,
    /// The engine answered without a score.
    pub no_score: u64,
    /// The engine crashed or hung twice.
    pub failed: u64,
    /// The engine answered without a legal move.
    pub no_move: u64,
    pub restarts: u64,
}

/// The answers of a complete journal.
pub struct Answers<'a> {
    pub journal: &'a Journal,
    /// Worth of a unit of the scores in centipawns.
    pub unit: f64,
    /// They are of searches, which name a best move.
    pub searched: bool,
}

/// Writes the positions of a cut with their answers. `see` gets every block before `tables` correct
/// it. On interruption nothing is written.
pub fn write(
    data: DataFile<'_>,
    cut: &Cut,
    answers: &Answers,
    (output, target, metadata): (&Path, &Target, &Metadata),
    mut tables: Option<&mut Tables>,
    see: &mut dyn FnMut(&[Record]),
) -> Result<(Counts, Written)> {
    let mut counts = Counts::default();
    let (mut blocks, mut records) = (Blocks::open(data, cut)?, Vec::new());
    let mut writer = AnyWriter::create(output, target, metadata)?;
    let mut extra = ExtraRows::of(data.path, metadata, &writer.extra(), &data.options.notices)?;
    for _ in 0..cut.blocks.start {
        extra.as_mut().map(|extra| extra.take(cut.size)).transpose()?;
    }
    while let Some(block) = blocks.next(&mut records)? {
        if interrupt::requested() {
            return Err(Error::Interrupted("the answers are kept").hint(Hint::Resume));
        }
        let finished = answers.journal.read(block)?;
        if finished.positions != checksum(&records) || finished.answers.len() != records.len() {
            return Err(pool::other_positions(data.path));
        }
        counts.restarts += u64::from(finished.restarts);
        for (record, answer) in records.iter_mut().zip(&finished.answers) {
            answer.apply(record, answers.unit);
            counts.positions += 1;
            counts.joined += u64::from(answer.joined);
            counts.scored += u64::from(record.score.is_some());
            counts.mates += u64::from(record.has(flags::MATE_SCORE));
            counts.failed += u64::from(answer.failed);
            counts.no_score += u64::from(record.score.is_none() && !answer.failed);
            let no_move =
                answers.searched && record.best == PackedMove::NONE && !(answer.failed || answer.joined);
            counts.no_move += u64::from(no_move);
        }
        see(&records);
        if let Some(tables) = &mut tables {
            tables.correct(&mut records)?;
        }
        let rows = extra.as_mut().map(|extra| extra.take(records.len())).transpose()?;
        writer.write_with(&records, rows)?;
    }
    if counts.positions != cut.positions {
        let (now, before) = (counts.positions, cut.positions);
        return Err(Error::data(data.path, format!("has changed: {now} positions in place of {before}")));
    }
    Ok((counts, writer.finish()?))
}
