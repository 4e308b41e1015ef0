//! Players, and the results of their games.

use std::collections::BTreeMap;

use patzer_experiments::race::RaceSettings;
use patzer_match::Colours;
use patzer_stats::Sprt;

use super::games::Games;
use crate::section::{Missing, OrMissing};

/// Two games, usually from one opening with colours exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Indices of the two players.
    pub players: [usize; 2],
    /// Half points of the first player in each game, 0 to 2.
    pub half_points: [u8; 2],
    /// Colour of the first player in each game: 0 is White, 1 Black.
    pub colours: Colours,
    /// Index of the opening; the first game's if colours are not exchanged.
    pub opening: usize,
}

/// A game outside the pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Single {
    /// Indices of White and Black.
    pub players: [usize; 2],
    /// Half points of White, 0 to 2.
    pub half_points: u8,
}

/// A match, test, tournament or race, as its report needs it.
#[derive(Debug, Clone)]
pub struct Contest {
    /// Names of the players; the report takes the first one's side.
    pub players: Vec<String>,
    /// Finished pairs, in their order.
    pub pairs: Vec<Pair>,
    /// Games outside the pairs; they count only if there are no pairs.
    pub singles: Vec<Single>,
    /// Number of games without a result.
    pub without_result: u64,
    /// FEN or moves by index of the opening; the standard start position has none.
    pub openings: BTreeMap<usize, String>,
    /// The sequential test, if it was one.
    pub test: Option<Sprt>,
    /// Settings of a race; then the players are candidates, and after them an anchor.
    pub race: Option<RaceSettings>,
    /// Number of games by the reason of their end.
    pub reasons: BTreeMap<String, u64>,
    /// Conditions such as the time control: name and value.
    pub conditions: Vec<(String, String)>,
    /// Games of the PGN, or the reason why they are missing.
    pub games: OrMissing<Games>,
    /// A link from the report: text and address.
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
