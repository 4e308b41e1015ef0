//! Strengths as a TOML file: a table per group, and per level its strength, the standard error of the
//! logarithm, times played, times possible. Sums of log strengths order moves.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::features::GROUPS;
use super::model::{Fit, Level, Strengths};
use patzer_io as io;
use patzer_io::error::{Error, Result};

pub fn write(fit: &Fit, about: &[String]) -> String {
    let mut text = String::new();
    for line in about {
        let _ = writeln!(text, "# {line}");
    }
    let _ =
        writeln!(text, "# level = [strength, standard error of its logarithm, times played, times possible]");
    for (group, levels) in GROUPS.iter().zip(&fit.levels) {
        let _ = writeln!(text, "\n# {}\n[{}]", group.doc, group.name);
        for (index, Level { gamma, error, played, offered }) in levels.iter().enumerate() {
            // Shares of visits add up to fractions.
            let played = (1000.0 * played).round() / 1000.0;
            let _ =
                writeln!(text, "{:?} = [{gamma:.6}, {error:.6}, {played}, {offered}]", group.level(index));
        }
    }
    text
}

pub fn read(path: &Path) -> Result<Strengths> {
    type Table = BTreeMap<String, BTreeMap<String, (f64, f64, f64, u64)>>;
    let text = io::read_text(path, io::Limit::WEIGHTS)?;
    let table: Table = toml::from_str(&text)
        .map_err(|e| Error::data(path, format!("is not a table of moves: {}", e.message())))?;
    let mut strengths = Strengths::default();
    for (group, values) in GROUPS.iter().zip(&mut strengths.0) {
        for (index, value) in values.iter_mut().enumerate() {
            let level = group.level(index);
            let found = table.get(group.name).and_then(|levels| levels.get(&level)).map(|row| row.0);
            *value = found.filter(|gamma| gamma.is_finite() && *gamma > 0.0).ok_or_else(|| {
                Error::at(path, format!("[{}] {level:?}", group.name), "there is no strength above 0")
            })?;
        }
    }
    Ok(strengths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::model::{Settings, fit};

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let fit = fit(&[], &Settings::default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        let text = write(&fit, &["nothing".into()]);
        std::fs::write(&path, text.replace("\"rook\" = [1.000000", "\"rook\" = [2.500000")).unwrap();
        let read_back = read(&path).unwrap();
        assert_eq!((read_back.0[0][4], read_back.0[0][3]), (2.5, 1.0));
        std::fs::write(&path, text.replace("\"rook\" = ", "\"book\" = ")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("[capture] \"rook\""));
    }
}
