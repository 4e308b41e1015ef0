//! Games: from a file of PGN to the positions of each game.
//!
//! In: bytes, plain or compressed. Out: [`Game`]s in the order of the file, each with its records, or with the
//! reason why it is broken. [`source`] reads and cuts ([`split`]) on one thread; [`game`] parses each piece on any
//! thread: [`tags`] and `movetext` read the text, `notation` each move, `resolve` finds it on the `board`, and
//! [`annotation`] reads what engines wrote into the comments. A broken game never takes its neighbour, because
//! pieces are cut before anything in them is believed.

pub mod annotation;
mod board;
pub mod files;
pub mod game;
mod movetext;
mod notation;
pub mod outline;
mod record;
mod recorder;
mod resolve;
pub mod source;
pub mod split;
pub mod tags;
mod versions;

pub use annotation::EvalSide;
pub use game::{Conflict, Fault, Game, Parser};
pub use record::{FAR, Leaf, MeanResult, Record, flags};
pub use source::{Chunk, Event, Reader};
pub use split::{GameSpan, GameSplitter};
pub use tags::Tags;
