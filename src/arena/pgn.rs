//! Games as PGN, in the dialect of fastchess and cutechess-cli.
//!
//! In: a finished game with names. Out: text. Every move carries a comment `{+0.35/12 0.050s, n=5000}`: score
//! from the mover's side in pawns, or `+M5` for a mate in five plies, depth, time, nodes. Where nodes or depth
//! limit the moves, times are written as zero, so that equal games are equal bytes.

use std::fmt::Write;

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, EnPassantMode, Position};

use super::control::Control;
use super::game::{Game, Played, Reason};
use crate::chess::score::{MATE, Score, is_mate};

/// What a game's tags say beyond the game.
#[derive(Debug, Clone)]
pub struct Tags<'a> {
    /// The test's name.
    pub event: &'a str,
    /// Pair and game, from 1: `12.2`.
    pub round: String,
    /// White's name.
    pub white: &'a str,
    /// Black's name.
    pub black: &'a str,
    /// What the players got for their moves.
    pub control: Control,
}

/// Where lines of movetext are broken.
const WIDTH: usize = 80;

/// Writes a game with an empty line after it.
pub fn text(game: &Game, tags: &Tags) -> String {
    let mut out = String::with_capacity(64 * game.moves.len() + 512);
    header(&mut out, game, tags);
    let mut column = 0;
    let mut push = |token: &str, out: &mut String| {
        if column > 0 && column + 1 + token.len() > WIDTH {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(token);
        column += token.len();
    };
    let mut position = game.start.clone();
    for (ply, played) in game.moves.iter().enumerate() {
        let number = position.fullmoves();
        if position.turn().is_white() {
            push(&format!("{number}."), &mut out);
        } else if ply == 0 {
            push(&format!("{number}..."), &mut out);
        }
        push(&SanPlus::from_move_and_play_unchecked(&mut position, played.m).to_string(), &mut out);
        let last = ply + 1 == game.moves.len();
        push(&comment(played, tags.control, last.then(|| ending(game, &position))), &mut out);
    }
    if game.moves.is_empty() {
        push(&format!("{{{}}}", ending(game, &position)), &mut out);
    }
    push(game.result(), &mut out);
    out.push_str("\n\n");
    out
}

fn header(out: &mut String, game: &Game, tags: &Tags) {
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "[{name} \"{value}\"]");
    };
    tag("Event", tags.event);
    tag("Site", "?");
    tag("Date", "????.??.??");
    tag("Round", &tags.round);
    tag("White", tags.white);
    tag("Black", tags.black);
    tag("Result", game.result());
    if game.start != Chess::default() {
        tag("SetUp", "1");
        tag("FEN", &Fen::from_position(&game.start, EnPassantMode::Legal).to_string());
    }
    if game.start.castles().mode().is_chess960() {
        tag("Variant", "Chess960");
    }
    tag("PlyCount", &game.moves.len().to_string());
    match tags.control {
        Control::Clock(clock) => tag("TimeControl", &clock.to_string()),
        other => {
            tag("TimeControl", "-");
            tag("Limit", &other.to_string());
        }
    }
    tag("Termination", termination(game.reason));
    out.push('\n');
}

/// The value of the tag, from the list of the PGN standard (9.8.1).
fn termination(reason: Reason) -> &'static str {
    match reason {
        Reason::TimeForfeit => "time forfeit",
        Reason::IllegalMove => "rules infraction",
        Reason::AdjudicatedDraw | Reason::AdjudicatedWin | Reason::MoveLimit => "adjudication",
        _ => "normal",
    }
}

/// How the game ended, in the words of fastchess. `position` is the last one.
fn ending(game: &Game, position: &Chess) -> String {
    let name = |color: Color| color.fold_wb("White", "Black");
    let loser = name(position.turn());
    match (game.reason, game.winner) {
        (Reason::Checkmate, _) => format!("{} mates", name(!position.turn())),
        (Reason::Stalemate, _) => "Draw by stalemate".into(),
        (Reason::Repetition, _) => "Draw by 3-fold repetition".into(),
        (Reason::FiftyMoves, _) => "Draw by fifty moves rule".into(),
        (Reason::InsufficientMaterial, _) => "Draw by insufficient mating material".into(),
        (Reason::TimeForfeit, Some(_)) => format!("{loser} loses on time"),
        (Reason::TimeForfeit, None) => {
            format!("{loser} is out of time, and {} cannot mate", name(!position.turn()))
        }
        (Reason::IllegalMove, _) => format!("{loser} makes an illegal move"),
        (Reason::MoveLimit, _) => "Draw by adjudication: move limit".into(),
        (_, None) => "Draw by adjudication".into(),
        (_, Some(winner)) => format!("{} wins by adjudication", name(winner)),
    }
}

