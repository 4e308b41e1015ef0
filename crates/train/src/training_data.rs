//! Positions of a training run as its recipe asks: with TD(λ) targets or as PQR groups, in memory or streamed.

use std::path::PathBuf;

use super::fit::fit_stage;
use super::pqr::{self, PqrGroup};
use super::score_sources::ScoreSources;
use super::streaming::{EMPTY_PASSES, Preview, drew_nothing};
use super::td_lambda::{GamePosition, apply_td_lambda};
use super::train_item::train_item;
use super::{
    Compute, DataLoader, Earlier, LossKind, MemoryLoader, Settings, Superbatch, TrainItem, TrainOutcome,
    TrainingCallbacks,
};
use patzer_chess::rng;
use patzer_data::{AnyReader, Metadata};
use patzer_fit::wdl;
use patzer_formats::capabilities::Capabilities;
use patzer_io::error::{Error, Hint, Result};
use patzer_prepare::labelled_cache::cache_path;
use patzer_prepare::{DataSelection, Prepared, Report, RunInputs, Split, paths, prepare, prepare_with};

/// Data of a training run: positions in memory, or a preview of a stream.
pub struct TrainingData {
    data: DataSelection,
    split: Split,
    items: Items,
    fitted_k: Option<FittedK>,
    scores: ScoreSources,
    validation_sources: Vec<(PathBuf, Metadata)>,
    /// Number of items of a position: one, or with `pqr` a group.
    group: usize,
    /// Random filters draw again in each pass.
    redraws: bool,
}

enum Items {
    Memory(Prepared<TrainItem>),
    Stream(Preview),
}

impl Items {
    /// An error for a weight by ply if no position has its ply: formats without move numbers have 0, or 1 for Black.
    fn check_plies(&self, settings: &Settings) -> Result<()> {
        let positions = match self {
            Items::Memory(data) => &data.train,
            Items::Stream(preview) => &preview.sample,
        };
        if settings.sees_ply() && positions.iter().all(|position| position.ply <= 1) {
            return Err(Error::input("position_weight by ply: the data do not say how far a game had gone"));
        }
        Ok(())
    }
}

/// K of the sigmoid, fitted to scores and results.
#[derive(Debug, Clone, Copy)]
pub struct FittedK {
    /// K of σ(K·s/400).
    pub k: f64,
    /// Number of positions of the fit.
    pub positions: usize,
}

impl TrainingData {
    /// Reads and splits the data; with files for validation, nothing of the data is held out. Sets the settings' K and
    /// epochs if they follow from the data.
    pub fn read(
        data: &DataSelection,
        validation: &[PathBuf],
        split: Split,
        settings: &mut Settings,
        report: &Report<'_>,
    ) -> Result<TrainingData> {
        check_apart(data, validation)?;
        settings.check_td_lambda().map_err(|(_, reason)| Error::usage(reason))?;
        settings.check_weights(paths(data)?.len()).map_err(|(_, reason)| Error::usage(reason))?;
        let split = if validation.is_empty() { split } else { Split { validation: 0.0, ..split } };
        let mut k = FitK { k: settings.k, fitted: None };
        if settings.loss == LossKind::Pqr {
            k.k = k.k.or(Some(1.0));
        }
        let mut scores = ScoreSources::default();
        let mut items = if settings.superbatch == 0 {
            Items::Memory(in_memory(data, split, settings, report, &mut k, &mut scores)?)
        } else {
            let preview = Preview::new(data, split, settings, report)?;
            k.of(&preview.sample)?;
            scores = preview.scores;
            Items::Stream(preview)
        };
        let mut validation_sources = Vec::new();
        if !validation.is_empty() {
            let data = DataSelection { files: validation.to_vec(), ..data.clone() };
            let further = &mut scores.further();
            let Prepared { train, sources, .. } = in_memory(&data, split, settings, report, &mut k, further)?;
            validation_sources = sources;
            match &mut items {
                Items::Memory(data) => data.validation = train,
                Items::Stream(preview) => preview.validate_with(train),
            }
        }
        settings.k = k.k;
        items.check_plies(settings)?;
        let (redraws, data, fitted_k) = (data.is_random()?, data.clone(), k.fitted);
        let group = settings.loss().group();
        let read = TrainingData { data, split, items, fitted_k, scores, validation_sources, group, redraws };
        if settings.positions > 0 {
            settings.epochs = settings.positions.div_ceil(read.epoch(settings)? as u64) as usize;
            settings.validate()?;
        }
        Ok(read)
    }

