//! Checks of what engines report about their searches.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use patzer_chess::{Line, played};
use shakmaty::Position;

use super::outcome::{CheckOutcome, Checked};
use super::session::{Searched, Session, game};
use crate::parse::words;
use crate::pv_check;
use crate::{Control, PlayerError, PvCheck, Timer, Turn};
use patzer_chess::score::MATE;

const GO: &str = "movetime 200";

pub fn fields(session: &mut Session) -> Checked {
    let found = session.search(&game(None, false, "d2d4 d7d5 c2c4"), GO)?;
    let has = |field: &[u8]| found.infos.iter().any(|line| words(line).any(|word| word == field));
    let names = ["depth", "score", "nodes", "time", "nps", "pv", "seldepth", "hashfull"];
    let (there, missing): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| has(name.as_bytes()));
    let lacks = |name: &str| missing.contains(&name);
    Ok(if lacks("score") || found.info.score.is_none() {
        CheckOutcome::fault("no score")
    } else if names[..4].iter().any(|name| lacks(name)) {
        CheckOutcome::warning(format!("no {}", missing.join(", ")))
    } else {
        CheckOutcome::good(there.join(", "))
    })
}

/// Start position if `None`, and moves.
const GAMES: [(Option<&str>, &str); 4] = [
    (None, "e2e4 e7e5 g1f3"),
    (Some("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"), ""),
    (Some("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1"), ""),
    (Some("7k/8/5K2/8/8/8/8/R7 w - - 0 1"), ""),
];

pub fn variations(session: &mut Session) -> Checked {
    let (mut lines, mut wrong) = (0, Vec::new());
    for (start, moves) in GAMES {
        let line = game(start, false, moves);
        session.begin_game()?;
        let found = session.search(&line, GO)?;
        lines += found.infos.iter().filter(|info| words(info).any(|word| word == b"pv")).count();
        wrong.extend(warnings(&line, &found));
    }
    Ok(match (lines, wrong.as_slice()) {
        (0, _) => CheckOutcome::warning("none"),
        (_, []) => CheckOutcome::good(format!("{lines} legal ones, of the move")),
        (_, [first, rest @ ..]) => {
            let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
            CheckOutcome::warning(format!("{first}{more}"))
        }
    })
}

fn warnings(line: &Line, found: &Searched) -> Vec<String> {
    let (legal, stop) = (line.position().legal_moves(), AtomicBool::new(false));
    let timer = Timer::new(Control::nodes(1), Duration::ZERO);
    let turn = Turn { line, legal: &legal, own: &timer, other: &timer, stop: &stop };
    let best = found.best.as_ref().ok().copied();
    let warnings = pv_check::warnings(&found.infos, &turn, best, PvCheck::Legal, "");
    let first = |text: &String| {
        let line = text.lines().next().unwrap_or_default();
        line.trim_start_matches("Warning; ").trim_end_matches(" from ").to_string()
    };
    warnings.iter().map(first).collect()
}

/// Positions with Black to move, a queen down and a queen up.
const QUEENS: [&str; 2] = [
    "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR b KQkq - 0 1",
];

pub fn side(session: &mut Session) -> Checked {
    let mut scores = Vec::new();
    for fen in QUEENS {
        session.begin_game()?;
        let found = session.search(&game(Some(fen), false, ""), GO)?;
        let Some(score) = found.info.score else { return Ok(CheckOutcome::warning("no score")) };
        scores.push(if session.white_pov() { -score } else { score });
    }
    let value = format!("Black to move: {} cp a queen down, {} cp a queen up", scores[0], scores[1]);
    Ok(match (scores[0].signum(), scores[1].signum()) {
        (-1, 1) => CheckOutcome::good(value),
        (1, -1) if session.white_pov() => CheckOutcome::fault(format!("{value}, with whitepov=on")),
        (1, -1) => CheckOutcome::fault(format!("{value}: from White's side")),
        _ => CheckOutcome::warning(value),
    })
}

pub fn mate(session: &mut Session) -> Checked {
    let line = game(Some("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), false, "");
    let found = session.search(&line, GO)?;
    let Ok(best) = found.best else { return Ok(CheckOutcome::fault("no legal move")) };
    let after = played(line.position(), best);
    let uci = best.to_uci(shakmaty::CastlingMode::Standard);
    Ok(match found.info.score {
        _ if !after.is_checkmate() => CheckOutcome::warning(format!("played {uci}, which is no mate")),
        Some(score) if score == MATE - 1 => CheckOutcome::good(format!("{uci}, `score mate 1`")),
        _ => CheckOutcome::warning(format!("{uci}, without `score mate 1`")),
    })
}

/// Fields that two equal searches have to share.
fn search_of(session: &mut Session) -> Result<(String, u64, Option<i32>, i32), PlayerError> {
    session.begin_game()?;
    let found = session.search(&game(None, false, "e2e4 e7e5 g1f3 b8c6 f1b5"), "depth 6")?;
    let best = found.best.as_ref().map_or_else(|said| said.0.clone(), |m| format!("{m}"));
    Ok((best, found.nodes(), found.info.score, found.info.depth))
}

pub fn repeatable(session: &mut Session) -> Checked {
    if session.chosen("Threads").is_some_and(|threads| threads != "1") {
        return Ok(CheckOutcome::good("not asked of several threads"));
    }
    let (first, second) = (search_of(session)?, search_of(session)?);
    let shown = |(best, nodes, ..): &(String, u64, Option<i32>, i32)| {
        format!("{best} after {} nodes", patzer_io::number::grouped(*nodes))
    };
    Ok(match first == second {
        true => CheckOutcome::good(shown(&first)),
        false => CheckOutcome::warning(format!("{}, then {}", shown(&first), shown(&second))),
    })
}
