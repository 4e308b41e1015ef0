//! Sections of datasets.

use std::path::Path;

use super::ReportSettings;
use crate::dataset::{self, Dataset};
use crate::section::{Missing, Section};
use patzer_data::{AnyReader, RowGroup, RowGroups, memory, stats};
use patzer_fit::wdl::source::{self, observe};
use patzer_fit::wdl::{self, Bin, Bounds, Histogram, Observation, WdlTable};
use patzer_formats::ReadOptions;
use patzer_io::error::{Error, Result};
use patzer_prepare::Event;

/// Material at which a and b are the sums of their coefficients.
const TARGET: f64 = 58.0;

pub(super) fn section(name: &str, path: &Path, settings: &ReportSettings<'_>) -> Result<Section> {
    let report = settings.report;
    let options = ReadOptions { notices: settings.notices.clone(), ..ReadOptions::default() };
    let metadata = AnyReader::open(path, &options)?.metadata().clone();
    report(Event::Started("counting", 0));
    let counted = stats::stats(&[path.to_path_buf()], &options, memory::default(), &|rows| {
        report(Event::Advanced(rows))
    });
    report(Event::Finished);
    let scored = Scored::read(path, &options)?;
    let unscored = || Missing("no position has a score".to_string());
    let missing = |e: Error| Missing(e.to_string());
    let k = match scored.pairs.is_empty() {
        true => Err(unscored()),
        false => wdl::fit_k_by_game(&scored.pairs, &scored.games).map_err(missing),
    };
    let table = WdlTable::new(&scored.histogram, Bounds::default());
    let model = match table.rows.is_empty() {
        true => Err(unscored()),
        false => wdl::fit(&table, TARGET, None).map_err(missing).map(|fitted| (fitted, table)),
    };
    Ok(dataset::section(name, &Dataset { stats: counted?, metadata, k, model }))
}

#[derive(Default)]
struct Scored {
    pairs: Vec<(f32, f32)>,
    games: Vec<u32>,
    histogram: Histogram,
}

impl Scored {
    fn read(path: &Path, options: &ReadOptions) -> Result<Scored> {
        let mut all = Scored::default();
        type Seen = (Vec<source::Scored>, Vec<Observation>);
        let work = |part: RowGroup<'_>| -> Result<Seen> {
            let samples = part.records?;
            let seen = samples.iter().filter_map(|sample| observe(sample, Bin::default()));
            Ok((samples.iter().filter_map(source::Scored::stored).collect(), seen.collect()))
        };
        RowGroups::open(path, options)?.scan(0, work, |found| {
            let (scored, seen) = found?;
            for source::Scored { cp, result, game } in scored {
                all.pairs.push((cp, result));
                all.games.push(game);
            }
            seen.into_iter().for_each(|observation| all.histogram.add(observation, 1));
            Ok(())
        })?;
        Ok(all)
    }
}
