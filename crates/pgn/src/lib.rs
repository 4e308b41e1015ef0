//! PGN to records: reads files, splits them into games and parses each game.
//!
//! A [`Reader`] thread decompresses files and splits them ([`GameSplitter`]) into [`Chunk`]s; a [`Parser`] turns each
//! game into [`Record`]s on any thread. Games are split before they are parsed, so that a broken game never affects its
//! neighbours.

mod annotation;
mod board;
mod folders;
mod game;
mod movetext;
mod notation;
mod outline;
mod record;
mod recorder;
mod resolve;
mod source;
mod split;
pub mod tags;

pub use annotation::{Annotation, EvalSide, Score};
pub use folders::expand_folders;
pub use game::{Game, GameError, Parser, ResultConflict};
pub use outline::{Token, outline};
pub use record::{FAR, Leaf, MeanResult, Record, Wdl, flags};
pub use source::{Chunk, Event, Reader};
pub use split::{GameSpan, GameSplitter};
pub use tags::Tags;
