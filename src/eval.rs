use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use shakmaty::{Board, Chess, File, Position, Rank, Role, Square};

use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_chess::fen;
use patzer_chess::score::Score;
use patzer_eval::hce::{self, Hce};
use patzer_eval::nnue::{Nnue, halfmoves};
use patzer_eval::{Evaluation, Evaluator};

/// Show the evaluation of a position with its parts
///
/// For weights, each term's midgame and endgame value. For a network, the worth of each piece: how much the
/// evaluation changes if the piece is taken off the board; and what each of its output buckets says, the one that
/// counts marked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer eval \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"\n  \
    patzer eval --eval default-hce \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"")]
pub struct EvalArgs {
    /// Position [default: the start position]
    #[arg(value_name = "FEN")]
    fen: Option<String>,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL")]
    eval: Option<PathBuf>,
}

#[derive(Serialize)]
struct EvalResult {
    /// Centipawns from the side to move.
    score: Score,
    /// Centipawns from White's side.
    white: Score,
    parts: Parts,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Parts {
    Weights {
        terms: Vec<Term>,
        /// Game phase, 0 (endgame) to 24 (midgame).
        phase: i32,
        /// Endgame scale, of 64.
        scale: i32,
    },
    Network {
        pieces: Vec<Piece>,
        buckets: Vec<Bucket>,
    },
}

/// One term of the hand-crafted evaluation: [midgame, endgame] for each side, centipawns.
#[derive(Serialize)]
struct Term {
    term: &'static str,
    white: [i32; 2],
    black: [i32; 2],
}

/// Worth of a piece to White on its square, centipawns.
#[derive(Serialize)]
struct Piece {
    square: String,
    piece: char,
    worth: Score,
}

#[derive(Serialize)]
struct Bucket {
    bucket: usize,
    white: Score,
    used: bool,
}

pub fn run(args: &EvalArgs, ui: &Ui) -> Result<Status> {
    let position = match &args.fen {
        None => Chess::default(),
        Some(text) => fen::position(text, true).map_err(|e| Error::usage(e.to_string()))?,
    };
    let (score, parts) = match load(args.eval.as_deref(), ui)? {
        Evaluation::Hce(weights) => {
            let mut hce = Hce::new(weights);
            let term = |&hce::TermBreakdown { term, white, black }: &_| Term { term, white, black };
            let (phase, scale) = (hce::phase(position.board()), hce::scale(position.board()));
            let terms = hce.breakdown(&position).iter().map(term).collect();
            (hce.evaluate(&position, 0), Parts::Weights { terms, phase, scale })
        }
        Evaluation::Nnue(network) => {
            let mut nnue = Nnue::new(network);
            let (pieces, buckets) = (pieces(&mut nnue, &position), buckets(&mut nnue, &position));
            (nnue.evaluate(&position, 0), Parts::Network { pieces, buckets })
        }
    };
    ui.result(&EvalResult { score, white: position.turn().fold_wb(score, -score), parts })
}

/// Worth of each piece but the kings: the change of the score without it.
fn pieces(nnue: &mut Nnue, position: &Chess) -> Vec<Piece> {
    let (board, clock, turn) = (position.board(), halfmoves(position), position.turn());
    let mut white = |board: &Board| {
        let score = nnue.evaluate_board(board, clock, turn, 0);
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
        .map(|(square, piece)| Piece {
            square: square.to_string(),
            piece: piece.char(),
            worth: worth(square),
        })
        .collect()
}

fn buckets(nnue: &mut Nnue, position: &Chess) -> Vec<Bucket> {
    let (board, turn) = (position.board(), position.turn());
    let used = nnue.bucket(board);
    let scores = nnue.buckets(board, halfmoves(position), turn).into_iter().enumerate();
    scores
        .map(|(bucket, score)| Bucket { bucket, white: turn.fold_wb(score, -score), used: bucket == used })
        .collect()
}

impl fmt::Display for EvalResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parts {
            Parts::Weights { terms, phase, scale } => {
                write_terms(f, terms)?;
                let (phases, scales) = (hce::FULL_PHASE, hce::FULL_SCALE);
                writeln!(
                    f,
                    "midgame counts {phase} of {phases}, endgame the rest, times {scale} of {scales}"
                )?;
            }
            Parts::Network { pieces, buckets } => {
                write_board(f, pieces)?;
                for Bucket { bucket, white, used } in buckets.iter().filter(|_| buckets.len() > 1) {
                    let mark = if *used { "->" } else { "  " };
                    writeln!(f, "{mark} bucket {bucket:2} {white:>+7}")?;
                }
            }
        }
        writeln!(f, "{:+} centipawns for White, {:+} for the side to move", self.white, self.score)
    }
}

