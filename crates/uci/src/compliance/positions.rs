//! Checks of moves in positions that move generators, lists and histories get wrong.

use std::time::Duration;

use patzer_chess::{Line, fen};
use shakmaty::Position;

use super::outcome::{CheckOutcome, Checked};
use super::session::{Searched, Session, best_of, game, line_of};
use crate::parse::words;

/// A clock that every engine understands, and that asks for little time.
const CLOCK: &str = "wtime 1000 btime 1000";

/// Start position if `None`, and moves.
const GAMES: [(Option<&str>, &str); 11] = [
    (None, ""),
    // Castling to both sides, a promotion with capture, en passant.
    (None, "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1 d7d6 d2d3 c8g4 c1g5 d8d7 b1c3 e8c8"),
    (None, "e2e4 d7d5 e4e5 f7f5 e5f6 e8f7 f6g7 g8f6 g7h8n f7g7 h8f7"),
    (Some("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"), "a2a4"),
    (Some("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"), "e8g8 e1c1"),
    // Only promotions are legal; only en passant, of the position and of a move.
    (Some("8/P7/8/4b3/8/8/5k2/7K w - - 0 1"), ""),
    (Some("8/8/p7/Pp2b3/8/8/5k2/7K w - b6 0 1"), ""),
    (Some("8/1p6/p7/P3b3/8/8/5k2/7K b - - 0 1"), "b7b5"),
    // Double check, the last ply before the fifty-move rule, bare kings.
    (Some("4k3/8/8/8/8/8/4r3/r3K2R w K - 0 1"), ""),
    (Some("8/5k2/8/8/3R4/8/5K2/8 w - - 99 170"), ""),
    (Some("8/8/8/4k3/8/8/4K3/8 w - - 0 1"), ""),
];

pub fn legal_moves(session: &mut Session) -> Checked {
    legal_in(session, &GAMES, false)
}

fn legal_in(session: &mut Session, games: &[(Option<&str>, &str)], chess960: bool) -> Checked {
    let mut searched = Vec::new();
    for &(start, moves) in games {
        let line = game(start, chess960, moves);
        session.begin_game()?;
        if let Some(fault) = illegal(session, &line, CLOCK, &mut searched)? {
            return Ok(fault);
        }
    }
    Ok(CheckOutcome::good(format!("legal in {} positions", searched.len())))
}

/// Searches, and says what is wrong with the move.
fn illegal(
    session: &mut Session,
    line: &Line,
    go: &str,
    searched: &mut Vec<Searched>,
) -> Result<Option<CheckOutcome>, crate::PlayerError> {
    let found = session.search(line, go)?;
    if let Err(said) = &found.best {
        let fen = fen::text(line.position());
        return Ok(Some(CheckOutcome::fault(format!("`{}` in {fen}", said.0))));
    }
    searched.push(found);
    Ok(None)
}

fn one_position(session: &mut Session, line: &Line, good: String) -> Checked {
    let fault = illegal(session, line, CLOCK, &mut Vec::new())?;
    Ok(fault.unwrap_or_else(|| CheckOutcome::good(good)))
}

/// 660 plies: knights go to and fro, and after every 64 plies each side moves a pawn by a step.
fn long_line() -> Line {
    let mut moves = String::new();
    for (step, file) in [0, 1].into_iter().flat_map(|step| ('a'..='e').map(move |file| (step, file))) {
        moves += &" g1f3 g8f6 f3g1 f6g8".repeat(16);
        moves += &format!(" {file}{}{file}{} {file}{}{file}{}", 2 + step, 3 + step, 7 - step, 6 - step);
    }
    game(None, false, &moves)
}

pub fn long_game(session: &mut Session) -> Checked {
    let line = long_line();
    one_position(session, &line, format!("a legal move after {} plies", line.moves().len()))
}

pub fn many_moves(session: &mut Session) -> Checked {
    let line = game(Some("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"), false, "");
    let count = line.position().legal_moves().len();
    one_position(session, &line, format!("a legal one of {count}"))
}

