//! Traces as Parquet with the columns `result`, `phase`, `index`, `coefficient` (the last two lists of equal
//! lengths), optionally `black` (Black's coefficients; `coefficient` then holds White's) and `scale`,
//! `constant`, `weight`, `game`, `score`, `eval` as in the text form. Numbers may have any width.

use std::io::Read;
use std::path::Path;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use rayon::prelude::*;

use super::chunk::{FeatureCounts, TraceInfo};
use super::model::{EvalPart, Model};
use super::phase::Phase;
use super::text::{NEGATIVE_WEIGHT, TracePosition, checked, not_an_entry, tidy};
use patzer_data::lines::{BadLine, LineCounts};
use patzer_formats::native::parquet_file::ParquetFile;
use patzer_io as io;
use patzer_io::error::{Error, Result};

const NAMED: usize = 5;

/// Recognises Parquet. A stream is text: its beginning cannot be read twice, and Parquet is read from its end.
pub fn recognise(path: &Path) -> Result<bool> {
    if path == Path::new("-") || io::is_stream(path) {
        return Ok(false);
    }
    let mut head = Vec::new();
    io::raw(path)?.take(4).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    Ok(head == b"PAR1")
}

/// Values of a column and the end of each row's values.
#[derive(Default)]
struct Column {
    values: Vec<f64>,
    ends: Vec<usize>,
}

impl Column {
    fn row(&self, row: usize) -> &[f64] {
        let from = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.values[from..self.ends[row]]
    }
}

struct Group {
    rows: usize,
    /// Columns by [`NAMES`].
    columns: [Option<Column>; 11],
}

/// The first four are needed.
const NAMES: [&str; 11] = [
    "result",
    "phase",
    "index",
    "coefficient",
    "black",
    "scale",
    "constant",
    "weight",
    "game",
    "score",
    "eval",
];

/// Reads every row and counts bad ones; with `strict` fails at the first.
pub fn each(
    path: &Path,
    model: &Model,
    formula: &Phase,
    strict: bool,
    take: &mut dyn FnMut(TracePosition) -> Result<()>,
) -> Result<LineCounts> {
    let file = ParquetFile::open(path)?;
    let (mut counts, mut before) = (LineCounts::default(), 0);
    for number in 0..file.groups() {
        let group = Group::read(&file, number)?;
        let rows: Vec<Result<TracePosition>> =
            (0..group.rows).into_par_iter().map(|row| group.position(row, model, formula)).collect();
        for (row, position) in rows.into_iter().enumerate() {
            counts.read += 1;
            let number = before + row as u64 + 1;
            match position {
                Ok(position) => take(TracePosition { line: number, ..position })?,
                Err(reason) if strict => {
                    return Err(Error::at(path, format!("row {number}"), reason.to_string()));
                }
                Err(reason) => {
                    counts.bad += 1;
                    if counts.first_bad.len() < NAMED {
                        counts.first_bad.push(BadLine { number, reason: reason.to_string() });
                    }
                }
            }
        }
        before += group.rows as u64;
    }
    Ok(counts)
}

impl Group {
    fn read(file: &ParquetFile, group: usize) -> Result<Group> {
        let mut columns = [const { None }; 11];
        for (i, (found, name)) in columns.iter_mut().zip(NAMES).enumerate() {
            let place = file.schema().columns().iter().position(|column| {
                column.path().parts().first().is_some_and(|part| part.eq_ignore_ascii_case(name))
            });
            *found = place.map(|place| column(file, group, place, name)).transpose()?;
            if found.is_none() && i < 4 {
                let needed = "traces need result, phase, index, coefficient";
                return Err(Error::data(file.path(), format!("has no column `{name}`; {needed}")));
            }
        }
        Ok(Group { rows: file.group_rows(group), columns })
    }

