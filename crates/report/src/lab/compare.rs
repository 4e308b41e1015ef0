//! Runs of one command side by side, by the settings in which they differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::table::{TableFormat, grid};
use super::tree::tests_of;
use super::{Book, Entry, Run, short};
use patzer_io::error::Result;
use patzer_io::printable;

/// Runs with their values of the settings in which they differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Settings in which the runs differ: long options, and keys of `--set`.
    pub keys: Vec<String>,
    /// Runs, the first begun first.
    pub runs: Vec<ComparedRun>,
}

/// A run of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Identity of the run.
    pub id: String,
    /// Values of the keys; none where the command line does not set it.
    pub values: Vec<Option<String>>,
    /// Result in a few words.
    pub result: String,
    /// Later tests of its outputs.
    pub tests: Vec<Run>,
}

/// Options that change no result, with a value or without.
const WITHOUT_EFFECT: [&str; 8] =
    ["output", "threads", "lab", "resume", "overwrite", "json", "quiet", "verbose"];
const FLAGS: [&str; 5] = ["resume", "overwrite", "json", "quiet", "verbose"];

/// Settings of a command line by name; operands are `data`.
fn settings(entry: &Entry) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let mut words = entry.command.iter().skip_while(|word| **word != entry.kind).skip(1).peekable();
    let mut note = |key: &str, value: &str| {
        let held = settings.entry(key.to_string()).or_default();
        if !held.is_empty() {
            held.push(' ');
        }
        held.push_str(value);
    };
    let is_value = |word: &&String| !word.starts_with('-') || word.parse::<f64>().is_ok();
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value),
                None if FLAGS.contains(&option) => (option, "yes"),
                None => (option, words.next_if(is_value).map_or("yes", String::as_str)),
            };
            match value.split_once('=').filter(|_| name == "set") {
                Some((key, value)) => note(key, value),
                None => note(name, value),
            }
        } else if word == "-o" {
            words.next();
        } else if !word.starts_with('-') {
            note("data", word);
        }
    }
    WITHOUT_EFFECT.iter().for_each(|name| drop(settings.remove(*name)));
    settings
}

/// Compares runs by the settings in which their command lines differ.
pub fn compare(book: &Book, entries: &[&Entry]) -> Comparison {
    let of_runs: Vec<BTreeMap<String, String>> = entries.iter().map(|entry| settings(entry)).collect();
    let all: BTreeSet<&String> = of_runs.iter().flat_map(BTreeMap::keys).collect();
    let differs = |key: &&String| of_runs.iter().any(|settings| settings.get(*key) != of_runs[0].get(*key));
    let keys: Vec<String> = all.into_iter().filter(differs).cloned().collect();
    let run = |(entry, settings): (&&Entry, &BTreeMap<String, String>)| ComparedRun {
        id: entry.id.clone(),
        values: keys.iter().map(|key| settings.get(key).cloned()).collect(),
        result: short(entry),
        tests: entry.written.iter().flat_map(|file| tests_of(book, &file.digest)).collect(),
    };
    let runs = entries.iter().zip(&of_runs).map(run).collect();
    Comparison { keys, runs }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.table(TableFormat::Text).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl Comparison {
    /// The comparison as a table.
    ///
    /// # Errors
    /// Only an internal one.
    pub fn table(&self, format: TableFormat) -> Result<String> {
        let head = ["id"].into_iter().chain(self.keys.iter().map(String::as_str)).chain(["result", "tests"]);
        let cell = |text: &str| printable(text).into_owned();
        let row = |run: &ComparedRun| {
            let values = run.values.iter().map(|value| value.as_deref().map_or_else(String::new, cell));
            let tests: Vec<String> =
                run.tests.iter().map(|test| format!("{} {}", test.kind, test.result)).collect();
            let ends = [run.result.clone(), tests.join("; ")];
            [run.id.clone()].into_iter().chain(values).chain(ends.map(|text| cell(&text))).collect()
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        grid(&head.map(str::to_string).collect::<Vec<_>>(), &rows, format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, command: &str) -> Entry {
        let command: Vec<&str> = command.split(' ').collect();
        serde_json::from_value(serde_json::json!({
            "id": id, "time": "", "kind": "tune", "command": command, "folder": "", "seconds": 1.0, "version": "",
            "machine": { "host": "", "processor": "", "threads": 2 }, "exit": 0, "read": [], "written": [],
            "results": [{ "validation_loss": 0.1 }],
        }))
        .unwrap()
    }

    #[test]
    fn settings_that_differ_are_columns_and_the_others_are_not() {
        let runs = [
            entry("1", "--quiet tune -q a.parquet --set batch=512 --wdl 0.2 --epochs 3 -o x.nnue"),
            entry("2", "tune a.parquet --set=batch=1024 --wdl 0.2 --epochs=3 --no-resolve --output y.nnue"),
            entry("3", "tune b.parquet --epochs 3 --score -5 --wdl 0.2 --set batch=512"),
        ];
        let compared = compare(&Book::default(), &runs.iter().collect::<Vec<_>>());
        assert_eq!(compared.keys, ["batch", "data", "no-resolve", "score"]);
        let values: Vec<Vec<&str>> = compared
            .runs
            .iter()
            .map(|run| run.values.iter().map(|v| v.as_deref().unwrap_or("-")).collect())
            .collect();
        assert_eq!(values[0], ["512", "a.parquet", "-", "-"]);
        assert_eq!(values[1], ["1024", "a.parquet", "yes", "-"]);
        assert_eq!(values[2], ["512", "b.parquet", "-", "-5"]);
        let text = compared.table(TableFormat::Text).unwrap();
        assert!(text.starts_with("id  batch  data       no-resolve  score  result"), "{text}");
        assert_eq!(compare(&Book::default(), &[]).keys, [] as [String; 0]);
    }
}
