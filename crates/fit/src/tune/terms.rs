//! The terms file: names, start values and layout of another engine's terms, in TOML. Features are numbered
//! in file order, as many per term as its shape has entries.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::{Layout, Symbol};
use super::model::{Feature, Model};
use super::outside;
use super::part_declaration::PartDeclaration;
use super::phase::Phase;
use super::shape::{NumberType, TermKind};
use super::term::{Term, is_default};
use patzer_io as io;
use patzer_io::error::{Error, Hint, Result};

const VERSION: u32 = 1;

/// Traces number features with 16 bits.
const MOST: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    pub format: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// Phase of a full midgame in the traces; phases are divided by it [default: 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_phase: Option<f64>,
    /// Instead of `full_phase`: weights of pieces, their sum in a full midgame, and limits of the share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Type of all values, which bounds them.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub number: Option<NumberType>,
    /// Divisors of the squared midgame danger and of the endgame danger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety_divisors: Option<[f64; 2]>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: Layout,
    /// Non-linear parts that terms belong to.
    #[serde(rename = "part", default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartDeclaration>,
    #[serde(rename = "term")]
    pub terms: Vec<Term>,
}

impl Terms {
    pub fn load(path: &Path) -> Result<Terms> {
        Terms::parse(&io::read_text(path, io::Limit::WEIGHTS)?, path)
    }

