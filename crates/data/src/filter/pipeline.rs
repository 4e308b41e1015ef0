//! Several filters in a row, and the name of the one that drops a position.
//!
//! The order decides under which name a position counts, never whether it stays: filters of games, then filters of
//! positions, duplicates last.

use super::preset::{Preset, PresetFilter};
use super::registry::{Build, FilterError, InGameFilter};
use super::{Filter, GameTags, Record, draw, listed, table};
use crate::key_set::KeySet;
use crate::position_keys;
use patzer_chess::rng::mix;
use patzer_formats::Metadata;
use patzer_formats::capabilities::Capabilities;
use patzer_formats::dedupe_rule::DUPLICATES;
use patzer_io::error::{Error, Result};

pub struct Pipeline {
    filters: FilterSet,
    seen: Option<KeySet>,
    description: Vec<String>,
    /// The label of each filter, and the facts that it judges by.
    sees: Vec<(String, Capabilities)>,
    random: bool,
}

/// A filter with its name, and its label such as `before_check plies=5`.
struct Named<F> {
    name: &'static str,
    label: String,
    keeps: F,
}

/// The filters that look at one game or record alone, so they work on any thread.
#[derive(Default)]
pub struct FilterSet {
    games: Vec<Named<Filter<GameTags>>>,
    in_game: Vec<Named<InGameFilter>>,
    clocks: bool,
    positions: Vec<Named<Filter>>,
}

impl FilterSet {
    /// Judges a position; an error names the first filter that drops it. Random filters draw by its `game`.
    #[inline]
    pub fn keep(&self, record: &Record) -> std::result::Result<(), &'static str> {
        self.positions.iter().find(|named| !(named.keeps)(record)).map_or(Ok(()), |named| Err(named.name))
    }

    /// Judges a position as [`Self::keep`] in pass 0 over the data; in other passes random filters draw again.
    pub fn keep_in_pass(&self, record: &Record, pass: u64) -> std::result::Result<(), &'static str> {
        match pass {
            0 => self.keep(record),
            _ => self.keep(&Record { game: mix(pass, u64::from(record.game)) as u32, ..*record }),
        }
    }

    /// Judges a game by the filters of games.
    pub fn keep_game(&self, tags: &GameTags) -> std::result::Result<(), &'static str> {
        self.games.iter().find(|named| !(named.keeps)(tags)).map_or(Ok(()), |named| Err(named.name))
    }

    /// Tests whether the filters need the tags of games.
    pub fn reads_tags(&self) -> bool {
        !self.games.is_empty() || !self.in_game.is_empty()
    }

    /// Tests whether a filter judges positions, not only whole games.
    pub fn judges_positions(&self) -> bool {
        !self.in_game.is_empty() || !self.positions.is_empty()
    }

    /// Tests whether the filters need the clocks of games.
    pub fn reads_clocks(&self) -> bool {
        self.clocks
    }

    /// The filters of one game's positions that depend on its tags, with their names.
    pub fn in_game(&self, tags: &GameTags) -> Vec<(&'static str, Filter)> {
        self.in_game.iter().map(|named| (named.name, (named.keeps)(tags))).collect()
    }

    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let games = self.games.iter().map(|named| (named.name, named.label.as_str()));
        let in_game = self.in_game.iter().map(|named| (named.name, named.label.as_str()));
        games.chain(in_game).chain(self.positions.iter().map(|named| (named.name, named.label.as_str())))
    }

    /// Tests whether each filter of games keeps a game, in the order of [`FilterSet::names`].
    pub fn each_of_games(&self, tags: &GameTags) -> impl Iterator<Item = bool> {
        self.games.iter().map(|named| (named.keeps)(tags))
    }

    /// Tests whether each filter of positions keeps a position, in the order of [`FilterSet::names`]; they follow the
    /// filters of [`Self::in_game`].
    pub fn each_of_positions(&self, record: &Record) -> impl Iterator<Item = bool> {
        self.positions.iter().map(|named| (named.keeps)(record))
    }
}

impl Pipeline {
    /// The filters of presets for the positions of a dataset: built-in names or TOML files, with overrides such as
    /// `filter.parameter=value`. A filter that several presets name with the same values works once.
    pub fn new(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let pipeline = Pipeline::for_games(filters, overrides)?;
        let set = &pipeline.filters;
        let games = set.games.iter().map(|named| named.name);
        match games.chain(set.in_game.iter().map(|named| named.name)).next() {
            None => Ok(pipeline),
            Some(name) => Err(Error::usage(format!(
                "filter `{name}` judges games by their tags, which a dataset does not carry; give it to `patzer extract`"
            ))),
        }
    }

