//! Scores in centipawns; a mate in `n` plies is `MATE - n`, so that a quicker mate scores higher.

/// Centipawns from the point of view of the side to move, unless a name says otherwise.
pub type Score = i32;

/// The longest line of the search, in plies.
pub const MAX_PLY: usize = 128;

/// The score of giving mate at once.
pub const MATE: Score = 32_000;
/// The lowest score that is a forced mate.
pub const MATE_IN_MAX: Score = MATE - 1_000;
pub const INFINITE: Score = 32_500;
/// Score of a table win, as Stockfish shows it: above every evaluation, below every mate.
pub const TABLE_WIN: Score = 20_000;

pub const fn mate_in(plies: i32) -> Score {
    MATE - plies
}

pub const fn mated_in(plies: i32) -> Score {
    plies - MATE
}

pub const fn is_mate(score: Score) -> bool {
    score >= MATE_IN_MAX || score <= -MATE_IN_MAX
}

/// Mate distance in moves as UCI counts them: positive for giving, negative for receiving mate.
pub const fn mate_moves(score: Score) -> Option<i32> {
    match score {
        _ if score >= MATE_IN_MAX => Some((MATE - score + 1) / 2),
        _ if score <= -MATE_IN_MAX => Some(-(MATE + score) / 2),
        _ => None,
    }
}

#[inline]
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Expected result, 0 to 1, of the side with a score of `centipawns`: σ(K · centipawns / 400).
/// At K = ln 10 it is the Elo curve, 400 centipawns for odds of 10 to 1. Source: Österlund, "Texel's Tuning
/// Method" (2014), with base e in place of 10.
#[inline]
pub fn expected_score(centipawns: f64, k: f64) -> f64 {
    logistic(k * centipawns / 400.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_scores_have_their_known_values() {
        assert_eq!(expected_score(0.0, 1.3), 0.5);
        assert!((expected_score(400.0, std::f64::consts::LN_10) - 10.0 / 11.0).abs() < 1e-12);
        assert!((expected_score(123.0, 2.0) + expected_score(-123.0, 2.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn mate_distances_count_as_uci_does() {
        assert_eq!(mate_moves(mate_in(1)), Some(1));
        assert_eq!(mate_moves(mate_in(3)), Some(2));
        assert_eq!(mate_moves(mated_in(2)), Some(-1));
        assert_eq!(mate_moves(mated_in(0)), Some(0));
        assert_eq!(mate_moves(250), None);
    }
}
