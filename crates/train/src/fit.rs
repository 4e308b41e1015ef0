//! Training runs: stages of epochs on any loader and device.

use std::time::Instant;

use super::cpu_gradient::{self, CpuGradient};
use super::loader::{SAMPLE, evenly};
use super::model::Model;
use super::quantised::{about, compare, network};
use super::run::Run;
use super::{
    Compute, DataLoader, Earlier, Epoch, Losses, MemoryLoader, Settings, TrainItem, TrainOutcome,
    TrainingCallbacks,
};
use patzer_io::error::{Error, Result};

/// Trains a network on positions in memory, on the CPU. SIGINT ends the run with the best epoch so far.
pub fn fit(
    train: &[TrainItem],
    validation: &[TrainItem],
    settings: &Settings,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<TrainOutcome> {
    settings.validate()?;
    fit_from(&mut MemoryLoader::new(train, settings)?, validation, settings, Compute::cpu(), callbacks)
}

/// Trains a network on batches of any loader, on any device; see [`fit`].
pub fn fit_from(
    loader: &mut dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    compute: Compute,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<TrainOutcome> {
    fit_stage(loader, validation, settings, &Earlier::default(), compute, callbacks)
}

/// Trains on from the weights of the stages before; see [`fit_from`].
pub(super) fn fit_stage(
    loader: &mut dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    earlier: &Earlier,
    compute: Compute,
    callbacks: &mut dyn TrainingCallbacks,
) -> Result<TrainOutcome> {
    settings.validate()?;
    // A later stage has its weights, and only describes the file, which may be gone.
    let file = if earlier.stages == 0 { settings.start()? } else { settings.start().ok().flatten() };
    let start = file.as_ref().filter(|_| earlier.stages == 0).map(|start| &start.network);
    let layout = file.as_ref().and_then(|start| start.raw.as_ref()).map(|raw| &raw.layout[..]);
    let about = about(loader, validation, settings, start, layout, earlier);
    let mut run = Run::new(loader, settings, start, earlier, compute, callbacks)?;
    let start_loss = run.begin(validation)?;
    if let Some(bytes) = callbacks.resume()? {
        let device = run.restore(&bytes, &about.training)?;
        if device != run.backend.device() {
            callbacks.device_changed(&device, run.backend.device());
        }
        run.epochs.iter().for_each(|epoch| callbacks.epoch(epoch));
    }
    // All epochs are validated against the same target.
    let target = run.target(run.steps);
    while run.epochs.len() < settings.epochs && !run.patience_is_over(settings.patience) {
        let epoch = run.epochs.len() + 1;
        let start = Instant::now();
        let Some(train_loss) = run.epoch(loader, epoch)? else { break };
        let seconds = start.elapsed().as_secs_f64();
        let validation_loss = (!validation.is_empty())
            .then(|| run.backend.mean_loss(run.loss, target, validation))
            .transpose()?;
        let done = Epoch {
            epoch,
            train_loss,
            validation_loss,
            learning_rate: run.rate.at(run.step.saturating_sub(1)),
            positions_per_second: loader.positions() as f64 / seconds.max(1e-9),
        };
        run.finish(done)?;
        callbacks.epoch(&done);
        callbacks.save_network(&mut || {
            let model = Model { parameters: run.backend.validated_weights()?, layout: run.layout.clone() };
            network(&model, about.clone(), run.loss.k, &loader.sample())
        })?;
        callbacks.save_checkpoint(&mut || Ok(run.checkpoint(&about.training)?.to_bytes()))?;
    }
    let (Some((best_loss, best_epoch, parameters)), Some(_)) = (run.best.take(), run.epochs.first()) else {
        return Err(Error::input("stopped before the first epoch was done; there is no network to keep"));
    };
    let model = Model { parameters, layout: run.layout.clone() };
    let trained = loader.sample();
    let network = network(&model, about, run.loss.k, &trained)?;
    let judged = if validation.is_empty() { &trained[..] } else { validation };
    let losses = Losses {
        train: CpuGradient::once(&model, settings).mean_loss(&model, run.loss, target, &trained),
        validation: start_loss.map(|_| best_loss),
        start: start_loss,
        constant: run.loss.of_constant(target, judged, settings.position_weight.as_ref()),
    };
    let judged: Vec<TrainItem> = evenly(judged, 1, SAMPLE / 2).copied().collect();
    let floats = cpu_gradient::centipawns(&model, &judged, false, run.loss.k);
    let quantisation = compare(&floats, &network, &judged);
    let parameters = network.parameters();
    let device = run.backend.device().to_string();
    Ok(TrainOutcome {
        network,
        epochs: run.epochs,
        best_epoch,
        losses,
        quantisation,
        parameters,
        device,
        model,
    })
}
