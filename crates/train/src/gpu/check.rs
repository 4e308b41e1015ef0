//! Check of a device against the CPU before a run: losses, the gradient (twice), and one step, which is undone.
//! The driver compiles the kernels for devices no test has seen, and a fault would only show as a worse network.

use super::Gpu;
use crate::backend::{Backend, StepParams, pull_keep};
use crate::cpu_backend::mix;
use crate::cpu_gradient::CpuGradient;
use crate::loader::evenly;
use crate::model::Model;
use crate::optimiser::Optimiser;
use crate::{Forward, Settings, TrainItem};
use patzer_io::error::{Error, Hint, Result};

/// Positions compared: enough to give every kernel several blocks.
const POSITIONS: usize = 4096;
/// Relative tolerances of gradients and of steps, whose weights are rounded.
const GRADIENT: f64 = 1e-4;
const STEP: f64 = 1e-3;
/// Tolerance of gradients in rounded passes of further layers: their sums are often exactly 0 or 1, where the last
/// bit, depends on the order of the sum, decides on the derivative.
const ROUNDED: f64 = 0.1;
/// Gradient sections below this share of the whole are rounding.
const NOTHING: f64 = 1e-6;
const TINY: f64 = f64::MIN_POSITIVE;

pub(crate) fn check(
    gpu: &mut Gpu,
    model: &Model,
    settings: &Settings,
    positions: &[TrainItem],
) -> Result<()> {
    let (loss, target) = (settings.loss(), settings.target(settings.wdl));
    let most = POSITIONS.min(gpu.work.plan.batch);
    let items = &evenly(positions, loss.group(), most).copied().collect::<Vec<_>>();
    if items.is_empty() {
        return Ok(());
    }
    let mut cpu = CpuGradient::new(model, items.len(), settings.forward == Forward::I16);
    cpu.follow(settings);
    let fresh = gpu.save()?;

    if settings.quantisation_aware > 0.0 {
        check_gradient(gpu, &mut cpu, model, settings, items, true)?;
    }
    let mut gradient = check_gradient(gpu, &mut cpu, model, settings, items, false)?;
    let found = gpu.mean_loss(loss, target, items)?;
    let expected = cpu.mean_loss(model, loss, target, items);
    gpu.agrees("validation losses", apart(found, expected), GRADIENT)?;

    // Start from the device's own gradient, so that only the step differs.
    let rate = settings.learning_rate;
    gpu.optimise(&StepParams { number: 1, loss, target, rate, rounds: false })?;
    let mut weights = model.parameters.clone();
    Optimiser::new(settings, model.layout.limits()).step(&mut weights, &mut gradient, rate);
    let stepped = gpu.save()?.parameters;
    if settings.pull > 0.0 {
        mix(pull_keep(settings.pull, rate), &mut weights, &model.parameters);
    }
    let away = distance(&weights, &stepped) / distance(&model.parameters, &weights).max(TINY);
    gpu.agrees("steps", away, STEP)?;
    gpu.restore(&fresh).map(|_| ())
}

/// Compares losses and gradients, and runs them again; the device's gradient.
fn check_gradient(
    gpu: &mut Gpu,
    cpu: &mut CpuGradient,
    model: &Model,
    settings: &Settings,
    items: &[TrainItem],
    rounds: bool,
) -> Result<Vec<f32>> {
    let (loss, target) = (settings.loss(), settings.target(settings.wdl));
    let batch: Vec<u32> = (0..items.len() as u32).collect();
    gpu.rounds = rounds;
    cpu.rounds(rounds);
    let most = if rounds && !model.layout.inner().is_empty() { ROUNDED } else { GRADIENT };
    let (found, gradient) = gpu.gradient_of(items, &batch, loss, target)?;
    let (expected, exact) = cpu.gradient(model, loss, target, items, &batch);
    gpu.agrees("losses", apart(found, expected), GRADIENT)?;
    let whole = length(exact);
    for (what, part) in model.layout.parts() {
        let (exact, found) = (&exact[part.clone()], &gradient[part]);
        gpu.agrees(what, distance(exact, found) / length(exact).max(NOTHING * whole).max(TINY), most)?;
    }
    let (again, same) = gpu.gradient_of(items, &batch, loss, target)?;
    let repeats = again.to_bits() == found.to_bits()
        && same.iter().zip(&gradient).all(|(a, b)| a.to_bits() == b.to_bits());
    if !repeats {
        return Err(gpu.fault("computes another gradient when it is run again"));
    }
    Ok(gradient)
}

impl Gpu {
    fn agrees(&self, what: &str, away: f64, most: f64) -> Result<()> {
        if away <= most {
            return Ok(());
        }
        Err(self.fault(&format!("computes {what} that are off by {away:.1e} of the CPU's")))
    }

    fn fault(&self, what: &str) -> Error {
        Error::internal(format!(
            "{} {what}: a fault of patzer or of the driver, please report it",
            self.work.driver.name()
        ))
        .hint(Hint::Cpu)
    }
}

fn apart(found: f64, expected: f64) -> f64 {
    (found - expected).abs() / expected.abs().max(TINY)
}

pub(super) fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

pub(super) fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}
