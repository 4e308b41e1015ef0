//! Support of each parameter: how many positions and games speak about it.

use rayon::prelude::*;
use serde::Serialize;

use super::chunk::TraceChunk;
use super::model::{Model, Space};
use super::reference::Curve;
use super::traces::Traces;
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Support {
    pub positions: u64,
    /// Equal to the positions where no position says its game.
    pub games: u64,
    /// Sum of the weights of these positions.
    #[serde(skip)]
    pub weight: f64,
}

impl Support {
    /// Positions that count as one observation, since positions of a game share its result.
    pub fn per_game(&self) -> f64 {
        self.weight / self.games.max(1) as f64
    }
}

/// Memory for the games of all parameters of a block, in bytes.
const BUDGET: usize = 1 << 24;

/// Blocks at least, so that threads share the work.
const BLOCKS: usize = 8;

/// Support by parameter.
pub fn support(traces: &Traces, model: &Model, space: &Space) -> Vec<Support> {
    let (owners, parameters) = (space.owners(model), space.parameters());
    let words = traces.games.div_ceil(64);
    let block = parameters.div_ceil(BLOCKS).min(BUDGET / (8 * words).max(1)).max(1);
    let blocks: Vec<usize> = (0..parameters).step_by(block).collect();
    let of_block = |&first: &usize| {
        let count = block.min(parameters - first);
        let owners: Vec<[Option<usize>; 2]> = owners
            .chunks_exact(2)
            .map(|pair| [pair[0], pair[1]].map(|owner| owner?.checked_sub(first).filter(|&i| i < count)))
            .collect();
        let mut block = Block {
            found: vec![Support::default(); count],
            last: vec![usize::MAX; count],
            games: vec![0; count * words],
            words,
        };
        let mut row = 0;
        for chunk in traces.chunks.iter().take_while(|_| !interrupt::requested()) {
            block.see(chunk, row, &owners);
            row += chunk.rows.len();
        }
        block.finish()
    };
    let mut found: Vec<Support> = blocks.par_iter().flat_map_iter(of_block).collect();
    support_tables(model, space, &mut found);
    found
}

/// Entries of a table have the support of the part that looks them up.
fn support_tables(model: &Model, space: &Space, found: &mut [Support]) {
    let (owners, form) = (space.owners(model), space.form(model));
    for (number, part) in form.parts.iter().enumerate() {
        let of_part =
            |index: &usize| form.groups.get(*index).is_some_and(|group| usize::from(group[0]) == number);
        let counted = (0..space.kept.len()).filter(of_part);
        let all = counted.flat_map(|index| [2 * index, 2 * index + 1]).filter_map(|half| owners[half]);
        let Some(most) = all.map(|owner| found[owner]).max_by_key(|support| support.positions) else {
            continue;
        };
        for (half, curve) in part.halves.iter().enumerate() {
            let Curve::Table(entries) = curve else { continue };
            let slots = entries.iter().filter_map(|entry| owners[2 * usize::from(*entry) + half]);
            slots.for_each(|owner| found[owner] = most);
        }
    }
}

struct Block {
    found: Vec<Support>,
    /// Last row in which each parameter counted.
    last: Vec<usize>,
    /// A bit a game, `words` of them for each parameter.
    games: Vec<u64>,
    words: usize,
}

impl Block {
    fn see(&mut self, chunk: &TraceChunk, first: usize, owners: &[[Option<usize>; 2]]) {
        let mut take = |row: usize, index: u16| {
            for owner in owners[usize::from(index)].into_iter().flatten() {
                if std::mem::replace(&mut self.last[owner], first + row) == first + row {
                    continue;
                }
                let found = &mut self.found[owner];
                found.positions += 1;
                found.weight += f64::from(chunk.weight(row));
                if self.words > 0 {
                    let game = chunk.games[row] as usize;
                    self.games[owner * self.words + game / 64] |= 1 << (game % 64);
                }
            }
        };
        chunk.each(|row, entries| {
            let lists = [entries.plus, entries.minus, entries.heavy];
            lists.into_iter().flatten().for_each(|&index| take(row, index));
        });
        if chunk.nonlinear.is_none() {
            return;
        }
        for row in 0..chunk.rows.len() {
            let (safety, complexity) = chunk.nonlinear(row);
            safety.iter().for_each(|entry| take(row, entry.index));
            complexity.iter().for_each(|entry| take(row, entry.0));
        }
    }

    fn finish(mut self) -> Vec<Support> {
        for (i, found) in self.found.iter_mut().enumerate() {
            let games = &self.games[i * self.words..][..self.words];
            found.games = match self.words {
                0 => found.positions,
                _ => games.iter().map(|word| u64::from(word.count_ones())).sum(),
            };
        }
        self.found
    }
}
