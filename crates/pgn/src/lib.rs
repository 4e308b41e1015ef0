//! Games: from a file of PGN to the positions of each game.
//!
//! In: bytes, plain or compressed. Out: [`Game`]s in the order of the file, each with its samples, or with the
//! reason why it is broken. [`source`] reads and cuts ([`cut`]) on one thread; [`game`] parses each piece on any
//! thread: [`tags`] and `movetext` read the text, `notation` each move, `resolve` finds it on the `board`, and
//! [`annotation`] reads what engines wrote into the comments. A broken game never takes its neighbour, because
//! pieces are cut before anything in them is believed.

pub mod annotation;
mod board;
pub mod cut;
pub mod files;
pub mod game;
mod movetext;
mod notation;
pub mod outline;
mod recorder;
mod resolve;
mod sample;
pub mod source;
pub mod tags;
mod versions;

pub use annotation::EvalSide;
pub use cut::{Cutter, Piece};
pub use game::{Conflict, Fault, Game, Parser};
pub use sample::{FAR, Leaf, MeanResult, Sample, flags};
pub use source::{Chunk, Event, Reader};
pub use tags::Tags;
