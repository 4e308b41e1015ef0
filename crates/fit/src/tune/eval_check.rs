//! The engine's own evaluation in traces (`eval=`) against that of its weights and counts.

use std::fmt;
use std::path::{Path, PathBuf};

use super::chunk::ChunkBuilder;
use super::model::Model;
use super::outside::unscale;
use super::reference;
use super::text::TracePosition;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::number::grouped;

/// Worst positions kept.
const WORST: usize = 5;

/// Phases of the report, by their share of the midgame.
const PHASES: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    pub path: PathBuf,
    /// Line of a text, row of a Parquet file.
    pub line: u64,
    /// Share of the midgame.
    pub phase: f32,
    /// Centipawns from White's side.
    pub engine: f64,
    pub counted: f64,
}

impl Deviation {
    pub fn size(&self) -> f64 {
        (self.engine - self.counted).abs()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PhaseDeviations {
    pub positions: u64,
    pub sum: f64,
    pub largest: f64,
}

/// Compares evaluations as positions come.
pub struct EvalCheck<'a> {
    model: &'a Model,
    weights: Vec<[f64; 2]>,
    bound: f64,
    /// Positions whose deviation is above the bound.
    pub above: u64,
    pub phases: [PhaseDeviations; PHASES],
    /// The largest first.
    pub worst: Vec<Deviation>,
}

impl EvalCheck<'_> {
    /// Deviations above `bound` centipawns are too large.
    pub fn new(model: &Model, bound: f64) -> EvalCheck<'_> {
        let (weights, phases) = (model.pairs(&model.start()), [PhaseDeviations::default(); PHASES]);
        EvalCheck { model, weights, bound, above: 0, phases, worst: Vec::new() }
    }

    pub fn see(&mut self, path: &Path, position: &TracePosition) {
        let Some(engine) = position.eval.map(f64::from) else { return };
        let (mut info, mut counts) = (position.info, position.counts.clone());
        unscale(self.model, &mut info, &mut counts);
        let mut builder = ChunkBuilder::default();
        builder.push(info, &counts);
        let mut counted = 0.0;
        reference::each(&builder.finish(), &self.weights, &self.model.nonlinear, |_, score, _| {
            counted = score
        });
        let (phase, line) = (position.info.phase, position.line);
        let size = (engine - counted).abs();
        let of_phase = &mut self.phases[((phase * PHASES as f32) as usize).min(PHASES - 1)];
        self.above += u64::from(size.is_nan() || size > self.bound);
        of_phase.positions += 1;
        of_phase.sum += size;
        of_phase.largest = of_phase.largest.max(size);
        let at = self.worst.partition_point(|worse| worse.size() >= size);
        if at < WORST {
            self.worst.insert(at, Deviation { path: path.to_path_buf(), line, phase, engine, counted });
            self.worst.truncate(WORST);
        }
    }

    pub fn positions(&self) -> u64 {
        self.phases.iter().map(|phase| phase.positions).sum()
    }

    /// Mean deviation in centipawns.
    pub fn mean(&self) -> f64 {
        self.phases.iter().map(|phase| phase.sum).sum::<f64>() / self.positions().max(1) as f64
    }

    /// The worst position, if a deviation is above the bound.
    pub fn verdict(&self) -> Result<()> {
        let Some(worst) = self.worst.first().filter(|_| self.above > 0) else { return Ok(()) };
        let (size, bound) = (worst.size(), self.bound);
        let [above, all] = [self.above, self.positions()].map(grouped);
        let of_all = format!("{above} of {all} positions are above {bound}");
        let error = Error::input(format!("{worst}: a deviation of {size:.1} centipawns; {of_all}"));
        Err(error.hint(Hint::MaxDeviation(size.ceil())))
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deviation { path, line, phase, engine, counted } = self;
        let path = patzer_io::Printable(path.display());
        write!(
            f,
            "{path}: line {line}: the engine says {engine}, weights and counts {counted:.1}, phase {phase:.2}"
        )
    }
}

impl fmt::Display for EvalCheck<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = grouped(self.positions());
        let (positions, largest) = (positions, self.worst.first().map_or(0.0, Deviation::size));
        write!(
            f,
            "the engine's evaluation of {positions} positions: off by {:.2} centipawns in the mean, {largest:.1} at most",
            self.mean()
        )?;
        for (i, phase) in self.phases.iter().enumerate().filter(|(_, phase)| phase.positions > 0) {
            let low = i as f64 / PHASES as f64;
            let high = if i + 1 < PHASES {
                format!("to {:.2}", low + 1.0 / PHASES as f64)
            } else {
                "and above".into()
            };
            let positions = grouped(phase.positions);
            let mean = phase.sum / phase.positions as f64;
            let largest = phase.largest;
            write!(
                f,
                "\n  phase {low:.2} {high}: {positions} positions, mean {mean:.2}, at most {largest:.1}"
            )?;
        }
        let wrong = self.worst.iter().filter(|worst| worst.size() >= 1.0);
        wrong.into_iter().try_for_each(|worst| write!(f, "\n  {worst}"))
    }
}
