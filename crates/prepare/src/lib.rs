#![doc = include_str!("../README.md")]

mod account;
mod batch;
mod event;
pub mod labelled_cache;
pub mod leaf;
mod network_teacher;
mod offer;
mod prepared;
mod selection;
mod split;
mod stream;

pub use account::Account;
pub use event::{Event, Report};
pub use leaf::halfmoves_at;
pub use network_teacher::NetworkTeacher;
pub use offer::{MakeItem, Offer};
pub use prepared::{Prepared, prepare, prepare_with};
pub use selection::{DataSelection, RunInputs, default_dataset};
pub use split::Split;
pub use stream::{interleaved, known_count, paths, stream};
