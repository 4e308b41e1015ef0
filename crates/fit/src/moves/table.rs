//! Strengths as a TOML file: a table per group, and per level its strength, the standard error of the logarithm, times
//! played, times possible. Sums of log strengths order moves. A pair of groups has a table with its free levels.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::model::{Fit, Level};
use super::strengths::Strengths;
use super::terms::Term;
use patzer_io as io;
use patzer_io::error::{Error, Result};

pub fn write(fit: &Fit, about: &[String]) -> String {
    let mut text = String::new();
    for line in about {
        let _ = writeln!(text, "# {line}");
    }
    let _ =
        writeln!(text, "# level = [strength, standard error of its logarithm, times played, times possible]");
    for (term, levels) in fit.terms.iter().zip(&fit.levels) {
        let _ = match term {
            Term::Group(_) => writeln!(text, "\n# {}\n[{}]", term.doc(), term.name()),
            Term::Pair(..) => writeln!(text, "\n# {}\n[{:?}]", term.doc(), term.name()),
        };
        for (index, Level { gamma, error, played, offered }) in levels.iter().enumerate() {
            if !has_row(*term, index) {
                continue;
            }
            // Shares of visits add up to fractions.
            let played = (1000.0 * played).round() / 1000.0;
            let (name, gamma) = (term.level_name(index), strength(*gamma));
            let _ = writeln!(text, "{name:?} = [{gamma}, {error:.6}, {played}, {offered}]");
        }
    }
    text
}

/// A strength with six digits after its point, or after the first of a small one, which is not to become 0.
fn strength(gamma: f64) -> String {
    if gamma < 0.001 { format!("{gamma:.6e}") } else { format!("{gamma:.6}") }
}

fn has_row(term: Term, index: usize) -> bool {
    matches!(term, Term::Group(_)) || term.is_free(index)
}

/// The strengths of a table.
pub fn read(path: &Path) -> Result<Strengths> {
    Ok(read_fit(path)?.strengths())
}

/// A table as it was fitted; it does not say in how many iterations.
pub fn read_fit(path: &Path) -> Result<Fit> {
    type Table = BTreeMap<String, BTreeMap<String, (f64, f64, f64, u64)>>;
    let text = io::read_text(path, io::Limit::WEIGHTS)?;
    let table: Table = toml::from_str(&text)
        .map_err(|e| Error::data(path, format!("is not a table of moves: {}", e.message())))?;
    let pairs = table.keys().filter(|name| name.contains(':'));
    let pairs: std::result::Result<Vec<Term>, String> = pairs.map(|name| Term::parse(name)).collect();
    let terms = Strengths::even(&pairs.map_err(|reason| Error::data(path, reason))?).terms;
    let level = |term: Term, index: usize| {
        let row = match has_row(term, index) {
            true => table.get(&term.name()).and_then(|levels| levels.get(&term.level_name(index))).copied(),
            false => Some((1.0, 0.0, 0.0, 0)),
        };
        let row = row.filter(|(gamma, ..)| gamma.is_finite() && *gamma > 0.0);
        let (gamma, error, played, offered) = row.ok_or_else(|| {
            let place = format!("[{}] {:?}", term.name(), term.level_name(index));
            Error::at(path, place, "there is no strength above 0")
        })?;
        Ok(Level { gamma, error, played, offered })
    };
    let of = |term: &Term| (0..term.level_count()).map(|index| level(*term, index)).collect();
    let levels = terms.iter().map(of).collect::<Result<_>>()?;
    Ok(Fit { terms, levels, iterations: 0, converged: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::model::{Settings, fit};

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let pair = Term::parse("exchange:check").unwrap();
        let fit = fit(&[], &[pair], &Settings::default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        let text = write(&fit, &["nothing".into()]);
        let free = text.matches("losing\" = [1.000000").count();
        assert_eq!(free, 1 + 4, "the level alone, and with every exchange but the reference");
        let changed = text.replace("\"rook\" = [1.000000", "\"rook\" = [2.500000");
        let changed =
            changed.replace("100 to 249 and losing\" = [1.000000", "100 to 249 and losing\" = [0.250000");
        std::fs::write(&path, changed).unwrap();
        let read_back = read(&path).unwrap();
        assert_eq!(read_back.terms, fit.terms);
        assert_eq!((read_back.levels[0][4], read_back.levels[0][3]), (2.5, 1.0));
        let mut small = fit.clone();
        small.levels[0][4].gamma = 2.5e-9;
        std::fs::write(&path, write(&small, &[])).unwrap();
        assert_eq!(read(&path).unwrap().levels[0][4], 2.5e-9);
        assert_eq!((read_back.levels[11][3 * 3 + 2], read_back.levels[11][3 * 3]), (0.25, 1.0));
        std::fs::write(&path, text.replace("exchange:check", "exchange:chess")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("chess: no such group"));
        std::fs::write(&path, text.replace("\"rook\" = ", "\"book\" = ")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("[capture] \"rook\""));
    }
}
