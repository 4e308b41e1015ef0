//! Positions on which the players' scores lie furthest apart.

use serde::Serialize;
use shakmaty::san::San;

use super::games::MatchGames;
use super::sample::{ScoredMove, share};
use patzer_chess::fen;
use patzer_chess::score::Score;

/// A position with the scores of both players and the reference, all from the mover's side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    pub fen: String,
    /// Round of the game, as in its tag up to the dot; its number from 1 without one.
    pub round: String,
    /// Player who moved, 0 or 1.
    pub mover: usize,
    /// Move played.
    pub san: String,
    /// Score of each player: the mover's of this position, the other's of the position after the move.
    pub scores: [Score; 2],
    pub reference: Score,
    /// Part of a point by which each player's score differs from the reference's.
    pub errors: [f64; 2],
    /// Part of a point that the move gives away, by the reference.
    pub loss: Option<f64>,
}

/// The furthest disagreements among the sampled moves, one a game. `units` are the players' centipawns a centipawn of
/// the reference.
pub fn disagreements(
    games: &MatchGames,
    moves: &[ScoredMove],
    units: [f64; 2],
    count: usize,
) -> Vec<Disagreement> {
    let expected = |score: Score, player: usize| share((f64::from(score) / units[player]).round() as Score);
    let apart = |two: &[ScoredMove]| {
        let [before, after] = two else { return None };
        let follows = before.game == after.game && before.number + 1 == after.number;
        let (own, answer) = before.score.zip(after.score).filter(|_| follows)?;
        Some((expected(own, before.player) - expected(-answer, after.player)).abs())
    };
    let mut furthest: Vec<(f64, usize)> =
        moves.windows(2).enumerate().filter_map(|(at, two)| Some((apart(two)?, at))).collect();
    furthest.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut seen = std::collections::HashSet::new();
    furthest.retain(|(_, at)| seen.insert(moves[*at].game));
    let describe = |&(_, at): &(f64, usize)| {
        let (seen, after) = (&moves[at], &moves[at + 1]);
        let game = &games.games[seen.game];
        let record = &game.moves[seen.number].record;
        let position = record.position()?;
        let mut scores = [0; 2];
        (scores[seen.player], scores[after.player]) = (seen.score?, -after.score?);
        let errors = [0, 1].map(|player| (expected(scores[player], player) - share(seen.reference)).abs());
        let san = record.played.unpack(&position).map(|m| San::from_move(&position, m).to_string());
        let round = if game.round.is_empty() { (game.number + 1).to_string() } else { game.round.clone() };
        Some(Disagreement {
            fen: fen::text(&position),
            round,
            mover: seen.player,
            san: san.unwrap_or_default(),
            scores,
            reference: seen.reference,
            errors,
            loss: seen.loss,
        })
    };
    furthest.iter().take(count).filter_map(describe).collect()
}
