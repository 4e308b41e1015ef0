//! `patzer tune` on data larger than memory: positions are read again and again while the network learns.
//!
//! In: the data arguments. Out: first a look at all of it, which gives the positions that are held out, a sample to fit K
//! to, and the account; then a stream of the others, shuffled in portions.

use super::TuneArgs;
use super::net::Run;
use super::net_data::item;
use crate::Ui;
use crate::prepare::{Account, DataArgs, Split, interleaved};
use patzer_io::error::{Error, Result};
use patzer_train as train;
use patzer_train::{Compute, Outcome, Settings, StreamLoader, StreamSender, Superbatch, TrainItem};

/// The most positions held out that are kept, and the most of the sample.
const VALIDATION: usize = 1 << 20;
const SAMPLE: usize = 1 << 20;

/// What a first pass over the data finds.
pub(super) struct Preview {
    pub account: Account,
    /// Positions to train on.
    pub positions: usize,
    pub validation: Vec<TrainItem>,
    pub sample: Vec<TrainItem>,
}

impl Preview {
    /// Goes through the data once.
    pub fn new(args: &TuneArgs, split: Split, ui: &Ui) -> Result<Preview> {
        let (mut positions, mut validation, mut sample) = (0, Vec::new(), Vec::new());
        let account = interleaved(&args.data, split, ui, &mut |offer| {
            let item = match item(offer.sample, offer.board, offer.turn) {
                Ok(item) => item,
                Err(reason) => return Ok(Some(reason)),
            };
            match offer.held_out {
                true if validation.len() < VALIDATION => validation.push(item),
                true => return Ok(Some("more to validate than is kept")),
                false => {
                    positions += 1;
                    if sample.len() < SAMPLE {
                        sample.push(item);
                    }
                }
            }
            Ok(None)
        })?;
        if positions == 0 {
            return Err(Error::usage(format!(
                "no positions are left to learn from: {}",
                account.summary(0, validation.len())
            )));
        }
        Ok(Preview { account, positions, validation, sample })
    }

    /// Trains while another thread reads.
    pub fn fit(
        &self,
        args: &TuneArgs,
        split: Split,
        settings: &Settings,
        compute: Compute,
        run: &mut Run,
    ) -> Result<Outcome> {
        let cut = Superbatch::new(settings.superbatch, settings.buffer, settings.batch);
        // The datasets say which games they were made from; the count tells apart what filters leave of them.
        let sources =
            serde_json::to_string(&self.account.sources).map_err(|e| Error::internal(e.to_string()))?;
        let identity = format!("{sources} {}", self.positions);
        let (feeder, mut stream) = StreamLoader::new(cut, settings.seed, identity, self.sample.clone());
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| feed(&args.data, split, feeder));
            let outcome = train::fit_from(&mut stream, &self.validation, settings, compute, run);
            // Then the reader finds nobody who wants more.
            drop(stream);
            match (outcome, reader.join()) {
                (Err(_), Ok(Err(reason))) => Err(reason),
                (outcome, _) => outcome,
            }
        })
    }
}

/// Reads the data again and again until nobody wants more.
fn feed(args: &DataArgs, split: Split, mut feeder: StreamSender) -> Result<()> {
    // What there is to say was said in the first pass.
    let ui = Ui::new(false, true);
    loop {
        let (mut wanted, mut count) = (true, 0u64);
        let pass = interleaved(args, split, &ui, &mut |offer| {
            if offer.held_out {
                return Ok(None);
            }
            match item(offer.sample, offer.board, offer.turn) {
                Ok(item) => {
                    count += 1;
                    wanted = feeder.push(item);
                    if wanted { Ok(None) } else { Err(Error::internal("nobody wants more")) }
                }
                Err(reason) => Ok(Some(reason)),
            }
        });
        if !wanted {
            return Ok(());
        }
        pass?;
        if count == 0 {
            return Err(Error::usage("the data changed while it was read"));
        }
    }
}
