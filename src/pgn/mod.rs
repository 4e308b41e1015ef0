//! Games: from a file of PGN to the positions of each game.
//!
//! In: bytes, plain or compressed. Out: [`Game`]s in the order of the file, each with its samples, or with the
//! reason why it is broken. [`source`] reads and cuts ([`cut`]) on one thread; [`game`] parses each piece on any
//! thread, with [`tokens`] checking that nothing in the movetext was passed over and [`annotation`] reading
//! what engines wrote into the comments. A broken game never takes its neighbour, because pieces are cut before
//! anything in them is believed.

pub mod annotation;
pub mod cut;
pub mod game;
mod recorder;
pub mod source;
pub mod tags;
pub mod tokens;

pub use cut::{Cutter, Piece};
pub use game::{Fault, Feed, Game, Parser};
pub use source::{Chunk, Event, Reader};