    /// Fitted K; `None` if the settings have one.
    pub fn fitted_k(&self) -> Option<FittedK> {
        self.fitted_k
    }

    /// Note on the targets of positions without a score, if there are any.
    pub fn score_note(&self) -> Option<String> {
        let method = self.sources().first().and_then(|(_, metadata)| metadata.resolved.as_deref());
        self.scores.note(method)
    }

    /// Summary of the positions read and dropped.
    pub fn summary(&self) -> String {
        let summary = match &self.items {
            Items::Memory(data) => data.summary(self.group),
            Items::Stream(preview) => preview.account.summary(preview.positions, preview.validation.len()),
        };
        if self.redraws { format!("{summary}; random filters draw again in each pass") } else { summary }
    }

    /// Number of positions to train on.
    pub fn positions(&self) -> usize {
        match &self.items {
            Items::Memory(data) => data.train.len() / self.group,
            Items::Stream(preview) => preview.positions,
        }
    }

    /// Number of held-out positions.
    pub fn validation_positions(&self) -> usize {
        match &self.items {
            Items::Memory(data) => data.validation.len() / self.group,
            Items::Stream(preview) => preview.validation.len(),
        }
    }

    fn sources(&self) -> &[(PathBuf, Metadata)] {
        match &self.items {
            Items::Memory(data) => &data.sources,
            Items::Stream(preview) => &preview.account.sources,
        }
    }

    /// Positions of an epoch.
    pub fn epoch(&self, settings: &Settings) -> Result<usize> {
        match &self.items {
            Items::Memory(data) => {
                Ok(MemoryLoader::weighted(&data.train, &data.by_file, settings)?.positions())
            }
            Items::Stream(_) => Ok(Superbatch::of(settings).positions()),
        }
    }

    /// Inputs of the run, for its `run.json`.
    pub fn inputs(&self) -> RunInputs<'_> {
        self.data.inputs(self.split, self.sources(), &self.validation_sources)
    }

    /// Trains a stage on the data. An error for data that cannot be read again, or from a callback.
    pub fn fit(
        &self,
        settings: &Settings,
        earlier: &Earlier,
        compute: Compute,
        callbacks: &mut dyn TrainingCallbacks,
    ) -> Result<TrainOutcome> {
        match &self.items {
            Items::Memory(data) => {
                let read_again = |pass| self.read_again(settings, pass);
                let mut loader = MemoryLoader::weighted(&data.train, &data.by_file, settings)?;
                loader.read_again = self.redraws.then_some((&read_again, settings));
                fit_stage(&mut loader, &data.validation, settings, earlier, compute, callbacks)
            }
            Items::Stream(preview) => {
                preview.fit(&self.data, self.split, settings, earlier, compute, callbacks)
            }
        }
    }

    /// Reads the positions of another pass, or of one after it where that draws none.
    fn read_again(&self, settings: &Settings, pass: u64) -> Result<Prepared<TrainItem>> {
        for vain in 0..EMPTY_PASSES {
            // Passes that no epoch has.
            let data = DataSelection { pass: pass | vain << 32, ..self.data.clone() };
            let (mut k, mut scores) =
                (FitK { k: settings.k.or(Some(1.0)), fitted: None }, self.scores.further());
            let read = in_memory(&data, self.split, settings, &|_| (), &mut k, &mut scores)?;
            if !read.train.is_empty() {
                return Ok(read);
            }
        }
        Err(drew_nothing())
    }
}

fn pqr_groups(
    data: &DataSelection,
    split: Split,
    settings: &Settings,
    report: &Report<'_>,
) -> Result<Prepared<TrainItem>> {
    if data.resolve {
        return Err(Error::usage("loss = \"pqr\" learns from the moves played").hint(Hint::NoResolve));
    }
    let groups = prepare(data, split, report, &|record, _, _| {
        let position = record.position().ok_or("no legal position")?;
        let best = record.played.unpack(&position).ok_or("no move played")?;
        let place = u64::from(record.game) << 16 | u64::from(record.ply);
        let seed = rng::mix(rng::mix(settings.seed, record.key() as u64), place);
        PqrGroup::new(&position, best, seed).ok_or("no other legal move")
    })?;
    let mut left_out = 0;
    let mut items = groups.map(|part| {
        let (items, few) = pqr::items(&part, settings.legal_quantile);
        left_out += few;
        items
    });
    if left_out > 0 {
        items.dropped.insert("few legal moves", left_out);
    }
    if items.train.is_empty() && data.pass == 0 {
        return Err(Error::input("no positions with a move played are left to learn from"));
    }
    Ok(items)
}

