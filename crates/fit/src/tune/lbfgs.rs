//! L-BFGS by argmin, for more parameters than a matrix can hold. Parameters are scaled by the root of their
//! counts, which conditions the problem better. Sources: Liu and Nocedal, "On the limited memory BFGS method
//! for large scale optimization" (1989); line search of Moré and Thuente (1994).

use std::cell::RefCell;

use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;

use super::objective::Objective;
use super::tracker::Tracker;
use patzer_io::error::{Error, Result};

const MEMORY: usize = 30;

/// The objective in scaled parameters; caches the last pass for argmin's separate loss and gradient.
struct Problem<'a, 'b, 'c> {
    objective: &'a Objective<'b>,
    scale: Vec<f64>,
    state: RefCell<State<'a, 'c>>,
}

struct State<'a, 'c> {
    tracker: &'a mut Tracker<'c>,
    last: Option<(Vec<f64>, f64, Vec<f64>)>,
    stopped: bool,
}

const STOP: &str = "stop";

impl Problem<'_, '_, '_> {
    fn at(&self, scaled: &[f64]) -> std::result::Result<(f64, Vec<f64>), argmin::core::Error> {
        let state = &mut *self.state.borrow_mut();
        if let Some((at, loss, gradient)) = &state.last
            && at == scaled
        {
            return Ok((*loss, gradient.clone()));
        }
        if state.stopped {
            return Err(argmin::core::Error::msg(STOP));
        }
        let parameters: Vec<f64> = scaled.iter().zip(&self.scale).map(|(x, scale)| x * scale).collect();
        let (loss, mut gradient) = self.objective.gradient(&parameters);
        gradient.iter_mut().zip(&self.scale).for_each(|(g, scale)| *g *= scale);
        state.tracker.passes += 1;
        state.stopped = !state.tracker.epoch(&parameters, loss, 1.0);
        state.last = Some((scaled.to_vec(), loss, gradient.clone()));
        Ok((loss, gradient))
    }
}

impl CostFunction for Problem<'_, '_, '_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, scaled: &Vec<f64>) -> std::result::Result<f64, argmin::core::Error> {
        Ok(self.at(scaled)?.0)
    }
}

impl Gradient for Problem<'_, '_, '_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, scaled: &Vec<f64>) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        Ok(self.at(scaled)?.1)
    }
}

pub(super) fn run(objective: &Objective<'_>, start: Vec<f64>, tracker: &mut Tracker<'_>) -> Result<()> {
    let scale = scales(objective);
    let scaled: Vec<f64> = start.iter().zip(&scale).map(|(value, scale)| value / scale).collect();
    let state = RefCell::new(State { tracker, last: None, stopped: false });
    let problem = Problem { objective, scale, state };
    let fault = |e: argmin::core::Error| Error::internal(format!("L-BFGS: {e}"));
    let search = MoreThuenteLineSearch::new().with_c(1e-4, 0.9).map_err(fault)?;
    let solver = LBFGS::new(search, MEMORY)
        .with_tolerance_grad(1e-9)
        .and_then(|solver| solver.with_tolerance_cost(1e-11))
        .map_err(fault)?;
    let executor = Executor::new(problem, solver)
        .configure(|state| state.param(scaled).max_iters(1_000_000))
        .timer(false);
    // The tracker has the best values; a line search that ends on rounding is a normal end.
    let _ = executor.run();
    Ok(())
}

/// 100 centipawns over the root of each parameter's mean count.
fn scales(objective: &Objective<'_>) -> Vec<f64> {
    let seen = objective.traces.seen(objective.space.kept.len());
    let mut counts = vec![0u64; objective.space.parameters()];
    for (half, owner) in objective.space.owners(objective.model).iter().enumerate() {
        if let Some(owner) = *owner {
            counts[owner] += seen[half / 2];
        }
    }
    let positions = objective.traces.positions as f64;
    counts.iter().map(|&count| 100.0 * (positions / (count.max(1) as f64)).sqrt()).collect()
}
