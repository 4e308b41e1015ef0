//! Several filters in a row, and the count of what each of them drops.
//!
//! In: records in the order of the dataset, and at `extract` the tags of their games. Out: keep, or the name of the
//! first filter that drops the record. The order of the filters decides under which name a position counts, never
//! whether it stays: first those of whole games, then those of positions, duplicates last.

use super::preset::{self, Preset, Use};
use super::registry::{self, Given, Make};
use super::{Filter, GameFacts, GameFilter, Record};
use crate::key_set::KeySet;
use patzer_io::error::{Error, Result};

/// The filters of a run.
pub struct Pipeline {
    judge: Judge,
    /// The positions so far, if duplicates are dropped.
    seen: Option<KeySet>,
    description: Vec<String>,
}

/// A filter with its name, and with name and values as `before_check plies=5`.
struct Named<F: ?Sized> {
    name: &'static str,
    label: String,
    filter: Box<F>,
}

/// The filters that look at one game or record alone, and so can work on any thread.
#[derive(Default)]
pub struct Judge {
    games: Vec<Named<dyn GameFilter>>,
    positions: Vec<Named<dyn Filter>>,
}

/// The reason under which duplicates count.
pub const DUPLICATES: &str = "duplicates";

impl Judge {
    /// Whether a position stays, as far as filters of positions say. Its `game` has to be set: it decides draws.
    ///
    /// # Errors
    /// The name of the first filter that drops it.
    #[inline]
    pub fn keep(&self, record: &Record) -> std::result::Result<(), &'static str> {
        match self.positions.iter().find(|named| !named.filter.keeps(record)) {
            Some(named) => Err(named.name),
            None => Ok(()),
        }
    }

    /// Whether the positions of a game stay, as far as filters of games say.
    ///
    /// # Errors
    /// The name of the first filter that drops them.
    pub fn keep_game(&self, facts: &GameFacts) -> std::result::Result<(), &'static str> {
        match self.games.iter().find(|named| !named.filter.keeps(facts)) {
            Some(named) => Err(named.name),
            None => Ok(()),
        }
    }

    /// Whether any filter judges games, so that [`Judge::keep_game`] has to be asked.
    pub fn judges_games(&self) -> bool {
        !self.games.is_empty()
    }

    /// Name, and name with values, of each filter in the order in which they judge.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let games = self.games.iter().map(|named| (named.name, named.label.as_str()));
        games.chain(self.positions.iter().map(|named| (named.name, named.label.as_str())))
    }

    /// Whether each filter of games would keep a game, in the order of [`Judge::names`].
    pub fn each_of_games(&self, facts: &GameFacts) -> impl Iterator<Item = bool> {
        self.games.iter().map(|named| named.filter.keeps(facts))
    }

    /// Whether each filter of positions would keep a position, in the order of [`Judge::names`] after those of games.
    pub fn each_of_positions(&self, record: &Record) -> impl Iterator<Item = bool> {
        self.positions.iter().map(|named| named.filter.keeps(record))
    }
}

impl Pipeline {
    /// The filters of presets, named or in TOML files, with values overridden as `filter.parameter=value`, for
    /// positions of a dataset.
    ///
    /// A filter that several presets name with the same values works once.
    ///
    /// # Errors
    /// If a preset, filter or parameter does not exist, a value makes no sense, or a filter needs the tags of games,
    /// which a dataset does not carry.
    pub fn new(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let pipeline = Pipeline::for_games(filters, overrides)?;
        match pipeline.judge.games.first() {
            None => Ok(pipeline),
            Some(named) => Err(Error::usage(format!(
                "filter `{}` judges games by their tags, which a dataset does not carry; give it to `patzer extract`",
                named.name
            ))),
        }
    }

    /// As [`Pipeline::new`], for games as they are extracted: filters of whole games work too.
    ///
    /// # Errors
    /// If a preset, filter or parameter does not exist, or a value makes no sense.
    pub fn for_games(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let mut presets = filters.iter().map(|name| Preset::load(name)).collect::<Result<Vec<_>>>()?;
        for text in overrides {
            apply(&mut presets, text)
                .map_err(|reason| Error::usage(format!("--filter-set {text}: {reason}")))?;
        }
        let description = presets.iter().map(describe).collect();
        let mut pipeline = Pipeline { judge: Judge::default(), seen: None, description };
        let mut taken: Vec<&Use> = Vec::new();
        for preset in &presets {
            for filter in &preset.filters {
                let check = filter.row.check(&filter.values);
                check.map_err(|reason| Error::usage(format!("filter preset {}: {reason}", preset.name)))?;
                let same = |t: &&Use| t.row.name == filter.row.name && t.values == filter.values;
                if !taken.iter().any(same) {
                    taken.push(filter);
                    pipeline.add(filter);
                }
            }
        }
        Ok(pipeline)
    }

    fn add(&mut self, filter: &Use) {
        let (name, label) = (filter.row.name, filter.row.describe(&filter.values));
        match filter.row.make {
            Make::Position(make) => {
                self.judge.positions.push(Named { name, label, filter: make(&filter.values) })
            }
            Make::Game(make) => self.judge.games.push(Named { name, label, filter: make(&filter.values) }),
            Make::Duplicates => self.seen = Some(KeySet::new()),
        }
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
    pub fn keep(&mut self, record: &Record) -> std::result::Result<(), &'static str> {
        self.judge.keep(record)?;
        let first = self.seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
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
    row.set(&mut row.defaults(), parameter, &Given::Text(value))?;
    let mut found = false;
    for filter in presets.iter_mut().flat_map(|p| &mut p.filters).filter(|f| f.row.name == name) {
        row.set(&mut filter.values, parameter, &Given::Text(value))?;
        found = true;
    }
    if found {
        return Ok(());
    }
    let mut used: Vec<&str> = presets.iter().flat_map(|p| &p.filters).map(|f| f.row.name).collect();
    used.sort_unstable();
    used.dedup();
    Err(match used.is_empty() {
        true => "there is no --filter that it could change".into(),
        false => format!("no preset in use has `{name}`; in use are {}", used.join(", ")),
    })
}

/// `quiet: in_check, before_check plies=5, …`.
fn describe(preset: &Preset) -> String {
    let filters: Vec<String> =
        preset.filters.iter().map(|filter| filter.row.describe(&filter.values)).collect();
    match &preset.filters[..] {
        [one] if one.row.name == preset.name => filters.concat(),
        _ => format!("{}: {}", preset.name, filters.join(", ")),
    }
}

/// The lists of presets and filters for a help text.
pub fn help() -> String {
    format!(
        "Presets:\n{}\nFilters that presets are made of; each drops a position if\n{}",
        preset::listing(),
        registry::listing()
    )
}
