//! From positions of games to choices: the legal moves, and which of them was played.
//!
//! In: records, those of a game in order. Out: choices with what was played before them, or the count of records
//! that are none. Where filters have dropped the positions before, nothing is known of the moves there.

use std::collections::BTreeMap;

use shakmaty::{Chess, Move, Position};

use super::features::{Before, Has, describe};
use patzer_data::Record;

/// One position in which a move was chosen.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The game it is of.
    pub game: u64,
    /// The position.
    pub position: Chess,
    /// The move played; legal.
    pub played: Move,
    /// The moves before it.
    pub before: Before,
}

/// A choice as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contest {
    /// The levels of every legal move.
    pub moves: Vec<Has>,
    /// Which of them was played.
    pub played: usize,
}

/// Reads records one after another, and counts those that are no choice.
#[derive(Debug, Default)]
pub struct Chooser {
    /// The record before, with its game, ply and move, and the move before that.
    last: Option<(u64, u16, Move, Option<Move>)>,
    /// Samples that are no choice, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Chooser {
    /// The choice of a record; `game` tells games of all files apart.
    pub fn next(&mut self, record: &Record, game: u64) -> Option<Choice> {
        let before =
            self.last.take().filter(|(of, ply, ..)| *of == game && ply.checked_add(1) == Some(record.ply));
        let choice = choose(record, game, before.map(|(_, _, last, own)| Before { last: Some(last), own }));
        match choice {
            Ok(choice) => {
                self.last = Some((game, record.ply, choice.played, choice.before.last));
                if choice.position.legal_moves().len() < 2 {
                    *self.dropped.entry("only_move").or_default() += 1;
                    return None;
                }
                Some(choice)
            }
            Err(reason) => {
                *self.dropped.entry(reason).or_default() += 1;
                None
            }
        }
    }
}

fn choose(record: &Record, game: u64, before: Option<Before>) -> Result<Choice, &'static str> {
    let position = record.position().ok_or("bad_position")?;
    let played = record.played.unpack(&position).ok_or("no_move")?;
    if !position.is_legal(played) {
        return Err("no_move");
    }
    Ok(Choice { game, position, played, before: before.unwrap_or_default() })
}

impl Choice {
    /// What the model sees of it.
    pub fn contest(&self) -> Contest {
        let legal = self.position.legal_moves();
        let played = legal.iter().position(|m| *m == self.played).unwrap_or(0);
        Contest { moves: describe(&self.position, &legal, self.before), played }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::PackedMove;

    fn records(text: &str) -> Vec<Record> {
        let mut records = Vec::new();
        let movetext = text.find("\n\n").unwrap() + 2;
        let piece = patzer_pgn::GameSpan { start: 0, movetext, end: text.len(), line: 1 };
        let game = patzer_pgn::Parser::default().parse(text.as_bytes(), &piece, 0, &mut records);
        assert_eq!(game.error, None);
        records
    }

    #[test]
    fn moves_before_are_known_where_positions_follow_each_other() {
        let game = records("[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n");
        let mut chooser = Chooser::default();
        let choices: Vec<Choice> = game.iter().filter_map(|record| chooser.next(record, 0)).collect();
        let names = |m: Option<Move>| m.map(|m| m.to_string());
        assert_eq!(choices.len(), 5);
        assert_eq!((names(choices[0].before.last), names(choices[0].before.own)), (None, None));
        assert_eq!(names(choices[3].before.last).as_deref(), Some("Ng1-f3"));
        assert_eq!(names(choices[3].before.own).as_deref(), Some("e7-e5"));
        // A gap: what came before it is not known.
        let choice = chooser.next(&Record { ply: 9, ..game[3] }, 0).unwrap();
        assert!(choice.before.last.is_none());
        assert_eq!(choice.contest().moves.len(), choice.position.legal_moves().len());
    }

    #[test]
    fn what_is_no_choice_is_counted() {
        let start = records("[Result \"1-0\"]\n\n1. e4 1-0\n\n")[0];
        let mut chooser = Chooser::default();
        assert!(chooser.next(&Record { played: PackedMove::NONE, ..start }, 0).is_none());
        let only = patzer_chess::fen::position("k7/8/8/8/8/8/1r6/K7 w - - 0 1", false).unwrap();
        let m = only.legal_moves()[0];
        let record =
            Record { board: patzer_chess::PackedBoard::pack(&only), played: PackedMove::pack(m), ..start };
        assert_eq!(only.legal_moves().len(), 1);
        assert!(chooser.next(&record, 0).is_none());
        assert_eq!(chooser.dropped, [("no_move", 1), ("only_move", 1)].into());
    }
}
