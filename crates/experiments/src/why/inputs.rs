//! Where in the inputs of a network two evaluations differ: by piece and square, and by bucket of the mover's king.

use serde::Serialize;
use shakmaty::{Chess, Color, Position, Role, Square};

use super::contrast::{FEWEST, FEWEST_GAMES, Measured};
use super::evidence::{Errors, units};
use super::sample::{ScoredMove, share};
use patzer_eval::nnue::Architecture;

/// A piece on a square, with which the evaluations differ by more or less than elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputDifference {
    /// Such as "own knight on f6", seen from the side to move.
    pub input: String,
    pub positions: u64,
    /// First evaluation less the second, beyond the mean of all positions: centipawns of the scores of the data.
    pub difference: Measured,
}

/// Errors of both evaluations in the positions of a king bucket of the side to move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BucketErrors {
    pub bucket: usize,
    pub positions: u64,
    /// Root mean squared error of the expected score.
    pub errors: [f64; 2],
}

const INPUTS: usize = 2 * 6 * 64;

/// Standard errors from which on one of 768 differences says something.
const CLEAR: f64 = 4.0;

/// Input of a piece, seen from the side to move: own pieces first, by role and square.
fn input(turn: Color, square: Square, piece: shakmaty::Piece) -> usize {
    let other = usize::from(piece.color != turn);
    (other * 6 + piece.role as usize - 1) * 64 + relative(turn, square)
}

fn relative(turn: Color, square: Square) -> usize {
    usize::from(square) ^ turn.fold_wb(0, 56)
}

fn name(input: usize) -> String {
    let (side, role, square) = (input / 384, input / 64 % 6, input % 64);
    let side = ["own", "other"][side];
    let role = Role::ALL[role];
    format!("{side} {} on {}", format!("{role:?}").to_lowercase(), Square::new(square as u32))
}

/// Positions with the scores of both evaluations.
struct Compared<'a> {
    game: usize,
    position: &'a Chess,
    /// Scores less each other, in centipawns of the reference.
    difference: f64,
    squares: [f64; 2],
}

fn compared<'a>(positions: &'a [Chess], moves: &[ScoredMove], errors: &Errors) -> Vec<Compared<'a>> {
    let units = units(&errors.scale);
    let both = |(position, pair): (&'a Chess, &[ScoredMove])| {
        let [one, other] = pair else { return None };
        let scores = [f64::from(one.score?) / units[0], f64::from(other.score?) / units[1]];
        let squares = scores.map(|score| (share(score.round() as i32) - share(one.reference)).powi(2));
        Some(Compared { game: one.game, position, difference: scores[0] - scores[1], squares })
    };
    positions.iter().zip(moves.chunks_exact(2)).filter_map(both).collect()
}

#[derive(Clone, Copy, Default)]
struct Sum {
    positions: u64,
    games: u64,
    sum: f64,
    /// Squared sums of deviations, game by game.
    squares: f64,
}

/// Inputs that differ clearly, by their share of the squared difference; `moves` has both evaluations of each
/// position.
pub fn input_differences(
    positions: &[Chess],
    moves: &[ScoredMove],
    errors: &Errors,
    most: usize,
) -> Vec<InputDifference> {
    let compared = compared(positions, moves, errors);
    let all = compared.iter().map(|at| at.difference).sum::<f64>() / compared.len().max(1) as f64;
    let mut sums = vec![Sum::default(); INPUTS];
    let inputs = |at: &Compared| -> Vec<usize> {
        let pieces = at.position.board().clone().into_iter();
        pieces.map(|(square, piece)| input(at.position.turn(), square, piece)).collect()
    };
    for at in &compared {
        for input in inputs(at) {
            sums[input].positions += 1;
            sums[input].sum += at.difference;
        }
    }
    for game in compared.chunk_by(|one, other| one.game == other.game) {
        let mut of_game: std::collections::BTreeMap<usize, f64> = Default::default();
        for at in game {
            for input in inputs(at) {
                let mean = sums[input].sum / sums[input].positions as f64;
                *of_game.entry(input).or_default() += at.difference - mean;
            }
        }
        for (input, deviation) in of_game {
            sums[input].games += 1;
            sums[input].squares += deviation * deviation;
        }
    }
    let measured = |(input, sum): (usize, &Sum)| {
        let count = sum.positions as f64;
        let difference =
            Measured { value: sum.sum / count - all, standard_error: sum.squares.sqrt() / count };
        let enough = sum.positions >= FEWEST && sum.games >= FEWEST_GAMES && difference.z().abs() > CLEAR;
        enough.then(|| InputDifference { input: name(input), positions: sum.positions, difference })
    };
    let mut found: Vec<InputDifference> = sums.iter().enumerate().filter_map(measured).collect();
    let explained = |found: &InputDifference| found.difference.value.powi(2) * found.positions as f64;
    found.sort_by(|a, b| explained(b).total_cmp(&explained(a)));
    found.truncate(most);
    found
}

