//! Gauss-Newton and Newton steps. Each step solves with the normal matrix, slightly damped (Levenberg, 1944;
//! Marquardt, 1963), and is halved until the loss falls sufficiently (Armijo, 1966). In directions of constant loss
//! (the nullspace) the gradient is 0, so values stay at their start. Where positions have many counts, a sample gives
//! the matrix: its steps are not quite Newton's, but each costs a gradient, and the gradient is exact; the whole
//! matrix ends the fit. Values at a bound that the gradient pushes against are held for the step (Bertsekas, 1982).

use super::normal::Curvature;
use super::objective::Objective;
use super::tracker::Tracker;
use patzer_io::interrupt;
use patzer_stats::{Cholesky, dot};

/// Least damping, as a share of each diagonal entry: below what data resolve, above rounding.
const DAMPING: f64 = 1e-9;

/// Stop when a step would lower the loss by less than this share.
const TOLERANCE: f64 = 1e-8;

const HALVINGS: i32 = 8;

/// A step that gains less than this share of the loss reuses the matrix for the next.
const KEEP: f64 = 1e-3;

/// A step of a sample's matrix that gains more than this share of the step before it: the rest lies where the sample
/// is wrong.
const SLOW: f64 = 0.25;

/// Returns the values of the last step; `rough` ones if a sample's matrix leads no further.
pub(super) fn run(
    objective: &Objective<'_>,
    start: Vec<f64>,
    (newton, rough): (bool, bool),
    tracker: &mut Tracker<'_>,
) -> Vec<f64> {
    let mut here = start;
    tracker.stage("gradient");
    let (mut loss, mut gradient) = objective.gradient(&here);
    tracker.passes += 1;
    let mut damping = DAMPING;
    let mut kept: Option<Factored> = None;
    let (mut every, mut last_gain) = (objective.sampling(), f64::INFINITY);
    loop {
        let held: Vec<bool> = (0..here.len()).map(|i| at_bound(objective, i, here[i], gradient[i])).collect();
        let reused = kept.take().filter(|factored| factored.held == held);
        let is_reused = reused.is_some();
        let factored =
            reused.or_else(|| Factored::new(objective, &here, held, (newton, every), damping, tracker));
        let Some(factored) = factored else { return here };
        let step = factored.step(&gradient);
        let promise = -dot(&gradient, &step);
        tracker.stage("step");
        if promise.is_nan() || promise < 2.0 * TOLERANCE * loss {
            if every == 1 || rough {
                return here;
            }
            every = 1;
            continue;
        }
        match descend(objective, &here, loss, promise, &step, tracker) {
            Some((parameters, reached, slopes, share)) => {
                let gain = loss - reached;
                (here, loss, gradient) = (parameters, reached, slopes);
                damping = (damping / 10.0).max(DAMPING);
                if !tracker.epoch(&here, loss, share) {
                    return here;
                }
                let slow = every > 1 && gain > SLOW * last_gain;
                last_gain = gain;
                if slow || gain < TOLERANCE * loss {
                    if every == 1 || rough {
                        return here;
                    }
                    every = 1;
                    continue;
                }
                // Near the optimum the matrix hardly changes, and a gradient alone is much cheaper.
                let as_promised = share == 1.0 && gain > 0.25 * promise;
                kept = ((every > 1 || gain < KEEP * loss) && as_promised).then_some(factored);
            }
            // The old matrix no longer fits; build a new one.
            None if is_reused => {}
            None if every > 1 => every = 1,
            None if damping > 1.0 => return here,
            None => damping = (damping * 1e3).max(1e-6),
        }
    }
}

/// Takes the largest share of a step that satisfies Armijo's condition: parameters, loss, gradient, share.
fn descend(
    objective: &Objective<'_>,
    here: &[f64],
    loss: f64,
    promise: f64,
    step: &[f64],
    tracker: &mut Tracker<'_>,
) -> Option<(Vec<f64>, f64, Vec<f64>, f64)> {
    for halving in 0..HALVINGS {
        let share = 0.5f64.powi(halving);
        let mut parameters: Vec<f64> =
            here.iter().zip(step).map(|(value, step)| value + share * step).collect();
        for (value, &slot) in parameters.iter_mut().zip(&objective.space.free) {
            let [low, high] = objective.model.slots[slot].bounds;
            *value = value.clamp(low, high);
        }
        let (reached, gradient) = objective.gradient(&parameters);
        tracker.passes += 1;
        if reached <= loss - 1e-4 * share * promise {
            return Some((parameters, reached, gradient, share));
        }
    }
    None
}

struct Factored {
    factor: Cholesky,
    /// Values at a bound.
    held: Vec<bool>,
}

impl Factored {
    /// Factors the matrix at `here` with relative damping of the diagonal.
    fn new(
        objective: &Objective<'_>,
        here: &[f64],
        held: Vec<bool>,
        (newton, every): (bool, usize),
        damping: f64,
        tracker: &mut Tracker<'_>,
    ) -> Option<Factored> {
        let size = here.len();
        let kinds =
            if newton { &[Curvature::Newton, Curvature::GaussNewton][..] } else { &[Curvature::GaussNewton] };
        kinds.iter().find_map(|&kind| {
            tracker.stage("matrix");
            let mut matrix = objective.sampled_normal(here, kind, every);
            tracker.passes += 1;
            if interrupt::requested() {
                return None;
            }
            for i in 0..size {
                if held[i] {
                    (0..size).for_each(|j| (matrix[i * size + j], matrix[j * size + i]) = (0.0, 0.0));
                }
                let diagonal = &mut matrix[i * size + i];
                // A value that no position counts stays.
                *diagonal = if *diagonal > 0.0 { *diagonal * (1.0 + damping) } else { 1.0 };
            }
            Some(Factored { factor: Cholesky::new(matrix, size)?, held: held.clone() })
        })
    }

    fn step(&self, gradient: &[f64]) -> Vec<f64> {
        let right: Vec<f64> =
            gradient.iter().zip(&self.held).map(|(slope, held)| if *held { 0.0 } else { -slope }).collect();
        self.factor.solve(&right)
    }
}

fn at_bound(objective: &Objective<'_>, parameter: usize, value: f64, slope: f64) -> bool {
    let [low, high] = objective.model.slots[objective.space.free[parameter]].bounds;
    (value <= low && slope > 0.0) || (value >= high && slope < 0.0)
}
