//! Training on data larger than memory: a pass to count, hold out and sample, then passes on another thread.

use super::training_data::train_item;
use super::{
    Compute, Earlier, Outcome, Settings, StreamLoader, StreamSender, Superbatch, TrainItem,
    TrainingCallbacks, fit_stage,
};
use patzer_chess::rng;
use patzer_io::error::{Error, Result};
use patzer_label::prepare::{Account, DataSelection, Report, Split, interleaved};

const VALIDATION: usize = 1 << 20;
/// Most sampled positions, to fit K and measure the quantisation error on.
const SAMPLE: usize = 1 << 20;

pub struct Preview {
    pub account: Account,
    pub positions: usize,
    pub validation: Vec<TrainItem>,
    pub sample: Vec<TrainItem>,
}

impl Preview {
    pub fn new(data: &DataSelection, split: Split, report: &Report<'_>) -> Result<Preview> {
        let (mut positions, mut validation, mut sample) = (0, Vec::new(), Vec::new());
        let account = interleaved(data, split, report, &train_item, &mut |offer| {
            match offer.held_out {
                true if validation.len() < VALIDATION => validation.push(offer.item),
                true => return Ok(Some("more to validate than is kept")),
                false => {
                    positions += 1;
                    if sample.len() < SAMPLE {
                        sample.push(offer.item);
                    }
                }
            }
            Ok(None)
        })?;
        if positions == 0 {
            let summary = account.summary(0, validation.len());
            return Err(Error::input(format!("no positions are left to learn from: {summary}")));
        }
        Ok(Preview { account, positions, validation, sample })
    }

    pub fn fit(
        &self,
        data: &DataSelection,
        split: Split,
        settings: &Settings,
        earlier: &Earlier,
        compute: Compute,
        callbacks: &mut dyn TrainingCallbacks,
    ) -> Result<Outcome> {
        let superbatch = Superbatch::new(settings.superbatch, settings.buffer, settings.batch);
        // Metadata names the games behind a dataset; the count tells filters apart.
        let sources = serde_json::to_string(&self.account.sources);
        let sources = sources.map_err(|e| Error::internal(e.to_string()))?;
        let (identity, sample) = (format!("{sources} {}", self.positions), self.sample.clone());
        let (sender, mut loader) = StreamLoader::new(superbatch, settings.seed, identity, sample);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| send(data, split, settings, sender));
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

/// Reads the data again and again until the receiver is gone.
fn send(data: &DataSelection, split: Split, settings: &Settings, mut sender: StreamSender) -> Result<()> {
    let most = settings.weights.iter().copied().fold(0.0, f32::max);
    let shares: Vec<f64> = settings.weights.iter().map(|weight| f64::from(weight / most)).collect();
    for pass in 0.. {
        let (mut wanted, mut count, mut offered) = (true, 0u64, 0u64);
        // The first pass has reported everything.
        let pass = interleaved(data, split, &|_| (), &train_item, &mut |offer| {
            if offer.held_out {
                return Ok(None);
            }
            offered += 1;
            if let Some(share) = shares.get(offer.file)
                && rng::unit(rng::mix(rng::mix(settings.seed, pass), offered)) >= *share
            {
                return Ok(None);
            }
            count += 1;
            wanted = sender.push(offer.item);
            if wanted { Ok(None) } else { Err(Error::internal("the receiver is gone")) }
        });
        if !wanted {
            return Ok(());
        }
        pass?;
        if count == 0 {
            return Err(Error::input("the data changed while it was read"));
        }
    }
    Ok(())
}
