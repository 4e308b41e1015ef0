//! Limits of a search as words of `go`.

use std::io::Write;
use std::time::Duration;

use shakmaty::Color;

use crate::{Control, Time, Timer};

/// Writes the clocks and limits of a search for `color`.
pub(crate) fn write_limits(out: &mut Vec<u8>, own: &Timer, other: &Timer, color: Color) {
    if let Some(clock) = own.clock() {
        // An opponent without a clock is shown with the player's own.
        let other = other.clock().unwrap_or(clock);
        let (w, b) = color.fold_wb((clock, other), (other, clock));
        // Some engines read zero as no limit.
        let ms = |time: Duration| time.as_millis().max(1);
        let _ = write!(out, " wtime {} btime {}", ms(w.time), ms(b.time));
        let _ = write!(out, " winc {} binc {}", w.increment.as_millis(), b.increment.as_millis());
        if let Some(moves) = clock.moves_to_go {
            let _ = write!(out, " movestogo {moves}");
        }
    }
    write_control(out, &own.control());
}

/// Writes the limits of a single move: all but a clock.
pub(crate) fn write_control(out: &mut Vec<u8>, control: &Control) {
    if let Some(Time::Move(time)) = control.time {
        let _ = write!(out, " movetime {}", time.as_millis().max(1));
    }
    if let Some(nodes) = control.most_nodes() {
        let _ = write!(out, " nodes {nodes}");
    }
    if let Some(depth) = control.depth {
        let _ = write!(out, " depth {depth}");
    }
}
