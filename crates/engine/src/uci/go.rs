//! The `go` command. A GUI waits for a move, so unknown words are skipped, and a limit without a number is 0.

use std::str::SplitWhitespace;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Position};

use crate::{Clock, Limits};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Go {
    Search(Limits),
    Endless(Limits),
    Ponder(Limits),
    Perft(u32),
}

/// Parses the arguments, with warnings. Negative times, which GUIs send for overdrawn clocks, count as 0.
pub(super) fn parse(arguments: &str, position: &Chess, overhead: Duration) -> (Go, Vec<String>) {
    let mut reader = Reader { words: arguments.split_whitespace(), lookahead: None, warnings: Vec::new() };
    let mut limits = Limits { overhead, ..Limits::default() };
    let white = position.turn().is_white();
    let (mut time, mut increment, mut moves_to_go) = (None, Duration::ZERO, None);
    let (mut endless, mut ponder) = (false, false);
    while let Some(word) = reader.next() {
        match word {
            "infinite" => endless = true,
            "ponder" => ponder = true,
            "depth" => limits.depth = Some(reader.number(word).clamp(1, 1000) as i32),
            "nodes" => limits.nodes = Some(reader.number(word)),
            "mate" => limits.mate = Some(reader.number(word).clamp(1, 1000) as u32),
            "movetime" => limits.movetime = Some(Duration::from_millis(reader.number(word))),
            // Some match runners write 0 without a next time control.
            "movestogo" => {
                moves_to_go = Some(reader.number(word).min(1000) as u32).filter(|&moves| moves > 0)
            }
            "perft" => return (Go::Perft(reader.number(word).min(100) as u32), reader.warnings),
            "searchmoves" => reader.moves(position, &mut limits),
            "wtime" | "btime" => {
                let left = Duration::from_millis(reader.number(word));
                let own = (word == "wtime") == white;
                // The opponent's clock alone still means that the game is timed.
                time = if own { Some(left) } else { time.or(Some(Duration::ZERO)) };
            }
            "winc" | "binc" => {
                let added = Duration::from_millis(reader.number(word));
                if (word == "winc") == white {
                    increment = added;
                }
            }
            _ => reader.warnings.push(format!("go {word}: not known, and left out")),
        }
    }
    limits.clock = time.map(|time| Clock { time, increment, moves_to_go });
    let bounded = limits != Limits { overhead, only: limits.only.clone(), ..Limits::default() };
    let go = match (endless, ponder) {
        (false, true) => Go::Ponder(limits),
        (false, false) if bounded => Go::Search(limits),
        _ => Go::Endless(limits),
    };
    (go, reader.warnings)
}

struct Reader<'a> {
    words: SplitWhitespace<'a>,
    lookahead: Option<&'a str>,
    warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.lookahead.take().or_else(|| self.words.next())
    }

    /// The number after a word, at least 0; 0 with a warning if it is missing.
    fn number(&mut self, word: &str) -> u64 {
        let Some(text) = self.next() else {
            self.warnings.push(format!("go {word}: the number is missing, taken as the least"));
            return 0;
        };
        match text.parse::<i128>() {
            Ok(number) => number.clamp(0, i128::from(u32::MAX) * 1000) as u64,
            Err(_) => {
                self.warnings.push(format!("go {word} {text}: not a number, taken as the least"));
                0
            }
        }
    }

    fn moves(&mut self, position: &Chess, limits: &mut Limits) {
        while let Some(text) = self.next() {
            match text.parse::<UciMove>().map(|uci| uci.to_move(position)) {
                Ok(Ok(m)) if !limits.only.contains(&m) => limits.only.push(m),
                Ok(Ok(_)) => {}
                Ok(Err(_)) => self.warnings.push(format!("go searchmoves {text}: not legal, and left out")),
                Err(_) => {
                    self.lookahead = Some(text);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::testing::from_fen;

    const MS: Duration = Duration::from_millis(1);

    fn white(arguments: &str) -> (Go, Vec<String>) {
        parse(arguments, &Chess::default(), MS)
    }

    fn limits(arguments: &str) -> Limits {
        match white(arguments) {
            (Go::Search(limits), warnings) if warnings.is_empty() => limits,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_side_gets_its_own_clock() {
        let text = "wtime 1000 btime 2000 winc 10 binc 20 movestogo 5";
        let black = from_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
        for (position, time, increment) in [(&Chess::default(), 1000, 10), (&black, 2000, 20)] {
            let (Go::Search(limits), _) = parse(text, position, MS) else { panic!() };
            let clock = Clock { time: time * MS, increment: increment * MS, moves_to_go: Some(5) };
            assert_eq!(limits, Limits { clock: Some(clock), overhead: MS, ..Limits::default() });
        }
        assert_eq!(limits("btime 9 winc 3").clock.unwrap().time, Duration::ZERO);
        assert_eq!(limits("wtime 60000 movestogo 0").clock.unwrap().moves_to_go, None);
    }

    #[test]
    fn without_a_limit_only_stop_ends_it() {
        for text in ["", "infinite", "infinite depth 5", "searchmoves e2e4"] {
            assert!(matches!(white(text).0, Go::Endless(_)), "{text}");
        }
        assert!(matches!(white("depth 5").0, Go::Search(_)));
        assert!(matches!(white("ponder wtime 5 btime 5").0, Go::Ponder(_)));
        assert_eq!(white("perft 4"), (Go::Perft(4), vec![]));
    }

    #[test]
    fn numbers_out_of_range_are_the_nearest_that_is_in_range() {
        assert_eq!(limits("wtime -50 btime 9").clock.unwrap().time, Duration::ZERO);
        let far = "9".repeat(30);
        assert!(limits(&format!("movetime {far}")).movetime.unwrap() > Duration::from_secs(1_000_000));
        assert_eq!(limits("depth -3").depth, Some(1));
        assert_eq!(limits("mate 0").mate, Some(1));
    }

    #[test]
    fn moves_to_choose_from_end_with_the_next_word() {
        let limits = limits("searchmoves e2e4 d2d4 e2e4 depth 3");
        assert_eq!(limits.only.len(), 2);
        assert_eq!(limits.depth, Some(3));
    }

    #[test]
    fn what_is_not_understood_is_named_and_does_not_make_a_search_endless() {
        for (text, warning) in [
            ("depth", "go depth: the number is missing, taken as the least"),
            ("depth x", "go depth x: not a number, taken as the least"),
            ("sideways depth 1", "go sideways: not known, and left out"),
            ("searchmoves e2e5 depth 1", "go searchmoves e2e5: not legal, and left out"),
        ] {
            let (go, warnings) = white(text);
            assert_eq!(warnings, [warning]);
            assert!(matches!(go, Go::Search(Limits { depth: Some(1), .. })), "{text}");
        }
    }
}
