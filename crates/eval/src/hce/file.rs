//! The weight file, `.hce.toml`: every term named, `[midgame, endgame]` pairs in centipawns, boards as one sees
//! them with rank 8 on top.
//!
//! In and out: TOML. Reading is strict, because a weight that is silently missing costs playing strength that
//! nobody finds: every term has to be there, nothing else may be, and the line of a fault is named.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::layout::{COUNT, Part, Shape, Term, parts};
use super::terms::TERMS;
use super::weights::{LARGEST, Weights};
use crate::error::{Error, Result};

/// The version of the format that this patzer reads and writes.
const VERSION: i64 = 1;

impl Weights {
    /// The content of a `.hce.toml` file.
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

    /// Reads the content of a `.hce.toml` file; `path` is for messages.
    ///
    /// # Errors
    /// If a term or part is missing, unknown, or of the wrong length, or a value is not a whole number of
    /// centipawns.
    pub fn parse(text: &str, path: &Path) -> Result<Weights> {
        let reader = Reader { text, path };
        let table = DeTable::parse(text).map_err(|e| {
            let reason = format!("is not a weight file: {}", e.message().trim().replace('\n', "; "));
            reader.fault(e.span().unwrap_or(0..0), reason)
        })?;
        let known = |name: &str| matches!(name, "version" | "k") || Term::named(name).is_some();
        reader.only_known(table.get_ref(), known, "term")?;
        reader.version(table.get_ref())?;
        let k = reader.k(table.get_ref())?;
        let mut pairs = Vec::with_capacity(COUNT);
        for term in TERMS {
            let value = reader.get(table.get_ref(), term.name, &format!("the term `{}`", term.name))?;
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(reader.fault(value.span(), format!("`{}` has to be a table", term.name)));
            };
            let known = |name: &str| term.parts.iter().any(|part| part.name == name);
            reader.only_known(inner, known, &format!("part of `{}`", term.name))?;
            for part in term.parts {
                let name = format!("{}.{}", term.name, part.name);
                reader.part(reader.get(inner, part.name, &format!("`{name}`"))?, part, &name, &mut pairs)?;
            }
        }
        Weights::from_pairs(k, &pairs).ok_or_else(|| Error::internal("weights read in part"))
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

/// The text and its name, for messages that name the line.
struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
}

type Table<'t> = DeTable<'t>;
type Value<'t> = Spanned<DeValue<'t>>;

impl Reader<'_> {
    fn fault(&self, span: Range<usize>, reason: impl Into<String>) -> Error {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::at(self.path, format!("line {line}"), reason)
    }

    fn only_known(&self, table: &Table<'_>, known: impl Fn(&str) -> bool, what: &str) -> Result<()> {
        match table.keys().find(|key| !known(key.get_ref())) {
            Some(key) => Err(self.fault(key.span(), format!("`{}` is not a known {what}", key.get_ref()))),
            None => Ok(()),
        }
    }

    fn get<'a, 't>(&self, table: &'a Table<'t>, name: &str, what: &str) -> Result<&'a Value<'t>> {
        table.get(name).ok_or_else(|| Error::data(self.path, format!("{what} is missing")))
    }

    fn version(&self, table: &Table<'_>) -> Result<()> {
        let value = self.get(table, "version", "`version`")?;
        match value.get_ref().as_integer().map(|n| n.as_str()) {
            Some("1") => Ok(()),
            _ => Err(self.fault(value.span(), format!("`version` has to be {VERSION}"))),
        }
    }

    fn k(&self, table: &Table<'_>) -> Result<f64> {
        let value = self.get(table, "k", "`k`")?;
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
            .filter(|n| n.abs() <= LARGEST)
            .ok_or_else(|| {
                let reason = format!("`{name}` needs whole centipawns from -{LARGEST} to {LARGEST}");
                self.fault(value.span(), reason)
            })
    }
}

/// The names of all terms with their parts, for messages and help.
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
        Weights::parse(text, Path::new("x.hce.toml")).unwrap_err().to_string()
    }

    /// Weights of which no two are equal, so that nothing can change places unseen.
    fn distinct() -> Weights {
        let pairs: Vec<_> = (0..COUNT as i32).map(|i| [i, -i - 1]).collect();
        Weights::from_pairs(1.2345, &pairs).unwrap()
    }

    #[test]
    fn weights_survive_the_file() {
        let weights = distinct();
        assert_eq!(Weights::parse(&weights.to_toml(), Path::new("x")).unwrap(), weights);
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
        let missing = good.replace("islands =", "# islands =");
        assert_eq!(fault(&missing), "x.hce.toml: `pawns.islands` is missing");
        let no_term = good.replace("[tempo]", "[pawns.tempo]");
        assert!(fault(&no_term).contains("line"), "{}", fault(&no_term));
        let unknown = format!("{good}[magic]\n");
        let line = good.lines().count() + 1;
        assert_eq!(fault(&unknown), format!("x.hce.toml: line {line}: `magic` is not a known term"));
        let text = good.replace("k = 1.2345", "k = \"high\"");
        assert_eq!(fault(&text), "x.hce.toml: line 4: `k` has to be a number above 0");
        let version = good.replace("version = 1", "version = 2");
        assert_eq!(fault(&version), "x.hce.toml: line 3: `version` has to be 1");
        assert!(fault("\u{1}junk").contains("line 1: is not a weight file"), "{}", fault("\u{1}junk"));
        assert!(fault("").contains("`version` is missing"));
    }

    #[test]
    fn numbers_that_are_no_weights_are_faults() {
        let good = Weights::untuned().to_toml();
        for (bad, reason) in [
            ("queen = [900]", "pairs of two numbers"),
            ("queen = [900, 900, 900]", "pairs of two numbers"),
            ("queen = [900.5, 900]", "whole centipawns"),
            ("queen = [\"x\", 900]", "whole centipawns"),
            ("queen = [99999, 900]", "whole centipawns"),
            ("queen = 900", "a list of"),
        ] {
            let text = good.replace("queen = [900, 900]", bad);
            assert!(fault(&text).contains(reason), "{bad}: {}", fault(&text));
        }
        let short = good.replacen("islands = [[0, 0], ", "islands = [", 1);
        assert!(fault(&short).contains("`pawns.islands` has 4 pairs and needs 5"), "{}", fault(&short));
    }
}