/// Errors by bucket of the mover's king, of an architecture with more than one.
pub fn bucket_errors(
    positions: &[Chess],
    moves: &[ScoredMove],
    errors: &Errors,
    architecture: &Architecture,
) -> Vec<BucketErrors> {
    let mut sums = vec![(0_u64, [0.0; 2]); architecture.king_bucket_count()];
    for at in compared(positions, moves, errors) {
        let turn = at.position.turn();
        let Some(king) = at.position.board().king_of(turn) else { continue };
        let (_, bucket) = architecture.orientation(relative(turn, king));
        let (positions, squares) = &mut sums[bucket];
        *positions += 1;
        squares.iter_mut().zip(at.squares).for_each(|(sum, square)| *sum += square);
    }
    if sums.len() < 2 {
        return Vec::new();
    }
    let rows = sums.into_iter().enumerate().filter(|(_, (positions, _))| *positions > 0);
    rows.map(|(bucket, (positions, squares))| {
        let errors = squares.map(|square| (square / positions as f64).sqrt());
        BucketErrors { bucket, positions, errors }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::errors;
    use super::*;
    use patzer_chess::rng::Rng;
    use patzer_eval::nnue::KingBuckets;

    /// Positions of random games, and two evaluations of them: the second is wrong where `worse` holds.
    fn scored(worse: impl Fn(&Chess) -> bool) -> (Vec<Chess>, Vec<ScoredMove>) {
        let mut rng = Rng::new(2);
        let (mut positions, mut moves) = (Vec::new(), Vec::new());
        for game in 0..300 {
            let mut position = Chess::default();
            for ply in 0..60 {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                position.play_unchecked(legal[rng.below(legal.len())]);
                let reference = (100.0 * rng.normal()) as i32;
                let noise = (5.0 * rng.normal()) as i32;
                let other = reference + noise + if worse(&position) { 80 } else { 0 };
                moves.extend([0, 1].map(|player| ScoredMove {
                    game,
                    number: ply,
                    player,
                    reference,
                    score: Some([reference, other][player]),
                    loss: None,
                    speed: None,
                    circumstances: 0,
                }));
                positions.push(position.clone());
            }
        }
        (positions, moves)
    }

    #[test]
    fn a_piece_on_a_square_whose_value_is_wrong_is_found_for_both_colours() {
        let f3 = |position: &Chess| {
            let (turn, square) = (position.turn(), position.turn().fold_wb(Square::F3, Square::F6));
            position.board().piece_at(square) == Some(Role::Knight.of(turn))
        };
        let (positions, moves) = scored(f3);
        let found = input_differences(&positions, &moves, &errors(&moves), 3);
        assert_eq!(found[0].input, "own knight on f3", "{found:?}");
        assert!((-82.0..-70.0).contains(&found[0].difference.value), "{found:?}");
    }

    #[test]
    fn a_king_bucket_that_is_wrong_has_the_errors() {
        let right = |position: &Chess| {
            let king = position.board().king_of(position.turn()).unwrap();
            king.file() >= shakmaty::File::F
        };
        let (positions, moves) = scored(right);
        let found = errors(&moves);
        let mut architecture = Architecture::plain(16);
        assert!(bucket_errors(&positions, &moves, &found, &architecture).is_empty());
        architecture.king_buckets = KingBuckets::parse(&["00000111"; 8].join(" ")).unwrap();
        let [left, wrong] = &bucket_errors(&positions, &moves, &found, &architecture)[..] else { panic!() };
        assert_eq!((left.bucket, wrong.bucket), (0, 1));
        assert!(wrong.errors[0] == 0.0 && wrong.errors[1] > 5.0 * left.errors[1], "{wrong:?}");
    }
}
