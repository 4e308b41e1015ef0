//! Books as EPD lines or PGN games.

use std::fmt::Write;

use shakmaty::fen::{Epd, Fen};
use shakmaty::san::SanPlus;
use shakmaty::{Chess, EnPassantMode, Position};

use patzer_chess::score::Score;
use patzer_match::openings::Opening;
use patzer_pgn::write::Movetext;

/// A line with the counters as operations and the score as `ce`, from the side to move.
pub fn to_epd(opening: &Opening, white_score: Score) -> String {
    let position = &opening.position;
    let epd = Epd::from_position(position, EnPassantMode::Legal);
    let score = position.turn().fold_wb(white_score, -white_score);
    let (half, full) = (position.halfmoves(), position.fullmoves());
    format!("{epd} hmvc {half}; fmvn {full}; ce {score};\n")
}

/// A game of the opening's moves, with the score as a comment on the last.
pub fn to_pgn(opening: &Opening, number: usize, white_score: Score) -> String {
    let Opening { start, moves, .. } = opening;
    let chess960 = start.castles().mode().is_chess960();
    let mut text = format!(
        "[Event \"Opening {number}\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"{number}\"]\n\
         [White \"?\"]\n[Black \"?\"]\n[Result \"*\"]\n"
    );
    // Writing to a string cannot fail.
    if *start != Chess::default() || chess960 {
        let fen = Fen::from_position(start, EnPassantMode::Legal);
        let _ = writeln!(text, "[SetUp \"1\"]\n[FEN \"{fen}\"]");
    }
    if chess960 {
        text += "[Variant \"Chess960\"]\n";
    }
    text.push('\n');
    let (mut position, mut movetext) = (start.clone(), Movetext::new(&mut text));
    for (at, &m) in moves.iter().enumerate() {
        movetext.number(position.fullmoves().get(), position.turn(), at == 0);
        SanPlus::from_move_and_play_unchecked(&mut position, m).append_to_string(&mut movetext.token);
        movetext.push();
    }
    if !moves.is_empty() {
        let _ = write!(movetext.token, "{{{:+.2}}}", f64::from(white_score) / 100.0);
        movetext.push();
    }
    movetext.token.push('*');
    movetext.push();
    text + "\n\n"
}
