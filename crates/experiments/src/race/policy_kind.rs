//! Names of the policies.

use patzer_io::named;

named! {
    /// Policy of a race: which candidate plays next
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PolicyKind {
        Halving: "halving", "Rounds of equal pairs, after each of which the better half goes on; needs the budget";
        Lucb: "lucb", "The leader and its most dangerous challenger, until their bounds part";
        Track: "track", "Track-and-stop: the proportions of pairs by which the leader is known soonest";
        Ucb1: "ucb1", "The highest upper confidence bound: few games for weak candidates";
        Epsilon: "epsilon", "The best so far, and others by chance, with probability epsilon";
        Uniform: "uniform", "Equal pairs for all candidates: the baseline";
    }
}

patzer_io::serde_as_text!(PolicyKind);
