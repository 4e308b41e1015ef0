//! Player ratings from game results: maximum-likelihood fits per pool of comparable players, with errors by
//! covariance or bootstrap.

mod errors;
mod fit;
mod likelihood;
mod newton;
mod pool;
mod report;
mod results;

pub use errors::{MOST_PLAYERS, RatingErrors, bootstrap, covariance};
pub use fit::{Ratings, Settings, White, fit};
pub use likelihood::ResultModel;
pub use pool::PoolStatus;
pub use report::{RatingReport, ReportOptions};
pub use results::{Encounter, EncounterCounts, GameCounts, Results};
