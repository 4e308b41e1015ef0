//! `patzer eval`: arguments and wiring.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use shakmaty::{Board, Chess, File, Position, Rank, Role, Square};

use crate::chess::fen;
use crate::chess::score::Score;
use crate::cli::uci::load;
use crate::cli::{Status, Ui};
use crate::error::{Error, Result};
use crate::eval::hce::{self, Hce};
use crate::eval::nnue::Nnue;
use crate::eval::{Evaluation, Evaluator};

/// Show the evaluation of a position with its parts
///
/// For weights, each term's midgame and endgame value. For a network, the worth of each piece: how much the
/// evaluation changes if the piece is taken off the board.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer eval \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"\n  \
    patzer eval --eval default-hce \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"")]
pub struct EvalArgs {
    /// Position [default: the start position]
    #[arg(value_name = "FEN")]
    fen: Option<String>,

    /// What evaluates: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
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
#[serde(rename_all = "snake_case")]
enum Parts {
    Terms(Vec<Term>),
    Pieces(Vec<Piece>),
}

/// One term of the hand-crafted evaluation: [midgame, endgame] for each side, centipawns.
#[derive(Serialize)]
struct Term {
    term: &'static str,
    white: [i32; 2],
    black: [i32; 2],
}

/// What the network gives White for a piece that stands where it does, centipawns.
#[derive(Serialize)]
struct Piece {
    square: String,
    piece: char,
    worth: Score,
}

/// Runs the command.
///
/// # Errors
/// If the position does not parse or the evaluation cannot be loaded.
pub fn run(args: &EvalArgs, ui: &Ui) -> Result<Status> {
    let position = match &args.fen {
        None => Chess::default(),
        Some(text) => {
            fen::position(text, true).map_err(|reason| Error::usage(format!("{text}: {reason}")))?
        }
    };
    let (score, parts) = match load(args.eval.as_deref())? {
        Evaluation::Hce(weights) => {
            let mut hce = Hce::new(weights);
            (hce.evaluate(&position, 0), Parts::Terms(hce.breakdown(&position).iter().map(term).collect()))
        }
        Evaluation::Nnue(network) => {
            let mut nnue = Nnue::new(network);
            (nnue.evaluate(&position, 0), Parts::Pieces(pieces(&mut nnue, &position)))
        }
    };
    ui.result(&EvalResult { score, white: position.turn().fold_wb(score, -score), parts })?;
    Ok(Status::Done)
}

fn term(share: &hce::Share) -> Term {
    Term { term: share.term, white: share.white, black: share.black }
}

/// Takes every piece but the kings off the board in turn.
fn pieces(nnue: &mut Nnue, position: &Chess) -> Vec<Piece> {
    let (board, turn) = (position.board(), position.turn());
    let mut white = |board: &Board| {
        let score = nnue.evaluate_board(board, turn, 0);
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

impl fmt::Display for EvalResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parts {
            Parts::Terms(terms) => write_terms(f, terms)?,
            Parts::Pieces(pieces) => write_board(f, pieces)?,
        }
        writeln!(f, "{:+} centipawns for White, {:+} for the side to move", self.white, self.score)
    }
}

fn write_terms(f: &mut fmt::Formatter<'_>, terms: &[Term]) -> fmt::Result {
    writeln!(f, "{:16} {:>7} {:>7}   {:>7} {:>7}   {:>7} {:>7}", "", "White", "", "Black", "", "sum", "")?;
    writeln!(f, "{:16} {:>7} {:>7}   {:>7} {:>7}   {:>7} {:>7}", "term", "mg", "eg", "mg", "eg", "mg", "eg")?;
    for Term { term, white, black } in terms {
        let sum = [white[0] - black[0], white[1] - black[1]];
        writeln!(
            f,
            "{term:16} {:>7} {:>7}   {:>7} {:>7}   {:>+7} {:>+7}",
            white[0], white[1], black[0], black[1], sum[0], sum[1]
        )?;
    }
    Ok(())
}

/// The board from White's side, each piece with its worth in centipawns below it.
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

    #[test]
    fn a_piece_is_worth_the_difference_it_makes() {
        let position = fen::position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", false).unwrap();
        let network = crate::eval::nnue::material::network(32).unwrap();
        let mut nnue = Nnue::new(std::sync::Arc::new(network));
        let worth = pieces(&mut nnue, &position);
        assert_eq!(worth.len(), 1);
        assert_eq!((worth[0].square.as_str(), worth[0].piece), ("e2", 'P'));
        assert!((95..=105).contains(&worth[0].worth), "{}", worth[0].worth);
    }
}
