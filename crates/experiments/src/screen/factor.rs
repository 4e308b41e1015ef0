//! Factors: the changes of an engine that an experiment measures, read from lines of text.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::lines;
use crate::spsa::Param;
use patzer_io::error::{Error, Result};

/// A change of an engine: a switch with two levels, or a range with three.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub name: String,
    /// Options that it sets together; a build has none.
    pub settings: Vec<Setting>,
}

/// Values of an option by level: without and with the change of a switch; the low, middle and high of a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub option: String,
    /// The first is empty until the engine's own value is known.
    pub values: Vec<String>,
}

/// Factors, and pairs of them whose interaction is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    pub factors: Vec<Factor>,
    pub interactions: Vec<[usize; 2]>,
}

/// Half the width of the range of an SPSA line, in its perturbations `c_end`.
const STEPS: f64 = 4.0;

/// Unit of a range's codes: the distance of its middle from the farther end.
pub(super) fn half_width([low, middle, high]: [f64; 3]) -> f64 {
    (middle - low).max(high - middle)
}

fn ascends([low, middle, high]: [f64; 3]) -> bool {
    low < middle && middle < high
}

impl Factor {
    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.settings.first().map_or(2, |setting| setting.values.len())
    }

    pub fn is_range(&self) -> bool {
        self.levels() == 3
    }

    /// Values of a range: low, middle, high.
    pub fn range(&self) -> Option<[f64; 3]> {
        let values = &self.settings.first().filter(|_| self.is_range())?.values;
        let mut numbers = [0.0; 3];
        for (number, text) in numbers.iter_mut().zip(values) {
            *number = text.parse().ok()?;
        }
        Some(numbers)
    }

    /// Tests that each option has a value for each level, and that a range ascends.
    pub(super) fn is_whole(&self) -> bool {
        let levels = self.levels();
        let is_range = || self.settings.len() == 1 && self.range().is_some_and(ascends);
        (levels == 2 || (levels == 3 && is_range()))
            && self.settings.iter().all(|setting| setting.values.len() == levels)
    }

    /// Options at a level.
    pub fn options(&self, level: usize) -> impl Iterator<Item = (String, String)> {
        self.settings.iter().map(move |setting| (setting.option.clone(), setting.values[level].clone()))
    }

    /// Parses `NAME: OPTION=VALUE, ...`, `NAME: OPTION=LOW..MIDDLE..HIGH` or a line of an SPSA tuner.
    fn parse(line: &str) -> std::result::Result<Factor, String> {
        let Some((name, settings)) = line.split_once(':') else { return Factor::of_spsa(line) };
        let (name, settings) = (name.trim().to_string(), settings.split(',').map(Setting::parse));
        let factor = Factor { name, settings: settings.collect::<std::result::Result<_, _>>()? };
        let Factor { name, settings } = &factor;
        if name.is_empty() || name.contains('*') {
            return Err(format!("`{name}` is no name of a factor"));
        }
        if settings.iter().any(|setting| setting.values.len() == 3) && settings.len() > 1 {
            return Err(format!("{name}: a range sets one option, not {}", settings.len()));
        }
        match factor.range() {
            None if factor.is_range() => Err(format!("{name}: a range has numbers, such as 60..74..90")),
            Some(values @ [low, middle, high]) if !ascends(values) => {
                Err(format!("{name}: {low}..{middle}..{high} does not ascend"))
            }
            _ => Ok(factor),
        }
    }

    /// The range of [`STEPS`] perturbations around the value of a line for SPSA, within its bounds.
    fn of_spsa(line: &str) -> std::result::Result<Factor, String> {
        let param: Param = line.parse().map_err(|error| {
            format!("write NAME: OPTION=VALUE, or NAME: OPTION=LOW..MIDDLE..HIGH, or a line for SPSA, which {error}")
        })?;
        let Param { name, start, min, max, c_end, .. } = &param;
        let ends = [(start - STEPS * c_end).max(*min), (start + STEPS * c_end).min(*max)];
        let values = [ends[0], *start, ends[1]].map(|value| param.text(value)).to_vec();
        let factor = Factor { name: name.clone(), settings: vec![Setting { option: name.clone(), values }] };
        match factor.range().is_some_and(ascends) {
            true => Ok(factor),
            false => {
                Err(format!("{name}: {start} is an end of its range; write {name}: {name}=LOW..MIDDLE..HIGH"))
            }
        }
    }
}

