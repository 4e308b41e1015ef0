//! Files to fit on, with their filters, and the inputs of a run.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::network_teacher::NetworkTeacher;
use super::split::Split;
use patzer_data::Metadata;
use patzer_data::filter::Pipeline;
use patzer_formats::ReadOptions;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Default)]
pub struct DataSelection {
    /// Files in any format; without any, [`default_dataset`].
    pub files: Vec<PathBuf>,
    /// How all files are opened.
    pub options: ReadOptions,
    pub filters: Vec<String>,
    pub filter_set: Vec<String>,
    pub resolve: bool,
    /// Fail at the first malformed line of text instead of counting them.
    pub strict: bool,
    /// Gives the scores in place of the data's.
    pub teacher: Option<NetworkTeacher>,
    /// Number of the pass over the data, from 0: random filters draw again in each.
    pub pass: u64,
}

impl DataSelection {
    /// Tests whether passes over the data differ, as random filters draw again in each.
    pub fn is_random(&self) -> Result<bool> {
        Ok(Pipeline::new(&self.filters, &self.filter_set)?.is_random())
    }

    /// Inputs of a run, for its `run.json`.
    pub fn inputs<'a>(
        &'a self,
        split: Split,
        sources: &'a [(PathBuf, Metadata)],
        validation: &'a [(PathBuf, Metadata)],
    ) -> RunInputs<'a> {
        let files = |sources: &'a [(PathBuf, Metadata)]| {
            sources.iter().map(|(path, made_from)| InputFile { path, made_from }).collect()
        };
        RunInputs {
            patzer: env!("CARGO_PKG_VERSION"),
            data: files(sources),
            validation_data: files(validation),
            input_format: self.options.format.map(|format| format.name),
            filters: &self.filters,
            filter_set: &self.filter_set,
            resolved: self.resolve,
            teacher: self.teacher.as_ref(),
            split,
        }
    }
}

/// Version and data of a run: the files read, with the hashes of the games they were made from, and the split.
#[derive(Debug, Serialize)]
pub struct RunInputs<'a> {
    patzer: &'static str,
    data: Vec<InputFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validation_data: Vec<InputFile<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_format: Option<&'static str>,
    filters: &'a [String],
    filter_set: &'a [String],
    resolved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    teacher: Option<&'a NetworkTeacher>,
    split: Split,
}

#[derive(Debug, Serialize)]
struct InputFile<'a> {
    #[serde(serialize_with = "patzer_io::path_text")]
    path: &'a Path,
    made_from: &'a Metadata,
}

/// The dataset to read if none is named: the newer of the two default files.
pub fn default_dataset() -> Result<PathBuf> {
    let candidates = ["labelled.parquet", "positions.parquet"].map(PathBuf::from);
    let newest = candidates.into_iter().filter_map(|path| Some((modified(&path)?, path))).max_by_key(|c| c.0);
    newest.map(|(_, path)| path).ok_or_else(|| {
        let help = "make one with `patzer extract games.pgn`";
        Error::input(format!("no positions.parquet or labelled.parquet here; {help}"))
    })
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}
