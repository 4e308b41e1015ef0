//! The weight file, `.hce.toml`: `[midgame, endgame]` pairs in centipawns by term and part, boards with rank 8 on top.
//!
//! An unknown name is an error with its line. A missing one counts as 0, so that an evaluation with a new term reads
//! older files; the caller warns about it, because a lost weight costs strength.

use std::fmt::Write;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::layout::{COUNT, Part, Shape, Term, parts};
use super::terms::TERMS;
use super::weights::{LARGEST, Weights};
use crate::error::EvalError;

type Result<T> = std::result::Result<T, EvalError>;

const VERSION: i64 = 1;

impl Weights {
    pub fn to_toml(&self) -> String {
        let mut text = String::from(
            "# Weights of patzer's hand-crafted evaluation: [midgame, endgame] in centipawns.\n\
             # k is that of the sigmoid they were tuned for: expected result = 1 / (1 + exp(-k * cp / 400)).\n",
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "version = {VERSION}\nk = {:?}", self.k());
        for term in TERMS {
            let _ = write!(text, "\n# {}\n[{}]\n", term.about, term.name);
            for part in term.parts {
                let pairs = self.part(term.name, part.name).unwrap_or_default();
                write_part(&mut text, part, pairs);
            }
        }
        text
    }

    /// Reads the content of a `.hce.toml` file. Missing terms and parts count as 0 and are in [`Weights::missing`].
    pub fn parse(text: &str) -> Result<Weights> {
        let reader = Reader { text };
        let table = DeTable::parse(text).map_err(|e| {
            let reason = format!("is not a weight file: {}", e.message().trim().replace('\n', "; "));
            reader.fault(e.span().unwrap_or(0..0), reason)
        })?;
        let known = |name: &str| matches!(name, "version" | "k") || Term::named(name).is_some();
        reader.only_known(table.get_ref(), known, "term")?;
        reader.version(table.get_ref())?;
        let k = reader.k(table.get_ref())?;
        let mut pairs = Vec::with_capacity(COUNT);
        let mut missing = Vec::new();
        for term in TERMS {
            let Some(value) = table.get_ref().get(term.name) else {
                pairs.resize(pairs.len() + term.len(), [0, 0]);
                missing.push(term.name.to_string());
                continue;
            };
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(reader.fault(value.span(), format!("`{}` has to be a table", term.name)));
            };
            let known = |name: &str| term.parts.iter().any(|part| part.name == name);
            reader.only_known(inner, known, &format!("part of `{}`", term.name))?;
            for part in term.parts {
                let name = format!("{}.{}", term.name, part.name);
                match inner.get(part.name) {
                    Some(value) => reader.part(value, part, &name, &mut pairs)?,
                    None => {
                        pairs.resize(pairs.len() + part.shape.len(), [0, 0]);
                        missing.push(name);
                    }
                }
            }
        }
        if missing.len() == TERMS.len() {
            let reason = "names no term of the evaluation".to_string();
            return Err(EvalError::Weights { line: None, reason });
        }
        // Every part has added its pairs, and K is checked.
        let mut weights = Weights::from_pairs(k, &pairs).expect("a pair for every entry of the layout");
        weights.missing = missing;
        Ok(weights)
    }
}

fn write_part(text: &mut String, part: &Part, pairs: &[[i32; 2]]) {
    let width = pairs.iter().flatten().map(|value| value.to_string().len()).max().unwrap_or(1);
    let pair = |i: usize| {
        let [mg, eg] = pairs.get(i).copied().unwrap_or_default();
        format!("[{mg:>width$}, {eg:>width$}]")
    };
    let _ = match part.shape {
        Shape::Single => writeln!(text, "{} = {} # {}", part.name, pair(0), part.about),
        Shape::List(length) => {
            let all: Vec<String> = (0..length).map(pair).collect();
            writeln!(text, "# {}\n{} = [{}]", part.about, part.name, all.join(", "))
        }
        Shape::Grid { .. } | Shape::Board => {
            let _ = writeln!(text, "# {}\n{} = [", part.about, part.name);
            for line in part.shape.lines() {
                let row: Vec<String> = line.into_iter().map(pair).collect();
                let _ = writeln!(text, "  {},", row.join(", "));
            }
            writeln!(text, "]")
        }
    };
}