impl Setting {
    /// Parses `OPTION=VALUE`, `OPTION=FROM>TO` or `OPTION=LOW..MIDDLE..HIGH`.
    fn parse(text: &str) -> std::result::Result<Setting, String> {
        let Some((option, value)) = text.split_once('=') else {
            return Err(format!("`{}` is not OPTION=VALUE", text.trim()));
        };
        let (option, value) = (option.trim(), value.trim());
        let (values, levels): (Vec<&str>, usize) = match value.split_once('>') {
            Some((from, to)) => (vec![from, to], 2),
            None if value.contains("..") => (value.split("..").collect(), 3),
            None => (vec!["", value], 2),
        };
        let values: Vec<String> = values.iter().map(|value| value.trim().to_string()).collect();
        let complete = values.len() == levels && values[1..].iter().all(|value| !value.is_empty());
        if option.is_empty() || !complete {
            return Err(format!(
                "`{}` is not OPTION=VALUE, OPTION=FROM>TO or OPTION=LOW..MIDDLE..HIGH",
                text.trim()
            ));
        }
        Ok(Setting { option: option.to_string(), values })
    }

    /// Writes a value of a range as the option takes it: whole where its ends are.
    pub fn text_of(&self, value: f64) -> String {
        match self.values.iter().any(|text| text.contains('.')) {
            true => format!("{}", (value * 1e6).round() / 1e6),
            false => format!("{}", value.round() as i64),
        }
    }
}

/// The settings, with their values by level.
impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.is_range() { ".." } else { ">" };
        let text = |setting: &Setting| format!("{}={}", setting.option, setting.values.join(between));
        f.write_str(&self.settings.iter().map(text).collect::<Vec<_>>().join(", "))
    }
}

/// Reads a file of factors; empty lines and lines that begin with `#` are skipped, and `A*B` asks for an interaction.
pub fn read(path: &Path) -> Result<Factors> {
    let mut read = Factors::default();
    let mut pairs = Vec::new();
    for (at, line) in lines::read(path)? {
        if let Some(names) = names_of_pair(&line).filter(|_| !line.contains([':', ',', '='])) {
            pairs.push((at, names));
            continue;
        }
        let factor = Factor::parse(&line).and_then(|factor| read.check_new(&factor).map(|()| factor));
        read.factors.push(factor.map_err(|reason| Error::at(path, at, reason))?);
    }
    read.add_interactions(path, pairs)?;
    if read.factors.is_empty() { Err(Error::data(path, "holds no factor")) } else { Ok(read) }
}

/// Names of the factors of `A*B`.
pub(super) fn names_of_pair(line: &str) -> Option<[String; 2]> {
    let (a, b) = line.split_once('*')?;
    Some([a, b].map(|name| name.trim().to_string()))
}

impl Factors {
    /// Switches without options, for simulations.
    pub fn unnamed(count: usize) -> Factors {
        let factor = |number| Factor { name: format!("change {}", number + 1), settings: Vec::new() };
        Factors { factors: (0..count).map(factor).collect(), interactions: Vec::new() }
    }

