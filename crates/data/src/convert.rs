//! Conversion of files of positions to another format, filtered on the way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::filter::Pipeline;
use patzer_formats::foreign::columns::Columns;
use patzer_formats::{AnyReader, AnyWriter, Metadata, ReadOptions, Target};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Settings of a conversion.
#[derive(Debug)]
pub struct Conversion<'a> {
    /// How all inputs are opened.
    pub options: ReadOptions,
    /// Columns of tables.
    pub columns: &'a Columns,
    pub target: Target,
    /// Licence of inputs that name none.
    pub licence: Option<&'a str>,
}

/// Progress of a conversion.
pub enum ConvertEvent<'a> {
    /// The conversion begins, of this many positions; 0 if unknown.
    Started(u64),
    /// Positions were read.
    Advanced(u64),
    /// All positions were read.
    Finished,
    /// A warning about the inputs for the user.
    Warning(&'a str),
}

/// Counts of a conversion.
#[derive(Debug, Default, Serialize)]
pub struct Converted {
    pub inputs: usize,
    pub positions_read: u64,
    pub positions_written: u64,
    /// Positions dropped by filter, or by the reason why the format cannot hold them.
    pub dropped: BTreeMap<&'static str, u64>,
    pub lost: BTreeMap<&'static str, u64>,
    /// Lines and rows that could not be read and were left out.
    pub bad_rows: u64,
    pub format: &'static str,
}

impl Converted {
    fn check(&self) -> Result<()> {
        let accounted = self.positions_written + self.dropped.values().sum::<u64>();
        if accounted == self.positions_read {
            return Ok(());
        }
        let read = self.positions_read;
        Err(Error::internal(format!("{read} positions were read, but {accounted} are accounted for")))
    }
}

/// Writes the positions of the inputs that the filters keep to `output`; the inputs' games are numbered on.
pub fn convert(
    inputs: &[PathBuf],
    output: &Path,
    mut pipeline: Pipeline,
    settings: &Conversion<'_>,
    report: &mut dyn FnMut(ConvertEvent<'_>),
) -> Result<Converted> {
    let readers = inputs.iter().map(|path| AnyReader::open_source(path, &settings.options, settings.columns));
    let readers = readers.collect::<Result<Vec<_>>>()?;
    let metadata = joined(&readers, &pipeline, settings.licence, report);
    let mut writer = AnyWriter::create(output, &settings.target, &metadata)?;
    for reader in &readers {
        if let Some(text) = pipeline.blind(reader.metadata()) {
            report(ConvertEvent::Warning(&format!("{}: {text}", reader.path().display())));
        }
    }
    let rows = readers.iter().map(AnyReader::rows).sum::<Option<u64>>().unwrap_or(0);
    report(ConvertEvent::Started(rows));
    let mut converted = Converted { inputs: readers.len(), ..Converted::default() };
    // One more than the highest game number so far, including games without positions.
    let (mut games, mut batch) = (0u64, Vec::new());
    let wanted = writer.extra();
    for mut reader in readers {
        let first = games;
        games += reader.metadata().games();
        let mut extra = reader.extra_rows(&wanted)?;
        while reader.next_batch(&mut batch)? {
            if interrupt::requested() {
                return Err(interrupt::error());
            }
            report(ConvertEvent::Advanced(batch.len() as u64));
            converted.positions_read += batch.len() as u64;
            for sample in &mut batch {
                let game = first + u64::from(sample.game);
                games = games.max(game + 1);
                sample.game = u32::try_from(game).map_err(|_| {
                    Error::data(reader.path(), "its games cannot be numbered on: there are 2^32 in all")
                })?;
            }
            let mut rows = extra.as_mut().map(|extra| extra.take(batch.len())).transpose()?;
            let mut kept = Vec::new();
            batch.retain(|sample| {
                let verdict = pipeline.keep(sample);
                if let Err(reason) = verdict {
                    *converted.dropped.entry(reason).or_default() += 1;
                }
                if rows.is_some() {
                    kept.push(verdict.is_ok());
                }
                verdict.is_ok()
            });
            if let Some(rows) = &mut rows {
                let mut kept = kept.into_iter();
                rows.retain(|_| kept.next() == Some(true));
            }
            writer.write_with(&batch, rows)?;
        }
        writer.add_digests(reader.metadata());
        converted.bad_rows += reader.bad_rows();
    }
    if let Some(account) = writer.metadata().and_then(|metadata| metadata.account.as_mut()) {
        account.add_dropped(&converted.dropped);
    }
    report(ConvertEvent::Finished);
    let format = writer.format();
    let written = writer.finish()?;
    if let Some(warning) = written.warning(output, format) {
        report(ConvertEvent::Warning(&warning));
    }
    converted.format = format.name;
    converted.positions_written = written.positions;
    converted.lost = written.lost;
    for (reason, count) in written.dropped {
        *converted.dropped.entry(reason).or_default() += count;
    }
    converted.check()?;
    Ok(converted)
}

/// Metadata of the output, made from those of the inputs.
fn joined(
    readers: &[AnyReader],
    pipeline: &Pipeline,
    licence: Option<&str>,
    report: &mut dyn FnMut(ConvertEvent<'_>),
) -> Metadata {
    let all = || readers.iter().map(AnyReader::metadata);
    let mut metadata = Metadata::joined(all());
    metadata.forget_shared(all());
    for filter in pipeline.describe() {
        if !metadata.filters.contains(&filter) {
            metadata.filters.push(filter);
        }
    }
    let mut resolved: Vec<&str> = all().filter_map(|metadata| metadata.resolved.as_deref()).collect();
    let complete = resolved.len() == readers.len();
    if !complete && !resolved.is_empty() {
        let text = "some inputs are resolved and some are not, so the leaves are left out";
        report(ConvertEvent::Warning(text));
    }
    resolved.dedup();
    metadata.resolved = complete.then(|| resolved.join("; "));
    let unlicensed = metadata.sources.iter_mut().filter(|source| source.licence.is_none());
    unlicensed.for_each(|source| source.licence = licence.map(str::to_string));
    metadata
}
