//! What the table of filters is made of: rows, their parameters, and the values that users give them.
//!
//! In: a name and values, from a preset or `--filter-set`. Out: a filter, or what is wrong with them. The table
//! itself is [`ROWS`]; it also makes the list in `patzer extract --help`, so that the two cannot drift.

use std::ops::Range;

use super::{Filter, GameFilter};

pub use super::rows::ROWS;

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A number from the first to the second.
    Real(f64, f64),
    /// `true` (1) or `false` (0).
    Switch,
    /// One of these words; its value is its place among them.
    Choice(&'static [&'static str]),
}

/// A value that a filter takes, or a list of numbers.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in a preset.
    pub name: &'static str,
    /// What it means, with its unit.
    pub doc: &'static str,
    /// What it can be.
    pub kind: Kind,
    /// Its value where a preset is silent; several values are a list of just that length.
    pub default: &'static [f64],
}

/// Makes a filter from the values of its row's parameters, in their order.
pub type MakePosition = fn(&[f64]) -> Box<dyn Filter>;

/// As [`MakePosition`], for a filter of whole games.
pub type MakeGame = fn(&[f64]) -> Box<dyn GameFilter>;

/// How a row decides.
pub enum Make {
    /// By one record alone.
    Position(MakePosition),
    /// By the tags of the whole game, which only `extract` sees.
    Game(MakeGame),
    /// By what came before: only the first of equal positions stays.
    Duplicates,
}

/// One filter that presets may use.
pub struct Row {
    /// Its name in a preset, and the reason under which it counts what it drops.
    pub name: &'static str,
    /// What it drops.
    pub doc: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// How it is made.
    pub make: Make,
}

/// A value as a user gives it.
#[derive(Debug, Clone, PartialEq)]
pub enum Given<'a> {
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Switch(bool),
    /// Text, as on the command line; it is read as the parameter's kind asks.
    Text(&'a str),
    /// A list of numbers.
    List(Vec<f64>),
    /// Anything else.
    Other,
}

/// The row of a name, or what to say if there is none.
///
/// # Errors
/// If no filter has that name; the text lists those there are.
pub fn row(name: &str) -> Result<&'static Row, String> {
    ROWS.iter().copied().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        format!("unknown filter `{name}`; there are {}", names.join(", "))
    })
}

impl Row {
    /// Where a parameter stands among the row's, or what to say if it has none of that name.
    ///
    /// # Errors
    /// If the row has no such parameter; the text lists those it has.
    pub fn parameter(&self, name: &str) -> Result<usize, String> {
        self.parameters.iter().position(|p| p.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            match names.is_empty() {
                true => format!("`{}` takes no parameter, so no `{name}`", self.name),
                false => format!("`{}` has no parameter `{name}`; it has {}", self.name, names.join(", ")),
            }
        })
    }

    /// The values of a row that a preset does not set, those of all parameters one after another.
    pub fn defaults(&self) -> Vec<f64> {
        self.parameters.iter().flat_map(|p| p.default).copied().collect()
    }

    /// Where a parameter's values lie among the row's.
    fn place(&self, parameter: usize) -> Range<usize> {
        let start = self.parameters[..parameter].iter().map(|p| p.default.len()).sum();
        start..start + self.parameters[parameter].default.len()
    }

    /// Sets a parameter among the row's values.
    ///
    /// # Errors
    /// If the value makes no sense there; the text says what would.
    pub fn set(&self, values: &mut [f64], parameter: usize, given: &Given<'_>) -> Result<(), String> {
        let p = &self.parameters[parameter];
        let read = p.read(given).map_err(|reason| match given {
            Given::Text(text) => format!("`{text}` is not {reason}"),
            _ => format!("`{}.{}` has to be {reason}", self.name, p.name),
        })?;
        for &value in &read {
            let (low, high) = p.range();
            if !(low..=high).contains(&value) {
                let reason = format!("it has to be {}", p.kind.describe());
                return Err(format!("`{}.{}` is {value}; {reason}", self.name, p.name));
            }
        }
        values[self.place(parameter)].copy_from_slice(&read);
        Ok(())
    }

    /// Checks values against each other: a `min` above its `max` would keep nothing.
    ///
    /// # Errors
    /// If one is.
    pub fn check(&self, values: &[f64]) -> Result<(), String> {
        for (index, low) in self.parameters.iter().enumerate() {
            let Some(rest) = low.name.strip_prefix("min").or_else(|| low.name.strip_suffix("_min")) else {
                continue;
            };
            let pair = |p: &&Parameter| p.name == format!("max{rest}") || p.name == format!("{rest}_max");
            let Some(high) = self.parameters.iter().find(pair) else { continue };
            let at = |index| values[self.place(index)][0];
            let (min, max) = (at(index), at(self.parameter(high.name)?));
            if min > max {
                let (name, low, high) = (self.name, low.name, high.name);
                return Err(format!(
                    "`{name}.{low}` is {min}, above `{name}.{high}`, which is {max}: nothing is left"
                ));
            }
        }
        Ok(())
    }

    /// The row's name and values, as a dataset's metadata keeps them: `before_check plies=5`.
    pub fn describe(&self, values: &[f64]) -> String {
        self.parameters.iter().enumerate().fold(self.name.to_string(), |text, (index, p)| {
            format!("{text} {}={}", p.name, p.kind.show(&values[self.place(index)]))
        })
    }
}