    fn position(&self, row: usize, model: &Model, formula: &Phase) -> Result<TracePosition> {
        let [Some(result), Some(phase), Some(index), Some(white), black, info @ ..] = &self.columns else {
            return Err(Error::internal("a needed column is missing"));
        };
        let one = |column: &Column| column.row(row).first().copied().filter(|value| value.is_finite());
        let target = one(result).filter(|value| (0.0..=1.0).contains(value));
        let target = target.ok_or_else(|| Error::input("`result` is not from 0 to 1"))? as f32;
        let phase = one(phase).ok_or_else(|| Error::input("`phase` is not a number"))?;
        let [scale, constant, weight, game, score, eval] =
            info.each_ref().map(|column| column.as_ref().and_then(one));
        if weight.is_some_and(|weight| weight < 0.0) {
            return Err(Error::input(NEGATIVE_WEIGHT));
        }
        let info = TraceInfo {
            target,
            phase: formula.share(phase),
            scale: scale.unwrap_or(1.0) as f32,
            constant: constant.unwrap_or(0.0) as f32,
            weight: weight.unwrap_or(1.0) as f32,
            game: 0,
        };
        let (index, white) = (index.row(row), white.row(row));
        let black = black.as_ref().map(|black| black.row(row));
        if index.len() != white.len() || black.is_some_and(|black| black.len() != white.len()) {
            return Err(Error::input("`index` and the coefficients are lists of different lengths"));
        }
        let mut counts = FeatureCounts::default();
        for (i, (&at, &white)) in index.iter().zip(white).enumerate() {
            if at < 0.0 || at.fract() != 0.0 || !white.is_finite() {
                return Err(not_an_entry(at, white));
            }
            // Complexity has one coefficient, so Black's column is ignored for it.
            let part = model.features.get(at as usize).map(|feature| feature.part);
            let black = black.map(|black| black[i] as f32).filter(|_| part != Some(EvalPart::Complexity));
            checked(model, at as usize, white as f32, black, &mut counts)?;
        }
        tidy(&mut counts.linear);
        let game = game.filter(|game| *game >= 0.0).map(|game| game as u64);
        let [score, eval] = [score, eval].map(|value| value.map(|value| value as f32));
        Ok(TracePosition { info, counts, game, score, eval, line: 0 })
    }
}

fn column(file: &ParquetFile, group: usize, place: usize, name: &str) -> Result<Column> {
    let (about, rows) = (file.schema().column(place), file.group_rows(group));
    let levels = [about.max_def_level(), about.max_rep_level()];
    let fault = |e: ParquetError| {
        let reason = format!("column `{name}` is damaged: {e}");
        Error::at(file.path(), format!("row group {group}"), reason)
    };
    let read = match file.column(group, place).map_err(fault)? {
        ColumnReader::Int32ColumnReader(reader) => read(reader, rows, levels, |v| f64::from(*v)),
        ColumnReader::Int64ColumnReader(reader) => read(reader, rows, levels, |v| *v as f64),
        ColumnReader::FloatColumnReader(reader) => read(reader, rows, levels, |v| f64::from(*v)),
        ColumnReader::DoubleColumnReader(reader) => read(reader, rows, levels, |v| *v),
        _ => return Err(Error::data(file.path(), format!("column `{name}` does not hold numbers"))),
    };
    read.map_err(fault)
}

/// Reads a whole column. Definition levels below the maximum are nulls or empty lists.
fn read<T: parquet::data_type::DataType>(
    mut reader: parquet::column::reader::ColumnReaderImpl<T>,
    rows: usize,
    [max_definition, max_repetition]: [i16; 2],
    number: impl Fn(&T::T) -> f64,
) -> std::result::Result<Column, ParquetError> {
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = 0;
    while records < rows {
        let (read, _, _) = reader.read_records(
            rows - records,
            Some(&mut definitions),
            Some(&mut repetitions),
            &mut values,
        )?;
        if read == 0 {
            break;
        }
        records += read;
    }
    let numbers: Vec<f64> = values.iter().map(number).collect();
    let levels = if max_definition == 0 && max_repetition == 0 {
        numbers.len()
    } else {
        definitions.len().max(repetitions.len())
    };
    let mut column = Column { values: numbers, ends: Vec::with_capacity(rows) };
    let mut taken = 0;
    for level in 0..levels {
        if level > 0 && repetitions.get(level).is_none_or(|&repetition| repetition == 0) {
            column.ends.push(taken);
        }
        taken += usize::from(definitions.get(level).is_none_or(|&level| level == max_definition));
    }
    if levels > 0 {
        column.ends.push(taken);
    }
    if column.ends.len() != rows || taken != column.values.len() {
        return Err(ParquetError::General(format!("{} rows of {rows}", column.ends.len())));
    }
    Ok(column)
}
