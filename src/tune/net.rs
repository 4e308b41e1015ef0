use std::path::PathBuf;

use super::net_args::NetArgs;
use super::net_run::{Run, saved_networks};
use super::{TuneResult, finish, race, save};
use crate::evaluation::load_with_digest;
use crate::prepare::{Split, check_output, reporter};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_io::Limit;
use patzer_io::number::{counted, grouped};
use patzer_io::run_folder::{INPUTS, NETWORK, RunFolder};
use patzer_prepare::NetworkTeacher;
use patzer_train::{Clipped, Compute, FittedK, Settings, Staged, TrainOutcome, TrainingData, resume_point};

pub(super) fn run(args: &NetArgs, ui: &Ui) -> Result<Status> {
    args.check_names()?;
    let args = args.resumed(ui)?;
    finish(tune(&args, ui)?, args.floats.as_deref(), ui)
}

fn tune(args: &NetArgs, ui: &Ui) -> Result<TuneResult> {
    // A bad recipe fails before the data is read; the default recipe depends on the data.
    let mut recipe = args.settings(args.recipe.as_deref().unwrap_or("default"))?;
    let start = recipe.start().map(|_| ());
    // Few positions take the recipe `small`, which the start may be of.
    if start.is_err() && (args.recipe.is_some() || args.settings("small")?.start().is_err()) {
        start?;
    }
    if !args.data.data.is_empty() && recipe.stage.iter().any(|stage| stage.contains_key("data")) {
        return Err(Error::usage("the stages of the recipe name their data; leave out DATA"));
    }
    check_recipe_files(args, &recipe)?;
    let mut folder = args.claim()?;
    let args = &args.with_dataset(&stages(&recipe)?)?;
    let mut run = Run::new(args, &folder, ui)?;
    // The number before filters is often known at once; filters may still leave fewer.
    if args.recipe.is_none()
        && patzer_prepare::known_count(&args.selection(&recipe, ui))?.is_some_and(|rows| rows < FEW as u64)
    {
        recipe = small(args, &recipe, ui)?;
        run.small = true;
    }
    let damaged = || Error::data(&run.checkpoint, "the checkpoint is damaged; delete it to start over");
    let earlier = run.resume.as_deref().map(|bytes| resume_point(bytes).ok_or_else(damaged));
    let mut staged = Staged::new(recipe, earlier.transpose()?.unwrap_or_default()).map_err(of_stage)?;
    staged.earlier().epochs.iter().for_each(|epoch| run.row(epoch));
    let (mut trained, mut earlier_epochs) = (None, 0);
    while let Some(mut stage) = staged.stage() {
        if staged.count() > 1 {
            ui.note(format!("stage {} of {}", staged.earlier().stages + 1, staged.count()));
        }
        earlier_epochs = staged.earlier().epochs.len();
        let trained_stage = train(args, &mut stage, &mut staged, &mut run, &mut folder, ui);
        if interrupt::requested() && folder.path().join(INPUTS).exists() {
            ui.note(format!("{} goes on after the last whole epoch", args.resume_command()));
        }
        interrupt::check()?;
        let (data, outcome) = trained_stage?;
        staged.finish(&outcome);
        trained = Some((stage, data, outcome));
    }
    let Some((stage, data, outcome)) = trained else {
        return Err(Error::input("the checkpoint is of a run with more stages"));
    };
    let sha256 = save(&outcome.network.to_bytes(), &args.output, &folder.path().join(NETWORK))?;
    if let Some(path) = &args.floats {
        patzer_io::write_with_companion(path, &outcome.safetensors())?;
    }
    run.log.finish()?;
    let chosen = race::strongest(args, &folder, stage.seed, ui)?;
    let sha256 = chosen.as_ref().map_or(Ok(sha256), |chosen| {
        save(&patzer_io::read(&chosen.network, Limit::NETWORK)?, &args.output, &folder.path().join(NETWORK))
    })?;
    let warnings = warnings(&data, &outcome);
    warnings.iter().for_each(|warning| ui.warn(warning));
    let rates = outcome.epochs.iter().map(|epoch| epoch.positions_per_second);
    Ok(TuneResult {
        positions: data.positions(),
        validation_positions: data.validation_positions(),
        parameters: outcome.parameters,
        epochs: earlier_epochs + outcome.epochs.len(),
        best_epoch: if outcome.best_epoch == 0 { 0 } else { earlier_epochs + outcome.best_epoch },
        keep: stage.keep,
        k: stage.k.unwrap_or(1.0).into(),
        train_loss_before: outcome.epochs.first().map(|epoch| epoch.train_loss),
        validation_loss_before: outcome.losses.start,
        train_loss: outcome.losses.train,
        validation_loss: outcome.losses.validation,
        positions_per_second: rates.sum::<f64>() / outcome.epochs.len() as f64,
        quantisation: Some(outcome.quantisation),
        device: Some(outcome.device),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        output: args.output.clone(),
        sha256: Some(sha256),
        race: chosen,
        run: Some(folder),
        remarks: vec![
            "(train loss: over the first epoch → of the network kept; validation loss: of the start → of it)"
                .to_string(),
            format!(
                "{}, quantised: off by {:.2} centipawns in the mean, {:.1} at most; {:.1} % of activations are 0{}",
                outcome.network.architecture(),
                outcome.quantisation.mean_error,
                outcome.quantisation.max_error,
                100.0 * outcome.quantisation.zero_activations,
                outcome.quantisation.zero_blocks.map_or(String::new(), |share| {
                    format!(", {:.1} % of the blocks of four that the engine skips", 100.0 * share)
                })
            ),
        ],
        ..TuneResult::default()
    })
}