impl Parameter {
    /// The values that are given, or what they should have been.
    fn read(&self, given: &Given<'_>) -> Result<Vec<f64>, String> {
        let kind = self.kind.describe();
        let short = match self.kind {
            Kind::Whole(..) => "a whole number",
            Kind::Real(..) => "a number",
            _ => kind.as_str(),
        };
        if self.default.len() > 1 {
            let list = match given {
                Given::List(list) => Some(list.clone()),
                Given::Text(text) => text.split(',').map(|part| part.trim().parse().ok()).collect(),
                _ => None,
            };
            let number = self.default.len();
            let list = list.filter(|list| list.len() == number && list.iter().all(|v| self.kind.fits(*v)));
            return list.ok_or(format!("a list of {number} numbers"));
        }
        let value = match (self.kind, given) {
            (Kind::Whole(..) | Kind::Real(..), Given::Number(value)) => Some(*value),
            (Kind::Whole(..) | Kind::Real(..), Given::Text(text)) => text.parse().ok(),
            (Kind::Switch, Given::Switch(value)) => Some(f64::from(u8::from(*value))),
            (Kind::Switch, Given::Text(text)) => {
                ["false", "true"].iter().position(|t| t == text).map(|i| i as f64)
            }
            (Kind::Choice(words), Given::Text(text)) => {
                words.iter().position(|t| t == text).map(|i| i as f64)
            }
            _ => None,
        };
        value.filter(|value| self.kind.fits(*value)).map(|value| vec![value]).ok_or(short.to_string())
    }

    fn range(&self) -> (f64, f64) {
        match self.kind {
            Kind::Whole(low, high) => (low as f64, high as f64),
            Kind::Real(low, high) => (low, high),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }
}

impl Kind {
    fn fits(self, value: f64) -> bool {
        value.is_finite() && (!matches!(self, Kind::Whole(..)) || value.fract() == 0.0)
    }

    /// What values there are: `a whole number from 1 to 255`.
    fn describe(self) -> String {
        match self {
            Kind::Whole(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Real(low, high) => format!("a number from {low} to {high}"),
            Kind::Switch => "true or false".into(),
            Kind::Choice(words) => words.join(" or "),
        }
    }

    /// Values as a preset writes them.
    fn show(self, values: &[f64]) -> String {
        let one = |value: &f64| match self {
            Kind::Switch => (*value == 1.0).to_string(),
            Kind::Choice(words) => words.get(*value as usize).unwrap_or(&"?").to_string(),
            _ => value.to_string(),
        };
        let list: Vec<String> = values.iter().map(one).collect();
        if list.len() == 1 { list.concat() } else { format!("[{}]", list.join(", ")) }
    }
}

/// The list of filters for a help text: what each drops, and what it takes.
pub fn listing() -> String {
    let mut text = String::new();
    for row in ROWS {
        let where_to = if matches!(row.make, Make::Game(_)) { " (at extract only)" } else { "" };
        text += &format!("  {:<16} {}{where_to}", row.name, row.doc);
        for p in row.parameters {
            let range = match p.kind {
                Kind::Whole(low, high) => format!("{low} to {high}"),
                Kind::Real(low, high) => format!("{low} to {high}"),
                kind => kind.describe(),
            };
            let default = p.kind.show(p.default);
            text += &format!("\n{:19}{}: {} ({range}, default {default})", "", p.name, p.doc);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_their_parameter_asks() {
        let row = row("wdl_skip").unwrap();
        let mut values = row.defaults();
        let mut set = |name: &str, given: Given<'_>| {
            row.set(&mut values, row.parameter(name).unwrap(), &given).map(|()| row.describe(&values))
        };
        assert!(set("by", Given::Text("material")).unwrap().contains("by=material"));
        assert!(set("b", Given::Text("1, 2,3.5,4")).unwrap().contains("b=[1, 2, 3.5, 4]"));
        assert!(set("b", Given::List(vec![1.0; 3])).unwrap_err().contains("list of 4 numbers"));
        assert!(set("by", Given::Text("x")).unwrap_err().contains("`x` is not ply or material"));
        assert!(set("unit", Given::Number(-1.0)).unwrap_err().contains("`wdl_skip.unit` is -1"));
        assert!(set("seed", Given::Number(0.5)).unwrap_err().contains("has to be a whole number"));
    }

    #[test]
    fn a_range_that_keeps_nothing_is_refused() {
        let row = row("piece_count").unwrap();
        assert!(row.check(&[4.0, 30.0]).is_ok());
        let reason = row.check(&[30.0, 4.0]).unwrap_err();
        assert!(reason.contains("`piece_count.min` is 30, above `piece_count.max`"), "{reason}");
    }

    #[test]
    fn names_and_defaults_make_sense() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..index].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(row.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{}", row.name);
            row.check(&row.defaults()).unwrap();
            for p in row.parameters {
                let (low, high) = p.range();
                assert!(p.default.iter().all(|v| (low..=high).contains(v) && p.kind.fits(*v)), "{}", p.name);
            }
        }
    }
}
