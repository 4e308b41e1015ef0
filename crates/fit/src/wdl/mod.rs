//! From centipawns to results: the fit of K ([`fit_k`]), and the win/draw/loss model ([`Model`]) fitted to
//! counts of scored positions ([`Histogram`], [`Table`]).

mod buckets;
pub mod fit;
pub mod histogram;
mod likelihood;
pub mod model;
pub mod sigmoid;
pub mod source;

pub mod table;

pub use buckets::{Bucket, buckets};
pub use fit::{Fitted, fit};
pub use histogram::{Bin, Histogram, Observation};
pub use model::Model;
pub use sigmoid::{Fit, fit_k, fit_k_by_game, loss, sigmoid};
pub use table::{Bounds, By, Table};
