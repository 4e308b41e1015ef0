//! The labelled cache of a dataset: a resolved copy beside it, made once and read while it is current.

use std::path::{Path, PathBuf};

use crate::event::{Event, Report};
use crate::leaf::{Method, Settings, label};
use crate::selection::modified;
use patzer_data::{AnyReader, AnyWriter, DataFile, Metadata, Target, Written};
use patzer_eval::Evaluation;
use patzer_formats::ReadOptions;
use patzer_formats::registry::Format;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone)]
pub struct LabelCounts {
    /// Positions read.
    pub positions: u64,
    pub written: Written,
    /// Positions that were not quiet: their leaf is another position.
    pub resolved_elsewhere: u64,
}

/// Labels positions of any format, batch by batch, into a new file. On interruption nothing is written.
pub fn label_file(
    mut data: AnyReader,
    output: &Path,
    target: &Target,
    settings: &Settings,
    report: &Report<'_>,
) -> Result<LabelCounts> {
    let mut metadata = Metadata::clone(data.metadata());
    metadata.resolved = Some(settings.describe());
    metadata.labelled_from = patzer_io::sampled_digest(data.path()).ok().flatten();
    let mut writer = AnyWriter::create(output, target, &metadata)?;
    let mut extra = data.extra_rows(&writer.extra())?;
    report(Event::Started("labelling", data.rows().unwrap_or(0)));
    let (mut positions, mut resolved_elsewhere, mut records) = (0, 0, Vec::new());
    while data.next_batch(&mut records)? {
        let advance = |n: usize| report(Event::Advanced(n as u64));
        if !label(&mut records, settings, interrupt::flag(), &advance)? {
            return Err(interrupt::error());
        }
        let elsewhere = records.iter().filter(|s| s.leaf.is_some_and(|leaf| leaf.board != s.board));
        resolved_elsewhere += elsewhere.count() as u64;
        positions += records.len() as u64;
        let rows = extra.as_mut().map(|extra| extra.take(records.len())).transpose()?;
        writer.write_with(&records, rows)?;
    }
    report(Event::Finished);
    writer.add_digests(data.metadata());
    let written = writer.finish()?;
    if written.positions + written.all_dropped() != positions {
        return Err(Error::internal(format!("{positions} positions were read, but {written:?}")));
    }
    Ok(LabelCounts { positions, written, resolved_elsewhere })
}

pub(crate) fn qsearch() -> Settings {
    let (evaluation, name) = (Evaluation::default_hce(), "default-hce".to_string());
    Settings { method: Method::Quiescence, rescore: false, evaluation, name }
}

/// Opens a dataset if it is resolved or `resolve` is off, else its labelled cache, made if missing or outdated. The
/// format is that of the dataset itself.
pub fn open(file: DataFile<'_>, resolve: bool, report: &Report<'_>) -> Result<(AnyReader, &'static Format)> {
    let (data, path) = (file.open()?, file.path);
    let format = data.format();
    if !resolve || data.metadata().resolved.is_some() {
        return Ok((data, format));
    }
    let cache = cache_path(path);
    if let Some(labelled) = current(&data, &cache) {
        let method = labelled.metadata().resolved.as_deref().unwrap_or_default();
        let by_time = labelled.metadata().labelled_from.is_none();
        report(Event::CacheFound { data: path, cache: &cache, method, by_time });
        return Ok((labelled, format));
    }
    check_replaceable(path, &cache)?;
    report(Event::CacheMissing { data: path, cache: &cache });
    let notices = file.options.notices.clone();
    let target = Target { notices: notices.clone(), ..Target::default() };
    label_file(data, &cache, &target, &qsearch(), report)?;
    Ok((AnyReader::open(&cache, ReadOptions { notices, ..ReadOptions::default() })?, format))
}

/// Refuses to replace a file that is not a labelled cache by quiescence search: a user's own labels cost more to make.
fn check_replaceable(data: &Path, cache: &Path) -> Result<()> {
    if !cache.exists() {
        return Ok(());
    }
    let method = AnyReader::open(cache, None).ok().and_then(|reader| reader.metadata().resolved.clone());
    if method.as_ref() == Some(&qsearch().describe()) {
        return Ok(());
    }
    let (data, method) = (data.display(), method.map_or(String::new(), |method| format!(" ({method})")));
    let reason = format!("is not the labelled copy that resolving {data} would write there{method}");
    Err(Error::data(cache, reason).hint(Hint::KeepLabels))
}

/// `x.labelled.parquet` beside `x.parquet`, `x.bullet.labelled.parquet` beside `x.bullet`.
pub fn cache_path(path: &Path) -> PathBuf {
    let is_parquet = path.extension().is_none_or(|ending| ending == "parquet");
    let name = if is_parquet { path.file_stem() } else { path.file_name() }.unwrap_or_default();
    if name == "positions" {
        return path.with_file_name("labelled.parquet");
    }
    let mut name = name.to_os_string();
    name.push(".labelled.parquet");
    path.with_file_name(name)
}

/// The cache, if it was made from this dataset: not older, of the same content as far as the cache names it, and with
/// the same metadata and number of rows.
fn current(data: &AnyReader, cache: &Path) -> Option<AnyReader> {
    if modified(cache)? < modified(data.path())? {
        return None;
    }
    let labelled = AnyReader::open(cache, None).ok()?;
    let (mut ours, theirs) = (data.metadata().clone(), labelled.metadata());
    ours.resolved.clone_from(&theirs.resolved);
    if theirs.labelled_from.is_some() {
        ours.labelled_from = patzer_io::sampled_digest(data.path()).ok()?;
    }
    (&ours == theirs
        && (data.rows().is_none() || data.rows() == labelled.rows())
        && theirs.resolved.is_some())
    .then_some(labelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_stem_have_caches_of_their_own() {
        for (data, cache) in [
            ("a/positions.parquet", "a/labelled.parquet"),
            ("a/x.parquet", "a/x.labelled.parquet"),
            ("a/x.bullet", "a/x.bullet.labelled.parquet"),
            ("positions.bullet", "positions.bullet.labelled.parquet"),
        ] {
            assert_eq!(cache_path(Path::new(data)), Path::new(cache));
        }
    }
}
