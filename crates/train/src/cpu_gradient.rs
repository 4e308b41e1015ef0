//! Loss and gradient of whole batches, on all threads.
//!
//! A batch is split into shards whose number depends on batch and network size alone, and shard gradients are
//! summed in order, so the result does not depend on the number of threads.

use rayon::prelude::*;

use super::feature_table::{F32Table, FeatureTable, I16Table};
use super::loss::Loss;
use super::micro_batch::{MICRO_BATCH, MicroBatch, Task};
use super::model::Model;
use super::param_layout::ParamLayout;
use super::position_weight::PositionWeight;
use super::rounding::{Rounded, activation_unit};
use super::target::Target;
use super::{Settings, TrainItem, wdl_loss};
use patzer_chess::huge_pages::on_huge_pages;

/// Positions per shard: enough to keep the sum over shards cheap.
const PART: usize = 2048;
const MAX_PARTS: usize = 64;
const MAX_FLOATS: usize = 1 << 27;
const CHUNK: usize = 1 << 13;

pub(crate) struct CpuGradient {
    parts: Vec<Part>,
    gradient: Vec<f32>,
    /// Feature table with factoriser weights added; empty without a factoriser.
    table: Vec<f32>,
    shorts: Option<I16Table>,
    weight: Option<PositionWeight>,
    /// Rounds the forward passes of gradients, and of losses, as the quantised network.
    rounds: [bool; 2],
    rounded: Rounded,
}

struct Part {
    micro: MicroBatch,
    /// All zeros between batches.
    gradient: Vec<f32>,
    /// Positions of a micro-batch, copied first so that their cache misses overlap.
    items: Vec<TrainItem>,
}

impl CpuGradient {
    pub(crate) fn new(model: &Model, batch: usize, shorts: bool) -> CpuGradient {
        let part = || Part {
            micro: MicroBatch::new(model),
            gradient: on_huge_pages(model.parameters.len(), 0.0),
            items: Vec::with_capacity(MICRO_BATCH),
        };
        CpuGradient {
            parts: std::iter::repeat_with(part).take(parts(batch, model)).collect(),
            gradient: vec![0.0; model.parameters.len()],
            table: Vec::new(),
            shorts: shorts.then(I16Table::default),
            weight: None,
            rounds: [false; 2],
            rounded: Rounded::default(),
        }
    }

    /// For losses alone, as in a run with these settings.
    pub(crate) fn once(model: &Model, settings: &Settings) -> CpuGradient {
        let mut once = CpuGradient::new(model, 1, false);
        once.follow(settings);
        once
    }

    /// Tests whether forward passes of gradients are rounded as the quantised network's.
    pub(crate) fn rounds(&mut self, on: bool) {
        self.rounds[0] = on;
    }

    /// Weighs positions as these settings say, and rounds the forward passes of losses if any epoch is
    /// quantisation-aware: losses compare the epochs.
    pub(crate) fn follow(&mut self, settings: &Settings) {
        self.weight.clone_from(&settings.position_weight);
        self.rounds[1] = settings.quantisation_aware > 0.0;
    }

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

    fn share(&mut self, layout: &ParamLayout) {
        if layout.factor_rows == 0 {
            return;
        }
        let (size, all) = (layout.factor_rows * layout.tile, layout.rows * layout.tile);
        let (table, rest) = self.gradient.split_at_mut(layout.factor);
        let factor = &mut rest[..layout.output_start - layout.factor];
        factor.par_chunks_mut(size).zip(table[..layout.bias].par_chunks(all)).for_each(|(factor, table)| {
            factor.fill(0.0);
            for bucket in table[..layout.numbers.bucketed_rows() * layout.tile].chunks_exact(size) {
                factor.iter_mut().zip(bucket).for_each(|(sum, value)| *sum += value);
            }
        });
    }

