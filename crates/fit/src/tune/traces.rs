//! Collecting positions into traces. Positions are shuffled within slabs before they are cut into chunks, so
//! that a mini-batch does not come from a few games; only one slab at a time is held in its source form.

use std::collections::HashMap;

use rayon::prelude::*;

use super::chunk::{CHUNK_POSITIONS, ChunkBuilder, FeatureCounts, TraceChunk, TraceInfo};
use super::model::{EvalPart, Model, Space};
use patzer_chess::rng::{self, Rng};
use patzer_io::error::Result;

/// Clusters of games for standard errors.
pub const GROUPS: usize = 256;

const SLAB: usize = 1 << 18;

/// Games in the order in which they come; a position without a game is one by itself.
#[derive(Debug, Default)]
pub struct Games {
    numbers: HashMap<u64, u32>,
    next: u32,
}

impl Games {
    pub fn number(&mut self, game: Option<u64>) -> u32 {
        let fresh = self.next;
        let number = game.map_or(fresh, |game| *self.numbers.entry(game).or_insert(fresh));
        self.next += u32::from(number == fresh);
        number
    }

    /// Number of games, or 0 if no position has one.
    pub fn known(&self) -> usize {
        if self.numbers.is_empty() { 0 } else { self.next as usize }
    }
}

pub trait Tracer: Sync {
    type Item: Send + Sync;
    type Scratch: Default;

    /// Counts by model feature, linear ones White's minus Black's; `counts` is empty on entry.
    fn count(
        &self,
        item: &Self::Item,
        scratch: &mut Self::Scratch,
        counts: &mut FeatureCounts,
    ) -> Result<TraceInfo>;
}

#[derive(Debug, Default)]
pub struct Traces {
    pub chunks: Vec<TraceChunk>,
    pub positions: usize,
    /// Number of games, or 0 if unknown.
    pub games: usize,
}

impl Traces {
    pub fn total_weight(&self) -> f64 {
        self.chunks.iter().map(TraceChunk::total_weight).sum()
    }

    /// Number of clusters that hold a position, see [`GROUPS`].
    pub fn clusters(&self) -> usize {
        let mut seen = [false; GROUPS];
        self.chunks
            .iter()
            .flat_map(|chunk| &chunk.games)
            .for_each(|&game| seen[game as usize % GROUPS] = true);
        seen.iter().filter(|seen| **seen).count()
    }

    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(TraceChunk::bytes).sum()
    }

    fn renumber(&mut self, numbers: &[u16]) {
        self.chunks.par_iter_mut().for_each(|chunk| chunk.renumber(numbers));
    }

    /// Number of positions in which each kept feature counts.
    pub fn seen(&self, features: usize) -> Vec<u64> {
        let of_chunk = |chunk: &TraceChunk| {
            let mut seen = vec![0u64; features];
            let mut last = vec![usize::MAX; features];
            let mut see = |row: usize, index: u16| {
                let index = usize::from(index);
                if std::mem::replace(&mut last[index], row) != row {
                    seen[index] += 1;
                }
            };
            chunk.each(|row, entries| {
                let lists = [entries.plus, entries.minus, entries.heavy];
                lists.into_iter().flatten().for_each(|&index| see(row, index));
            });
            for row in 0..chunk.rows.len() {
                let (safety, complexity) = chunk.nonlinear(row);
                safety.iter().for_each(|entry| see(row, entry.index));
                complexity.iter().for_each(|entry| see(row, entry.0));
            }
            seen
        };
        self.chunks.par_iter().map(of_chunk).reduce(
            || vec![0; features],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            },
        )
    }
}

/// Renumbers features by frequency, so that frequent ones are adjacent, and drops those that never count.
pub fn arrange(model: &Model, space: &mut Space, train: &mut Traces, validation: &mut Traces) {
    let [seen, held_out] = [&*train, &*validation].map(|traces| traces.seen(space.kept.len()));
    let table = |number: usize| model.features[space.kept[number]].part == EvalPart::Table;
    let mut order: Vec<usize> =
        (0..seen.len()).filter(|&number| seen[number] + held_out[number] > 0 || table(number)).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(seen[number]));
    let numbers = space.renumber(model, &order);
    train.renumber(&numbers);
    validation.renumber(&numbers);
}

pub struct TraceCollector<'a, T: Tracer> {
    tracer: &'a T,
    model: &'a Model,
    space: &'a Space,
    /// Start values of all features, for folding.
    start: Vec<[f64; 2]>,
    chunk: usize,
    seed: u64,
    slab: Vec<T::Item>,
    slabs: u64,
    traces: Traces,
}