struct Reader<'a> {
    text: &'a str,
}

type Table<'t> = DeTable<'t>;
type Value<'t> = Spanned<DeValue<'t>>;

impl Reader<'_> {
    fn fault(&self, span: Range<usize>, reason: impl Into<String>) -> EvalError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        EvalError::Weights { line: Some(line), reason: reason.into() }
    }

    fn only_known(&self, table: &Table<'_>, known: impl Fn(&str) -> bool, what: &str) -> Result<()> {
        match table.keys().find(|key| !known(key.get_ref())) {
            Some(key) => Err(self.fault(key.span(), format!("`{}` is not a known {what}", key.get_ref()))),
            None => Ok(()),
        }
    }

    fn get<'a, 't>(&self, table: &'a Table<'t>, name: &str) -> Result<&'a Value<'t>> {
        let reason = || EvalError::Weights { line: None, reason: format!("`{name}` is missing") };
        table.get(name).ok_or_else(reason)
    }

    fn version(&self, table: &Table<'_>) -> Result<()> {
        let value = self.get(table, "version")?;
        match value.get_ref().as_integer().map(|n| n.as_str()) {
            Some("1") => Ok(()),
            _ => Err(self.fault(value.span(), format!("`version` has to be {VERSION}"))),
        }
    }

    fn k(&self, table: &Table<'_>) -> Result<f64> {
        let value = self.get(table, "k")?;
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) => integer.as_str().parse().ok(),
            _ => None,
        };
        number
            .filter(|k: &f64| k.is_finite() && *k > 0.0)
            .ok_or_else(|| self.fault(value.span(), "`k` has to be a number above 0"))
    }

    fn part(&self, value: &Value<'_>, part: &Part, name: &str, pairs: &mut Vec<[i32; 2]>) -> Result<()> {
        if part.shape == Shape::Single {
            pairs.push(self.pair(value, name)?);
            return Ok(());
        }
        let (expected, array) = (part.shape.len(), self.array(value, name)?);
        if array.len() != expected {
            let reason = format!("`{name}` has {} pairs and needs {expected}", array.len());
            return Err(self.fault(value.span(), reason));
        }
        let start = pairs.len();
        pairs.resize(start + expected, [0, 0]);
        for (index, pair) in part.shape.lines().into_iter().flatten().zip(array.iter()) {
            pairs[start + index] = self.pair(pair, name)?;
        }
        Ok(())
    }

    fn array<'a, 't>(&self, value: &'a Value<'t>, name: &str) -> Result<&'a DeArray<'t>> {
        let reason = || format!("`{name}` has to be a list of [midgame, endgame] pairs");
        value.get_ref().as_array().ok_or_else(|| self.fault(value.span(), reason()))
    }

    fn pair(&self, value: &Value<'_>, name: &str) -> Result<[i32; 2]> {
        let values: Vec<&Value<'_>> = self.array(value, name)?.iter().collect();
        let [mg, eg] = values[..] else {
            let reason = format!("`{name}` needs pairs of two numbers, [midgame, endgame]");
            return Err(self.fault(value.span(), reason));
        };
        Ok([self.number(mg, name)?, self.number(eg, name)?])
    }

    fn number(&self, value: &Value<'_>, name: &str) -> Result<i32> {
        let integer = value.get_ref().as_integer();
        integer
            .and_then(|n| i64::from_str_radix(n.as_str(), n.radix()).ok())
            .and_then(|n| i32::try_from(n).ok())
            .filter(|n| (-LARGEST..=LARGEST).contains(n))
            .ok_or_else(|| {
                let reason = format!("`{name}` needs whole centipawns from -{LARGEST} to {LARGEST}");
                self.fault(value.span(), reason)
            })
    }
}

