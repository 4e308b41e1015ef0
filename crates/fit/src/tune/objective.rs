//! The objective: mean of (target − σ(K·s/400))² over traces, with gradient and normal matrix by the
//! parameters in centipawns. Chunks are summed in order, so the number of threads changes no bit. After an interrupt
//! passes skip the chunks that are left, so that whoever asked for a number leaves it.

use rayon::prelude::*;

use super::chunk::TraceChunk;
use super::kernel::{self, Gradient, WeightTable};
use super::model::{Model, Space};
use super::normal::{self, Curvature, NormalMatrix};
use super::normal_parts::with_parts;
use super::reference;
use super::traces::{GROUPS, Traces};
use patzer_io::interrupt;

/// Positions per parameter that make a matrix good enough for steps.
const SAMPLE: usize = 64;

/// Counts a position beyond which a matrix of all positions costs more than the passes it saves.
const MANY_COUNTS: usize = 32;

#[derive(Clone, Copy)]
pub struct Objective<'a> {
    pub traces: &'a Traces,
    pub model: &'a Model,
    pub space: &'a Space,
    pub k: f64,
    /// L2 prior: loss added for a parameter 100 centipawns from its start.
    pub l2: f64,
    /// Further L2 prior of each parameter, in the same unit; empty for none.
    pub prior: &'a [f64],
}

