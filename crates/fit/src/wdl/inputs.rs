//! Files of a fit: datasets, and games whose comments hold scores.

use std::path::{Path, PathBuf};

use super::evaluated::evaluated;
use super::histogram::{Bin, Histogram, Observation};
use super::k::{KFit, fit_k_by_game};
use super::sample::Sample;
use super::source::{GameSelection, ReadCounts, ReadProgress, Scored, count_records, observe, read};
use patzer_data::{AnyReader, DataFile, Record};
use patzer_eval::Evaluation;
use patzer_formats::ReadOptions;
use patzer_formats::capabilities::Capabilities;
use patzer_formats::recognise::format_of;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Receives the progress of reading.
pub type Progress<'a> = dyn FnMut(ReadProgress) + Send + 'a;

#[derive(Debug, Clone, Default)]
pub struct Inputs {
    pub datasets: Vec<PathBuf>,
    /// How the datasets are opened.
    pub options: ReadOptions,
    pub games: Vec<PathBuf>,
    /// The games and scores that take part.
    pub selection: GameSelection,
}

/// Scored positions to fit K to.
#[derive(Debug, Clone, Default)]
pub struct ScoredPositions {
    pub scored: Vec<Scored>,
    /// Positions read.
    pub positions: u64,
    pub games: ReadCounts,
    /// How the last dataset was resolved.
    pub resolved: Option<String>,
    /// Some file does not say which positions are of one game.
    pub independent: bool,
}

impl ScoredPositions {
    /// Fits K, with its error over games.
    pub fn fit(&self) -> Result<KFit> {
        let (pairs, games): (Vec<_>, Vec<_>) = self.scored.iter().map(|s| ((s.cp, s.result), s.game)).unzip();
        fit_k_by_game(&pairs, &games)
    }

    /// Adds the positions of a dataset that `score` finds; its second argument is whether they have leaves.
    fn add(
        &mut self,
        data: DataFile<'_>,
        progress: &mut Progress<'_>,
        score: impl Fn(&[Record], bool) -> Vec<Scored>,
    ) -> Result<()> {
        let reader = data.open()?;
        self.resolved.clone_from(&reader.metadata().resolved);
        if reader.metadata().lacks.contains(Capabilities::GAME) {
            self.independent = true;
            progress(ReadProgress::NoGames(data.path.to_path_buf()));
        }
        let first_game = self.scored.iter().map(|s| s.game.wrapping_add(1)).max().unwrap_or(0);
        let positions = each_batch(reader, progress, |records| {
            let found = score(records, self.resolved.is_some()).into_iter();
            self.scored.extend(found.map(|s| Scored { game: s.game.wrapping_add(first_game), ..s }));
        })?;
        self.positions += positions;
        if positions == 0 { Err(Error::data(data.path, "holds no positions")) } else { Ok(()) }
    }
}

/// Rules for counting scored positions.
#[derive(Debug, Clone, Default)]
pub struct Counting {
    pub bin: Bin,
    /// Histograms to add.
    pub merge: Vec<PathBuf>,
    /// Keep a sample of the positions.
    pub samples: bool,
}

#[derive(Debug, Default)]
pub struct Counted {
    pub histogram: Histogram,
    pub counts: ReadCounts,
    pub sample: Sample,
}

impl Inputs {
    /// Sorts files into datasets and games; with a format all are datasets.
    pub fn new(files: Vec<PathBuf>, options: impl Into<ReadOptions>) -> Result<Inputs> {
        let mut inputs = Inputs { options: options.into(), ..Inputs::default() };
        for path in files {
            match inputs.options.format.map_or_else(|| format_of(&path), |format| Ok(Some(format)))? {
                Some(_) => inputs.datasets.push(path),
                None => inputs.games.push(path),
            }
        }
        Ok(inputs)
    }

    /// The first file, for messages.
    pub fn name(&self) -> &Path {
        self.datasets.first().or(self.games.first()).map_or(Path::new("the histogram"), |path| path)
    }

    fn data(&self) -> impl Iterator<Item = DataFile<'_>> {
        self.datasets.iter().map(|path| DataFile { path, options: &self.options })
    }

    fn read_games<S: Default + Send>(
        &self,
        progress: &mut Progress<'_>,
        observe: impl Fn(&mut S, &Record) + Sync,
        absorb: impl FnMut(S) + Send,
    ) -> Result<ReadCounts> {
        if self.games.is_empty() {
            return Ok(ReadCounts::default());
        }
        let counts = read(&self.games, &self.selection, observe, absorb, progress)?;
        progress(ReadProgress::FileRead);
        Ok(counts)
    }

    /// Scores that games and datasets hold; mates are left out.
    pub fn scores(&self, progress: &mut Progress<'_>) -> Result<ScoredPositions> {
        let mut found = ScoredPositions::default();
        let see = |seen: &mut Vec<Scored>, record: &Record| seen.extend(Scored::stored(record));
        let counts = self.read_games(progress, see, |seen| found.scored.extend(seen))?;
        found.positions = counts.positions_read;
        found.games = counts;
        for data in self.data() {
            found.add(data, progress, |records, _| records.iter().filter_map(Scored::stored).collect())?;
        }
        Ok(found)
    }

    /// Static evaluations of the datasets' positions, or of their leaves.
    pub fn evaluations(
        &self,
        evaluation: &Evaluation,
        progress: &mut Progress<'_>,
    ) -> Result<ScoredPositions> {
        let mut found = ScoredPositions::default();
        for data in self.data() {
            found.add(data, progress, |records, resolved| evaluated(records, evaluation, resolved))?;
            if found.resolved.is_none() {
                progress(ReadProgress::NotResolved(data.path.to_path_buf()));
            }
        }
        Ok(found)
    }

    /// Counts scored positions by result, move number, material and score.
    pub fn count(&self, rules: &Counting, progress: &mut Progress<'_>) -> Result<Counted> {
        let mut counted = Counted::default();
        let Counted { histogram, sample, .. } = &mut counted;
        let see = |(seen, sample): &mut (Vec<Observation>, Sample), record: &Record| {
            let Some(observation) = observe(record, rules.bin) else { return };
            seen.push(observation);
            if rules.samples {
                sample.see(record, observation);
            }
        };
        let absorb = |(seen, part): (Vec<Observation>, Sample)| {
            seen.into_iter().for_each(|o| histogram.add(o, 1));
            sample.merge(part);
        };
        let mut counts = self.read_games(progress, see, absorb)?;
        for data in self.data() {
            each_batch(data.open()?, progress, |records| {
                count_records(records, rules.bin, histogram, &mut counts, |record, observation| {
                    if rules.samples {
                        sample.see(record, observation);
                    }
                });
            })?;
        }
        rules.merge.iter().try_for_each(|path| histogram.merge_file(path))?;
        Ok(Counted { counts, ..counted })
    }
}

/// Shows the records of a dataset in batches; returns their number.
fn each_batch(
    mut reader: AnyReader,
    progress: &mut Progress<'_>,
    mut see: impl FnMut(&[Record]),
) -> Result<u64> {
    let (mut positions, mut batch) = (0, Vec::new());
    progress(ReadProgress::Dataset(reader.rows().unwrap_or(0)));
    while reader.next_batch(&mut batch)? {
        interrupt::check()?;
        see(&batch);
        positions += batch.len() as u64;
        progress(ReadProgress::Positions(positions));
    }
    progress(ReadProgress::FileRead);
    Ok(positions)
}
