//! Training on data larger than memory: a pass to count, hold out and sample, then passes on another thread.

use super::fit::fit_stage;
use super::score_sources::ScoreSources;
use super::train_item::train_item;
use super::{
    Compute, Earlier, Settings, StreamLoader, StreamSender, Superbatch, TrainItem, TrainOutcome,
    TrainingCallbacks,
};
use patzer_chess::rng;
use patzer_data::Thinned;
use patzer_formats::native::projection::Projection;
use patzer_io::error::{Error, Result};
use patzer_prepare::{Account, DataSelection, Report, Split, interleaved};

/// Most positions to validate with.
const VALIDATION: usize = 1 << 20;
/// Most sampled positions, to fit K and measure losses and the quantisation error on.
const SAMPLE: usize = 1 << 20;

pub(crate) struct Preview {
    pub account: Account,
    pub positions: usize,
    pub validation: Vec<TrainItem>,
    pub sample: Vec<TrainItem>,
    pub scores: ScoreSources,
}

impl Preview {
    /// `validation` and `sample` are spread evenly over what the first pass holds out and draws.
    pub(crate) fn new(
        data: &DataSelection,
        split: Split,
        settings: &Settings,
        report: &Report<'_>,
    ) -> Result<Preview> {
        let (mut positions, draws) = (0, Draws::new(settings, 0));
        let mut scores = ScoreSources::default();
        let (mut validation, mut sample) = (Thinned::new(VALIDATION), Thinned::new(SAMPLE));
        let mut account = interleaved(data, split, columns(settings), report, &train_item, &mut |offer| {
            let had_own = scores.has_own();
            let item = scores.keep(offer);
            if !had_own && scores.has_own() {
                let kept = validation.items_mut().iter_mut().chain(sample.items_mut());
                kept.for_each(|item: &mut TrainItem| item.score = None);
            }
            if offer.held_out {
                validation.push(item);
            } else {
                positions += 1;
                if draws.take(offer.file, positions as u64) {
                    sample.push(item);
                }
            }
            Ok(None)
        })?;
        let (validation, left_out) = validation.finish();
        if left_out > 0 {
            account.taken -= left_out;
            account.dropped.insert("more to validate than is kept", left_out);
        }
        let (sample, _) = sample.finish();
        if positions == 0 {
            let summary = account.summary(0, validation.len());
            return Err(Error::input(format!("no positions are left to learn from: {summary}")));
        }
        Ok(Preview { account, positions, validation, sample, scores })
    }

    /// Validates with positions of other files, at most as many as are held out of a stream.
    pub(crate) fn validate_with(&mut self, items: Vec<TrainItem>) {
        self.validation = thinned(items, VALIDATION);
    }

    pub(crate) fn fit(
        &self,
        data: &DataSelection,
        split: Split,
        settings: &Settings,
        earlier: &Earlier,
        compute: Compute,
        callbacks: &mut dyn TrainingCallbacks,
    ) -> Result<TrainOutcome> {
        let superbatch = Superbatch::of(settings);
        // Metadata names the games behind a dataset; the count tells filters apart.
        let sources = serde_json::to_string(&self.account.sources);
        let sources = sources.map_err(|e| Error::internal(e.to_string()))?;
        let (identity, sample) = (format!("{sources} {}", self.positions), self.sample.clone());
        let (sender, mut loader) = StreamLoader::new(superbatch, settings.seed, identity, sample);
        std::thread::scope(|scope| {
            let work = || send(data, split, settings, self.scores, sender);
            let reader = std::thread::Builder::new().spawn_scoped(scope, work).map_err(Error::thread)?;
            let outcome = fit_stage(&mut loader, &self.validation, settings, earlier, compute, callbacks);
            // The reader stops once the receiver is gone.
            drop(loader);
            match (outcome, reader.join()) {
                (Err(_), Ok(Err(reason))) => Err(reason),
                (outcome, _) => outcome,
            }
        })
    }
}