    pub fn parse(text: &str, path: &Path) -> Result<Terms> {
        let terms: Terms = toml::from_str(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start).min(text.len());
            let line = 1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            Error::at(path, format!("line {line}"), e.message().trim().replace('\n', "; "))
        })?;
        terms.check().map_err(|e| Error::data(path, e.to_string()))?;
        Ok(terms)
    }

    /// Terms of the options of an engine, each with its name, start value and bounds; their values are written as lines of
    /// `setoption`. Options that are named as entries of one array, `Psqt[3][12]`, share a prior.
    pub fn of_options<'a>(options: impl Iterator<Item = (&'a str, f64, [f64; 2])>) -> Terms {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' };
        let term = |(option, start, bounds): (&str, f64, [f64; 2])| Term {
            name: option.replace('[', ".").replace(']', "").chars().map(plain).collect(),
            kind: TermKind::Single,
            initial: toml::Value::Float(start),
            bounds: Some(bounds),
            output: Layout { symbol: Some(Symbol::Whole(option.into())), ..Layout::default() },
            ..Term::default()
        };
        let template = Some("setoption name {name} value {values}".to_string());
        Terms {
            format: VERSION,
            k: None,
            full_phase: None,
            phase: None,
            number: None,
            safety_divisors: None,
            output: Layout { template, ..Layout::default() },
            parts: Vec::new(),
            terms: options.map(term).collect(),
        }
    }

    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::internal(e.to_string()))
    }

    fn check(&self) -> Result<()> {
        let fault = |reason: String| Err(Error::input(reason));
        if self.format != VERSION {
            return fault(format!("`format` has to be {VERSION}"));
        }
        match self.phase {
            Some(_) if self.full_phase.is_some() => {
                return fault("`full_phase` and `phase` exclude each other".into());
            }
            Some(phase) => phase.check()?,
            None => {}
        }
        if self.full_phase.is_some_and(|full| !(full.is_finite() && full > 0.0)) {
            return fault("`full_phase` has to be above 0".into());
        }
        if self.safety_divisors.is_some_and(|d| d.iter().any(|d| !(d.is_finite() && *d > 0.0))) {
            return fault("`safety_divisors` have to be above 0".into());
        }
        if let Some(reason) = self.output.fault() {
            return fault(format!("`output`: {reason}"));
        }
        self.check_parts()?;
        let mut count = 0;
        for (i, term) in self.terms.iter().enumerate() {
            let name = &term.name;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            if name.is_empty() || !name.chars().all(plain) || !term.group.chars().all(plain) {
                return fault(format!("`{name}`: names are of letters, digits, `_` and `.`"));
            }
            if self.terms[..i].iter().any(|other| other.name == *name && other.group == term.group) {
                return fault(format!("two terms are called `{name}`"));
            }
            let [rows, columns] = term.shape.grid();
            if rows.saturating_mul(columns) > MOST || term.shape.is_empty() {
                return fault(format!("`{name}` needs a shape of 1 to {MOST} entries"));
            }
            if let Some(reason) = term.output.fault() {
                return fault(format!("`{name}`: {reason}"));
            }
            count += term.shape.len();
            term.values()?;
            self.part_of(&term.part).map_err(|e| Error::input(format!("`{name}`: {e}")))?;
            term.within(self.number)?;
            if term.bounds.is_some_and(|[low, high]| low.is_nan() || high.is_nan() || low > high) {
                return fault(format!("`{name}`: the lower bound is above the upper one"));
            }
            if !term.same_as.is_empty() {
                term.check_twin(self.terms[..i].iter().find(|other| other.name == term.same_as))?;
            }
        }
        match count {
            0 => fault("names no term".into()),
            1..=MOST => Ok(()),
            _ => fault(format!("{count} entries are more than the {MOST} that traces can number")),
        }
    }

    pub fn phase_formula(&self) -> Phase {
        self.phase.unwrap_or(Phase::of(self.full_phase.unwrap_or(1.0)))
    }

    pub fn tables(&self) -> impl Iterator<Item = (&Term, Range<usize>)> {
        let mut at = 0;
        self.terms.iter().map(move |term| {
            at += term.shape.len();
            (term, at - term.shape.len()..at)
        })
    }

    /// The model of these terms; terms and groups named in `fixed` keep their values.
    pub fn model(&self, fixed: &[String]) -> Result<Model> {
        let known = |name: &String| self.terms.iter().any(|term| term.name == *name || term.group == *name);
        if let Some(name) = fixed.iter().find(|name| !known(name)) {
            let names: Vec<&str> = self.terms.iter().map(|term| term.name.as_str()).collect();
            return Err(Error::usage(format!("`{name}` is not a term; there are {}", names.join(", "))));
        }
        let mut model = Model::default();
        for (term, range) in self.tables() {
            let (part, _) = self.part_of(&term.part)?;
            let is_fixed = |term: &Term| {
                term.fixed || fixed.iter().any(|name| *name == term.name || *name == term.group)
            };
            if let Some((shared, twin)) = self.tables().find(|(other, _)| other.name == term.same_as) {
                if is_fixed(term) && !is_fixed(shared) {
                    let (name, of) = (&term.name, &shared.name);
                    let error = Error::usage(format!("`{name}` has the values of `{of}`"));
                    return Err(error.hint(Hint::Fix(of.clone())));
                }
                let slots: Vec<[usize; 2]> = twin.map(|i| model.features[i].slots).collect();
                model.features.extend(slots.into_iter().map(|slots| Feature { part, slots }));
                continue;
            }
            term.add_to(&mut model, range.start, (part, is_fixed(term)), self.number)?;
        }
        self.add_form(&mut model)?;
        let outside = self.terms.iter().flat_map(|term| std::iter::repeat_n(!term.scaled, term.shape.len()));
        outside::add_halves(&mut model, outside.collect())?;
        Ok(model)
    }

    /// A copy with other values, rounded to whole centipawns but for fixed ones.
    pub fn with_values(&self, model: &Model, values: &[f64], k: f64) -> Terms {
        let mut terms = self.clone();
        terms.k = Some(k);
        let ranges: Vec<Range<usize>> = self.tables().map(|(_, range)| range).collect();
        for (term, range) in terms.terms.iter_mut().zip(ranges) {
            let value =
                |slot: usize| if model.slots[slot].fixed { values[slot] } else { values[slot].round() };
            let pairs: Vec<[f64; 2]> = range.map(|i| model.features[i].slots.map(value)).collect();
            term.initial = term.initial_of(&pairs);
        }
        terms
    }
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
        let space = crate::tune::model::Space::new(&model);
        // Material, half a board in pairs, tempo.
        assert_eq!(space.parameters(), 10 + 64 + 1);
        assert_eq!(Space::new(&terms.model(&["psqt".into()]).unwrap()).parameters(), 11);
        assert!(terms.model(&["magic".into()]).unwrap_err().to_string().contains("material, knight"));
    }

    use crate::tune::model::{Slot, Space};

    #[test]
    fn tuned_values_can_be_read_again() {
        let terms = Terms::parse(FILE, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let value = |(i, slot): (usize, &Slot)| if slot.fixed { slot.start } else { (i % 40) as f64 + 0.4 };
        let values: Vec<f64> = model.slots.iter().enumerate().map(value).collect();
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
    fn options_of_one_array_share_the_name_of_their_prior() {
        let names = ["Psqt[3][12]", "Psqt[3][13]", "Knight value", "Rook2"];
        let terms = Terms::of_options(names.into_iter().map(|name| (name, 1.0, [-9.0, 9.0])));
        let found: Vec<&str> = terms.terms.iter().map(|term| term.name.as_str()).collect();
        assert_eq!(found, ["Psqt.3.12", "Psqt.3.13", "Knight_value", "Rook2"]);
        let priors: Vec<String> = found.into_iter().map(crate::tune::standard_errors::table).collect();
        assert_eq!(priors, ["Psqt", "Psqt", "Knight_value", "Rook2"]);
        Terms::parse(&terms.to_toml().unwrap(), Path::new("x.toml")).unwrap();
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
            ("shape = 5", "shape = \"bord\"", "line 7: `shape` is a length, [rows, columns], "),
            ("full_phase = 24", "full_phase = 0", "above 0"),
            ("shape = 5", "shape = 0", "1 to 65536"),
            ("initial = 20", "initial = \"x\"", "not a number"),
            ("full_phase = 24", "full_phase = 24\nphase = { total = 24 }", "exclude each other"),
            ("full_phase = 24", "phase = { q = 4, total = 0 }", "`total` has to be above 0"),
            ("full_phase = 24", "type = \"i8\"", "`material`: `initial` has 337, which does not fit `i8`"),
            ("bounds = [0, 50]", "type = \"i8\"\nbounds = [128, 500]", "`tempo`: its bounds do not fit `i8`"),
        ] {
            let text = FILE.replacen(from, to, 1);
            assert!(fault(&text).contains(reason), "{to}: {}", fault(&text));
        }
    }

    #[test]
    fn start_values_that_other_keys_contradict_are_refused() {
        let start = |keys: &str| {
            let text = format!("format = 1\n[[term]]\nname = \"a\"\n{keys}");
            Terms::parse(&text, Path::new("x.toml"))?.model(&[]).map(drop)
        };
        let twin =
            |keys: &str| start(&format!("initial = 7\n[[term]]\nname = \"b\"\nsame_as = \"a\"\n{keys}"));
        for (found, reason) in [
            (
                start("kind = \"single\"\nshape = 4\ninitial = [10, 20, 30, 40]\nmirror = true"),
                "`a`: `initial` differs between [0] and [3], which `mirror` makes equal",
            ),
            (start("initial = 100\nbounds = [200, 300]"), "has 100, outside its bounds from 200 to 300"),
            (twin("initial = 8"), "`b`: `initial`: not with `same_as`; `a` says it for both"),
            (twin("bounds = [0, 9]"), "`b`: `bounds`: not with `same_as`"),
            (twin("fixed = true"), "`b`: `fixed`: not with `same_as`"),
        ] {
            let found = found.unwrap_err().to_string();
            assert!(found.contains(reason), "{found}");
        }
        for accepted in [
            start("kind = \"endgame\"\ninitial = 250\nbounds = [200, 300]"),
            start("shape = 3\ninitial = [[1, 2], [3, 4], [1, 2]]\nmirror = true"),
            start("initial = 11\nbounds = [0, 10.7]"),
            twin("initial = 7"),
        ] {
            accepted.unwrap();
        }
        let text = "format = 1\n[[term]]\nname = \"a\"\n[[term]]\nname = \"b\"\nsame_as = \"a\"\n";
        let terms = Terms::parse(text, Path::new("x.toml")).unwrap();
        let fixed =
            |names: &[&str]| terms.model(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(fixed(&["b"]).unwrap_err().to_string(), "`b` has the values of `a`");
        assert!(fixed(&["a"]).is_ok() && fixed(&["b", "a"]).is_ok());
    }

    #[test]
    fn fixed_values_keep_their_fractions() {
        let text = "format = 1\n[[term]]\nname = \"a\"\nfixed = true\ninitial = [0.5, 33.4]\n[[term]]\nname = \"b\"\n";
        let terms = Terms::parse(text, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let after = terms.with_values(&model, &[0.5, 33.4, 1.2, 2.6], 1.0);
        let pairs = |term: &Term| term.values().unwrap();
        assert_eq!(pairs(&after.terms[0]), [[0.5, 33.4]]);
        assert_eq!(pairs(&after.terms[1]), [[1.0, 3.0]]);
    }
}
