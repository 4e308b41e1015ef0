//! Player ratings from game results: maximum-likelihood fits per pool of comparable players, with errors by
//! covariance or bootstrap.

pub mod errors;
pub mod fit;
pub mod games;
pub mod likelihood;
mod newton;
pub mod pool;

pub use errors::{Errors, bootstrap, covariance};
pub use fit::{Ratings, Settings, White, fit};
pub use games::{Account, Encounter, Results, read};
pub use likelihood::Model;
pub use pool::{Place, places};
