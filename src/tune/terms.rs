//! The file that says what the numbers in traces stand for: names, initial values and layout of another engine's
//! terms, in TOML.
//!
//! In: TOML, or the layout of the bundled evaluation. Out: tables of terms, and the model that is tuned. Features are
//! numbered in the order of the file: the first term has the numbers from 0 on, and so many as its shape has entries.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::{Feature, Model, Part, Slot};
use super::plain;
use crate::error::{Error, Result};
use crate::io;

/// The version of the format that this patzer reads and writes.
const VERSION: u32 = 1;

/// Most features: traces number them with 16 bits.
const MOST: usize = 1 << 16;

/// How an entry's midgame and endgame value belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Two values.
    #[default]
    Pair,
    /// One value that counts the same in both.
    Single,
    /// One value that counts in the midgame alone.
    Midgame,
    /// One value that counts in the endgame alone.
    Endgame,
}

/// How the entries of a term are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shape {
    /// A list; of one entry, if it stands alone.
    List(usize),
    /// Rows and columns.
    Grid([usize; 2]),
    /// One entry a square.
    Board(Board),
}

/// Which square of a board is number 0; rows go from there file by file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Board {
    /// a1, b1, … h8.
    #[serde(rename = "board", alias = "board-a1")]
    A1,
    /// a8, b8, … h1.
    #[serde(rename = "board-a8")]
    A8,
}

impl Shape {
    /// Number of entries.
    pub fn len(self) -> usize {
        let [rows, columns] = self.grid();
        rows * columns
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Rows and columns; a list is one row.
    pub fn grid(self) -> [usize; 2] {
        match self {
            Shape::List(length) => [1, length],
            Shape::Grid(grid) => grid,
            Shape::Board(_) => [8, 8],
        }
    }

    /// What is behind the term's name for an entry: `[e4]`, `[2][3]`, `[5]`, or nothing.
    fn suffix(self, entry: usize) -> String {
        let [_, columns] = self.grid();
        match self {
            Shape::List(1) => String::new(),
            Shape::List(_) => format!("[{entry}]"),
            Shape::Grid(_) => format!("[{}][{}]", entry / columns, entry % columns),
            Shape::Board(board) => {
                let square = if board == Board::A8 { entry ^ 56 } else { entry };
                format!("[{}{}]", char::from(b'a' + (square % 8) as u8), square / 8 + 1)
            }
        }
    }
}

/// A term: a table of entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Its name, of letters, digits, `_` and `.`.
    pub name: String,
    /// Terms of one group stand together in the output: a namespace, a module, an object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// What it is about, for a comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// How its entries are laid out.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub shape: Shape,
    /// What an entry is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: Kind,
    /// The part of the evaluation that it belongs to.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: Part,
    /// The values to start from, row by row: of every entry, of one for all, or one number for all.
    #[serde(default = "zero")]
    pub initial: toml::Value,
    /// Whether it keeps them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fixed: bool,
    /// The least and the largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// Whether each row is the same from both ends: files a to d as h to e.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mirror: bool,
    /// The name of an earlier term of the same shape and kind whose values it shares.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub same_as: String,
}

fn one() -> Shape {
    Shape::List(1)
}

fn is_one(shape: &Shape) -> bool {
    *shape == one()
}

