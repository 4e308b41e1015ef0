use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use shakmaty::{Chess, File, Position, Rank, Square};

use crate::evaluation::load;
use crate::{Error, Result, Status, Ui};
use patzer_chess::fen;
use patzer_chess::score::Score;
use patzer_eval::hce::{self, Hce};
use patzer_eval::nnue::Nnue;
use patzer_eval::nnue::breakdown::{BucketScore, PieceWorth, bucket_scores, piece_worths};
use patzer_eval::stockfish::Stockfish;
use patzer_eval::{BoardEvaluator, Evaluation, Evaluator};

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
        pieces: Vec<PieceWorth>,
        buckets: Vec<BucketScore>,
    },
}

/// One term of the hand-crafted evaluation: [midgame, endgame] for each side, centipawns.
#[derive(Serialize)]
struct Term {
    term: &'static str,
    white: [i32; 2],
    black: [i32; 2],
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
        Evaluation::Nnue(network) => by_network(Nnue::new(network), &position),
        Evaluation::Stockfish(network) => by_network(Stockfish::new(network), &position),
    };
    ui.result(&EvalResult { score, white: position.turn().fold_wb(score, -score), parts })
}

fn by_network(mut network: impl BoardEvaluator, position: &Chess) -> (Score, Parts) {
    let (pieces, buckets) = (piece_worths(&mut network, position), bucket_scores(&mut network, position));
    (network.evaluate(position, 0), Parts::Network { pieces, buckets })
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
                for BucketScore { bucket, white, used } in buckets.iter().filter(|_| buckets.len() > 1) {
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

fn write_board(f: &mut fmt::Formatter<'_>, pieces: &[PieceWorth]) -> fmt::Result {
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
