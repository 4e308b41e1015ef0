//! The `go` command.
//!
//! In: what follows `go`, and whose move it is. Out: what to do, with its limits.

use std::time::Duration;

use shakmaty::Color;

use crate::engine::{Clock, Limits};

/// What a `go` asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Go {
    /// Search within these limits.
    Search(Limits),
    /// Search until `stop`, within these limits.
    Endless(Limits),
    /// Count leaves to this depth in plies.
    Perft(u32),
}

/// Reads the arguments. Negative times, as GUIs send them for overdrawn clocks, count as nothing left.
///
/// # Errors
/// Which argument is not understood.
pub fn parse(arguments: &str, turn: Color, overhead: Duration) -> std::result::Result<Go, String> {
    let mut limits = Limits { overhead, ..Limits::default() };
    let (mut time, mut any_clock) = (Duration::ZERO, false);
    let (mut increment, mut moves_to_go) = (Duration::ZERO, None);
    let mut endless = false;
    let mut words = arguments.split_whitespace();
    while let Some(word) = words.next() {
        let mut number = || -> std::result::Result<u64, String> {
            let text = words.next().ok_or_else(|| format!("go {word}: a number is missing"))?;
            let number: i64 = text.parse().map_err(|_| format!("go {word} {text}: not a number"))?;
            Ok(number.max(0) as u64)
        };
        match word {
            "infinite" | "ponder" => endless = true,
            "depth" => limits.depth = Some(number()?.clamp(1, 1000) as i32),
            "nodes" => limits.nodes = Some(number()?),
            "movetime" => limits.movetime = Some(Duration::from_millis(number()?)),
            "movestogo" => moves_to_go = Some(number()?.clamp(1, 1000) as u32),
            "perft" => return Ok(Go::Perft(number()?.min(100) as u32)),
            "wtime" | "btime" => {
                let left = Duration::from_millis(number()?);
                any_clock = true;
                if (word == "wtime") == turn.is_white() {
                    time = left;
                }
            }
            "winc" | "binc" => {
                let added = Duration::from_millis(number()?);
                if (word == "winc") == turn.is_white() {
                    increment = added;
                }
            }
            _ => return Err(format!("go {word}: not supported")),
        }
    }
    if any_clock {
        limits.clock = Some(Clock { time, increment, moves_to_go });
    }
    let bounded = limits.depth.is_some()
        || limits.nodes.is_some()
        || limits.movetime.is_some()
        || limits.clock.is_some();
    Ok(if endless || !bounded { Go::Endless(limits) } else { Go::Search(limits) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn each_side_gets_its_own_clock() {
        let text = "wtime 1000 btime 2000 winc 10 binc 20 movestogo 5";
        for (turn, time, increment) in [(Color::White, 1000, 10), (Color::Black, 2000, 20)] {
            let Ok(Go::Search(limits)) = parse(text, turn, MS) else { panic!() };
            let clock = Clock { time: time * MS, increment: increment * MS, moves_to_go: Some(5) };
            assert_eq!(limits, Limits { clock: Some(clock), overhead: MS, ..Limits::default() });
        }
    }

    #[test]
    fn without_a_limit_only_stop_ends_it() {
        for text in ["", "infinite", "infinite depth 5"] {
            assert!(matches!(parse(text, Color::White, MS), Ok(Go::Endless(_))), "{text}");
        }
        assert!(matches!(parse("depth 5", Color::White, MS), Ok(Go::Search(_))));
        assert_eq!(parse("perft 4", Color::White, MS), Ok(Go::Perft(4)));
    }

    #[test]
    fn an_overdrawn_clock_has_nothing_left() {
        let Ok(Go::Search(limits)) = parse("wtime -50 btime 9", Color::White, MS) else { panic!() };
        assert_eq!(limits.clock.unwrap().time, Duration::ZERO);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in ["depth", "depth x", "sideways", "searchmoves e2e4"] {
            assert!(parse(text, Color::White, MS).is_err(), "{text}");
        }
    }
}
