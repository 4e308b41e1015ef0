//! Player ratings from game results: maximum-likelihood fits per pool of comparable players, with errors by
//! covariance or bootstrap.

mod errors;
mod fit;
mod games;
mod likelihood;
mod names;
mod newton;
mod pool;
mod report;

pub use errors::{MOST_PLAYERS, RatingErrors, bootstrap, covariance};
pub use fit::{Ratings, Settings, White, fit};
pub use games::{Encounter, GameCounts, Results, read};
pub use likelihood::ResultModel;
pub use names::{read_aliases, read_anchors, read_names};
pub use pool::PoolStatus;
pub use report::{RatingReport, ReportOptions};
