//! Positions by which weights and networks are judged.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use shakmaty::{Chess, Position};

use super::ReportSettings;
use crate::evaluation::Case;
use crate::move_values::PlayedMove;
use crate::section::{Missing, OrMissing};
use crate::values::Place;
use patzer_chess::rng::{self, Rng};
use patzer_chess::{PackedBoard, other_moves, played};
use patzer_data::{AnyReader, Record};
use patzer_eval::nnue::halfmoves;
use patzer_formats::ReadOptions;
use patzer_formats::registry::{self, Format};
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_prepare::{DataSelection, Split, halfmoves_at};

/// Most moves whose positions are evaluated.
const MOVES: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct Positions {
    pub cases: Vec<Case>,
    pub moves: Vec<PlayedMove>,
    pub what: String,
}

#[derive(Debug, Default)]
pub(super) struct Source {
    data: Vec<PathBuf>,
    format: Option<&'static Format>,
    filter: Vec<String>,
    filter_set: Vec<String>,
    resolved: bool,
    split: Split,
    of_run: bool,
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
    pub(super) fn of_folder(folder: &Path, remedy: &str) -> OrMissing<Source> {
        let path = folder.join("run.json");
        let text = io::read_text(&path, io::Limit::RUN).map_err(|e| Missing(e.to_string()))?;
        let fault = |e| Missing(format!("{}: {e}", path.display()));
        let run: Value = serde_json::from_str(&text).map_err(fault)?;
        let words = |key: &str| -> Vec<String> {
            let list = run.get(key).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_string)).collect()
        };
        let mut data = Vec::new();
        for entry in run.get("data").and_then(Value::as_array).into_iter().flatten() {
            let named = entry.get("path").and_then(Value::as_str).unwrap_or_default();
            let missing = || Missing(format!("its data {named} is not there; {remedy}"));
            data.push(of_run(folder, Path::new(named)).ok_or_else(missing)?);
        }
        if data.is_empty() {
            return Err(Missing(format!("the run does not name its data; {remedy}")));
        }
        let resolved = run.get("resolved").and_then(Value::as_bool).unwrap_or(true);
        let split = run.get("split").and_then(|split| Split::deserialize(split).ok()).unwrap_or_default();
        let format = run.get("input_format").and_then(Value::as_str);
        let format = format.map(registry::named).transpose().map_err(|e| Missing(e.to_string()))?;
        Ok(Source {
            data,
            format,
            filter: words("filters"),
            filter_set: words("filter_set"),
            resolved,
            split,
            of_run: true,
        })
    }
}

pub(super) fn read(settings: &ReportSettings<'_>, source: OrMissing<Source>) -> Result<OrMissing<Positions>> {
    if !settings.data.is_empty() {
        let source = Source { data: settings.data.to_vec(), resolved: true, ..Source::default() };
        return load(&source, settings).map(Ok);
    }
    Ok(source.and_then(|source| load(&source, settings).map_err(|e| Missing(e.to_string()))))
}

fn load(source: &Source, settings: &ReportSettings<'_>) -> Result<Positions> {
    let options = ReadOptions { notices: settings.notices.clone(), ..source.format.into() };
    let mut resolved = source.resolved;
    for path in &source.data {
        let reader = AnyReader::open(path, &options)?;
        // Lines of text are resolved as they are read, as the run did.
        let resolves = reader.format().dialect.is_some() && source.of_run;
        resolved &= resolves || reader.metadata().resolved.is_some();
    }
    let data = DataSelection {
        files: source.data.clone(),
        options,
        filters: source.filter.clone(),
        filter_set: source.filter_set.clone(),
        resolve: resolved,
        ..DataSelection::default()
    };
    let held_out = source.split.validation > 0.0;
    let (mut cases, mut moves) = (Vec::new(), Vec::new());
    let make = |_: &Record, board, turn| Ok((board, turn));
    patzer_prepare::stream(&data, source.split, settings.report, &make, &mut |offer| {
        if held_out && !offer.held_out {
            return Ok(Some("not held out"));
        }
        if cases.len() as u64 >= settings.limit {
            return Ok(Some("beyond the limit"));
        }
        let ((board, turn), score) = (offer.item, offer.record.score.map(i32::from));
        cases.push(Case {
            board,
            turn,
            halfmoves: halfmoves_at(offer.record, &board),
            result: offer.result,
            score: score.map(|score| offer.record.turn.fold_wb(score, -score)),
            game: offer.group,
        });
        if moves.len() < MOVES {
            moves.extend(played_move(offer.record, cases.len() as u64));
        }
        Ok(None)
    })?;
    if cases.is_empty() {
        let names: Vec<String> = source.data.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::usage(format!("{}: no positions are left to judge by", names.join(", "))));
    }
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = source.data.iter().map(name).collect();
    let count = patzer_io::number::grouped(cases.len() as u64);
    let whose = if held_out { "held out of the training, of" } else { "of" };
    let leaves = if resolved { ", at their quiet leaves" } else { "" };
    let what = format!("{count} positions {whose} {}{leaves}", names.join(", "));
    Ok(Positions { cases, moves, what })
}

/// The position as it was played, after its move, and after another legal move drawn by `number`.
fn played_move(record: &Record, number: u64) -> Option<PlayedMove> {
    let position = record.position()?;
    let best = record.played.unpack(&position)?;
    let others = other_moves(&position, best)?;
    let other = others[Rng::new(rng::mix(0, number)).below(others.len())];
    Some([place(&position), place(&played(&position, best)), place(&played(&position, other))])
}

fn place(position: &Chess) -> Place {
    Place { board: PackedBoard::pack(position), turn: position.turn(), halfmoves: halfmoves(position) }
}