    /// Options whose own value is not known.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        let settings = self.factors.iter().flat_map(|factor| &factor.settings);
        settings.filter(|setting| setting.values[0].is_empty()).map(|setting| setting.option.as_str())
    }

    /// Sets the own value of an option.
    pub fn complete(&mut self, option: &str, value: &str) {
        let settings = self.factors.iter_mut().flat_map(|factor| &mut factor.settings);
        for setting in settings.filter(|setting| setting.option == option && setting.values[0].is_empty()) {
            setting.values[0] = value.to_string();
        }
    }

    /// Refuses a switch that changes nothing.
    pub fn check(&self) -> Result<()> {
        let unchanged = |factor: &&Factor| {
            !factor.settings.is_empty() && factor.settings.iter().all(|s| s.values[0] == s.values[1])
        };
        match self.factors.iter().find(unchanged) {
            Some(factor) => Err(Error::input(format!("{} changes nothing: {factor}", factor.name))),
            None => Ok(()),
        }
    }

    fn check_new(&self, factor: &Factor) -> std::result::Result<(), String> {
        let name = &factor.name;
        if self.number(name).is_some() {
            return Err(format!("`{name}` comes a second time"));
        }
        let known = self.factors.iter().flat_map(|factor| &factor.settings);
        let mut known: Vec<&str> = known.map(|setting| setting.option.as_str()).collect();
        for Setting { option, .. } in &factor.settings {
            if known.iter().any(|other| other.eq_ignore_ascii_case(option)) {
                return Err(format!("{name}: another factor sets {option}, too, or this one twice"));
            }
            known.push(option);
        }
        Ok(())
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.factors.iter().position(|factor| factor.name == name)
    }

    /// Adds the interactions of these names, each with its place in the file.
    pub(super) fn add_interactions(&mut self, path: &Path, pairs: Vec<(String, [String; 2])>) -> Result<()> {
        for (at, names) in pairs {
            let pair = self.interaction(&names).map_err(|reason| Error::at(path, at, reason))?;
            self.interactions.push(pair);
        }
        Ok(())
    }

    fn interaction(&self, names: &[String; 2]) -> std::result::Result<[usize; 2], String> {
        let [a, b] = names.each_ref().map(|name| {
            let number = self.number(name).ok_or_else(|| format!("`{name}` is no factor"))?;
            match self.factors[number].is_range() {
                true => Err(format!("{name} is a range: interactions are between switches")),
                false => Ok(number),
            }
        });
        let [a, b] = [a?, b?];
        let pair = [a.min(b), a.max(b)];
        if a == b || self.interactions.contains(&pair) {
            return Err(format!("`{}*{}` comes a second time, or is one factor", names[0], names[1]));
        }
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Factors> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("factors.txt");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn switches_ranges_lines_of_spsa_and_interactions_are_read() {
        let text = "# a comment\nnull: null_depth=1000\nboth: A=1>0, Skill Level=20>10\nnull*both\n\
                    margin: rfp=60..74..90\nlmr, float, 0.75, 0.1, 0.9, 0.05, 0.002\n";
        let Factors { factors, interactions } = of(text).unwrap();
        let texts: Vec<String> = factors.iter().map(|factor| format!("{}: {factor}", factor.name)).collect();
        let expected = [
            "null: null_depth=>1000",
            "both: A=1>0, Skill Level=20>10",
            "margin: rfp=60..74..90",
            "lmr: lmr=0.55..0.75..0.9",
        ];
        assert_eq!(texts, expected);
        assert_eq!(interactions, [[0, 1]]);
        assert_eq!(factors[2].range(), Some([60.0, 74.0, 90.0]));
        let options: Vec<_> = factors[1].options(1).collect();
        assert_eq!(options, [("A".into(), "0".into()), ("Skill Level".into(), "10".into())]);
    }

    #[test]
    fn wrong_lines_are_explained_with_their_place() {
        for (text, says) in [
            ("x", "line 1: write NAME: OPTION=VALUE"),
            ("a: b", "`b` is not OPTION=VALUE"),
            ("a: b=", "is not OPTION=VALUE, OPTION=FROM>TO"),
            ("a: b=1..2", "`b=1..2` is not OPTION=VALUE"),
            ("a: b=3..2..1", "does not ascend"),
            ("a: b=x..y..z", "a range has numbers"),
            ("a: b=1..2..3, c=1", "a range sets one option, not 2"),
            ("a: b=1\na: c=1", "line 2: `a` comes a second time"),
            ("a: b=1\nc: B=2", "another factor sets B"),
            ("a: b=1\na*c", "`c` is no factor"),
            ("a: b=1\na*a", "is one factor"),
            ("a: b=1\nc: d=1..2..3\na*c", "c is a range"),
            ("a, int, 0, 0, 9, 1, 0.002", "is an end of its range"),
            ("# nothing", "holds no factor"),
        ] {
            let error = of(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
