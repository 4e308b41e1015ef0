//! Losses and gradients of whole batches, on all threads.
//!
//! In: positions, by index, and the model. Out: the loss and the gradient. A batch is cut into parts whose number
//! follows from its size and the network's alone; each part adds up its own gradient, one micro-batch after another, and
//! the parts are summed in order. So the result is the same for any number of threads.

use rayon::prelude::*;

use super::TrainItem;
use super::feature_table::{Floats, Shorts, Table};
use super::loss::{Loss, Target};
use super::micro_batch::{MICRO, Micro};
use super::model::Model;
use super::param_layout::Shape;

/// Positions for each part of a batch: enough to make the sum of the parts cheap.
const PART: usize = 2048;
/// The most parts, and the most parameters of all parts together, for the memory that their gradients take.
const MAX_PARTS: usize = 64;
const MAX_FLOATS: usize = 1 << 27;
/// Parameters that one thread sums at a time.
const CHUNK: usize = 1 << 13;

/// Memory for the gradients of batches, allocated once.
pub struct Cpu {
    parts: Vec<Part>,
    gradient: Vec<f32>,
    /// The feature table with shared weights added; empty if nothing is shared.
    table: Vec<f32>,
    /// Its copy in 16 bits, if the forward pass is to read that.
    shorts: Option<Shorts>,
}

struct Part {
    micro: Micro,
    /// All zeros between batches.
    gradient: Vec<f32>,
    /// The positions of a micro-batch, fetched before any is looked at: they lie anywhere in memory, and so the
    /// processor waits for many at once.
    items: Vec<TrainItem>,
}

impl Cpu {
    /// Memory for batches of at most this many positions. `shorts`: gradients follow from sums in 16 bits.
    pub fn new(model: &Model, batch: usize, shorts: bool) -> Cpu {
        let part = || Part {
            micro: Micro::new(model),
            gradient: vec![0.0; model.parameters.len()],
            items: Vec::with_capacity(MICRO),
        };
        Cpu {
            parts: std::iter::repeat_with(part).take(parts(batch, model)).collect(),
            gradient: vec![0.0; model.parameters.len()],
            table: Vec::new(),
            shorts: shorts.then(Shorts::default),
        }
    }

    /// Sums the parts' gradients in order, and leaves zeros.
    fn add_parts(&mut self, count: usize) {
        let mut chunks: Vec<(&mut [f32], Vec<&mut [f32]>)> =
            self.gradient.chunks_mut(CHUNK).map(|total| (total, Vec::with_capacity(count))).collect();
        for part in &mut self.parts[..count] {
            for (chunk, (_, parts)) in part.gradient.chunks_mut(CHUNK).zip(&mut chunks) {
                parts.push(chunk);
            }
        }
        chunks.par_iter_mut().for_each(|(total, parts)| {
            total.fill(0.0);
            for part in parts {
                for (total, value) in total.iter_mut().zip(part.iter_mut()) {
                    *total += *value;
                    *value = 0.0;
                }
            }
        });
    }

    /// The gradient of a shared weight is the sum of those of its rows.
    fn share(&mut self, shape: &Shape) {
        if shape.factor_rows == 0 {
            return;
        }
        let (size, all) = (shape.factor_rows * shape.tile, shape.rows * shape.tile);
        let (table, rest) = self.gradient.split_at_mut(shape.factor);
        let factor = &mut rest[..shape.heads - shape.factor];
        factor.par_chunks_mut(size).zip(table[..shape.bias].par_chunks(all)).for_each(|(factor, table)| {
            factor.fill(0.0);
            for bucket in table.chunks_exact(size) {
                factor.iter_mut().zip(bucket).for_each(|(sum, value)| *sum += value);
            }
        });
    }

    /// The sum of the losses of a batch, given as indices into items, and the gradient of their mean, one number a
    /// parameter. The caller may change it.
    pub fn gradient(
        &mut self,
        model: &Model,
        loss: Loss,
        target: Target,
        items: &[TrainItem],
        batch: &[u32],
    ) -> (f64, &mut [f32]) {
        let group = loss.group();
        let groups = batch.len() / group;
        let loss = Loss { scale: 1.0 / groups as f32, ..loss };
        let floats = whole(model, &mut self.table);
        let table = match &mut self.shorts {
            Some(shorts) => {
                shorts.fill(floats, &model.shape);
                Table::Shorts(shorts)
            }
            None => Table::Floats(floats),
        };
        let count = parts(batch.len(), model).min(self.parts.len());
        let losses: Vec<f64> = self.parts[..count]
            .par_iter_mut()
            .enumerate()
            .map(|(i, part)| {
                let share = &batch[i * groups / count * group..(i + 1) * groups / count * group];
                let mut sum = 0.0;
                for indices in share.chunks(MICRO / group * group) {
                    part.items.clear();
                    part.items.extend(indices.iter().map(|&at| items[at as usize]));
                    part.micro.load(&part.items, |item| target.of(item));
                    sum += part.micro.gradient(model, table, loss, &mut part.gradient);
                }
                sum
            })
            .collect();
        self.add_parts(count);
        self.share(&model.shape);
        (losses.iter().sum(), &mut self.gradient)
    }

    /// The mean loss over positions.
    pub fn mean_loss(&mut self, model: &Model, loss: Loss, target: Target, items: &[TrainItem]) -> f64 {
        let each = |micro: &mut Micro, table: Table<'_>, items: &[TrainItem]| {
            micro.load(items, |item| target.of(item));
            micro.loss(model, table, loss)
        };
        let group = loss.group();
        let losses = over(model, &mut self.table, items, MICRO / group * group, each);
        losses.into_iter().sum::<f64>() / (items.len() / group) as f64
    }
}

/// The float network's evaluation of positions, in centipawns for the side to move.
pub fn centipawns(model: &Model, items: &[TrainItem]) -> Vec<f32> {
    let each = |micro: &mut Micro, table: Table<'_>, items: &[TrainItem]| {
        let mut outputs = Vec::with_capacity(items.len());
        micro.load(items, |_| 0.0);
        micro.outputs(model, table, &mut outputs);
        outputs
    };
    let scale = patzer_eval::nnue::network::SCALE as f32;
    let outputs = over(model, &mut Vec::new(), items, MICRO, each);
    outputs.into_iter().flatten().map(|output| output * scale).collect()
}

/// What a function makes of each micro-batch, in floats.
fn over<R: Send>(
    model: &Model,
    table: &mut Vec<f32>,
    items: &[TrainItem],
    micro: usize,
    each: impl Fn(&mut Micro, Table<'_>, &[TrainItem]) -> R + Sync,
) -> Vec<R> {
    let table = Table::Floats(whole(model, table));
    items.par_chunks(micro).map_init(|| Micro::new(model), |micro, items| each(micro, table, items)).collect()
}

/// The feature table with what is shared.
fn whole<'a>(model: &'a Model, table: &'a mut Vec<f32>) -> Floats<'a> {
    model.whole_table(table);
    let shape = &model.shape;
    let own = Floats::of(&model.parameters, shape);
    if table.is_empty() { own } else { Floats { rows: table, ..own } }
}

fn parts(batch: usize, model: &Model) -> usize {
    let most = (MAX_FLOATS / model.parameters.len()).clamp(1, MAX_PARTS);
    batch.div_ceil(PART).clamp(1, most)
}
