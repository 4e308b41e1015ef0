//! A network's evaluation in parts: the worth of each piece, and the scores of all output buckets.

use serde::Serialize;
use shakmaty::{Board, Chess, Position, Role};

use super::halfmoves;
use crate::evaluator::BoardEvaluator;
use patzer_chess::score::Score;

/// Worth of a piece to White on its square, centipawns.
#[derive(Debug, Clone, Serialize)]
pub struct PieceWorth {
    pub square: String,
    pub piece: char,
    pub worth: Score,
}

/// Score of an output bucket for White, centipawns.
#[derive(Debug, Clone, Serialize)]
pub struct BucketScore {
    pub bucket: usize,
    pub white: Score,
    /// The evaluation is that of this bucket.
    pub used: bool,
}

/// Worth of each piece but the kings: the change of the score without it.
pub fn piece_worths(network: &mut impl BoardEvaluator, position: &Chess) -> Vec<PieceWorth> {
    let (board, clock, turn) = (position.board(), halfmoves(position), position.turn());
    let mut white = |board: &Board| {
        let score = network.evaluate_board(board, clock, turn, 0);
        turn.fold_wb(score, -score)
    };
    let whole = white(board);
    let others = board.iter().filter(|(_, piece)| piece.role != Role::King);
    let mut worth = |square| {
        let mut without = board.clone();
        without.discard_piece_at(square);
        whole - white(&without)
    };
    others
        .map(|(square, piece)| PieceWorth {
            square: square.to_string(),
            piece: piece.char(),
            worth: worth(square),
        })
        .collect()
}

/// Scores of all output buckets.
pub fn bucket_scores(network: &mut impl BoardEvaluator, position: &Chess) -> Vec<BucketScore> {
    let (board, turn) = (position.board(), position.turn());
    let used = network.bucket(board);
    let scores = network.buckets(board, halfmoves(position), turn).into_iter().enumerate();
    scores
        .map(|(bucket, score)| BucketScore {
            bucket,
            white: turn.fold_wb(score, -score),
            used: bucket == used,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Evaluator;
    use crate::nnue::network::tests::random_of;
    use crate::nnue::{About, Architecture, Network, Nnue};
    use patzer_chess::fen;

    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn the_bucket_that_counts_says_what_the_network_says() {
        let architecture = Architecture { output_buckets: 8, ..Architecture::plain(16) };
        let mut weights = random_of(&architecture, 3).weights();
        // Random buckets begin alike.
        for (bucket, head) in weights.dense.iter_mut().enumerate() {
            head[0].bias[0] += 1000 * bucket as i16;
        }
        let network = Network::new(architecture, &weights, About::default()).unwrap();
        let mut nnue = Nnue::new(std::sync::Arc::new(network));
        // Kings and a pawn: the first of eight buckets by the number of pieces; all 32: the last.
        for (text, used) in [("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0), (STANDARD, 7)] {
            let position = fen::position(text, false).unwrap();
            let buckets = bucket_scores(&mut nnue, &position);
            let white = position.turn().fold_wb(1, -1) * nnue.evaluate(&position, 0);
            assert_eq!(
                buckets.iter().map(|b| b.used).collect::<Vec<_>>(),
                [0, 1, 2, 3, 4, 5, 6, 7].map(|b| b == used)
            );
            assert_eq!(buckets[used].white, white);
            assert_eq!(
                buckets.iter().filter(|b| b.white == white).count(),
                1,
                "all others say something else"
            );
        }
    }

    #[test]
    fn a_piece_is_worth_the_difference_it_makes() {
        let position = fen::position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", false).unwrap();
        let network = crate::nnue::material::network(32).unwrap();
        let mut nnue = Nnue::new(std::sync::Arc::new(network));
        let worth = piece_worths(&mut nnue, &position);
        assert_eq!(worth.len(), 1);
        assert_eq!((worth[0].square.as_str(), worth[0].piece), ("e2", 'P'));
        assert!((95..=105).contains(&worth[0].worth), "{}", worth[0].worth);
    }
}
