//! Traces of another engine from files, text or Parquet.

use std::path::{Path, PathBuf};

use super::labels::{Labels, Unlabelled};
use super::model::Model;
use super::terms::Terms;
use super::text::TracePosition;
use super::traces::{ExternalTracer, SplitTraces};
use super::{columns, text};
use patzer_chess::rng;
use patzer_data::lines;
use patzer_data::lines::LineCounts;
use patzer_io::error::{Error, Result};

pub struct TraceFiles<'a> {
    pub paths: &'a [PathBuf],
    pub terms: &'a Terms,
    pub model: &'a Model,
    pub strict: bool,
}

impl TraceFiles<'_> {
    pub fn each(
        &self,
        take: &mut dyn FnMut(TracePosition) -> Result<()>,
    ) -> Result<Vec<(&Path, LineCounts)>> {
        let mut counts = Vec::new();
        for path in self.paths {
            let of_file = if columns::recognise(path)? {
                columns::each(path, self.model, self.terms.full_phase, self.strict, take)?
            } else {
                let parse = |line: &[u8]| text::parse(line, self.model, self.terms.full_phase);
                lines::each(path, self.strict, parse, &mut *take)?
            };
            counts.push((path.as_path(), of_file));
        }
        Ok(counts)
    }

    /// Labels and splits all positions by game; `chunk`: see [`Settings::chunk`](super::Settings::chunk).
    pub fn load(
        &self,
        labels: &Labels,
        validation: f64,
        seed: u64,
        chunk: usize,
    ) -> Result<(SplitTraces, Vec<(&Path, LineCounts)>)> {
        let (traces, counts) = SplitTraces::collect(&ExternalTracer, self.model, chunk, seed, |push| {
            self.each(&mut |mut position| {
                let Ok((target, weight)) = labels.of(position.unlabelled()) else { return Ok(()) };
                let group = position.group();
                position.info.target = target;
                position.info.weight *= weight;
                position.info.group = rng::mix(0, group) as u8;
                let held_out = rng::unit(rng::mix(seed, group)) < validation;
                push((position.info, position.counts), held_out)
            })
        })?;
        if traces.train.positions == 0 {
            return Err(Error::input("no positions are left to learn from"));
        }
        Ok((traces, counts))
    }
}

impl TracePosition {
    pub fn unlabelled(&self) -> Unlabelled {
        Unlabelled { result: self.info.target, score: self.score, game: self.group() }
    }
}
