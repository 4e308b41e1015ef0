//! Rows of the table of filters: their parameters, and the values that presets and `--filter-set` give them.
//!
//! The rows also make the list of `patzer filters`.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Value;

use super::kind::{ParamKind, number, show};
use super::{GameTags, Record};
use crate::key_set::KeySet;
use patzer_formats::capabilities::Capabilities;
use patzer_io::error as io;

/// The values of a filter's parameters, which its parameter struct is deserialised from.
pub type ParamValues = toml::Table;

/// A parameter of a filter: a field of its parameter struct.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    /// Meaning, with the unit.
    pub about: &'static str,
    pub kind: ParamKind,
}

type Str = &'static str;

pub(super) const fn whole(name: Str, about: Str, range: (i64, i64), default: &'static [i64]) -> Param {
    Param { name, about, kind: ParamKind::Whole(range, default) }
}

pub(super) const fn real(name: Str, about: Str, range: (f64, f64), default: &'static [f64]) -> Param {
    Param { name, about, kind: ParamKind::Real(range, default) }
}

pub(super) const fn switch(name: Str, about: Str, default: bool) -> Param {
    Param { name, about, kind: ParamKind::Switch(default) }
}

pub(super) const fn choice(name: Str, about: Str, words: &'static [Str]) -> Param {
    Param { name, about, kind: ParamKind::Choice(words) }
}

pub(super) const fn text(name: Str, about: Str, default: Str) -> Param {
    Param { name, about, kind: ParamKind::Text(default) }
}

pub(super) const fn file(name: Str, about: Str) -> Param {
    Param { name, about, kind: ParamKind::File }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Range<T> {
    min: T,
    max: T,
}

impl<T: PartialOrd> Range<T> {
    #[inline]
    pub(super) fn contains(&self, value: T) -> bool {
        self.min <= value && value <= self.max
    }
}

/// Parameters of a filter that keeps values from `min` to `max`, and drops or keeps what has no such value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownRange<T> {
    min: T,
    max: T,
    unknown: Unknown,
}

