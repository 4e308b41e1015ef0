//! Drops positions in the window before a capture.
//!
//! In: a record with `to_capture`, the plies until the next capture is played (0 = the next move).
//! Out: keep or drop. Source: zurichess, "Choosing positions for Texel's Tuning Method" (2016).

use super::registry::{Kind, Make, Parameter, Row};
use super::{Filter, Record};

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "before_capture",
    doc: "a capture is played within a window of plies",
    parameters: &[Parameter {
        name: "plies",
        doc: "length of the window, in plies",
        kind: Kind::Whole(1, 255),
        default: &[5.0],
    }],
    make: Make::Position(|v| Box::new(BeforeCapture { plies: v[0] as u8 })),
};

/// Positions from which a capture is played within `plies` plies, counting the capturing move as the first.
#[derive(Debug, Clone, Copy)]
struct BeforeCapture {
    /// Window length in plies; 5 in the presets.
    plies: u8,
}

impl Filter for BeforeCapture {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        record.to_capture >= self.plies
    }
}