    /// Returns the summed loss of a batch of indices into `items`, and the gradient of the (weighted) mean loss.
    pub(crate) fn gradient(
        &mut self,
        model: &Model,
        loss: Loss,
        target: Target,
        items: &[TrainItem],
        batch: &[u32],
    ) -> (f64, &mut [f32]) {
        let group = loss.group();
        let groups = batch.len() / group;
        let weight = self.weight.as_ref();
        let members = batch.iter().map(|&at| &items[at as usize]);
        let loss = Loss { scale: 1.0 / PositionWeight::divisor(weight, group, members) as f32, ..loss };
        let rounds = self.rounds[0];
        let exact = model;
        let model = if rounds { self.rounded.round(exact) } else { exact };
        let floats = match rounds {
            true => F32Table::of(&model.parameters, &model.layout),
            false => whole(model, &mut self.table),
        };
        let table = match &mut self.shorts {
            Some(shorts) if !rounds => {
                shorts.fill(floats, &model.layout);
                FeatureTable::I16Table(shorts)
            }
            _ => FeatureTable::F32Table(floats),
        };
        let unit = activation_unit(&model.layout).filter(|_| rounds);
        let count = parts(batch.len(), model).min(self.parts.len());
        let losses: Vec<f64> = self.parts[..count]
            .par_iter_mut()
            .enumerate()
            .map(|(i, part)| {
                let share = &batch[i * groups / count * group..(i + 1) * groups / count * group];
                part.micro.round_activations(unit);
                let mut sum = 0.0;
                for indices in share.chunks(MICRO_BATCH / group * group) {
                    part.items.clear();
                    part.items.extend(indices.iter().map(|&at| items[at as usize]));
                    part.micro.load(&part.items, weight, |item| target.expected(item));
                    if loss.wdl_head {
                        part.micro.load_draws(part.items.iter().map(|item| target.draw(item)));
                    }
                    sum += part.micro.run(model, table, Task::Gradient(loss, &mut part.gradient));
                }
                sum
            })
            .collect();
        self.add_parts(count);
        self.share(&exact.layout);
        (losses.iter().sum(), &mut self.gradient)
    }

    pub(crate) fn mean_loss(
        &mut self,
        model: &Model,
        loss: Loss,
        target: Target,
        items: &[TrainItem],
    ) -> f64 {
        let weight = self.weight.as_ref();
        let each = |micro: &mut MicroBatch, model: &Model, table: FeatureTable<'_>, items: &[TrainItem]| {
            micro.load(items, weight, |item| target.expected(item));
            if loss.wdl_head {
                micro.load_draws(items.iter().map(|item| target.draw(item)));
            }
            micro.run(model, table, Task::Loss(loss))
        };
        let group = loss.group();
        let rounded = self.rounds[1].then_some(&mut self.rounded);
        let losses = over((model, rounded), &mut self.table, items, MICRO_BATCH / group * group, each);
        losses.into_iter().sum::<f64>() / PositionWeight::divisor(weight, group, items.iter())
    }
}

/// The network's values, if `rounds` as the quantised network computes them; `k` is that of a WDL head.
pub(crate) fn centipawns(model: &Model, items: &[TrainItem], rounds: bool, k: f32) -> Vec<f32> {
    let each = |micro: &mut MicroBatch, model: &Model, table: FeatureTable<'_>, items: &[TrainItem]| {
        let mut outputs = Vec::with_capacity(items.len());
        micro.load(items, None, |_| 0.0);
        micro.run(model, table, Task::Outputs(&mut outputs));
        outputs
    };
    let scale = patzer_eval::nnue::network::SCALE as f32;
    let mut rounded = Rounded::default();
    let wdl_head = model.layout.architecture.wdl_head;
    let model = (model, rounds.then_some(&mut rounded));
    let outputs: Vec<f32> =
        over(model, &mut Vec::new(), items, MICRO_BATCH, each).into_iter().flatten().collect();
    let chunks = outputs.chunks_exact(if wdl_head { 3 } else { 1 });
    chunks.map(|of| scale * if wdl_head { wdl_loss::output(of, k) } else { of[0] }).collect()
}

fn over<R: Send>(
    (model, rounded): (&Model, Option<&mut Rounded>),
    table: &mut Vec<f32>,
    items: &[TrainItem],
    micro: usize,
    each: impl Fn(&mut MicroBatch, &Model, FeatureTable<'_>, &[TrainItem]) -> R + Sync,
) -> Vec<R> {
    let unit = activation_unit(&model.layout).filter(|_| rounded.is_some());
    let (model, floats) = match rounded {
        Some(rounded) => {
            let model = rounded.round(model);
            (model, F32Table::of(&model.parameters, &model.layout))
        }
        None => (model, whole(model, table)),
    };
    let start = || {
        let mut micro = MicroBatch::new(model);
        micro.round_activations(unit);
        micro
    };
    let table = FeatureTable::F32Table(floats);
    items.par_chunks(micro).map_init(start, |micro, items| each(micro, model, table, items)).collect()
}

fn whole<'a>(model: &'a Model, table: &'a mut Vec<f32>) -> F32Table<'a> {
    model.whole_table(table);
    let layout = &model.layout;
    let own = F32Table::of(&model.parameters, layout);
    if table.is_empty() { own } else { F32Table { rows: table, ..own } }
}

fn parts(batch: usize, model: &Model) -> usize {
    let most = (MAX_FLOATS / model.parameters.len()).clamp(1, MAX_PARTS);
    batch.div_ceil(PART).clamp(1, most)
}
