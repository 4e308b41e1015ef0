//! Sample of a match's games whose positions the reference scores.

use shakmaty::Chess;

use super::circumstance::{CIRCUMSTANCES, View};
use super::games::{MatchGames, MatchMove};
use patzer_chess::score::{Score, expected_score, is_mate};

/// Positions of the sampled games, game by game.
pub struct Sample {
    pub positions: Vec<Chess>,
    /// Index of each position's game and move.
    pub places: Vec<(usize, usize)>,
}

impl Sample {
    /// Takes pairs of games at even distances, with about `most` positions.
    pub fn new(games: &MatchGames, most: usize) -> Sample {
        let plies: usize = games.games.iter().map(|game| game.moves.len()).sum();
        let step = plies.div_ceil(most.max(1)).max(1);
        let mut sample = Sample { positions: Vec::new(), places: Vec::new() };
        for (index, game) in games.games.iter().enumerate().filter(|(index, _)| index / 2 % step == 0) {
            for (number, played) in game.moves.iter().enumerate() {
                // A record of a parsed game is a legal position.
                if let Some(position) = played.record.position() {
                    sample.positions.push(position);
                    sample.places.push((index, number));
                }
            }
        }
        sample
    }
}

/// A sampled position with what was thought of it.
pub struct ScoredMove {
    pub game: usize,
    pub number: usize,
    /// Player who moved, 0 or 1.
    pub player: usize,
    /// Score of the reference, from the mover.
    pub reference: Score,
    /// Score of the player, from the mover.
    pub score: Option<Score>,
    /// Fall of the mover's expected score, by the reference, from before the move to after it.
    pub loss: Option<f64>,
    /// Logarithm of the nodes a second, where the comment has both.
    pub speed: Option<f64>,
    /// Bit i: the circumstance i holds.
    pub circumstances: u64,
}

/// Joins a sample with its scores; positions without one are left out.
pub fn scored_moves(games: &MatchGames, sample: &Sample, scores: &[Option<Score>]) -> Vec<ScoredMove> {
    let mut moves = Vec::with_capacity(scores.len());
    for (index, (&(game, number), position)) in sample.places.iter().zip(&sample.positions).enumerate() {
        let Some(reference) = scores[index] else { continue };
        let played = &games.games[game].moves[number];
        let follows = sample.places.get(index + 1) == Some(&(game, number + 1));
        let after = scores.get(index + 1).copied().flatten().filter(|_| follows);
        moves.push(ScoredMove {
            game,
            number,
            player: games.games[game].mover(played),
            reference,
            score: played.record.score.map(Score::from),
            loss: after.map(|after| share(reference) - share(-after)),
            speed: played.speed(),
            circumstances: circumstances(position, played, reference),
        });
    }
    moves
}

/// Bits of the circumstances that hold, by a score of the reference.
pub fn circumstances(position: &Chess, played: &MatchMove, reference: Score) -> u64 {
    let view = View { position, played, reference };
    let held = CIRCUMSTANCES.iter().enumerate().filter(|(_, circumstance)| (circumstance.holds)(&view));
    held.fold(0, |bits, (index, _)| bits | 1 << index)
}

/// Expected score of a score of the reference, with K = 1.
pub fn share(score: Score) -> f64 {
    expected_score(f64::from(score), 1.0)
}

impl MatchMove {
    /// Logarithm of the nodes a second.
    fn speed(&self) -> Option<f64> {
        let (nodes, seconds) = self.info.nodes.zip(self.info.seconds.filter(|seconds| *seconds > 0.0))?;
        Some((nodes as f64 / seconds).ln())
    }

    /// The player's score, unless it is a mate.
    pub fn centipawns(&self) -> Option<f64> {
        self.record.score.map(Score::from).filter(|score| !is_mate(*score)).map(f64::from)
    }
}
