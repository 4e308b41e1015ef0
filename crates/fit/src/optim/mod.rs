//! Optimisers and schedules: what turns a gradient into a step.
//!
//! In: weights, a gradient of the same length, a learning rate. Out: the weights one step on. `tune` and `train`
//! share these; nothing here knows what the weights mean.

mod adagrad;
mod adam;
mod cholesky;
mod flat;
mod radam;
mod schedule;
mod sgd;

pub use adagrad::AdaGrad;
pub use adam::Step;
pub use adam::{Adam, AdamSettings};
pub use cholesky::{Cholesky, dot};
pub use flat::{Direction, directions};
pub use radam::{PERIOD, SHARE};
pub use radam::{RAdam, Ranger};
pub use schedule::{Decay, Schedule};
pub use sgd::Sgd;

/// Weights that one thread works on at a time.
pub const CHUNK: usize = 1 << 14;

/// An optimiser of first order: it sees one gradient at a time.
pub trait Stepper {
    /// Moves the weights one step against the gradient; all slices have the length that it was made for.
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32);

    /// What it remembers: the number of steps, and one number a weight in each slice.
    fn state(&self) -> (u64, Vec<&[f32]>);

    /// Takes a number of steps that was remembered, and gives the slices to fill with what was.
    fn restore(&mut self, steps: u64) -> Vec<&mut [f32]>;
}
