//! Lines of EPD or FEN: four fields of a position, perhaps two counters, and operations, which end in semicolons.
//!
//! Also reads lines of public test suites with fields that a semicolon ends, and zero bytes at the end.

use shakmaty::Chess;

use super::fen;

/// Parses four EPD fields with the operations `hmvc` and `fmvn`, or six FEN fields.
pub fn position(line: &str, chess960: bool) -> std::result::Result<Chess, String> {
    let Some(([board, turn, castling, ep], rest)) = fields(line) else {
        let start: String = line.chars().take(40).collect();
        return Err(format!("is not an EPD or FEN position: `{start}`"));
    };
    let (halfmoves, fullmoves) = match counters(rest) {
        Some(([half, full], _)) => (half, full),
        None => (number(rest, "hmvc").unwrap_or(0), number(rest, "fmvn").unwrap_or(1)),
    };
    let text = format!("{board} {turn} {castling} {ep} {halfmoves} {}", fullmoves.max(1));
    fen::position(&text, chess960).map_err(|reason| reason.to_string())
}

/// Plies from the start of the game by the number of the move, if the line has one.
pub fn plies(line: &str) -> Option<u32> {
    let ([_, turn, ..], rest) = fields(line)?;
    let full = counters(rest).map_or_else(|| number(rest, "fmvn"), |([_, full], _)| Some(full))?;
    Some(full.saturating_sub(1).saturating_mul(2) + u32::from(turn == "b"))
}

/// The operations, each a code and its operands, such as `bm` and `Nf3 Ng5`.
pub fn operations(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let rest = fields(line).map_or("", |(_, rest)| counters(rest).map_or(rest, |(_, rest)| rest));
    rest.split(';').map(|operation| {
        let (code, operands) = word(operation);
        (code, operands.trim_matches(is_space))
    })
}

fn fields(line: &str) -> Option<([&str; 4], &str)> {
    let (mut fields, mut rest) = ([""; 4], line);
    for field in &mut fields {
        (*field, rest) = word(rest);
    }
    (!fields[3].is_empty()).then_some((fields, rest))
}

/// The counters of a FEN, which follow its fields. In a table a comma or a bar ends them.
fn counters(rest: &str) -> Option<([u32; 2], &str)> {
    let (half, rest) = word(rest);
    let rest = rest.trim_start_matches(is_space);
    let (full, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let ends = rest.is_empty() || rest.starts_with(|c| is_space(c) || matches!(c, ';' | ',' | '|'));
    let counters = [half.parse().ok()?, full.parse().ok()?];
    ends.then_some((counters, rest))
}

fn number(rest: &str, code: &str) -> Option<u32> {
    let mut words = rest.split(|c| is_space(c) || c == ';').filter(|word| !word.is_empty());
    words.find(|&word| word == code)?;
    words.next()?.parse().ok()
}

/// The first word, which a space or a semicolon ends, and what follows it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(is_space);
    text.split_at(text.find(|c| is_space(c) || c == ';').unwrap_or(text.len()))
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\0'
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Position;

    #[test]
    fn counters_end_with_a_space_a_semicolon_or_a_column() {
        let fen = "4k3/8/8/8/8/8/4R3/4K3 b - - 7 50";
        for rest in ["", " c9 \"1-0\";", "; id \"x\"", ",35", " | 35 | 1.0", "|35"] {
            let line = format!("{fen}{rest}");
            let position = position(&line, false).unwrap();
            assert_eq!((position.halfmoves(), position.fullmoves().get()), (7, 50), "{line}");
            assert_eq!(plies(&line), Some(99), "{line}");
        }
        let position = position("4k3/8/8/8/8/8/4R3/4K3 b - - 7 50x", false).unwrap();
        assert_eq!((position.halfmoves(), position.fullmoves().get()), (0, 1));
    }
}
