//! Files of players' names, in Ordo's formats: aliases, anchors, and players to leave out or alone to rate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use patzer_io::error::{Error, Result};
use patzer_io::{Limit, read_text};

/// A row of a file with the number of its line.
type Row = (u64, Vec<String>);

/// Rows of comma-separated names, with or without quotes.
fn rows(path: &Path) -> Result<Vec<Row>> {
    let text = read_text(path, Limit::NAMES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let row = |row: csv::Result<csv::StringRecord>| {
        let row = row.map_err(|error| Error::data(path, error.to_string()))?;
        // A quote after a space is part of the field.
        let names = row.iter().map(|name| name.trim_matches('"').trim().to_string());
        Ok((
            row.position().map_or(0, csv::Position::line),
            names.filter(|name| !name.is_empty()).collect::<Vec<_>>(),
        ))
    };
    reader
        .records()
        .map(row)
        .filter(|row| row.as_ref().map_or(true, |(_, names)| !names.is_empty()))
        .collect()
}

fn at(path: &Path, line: u64, reason: String) -> Error {
    Error::at(path, format!("line {line}"), reason)
}

/// Reads rows `NAME,ALIAS,ALIAS…`; gives the player's name by the alias.
pub fn read_aliases(path: &Path) -> Result<BTreeMap<String, String>> {
    let rows = rows(path)?;
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (line, row) in &rows {
        for alias in row {
            if let Some(other) = names.insert(alias.clone(), row[0].clone()).filter(|other| *other != row[0])
            {
                return Err(at(path, *line, format!("\"{alias}\" is a name of \"{other}\", too")));
            }
        }
    }
    Ok(names)
}

/// Reads rows `NAME,ELO`.
pub fn read_anchors(path: &Path) -> Result<Vec<(String, f64)>> {
    let anchor = |(line, row): Row| match row.as_slice() {
        [name, elo] => match elo.parse::<f64>() {
            Ok(elo) if elo.is_finite() => Ok((name.clone(), elo)),
            _ => Err(at(path, line, format!("\"{elo}\" is no rating"))),
        },
        _ => Err(at(path, line, "wanted a name and a rating, such as \"Engine 1.0\",3200".into())),
    };
    rows(path)?.into_iter().map(anchor).collect()
}

/// Reads names, one a line; a comma separates names, too.
pub fn read_names(path: &Path) -> Result<BTreeSet<String>> {
    let names: BTreeSet<String> = rows(path)?.into_iter().flat_map(|(_, row)| row).collect();
    if names.is_empty() { Err(Error::data(path, "holds no name")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn files_are_read_as_ordo_reads_them() {
        let (_folder, path) =
            file("\u{feff}\"Rybka 2, x64\",\"Rybka 2\"\r\n\r\nFruit 2.1 , Fruit, \"Fruit 2\"\n");
        let names = read_aliases(&path).unwrap();
        assert_eq!(names["Rybka 2"], "Rybka 2, x64");
        assert_eq!((names["Fruit"].as_str(), names["Fruit 2"].as_str()), ("Fruit 2.1", "Fruit 2.1"));
        let (_folder, path) = file("A,B\nC,B\n");
        assert!(
            read_aliases(&path).unwrap_err().to_string().contains("line 2: \"B\" is a name of \"A\", too")
        );
        let (_folder, path) = file("\"Gull 1.1\", 2350.5\nFruit,2300\n");
        assert_eq!(read_anchors(&path).unwrap(), [("Gull 1.1".into(), 2350.5), ("Fruit".into(), 2300.0)]);
        for bad in ["Gull\n", "Gull,high\n", "Gull,NaN\n"] {
            let (_folder, path) = file(bad);
            assert!(read_anchors(&path).unwrap_err().to_string().contains("line 1"), "{bad}");
        }
        let (_folder, path) = file("Gull\n\"Fruit 2.1\"\n");
        assert!(read_names(&path).unwrap().contains("Fruit 2.1"));
        let (_folder, path) = file("\n\n");
        assert!(read_names(&path).is_err());
    }
}
