use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::ReportArgs;
use crate::Ui;
use crate::prepare::{DataArgs, Split, stream};
use patzer_data::AnyReader;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_report::evaluation::Case;

#[derive(Debug, Default)]
pub(super) struct Positions {
    pub(super) cases: Vec<Case>,
    pub(super) what: String,
}

#[derive(Debug, Default)]
pub(super) struct Source {
    data: Vec<PathBuf>,
    filter: Vec<String>,
    filter_set: Vec<String>,
    resolved: bool,
    split: Split,
}

/// Resolves a path in run.json: relative to the folder that holds `runs/`, else to the current folder.
pub(super) fn of_run(folder: &Path, path: &Path) -> Option<PathBuf> {
    let there = std::path::absolute(folder).ok()?;
    let usual = there.parent().filter(|runs| runs.ends_with("runs")).and_then(Path::parent);
    let here = std::env::current_dir().ok();
    let usual = usual.filter(|usual| here.as_deref() != Some(*usual)).map(|usual| usual.join(path));
    [usual, Some(path.to_path_buf())].into_iter().flatten().find(|path| path.is_file())
}

impl Source {
    pub(super) fn of_folder(folder: &Path) -> std::result::Result<Source, String> {
        let path = folder.join("run.json");
        let text = io::read_text(&path).map_err(|e| e.to_string())?;
        let run: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        let words = |key: &str| -> Vec<String> {
            let list = run.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_string)).collect()
        };
        let mut data = Vec::new();
        for entry in run.get("data").and_then(Value::as_array).into_iter().flatten() {
            let named = entry.get("path").and_then(Value::as_str).unwrap_or_default();
            let found = of_run(folder, Path::new(named));
            data.push(
                found.ok_or_else(|| format!("its data {named} is not there; name others with --data"))?,
            );
        }
        if data.is_empty() {
            return Err("the run does not name its data; name some with --data".into());
        }
        let resolved = run.get("resolved").and_then(Value::as_bool).unwrap_or(true);
        let split = run.get("split").and_then(|split| Split::deserialize(split).ok()).unwrap_or_default();
        Ok(Source { data, filter: words("filters"), filter_set: words("filter_set"), resolved, split })
    }
}

pub(super) fn read(
    args: &ReportArgs,
    source: std::result::Result<Source, String>,
    ui: &Ui,
) -> Result<std::result::Result<Positions, String>> {
    if !args.data.is_empty() {
        let source = Source { data: args.data.clone(), resolved: true, ..Source::default() };
        return load(&source, args.limit, ui).map(Ok);
    }
    Ok(match source {
        Ok(source) => load(&source, args.limit, ui).map_err(|e| e.to_string()),
        Err(reason) => Err(reason),
    })
}

fn load(source: &Source, limit: u64, ui: &Ui) -> Result<Positions> {
    let mut resolved = source.resolved;
    for path in &source.data {
        resolved &= AnyReader::open(path, None)?.metadata().resolved.is_some();
    }
    let data = DataArgs {
        data: source.data.clone(),
        filter: source.filter.clone(),
        filter_set: source.filter_set.clone(),
        no_resolve: !resolved,
        strict: false,
    };
    let held_out = source.split.validation > 0.0;
    let mut cases = Vec::new();
    stream(&data, source.split, ui, &mut |offer| {
        if held_out && !offer.held_out {
            return Ok(Some("not held out"));
        }
        if cases.len() as u64 >= limit {
            return Ok(Some("beyond the limit"));
        }
        let score = offer.record.score.map(i32::from);
        cases.push(Case {
            board: offer.board,
            turn: offer.turn,
            result: offer.result,
            score: score.map(|score| offer.record.turn.fold_wb(score, -score)),
            game: offer.group,
        });
        Ok(None)
    })?;
    if cases.is_empty() {
        let names: Vec<String> = source.data.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::usage(format!("{}: no positions are left to judge by", names.join(", "))));
    }
    let name =
        |path: &PathBuf| path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let names: Vec<String> = source.data.iter().map(name).collect();
    let count = patzer_io::number::grouped(cases.len() as u64);
    let whose = if held_out { "held out of the training, of" } else { "of" };
    let leaves = if resolved { ", at their quiet leaves" } else { "" };
    let what = format!("{count} positions {whose} {}{leaves}", names.join(", "));
    Ok(Positions { cases, what })
}