impl Objective<'_> {
    /// Mean loss without the L2 prior.
    pub fn loss(&self, parameters: &[f64]) -> f64 {
        let pairs = self.space.pairs(self.model, parameters);
        let (linear, table) = (self.model.is_linear(), WeightTable::new(&pairs));
        let form = self.space.form(self.model);
        let of_chunk = |chunk: &TraceChunk| match linear {
            _ if interrupt::requested() => 0.0,
            true => kernel::loss(chunk, &table, self.k),
            false => reference::loss(chunk, &pairs, self.k, &form),
        };
        let sums: Vec<f64> = self.traces.chunks.par_iter().map(of_chunk).collect();
        sums.iter().sum::<f64>() / self.traces.total_weight().max(f64::MIN_POSITIVE)
    }

    /// (score in centipawns from White's side, target) of every position.
    pub fn scored(&self, parameters: &[f64]) -> Vec<(f32, f32)> {
        let pairs = self.space.pairs(self.model, parameters);
        let (table, form) = (WeightTable::new(&pairs), self.space.form(self.model));
        let of_chunk = |chunk: &TraceChunk| -> Vec<f32> {
            if interrupt::requested() {
                return vec![0.0; chunk.rows.len()];
            }
            if self.model.is_linear() {
                return kernel::scores(chunk, &table);
            }
            let mut scores = Vec::with_capacity(chunk.rows.len());
            reference::each(chunk, &pairs, &form, |_, score, _| scores.push(score as f32));
            scores
        };
        let with_targets = |chunk: &TraceChunk| {
            of_chunk(chunk).into_iter().zip(&chunk.rows).map(|(s, row)| (s, row.target)).collect::<Vec<_>>()
        };
        self.traces.chunks.par_iter().flat_map_iter(with_targets).collect()
    }

    /// Losses of the [`GROUPS`] clusters, not divided by the total weight.
    pub fn group_losses(&self, parameters: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; GROUPS];
        let rows =
            self.traces.chunks.iter().flat_map(|chunk| (0..chunk.rows.len()).map(move |row| (chunk, row)));
        for ((chunk, row), (score, _)) in rows.zip(self.scored(parameters)) {
            let loss = reference::row_loss(chunk, row, score.into(), self.k).loss;
            sums[chunk.games[row] as usize % GROUPS] += loss;
        }
        sums
    }

    /// Mean distance of the scores from 0, in centipawns.
    pub fn mean_absolute_score(&self, parameters: &[f64]) -> f64 {
        let weights =
            self.traces.chunks.iter().flat_map(|chunk| (0..chunk.rows.len()).map(|row| chunk.weight(row)));
        let scored = self.scored(parameters);
        let sum: f64 =
            weights.zip(&scored).map(|(w, (score, _))| f64::from(w) * f64::from(score.abs())).sum();
        sum / self.traces.total_weight().max(f64::MIN_POSITIVE)
    }

    /// Loss and gradient over some chunks, with the L2 prior.
    pub fn gradient_over(&self, parameters: &[f64], chunks: &[usize]) -> (f64, Vec<f64>) {
        let pairs = self.space.pairs(self.model, parameters);
        let skipped = || (0.0, vec![[0.0; 2]; pairs.len()]);
        let parts: Vec<(f64, Vec<[f64; 2]>)> = if self.model.is_linear() {
            let table = WeightTable::new(&pairs);
            let of_chunk = |scratch: &mut Gradient, &chunk: &usize| {
                if interrupt::requested() {
                    return skipped();
                }
                kernel::gradient(&self.traces.chunks[chunk], &table, self.k, scratch, pairs.len())
            };
            chunks.par_iter().map_init(Gradient::new, of_chunk).collect()
        } else {
            let form = self.space.form(self.model);
            let of_chunk = |&chunk: &usize| match interrupt::requested() {
                true => skipped(),
                false => reference::gradient(&self.traces.chunks[chunk], &pairs, self.k, &form),
            };
            chunks.par_iter().map(of_chunk).collect()
        };
        let (mut loss, mut by_half) = (0.0, vec![0.0; 2 * pairs.len()]);
        for (part_loss, part) in &parts {
            loss += part_loss;
            by_half.iter_mut().zip(part.as_flattened()).for_each(|(sum, part)| *sum += part);
        }
        let weight: f64 = chunks.iter().map(|&chunk| self.traces.chunks[chunk].total_weight()).sum();
        let mean = 1.0 / weight.max(f64::MIN_POSITIVE);
        let mut gradient = vec![0.0; self.space.parameters()];
        for (owner, value) in self.space.owners(self.model).iter().zip(by_half) {
            if let Some(owner) = *owner {
                gradient[owner] += mean * value;
            }
        }
        let prior = self.add_l2_prior(parameters, &mut gradient);
        (loss * mean + prior, gradient)
    }

    pub fn gradient(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let all: Vec<usize> = (0..self.traces.chunks.len()).collect();
        self.gradient_over(parameters, &all)
    }

    fn add_l2_prior(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        let free = self.space.free.iter().zip(parameters).zip(gradient).enumerate();
        for (i, ((&slot, parameter), gradient)) in free {
            let strength = self.strength(i);
            let away = parameter - self.model.slots[slot].start;
            *gradient += 2.0 * strength * away;
            loss += strength * away * away;
        }
        loss
    }

    /// L2 prior of a parameter: loss added for the square of its distance in centipawns.
    pub fn strength(&self, parameter: usize) -> f64 {
        (self.l2 + self.prior.get(parameter).copied().unwrap_or(0.0)) / 1e4
    }

    pub fn without_prior(&self) -> Self {
        Objective { l2: 0.0, prior: &[], ..*self }
    }

    /// Row-major second derivatives of the loss with the L2 prior.
    pub fn normal(&self, parameters: &[f64], curvature: Curvature) -> Vec<f64> {
        self.sampled_normal(parameters, curvature, 1)
    }

    /// The matrix by every `every`th chunk. Its diagonal is at least the curvature over all chunks, so that weights
    /// that the sample lacks have theirs.
    pub fn sampled_normal(&self, parameters: &[f64], curvature: Curvature, every: usize) -> Vec<f64> {
        let pairs = self.space.pairs(self.model, parameters);
        let chunks: Vec<&TraceChunk> = self.traces.chunks.iter().step_by(every).collect();
        let normal = if self.model.is_linear() {
            normal::linear(&chunks, &pairs, self.k, curvature)
        } else {
            with_parts(&chunks, &pairs, self.k, curvature, &self.space.form(self.model))
        };
        let weight: f64 = chunks.iter().map(|chunk| chunk.total_weight()).sum();
        let mut matrix = self.gathered(&normal, 1.0 / weight.max(f64::MIN_POSITIVE));
        let size = self.space.parameters();
        if every > 1 {
            let all = self.curvatures(parameters);
            (0..size).for_each(|i| matrix[i * size + i] = matrix[i * size + i].max(all[i]));
        }
        (0..size).for_each(|i| matrix[i * size + i] += 2.0 * self.strength(i));
        matrix
    }

    /// Every how many chunks a matrix for steps needs: a row with many counts costs their square there, and a gradient
    /// costs their number.
    pub fn sampling(&self) -> usize {
        let entries: usize = self.traces.chunks.iter().map(|chunk| chunk.entries.len()).sum();
        let positions = self.traces.positions;
        let every = positions / (SAMPLE * self.space.parameters()).max(1);
        if entries > MANY_COUNTS * positions && every >= 4 { every } else { 1 }
    }

    /// Diagonal of the Gauss-Newton matrix without the L2 prior.
    pub fn curvatures(&self, parameters: &[f64]) -> Vec<f64> {
        let pairs = self.space.pairs(self.model, parameters);
        let (owners, size) = (self.space.owners(self.model), self.space.parameters());
        let form = self.space.form(self.model);
        let of_chunk = |chunk: &TraceChunk| {
            let (mut sums, mut by) = (vec![0.0; size], vec![0.0; size]);
            if interrupt::requested() {
                return sums;
            }
            let mut touched = Vec::new();
            reference::each(chunk, &pairs, &form, |row, score, slopes| {
                for &(index, slope) in slopes {
                    for half in 0..2 {
                        if let Some(owner) = owners[2 * usize::from(index) + half] {
                            by[owner] += slope[half];
                            touched.push(owner);
                        }
                    }
                }
                let curvature = reference::row_loss(chunk, row, score, self.k).curvature;
                for owner in touched.drain(..) {
                    // An entry that is listed twice has been taken by its first visit.
                    sums[owner] += curvature * std::mem::take(&mut by[owner]).powi(2);
                }
            });
            sums
        };
        let parts: Vec<Vec<f64>> = self.traces.chunks.par_iter().map(of_chunk).collect();
        let mean = 1.0 / self.traces.total_weight().max(f64::MIN_POSITIVE);
        let mut sums = vec![0.0; size];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += mean * part));
        sums
    }

    fn gathered(&self, normal: &NormalMatrix, factor: f64) -> Vec<f64> {
        let (owners, size) = (self.space.owners(self.model), self.space.parameters());
        let mut matrix = vec![0.0; size * size];
        for (row, values) in owners.iter().zip(normal.values.chunks_exact(normal.size.max(1))) {
            let Some(row) = *row else { continue };
            let target = &mut matrix[row * size..][..size];
            for (column, value) in owners.iter().zip(values) {
                if let Some(column) = *column {
                    target[column] += factor * value;
                }
            }
        }
        matrix
    }

    /// Gradients of the [`GROUPS`] clusters, not divided by the total weight and without the L2 prior.
    pub fn group_gradients(&self, parameters: &[f64]) -> Vec<Vec<f64>> {
        let pairs = self.space.pairs(self.model, parameters);
        let (owners, form) = (self.space.owners(self.model), self.space.form(self.model));
        let size = self.space.parameters();
        let of_chunk = |chunk: &TraceChunk| {
            let mut sums = vec![vec![0.0; size]; GROUPS];
            if interrupt::requested() {
                return sums;
            }
            reference::each(chunk, &pairs, &form, |row, score, slopes| {
                let slope = reference::row_loss(chunk, row, score, self.k).slope;
                let sums = &mut sums[chunk.games[row] as usize % GROUPS];
                for &(index, by) in slopes {
                    for half in 0..2 {
                        if let Some(owner) = owners[2 * usize::from(index) + half] {
                            sums[owner] += slope * by[half];
                        }
                    }
                }
            });
            sums
        };
        let mut total = vec![vec![0.0; size]; GROUPS];
        // A few chunks at a time: their sums are large.
        for chunks in self.traces.chunks.chunks(32).take_while(|_| !interrupt::requested()) {
            let parts: Vec<_> = chunks.par_iter().map(of_chunk).collect();
            for part in &parts {
                let pairs = total.iter_mut().flatten().zip(part.iter().flatten());
                pairs.for_each(|(total, part)| *total += part);
            }
        }
        total
    }
}
