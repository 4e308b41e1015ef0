//! Player ratings from game results: maximum-likelihood fits per pool of comparable players, with errors by
//! covariance or bootstrap.

pub mod errors;
pub mod fit;
pub mod games;
pub mod likelihood;
mod newton;
pub mod pool;

pub use errors::{RatingErrors, bootstrap, covariance};
pub use fit::{Ratings, Settings, White, fit};
pub use games::{Encounter, GameCounts, Results, read};
pub use likelihood::ResultModel;
pub use pool::{PoolStatus, pool_status};
