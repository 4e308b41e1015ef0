//! Indices of active features, as embedding bags take them.

use numpy::PyArray1;
use patzer_data::Record;
use patzer_eval::nnue::Architecture;
use patzer_eval::nnue::features::Features;
use patzer_io::error::{Error, Result};
use patzer_train::{Extractor, TrainItem};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Positions that a thread works on at once.
const CHUNK: usize = 1 << 10;

/// Indices one after another, and where each position's begin.
pub type Bag<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

/// Rows of a feature table as the trainer lists them: a position's from one perspective, then from the other.
#[derive(Default)]
struct Rows {
    rows: Vec<u16>,
    ends: Vec<u32>,
    /// Number of rows from each perspective.
    counts: [usize; 2],
}

/// Returns the bags of the side to move and of its opponent.
pub fn bags<'py>(py: Python<'py>, records: &[Record], blocks: &str) -> Result<(Bag<'py>, Bag<'py>)> {
    let features = Features::parse(blocks).map_err(|e| Error::usage(e.to_string()))?;
    let extractor = Extractor::new(&Architecture { features, ..Architecture::plain(8) });
    let [own, theirs] = py.detach(|| {
        let chunks = records.par_chunks(CHUNK).enumerate();
        let list = |extractor: &mut Extractor, (nth, chunk)| rows(extractor, chunk, nth * CHUNK);
        let chunks = chunks.map_init(|| extractor.clone(), list).collect::<Result<Vec<_>>>()?;
        Ok([bag(&chunks, 0), bag(&chunks, 1)])
    })?;
    let arrays = |(indices, offsets)| (PyArray1::from_vec(py, indices), PyArray1::from_vec(py, offsets));
    Ok((arrays(own), arrays(theirs)))
}

fn rows(extractor: &mut Extractor, records: &[Record], first: usize) -> Result<Rows> {
    let mut all = Rows::default();
    all.rows.reserve(64 * records.len());
    for (nth, record) in records.iter().enumerate() {
        let before = all.rows.len();
        extractor.rows(&item(record), &mut all.rows, &mut all.ends);
        if (all.rows.len() == before || record.board.count() > 32) && record.board.board().is_none() {
            return Err(Error::input(format!("position {}: no board", first + nth)));
        }
    }
    all.counts[0] = all.spans(0).map(<[u16]>::len).sum();
    all.counts[1] = all.rows.len() - all.counts[0];
    Ok(all)
}

fn item(record: &Record) -> TrainItem {
    let Record { board, turn, halfmove, ply, .. } = *record;
    TrainItem { board, turn, halfmoves: halfmove, score: None, result: 0, ply }
}

impl Rows {
    /// Returns each position's rows from one perspective.
    fn spans(&self, side: usize) -> impl Iterator<Item = &[u16]> {
        let start = move |nth: usize| nth.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        (side..self.ends.len()).step_by(2).map(move |nth| &self.rows[start(nth)..self.ends[nth] as usize])
    }
}

/// Joins the rows of one perspective to indices and offsets.
fn bag(chunks: &[Rows], side: usize) -> (Vec<i32>, Vec<i32>) {
    let mut indices = vec![0; chunks.iter().map(|chunk| chunk.counts[side]).sum()];
    let mut offsets = vec![0; chunks.iter().map(|chunk| chunk.ends.len() / 2).sum()];
    let (mut rest, mut first, mut parts) = (&mut indices[..], 0, Vec::new());
    for (chunk, offsets) in chunks.iter().zip(offsets.chunks_mut(CHUNK)) {
        let part;
        (part, rest) = rest.split_at_mut(chunk.counts[side]);
        parts.push((chunk, part, offsets, first));
        first += chunk.counts[side];
    }
    parts.into_par_iter().for_each(|(chunk, mut part, offsets, first)| {
        let whole = part.len();
        for (rows, offset) in chunk.spans(side).zip(offsets) {
            *offset = (first + whole - part.len()) as i32;
            let own;
            (own, part) = part.split_at_mut(rows.len());
            own.iter_mut().zip(rows).for_each(|(index, row)| *index = i32::from(*row));
        }
    });
    (indices, offsets)
}
