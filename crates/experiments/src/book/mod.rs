//! Opening books: made by an engine's scores, described, and scored by the games that were played from them.

mod games;
mod make;
mod output;
mod scoring;
mod survey;

pub use games::{BookScores, OpeningScore, score_games};
pub use make::{BookCounts, MadeBook, MakeOptions, Source, make};
pub use output::{to_epd, to_pgn};
pub use scoring::{Scorer, score_all};
pub use survey::{BadEntry, BookSurvey, SCORE_BIN, SCORE_ENDS, survey};
