//! Positions, moves and search reports in UCI notation.

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Move, Position};

use super::wdl::Chances;
use crate::{Bound, Report};
use patzer_chess::score::mate_moves;
use patzer_chess::{Line, fen};

/// Parses `startpos` or `fen FEN`, each with `moves MOVE...`; the line ends before an illegal move.
pub(super) fn line(arguments: &str, chess960: bool) -> (Option<Line>, Option<String>) {
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
        let Some(m) = text.parse::<UciMove>().ok().and_then(|uci| uci.to_move(line.position()).ok()) else {
            let number = line.moves().len() + 1;
            let error = format!("move {number} `{text}` is not legal; it and what follows is left out");
            return (Some(line), Some(error));
        };
        line.play(m);
    }
    (Some(line), None)
}

/// The castling notation: king takes rook for Chess960, or if the position needs it.
pub(super) fn mode(position: &Chess, chess960: bool) -> CastlingMode {
    if chess960 { CastlingMode::Chess960 } else { position.castles().mode() }
}

pub(super) fn text(m: Move, mode: CastlingMode) -> String {
    m.to_uci(mode).to_string()
}

/// An `info` line, with `wdl` if `UCI_ShowWDL` is set.
pub(super) fn info(report: &Report, mode: CastlingMode, chances: Option<&Chances>) -> String {
    let Report { depth, seldepth, rank, score, bound, nodes, tbhits, hashfull, time, .. } = report;
    let wdl = chances.map_or_else(String::new, |chances| {
        let [win, draw, loss] = chances.permille(*score);
        format!(" wdl {win} {draw} {loss}")
    });
    let bound = match bound {
        Bound::Exact => "",
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
    };
    let score = mate_moves(*score).map_or_else(|| format!("cp {score}"), |moves| format!("mate {moves}"));
    let speed = (*nodes as f64 / time.as_secs_f64().max(1e-6)) as u64;
    let pv: String = report.pv.iter().map(|&m| format!(" {}", text(m, mode))).collect();
    let pv = if pv.is_empty() { pv } else { format!(" pv{pv}") };
    let time = time.as_millis();
    let hits = if *tbhits > 0 { format!(" tbhits {tbhits}") } else { String::new() };
    format!(
        "info depth {depth} seldepth {seldepth} multipv {rank} score {score}{bound}{wdl} nodes {nodes} nps {speed} \
         hashfull {hashfull}{hits} time {time}{pv}"
    )
}

pub(super) fn best_move(report: &Report, mode: CastlingMode) -> String {
    let best = report.best.map_or_else(|| "(none)".to_owned(), |m| text(m, mode));
    match report.pv.get(1) {
        Some(&reply) => format!("bestmove {best} ponder {}", text(reply, mode)),
        None => format!("bestmove {best}"),
    }
}