fn thinned(items: Vec<TrainItem>, most: usize) -> Vec<TrainItem> {
    let mut thinned = Thinned::new(most);
    items.into_iter().for_each(|item| thinned.push(item));
    thinned.finish().0
}

/// The columns of a dataset that the settings look at.
fn columns(settings: &Settings) -> Projection {
    let clock = settings.sees_clock().then_some(Projection::of(&["halfmove"]));
    let ply = settings.sees_ply().then_some(Projection::of(&["ply"]));
    [clock, ply].into_iter().flatten().fold(Projection::TRAINING, Projection::and)
}

/// Passes in a row that may draw nothing of little data.
pub(crate) const EMPTY_PASSES: u64 = 100;

pub(crate) fn drew_nothing() -> Error {
    Error::input(format!("the random filters drew no position in {EMPTY_PASSES} passes over the data"))
}

/// Reads the data again and again until the receiver is gone.
fn send(
    data: &DataSelection,
    split: Split,
    settings: &Settings,
    mut scores: ScoreSources,
    mut sender: StreamSender,
) -> Result<()> {
    let (columns, mut vain) = (columns(settings), 0);
    for pass in 0.. {
        let (draws, data) = (Draws::new(settings, pass), &DataSelection { pass, ..data.clone() });
        let (mut wanted, mut count, mut offered) = (true, 0u64, 0u64);
        // The first pass has reported everything.
        let pass = interleaved(data, split, columns, &|_| (), &train_item, &mut |offer| {
            if offer.held_out {
                return Ok(None);
            }
            offered += 1;
            if !draws.take(offer.file, offered) {
                return Ok(None);
            }
            count += 1;
            wanted = sender.push(scores.keep(offer));
            if wanted { Ok(None) } else { Err(Error::internal("the receiver is gone")) }
        });
        if !wanted {
            return Ok(());
        }
        pass?;
        vain = if count == 0 { vain + 1 } else { 0 };
        if count == 0 && !data.is_random()? {
            return Err(Error::input("the data changed while it was read"));
        }
        if vain == EMPTY_PASSES {
            return Err(drew_nothing());
        }
    }
    Ok(())
}

/// The positions that a pass over weighted files draws.
struct Draws {
    /// Share of each file, in parts of 1; empty without weights.
    shares: Vec<f64>,
    seed: u64,
}

impl Draws {
    fn new(settings: &Settings, pass: u64) -> Draws {
        let most = settings.weights.iter().copied().fold(0.0, f32::max);
        let shares = settings.weights.iter().map(|weight| f64::from(weight / most)).collect();
        Draws { shares, seed: rng::mix(settings.seed, pass) }
    }

    /// Tests whether the pass draws its position of this number, counted over all files.
    fn take(&self, file: usize, number: u64) -> bool {
        self.shares.get(file).is_none_or(|share| rng::unit(rng::mix(self.seed, number)) < *share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_other_files_are_thinned_too() {
        let items = crate::tests::items(40, 3);
        assert_eq!(thinned(items.clone(), 64), items);
        let every_fourth: Vec<TrainItem> = items.iter().step_by(4).copied().collect();
        assert_eq!(thinned(items, 16), every_fourth);
    }

    #[test]
    fn passes_draw_files_by_their_weights() {
        let settings = Settings { weights: vec![1.0, 4.0], ..Settings::default() };
        let drawn = |pass: u64, file: usize| -> Vec<u64> {
            let draws = Draws::new(&settings, pass);
            (0..10_000).filter(|number| draws.take(file, *number)).collect()
        };
        assert_eq!(drawn(0, 1).len(), 10_000);
        assert!((2400..2600).contains(&drawn(0, 0).len()), "{}", drawn(0, 0).len());
        assert_ne!(drawn(0, 0), drawn(1, 0));
        let unweighted = Draws::new(&Settings::default(), 0);
        assert!((0..100).all(|number| unweighted.take(0, number)));
    }
}
