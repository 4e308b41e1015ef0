//! Positions, moves and search reports in UCI notation.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use crate::Report;
use patzer_chess::score::mate_moves;
use patzer_chess::{Line, fen};

/// Parses `startpos` or `fen FEN`, each with `moves MOVE...`. An illegal move gives the line up to it and an
/// error.
pub fn line(arguments: &str, chess960: bool) -> (Option<Line>, Option<String>) {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let end = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let setup = words[..end].join(" ");
    let mut line = if setup == "startpos" {
        Line::new(Chess::default())
    } else if let Some(text) = setup.strip_prefix("fen ") {
        match fen::position(text, chess960) {
            Ok(start) => Line::new(start),
            Err(error) => return (None, Some(error.to_string())),
        }
    } else {
        return (None, Some("position needs: startpos or fen FEN, then moves MOVE...".to_owned()));
    };
    for &text in words.iter().skip(end + 1) {
        match text.parse::<UciMove>().ok().and_then(|uci| uci.to_move(line.position()).ok()) {
            Some(m) => line.play(m),
            None => {
                let number = line.moves().len() + 1;
                return (
                    Some(line),
                    Some(format!("move {number} `{text}` is not legal; it and what follows is left out")),
                );
            }
        }
    }
    (Some(line), None)
}

/// The castling notation: king takes rook for Chess960, or if the position needs it.
pub fn mode(position: &Chess, chess960: bool) -> CastlingMode {
    if chess960 { CastlingMode::Chess960 } else { position.castles().mode() }
}

pub fn text(m: Move, mode: CastlingMode) -> String {
    m.to_uci(mode).to_string()
}

pub fn info(report: &Report, mode: CastlingMode) -> String {
    let score = match mate_moves(report.score) {
        Some(moves) => format!("mate {moves}"),
        None => format!("cp {}", report.score),
    };
    let speed = (report.nodes as f64 / report.time.as_secs_f64().max(1e-6)) as u64;
    let pv: Vec<String> = report.pv.iter().map(|&m| text(m, mode)).collect();
    format!(
        "info depth {} seldepth {} multipv {} score {score} nodes {} nps {speed} hashfull {} time {} pv {}",
        report.depth,
        report.seldepth,
        report.rank,
        report.nodes,
        report.hashfull,
        report.time.as_millis(),
        pv.join(" ")
    )
}

/// The `bestmove` line of a report, with the ponder move.
pub fn best_move(report: &Report, mode: CastlingMode) -> String {
    let best = report.best.map_or_else(|| "(none)".to_owned(), |m| text(m, mode));
    match report.pv.get(1) {
        Some(&reply) => format!("bestmove {best} ponder {}", text(reply, mode)),
        None => format!("bestmove {best}"),
    }
}
