//! Tuned values as TOML, JSON and CSV, by templates, and as files; `declarations` has C, C++ and Rust.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::model::Model;
use super::shape::{Shape, TermKind};
use super::support::Support;
use super::term::Term;
use super::terms::Terms;
use patzer_io::error::{Error, Result};

patzer_io::named! {
    /// Format of tuned values.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        C: "c", "C arrays, in a .h file";
        Cpp: "cpp", "C++ arrays, in a .hpp file";
        Rust: "rust", "Rust constants, in a .rs file";
        Toml: "toml", "The terms file again, with the new values";
        Json: "json", "One JSON object";
        Csv: "csv", "A row an entry, with exact values";
    }
}

impl Format {
    pub fn ending(self) -> &'static str {
        match self {
            Format::C => "h",
            Format::Cpp => "hpp",
            Format::Rust => "rs",
            Format::Toml => "toml",
            Format::Json => "json",
            Format::Csv => "csv",
        }
    }

    pub fn of_ending(ending: &str) -> Option<Format> {
        match ending {
            "h" | "c" => Some(Format::C),
            "hpp" | "cpp" | "cc" | "hh" => Some(Format::Cpp),
            "rs" => Some(Format::Rust),
            "toml" => Some(Format::Toml),
            "json" => Some(Format::Json),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }

    const ENDINGS: &str = ".h .c .hpp .cpp .cc .hh .rs .toml .json .csv";
}

/// Form of an output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Format(Format),
    /// The template of the terms.
    Template,
}

impl Terms {
    /// The form of an output by its ending: without one the terms file again, by a template any but a format of data.
    pub fn form(&self, output: &Path) -> Result<Form> {
        let ending = extension(output);
        let format = if ending.is_empty() { Some(Format::Toml) } else { Format::of_ending(ending) };
        match format {
            Some(format @ (Format::Toml | Format::Json | Format::Csv)) => Ok(Form::Format(format)),
            _ if self.has_templates(output)? => Ok(Form::Template),
            Some(format) => Ok(Form::Format(format)),
            None => {
                let known = Format::ENDINGS;
                let reason =
                    format!("its ending names no format; known are {known}, or give the terms a `template`");
                Err(Error::data(output, reason))
            }
        }
    }

    /// Tests whether templates write all terms; none or all of them have one.
    fn has_templates(&self, output: &Path) -> Result<bool> {
        let layout = |term: &Term| term.output.over(&self.output);
        let written = |term: &&Term| !term.symbols(&layout(term)).is_empty();
        let (with, without): (Vec<&Term>, Vec<&Term>) =
            self.terms.iter().filter(written).partition(|term| layout(term).template.is_some());
        match (&with[..], &without[..]) {
            ([], _) => Ok(self.output.template.is_some()),
            (_, []) => Ok(true),
            ([one, ..], [other, ..]) => {
                let reason = format!("`{}` has a `template`, and `{}` has none", one.name, other.name);
                Err(Error::data(output, format!("{reason}; [output] gives one to all")))
            }
        }
    }

    /// Checks before a fit that `output` and the formats `beside` it can be written.
    pub fn check_written(&self, output: &Path, beside: &[Format]) -> Result<()> {
        let form = self.form(output)?;
        let own = if let Form::Format(format) = form { Some(format) } else { None };
        own.iter().chain(beside).try_for_each(|format| match format {
            Format::C | Format::Cpp | Format::Rust => self.check_declared(*format),
            Format::Json => self.check_groups(),
            Format::Toml | Format::Csv => Ok(()),
        })
    }

    /// Refuses a group called as a term outside all groups: one object of JSON would be both.
    fn check_groups(&self) -> Result<()> {
        let bare = |name: &str| self.terms.iter().any(|term| term.group.is_empty() && term.name == name);
        match self.terms.iter().find(|term| bare(&term.group)) {
            Some(term) => Err(Error::input(format!("`{}` is both a term and a group", term.group))),
            None => Ok(()),
        }
    }
}

fn extension(path: &Path) -> &str {
    path.extension().map_or("", |ending| ending.to_str().unwrap_or("?"))
}

