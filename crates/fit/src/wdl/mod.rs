//! From centipawns to results: the sigmoid's K, and the win/draw/loss model.
//!
//! In: scores with the results of their games, from a dataset or straight from the comments of PGN ([`source`]).
//! Out: K with its standard error, loss and table ([`sigmoid`]), or chances of win, draw and loss by score and
//! material or move number ([`Model`]): counts of equal observations ([`Histogram`]) become a [`Table`] that
//! [`fit`](fit()) takes to the maximum of its likelihood.

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
