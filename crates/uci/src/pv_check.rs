//! Checks the principal variations of a search, with the warnings of fastchess.

use shakmaty::{CastlingMode, Move, Position};

use super::parse::{find_move, info, said, words};
use super::player::Turn;
use super::position::start_text;
use patzer_chess::score::{MATE, Score, is_mate};
use patzer_chess::{Ending, Line, ending};

/// Check of principal variations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PvCheck {
    /// Moves have to be legal, and the best move the first of the last variation.
    Legal,
    /// Variations of mate scores have the right length and end in mate, too.
    Mates,
}

/// Variation of an exact or bounded score of the first line; `None` for other information.
pub(crate) fn main_line(line: &[u8]) -> Option<String> {
    let pv = variation(line);
    (is_main(line) && !pv.is_empty()).then(|| pv.iter().map(|m| said(m)).collect::<Vec<_>>().join(" "))
}

/// Tests for a move in UCI's notation, legal or not.
pub(crate) fn is_uci(word: &[u8]) -> bool {
    let is_square = |square: &[u8]| matches!(square, [b'a'..=b'h', b'1'..=b'8']);
    matches!(word.len(), 4 | 5)
        && word[..4].chunks(2).all(is_square)
        && word[4..].iter().all(|piece| b"nbrq".contains(piece))
}

