//! Recognises report inputs by content, ambiguous text also by name.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use patzer_eval::nnue;
use patzer_fit::moves::features::GROUPS;
use patzer_formats::registry;
use patzer_io as io;
use patzer_io::error::{Error, Result};

#[derive(Debug)]
pub(super) enum Input {
    Dataset(PathBuf),
    Tuning(PathBuf),
    Weights(PathBuf),
    Moves(PathBuf),
    Training(PathBuf),
    Network(PathBuf),
    Match { journal: PathBuf, pgn: PathBuf },
    Games(PathBuf),
    Result(Value),
}

const JOURNAL: &[u8] = b"{\"patzer_journal\":";

const KINDS: &str = "a dataset, the folder of a run, a network, weights, strengths of moves, a journal, games, or a match's JSON result";

pub(super) fn recognise(path: &Path) -> Result<Input> {
    if path == Path::new("-") {
        return Err(Error::usage("a report is of files and folders; standard input is none"));
    }
    // Recognition reads the beginning, which a pipe gives only once.
    if io::is_stream(path) {
        return Err(Error::data(path, "is a stream; a report is of files and folders"));
    }
    if path.is_dir() {
        return folder(path);
    }
    let mut head = Vec::new();
    io::open(path)?.take(4096).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    if head.is_empty() {
        return Err(Error::data(path, "is empty"));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if head.starts_with(b"PAR1") {
        return Ok(Input::Dataset(path.to_path_buf()));
    }
    if nnue::file::has_magic(&head) {
        return Ok(Input::Network(path.to_path_buf()));
    }
    if head.starts_with(JOURNAL) {
        return Ok(Input::Match { journal: path.to_path_buf(), pgn: path.with_extension("pgn") });
    }
    if matches!(name.as_str(), "weights.csv" | "log.csv" | "run.json" | "recipe.toml" | "result.json")
        && let Some(parent) = path.parent()
        && let Ok(found) = folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    {
        return Ok(found);
    }
    let text = io::without_byte_order_mark(&head).trim_ascii_start();
    if text.starts_with(b"{") {
        return result(path);
    }
    if text.starts_with(b"[Event ") || name.contains(".pgn") {
        let journal = path.with_extension("journal");
        return Ok(match ending == "pgn" && journal.exists() {
            true => Input::Match { journal, pgn: path.to_path_buf() },
            false => Input::Games(path.to_path_buf()),
        });
    }
    if ending == "toml" {
        let first = format!("\n[{}]", GROUPS[0].name);
        if text.windows(first.len()).any(|part| part == first.as_bytes()) {
            return Ok(Input::Moves(path.to_path_buf()));
        }
        return Ok(Input::Weights(path.to_path_buf()));
    }
    if registry::of_content(&head).or_else(|| registry::of_path(path)).is_some() {
        return Ok(Input::Dataset(path.to_path_buf()));
    }
    Err(Error::data(path, format!("is none of what a report can show: {KINDS}")))
}

fn folder(path: &Path) -> Result<Input> {
    let has = |name: &str| path.join(name).is_file();
    if has("weights.csv") {
        Ok(Input::Tuning(path.to_path_buf()))
    } else if has("log.csv") && has("recipe.toml") {
        Ok(Input::Training(path.to_path_buf()))
    } else {
        let reason = "is not the folder of a run: it has neither weights.csv nor log.csv and recipe.toml";
        Err(Error::data(path, reason))
    }
}

/// One JSON object, or JSON lines of which the last holds the result.
fn result(path: &Path) -> Result<Input> {
    let text = io::read_text(path, io::Limit::RUN)?;
    let lines = || text.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let value = serde_json::from_str::<Value>(&text).ok().or_else(lines);
    let value = value.map(|value| match value.get("result") {
        Some(result) => result.clone(),
        None => value,
    });
    match value {
        Some(value) if value.get("pentanomial").is_some() => Ok(Input::Result(value)),
        _ => Err(Error::data(path, "is not the JSON result of a match of two")),
    }
}