pub fn describe() -> String {
    let mut text = String::new();
    for (term, part, range) in parts() {
        let _ = writeln!(text, "{}.{}: {} ({})", term.name, part.name, part.about, range.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        Weights::parse(text).unwrap_err().to_string()
    }

    /// Weights that all differ, so that no two can be swapped unnoticed.
    fn distinct() -> Weights {
        let pairs: Vec<_> = (0..COUNT as i32).map(|i| [i, -i - 1]).collect();
        Weights::from_pairs(1.2345, &pairs).unwrap()
    }

    #[test]
    fn weights_survive_the_round_trip() {
        let weights = distinct();
        assert_eq!(Weights::parse(&weights.to_toml()).unwrap(), weights);
    }

    #[test]
    fn boards_are_printed_with_rank_8_on_top() {
        let mut pairs = Weights::untuned().pairs().to_vec();
        let (_, _, range) = parts().find(|(t, p, _)| t.name == "psqt" && p.name == "knight").unwrap();
        pairs[range.start + shakmaty::Square::A8 as usize] = [77, -77];
        let text = Weights::from_pairs(1.0, &pairs).unwrap().to_toml();
        let board = text.split("\nknight = [\n").nth(1).unwrap();
        assert!(board.trim_start().starts_with("[ 77, -77], [  0,   0]"), "{board}");
    }

    #[test]
    fn faults_are_named_with_their_line() {
        let good = distinct().to_toml();
        let no_term = good.replace("[tempo]", "[pawns.tempo]");
        assert!(fault(&no_term).contains("line"), "{}", fault(&no_term));
        let unknown = format!("{good}[magic]\n");
        let line = good.lines().count() + 1;
        assert_eq!(fault(&unknown), format!("line {line}: `magic` is not a known term"));
        let text = good.replace("k = 1.2345", "k = \"high\"");
        assert_eq!(fault(&text), "line 4: `k` has to be a number above 0");
        let version = good.replace("version = 1", "version = 2");
        assert_eq!(fault(&version), "line 3: `version` has to be 1");
        assert!(fault("\u{1}junk").contains("line 1: is not a weight file"), "{}", fault("\u{1}junk"));
        assert!(fault("").contains("`version` is missing"));
    }

    #[test]
    fn missing_parts_count_as_0_and_are_listed() {
        let good = distinct().to_toml();
        let read = Weights::parse(&good.replace("islands =", "# islands =")).unwrap();
        assert_eq!(read.missing(), ["pawns.islands"]);
        assert!(read.part("pawns", "islands").unwrap().iter().all(|pair| *pair == [0, 0]));
        assert_eq!(read.part("material", "queen"), distinct().part("material", "queen"));
        let first_line = good.lines().position(|line| line == "[tempo]").unwrap();
        let without: Vec<&str> = good.lines().take(first_line).collect();
        assert!(Weights::parse(&without.join("\n")).unwrap().missing().contains(&"tempo".to_string()));
    }

    #[test]
    fn malformed_pairs_are_errors() {
        let good = Weights::untuned().to_toml();
        for (bad, reason) in [
            ("queen = [900]", "pairs of two numbers"),
            ("queen = [900, 900, 900]", "pairs of two numbers"),
            ("queen = [900.5, 900]", "whole centipawns"),
            ("queen = [\"x\", 900]", "whole centipawns"),
            ("queen = [99999, 900]", "whole centipawns"),
            ("queen = [-2147483648, 900]", "whole centipawns"),
            ("queen = 900", "a list of"),
        ] {
            let text = good.replace("queen = [900, 900]", bad);
            assert!(fault(&text).contains(reason), "{bad}: {}", fault(&text));
        }
        let short = good.replacen("islands = [[0, 0], ", "islands = [", 1);
        assert!(fault(&short).contains("`pawns.islands` has 4 pairs and needs 5"), "{}", fault(&short));
    }
}
