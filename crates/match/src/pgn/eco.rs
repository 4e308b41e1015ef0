//! Names of openings and their codes in the Encyclopaedia of Chess Openings, by position, so that transpositions count.
//!
//! Source: <https://github.com/lichess-org/chess-openings> of 22 July 2026, CC0; `tools/openings.py` wrote the file.

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::LazyLock;

use patzer_chess::key;
use shakmaty::san::San;
use shakmaty::{Chess, Position};

use crate::Game;
use crate::openings::Opening;

const TABLE: &[u8] = include_bytes!("openings.tsv.zst");

/// Plies of a game that are looked at; the longest line of the table has 36.
const PLIES: usize = 60;

/// A named opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedOpening {
    pub eco: String,
    pub name: String,
}

static NAMES: LazyLock<HashMap<u64, NamedOpening>> = LazyLock::new(read);

fn read() -> HashMap<u64, NamedOpening> {
    let mut text = String::new();
    let decoded = patzer_io::decompressed(Box::new(Cursor::new(TABLE)))
        .and_then(|mut table| table.read_to_string(&mut text));
    let (mut names, mut line) = (HashMap::with_capacity(4096), vec![Chess::default()]);
    if decoded.is_err() {
        return names;
    }
    for row in text.lines() {
        let mut fields = row.split('\t');
        let (shared, eco, name) =
            (fields.next(), fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        line.truncate(1 + shared.and_then(|shared| shared.parse().ok()).unwrap_or(0));
        for san in fields.next().unwrap_or_default().split(' ').filter(|san| !san.is_empty()) {
            let before = &line[line.len() - 1];
            let Some(m) = san.parse::<San>().ok().and_then(|san| san.to_move(before).ok()) else { break };
            let mut after = before.clone();
            after.play_unchecked(m);
            line.push(after);
        }
        let opening = NamedOpening { eco: eco.to_string(), name: name.to_string() };
        names.insert(key::of(&line[line.len() - 1]), opening);
    }
    names
}

/// The last named position of a game of standard chess, which begins with the moves of its opening.
pub(super) fn opening_of(game: &Game, opening: Option<&Opening>) -> Option<&'static NamedOpening> {
    let mut position = opening.map_or(&game.start, |opening| &opening.start).clone();
    if position.castles().mode().is_chess960() {
        return None;
    }
    let mut hash = key::of(&position);
    let mut found = NAMES.get(&hash);
    let book = opening.into_iter().flat_map(|opening| opening.moves.iter().copied());
    for m in book.chain(game.moves.iter().map(|played| played.m)).take(PLIES) {
        let before = position.clone();
        position.play_unchecked(m);
        hash = key::after(&before, hash, m, &position);
        found = NAMES.get(&hash).or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlayedMove, Reason, SearchInfo};
    use std::time::Duration;

    fn named(start: Chess, moves: &str) -> Option<(&'static str, &'static str)> {
        let mut position = start.clone();
        let moves = moves.split_whitespace().map(|san| {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            PlayedMove { m, info: SearchInfo::default(), time: Duration::ZERO, left: None }
        });
        let moves = moves.collect();
        let (winner, reason, note) = (None, Reason::MoveLimit, None);
        let game = Game { start, moves, winner, reason, note, remarks: Vec::new(), clock: None };
        opening_of(&game, None).map(|opening| (opening.eco.as_str(), opening.name.as_str()))
    }

    #[test]
    fn every_line_of_the_table_leads_to_a_position_of_its_own() {
        let mut text = String::new();
        patzer_io::decompressed(Box::new(Cursor::new(TABLE))).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((text.lines().count(), NAMES.len()), (3807, 3807));
        assert!(NAMES.values().all(|named| named.eco.len() == 3 && !named.name.is_empty()));
    }

    #[test]
    fn a_game_has_the_name_of_its_last_named_position_by_whatever_moves() {
        let najdorf = Some(("B90", "Sicilian Defense: Najdorf Variation"));
        assert_eq!(named(Chess::default(), "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6"), najdorf);
        assert_eq!(named(Chess::default(), "Nf3 d6 e4 c5 d4 cxd4 Nxd4 Nf6 Nc3 a6 h4 Nc6 h5"), najdorf);
        assert_eq!(named(Chess::default(), "f3 e5 g4 Qh4#").unwrap().1, "Barnes Opening: Fool's Mate");
        assert_eq!(named(Chess::default(), ""), None);
    }

    #[test]
    fn a_game_from_a_book_has_the_name_of_its_start_and_chess960_has_none() {
        let fen = |text, chess960| patzer_chess::fen::position(text, chess960).unwrap();
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        assert_eq!(named(fen(after_e4, false), ""), Some(("B00", "King's Pawn Game")));
        assert_eq!(named(fen(after_e4, false), "c6"), Some(("B10", "Caro-Kann Defense")));
        assert_eq!(named(fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", false), "e4"), None);
        assert_eq!(named(fen(after_e4, true), "c6"), None);
    }
}
