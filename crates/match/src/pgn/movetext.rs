//! The moves of a game with their comments, in lines of 80 characters.

use std::fmt::Write;

use shakmaty::Position;

use super::comment::comment;
use super::style::PgnStyle;
use super::{Header, ending, write_tags};
use crate::openings::Opening;
use crate::{Game, Reason};
use patzer_pgn::write::{Movetext, Notation, write_move};

/// Writes a game with an empty line after it. `players` are the indices of White and Black; the moves of the opening,
/// if they are known, come first.
pub fn write_game(
    out: &mut String,
    game: &Game,
    header: &Header,
    players: [usize; 2],
    round: &str,
    opening: Option<&Opening>,
) {
    write_tags(out, game, header, players, round, opening);
    let mut text = Movetext::new(out);
    let style = &header.style;
    let mut position = game.start.clone();
    if let Some(opening) = opening {
        write_opening(&mut text, opening, style);
    }
    let mut remarks = game.remarks.iter().peekable();
    for (ply, played) in game.moves.iter().enumerate() {
        let last = ply + 1 == game.moves.len();
        text.number(position.fullmoves().get(), position.turn(), ply == 0 && opening.is_none());
        write_move(&mut text.token, &position, played.m, style.notation);
        position.play_unchecked(played.m);
        // Only the last move can be mate: skip move generation for the others.
        if style.notation == Notation::Uci {
        } else if last && game.reason == Reason::Checkmate {
            text.token.push('#');
        } else if position.is_check() {
            text.token.push('+');
        }
        text.push();
        let said = remarks.next_if(|(at, _)| *at == ply).map(|(_, said)| said);
        if style.minimal {
            continue;
        }
        comment(&mut text.token, played, said, header, game.start.castles().mode());
        if last {
            text.token.push_str(", ");
            text.token.push_str(&ending(game, &position));
        }
        text.token.push('}');
        text.push();
    }
    if game.moves.is_empty() && !style.minimal {
        let _ = write!(text.token, "{{{}}}", ending(game, &position));
        text.push();
    }
    text.token.push_str(game.result());
    text.push();
    out.push_str("\n\n");
}

fn write_opening(text: &mut Movetext, opening: &Opening, style: &PgnStyle) {
    let mut position = opening.start.clone();
    for (ply, &m) in opening.moves.iter().enumerate() {
        text.number(position.fullmoves().get(), position.turn(), ply == 0);
        write_move(&mut text.token, &position, m, style.notation);
        position.play_unchecked(m);
        if style.notation != Notation::Uci && position.is_check() {
            text.token.push('+');
        }
        text.push();
        if !style.minimal {
            text.token.push_str("{book}");
            text.push();
        }
    }
}