fn write_terms(f: &mut fmt::Formatter<'_>, terms: &[Term]) -> fmt::Result {
    writeln!(f, "{:16} {:>7} {:>7}   {:>7} {:>7}   {:>7} {:>7}", "", "White", "", "Black", "", "sum", "")?;
    writeln!(f, "{:16} {:>7} {:>7}   {:>7} {:>7}   {:>7} {:>7}", "term", "mg", "eg", "mg", "eg", "mg", "eg")?;
    let mut total = [0, 0];
    for Term { term, white, black } in terms {
        let sum = [white[0] - black[0], white[1] - black[1]];
        total = [total[0] + sum[0], total[1] + sum[1]];
        writeln!(
            f,
            "{term:16} {:>7} {:>7}   {:>7} {:>7}   {:>+7} {:>+7}",
            white[0], white[1], black[0], black[1], sum[0], sum[1]
        )?;
    }
    writeln!(f, "{:48}   {:>+7} {:>+7}", "sum", total[0], total[1])
}

fn write_board(f: &mut fmt::Formatter<'_>, pieces: &[Piece]) -> fmt::Result {
    let at = |square: Square| pieces.iter().find(|piece| piece.square == square.to_string());
    for rank in Rank::ALL.into_iter().rev() {
        let squares = File::ALL.map(|file| at(Square::from_coords(file, rank)));
        let names = squares.map(|piece| piece.map_or(" .".to_string(), |piece| format!(" {}", piece.piece)));
        let worths = squares.map(|piece| piece.map_or(String::new(), |piece| format!("{:+}", piece.worth)));
        writeln!(f, "{} {}", rank.char(), names.map(|name| format!("{name:>7}")).concat())?;
        writeln!(f, "  {}", worths.map(|worth| format!("{worth:>7}")).concat())?;
    }
    writeln!(f, "  {}", File::ALL.map(|file| format!("{:>7}", file.char())).concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_eval::nnue::{About, Architecture, Network};

    const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn the_bucket_that_counts_says_what_the_network_says() {
        let architecture = Architecture { output_buckets: 8, ..Architecture::plain(16) };
        let mut weights = patzer_train::random_network_of(&architecture, 3).unwrap().weights();
        // Random buckets begin alike.
        for (bucket, head) in weights.dense.iter_mut().enumerate() {
            head[0].bias[0] += 1000 * bucket as i16;
        }
        let network = Network::new(architecture, &weights, About::default()).unwrap();
        let mut nnue = Nnue::new(std::sync::Arc::new(network));
        // Kings and a pawn: the first of eight buckets by the number of pieces; all 32: the last.
        for (text, used) in [("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0), (STANDARD, 7)] {
            let position = fen::position(text, false).unwrap();
            let buckets = buckets(&mut nnue, &position);
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
        let network = patzer_eval::nnue::material::network(32).unwrap();
        let mut nnue = Nnue::new(std::sync::Arc::new(network));
        let worth = pieces(&mut nnue, &position);
        assert_eq!(worth.len(), 1);
        assert_eq!((worth[0].square.as_str(), worth[0].piece), ("e2", 'P'));
        assert!((95..=105).contains(&worth[0].worth), "{}", worth[0].worth);
    }
}