fn zero() -> toml::Value {
    toml::Value::Integer(0)
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How values are written as source code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Style {
    /// A pair in C and C++, with `{mg}` and `{eg}` for its values, such as `S({mg}, {eg})`.
    pub pair: String,
    /// The type of a pair in C and C++; a pair of numbers if it is empty.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Default for Style {
    fn default() -> Style {
        Style { pair: "{{mg}, {eg}}".to_string(), kind: String::new() }
    }
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The version of the format: 1.
    pub format: u32,
    /// K that the values were tuned for, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// What traces write as the phase of a full midgame: phases are divided by it.
    #[serde(default = "full")]
    pub full_phase: f64,
    /// What the square of the midgame danger and the endgame danger are divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety_divisors: Option<[f64; 2]>,
    /// How source code is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Style,
    /// All terms in the order of their numbers.
    #[serde(rename = "term")]
    pub terms: Vec<Term>,
}

fn full() -> f64 {
    1.0
}

impl Terms {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not what it has to be.
    pub fn load(path: &Path) -> Result<Terms> {
        Terms::parse(&io::read_text(path)?, path)
    }

    /// Reads the content of a file; `path` is for messages.
    ///
    /// # Errors
    /// If it is not what it has to be, with the line where that is known.
    pub fn parse(text: &str, path: &Path) -> Result<Terms> {
        let terms: Terms = toml::from_str(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start).min(text.len());
            let line = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            Error::at(path, format!("line {line}"), e.message().trim().replace('\n', "; "))
        })?;
        terms.check().map_err(|reason| Error::data(path, reason))?;
        Ok(terms)
    }

    /// The file's text.
    ///
    /// # Errors
    /// If it cannot be written as TOML, which is our fault.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::internal(e.to_string()))
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.format != VERSION {
            return Err(format!("`format` has to be {VERSION}"));
        }
        if !(self.full_phase.is_finite() && self.full_phase > 0.0) {
            return Err("`full_phase` has to be above 0".to_string());
        }
        if self.safety_divisors.is_some_and(|d| d.iter().any(|d| !(d.is_finite() && *d > 0.0))) {
            return Err("`safety_divisors` have to be above 0".to_string());
        }
        let mut count = 0;
        for (i, term) in self.terms.iter().enumerate() {
            let name = &term.name;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            if name.is_empty() || !name.chars().all(plain) || !term.group.chars().all(plain) {
                return Err(format!("`{name}`: names are of letters, digits, `_` and `.`"));
            }
            if self.terms[..i].iter().any(|other| other.name == *name && other.group == term.group) {
                return Err(format!("two terms are called `{name}`"));
            }
            let [rows, columns] = term.shape.grid();
            if rows.saturating_mul(columns) > MOST || term.shape.is_empty() {
                return Err(format!("`{name}` needs a shape of 1 to {MOST} entries"));
            }
            count += term.shape.len();
            term.values().map_err(|reason| format!("`{name}`: {reason}"))?;
            if term.bounds.is_some_and(|[low, high]| low.is_nan() || high.is_nan() || low > high) {
                return Err(format!("`{name}`: the lower bound is above the upper one"));
            }
            if !term.same_as.is_empty() {
                let twin = self.terms[..i].iter().find(|other| other.name == term.same_as);
                let fits = |twin: &Term| (twin.shape.len(), twin.kind) == (term.shape.len(), term.kind);
                if !twin.is_some_and(fits) {
                    let twin = &term.same_as;
                    return Err(format!("`{name}`: no earlier term `{twin}` of the same shape and kind"));
                }
            }
        }
        if count > MOST {
            return Err(format!("{count} entries are more than the {MOST} that traces can number"));
        }
        if count == 0 {
            return Err("names no term".to_string());
        }
        Ok(())
    }

    /// Each term with its place among the features.
    pub fn tables(&self) -> impl Iterator<Item = (&Term, Range<usize>)> {
        let mut at = 0;
        self.terms.iter().map(move |term| {
            at += term.shape.len();
            (term, at - term.shape.len()..at)
        })
    }

    /// The model of these terms; those named in `fixed`, by name or by group, keep their values.
    ///
    /// # Errors
    /// If a name in `fixed` is not one of a term or a group.
    pub fn model(&self, fixed: &[String]) -> Result<Model> {
        let known = |name: &String| self.terms.iter().any(|term| term.name == *name || term.group == *name);
        if let Some(name) = fixed.iter().find(|name| !known(name)) {
            let names: Vec<&str> = self.terms.iter().map(|term| term.name.as_str()).collect();
            return Err(Error::usage(format!("`{name}` is not a term; there are {}", names.join(", "))));
        }
        let mut model = Model::default();
        if let Some(divisors) = self.safety_divisors {
            model.shape = plain::Shape { safety_divisors: divisors };
        }
        for (term, range) in self.tables() {
            if let Some((_, twin)) = self.tables().find(|(other, _)| other.name == term.same_as) {
                let slots: Vec<[usize; 2]> = twin.map(|i| model.features[i].slots).collect();
                model.features.extend(slots.into_iter().map(|slots| Feature { part: term.part, slots }));
                continue;
            }
            let fixed = term.fixed || fixed.iter().any(|name| *name == term.name || *name == term.group);
            term.add_to(&mut model, range.start, fixed)?;
        }
        Ok(model)
    }

    /// The same terms with other values, rounded to whole centipawns.
    pub fn with_values(&self, model: &Model, values: &[f64], k: f64) -> Terms {
        let mut terms = self.clone();
        terms.k = Some(k);
        let ranges: Vec<Range<usize>> = self.tables().map(|(_, range)| range).collect();
        for (term, range) in terms.terms.iter_mut().zip(ranges) {
            let entry = |i: usize| {
                let [mg, eg] =
                    model.features[i].slots.map(|slot| toml::Value::Integer(values[slot].round() as i64));
                match term.kind {
                    Kind::Pair => toml::Value::Array(vec![mg, eg]),
                    Kind::Single | Kind::Midgame => mg,
                    Kind::Endgame => eg,
                }
            };
            let [_, columns] = term.shape.grid();
            let entries: Vec<toml::Value> = range.map(entry).collect();
            term.initial = match term.shape {
                Shape::List(_) => toml::Value::Array(entries),
                _ => toml::Value::Array(
                    entries.chunks(columns).map(|row| toml::Value::Array(row.to_vec())).collect(),
                ),
            };
        }
        terms
    }
}

