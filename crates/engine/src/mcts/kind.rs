//! The searches, by name.

/// Kind of search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchKind {
    /// Principal variation search.
    #[default]
    AlphaBeta,
    /// PUCT: evaluation as value, the model of moves as prior.
    Mcts,
    /// UCB1: evaluation as value, no prior.
    Ucb1,
    /// UCB1 with random moves to the end of the game as value: the classical algorithm.
    Random,
    /// PUCT with moves drawn from the model to the end of the game as value.
    Policy,
}

impl SearchKind {
    /// All searches with their names.
    pub const ALL: [(SearchKind, &str); 5] = [
        (SearchKind::AlphaBeta, "alpha-beta"),
        (SearchKind::Mcts, "mcts"),
        (SearchKind::Ucb1, "mcts-ucb1"),
        (SearchKind::Random, "mcts-random"),
        (SearchKind::Policy, "mcts-policy"),
    ];

    /// The search of this name, in any case.
    pub fn by_name(name: &str) -> Option<SearchKind> {
        SearchKind::ALL.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(kind, _)| *kind)
    }

    /// Name of the search.
    pub fn name(self) -> &'static str {
        SearchKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    pub(super) fn has_prior(self) -> bool {
        matches!(self, SearchKind::Mcts | SearchKind::Policy)
    }

    pub(super) fn plays_out(self) -> bool {
        matches!(self, SearchKind::Random | SearchKind::Policy)
    }
}