/// Refuses outputs that are files which the recipe or one of its stages reads.
fn check_recipe_files(args: &NetArgs, recipe: &Settings) -> Result<()> {
    let stages = stages(recipe)?;
    let read = |stage: &Settings| {
        let networks = stage.start.iter().chain(&stage.teacher);
        let files = stage.data.iter().chain(&stage.validation_data).chain(networks);
        files.cloned().collect::<Vec<PathBuf>>()
    };
    let inputs: Vec<PathBuf> = stages.iter().flat_map(read).collect();
    let mut outputs = [&args.output].into_iter().chain(&args.floats);
    outputs.try_for_each(|output| check_output(output, &inputs, "recipe's inputs"))
}

fn stages(recipe: &Settings) -> Result<Vec<Settings>> {
    recipe.stages().map_err(of_stage)
}

fn of_stage((stage, reason): (usize, String)) -> Error {
    Error::usage(format!("stage {stage}: {reason}"))
}

/// Reads a stage's data and trains on them, by the other recipe where filters leave few positions.
fn train(
    args: &NetArgs,
    stage: &mut Settings,
    staged: &mut Staged,
    run: &mut Run,
    folder: &mut RunFolder,
    ui: &Ui,
) -> Result<(TrainingData, TrainOutcome)> {
    let compute = run.compute.take().map_or_else(|| Compute::open(args.device.unwrap_or_default()), Ok)?;
    let split = Split { validation: stage.validation, seed: stage.seed };
    let mut validation = args.validation_data.clone();
    if validation.is_empty() {
        validation.clone_from(&stage.validation_data);
    }
    let mut selection = args.selection(stage, ui);
    if let Some(path) = &stage.teacher {
        let (evaluation, sha256) = load_with_digest(path, ui)?;
        selection.teacher = Some(NetworkTeacher::new(path, evaluation, sha256)?);
    }
    let data = TrainingData::read(&selection, &validation, split, stage, &reporter(ui))?;
    if let Some(note) = data.score_note() {
        ui.note(note);
    }
    if let Some(FittedK { k, positions }) = data.fitted_k() {
        ui.note(format!("K = {k:.4}, fitted to {} scores and results", grouped(positions as u64)));
    }
    ui.note(data.summary());
    ui.note(format_args!("training on {}", compute.about()));
    if args.recipe.is_none() && !run.small && data.positions() < FEW {
        *stage = small(args, stage, ui)?;
    }
    if staged.earlier().stages == 0 {
        said_start(stage, ui)?;
    }
    staged.decided(stage, data.fitted_k().is_some());
    folder.begin()?.iter().for_each(|note| ui.note(note));
    let (recipe, earlier) = (staged.recipe(), staged.earlier());
    if earlier.stages == 0 && run.resume.is_none() {
        saved_networks(folder.path()).iter().try_for_each(|path| patzer_io::remove_if_exists(path))?;
        race::clear(folder)?;
    }
    let number = earlier.stages + 1;
    // The settings beside a checkpoint that turns out to be of another run are that run's.
    let resumes = run.resume.is_some();
    if !resumes {
        args.save(folder, number, recipe, &data.inputs())?;
    }
    let epoch = data.epoch(stage)? as u64;
    run.bar = ui.progress("training", stage.epochs as u64 * epoch);
    (run.positions, run.epochs) = (epoch, stage.epochs);
    let outcome = data.fit(stage, earlier, compute, run)?;
    if resumes {
        args.save(folder, number, recipe, &data.inputs())?;
    }
    run.bar.finish_and_clear();
    Ok((data, outcome))
}

