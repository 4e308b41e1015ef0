//! Statistics of matches: what counts of wins, draws and losses say about the difference of two players.
//!
//! In: counts of games ([`Trinomial`]) or of pairs of games with colours swapped ([`Pentanomial`]). Out: Elo and
//! normalised Elo with their errors, the likelihood of superiority ([`elo`]), and the state of a sequential
//! test ([`Sprt`]). Nothing here plays or reads games.

pub mod elo;
pub mod interval;
mod likelihood;
pub mod pentanomial;
mod special;
pub mod sprt;

pub use elo::Estimate;
pub use pentanomial::{Counts, Distribution, Pentanomial, Trinomial};
pub use sprt::{Model, Sprt, Verdict};