pub struct Tuned<'a> {
    pub terms: &'a Terms,
    pub model: &'a Model,
    /// Values by slot, in centipawns.
    pub values: &'a [f64],
    pub k: f64,
    /// Support by entry; empty if unknown.
    pub support: &'a [Support],
}

impl Tuned<'_> {
    pub fn write(&self, format: Format) -> Result<String> {
        match format {
            Format::C => Ok(self.c()),
            Format::Cpp => Ok(self.cpp()),
            Format::Rust => Ok(self.rust()),
            Format::Toml => self.terms.with_values(self.model, self.values, self.k).to_toml(),
            Format::Json => self.json(),
            Format::Csv => Ok(self.csv()),
        }
    }

    /// Writes `output` in its [form](Terms::form), and the formats `beside` it.
    pub fn save(&self, output: &Path, beside: &[Format]) -> Result<()> {
        let text = match self.terms.form(output)? {
            Form::Template => self.templated(if extension(output) == "py" { "#" } else { "//" }),
            Form::Format(format) => self.write(format)?,
        };
        patzer_io::write(output, text.as_bytes())?;
        self.save_beside(output, beside)
    }

    /// All terms by their templates.
    pub fn templated(&self, comment: &str) -> String {
        let mut text = self.heading(comment);
        for (term, pairs) in self.tables() {
            let layout = term.output.over(&self.terms.output);
            if let Some(template) = layout.template.as_ref().filter(|_| !term.symbols(&layout).is_empty()) {
                text += &self.about(comment, term);
                text += &format!("\n{}", term.declarations(&layout, template, &pairs));
            }
        }
        text
    }

    pub fn save_beside(&self, output: &Path, formats: &[Format]) -> Result<()> {
        let files = crate::beside(output, formats.iter().map(|format| format.ending()))?;
        files
            .iter()
            .zip(formats)
            .try_for_each(|(file, format)| patzer_io::write(file, self.write(*format)?.as_bytes()))
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = (&Term, Vec<[i64; 2]>)> {
        let pairs = self.model.pairs(self.values);
        self.terms.tables().map(move |(term, range)| {
            (term, pairs[range].iter().map(|pair| pair.map(|value| value.round() as i64)).collect())
        })
    }

    pub(super) fn heading(&self, comment: &str) -> String {
        format!(
            "{comment} Tuned by patzer {}: whole centipawns, midgame before endgame, K = {:?}.\n",
            env!("CARGO_PKG_VERSION"),
            self.k
        )
    }

    /// Description of a term, and the least and largest support of its entries.
    pub(super) fn about(&self, comment: &str, term: &Term) -> String {
        let about = about(comment, term);
        let range = self.terms.tables().find(|(other, _)| std::ptr::eq(*other, term)).map(|(_, range)| range);
        let Some(support) = range.and_then(|range| self.support.get(range)) else { return about };
        let extremes = |of: fn(&Support) -> u64| {
            let [least, most] =
                [support.iter().map(of).min(), support.iter().map(of).max()].map(Option::unwrap_or_default);
            if least == most { least.to_string() } else { format!("{least} to {most}") }
        };
        let (positions, games) = (extremes(|s| s.positions), extremes(|s| s.games));
        format!("{about}\n{comment} Seen in {positions} positions of {games} games.")
    }

    fn json(&self) -> Result<String> {
        self.terms.check_groups()?;
        let pairs = self.model.pairs(self.values);
        let terms = self.tree(|term, entry| {
            let pair = pairs[entry].map(|value| value.round() as i64);
            if term.kind == TermKind::Pair { json!(pair) } else { json!(term.kind.single(&pair)) }
        })?;
        let mut whole = json!({ "k": self.k, "terms": terms });
        if !self.support.is_empty() {
            whole["support"] = Value::Object(self.tree(|_, entry| json!(self.support[entry]))?);
        }
        Ok(format!("{whole:#}\n"))
    }

    /// Values of all entries, in the groups and layouts of their terms.
    fn tree(&self, value: impl Fn(&Term, usize) -> Value) -> Result<Map<String, Value>> {
        let mut root = Map::new();
        for (term, range) in self.terms.tables() {
            let all: Vec<Value> = range.map(|entry| value(term, entry)).collect();
            let inner = term.shape.dims().into_iter().skip(1);
            let rows = inner
                .rev()
                .fold(all, |all, length| all.chunks(length).map(|row| Value::Array(row.to_vec())).collect());
            let value = match term.shape {
                Shape::List(1) => rows.into_iter().next().unwrap_or(Value::Null),
                _ => Value::Array(rows),
            };
            let place = if term.group.is_empty() {
                &mut root
            } else {
                match root.entry(term.group.clone()).or_insert_with(|| Value::Object(Map::new())) {
                    Value::Object(map) => map,
                    _ => return Err(Error::internal("a group of JSON is a term")),
                }
            };
            place.insert(term.name.clone(), value);
        }
        Ok(root)
    }

    fn csv(&self) -> String {
        let mut text = String::from(
            "index,group,term,entry,midgame,endgame,exact_midgame,exact_endgame,positions,games\n",
        );
        let pairs = self.model.pairs(self.values);
        for (term, range) in self.terms.tables() {
            for (entry, index) in range.enumerate() {
                let [mg, eg] = pairs[index];
                let (group, name) = (&term.group, &term.name);
                let support = self.support.get(index);
                let [positions, games] = [support.map(|s| s.positions), support.map(|s| s.games)]
                    .map(|count| count.map_or(String::new(), |count| count.to_string()));
                let (mg_rounded, eg_rounded) = (mg.round(), eg.round());
                let _ = writeln!(
                    text,
                    "{index},{group},{name},{entry},{mg_rounded},{eg_rounded},{mg},{eg},{positions},{games}"
                );
            }
        }
        text
    }
}