    /// A pipeline for games at `extract`, where filters of games work too; see [`Pipeline::new`].
    pub fn for_games(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let mut presets = filters.iter().map(|name| Preset::load(name)).collect::<Result<Vec<_>>>()?;
        for text in overrides {
            apply(&mut presets, text)
                .map_err(|reason| Error::setting("filter_set", text, reason.to_string()))?;
        }
        let description = presets.iter().map(describe).collect();
        let mut pipeline = Pipeline {
            filters: FilterSet::default(),
            seen: None,
            description,
            sees: Vec::new(),
            random: false,
        };
        let mut added: Vec<&PresetFilter> = Vec::new();
        for preset in &presets {
            for filter in &preset.filters {
                let check = filter.row.check(&filter.values);
                check.map_err(|reason| Error::usage(format!("filter preset {}: {reason}", preset.name)))?;
                let same = |t: &&PresetFilter| t.row.name == filter.row.name && t.values == filter.values;
                if !added.iter().any(same) {
                    added.push(filter);
                    pipeline.add(filter)?;
                }
            }
        }
        Ok(pipeline)
    }

    fn add(&mut self, filter: &PresetFilter) -> Result<()> {
        let (name, label) = (filter.row.name, filter.row.describe(&filter.values));
        let values = filter.values.clone();
        self.random |= values.contains_key(draw::SEED.name);
        self.sees.push((label.clone(), (filter.row.sees)(&values)));
        match filter.row.build {
            Build::Position(build) => {
                self.filters.positions.push(Named { name, label, keeps: build(values)? })
            }
            Build::Game(build) => self.filters.games.push(Named { name, label, keeps: build(values)? }),
            Build::InGame { build, clocks } => {
                self.filters.clocks |= clocks;
                self.filters.in_game.push(Named { name, label, keeps: build(values)? });
            }
            Build::Listed(build) => {
                let keys = position_keys::read(&listed::file(&values)?)?;
                self.filters.positions.push(Named { name, label, keeps: build(values, keys)? });
            }
            Build::Duplicates => self.seen = Some(KeySet::new()),
        }
        Ok(())
    }

    /// Tests for a filter that draws at random.
    pub fn is_random(&self) -> bool {
        self.random
    }

    pub fn describe(&self) -> Vec<String> {
        self.description.clone()
    }

    /// Message on filters that cannot judge as in the games, by the facts that a file lacks and the unit of its scores;
    /// `None` if all can.
    pub fn blind(&self, data: &Metadata) -> Option<String> {
        let of = |sees: &Capabilities| sees.without(Capabilities::SCORE);
        let lacks = |sees: &Capabilities| !of(sees).is_none() && data.lacks.contains(of(sees));
        let blind =
            self.sees.iter().filter(|(_, sees)| lacks(sees)).map(|(label, sees)| {
                format!("{label} ({})", of(sees).names().collect::<Vec<_>>().join(", "))
            });
        let blind = blind.collect::<Vec<_>>().join(", ");
        let blind = (!blind.is_empty()).then(|| {
            format!(
                "does not say what these filters judge by, so they judge otherwise than in its games: {blind}"
            )
        });
        let scored = |(_, sees): &&(String, Capabilities)| sees.contains(Capabilities::SCORE);
        let by_score = self.sees.iter().filter(scored).map(|(label, _)| label.as_str());
        let by_score = by_score.filter(|_| !data.score_units.is_empty()).collect::<Vec<_>>().join(", ");
        let units = (!by_score.is_empty()).then(|| {
            let units = data.score_units.join(", ");
            format!(
                "has scores of another unit, {units}, which these filters take for centipawns: {by_score}"
            )
        });
        let parts: Vec<String> = blind.into_iter().chain(units).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Judges a position. Positions have to come in the order of the dataset, since the first of equal ones stays.
    #[inline]
    pub fn keep(&mut self, record: &Record) -> std::result::Result<(), &'static str> {
        self.filters.keep(record)?;
        let first = self.seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
        if first { Ok(()) } else { Err(DUPLICATES) }
    }

    /// The two halves of [`Pipeline::keep`]: the filters that work on any thread, and the keys of the positions kept
    /// so far if duplicates are dropped.
    pub fn halves(&mut self) -> (&FilterSet, Option<&mut KeySet>) {
        (&self.filters, self.seen.as_mut())
    }
}

fn apply(presets: &mut [Preset], text: &str) -> std::result::Result<(), FilterError> {
    let assignment =
        text.split_once('=').and_then(|(key, value)| Some((key.trim().split_once('.')?, value.trim())));
    let ((name, param), value) = assignment.ok_or(FilterError::NotAnOverride)?;
    let row = table::row(name)?;
    row.set_text(&mut row.defaults(), param, value)?;
    let mut found = false;
    for filter in presets.iter_mut().flat_map(|p| &mut p.filters).filter(|f| f.row.name == name) {
        row.set_text(&mut filter.values, param, value)?;
        found = true;
    }
    if found {
        return Ok(());
    }
    let mut used: Vec<&str> = presets.iter().flat_map(|p| &p.filters).map(|f| f.row.name).collect();
    used.sort_unstable();
    used.dedup();
    Err(FilterError::NotInUse(name.into(), used))
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
