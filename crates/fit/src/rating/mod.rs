//! Files of games and of players' names, read for [`patzer_stats::rating`].

mod games;
mod names;

pub use games::read;
pub use names::{read_aliases, read_anchors, read_names};
