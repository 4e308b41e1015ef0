//! Optimisers and learning-rate schedules, shared by `tune` and `train`.

mod adagrad;
mod adam;
mod nullspace;
mod radam;
mod schedule;
mod sgd;

pub use adagrad::AdaGrad;
pub use adam::{Adam, AdamSettings, Step};
pub(crate) use nullspace::nullspace;
pub use radam::{PERIOD, RAdam, Ranger, SHARE};
pub use schedule::{Decay, Schedule};
pub use sgd::Sgd;

/// Weights per parallel task.
pub const CHUNK: usize = 1 << 14;

pub trait Stepper {
    /// Steps the weights against the gradient; all slices have the length given at construction.
    fn step(&mut self, weights: &mut [f32], gradient: &[f32], learning_rate: f32);

    /// Number of steps, and per-weight state for checkpoints.
    fn state(&self) -> (u64, Vec<&[f32]>);

    /// Sets the number of steps and returns the state slices to fill from a checkpoint.
    fn restore(&mut self, steps: u64) -> Vec<&mut [f32]>;
}