/// Refuses validation data that are also trained on.
fn check_apart(data: &DataSelection, validation: &[PathBuf]) -> Result<()> {
    if validation.is_empty() {
        return Ok(());
    }
    let read = |path: &PathBuf| {
        let cache = data.resolve.then(|| cache_path(path));
        let files = [Some(path.clone()), cache].into_iter().flatten();
        files.filter_map(|path| std::fs::canonicalize(path).ok()).collect::<Vec<PathBuf>>()
    };
    paths(&DataSelection { files: validation.to_vec(), ..data.clone() })?;
    let trained: Vec<PathBuf> = paths(data)?.iter().flat_map(read).collect();
    match validation.iter().find(|path| read(path).iter().any(|path| trained.contains(path))) {
        Some(path) => Err(Error::data(path, "is among the training data and cannot validate them")),
        None => Ok(()),
    }
}

/// Reads all positions, and fits K to those to train on unless it is known; `scores` goes on from positions before.
fn in_memory(
    data: &DataSelection,
    split: Split,
    settings: &Settings,
    report: &Report<'_>,
    k: &mut FitK,
    scores: &mut ScoreSources,
) -> Result<Prepared<TrainItem>> {
    if settings.loss == LossKind::Pqr {
        return pqr_groups(data, split, settings, report);
    }
    let Some(lambda) = settings.td_lambda else {
        let mut items = prepare_with(data, split, report, &train_item, |offer| scores.keep(offer))?;
        scores.finish(&mut items.train, &mut items.validation, |item| &mut item.score);
        k.of(&items.train)?;
        return Ok(items);
    };
    check_games(data)?;
    let mut games = prepare_with(data, split, report, &train_item, |offer| {
        let (ply, to_end) = (offer.record.ply, offer.record.to_end);
        GamePosition { item: scores.keep(offer), group: offer.group, ply, to_end }
    })?;
    scores.finish(&mut games.train, &mut games.validation, |position| &mut position.item.score);
    let only_items = |games: &[GamePosition]| games.iter().map(|position| position.item).collect();
    let items: Vec<TrainItem> = only_items(&games.train);
    let k = k.of(&items)?;
    let target = Settings { k: Some(k), ..settings.clone() }.target(settings.first_wdl());
    for part in [&mut games.train, &mut games.validation] {
        apply_td_lambda(part, lambda, target);
    }
    Ok(games.map(|games| only_items(&games)))
}

/// Refuses files that do not say which positions are of one game.
fn check_games(data: &DataSelection) -> Result<()> {
    for path in &paths(data)? {
        if AnyReader::open(path, &data.options)?.metadata().lacks.contains(Capabilities::GAME) {
            let reason = "does not say which positions are of one game, and td_lambda needs games";
            return Err(Error::data(path, reason));
        }
    }
    Ok(())
}

struct FitK {
    k: Option<f32>,
    fitted: Option<FittedK>,
}

impl FitK {
    /// The known K, else the one that fits these positions; 1 without scores.
    fn of(&mut self, items: &[TrainItem]) -> Result<f32> {
        if let Some(k) = self.k {
            return Ok(k);
        }
        self.fitted = fit_k(items)?;
        let k = self.fitted.map_or(1.0, |fitted| fitted.k as f32);
        self.k = Some(k);
        Ok(k)
    }
}

fn fit_k(items: &[TrainItem]) -> Result<Option<FittedK>> {
    let pair = |item: &TrainItem| {
        let score = f32::from(item.score?);
        Some((if item.turn.is_white() { score } else { -score }, item.expected()))
    };
    let pairs: Vec<(f32, f32)> = items.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    let fit = wdl::fit_k(&pairs).map_err(|e| Error::input(e.to_string()).hint(Hint::GiveK))?;
    Ok(Some(FittedK { k: fit.k, positions: pairs.len() }))
}
