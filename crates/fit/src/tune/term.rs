//! A term of another engine's evaluation: name, start values and layout of its entries.

use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::model::{EvalPart, Feature, Model, Slot};
use super::shape::{NumberType, Shape, TermKind};
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shape: Shape,
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: TermKind,
    /// `linear` if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Start values, row by row: of every entry, of one for all, or one number for all.
    #[serde(default = "zero")]
    pub initial: toml::Value,
    #[serde(default, skip_serializing_if = "is_default")]
    pub fixed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// Type of its values, instead of the file's.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberType>,
    /// True if the endgame scale multiplies it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub scaled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub mirror: bool,
    /// Earlier term of the same shape and kind whose values it shares.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub same_as: String,
    /// Layout in the engine's source.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Layout,
}

fn one() -> Shape {
    Shape::List(1)
}

fn is_one(shape: &Shape) -> bool {
    *shape == one()
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_yes(scaled: &bool) -> bool {
    *scaled
}

fn zero() -> toml::Value {
    toml::Value::Integer(0)
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Term {
    fn default() -> Term {
        Term {
            name: String::new(),
            group: String::new(),
            about: String::new(),
            shape: one(),
            kind: TermKind::Pair,
            part: String::new(),
            initial: zero(),
            fixed: false,
            bounds: None,
            number: None,
            scaled: true,
            mirror: false,
            same_as: String::new(),
            output: Layout::default(),
        }
    }
}

impl Term {
    pub(super) fn values(&self) -> Result<Vec<[f64; 2]>> {
        let mut numbers = Vec::new();
        self.flatten(&self.initial, &mut numbers)?;
        let (length, width) = (self.shape.len(), if self.kind == TermKind::Pair { 2 } else { 1 });
        let all = match numbers.len() {
            1 => vec![numbers[0]; length * width],
            2 if width == 2 => numbers.repeat(length),
            given if given == length * width => numbers,
            found => {
                let needed = length * width;
                return self.fault(format!("has {found} numbers; it needs {needed}, {width} or 1"));
            }
        };
        let pair = |entry: &[f64]| match self.kind {
            TermKind::Pair => [entry[0], entry[1]],
            TermKind::Single => [entry[0]; 2],
            TermKind::Midgame => [entry[0], 0.0],
            TermKind::Endgame => [0.0, entry[0]],
        };
        Ok(all.chunks_exact(width).map(pair).collect())
    }

    /// The start values `pairs` in the notation of the file.
    pub(super) fn initial_of(&self, pairs: &[[f64; 2]]) -> toml::Value {
        let number = |value: f64| match value {
            whole if whole.fract() == 0.0 => toml::Value::Integer(whole as i64),
            value => toml::Value::Float(value),
        };
        let entry = |&[mg, eg]: &[f64; 2]| match self.kind {
            TermKind::Pair => toml::Value::Array(vec![number(mg), number(eg)]),
            TermKind::Single | TermKind::Midgame => number(mg),
            TermKind::Endgame => number(eg),
        };
        let entries: Vec<toml::Value> = pairs.iter().map(entry).collect();
        let [_, columns] = self.shape.grid();
        toml::Value::Array(match self.shape {
            Shape::List(_) => entries,
            _ => entries.chunks(columns).map(|row| toml::Value::Array(row.to_vec())).collect(),
        })
    }

    /// Bounds of the values, by the term's own and by their type, which the start values have to fit.
    pub(super) fn within(&self, number: Option<NumberType>) -> Result<[f64; 2]> {
        let own = self.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let Some(number) = self.number.or(number) else { return Ok(own) };
        let [low, high] = number.bounds(self.kind);
        let fits = |value: f64| (low..=high).contains(&value);
        if let Some(wrong) = self.values()?.into_iter().flatten().find(|&value| !fits(value)) {
            return self.fault(format!("has {wrong}, which does not fit `{}`", number.name()));
        }
        let both = [own[0].max(low), own[1].min(high)];
        if both[0] > both[1] {
            return Err(Error::input(format!("`{}`: its bounds do not fit `{}`", self.name, number.name())));
        }
        Ok(both)
    }

    /// Checks the earlier term whose values this one shares, and that its own keys say nothing else.
    pub(super) fn check_twin(&self, twin: Option<&Term>) -> Result<()> {
        let (name, of) = (&self.name, &self.same_as);
        let fault = |reason: String| Err(Error::input(format!("`{name}`: {reason}")));
        let fits = |other: &&Term| (other.shape.len(), other.kind) == (self.shape.len(), self.kind);
        let Some(twin) = twin.filter(fits) else {
            return fault(format!("no earlier term `{of}` of the same shape and kind"));
        };
        let differs = [
            ("initial", self.initial != zero() && self.values()? != twin.values()?),
            ("bounds", self.bounds.is_some() && self.bounds != twin.bounds),
            ("fixed", self.fixed && !twin.fixed),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            Some((key, _)) => fault(format!("`{key}`: not with `same_as`; `{of}` says it for both")),
            None => Ok(()),
        }
    }

    /// Refuses start values outside `bounds`, up to rounding, and halves that differ beside `mirror`.
    fn check_start(&self, values: &[[f64; 2]]) -> Result<()> {
        let [low, high] = self.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let halves = match self.kind {
            TermKind::Midgame => 0..1,
            TermKind::Endgame => 1..2,
            TermKind::Pair | TermKind::Single => 0..2,
        };
        let mut numbers = values.iter().flat_map(|pair| &pair[halves.clone()]);
        if let Some(wrong) = numbers.find(|value| !(low.floor()..=high.ceil()).contains(value)) {
            return self.fault(format!("has {wrong}, outside its bounds from {low} to {high}"));
        }
        let differs = |entry: &usize| self.mirror && values[*entry] != values[self.mirrored(*entry)];
        if let Some(entry) = (0..values.len()).find(differs) {
            let [one, other] = [entry, self.mirrored(entry)].map(|entry| self.shape.suffix(entry));
            return self.fault(format!("differs between {one} and {other}, which `mirror` makes equal"));
        }
        Ok(())
    }

    /// The entry on the same row in the other half.
    fn mirrored(&self, entry: usize) -> usize {
        let [_, columns] = self.shape.grid();
        entry / columns * columns + (columns - 1 - entry % columns)
    }

    /// Adds a feature per entry; `start` is the term's first feature number.
    pub(super) fn add_to(
        &self,
        model: &mut Model,
        start: usize,
        (part, fixed): (EvalPart, bool),
        number: Option<NumberType>,
    ) -> Result<()> {
        let prefix = if self.group.is_empty() { String::new() } else { format!("{}.", self.group) };
        let bounds = self.within(number)?;
        let values = self.values()?;
        self.check_start(&values)?;
        for (entry, [mg, eg]) in values.into_iter().enumerate() {
            let twin = self.mirrored(entry);
            if self.mirror && twin < entry {
                model.features.push(model.features[start + twin]);
                continue;
            }
            let name = format!("{prefix}{}{}", self.name, self.shape.suffix(entry));
            let mut slot = |half: &str, start: f64, fixed: bool| {
                model.slots.push(Slot { name: format!("{name}{half}"), start, fixed, bounds });
                model.slots.len() - 1
            };
            let slots = match self.kind {
                TermKind::Pair => [slot(" midgame", mg, fixed), slot(" endgame", eg, fixed)],
                TermKind::Single => [slot("", mg, fixed); 2],
                TermKind::Midgame => [slot("", mg, fixed), slot(" endgame", 0.0, true)],
                TermKind::Endgame => [slot(" midgame", 0.0, true), slot("", eg, fixed)],
            };
            model.features.push(Feature { part, slots });
        }
        Ok(())
    }

    /// Collects all numbers of nested lists, in order.
    fn flatten(&self, value: &toml::Value, numbers: &mut Vec<f64>) -> Result<()> {
        match value {
            toml::Value::Integer(number) => numbers.push(*number as f64),
            toml::Value::Float(number) if number.is_finite() => numbers.push(*number),
            toml::Value::Array(list) => list.iter().try_for_each(|value| self.flatten(value, numbers))?,
            other => return self.fault(format!("has {other}, which is not a number")),
        }
        Ok(())
    }

    fn fault<T>(&self, reason: String) -> Result<T> {
        Err(Error::input(format!("`{}`: `initial` {reason}", self.name)))
    }
}