/// Notes the weights of `start` that are clipped, and the layout of raw ones, unless the recipe names it.
fn said_start(stage: &Settings, ui: &Ui) -> Result<()> {
    let (Some(path), Some(start)) = (&stage.start, stage.start()?) else { return Ok(()) };
    if let Some(Clipped { weights, largest, limit }) = start.clipped(stage) {
        ui.note(format!(
            "{}: {} beyond the limits of training clipped, the furthest from {largest:.2} to {limit:.2}",
            path.display(),
            counted(weights as u64, "weight")
        ));
    }
    let Some(raw) = start.raw else { return Ok(()) };
    if let Some((rounded, error)) = raw.rounding {
        ui.note(crate::net::rounded(path, rounded, &error));
    }
    if stage.start_layout.is_none() {
        let how = format!("by its size in the layout {}", raw.layout);
        ui.note(crate::net::taken_as(path, &raw.architecture, &how, "start_layout names another layout"));
        crate::net::doubt(path, &start.network, "start_layout names another", ui);
    }
    Ok(())
}

/// Fewer positions than this train a smaller network better.
const FEW: usize = 1_000_000;

/// The recipe for few positions, with the K and the epochs for `positions` found so far.
fn small(args: &NetArgs, default: &Settings, ui: &Ui) -> Result<Settings> {
    let small = args.settings("small")?;
    let epochs = if small.positions > 0 { default.epochs } else { small.epochs };
    let small = Settings { k: small.k.or(default.k), epochs, ..small };
    let changes = small.difference(default).join(", ");
    ui.note(format!(
        "fewer than a million positions: recipe `small` ({changes}); --recipe default trains the other"
    ));
    Ok(small)
}

/// Warnings by the losses of a network.
fn warnings(data: &TrainingData, outcome: &TrainOutcome) -> Vec<String> {
    let (weights, positions, losses) = (outcome.parameters, data.positions(), &outcome.losses);
    let mut warnings = Vec::new();
    if losses.kept() >= losses.constant {
        warnings.push(format!(
            "the network has learnt nothing: its loss {:.6} is not below {:.6}, that of the same value for every \
             position; try a lower learning rate, and see that the scores have the right side and unit",
            losses.kept(),
            losses.constant
        ));
    }
    if let (0, Some(start)) = (outcome.best_epoch, losses.start) {
        warnings.push(format!("the start is kept: no epoch's validation loss is below its {start:.6}"));
    }
    match (losses.validation, losses.needed(positions)) {
        (Some(validation), Some(needed)) => warnings.push(format!(
            "{} positions are few for {} weights: the loss is {validation:.6} on held-out positions, \
             {:.6} on those trained on; as this gap falls with their number, about {} would bring it below a \
             tenth; test the network with patzer sprt",
            grouped(positions as u64),
            grouped(weights as u64),
            losses.train,
            grouped(needed as u64)
        )),
        (None, _) if positions < weights => warnings.push(format!(
            "{} weights are trained on {} positions; no games are held out that could show what it is \
             worth; test it with patzer sprt",
            grouped(weights as u64),
            grouped(positions as u64)
        )),
        _ => (),
    }
    warnings
}