impl Term {
    /// The initial values of every entry, midgame and endgame.
    fn values(&self) -> std::result::Result<Vec<[f64; 2]>, String> {
        let mut numbers = Vec::new();
        flatten(&self.initial, &mut numbers)?;
        let (length, width) = (self.shape.len(), if self.kind == Kind::Pair { 2 } else { 1 });
        let all = match numbers.len() {
            1 => vec![numbers[0]; length * width],
            2 if width == 2 => numbers.repeat(length),
            given if given == length * width => numbers,
            given => {
                return Err(format!(
                    "`initial` has {given} numbers; it needs {}, {width} or 1",
                    length * width
                ));
            }
        };
        let pair = |entry: &[f64]| match self.kind {
            Kind::Pair => [entry[0], entry[1]],
            Kind::Single => [entry[0]; 2],
            Kind::Midgame => [entry[0], 0.0],
            Kind::Endgame => [0.0, entry[0]],
        };
        Ok(all.chunks_exact(width).map(pair).collect())
    }

    fn add_to(&self, model: &mut Model, start: usize, fixed: bool) -> Result<()> {
        let values = self.values().map_err(|reason| Error::usage(format!("`{}`: {reason}", self.name)))?;
        let [_, columns] = self.shape.grid();
        let prefix = if self.group.is_empty() { String::new() } else { format!("{}.", self.group) };
        for (entry, [mg, eg]) in values.into_iter().enumerate() {
            let (column, row) = (entry % columns, entry / columns * columns);
            let twin = columns - 1 - column;
            if self.mirror && twin < column {
                model.features.push(model.features[start + row + twin]);
                continue;
            }
            let name = format!("{prefix}{}{}", self.name, self.shape.suffix(entry));
            let bounds = self.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let mut slot = |half: &str, start: f64, fixed: bool| {
                model.slots.push(Slot { name: format!("{name}{half}"), start, fixed, bounds });
                model.slots.len() - 1
            };
            let slots = match self.kind {
                Kind::Pair => [slot(" midgame", mg, fixed), slot(" endgame", eg, fixed)],
                Kind::Single => [slot("", mg, fixed); 2],
                Kind::Midgame => [slot("", mg, fixed), slot(" endgame", 0.0, true)],
                Kind::Endgame => [slot(" midgame", 0.0, true), slot("", eg, fixed)],
            };
            model.features.push(Feature { part: self.part, slots });
        }
        Ok(())
    }
}