impl<T: PartialOrd> KnownRange<T> {
    #[inline]
    pub(super) fn contains(&self, value: Option<T>) -> bool {
        value.map_or(self.unknown == Unknown::Keep, |value| self.min <= value && value <= self.max)
    }
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unknown {
    Drop,
    Keep,
}

/// Predicate of a position that stays, or of the tags of a game whose positions all stay.
pub type Filter<T = Record> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// Makes the filter of one game's positions from its tags.
pub type InGameFilter = Box<dyn Fn(&GameTags) -> Filter + Send + Sync>;

/// Builds a filter from the values of all its parameters.
pub type BuildFilter<T> = fn(ParamValues) -> io::Result<Filter<T>>;

type Result<T, E = FilterError> = std::result::Result<T, E>;

/// The parameter struct of a filter. The values have been checked, so an error is ours.
pub(super) fn params<P: DeserializeOwned>(values: ParamValues) -> io::Result<P> {
    values.try_into().map_err(|e: toml::de::Error| io::Error::internal(e.to_string()))
}

pub(super) fn filter<P, T, F>(values: ParamValues, keeps: F) -> io::Result<Filter<T>>
where
    P: DeserializeOwned + Send + Sync + 'static,
    F: Fn(&P, &T) -> bool + Send + Sync + 'static,
{
    let params: P = params(values)?;
    Ok(Box::new(move |item| keeps(&params, item)))
}

/// Builds a filter without parameters.
pub(super) fn plain<F>(values: ParamValues, keeps: F) -> io::Result<Filter>
where
    F: Fn(&Record) -> bool + Send + Sync + 'static,
{
    filter(values, move |_: &NoParams, record: &Record| keeps(record))
}

/// Constructor of a filter, by its subject.
#[derive(Debug)]
pub enum Build {
    Position(BuildFilter<Record>),
    Game(BuildFilter<GameTags>),
    /// A filter of positions that needs the game's tags, and its clocks if `clocks`.
    InGame {
        build: fn(ParamValues) -> io::Result<InGameFilter>,
        clocks: bool,
    },
    /// A filter of positions that needs the keys of those in a file.
    Listed(fn(ParamValues, KeySet) -> io::Result<Filter>),
    Duplicates,
}

/// A filter that presets may use.
#[derive(Debug)]
pub struct FilterRow {
    pub name: &'static str,
    pub about: &'static str,
    pub params: &'static [Param],
    pub build: Build,
    /// The facts of a position that it judges by, for the values of its parameters, as far as a file may lack them. In
    /// a file without any of them its verdict is not that in the game.
    pub(super) sees: fn(&ParamValues) -> Capabilities,
}

/// Error of a filter, a parameter or an override.
#[derive(Debug)]
pub enum FilterError {
    /// A name, and the names that there are.
    UnknownFilter(String, Vec<&'static str>),
    UnknownParam(&'static FilterRow, String),
    /// Text of the command line, and the kind of parameter that does not take it.
    BadText(String, ParamKind),
    /// A parameter such as `elo.min`, its value in a preset, and its kind, which does not take it.
    BadValue(String, String, ParamKind),
    /// A `min` and its value above a `max` and its value.
    NothingLeft(String, String, String, String),
    NotAnOverride,
    /// An override of a filter that no preset uses, and the filters in use.
    NotInUse(String, Vec<&'static str>),
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
        match self {
            FilterError::UnknownFilter(name, known) => {
                write!(f, "unknown filter `{name}`; there are {}", known.join(", "))
            }
            FilterError::UnknownParam(FilterRow { name, params: [], .. }, param) => {
                write!(f, "`{name}` takes no parameter, so no `{param}`")
            }
            FilterError::UnknownParam(row, param) => {
                let known = list(&mut row.params.iter().map(|p| p.name));
                write!(f, "`{}` has no parameter `{param}`; it has {known}", row.name)
            }
            FilterError::BadText(text, kind) => write!(f, "`{text}` is not {}", kind.describe()),
            FilterError::BadValue(param, value, kind) if kind.count() > 1 => {
                write!(f, "`{param}` has to be {}, not {value}", kind.describe())
            }
            FilterError::BadValue(param, value, kind) => {
                write!(f, "`{param}` is {value}; it has to be {}", kind.describe())
            }
            FilterError::NothingLeft(low, min, high, max) => {
                write!(f, "`{low}` is {min}, above `{high}`, which is {max}: nothing is left")
            }
            FilterError::NotAnOverride => {
                f.write_str("write it as filter.parameter=value, for example before_capture.plies=3")
            }
            FilterError::NotInUse(_, used) if used.is_empty() => {
                f.write_str("there is no filter that it could change")
            }
            FilterError::NotInUse(name, used) => {
                write!(f, "no preset in use has `{name}`; in use are {}", used.join(", "))
            }
        }
    }
}

impl FilterRow {
    pub(super) const fn position(
        name: Str,
        about: Str,
        params: &'static [Param],
        build: BuildFilter<Record>,
    ) -> FilterRow {
        FilterRow::new(name, about, params, Build::Position(build))
    }

    pub(super) const fn new(name: Str, about: Str, params: &'static [Param], build: Build) -> FilterRow {
        FilterRow { name, about, params, build, sees: |_| Capabilities::NONE }
    }

    pub(super) const fn seeing(self, sees: fn(&ParamValues) -> Capabilities) -> FilterRow {
        FilterRow { sees, ..self }
    }

    fn kind(&'static self, param: &str) -> Result<ParamKind> {
        let found = self.params.iter().find(|p| p.name == param);
        found.map(|p| p.kind).ok_or_else(|| FilterError::UnknownParam(self, param.into()))
    }

    pub fn defaults(&self) -> ParamValues {
        self.params.iter().map(|p| (p.name.to_string(), p.kind.default())).collect()
    }

    pub fn set(&'static self, values: &mut ParamValues, param: &str, value: &Value) -> Result<()> {
        let kind = self.kind(param)?;
        let bad = || FilterError::BadValue(format!("{}.{param}", self.name), show(value), kind);
        values.insert(param.into(), kind.checked(value).ok_or_else(bad)?);
        Ok(())
    }

    pub fn set_text(&'static self, values: &mut ParamValues, param: &str, text: &str) -> Result<()> {
        let kind = self.kind(param)?;
        let value = kind.parse(text).and_then(|value| kind.checked(&value));
        values.insert(param.into(), value.ok_or_else(|| FilterError::BadText(text.into(), kind))?);
        Ok(())
    }

    pub fn check(&self, values: &ParamValues) -> Result<()> {
        for low in self.params {
            let Some(rest) = low.name.strip_prefix("min").or_else(|| low.name.strip_suffix("_min")) else {
                continue;
            };
            let pair = |p: &&Param| p.name == format!("max{rest}") || p.name == format!("{rest}_max");
            let Some(high) = self.params.iter().find(pair) else { continue };
            let value = |p: &Param| number(&values[p.name]).unwrap_or_default();
            let (min, max) = (value(low), value(high));
            if min > max {
                let full = |p: &Param| format!("{}.{}", self.name, p.name);
                let (min, max) = (min.to_string(), max.to_string());
                return Err(FilterError::NothingLeft(full(low), min, full(high), max));
            }
        }
        Ok(())
    }

    /// Name and values as a dataset's metadata keeps them: `before_check plies=5`.
    pub fn describe(&self, values: &ParamValues) -> String {
        self.params
            .iter()
            .fold(self.name.to_string(), |text, p| format!("{text} {}={}", p.name, show(&values[p.name])))
    }
}

impl FilterRow {
    /// Tests whether the filter works at `extract` alone.
    pub fn is_at_extract_only(&self) -> bool {
        matches!(self.build, Build::Game(_) | Build::InGame { .. })
    }
}

impl fmt::Display for FilterRow {
    /// Name, what it drops, and a line for each parameter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let only = if self.is_at_extract_only() { " (at extract only)" } else { "" };
        write!(f, "  {:<16} {}{only}", self.name, self.about)?;
        for p in self.params {
            write!(f, "\n{:19}{}: {} ({}", "", p.name, p.about, p.kind.range())?;
            match p.kind {
                ParamKind::File => write!(f, ")")?,
                _ => write!(f, ", default {})", show(&p.kind.default()))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::table::{row, rows};

    #[test]
    fn values_are_read_as_their_parameter_asks() {
        let row = row("wdl_skip").unwrap();
        let mut values = row.defaults();
        let mut text = |name: &str, text: &str| {
            let set = row.set_text(&mut values, name, text).map(|()| row.describe(&values));
            set.map_err(|error| error.to_string())
        };
        assert!(text("by", "material").unwrap().contains("by=material"));
        assert!(text("b", "1, 2,3.5,4").unwrap().contains("b=[1, 2, 3.5, 4]"));
        assert!(text("by", "x").unwrap_err().contains("`x` is not ply or material"));
        let mut value =
            |name: &str, value: Value| row.set(&mut values, name, &value).unwrap_err().to_string();
        assert!(value("b", vec![1.0; 3].into()).contains("`wdl_skip.b` has to be a list of 4 numbers"));
        assert!(value("unit", Value::Float(-1.0)).contains("`wdl_skip.unit` is -1"));
        assert!(value("seed", Value::Float(0.5)).contains("has to be a whole number"));
        // A number in quotes is a mistake.
        assert!(value("seed", Value::from("1")).contains("has to be a whole number"));
    }

    #[test]
    fn a_range_that_keeps_nothing_is_refused() {
        let row = row("piece_count").unwrap();
        let values = |min: i64, max: i64| [("min", min), ("max", max)].map(|(k, v)| (k.into(), v.into()));
        assert!(row.check(&values(4, 30).into_iter().collect()).is_ok());
        let reason = row.check(&values(30, 4).into_iter().collect()).unwrap_err().to_string();
        assert!(reason.contains("`piece_count.min` is 30, above `piece_count.max`"), "{reason}");
    }

    /// Every struct has the fields that its row lists: it is built from the defaults, and from nothing more or less.
    /// less.
    #[test]
    fn names_defaults_and_fields_agree() {
        let builds = |row: &FilterRow, values: ParamValues| match row.build {
            Build::Position(build) => build(values).is_ok(),
            Build::Game(build) => build(values).is_ok(),
            Build::InGame { build, .. } => build(values).is_ok(),
            Build::Listed(build) => build(values, KeySet::new()).is_ok(),
            Build::Duplicates => values.is_empty(),
        };
        for (index, row) in rows().enumerate() {
            assert!(rows().take(index).all(|other| other.name != row.name), "{}", row.name);
            assert!(row.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", row.name);
            let mut defaults = row.defaults();
            row.check(&defaults).unwrap();
            // A file has no default.
            if let Some(file) = defaults.get_mut("file") {
                *file = Value::from("../../fixtures/perft.epd");
            }
            assert!(builds(row, defaults.clone()), "{}", row.name);
            for p in row.params {
                let mut values = defaults.clone();
                row.set(&mut values, p.name, &p.kind.default()).unwrap();
                values.remove(p.name);
                assert!(!builds(row, values), "{}.{}", row.name, p.name);
            }
            let mut values = defaults;
            values.insert("no_such_parameter".into(), Value::Integer(1));
            assert!(!builds(row, values), "{}", row.name);
        }
    }
}