fn variation(line: &[u8]) -> Vec<&[u8]> {
    let mut fields = words(line);
    // Text follows `string`.
    match fields.find(|word| matches!(*word, b"pv" | b"string")) {
        // A few engines write fields after the variation.
        Some(b"pv") => fields.take_while(|word| is_uci(word)).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn is_main(line: &[u8]) -> bool {
    let mut fields = words(line);
    match fields.find(|word| *word == b"multipv") {
        Some(_) => fields.next() == Some(b"1"),
        None => true,
    }
}

pub(crate) fn warnings(
    infos: &[Vec<u8>],
    turn: &Turn,
    best: Option<Move>,
    check: PvCheck,
    name: &str,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |what: String, line: &[u8]| {
        warnings.push(format!("Warning; {what} from {name}\nInfo; {}\n{}", said(line), context(turn)));
    };
    for line in infos {
        if let Some(what) = fault(line, turn, check) {
            warn(what, line);
        }
    }
    let scored = |line: &&Vec<u8>| is_main(line) && words(line).any(|word| word == b"score");
    let last = infos.iter().rev().find(scored);
    if let (Some(best), Some(line)) = (best, last)
        && !bounded(line)
        && let Some(first) = variation(line).first()
        && find_move(first, turn.legal, turn.castling()) != Some(best)
    {
        let m = best.to_uci(turn.castling());
        warn(format!("Bestmove does not match beginning of last PV - move {m}"), line);
    }
    warnings
}

pub(crate) fn bounded(line: &[u8]) -> bool {
    words(line).take_while(|word| *word != b"pv").any(|word| matches!(word, b"lowerbound" | b"upperbound"))
}

fn fault(line: &[u8], turn: &Turn, check: PvCheck) -> Option<String> {
    let pv = variation(line);
    if pv.is_empty() {
        return None;
    }
    let mut position: Line = turn.line.clone();
    for word in &pv {
        let end = match ending(&position).map(|(_, ending)| ending) {
            None | Some(Ending::InsufficientMaterial) => None,
            Some(Ending::Checkmate) => Some("checkmate"),
            Some(Ending::Stalemate) => Some("stalemate"),
            Some(Ending::FiftyMoves) => Some("fifty-move rule"),
            Some(Ending::Repetition) => Some("threefold repetition"),
        };
        if let Some(end) = end {
            return Some(format!("PV continues after {end} - move {}", said(word)));
        }
        let legal = position.position().legal_moves();
        let Some(m) = find_move(word, &legal, turn.castling()) else {
            return Some(format!("Illegal PV move - move {}", said(word)));
        };
        position.play(m);
    }
    match mate_plies(line).filter(|_| check == PvCheck::Mates) {
        Some(plies) if pv.len() < plies => Some("Incomplete mating PV -".into()),
        Some(plies) if pv.len() > plies => Some("Too long mating PV -".into()),
        Some(_) if !position.position().is_checkmate() => {
            Some("Mating PV does not end with checkmate -".into())
        }
        _ => None,
    }
}

/// Plies to the mate of an exact mate score.
fn mate_plies(line: &[u8]) -> Option<usize> {
    let fields = line.strip_prefix(b"info ")?;
    let score: Score = info(fields).1.score.filter(|_| !bounded(line))?;
    is_mate(score).then(|| (MATE - score.abs()) as usize)
}

fn context(turn: &Turn) -> String {
    let start = turn.line.start();
    let (mode, position) = (start.castles().mode(), start_text(start));
    let moves: Vec<String> = turn.line.moves().iter().map(|m| uci(*m, mode)).collect();
    format!("Position; {position}\nMoves; {}", moves.join(" "))
}

fn uci(m: Move, mode: CastlingMode) -> String {
    m.to_uci(mode).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Timer};
    use patzer_chess::fen;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// Warnings of info lines in a position, without their context.
    fn found(start: &str, best: &str, check: PvCheck, infos: &[&str]) -> Vec<String> {
        let line = Line::new(fen::position(start, false).unwrap());
        let (legal, stop) = (line.position().legal_moves(), AtomicBool::new(false));
        let timer = Timer::new(Control::nodes(1), Duration::ZERO);
        let turn = Turn { line: &line, legal: &legal, own: &timer, other: &timer, stop: &stop };
        let best = find_move(best.as_bytes(), &legal, turn.castling());
        let infos: Vec<Vec<u8>> = infos.iter().map(|info| info.as_bytes().to_vec()).collect();
        let warnings = warnings(&infos, &turn, best, check, "E");
        warnings.iter().map(|warning| warning.lines().next().unwrap().to_string()).collect()
    }

    const ROOKS: &str = "7k/8/6K1/8/8/8/8/R7 w - - 0 1";
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn variations_are_legal_and_end_with_the_game() {
        let illegal = "info depth 2 score cp 1 pv e2e4 e7e5 e4e5";
        let after = "info depth 2 score cp 1 pv a1a8 h8h7";
        for (start, best, info, says) in [
            (START, "e2e4", illegal, vec!["Warning; Illegal PV move - move e4e5 from E"]),
            (ROOKS, "a1a8", after, vec!["Warning; PV continues after checkmate - move h8h7 from E"]),
            (START, "e2e4", "info depth 2 score cp 1 pv e2e4 e7e5", vec![]),
            (START, "e2e4", "info string pv e2e5", vec![]),
            (START, "e2e4", "info pv e2e4 e7e5 score cp 1 nodes 7", vec![]),
            (START, "e2e4", "info depth 3 currmove d2d4", vec![]),
        ] {
            assert_eq!(found(start, best, PvCheck::Legal, &[info]), says, "{info}");
        }
    }

    #[test]
    fn the_best_move_begins_the_last_variation_of_the_first_line() {
        let mismatch = ["Warning; Bestmove does not match beginning of last PV - move d2d4 from E"];
        let first = "info depth 2 multipv 1 score cp 1 pv e2e4";
        let second = "info depth 2 multipv 2 score cp 0 pv d2d4";
        let bound = "info depth 3 score cp 1 lowerbound pv e2e4";
        assert_eq!(found(START, "d2d4", PvCheck::Legal, &[first, second]), mismatch);
        assert!(found(START, "e2e4", PvCheck::Legal, &[first, second]).is_empty());
        assert!(found(START, "d2d4", PvCheck::Legal, &[first, bound]).is_empty());
        // Fastchess looks at the last score alone, which need not have a variation.
        let bare = "info depth 3 score cp 1 nodes 10";
        assert!(found(START, "d2d4", PvCheck::Legal, &[first, bare]).is_empty());
        assert_eq!(found(START, "d2d4", PvCheck::Legal, &[first, "info depth 3 currmove d2d4"]), mismatch);
    }

    #[test]
    fn variations_of_mate_scores_have_the_moves_to_the_mate() {
        for (info, says) in [
            ("info score mate 1 pv a1a8", ""),
            ("info score mate 2 pv a1a8", "Warning; Incomplete mating PV - from E"),
            ("info score mate 1 pv a1b1", "Warning; Mating PV does not end with checkmate - from E"),
            ("info score mate 1 pv a1b1 h8g8 b1b8", "Warning; Too long mating PV - from E"),
            ("info score mate 1 lowerbound pv a1b1 h8g8", ""),
            ("info score cp 900 pv a1b1 h8g8", ""),
        ] {
            let best = &info[info.find("pv ").unwrap() + 3..][..4];
            let warnings = found(ROOKS, best, PvCheck::Mates, &[info]);
            assert_eq!(warnings.concat(), says, "{info}");
            assert!(found(ROOKS, best, PvCheck::Legal, &[info]).is_empty(), "{info}");
        }
    }
}
