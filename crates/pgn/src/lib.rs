#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! A [`Reader`] thread decompresses files and splits them ([`GameSplitter`]) into [`Chunk`]s; a [`Parser`] turns each
//! game into [`Record`]s on any thread. Games are split before they are parsed, so that a broken game never affects its
//! neighbours.

mod annotation;
mod board;
mod decision;
pub mod dialect;
mod folders;
mod game;
mod move_info;
mod movetext;
mod notation;
mod outline;
mod pairs;
mod parse_move;
mod pattern;
mod record;
mod recorder;
mod resolve;
mod rewrite;
mod scoring;
mod source;
mod split;
mod survey;
pub mod tags;
mod tally;
pub mod visits;
pub mod write;

pub use annotation::{Annotation, Score};
pub use decision::{Basis, Decision, Evidence, Survey};
pub use folders::{ENDINGS, Expanded, expand_folders};
pub use game::{Game, GameError, Parser, ResultConflict, variant};
pub use move_info::{MoveInfo, end_reason, move_infos};
pub use outline::{Token, outline};
pub use pairs::{PairFinder, opening_and_round};
pub use parse_move::parse_move;
pub use pattern::Pattern;
pub use record::{FAR, Leaf, MeanResult, Placeholders, Record, Wdl, flags};
pub use rewrite::{Part, Rewrite, result_text};
pub use scoring::{EvalSide, Factor, PerSource, ScoreOptions, Scoring};
pub use source::{Chunk, Event, Reader};
pub use split::{GameSpan, GameSplitter, is_over, may_begin};
pub use survey::{Surveyed, SurveyedReader};
pub use tags::Tags;
pub use tally::{ScoreTally, SideCheck, Sums, UnreadComment, misread};
