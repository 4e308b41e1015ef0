//! Writes the traces of a small evaluation: material, piece-square tables, bishop pair, tempo.
//!
//! In: positions with results, in any notation that patzer writes. Out: lines of traces.
//!
//! ```text
//! cargo run --example write_traces < positions.epd > traces.txt
//! patzer tune traces traces.txt --terms examples/traces/terms.toml -o weights.rs
//! ```
//!
//! The evaluation is written once, generic over what takes its counts: in play a sink that sums weights, here one that
//! keeps them.

use std::io::{BufRead, Write};

#[path = "traces/patzer_trace.rs"]
mod patzer_trace;
use patzer_trace::{Position, Trace};

/// Takes the counts of an evaluation: an entry counts so often for a side (0 White, 1 Black).
trait Sink {
    fn add(&mut self, index: usize, side: usize, count: i32);
}

impl Sink for Trace {
    fn add(&mut self, index: usize, side: usize, count: i32) {
        self.0.entry(index).or_default()[side] += count as f32;
    }
}

const MATERIAL: usize = 0;
const PSQT: usize = 5;
const BISHOP_PAIR: usize = 389;
const TEMPO: usize = 390;
const PHASE: [u32; 6] = [0, 1, 1, 2, 4, 0];

/// The evaluation; returns the phase.
fn evaluate(fen: &str, sink: &mut impl Sink) -> u32 {
    let mut fields = fen.split(' ');
    let (board, turn) = (fields.next().unwrap_or_default(), fields.next());
    let (mut phase, mut bishops) = (0, [0, 0]);
    for (row, rank) in board.split('/').enumerate() {
        let mut file = 0;
        for letter in rank.chars() {
            if let Some(empty) = letter.to_digit(10) {
                file += empty as usize;
                continue;
            }
            let Some(piece) = "PNBRQK".find(letter.to_ascii_uppercase()) else { continue };
            let white = letter.is_ascii_uppercase();
            let side = usize::from(!white);
            // a1 is 0. Black's squares are seen from Black's side.
            let square = (if white { 7 - row } else { row }) * 8 + file;
            if piece < 5 {
                sink.add(MATERIAL + piece, side, 1);
            }
            sink.add(PSQT + 64 * piece + square, side, 1);
            phase += PHASE[piece];
            bishops[usize::from(white)] += i32::from(piece == 2);
            file += 1;
        }
    }
    for (side, count) in [(0, bishops[1]), (1, bishops[0])] {
        sink.add(BISHOP_PAIR, side, i32::from(count >= 2));
    }
    sink.add(TEMPO, usize::from(turn != Some("w")), 1);
    phase
}

/// The line of traces of a line of positions; `None` of an empty line or a comment.
pub fn line(text: &str) -> Result<Option<String>, &'static str> {
    let Some(position) = Position::read(text)? else { return Ok(None) };
    let mut trace = Trace::default();
    let phase = evaluate(&position.fen, &mut trace);
    Ok(Some(trace.line(&position, phase as f32, "", |_| false)))
}

/// From standard input to standard output.
pub fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for (number, text) in std::io::stdin().lock().lines().enumerate() {
        match line(&text?) {
            Ok(Some(line)) => writeln!(out, "{line}")?,
            Ok(None) => {}
            Err(reason) => {
                eprintln!("line {}: {reason}", number + 1);
                std::process::exit(1);
            }
        }
    }
    out.flush()
}