fn comment(played: &Played, control: Control, ending: Option<String>) -> String {
    let milliseconds = if control.deterministic() { 0 } else { played.time.as_millis() };
    let mut text = format!(
        "{{{}/{} {}.{:03}s, n={}",
        score(played.score),
        played.depth,
        milliseconds / 1000,
        milliseconds % 1000,
        played.nodes
    );
    if let Some(ending) = ending {
        text.push_str(", ");
        text.push_str(&ending);
    }
    text.push('}');
    text
}

/// A score in pawns with its sign, or the plies to mate.
fn score(score: Score) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    let size = score.unsigned_abs();
    if is_mate(score) {
        format!("{sign}M{}", MATE.unsigned_abs().saturating_sub(size))
    } else {
        format!("{sign}{}.{:02}", size / 100, size % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use shakmaty::san::San;
    use std::time::Duration;

    fn game(start: Chess, moves: &[(&str, Score)], winner: Option<Color>, reason: Reason) -> Game {
        let mut position = start.clone();
        let moves = moves.iter().map(|&(san, score)| {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            Played { m, score, depth: 12, nodes: 5000, time: Duration::from_millis(50) }
        });
        let moves = moves.collect();
        Game { start, moves, winner, reason }
    }

    fn tags(control: Control) -> Tags<'static> {
        Tags { event: "test", round: "1.2".into(), white: "a \"b\" \\c", black: "d.nnue", control }
    }

    #[test]
    fn a_game_is_written_as_fastchess_writes_it() {
        let moves = [("f3", 35), ("e5", -7), ("g4", -31_998), ("Qh4", 31_999)];
        let game = game(Chess::default(), &moves, Some(Color::Black), Reason::Checkmate);
        let text = text(&game, &tags(Control::Nodes(5000)));
        insta::assert_snapshot!(text, @r#"
        [Event "test"]
        [Site "?"]
        [Date "????.??.??"]
        [Round "1.2"]
        [White "a \"b\" \\c"]
        [Black "d.nnue"]
        [Result "0-1"]
        [PlyCount "4"]
        [TimeControl "-"]
        [Limit "5000 nodes a move"]
        [Termination "normal"]

        1. f3 {+0.35/12 0.000s, n=5000} e5 {-0.07/12 0.000s, n=5000} 2. g4
        {-M2/12 0.000s, n=5000} Qh4# {+M1/12 0.000s, n=5000, Black mates} 0-1
        "#);
    }

    #[test]
    fn black_to_move_and_time_are_written() {
        let start = fen::position("4k3/8/8/8/8/8/4R3/4K3 b - - 7 50", false).unwrap();
        let game = game(start, &[("Kd7", -1250)], None, Reason::MoveLimit);
        let text = text(&game, &tags(Control::Clock("40/60+0.6".parse().unwrap())));
        assert!(text.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4R3/4K3 b - - 7 50\"]\n"), "{text}");
        assert!(text.contains("[TimeControl \"40/60+0.6\"]\n[Termination \"adjudication\"]\n"), "{text}");
        assert!(text.contains(
            "\n50... Kd7 {-12.50/12 0.050s, n=5000, Draw by adjudication: move limit} 1/2-1/2\n\n"
        ));
    }

    #[test]
    fn chess960_says_so_and_a_game_without_moves_gives_its_reason() {
        let start = fen::position("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", false).unwrap();
        let game = game(start, &[], Some(Color::Black), Reason::TimeForfeit);
        let text = text(&game, &tags(Control::Depth(3)));
        assert!(text.contains("[Variant \"Chess960\"]"), "{text}");
        assert!(text.ends_with("\n\n{White loses on time} 0-1\n\n"), "{text}");
    }
}
