//! Indices of active features, as embedding bags take them.

use numpy::PyArray1;
use patzer_data::Record;
use patzer_eval::nnue::features::{Features, Perspective, ones};
use patzer_io::error::{Error, Result};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Positions that a thread works on at once.
const CHUNK: usize = 1 << 10;

/// Indices one after another, and where each position's begin.
pub type Bag<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

/// Indices of the active features, and the number of each position's, from one perspective.
#[derive(Default)]
struct Active {
    indices: Vec<i32>,
    counts: Vec<i32>,
}

/// Returns the bags of the side to move and of its opponent.
pub fn bags<'py>(py: Python<'py>, records: &[Record], blocks: &str) -> Result<(Bag<'py>, Bag<'py>)> {
    let features = Features::parse(blocks).map_err(|e| Error::usage(e.to_string()))?;
    let chunks: Vec<[Active; 2]> = py.detach(|| {
        let chunks = records.par_chunks(CHUNK).enumerate();
        chunks.map(|(nth, chunk)| active(&features, chunk, nth * CHUNK)).collect::<Result<_>>()
    })?;
    Ok((bag(py, &chunks, 0), bag(py, &chunks, 1)))
}

fn active(features: &Features, records: &[Record], first: usize) -> Result<[Active; 2]> {
    let mut both = [Active::default(), Active::default()];
    let mut words = vec![0; features.words()];
    for (nth, record) in records.iter().enumerate() {
        let board = record.board.board();
        let board = board.ok_or_else(|| Error::input(format!("position {}: no board", first + nth)))?;
        for (active, side) in both.iter_mut().zip([record.turn, record.turn.other()]) {
            features.write(&Perspective::new(&board, record.halfmove, side), &mut words);
            let before = active.indices.len();
            active.indices.extend(ones(&words).map(|index| index as i32));
            active.counts.push((active.indices.len() - before) as i32);
        }
    }
    Ok(both)
}

fn bag<'py>(py: Python<'py>, chunks: &[[Active; 2]], side: usize) -> Bag<'py> {
    let mut indices = Vec::with_capacity(chunks.iter().map(|chunk| chunk[side].indices.len()).sum());
    let mut offsets = Vec::with_capacity(chunks.iter().map(|chunk| chunk[side].counts.len()).sum());
    let mut next = 0;
    for chunk in chunks {
        indices.extend_from_slice(&chunk[side].indices);
        for count in &chunk[side].counts {
            offsets.push(next);
            next += count;
        }
    }
    (PyArray1::from_vec(py, indices), PyArray1::from_vec(py, offsets))
}
