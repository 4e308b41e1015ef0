//! Players, and the results of their games.

use std::collections::BTreeMap;

use patzer_experiments::race::RaceSettings;
use patzer_match::Colours;
use patzer_stats::Sprt;

use super::games::Games;
use crate::section::{Missing, OrMissing};

/// Two games, as a rule from one opening with colours exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub players: [usize; 2],
    /// Half points of the first player in each game, 0 to 2.
    pub half_points: [u8; 2],
    /// Colour of the first player in each game: 0 is White, 1 Black.
    pub colours: Colours,
    /// Index of the opening, the first game's if colours are kept.
    pub opening: usize,
}

/// A game outside the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Single {
    /// White, Black.
    pub players: [usize; 2],
    /// Half points of White, 0 to 2.
    pub half_points: u8,
}

#[derive(Debug, Clone)]
pub struct Contest {
    pub players: Vec<String>,
    pub pairs: Vec<Pair>,
    /// Games that no pair has; they count only where there are no pairs.
    pub singles: Vec<Single>,
    pub without_result: u64,
    /// FEN or moves by the index of the opening; the standard start position has none.
    pub openings: BTreeMap<usize, String>,
    pub test: Option<Sprt>,
    /// The players are candidates, and an anchor after them.
    pub race: Option<RaceSettings>,
    pub reasons: BTreeMap<String, u64>,
    pub conditions: Vec<(String, String)>,
    /// The games, or why they are missing.
    pub games: OrMissing<Games>,
    pub link: Option<(String, String)>,
}

impl Default for Contest {
    fn default() -> Contest {
        Contest {
            players: Vec::new(),
            pairs: Vec::new(),
            singles: Vec::new(),
            without_result: 0,
            openings: BTreeMap::new(),
            test: None,
            race: None,
            reasons: BTreeMap::new(),
            conditions: Vec::new(),
            games: Err(Missing("there are no games".into())),
            link: None,
        }
    }
}
