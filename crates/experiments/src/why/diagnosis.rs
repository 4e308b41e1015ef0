//! Causes of a match's result, the hardest evidence first.
//!
//! A cause is named only where it exceeds a size that matters between engines, and chance by far.

use serde::Serialize;

use super::causes::{games, scores, search};
use super::facts::MatchFacts;

/// A cause that stands out, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    pub cause: &'static str,
    /// Player at fault, 0 or 1.
    pub player: usize,
    /// One sentence with the numbers.
    pub sentence: String,
}

struct Cause {
    name: &'static str,
    /// Player at fault and the sentence.
    find: fn(&MatchFacts) -> Option<(usize, String)>,
}

/// All causes in order; to add one, add a row.
const CAUSES: &[Cause] = &[
    Cause { name: "forfeits", find: games::forfeits },
    Cause { name: "colours", find: games::colours },
    Cause { name: "repeated games", find: games::repeated },
    Cause { name: "openings", find: games::openings },
    Cause { name: "nodes", find: search::nodes },
    Cause { name: "time", find: search::time },
    Cause { name: "speed", find: search::speed },
    Cause { name: "symmetry", find: scores::symmetry },
    Cause { name: "sign", find: scores::sign },
    Cause { name: "scale", find: scores::scale },
    Cause { name: "evaluation", find: scores::evaluation },
    Cause { name: "offset", find: scores::offset },
    Cause { name: "draws", find: games::draws },
    Cause { name: "depth", find: search::depth },
    Cause { name: "noise", find: scores::unsteady },
    Cause { name: "scores", find: scores::scores },
    Cause { name: "moves", find: scores::moves },
];

/// Causes that stand out: the weaker player's faults first, then in the order of the evidence.
pub fn diagnose(facts: &MatchFacts) -> Vec<Diagnosis> {
    let found = |cause: &Cause| {
        let (player, sentence) = (cause.find)(facts)?;
        Some(Diagnosis { cause: cause.name, player, sentence })
    };
    let mut diagnoses: Vec<Diagnosis> = CAUSES.iter().filter_map(found).collect();
    // A fault of the stronger player explains nothing; where the score is level, either may be at fault.
    if facts.games == 0 || facts.all.elo.abs() > facts.all.elo_error {
        diagnoses.sort_by_key(|diagnosis| diagnosis.player != facts.weaker());
    }
    diagnoses
}