fn about(comment: &str, term: &Term) -> String {
    match (term.about.as_str(), comment) {
        ("", "///") => format!("\n/// {}.", term.name),
        ("", _) => String::new(),
        (about, _) => format!("\n{comment} {}", about.replace('\n', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_names_the_form_and_a_wrong_one_is_refused() {
        let terms = |head: &str| {
            let text = format!("format = 1\n{head}[[term]]\nname = \"pawn\"\n");
            Terms::parse(&text, Path::new("t.toml")).unwrap()
        };
        let form = |head: &str, name: &str| terms(head).form(Path::new(name)).map_err(|e| e.to_string());
        for name in ["w.toml", "w", "-", "/dev/stdout"] {
            assert_eq!(form("", name), Ok(Form::Format(Format::Toml)), "{name}");
        }
        assert_eq!(form("", "w.hh"), Ok(Form::Format(Format::Cpp)));
        let known = format!("known are {}, or give the terms a `template`", Format::ENDINGS);
        assert_eq!(form("", "w.py"), Err(format!("w.py: its ending names no format; {known}")));
        let template = "[output]\ntemplate = \"int {name} = {values};\"\n";
        for name in ["w.py", "w.java", "w.h"] {
            assert_eq!(form(template, name), Ok(Form::Template), "{name}");
        }
        assert_eq!(form(template, "w.csv"), Ok(Form::Format(Format::Csv)));
        let own = "[[term]]\nname = \"rook\"\noutput = { template = \"{name} {values}\" }\n";
        assert!(form(own, "w.h").unwrap_err().contains("`rook` has a `template`, and `pawn` has none"));
        assert_eq!(form(own, "w.toml"), Ok(Form::Format(Format::Toml)));
        for ending in Format::ENDINGS.split(' ') {
            assert!(Format::of_ending(&ending[1..]).is_some(), "{ending}");
        }
    }

    #[test]
    fn json_never_has_a_term_in_the_place_of_a_group() {
        let [bare, grouped] = ["name = \"king\"\n", "name = \"e1\"\ngroup = \"king\"\n"];
        for [one, other] in [[bare, grouped], [grouped, bare]] {
            let text = format!("format = 1\n[[term]]\n{one}[[term]]\n{other}");
            let terms = Terms::parse(&text, Path::new("t.toml")).unwrap();
            let check = |beside| terms.check_written(Path::new("w.toml"), beside).map_err(|e| e.to_string());
            assert_eq!(check(&[Format::Json]), Err("`king` is both a term and a group".into()));
            assert_eq!(check(&[Format::Csv, Format::C]), Ok(()));
        }
    }
}
