//! Move choices: positions of games with their legal moves and the move played.
//! Earlier moves are known only where a record follows that of the previous ply.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use shakmaty::{Chess, Move, Position};

use super::features::{FeatureLevels, PreviousMoves, describe};
use patzer_chess::PackedMove;
use patzer_chess::rng::{self, mix};
use patzer_data::Sampler;
use patzer_data::{AnyReader, Record};
use patzer_formats::ReadOptions;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::visits::{self, Visits};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone)]
pub struct MoveChoice {
    pub game: u64,
    pub position: Chess,
    pub played: Move,
    pub before: PreviousMoves,
    /// Visits of the moves by a search; empty if the move played alone counts.
    pub visits: Visits,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Competition {
    pub moves: Vec<FeatureLevels>,
    pub played: usize,
    /// Target distribution over the moves, whose sum is 1: all for the move played, or by visits.
    pub shares: Vec<f64>,
}

impl Competition {
    /// A choice of one move.
    pub fn of_move(moves: Vec<FeatureLevels>, played: usize) -> Competition {
        let shares = (0..moves.len()).map(|at| if at == played { 1.0 } else { 0.0 }).collect();
        Competition { moves, played, shares }
    }
}

#[derive(Debug, Default)]
pub struct ChoiceReader {
    /// Game, ply and move of the previous record, and the move before that.
    last: Option<(u64, u16, Move, Option<Move>)>,
    /// Records without a choice, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl ChoiceReader {
    /// The choice of a record; `game` identifies the game across files.
    pub fn next(&mut self, record: &Record, game: u64) -> Option<MoveChoice> {
        let choice = self.choose(record, game);
        if let Err(reason) = choice {
            *self.dropped.entry(reason).or_default() += 1;
        }
        choice.ok()
    }

    fn choose(&mut self, record: &Record, game: u64) -> std::result::Result<MoveChoice, &'static str> {
        let follows = |(of, ply, ..): &(u64, u16, Move, Option<Move>)| {
            *of == game && ply.checked_add(1) == Some(record.ply)
        };
        let before = self.last.take().filter(follows);
        let before =
            before.map(|(_, _, last, own)| PreviousMoves { last: Some(last), own }).unwrap_or_default();
        let position = record.position().ok_or("bad_position")?;
        let played = record.played.unpack(&position).ok_or("no_move")?;
        if !position.is_legal(played) {
            return Err("no_move");
        }
        self.last = Some((game, record.ply, played, before.last));
        if position.legal_moves().len() < 2 {
            return Err("only_move");
        }
        Ok(MoveChoice { game, position, played, before, visits: Visits::new() })
    }
}

impl MoveChoice {
    pub fn competition(&self) -> Competition {
        let legal = self.position.legal_moves();
        let played = legal.iter().position(|m| *m == self.played).unwrap_or(0);
        let moves = describe(&self.position, &legal, self.before);
        let all: u64 = self.visits.iter().map(|(_, count)| u64::from(*count)).sum();
        if all == 0 {
            return Competition::of_move(moves, played);
        }
        let share = |m: &Move| {
            let packed = PackedMove::pack(*m);
            let found = self.visits.iter().find(|(visited, _)| *visited == packed);
            found.map_or(0.0, |(_, count)| f64::from(*count) / all as f64)
        };
        Competition { moves, played, shares: legal.iter().map(share).collect() }
    }
}

/// Target of the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Played,
    Visits,
}

fn rows_of(reader: &AnyReader) -> Result<ExtraRows> {
    let rows = reader.extra_rows(&[visits::column()])?;
    let there = reader.metadata().extra.iter().any(visits::is);
    rows.filter(|_| there).ok_or_else(|| {
        let reason = "has no visits of moves; self-play by playouts writes them";
        Error::data(reader.path(), reason)
    })
}