/// All numbers of nested lists, in order.
fn flatten(value: &toml::Value, numbers: &mut Vec<f64>) -> std::result::Result<(), String> {
    match value {
        toml::Value::Integer(number) => numbers.push(*number as f64),
        toml::Value::Float(number) if number.is_finite() => numbers.push(*number),
        toml::Value::Array(list) => list.iter().try_for_each(|value| flatten(value, numbers))?,
        other => return Err(format!("`initial` has {other}, which is not a number")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
format = 1
full_phase = 24

[[term]]
name = "material"
shape = 5
initial = [[82, 94], [337, 281], [365, 297], [477, 512], [1025, 936]]

[[term]]
name = "knight"
group = "psqt"
shape = "board-a8"
mirror = true

[[term]]
name = "tempo"
kind = "single"
initial = 20
bounds = [0, 50]

[[term]]
name = "storm"
shape = [2, 3]
kind = "midgame"
initial = [[1, 2, 3], [4, 5, 6]]
fixed = true
"#;

    fn fault(text: &str) -> String {
        Terms::parse(text, Path::new("x.toml")).unwrap_err().to_string()
    }

    #[test]
    fn terms_become_features_in_their_order() {
        let terms = Terms::parse(FILE, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let name =
            |feature: usize, half: usize| model.slots[model.features[feature].slots[half]].name.as_str();
        assert_eq!(model.features.len(), 5 + 64 + 1 + 6);
        assert_eq!((name(0, 0), name(4, 1)), ("material[0] midgame", "material[4] endgame"));
        // Number 0 of a board that begins at a8, and its mirror image h8.
        assert_eq!((name(5, 0), name(12, 0)), ("psqt.knight[a8] midgame", "psqt.knight[a8] midgame"));
        assert_eq!((name(69, 0), name(69, 1)), ("tempo", "tempo"));
        assert_eq!(name(70 + 5, 0), "storm[1][2]");
        let pairs = model.pairs(&model.start());
        assert_eq!((pairs[1], pairs[69], pairs[75]), ([337.0, 281.0], [20.0, 20.0], [6.0, 0.0]));
        let space = super::super::model::Space::new(&model);
        // Material, half a board in pairs, tempo.
        assert_eq!(space.parameters(), 10 + 64 + 1);
        assert_eq!(Space::new(&terms.model(&["psqt".into()]).unwrap()).parameters(), 11);
        assert!(terms.model(&["magic".into()]).unwrap_err().to_string().contains("material, knight"));
    }

    use super::super::model::Space;

    #[test]
    fn tuned_values_can_be_read_again() {
        let terms = Terms::parse(FILE, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let values: Vec<f64> = (0..model.slots.len()).map(|i| i as f64 + 0.4).collect();
        let text = terms.with_values(&model, &values, 1.5).to_toml().unwrap();
        let again = Terms::parse(&text, Path::new("y.toml")).unwrap();
        assert_eq!(again.k, Some(1.5));
        let found = again.model(&[]).unwrap();
        for (feature, (a, b)) in found.pairs(&found.start()).iter().zip(model.pairs(&values)).enumerate() {
            // The half that an untapered value does not have is 0 in the file.
            for half in 0..2 {
                let counts = feature < 70 || half == 0;
                assert!(!counts || a[half] == b[half].floor(), "{feature}: {a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn faults_are_named() {
        assert!(fault("format = 2\nterm = []").contains("`format` has to be 1"));
        assert!(fault("format = 1\nterm = []").contains("names no term"));
        assert!(
            fault("format = 1\n[[term]]\nnam = \"x\"").contains("line 3"),
            "{}",
            fault("format = 1\n[[term]]\nnam = \"x\"")
        );
        for (from, to, reason) in [
            ("[337, 281], ", "", "`material`: `initial` has 8 numbers; it needs 10, 2 or 1"),
            ("name = \"tempo\"", "name = \"material\"", "two terms are called `material`"),
            ("bounds = [0, 50]", "bounds = [1, 0]", "lower bound"),
            ("name = \"storm\"", "name = \"a b\"", "letters"),
            ("fixed = true", "same_as = \"tempo\"", "no earlier term `tempo` of the same shape"),
            ("full_phase = 24", "full_phase = 0", "above 0"),
            ("shape = 5", "shape = 0", "1 to 65536"),
            ("initial = 20", "initial = \"x\"", "not a number"),
        ] {
            let text = FILE.replacen(from, to, 1);
            assert!(fault(&text).contains(reason), "{to}: {}", fault(&text));
        }
    }
}
