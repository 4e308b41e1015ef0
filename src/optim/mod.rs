//! Optimisers and schedules: what turns a gradient into a step.
//!
//! In: weights, a gradient of the same length, a learning rate. Out: the weights one step on. `tune` and `train`
//! share these; nothing here knows what the weights mean.

mod adam;
mod schedule;

pub use adam::{Adam, AdamSettings};
pub use schedule::{Decay, Schedule};
