//! Fills the columns that a file of another program or of an earlier version lacks.

use shakmaty::Position;

use crate::capabilities::Capabilities;
use crate::native::columns::{Column, EMPTY};
use crate::native::projection::Projection;
use crate::replay;
use crate::{FAR, Record};
use patzer_chess::packed::NO_EP;

/// Columns without which there is no position with a result.
pub const NEEDED: [&str; 3] = ["board", "stm", "result"];

/// Facts of the columns that a file lacks.
pub fn lacks(columns: &[&'static Column]) -> Capabilities {
    let facts = [
        ("halfmove", Capabilities::HALFMOVE),
        ("fullmove", Capabilities::FULLMOVE),
        ("ply", Capabilities::PLY),
        ("game", Capabilities::GAME),
        ("move", Capabilities::MOVE),
        ("to_end", Capabilities::DISTANCES),
    ];
    let lacking = facts.into_iter().filter(|(name, _)| columns.iter().any(|column| column.name == *name));
    lacking.fold(Capabilities::NONE, |all, (_, fact)| all.and(fact))
}

/// The projected columns that a file lacks.
#[derive(Debug, Clone, Default)]
pub struct Missing {
    names: Vec<&'static str>,
    /// True if the position's own columns are read.
    positions: bool,
}

impl Missing {
    pub fn new(columns: &[&'static Column], projection: Projection) -> Missing {
        let names = columns.iter().filter(|column| projection.contains(column)).map(|column| column.name);
        Missing { names: names.collect(), positions: projection.has(Projection::KEY) }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// A record before its columns are read.
    pub fn base(&self) -> Record {
        let far = |name: &str| if self.has(name) { FAR } else { 0 };
        Record {
            ep: if self.has("ep") { NO_EP } else { 0 },
            fullmove: u16::from(self.has("fullmove")),
            to_capture: far("to_capture"),
            to_check: far("to_check"),
            to_end: far("to_end"),
            ..EMPTY
        }
    }

    /// Computes what follows from the columns that were read. `first` is the row of the first record.
    pub fn complete(&self, records: &mut [Record], first: u64) {
        if self.names.is_empty() {
            return;
        }
        let computed =
            self.positions && ["flags", "to_capture", "to_check"].iter().any(|name| self.has(name));
        for (record, row) in records.iter_mut().zip(first..) {
            if self.has("ply") {
                record.ply = record.game_ply().min(u16::MAX.into()) as u16;
            }
            if self.has("game") {
                record.game = row as u32;
            }
            if computed {
                self.compute(record);
            }
        }
    }

    fn compute(&self, record: &mut Record) {
        let Some(position) = record.position() else { return };
        let played = record.played.unpack(&position).filter(|m| position.is_legal(*m));
        let mut computed = replay::still(&position);
        replay::annotate(&mut computed, &position, played, record.score);
        if self.has("flags") {
            record.flags = computed.flags;
        }
        if self.has("to_capture") {
            record.to_capture = computed.to_capture;
        }
        if self.has("to_check") {
            record.to_check = computed.to_check;
        }
    }
}
