//! From centipawns to results: the fit of K ([`fit_k`]), and the win/draw/loss model ([`WdlModel`]) fitted to
//! counts of scored positions ([`Histogram`], [`WdlTable`]).

mod buckets;
mod evaluated;
mod fit;
mod histogram;
mod k;
mod likelihood;
mod model;
pub mod scale;
pub mod source;
mod table;

pub use buckets::{Bucket, buckets};
pub use evaluated::evaluated;
pub use fit::{FittedModel, fit};
pub use histogram::{Bin, Histogram, Observation};
pub use k::{KFit, fit_k, fit_k_by_game, loss};
pub use model::WdlModel;
pub use table::{Bounds, By, WdlRow, WdlTable};
