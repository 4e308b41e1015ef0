//! Standing of a factor.

use patzer_io::named;

named! {
    /// Standing of a factor of a screen
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Standing {
        Open: "open", "Both levels play";
        Kept: "kept", "The change is known to gain: all play with it";
        Dropped: "dropped", "The change is known not to be worth it: all play without it";
    }
}

patzer_io::serde_as_text!(Standing);

impl Standing {
    /// Level of all players, once decided.
    pub fn level(self) -> Option<u8> {
        match self {
            Standing::Open => None,
            Standing::Kept => Some(1),
            Standing::Dropped => Some(0),
        }
    }
}
