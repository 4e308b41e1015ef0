//! Lines of EPD or FEN.

use shakmaty::Chess;

use super::OpeningError;
use patzer_chess::fen;

/// Parses four EPD fields with the operations `hmvc` and `fmvn`, or six FEN fields.
pub(super) fn position(line: &str, chess960: bool) -> std::result::Result<Chess, OpeningError> {
    let fields: Vec<&str> = line.split_whitespace().take(6).collect();
    let [board, turn, castling, ep, rest @ ..] = &fields[..] else {
        let start: String = line.chars().take(40).collect();
        return Err(OpeningError(format!("is not an EPD or FEN position: `{start}`")));
    };
    let number = |text: &&str| text.trim_end_matches(';').parse::<u32>().ok();
    let (halfmoves, fullmoves) = match rest {
        [half, full] if number(half).is_some() && number(full).is_some() => (number(half), number(full)),
        _ => (operand(line, "hmvc"), operand(line, "fmvn")),
    };
    let (halfmoves, fullmoves) = (halfmoves.unwrap_or(0), fullmoves.unwrap_or(1).max(1));
    let text = format!("{board} {turn} {castling} {ep} {halfmoves} {fullmoves}");
    fen::position(&text, chess960).map_err(|reason| OpeningError(reason.to_string()))
}

/// Plies from the start of the game by the number of the move, if the line has one.
pub(super) fn plies(line: &str) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().take(6).collect();
    let full = fields.get(5).and_then(|full| full.trim_end_matches(';').parse().ok());
    let full: u32 =
        if fields.get(4) == Some(&"hmvc") { None } else { full }.or_else(|| operand(line, "fmvn"))?;
    Some(full.saturating_sub(1).saturating_mul(2) + u32::from(fields.get(1) == Some(&"b")))
}

fn operand(line: &str, operation: &str) -> Option<u32> {
    let mut words = line.split([';', ' ']).filter(|word| !word.is_empty());
    words.find(|&word| word == operation)?;
    words.next()?.parse().ok()
}
