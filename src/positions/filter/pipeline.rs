//! Several filters in a row, and the count of what each of them drops.
//!
//! In: samples in the order of the dataset. Out: keep, or the name of the first filter that drops the sample. The
//! order of the filters decides under which name a position counts, never whether it stays.

use super::preset::{self, Preset, Use};
use super::registry::{self, Make};
use super::{Filter, Sample};
use crate::error::{Error, Result};
use crate::positions::key_set::KeySet;

/// The filters of a run.
pub struct Pipeline {
    judge: Judge,
    /// The positions so far, if duplicates are dropped.
    seen: Option<KeySet>,
    description: Vec<String>,
}

/// The filters that look at one sample alone, and so can work on any thread.
pub struct Judge {
    filters: Vec<(&'static str, Box<dyn Filter>)>,
}

/// The reason under which duplicates count.
pub const DUPLICATES: &str = "duplicates";

impl Judge {
    /// Whether a position stays.
    ///
    /// # Errors
    /// The name of the first filter that drops it.
    #[inline]
    pub fn keep(&self, sample: &Sample) -> std::result::Result<(), &'static str> {
        match self.filters.iter().find(|(_, filter)| !filter.keeps(sample)) {
            Some((name, _)) => Err(name),
            None => Ok(()),
        }
    }
}

impl Pipeline {
    /// The filters of presets, named or in TOML files, with values overridden as `filter.parameter=value`.
    ///
    /// A filter that several presets name with the same values works once.
    ///
    /// # Errors
    /// If a preset, filter or parameter does not exist, or a value makes no sense.
    pub fn new(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let mut presets = filters.iter().map(|name| Preset::load(name)).collect::<Result<Vec<_>>>()?;
        for text in overrides {
            apply(&mut presets, text)
                .map_err(|reason| Error::usage(format!("--filter-set {text}: {reason}")))?;
        }
        let mut pipeline = Pipeline {
            judge: Judge { filters: Vec::new() },
            seen: None,
            description: presets.iter().map(describe).collect(),
        };
        let mut taken: Vec<&Use> = Vec::new();
        for filter in presets.iter().flat_map(|preset| &preset.filters) {
            if taken.iter().any(|t| t.row.name == filter.row.name && t.values == filter.values) {
                continue;
            }
            taken.push(filter);
            match filter.row.make {
                Make::Stateless(make) => pipeline.judge.filters.push((filter.row.name, make(&filter.values))),
                Make::Duplicates => pipeline.seen = Some(KeySet::new()),
            }
        }
        Ok(pipeline)
    }

    /// What is applied, one preset a line, as the dataset's metadata keeps it.
    pub fn describe(&self) -> Vec<String> {
        self.description.clone()
    }

    /// Whether a position stays, or the name of the filter that drops it. To be called in the order of the
    /// dataset, since the first of equal positions stays.
    ///
    /// # Errors
    /// The name of the filter that drops the position.
    #[inline]
    pub fn keep(&mut self, sample: &Sample) -> std::result::Result<(), &'static str> {
        self.judge.keep(sample)?;
        let first = self.seen.as_mut().is_none_or(|seen| seen.insert(sample.key()));
        if first { Ok(()) } else { Err(DUPLICATES) }
    }

    /// The two halves of [`Pipeline::keep`]: what can work on any thread, and the keys of the positions that it
    /// kept so far if duplicates are dropped.
    pub fn halves(&mut self) -> (&Judge, Option<&mut KeySet>) {
        (&self.judge, self.seen.as_mut())
    }
}

/// Applies one `filter.parameter=value` to every preset that has the filter.
fn apply(presets: &mut [Preset], text: &str) -> std::result::Result<(), String> {
    let parts =
        text.split_once('=').and_then(|(key, value)| Some((key.trim().split_once('.')?, value.trim())));
    let Some(((name, parameter), value)) = parts else {
        return Err("write it as filter.parameter=value, for example before_capture.plies=3".into());
    };
    let row = registry::row(name)?;
    let parameter = row.parameter(parameter)?;
    let number = value.parse().map_err(|_| format!("`{value}` is not a whole number"))?;
    let value = row.value(parameter, number)?;
    let mut found = false;
    for filter in presets.iter_mut().flat_map(|p| &mut p.filters).filter(|f| f.row.name == name) {
        filter.values[parameter] = value;
        found = true;
    }
    if found {
        return Ok(());
    }
    let mut used: Vec<&str> = presets.iter().flat_map(|p| &p.filters).map(|f| f.row.name).collect();
    used.dedup();
    Err(match used.is_empty() {
        true => "there is no --filter that it could change".into(),
        false => format!("no preset in use has `{name}`; in use are {}", used.join(", ")),
    })
}

/// `quiet: in_check, before_check plies=5, …`.
fn describe(preset: &Preset) -> String {
    let filters: Vec<String> = preset
        .filters
        .iter()
        .map(|filter| {
            let values = filter.row.parameters.iter().zip(&filter.values);
            values.fold(filter.row.name.to_string(), |text, (p, value)| format!("{text} {}={value}", p.name))
        })
        .collect();
    format!("{}: {}", preset.name, filters.join(", "))
}

/// The lists of presets and filters for a help text.
pub fn help() -> String {
    format!("Presets:\n{}\nFilters that presets are made of:\n{}", preset::listing(), registry::listing())
}