/// Mate and stalemate.
const ENDED: [&str; 2] =
    ["rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"];

pub fn no_move(session: &mut Session) -> Checked {
    let mut said = Vec::new();
    for fen in ENDED {
        session.begin_game()?;
        session.send(&format!("position fen {fen}\ngo depth 2\n"))?;
        let mut lines = session.listen(Duration::from_millis(300))?;
        if line_of(&lines, b"bestmove").is_none() {
            lines.extend(session.ask("stop\nisready\n", b"readyok")?);
            lines.extend(session.listen(Duration::from_millis(100))?);
        }
        said.push(line_of(&lines, b"bestmove").map(best_of));
    }
    // A crash after the answer would show here.
    session.ask("isready\n", b"readyok")?;
    Ok(
        match said.iter().flatten().find(|best| !matches!(best.as_str(), "(none)" | "0000" | "none" | "NULL"))
        {
            Some(best) => CheckOutcome::warning(format!("`bestmove {best}`, where no move is legal")),
            None if said.iter().all(Option::is_some) => {
                CheckOutcome::good(format!("`bestmove {}`", said[0].as_deref().unwrap_or_default()))
            }
            None => CheckOutcome::warning("no `bestmove`"),
        },
    )
}

/// Positions of Chess960 with moves; castling is king takes rook.
const CHESS960: [(Option<&str>, &str); 3] = [
    (Some("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"), ""),
    (Some("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9"), "f1g2 d5g2"),
    (Some("1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9"), "d1c2 h7h6"),
];

pub fn chess960(session: &mut Session) -> Checked {
    const NAME: &str = "UCI_Chess960";
    if session.option(NAME).is_none() {
        return Ok(CheckOutcome::absent(NAME));
    }
    session.set(NAME, "true")?;
    let outcome = legal_in(session, &CHESS960, true)?;
    session.restore(NAME)?;
    Ok(outcome)
}

pub fn several_lines(session: &mut Session) -> Checked {
    const NAME: &str = "MultiPV";
    if session.option(NAME).is_none() {
        return Ok(CheckOutcome::absent(NAME));
    }
    if !session.set(NAME, "3")? {
        return Ok(CheckOutcome::warning("does not take 3"));
    }
    let found = session.search(&game(None, false, "e2e4 e7e5"), CLOCK)?;
    session.restore(NAME)?;
    let mut firsts: [Option<Vec<u8>>; 3] = Default::default();
    for line in &found.infos {
        let after = |key: &[u8]| words(line).skip_while(move |word| *word != key).nth(1);
        let number = after(b"multipv").and_then(|word| std::str::from_utf8(word).ok()?.parse::<usize>().ok());
        if let (Some(number @ 1..=3), Some(m)) = (number, after(b"pv")) {
            firsts[number - 1] = Some(m.to_vec());
        }
    }
    let [Some(first), Some(second), Some(third)] = &firsts else {
        return Ok(CheckOutcome::fault(format!("{} lines of 3", firsts.iter().flatten().count())));
    };
    Ok(match first == second || second == third || first == third {
        true => CheckOutcome::fault("two lines begin with one move"),
        false => CheckOutcome::good("3 lines with a move each"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_the_checks_are_legal_and_go_on() {
        for (start, moves) in GAMES {
            assert!(!game(start, false, moves).position().legal_moves().is_empty(), "{start:?}");
        }
        for (start, moves) in CHESS960 {
            assert!(!game(start, true, moves).position().legal_moves().is_empty(), "{start:?}");
        }
        for fen in ENDED {
            assert!(game(Some(fen), false, "").position().legal_moves().is_empty(), "{fen}");
        }
    }

    #[test]
    fn positions_with_one_kind_of_move_have_no_other() {
        let count = |at: usize| {
            let (start, moves) = GAMES[at];
            game(start, false, moves).position().legal_moves().len()
        };
        assert_eq!((5..8).map(count).collect::<Vec<_>>(), [4, 1, 1]);
    }

    #[test]
    fn the_long_game_has_its_length() {
        assert_eq!(long_line().moves().len(), 660);
    }
}
