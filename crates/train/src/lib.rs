#![doc = include_str!("../README.md")]
#![warn(missing_docs, unreachable_pub)]
//!
//! # How it trains
//!
//! The loss compares expected results: output and score both go through a sigmoid. Weights are 32-bit floats
//! during training, bounded so that they can be quantised. On the CPU the bytes of a network depend on
//! positions, their order and settings alone; on a GPU also on the device.

mod backend;
mod callbacks;
mod checkpoint;
mod cpu_backend;
mod cpu_gradient;
mod device;
mod extract;
mod feature_table;
mod fit;
mod gpu;
mod layout_file;
mod learning_rate;
mod loader;
mod loss;
mod micro_batch;
mod model;
mod optimiser;
mod outcome;
mod output_layers;
mod param_layout;
mod permutation;
mod position_weight;
mod pqr;
mod quantised;
mod rounding;
mod run;
mod safetensors;
mod score_sources;
mod settings;
mod sparse_order;
mod staged;
mod start;
mod streaming;
mod target;
mod td_lambda;
#[cfg(test)]
mod tests;
mod train_item;
mod training_data;
mod vectors;
mod wdl_loss;
mod wdl_schedule;

pub use callbacks::{Epoch, TrainingCallbacks};
pub use checkpoint::{is_checkpoint, resume_point};
pub use device::{Compute, Device, ParseDeviceError};
pub use extract::Extractor;
pub use fit::{fit, fit_from};
pub use layout_file::{is_layout_file, layout_of, no_such_layout};
pub use loader::{DataLoader, MemoryLoader, StreamLoader, StreamSender, Superbatch};
pub use model::Clipped;
pub use outcome::{Earlier, Losses, Quantisation, TrainOutcome};
pub use permutation::permutation;
pub use quantised::{random_network, random_network_of, rounding_error};
pub use settings::{Forward, Keep, LossKind, OptimiserKind, Phase, RECIPES, Settings};
pub use staged::Staged;
pub use start::Start;
pub use train_item::{TrainItem, WIN};
pub use training_data::{FittedK, TrainingData};
pub use vectors::Vectors;
