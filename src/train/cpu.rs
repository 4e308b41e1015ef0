//! Losses and gradients of whole batches, on all threads.
//!
//! In: positions, by index, and the model. Out: the loss and the gradient. A batch is cut into parts whose number
//! follows from its size alone; each part adds up its own gradient, one micro-batch after another, and the parts
//! are summed in order. So the result is the same for any number of threads.

use rayon::prelude::*;
use shakmaty::Color;

use super::kernel::{Loss, MICRO, Micro};
use super::model::Model;
use super::{Settings, TrainItem};
use crate::eval::nnue::features::all;

/// Positions for each part of a batch: enough to make the sum of the parts cheap.
const PART: usize = 1024;
/// The most parts, for the memory that their gradients take.
const MAX_PARTS: usize = 32;
/// Parameters that one thread sums at a time.
const CHUNK: usize = 1 << 13;

/// Memory for the gradients of batches, allocated once.
pub struct Cpu {
    parts: Vec<Part>,
    gradient: Vec<f32>,
    target: Target,
}

struct Part {
    micro: Micro,
    gradient: Vec<f32>,
    /// The positions of a micro-batch, fetched before any is looked at: they lie anywhere in memory, and so the
    /// processor waits for many at once.
    items: Vec<TrainItem>,
}

/// How the target follows from a position's labels.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Weight of the game's result.
    pub wdl: f32,
    /// K of the sigmoid.
    pub k: f32,
}

impl Target {
    /// The expected result for the side to move: λ·result + (1 − λ)·σ(K·score/400), or the result alone.
    #[inline]
    pub fn of(self, item: &TrainItem) -> f32 {
        let white = item.expected();
        let result = if item.turn.is_white() { white } else { 1.0 - white };
        item.score.map_or(result, |score| {
            let expected = 1.0 / (1.0 + (-self.k * f32::from(score) / 400.0).exp());
            self.wdl * result + (1.0 - self.wdl) * expected
        })
    }
}

impl Cpu {
    /// Memory for batches of at most the settings' size.
    pub fn new(model: &Model, settings: &Settings, largest: usize) -> Cpu {
        let part = || Part {
            micro: Micro::new(model),
            gradient: vec![0.0; model.parameters.len()],
            items: Vec::with_capacity(MICRO),
        };
        Cpu {
            parts: std::iter::repeat_with(part).take(parts(settings.batch.min(largest))).collect(),
            gradient: vec![0.0; model.parameters.len()],
            target: Target { wdl: settings.wdl, k: settings.k.unwrap_or(1.0) },
        }
    }

    /// The sum of the losses of a batch, and the gradient of their mean.
    pub fn gradient(&mut self, model: &Model, items: &[TrainItem], batch: &[u32]) -> (f64, &[f32]) {
        let loss = Loss { k: self.target.k, scale: 1.0 / batch.len() as f32 };
        let target = self.target;
        let count = parts(batch.len()).min(self.parts.len());
        let losses: Vec<f64> = self.parts[..count]
            .par_iter_mut()
            .enumerate()
            .map(|(i, part)| {
                part.gradient.fill(0.0);
                let share = &batch[i * batch.len() / count..(i + 1) * batch.len() / count];
                let mut sum = 0.0;
                for indices in share.chunks(MICRO) {
                    part.items.clear();
                    part.items.extend(indices.iter().map(|&at| items[at as usize]));
                    load(&mut part.micro, &part.items, target);
                    sum += part.micro.gradient(model, loss, &mut part.gradient);
                }
                sum
            })
            .collect();
        let parts = &self.parts[..count];
        self.gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(i, total)| {
            let at = i * CHUNK..i * CHUNK + total.len();
            total.copy_from_slice(&parts[0].gradient[at.clone()]);
            for part in &parts[1..] {
                for (total, value) in total.iter_mut().zip(&part.gradient[at.clone()]) {
                    *total += value;
                }
            }
        });
        (losses.iter().sum(), &self.gradient)
    }
}

/// The mean loss over positions.
pub fn mean_loss(model: &Model, items: &[TrainItem], target: Target) -> f64 {
    let loss = Loss { k: target.k, scale: 0.0 };
    let losses: Vec<f64> = items
        .par_chunks(MICRO)
        .map_init(
            || Micro::new(model),
            |micro, items| {
                load(micro, items, target);
                micro.loss(model, loss)
            },
        )
        .collect();
    losses.iter().sum::<f64>() / items.len() as f64
}

/// The float network's evaluation of positions, in centipawns for the side to move.
pub fn centipawns(model: &Model, items: &[TrainItem], target: Target) -> Vec<f32> {
    let chunks: Vec<Vec<f32>> = items
        .par_chunks(MICRO)
        .map_init(
            || Micro::new(model),
            |micro, items| {
                load(micro, items, target);
                micro.outputs(model)
            },
        )
        .collect();
    chunks.into_iter().flatten().map(|output| output * crate::eval::nnue::network::SCALE as f32).collect()
}

fn parts(batch: usize) -> usize {
    batch.div_ceil(PART).clamp(1, MAX_PARTS)
}

/// Fills a micro-batch.
pub(super) fn load(micro: &mut Micro, items: &[TrainItem], target: Target) {
    micro.clear();
    for item in items {
        let swap = item.turn == Color::Black;
        let features = item.board.pieces().map(|(square, piece)| {
            let [white, black] = all::both(piece, square);
            if swap { [black, white] } else { [white, black] }
        });
        micro.push(features, target.of(item));
    }
}