#[derive(Debug, Default)]
pub struct DrawnChoices {
    pub choices: Vec<MoveChoice>,
    pub read: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl DrawnChoices {
    /// Draws up to `most` choices by the seed, of moves played or of visits; `progress` receives the size of each
    /// batch read.
    pub fn read(
        paths: &[PathBuf],
        options: &ReadOptions,
        most: usize,
        seed: u64,
        target: Target,
        progress: impl Fn(u64),
    ) -> Result<DrawnChoices> {
        let (mut drawn, mut picker) = (DrawnChoices::default(), Sampler::new(most, seed));
        let mut batch = Vec::new();
        for (file, path) in (0u64..).zip(paths) {
            let (mut reader, mut choice_reader) = (AnyReader::open(path, options)?, ChoiceReader::default());
            let mut visits = (target == Target::Visits).then(|| rows_of(&reader)).transpose()?;
            while reader.next_batch(&mut batch)? {
                interrupt::check()?;
                progress(batch.len() as u64);
                let rows = visits.as_mut().map(|visits| visits.take(batch.len())).transpose()?;
                for (at, record) in batch.iter().enumerate() {
                    let index = drawn.read;
                    drawn.read += 1;
                    let choice = choice_reader.next(record, file << 32 | u64::from(record.game));
                    let Some(mut choice) = choice else { continue };
                    if let Some(rows) = &rows {
                        choice.visits = rows.get(at).map(|row| row.visits(0)).unwrap_or_default();
                        if choice.visits.is_empty() {
                            *drawn.dropped.entry("no_visits").or_default() += 1;
                            continue;
                        }
                    }
                    picker.offer(index, choice);
                }
            }
            for (reason, count) in choice_reader.dropped {
                *drawn.dropped.entry(reason).or_default() += count;
            }
        }
        let (choices, not_drawn) = picker.finish();
        drawn.choices = choices;
        if not_drawn > 0 {
            drawn.dropped.insert("not_drawn", not_drawn);
        }
        if drawn.choices.len() as u64 + drawn.dropped.values().sum::<u64>() != drawn.read {
            return Err(Error::internal("positions are not accounted for"));
        }
        Ok(drawn)
    }

    pub fn split(&self, seed: u64, validation: f64) -> (Vec<Competition>, Vec<Competition>) {
        let held_out = |game: u64| rng::unit(mix(seed ^ 0x6d6f_7665, game)) < validation;
        self.choices.par_iter().partition_map(|choice| match held_out(choice.game) {
            false => rayon::iter::Either::Left(choice.competition()),
            true => rayon::iter::Either::Right(choice.competition()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Record> {
        let mut records = Vec::new();
        let movetext = text.find("\n\n").unwrap() + 2;
        let span = patzer_pgn::GameSpan { start: 0, movetext, end: text.len(), line: 1 };
        let game = patzer_pgn::Parser::default().parse(text.as_bytes(), &span, 0, &mut records);
        assert_eq!(game.error, None);
        records
    }

    #[test]
    fn moves_before_are_known_where_positions_follow_each_other() {
        let game = records("[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n");
        let mut choice_reader = ChoiceReader::default();
        let choices: Vec<MoveChoice> =
            game.iter().filter_map(|record| choice_reader.next(record, 0)).collect();
        let names = |m: Option<Move>| m.map(|m| m.to_string());
        assert_eq!(choices.len(), 5);
        assert_eq!((names(choices[0].before.last), names(choices[0].before.own)), (None, None));
        assert_eq!(names(choices[3].before.last).as_deref(), Some("Ng1-f3"));
        assert_eq!(names(choices[3].before.own).as_deref(), Some("e7-e5"));
        // A gap: the moves before are unknown.
        let choice = choice_reader.next(&Record { ply: 9, ..game[3] }, 0).unwrap();
        assert!(choice.before.last.is_none());
        assert_eq!(choice.competition().moves.len(), choice.position.legal_moves().len());
    }

    #[test]
    fn a_choice_is_of_the_move_played_or_shared_by_visits() {
        let game = records("[Result \"1-0\"]\n\n1. e4 1-0\n\n");
        let mut choice = ChoiceReader::default().next(&game[0], 0).unwrap();
        let played = choice.competition();
        assert_eq!((played.shares[played.played], played.shares.iter().sum::<f64>()), (1.0, 1.0));
        let legal = choice.position.legal_moves();
        choice.visits = vec![(PackedMove::pack(legal[3]), 6), (PackedMove::pack(legal[0]), 2)];
        let visited = choice.competition();
        assert_eq!((visited.shares[0], visited.shares[3], visited.played), (0.25, 0.75, played.played));
        assert_eq!(visited.shares.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn what_is_no_choice_is_counted() {
        let start = records("[Result \"1-0\"]\n\n1. e4 1-0\n\n")[0];
        let mut choice_reader = ChoiceReader::default();
        assert!(choice_reader.next(&Record { played: PackedMove::NONE, ..start }, 0).is_none());
        let only = patzer_chess::fen::position("k7/8/8/8/8/8/1r6/K7 w - - 0 1", false).unwrap();
        let m = only.legal_moves()[0];
        let record =
            Record { board: patzer_chess::PackedBoard::pack(&only), played: PackedMove::pack(m), ..start };
        assert_eq!(only.legal_moves().len(), 1);
        assert!(choice_reader.next(&record, 0).is_none());
        assert_eq!(choice_reader.dropped, [("no_move", 1), ("only_move", 1)].into());
    }
}
