//! Ratings of players from the results of their games.
//!
//! In: PGN of any kind, of which only the tags White, Black and Result are read ([`games`]). Out: ratings of greatest
//! likelihood ([`fit`]) in each pool of players that can be compared ([`pool`]), with errors by the covariance or by
//! bootstrap ([`errors`]).

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
