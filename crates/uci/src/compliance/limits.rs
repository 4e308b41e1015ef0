//! Checks that searches keep their limits.

use std::time::Duration;

use shakmaty::CastlingMode;

use patzer_io::number::grouped;

use super::outcome::{CheckOutcome, Checked, Verdict};
use super::session::{Session, game, ms};

/// Words after `go`, moves before the search, and the time of the side to move.
const CLOCKS: [(&str, &str, u64); 6] = [
    ("wtime 300 btime 100000", "e2e4 e7e5", 300),
    ("wtime 100000 btime 300", "e2e4", 300),
    ("wtime 300 btime 300 winc 100 binc 100", "d2d4 d7d5", 300),
    ("wtime 300 btime 300 movestogo 1", "c2c4 e7e5", 300),
    ("wtime 60000 btime 60000 movestogo 40", "d2d4 g8f6 c2c4 e7e6 b1c3", 60_000),
    ("wtime 50 btime 50", "d2d4 d7d5 c2c4 e7e6", 50),
];

pub fn clocks(session: &mut Session) -> Checked {
    let mut used = Vec::new();
    for (go, moves, own) in CLOCKS {
        session.begin_game()?;
        let time = session.search(&game(None, false, moves), go)?.time;
        if time > Duration::from_millis(own) {
            let verdict = if own < 100 { Verdict::Warning } else { Verdict::Fault };
            return Ok(CheckOutcome::new(verdict, format!("{} ms for `go {go}`", ms(time))));
        }
        used.push(format!("{} of {}", ms(time), grouped(own)));
    }
    Ok(CheckOutcome::good(format!("used {} ms", used.join(", "))))
}

const MOVETIME: Duration = Duration::from_millis(200);

pub fn movetime(session: &mut Session) -> Checked {
    let found = session.search(&game(None, false, "e2e4 c7c5"), &format!("movetime {}", ms(MOVETIME)))?;
    let value = format!("{} ms of {}", ms(found.time), ms(MOVETIME));
    Ok(match found.time {
        time if time > 2 * MOVETIME => CheckOutcome::fault(value),
        time if time > MOVETIME + Duration::from_millis(20) => CheckOutcome::warning(value),
        _ => CheckOutcome::good(value),
    })
}

const NODES: u64 = 20_000;

pub fn nodes(session: &mut Session) -> Checked {
    let mut nodes = 0;
    for moves in ["e2e4 c7c5 g1f3", "d2d4 d7d5 c2c4", "e2e4 e7e5 g1f3 b8c6"] {
        nodes = nodes.max(session.search(&game(None, false, moves), &format!("nodes {NODES}"))?.nodes());
        // A search that reports whole iterations alone may seem short.
        if nodes >= NODES / 10 {
            break;
        }
    }
    let value = format!("{} of {}", grouped(nodes), grouped(NODES));
    Ok(match nodes {
        0 => CheckOutcome::warning("not reported"),
        _ if !(NODES / 10..=2 * NODES).contains(&nodes) => CheckOutcome::fault(value),
        _ if nodes <= NODES + NODES / 20 => CheckOutcome::good(value),
        _ => CheckOutcome::warning(value),
    })
}

/// Moves that no engine chooses unasked.
const ONLY: [&str; 2] = ["a7a5", "h7h5"];

pub fn searchmoves(session: &mut Session) -> Checked {
    let found =
        session.search(&game(None, false, "e2e4"), &format!("depth 4 searchmoves {}", ONLY.join(" ")))?;
    let best = found.best.map_or_else(|illegal| illegal.0, |m| m.to_uci(CastlingMode::Standard).to_string());
    let verdict = if ONLY.contains(&best.as_str()) { Verdict::Good } else { Verdict::Warning };
    Ok(CheckOutcome::new(verdict, format!("{best} of {}", ONLY.join(" and "))))
}

const DEPTH: i32 = 5;

pub fn depth(session: &mut Session) -> Checked {
    let found = session.search(&game(None, false, "e2e4 e7e6"), &format!("depth {DEPTH}"))?;
    let reached = found.reports().map(|info| info.depth).max().unwrap_or(0);
    let verdict = if reached == DEPTH { Verdict::Good } else { Verdict::Warning };
    Ok(CheckOutcome::new(verdict, format!("{reached} of {DEPTH} plies")))
}