impl<'a, T: Tracer> TraceCollector<'a, T> {
    /// `chunk` is the number of positions per chunk, at most `CHUNK_POSITIONS`.
    pub fn new(
        tracer: &'a T,
        model: &'a Model,
        space: &'a Space,
        chunk: usize,
        seed: u64,
    ) -> TraceCollector<'a, T> {
        let start = model.pairs(&model.start());
        let chunk = chunk.clamp(1, CHUNK_POSITIONS);
        TraceCollector {
            tracer,
            model,
            space,
            start,
            chunk,
            seed,
            slab: Vec::new(),
            slabs: 0,
            traces: Traces::default(),
        }
    }

    pub fn push(&mut self, item: T::Item) -> Result<()> {
        self.slab.push(item);
        if self.slab.len() == SLAB { self.flush() } else { Ok(()) }
    }

    pub fn finish(mut self) -> Result<Traces> {
        self.flush()?;
        Ok(self.traces)
    }

    fn flush(&mut self) -> Result<()> {
        let mut slab = std::mem::take(&mut self.slab);
        Rng::new(rng::mix(self.seed, self.slabs)).shuffle(&mut slab);
        self.slabs += 1;
        let this = &*self;
        let chunks: Result<Vec<TraceChunk>> =
            slab.par_chunks(self.chunk).map(|items| this.trace(items)).collect();
        self.traces.chunks.extend(chunks?);
        self.traces.positions += slab.len();
        slab.clear();
        self.slab = slab;
        Ok(())
    }

    fn trace(&self, items: &[T::Item]) -> Result<TraceChunk> {
        let mut builder = ChunkBuilder::default();
        let (mut scratch, mut counts, mut kept) =
            (T::Scratch::default(), FeatureCounts::default(), FeatureCounts::default());
        for item in items {
            counts.clear();
            let mut info = self.tracer.count(item, &mut scratch, &mut counts)?;
            self.keep(&counts, &mut info, &mut kept);
            builder.push(info, &kept);
        }
        Ok(builder.finish())
    }

    /// Renumbers the features and folds fixed ones into the constant.
    fn keep(&self, counts: &FeatureCounts, info: &mut TraceInfo, kept: &mut FeatureCounts) {
        kept.clear();
        let mut folded = [0.0; 2];
        for &(feature, count) in &counts.linear {
            let feature = usize::from(feature);
            match self.space.number(feature) {
                Some(number) => kept.linear.push((number, count)),
                None => {
                    let [mg, eg] = self.start[feature];
                    let count = f64::from(count);
                    folded = [folded[0] + count * mg, folded[1] + count * eg];
                }
            }
        }
        let factors = [info.phase, (1.0 - info.phase) * info.scale].map(f64::from);
        info.constant += (factors[0] * folded[0] + factors[1] * folded[1]) as f32;
        // Models with non-linear terms keep every feature under its own number.
        debug_assert!(counts.safety.is_empty() || !self.model.is_linear());
        kept.safety.extend_from_slice(&counts.safety);
        kept.complexity.extend_from_slice(&counts.complexity);
    }
}

pub struct SplitTraces {
    pub space: Space,
    pub train: Traces,
    pub validation: Traces,
}

impl SplitTraces {
    /// Collects the positions that `fill` pushes, each with whether it is held out. See [`TraceCollector::new`].
    pub fn collect<T: Tracer, R>(
        tracer: &T,
        model: &Model,
        chunk: usize,
        seed: u64,
        fill: impl FnOnce(&mut dyn FnMut(T::Item, bool) -> Result<()>) -> Result<R>,
    ) -> Result<(SplitTraces, R)> {
        let mut space = Space::new(model);
        let mut train = TraceCollector::new(tracer, model, &space, chunk, seed);
        let mut validation = TraceCollector::new(tracer, model, &space, chunk, seed);
        let filled = fill(&mut |item, held_out| {
            let side = if held_out { &mut validation } else { &mut train };
            side.push(item)
        })?;
        let (mut train, mut validation) = (train.finish()?, validation.finish()?);
        arrange(model, &mut space, &mut train, &mut validation);
        Ok((SplitTraces { space, train, validation }, filled))
    }
}

pub struct ExternalTracer;

impl Tracer for ExternalTracer {
    type Item = (TraceInfo, FeatureCounts);
    type Scratch = ();

    fn count(
        &self,
        item: &(TraceInfo, FeatureCounts),
        (): &mut (),
        counts: &mut FeatureCounts,
    ) -> Result<TraceInfo> {
        counts.clone_from(&item.1);
        Ok(item.0)
    }
}

pub fn add(counts: &mut FeatureCounts, part: EvalPart, index: u16, white: f32, black: f32) {
    match part {
        EvalPart::Linear if white != black => counts.linear.push((index, white - black)),
        EvalPart::Safety if white != 0.0 || black != 0.0 => {
            counts.safety.push(super::chunk::BothSides { index, white, black });
        }
        EvalPart::Complexity if white != 0.0 => counts.complexity.push((index, white)),
        _ => {}
    }
}
