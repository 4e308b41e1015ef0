//! Corrects results and scores by Syzygy endgame tables.
//!
//! A position that the tables decide gets its exact result and a score that says so. With the games' results, an
//! earlier position that they do not decide gets the result of the next decided position of its game (as Leela Chess
//! Zero's rescorer does).

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Color;

use patzer_chess::score::{self, is_mate};
use patzer_data::{AnyReader, AnyWriter, DataFile, MeanResult, Record, Target, Wdl, Written, flags};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_match::Syzygy;

/// Score of a position that the tables decide.
pub const TABLE_WIN: i16 = score::TABLE_WIN as i16;

/// Changed results, by the old and the new one: 0 Black has won, 1 drawn, 2 White has won.
pub type Changes = [[u64; 3]; 3];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TableCounts {
    /// Positions that the tables decide.
    pub decided: u64,
    /// Results of these positions.
    pub results: Changes,
    /// Results of earlier positions of their games.
    pub game_results: Changes,
    /// Scores that said something else.
    pub scores: u64,
}

pub struct Tables {
    syzygy: std::sync::Arc<Syzygy>,
    /// Plies and results of decided positions by game, in order of ply; `None` without games' results.
    games: Option<HashMap<u32, Vec<(u16, i8)>>>,
    counts: TableCounts,
}

impl Tables {
    /// Opens the tables; with `games`, first reads the whole dataset for the decided positions of each game.
    pub fn new(syzygy: std::sync::Arc<Syzygy>, games: Option<DataFile<'_>>) -> Result<Tables> {
        let mut tables = Tables { syzygy, games: None, counts: TableCounts::default() };
        if let Some(data) = games {
            tables.games = Some(tables.decided_games(data)?);
        }
        Ok(tables)
    }

    pub fn counts(&self) -> TableCounts {
        self.counts
    }

    /// Description for the dataset's metadata.
    pub fn describe(&self) -> String {
        let games = if self.games.is_some() { ", results of games too" } else { "" };
        format!("Syzygy tables: {}{games}", self.syzygy)
    }

    fn decided_games(&self, data: DataFile<'_>) -> Result<HashMap<u32, Vec<(u16, i8)>>> {
        let (mut data, mut records) = (data.open()?, Vec::new());
        let mut games: HashMap<u32, Vec<(u16, i8)>> = HashMap::new();
        while data.next_batch(&mut records)? {
            interrupt::check()?;
            for (record, result) in records.iter().zip(self.results(&records)?) {
                if let Some(result) = result {
                    games.entry(record.game).or_default().push((record.ply, result));
                }
            }
        }
        games.values_mut().for_each(|decided| decided.sort_unstable());
        Ok(games)
    }

    /// Results from White's side, where the tables decide.
    fn results(&self, records: &[Record]) -> Result<Vec<Option<i8>>> {
        let result = |record: &Record| {
            if record.board.occupied().count() > self.syzygy.pieces() {
                return Ok(None);
            }
            let place = || format!("game {}, ply {}", record.game, record.ply);
            let position = record.position().ok_or_else(|| {
                Error::input(format!("{}: the dataset's record is not a legal position", place()))
            })?;
            self.syzygy.check(&position)?;
            let value = |winner: Option<Color>| winner.map_or(0, |winner| winner.fold_wb(1, -1));
            Ok(self.syzygy.winner(&position).map(value))
        };
        records.par_iter().map(result).collect()
    }

    /// Corrects the records in place.
    pub fn correct(&mut self, records: &mut [Record]) -> Result<()> {
        let results = self.results(records)?;
        for (record, decided) in records.iter_mut().zip(results) {
            if let Some(result) = decided {
                self.counts.decided += 1;
                change(record, result, &mut self.counts.results);
                self.counts.scores += u64::from(correct_score(record, result));
            } else if let Some(decided) = self.games.as_ref().and_then(|games| games.get(&record.game)) {
                let next = decided.partition_point(|&(ply, _)| ply <= record.ply);
                if let Some(&(_, result)) = decided.get(next) {
                    change(record, result, &mut self.counts.game_results);
                }
            }
        }
        Ok(())
    }
}

fn change(record: &mut Record, result: i8, changes: &mut Changes) {
    if record.result != result {
        changes[(record.result + 1) as usize][(result + 1) as usize] += 1;
        record.result = result;
    }
    if let Some(mean) = &mut record.mean {
        *mean = MeanResult { sum: i32::from(result).saturating_mul(mean.count as i32), ..*mean };
    }
}

/// Replaces a score that says something else; a mate for the winner stays. Returns whether it did.
fn correct_score(record: &mut Record, result: i8) -> bool {
    let own = record.turn.fold_wb(result, -result);
    if record.wdl.is_some() {
        let share = |holds: bool| if holds { 1000 } else { 0 };
        record.wdl = Some(Wdl { win: share(own == 1), draw: share(own == 0) });
    }
    let right = TABLE_WIN * i16::from(own);
    let agrees = |score: i16| score == right || is_mate(score.into()) && own != 0 && (score > 0) == (own > 0);
    if record.score.is_some_and(agrees) {
        return false;
    }
    (record.score, record.depth) = (Some(right), None);
    record.flags &= !(flags::MATE_SCORE | flags::PLACEHOLDER);
    true
}

/// Corrects a dataset of any format into a new one. On interruption nothing is written.
pub fn correct_file(
    mut data: AnyReader,
    (output, target): (&Path, &Target),
    tables: &mut Tables,
    advance: &dyn Fn(u64),
) -> Result<Written> {
    let mut metadata = data.metadata().clone();
    metadata.steps.push(tables.describe());
    let mut writer = AnyWriter::create(output, target, &metadata)?;
    let mut extra = data.extra_rows(&writer.extra())?;
    let mut records = Vec::new();
    while data.next_batch(&mut records)? {
        interrupt::check()?;
        tables.correct(&mut records)?;
        let rows = extra.as_mut().map(|extra| extra.take(records.len())).transpose()?;
        writer.write_with(&records, rows)?;
        advance(records.len() as u64);
    }
    writer.add_digests(data.metadata());
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::packed::ep_code;
    use patzer_chess::{PackedBoard, fen};
    use patzer_formats::EMPTY;
    use shakmaty::Position;
    use std::sync::Arc;

    fn record(text: &str, game: u32, ply: u16, result: i8, score: Option<i16>) -> Record {
        let position = fen::position(text, false).unwrap();
        Record {
            board: PackedBoard::pack(&position),
            turn: position.turn(),
            ep: ep_code(&position),
            halfmove: position.halfmoves() as u8,
            fullmove: 60,
            game,
            ply,
            result,
            score,
            depth: score.map(|_| 9),
            ..EMPTY
        }
    }

    fn syzygy() -> Arc<Syzygy> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/syzygy");
        Arc::new(Syzygy::load(&folder, None, false).unwrap())
    }
    const WON: &str = "4k3/8/4K3/4P3/8/8/8/8 w - - 0 60";
    const WON_BLACK_TO_MOVE: &str = "4k3/8/4K3/4P3/8/8/8/8 b - - 0 60";
    const DRAWN: &str = "k7/8/K7/P7/8/8/8/8 w - - 0 60";

    #[test]
    fn decided_positions_get_the_result_and_the_score_of_the_tables() {
        let mate = -31_990;
        for (text, result, score, now) in [
            (WON, 0, Some(150), (1, Some(TABLE_WIN))),
            (WON, 1, None, (1, Some(TABLE_WIN))),
            (WON_BLACK_TO_MOVE, -1, Some(-40), (1, Some(-TABLE_WIN))),
            (WON_BLACK_TO_MOVE, 1, Some(mate), (1, Some(mate))),
            (WON_BLACK_TO_MOVE, 1, Some(-mate), (1, Some(-TABLE_WIN))),
            (DRAWN, 1, Some(90), (0, Some(0))),
            // Castling, the fifty-move counter without DTZ tables, and a fourth piece are beyond the tables.
            ("4k3/8/8/8/8/8/8/4K2R w K - 0 60", 0, Some(7), (0, Some(7))),
            ("8/8/8/8/8/3k4/4R3/K7 w - - 5 60", 0, Some(7), (0, Some(7))),
            ("4k3/8/8/8/8/8/8/4KBN1 w - - 0 60", 0, Some(7), (0, Some(7))),
            // A pawn that can be taken en passant is no table's: four pieces.
            ("8/8/8/8/3pP3/8/8/K1k5 b - e3 0 60", 0, Some(7), (0, Some(7))),
        ] {
            let mut records = [record(text, 0, 0, result, score)];
            Tables::new(syzygy(), None).unwrap().correct(&mut records).unwrap();
            assert_eq!((records[0].result, records[0].score), now, "{text} {result} {score:?}");
            assert_eq!(records[0].depth.is_some(), records[0].score == score && score.is_some(), "{text}");
        }
    }

    #[test]
    fn every_change_is_counted_by_old_and_new_result() {
        let mut tables = Tables::new(syzygy(), None).unwrap();
        let mut records = [
            record(WON, 0, 0, -1, Some(TABLE_WIN)),
            record(WON, 1, 0, 0, Some(3)),
            record(DRAWN, 2, 0, 1, Some(0)),
            record(DRAWN, 3, 0, 0, None),
        ];
        tables.correct(&mut records).unwrap();
        let counts = tables.counts();
        assert_eq!((counts.decided, counts.scores), (4, 2));
        assert_eq!(counts.results, [[0, 0, 1], [0, 0, 1], [0, 1, 0]]);
    }

    #[test]
    fn merged_results_and_shares_follow_the_tables() {
        let wdl = Some(Wdl { win: 300, draw: 600 });
        let mean = Some(MeanResult { count: 5, sum: -2 });
        let mut records = [Record { mean, wdl, ..record(WON_BLACK_TO_MOVE, 0, 0, 0, Some(3)) }];
        Tables::new(syzygy(), None).unwrap().correct(&mut records).unwrap();
        assert_eq!(records[0].mean, Some(MeanResult { count: 5, sum: 5 }));
        assert_eq!(records[0].wdl, Some(Wdl { win: 0, draw: 0 }), "Black has lost");
    }

    #[test]
    fn earlier_positions_of_a_game_get_the_next_decided_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        const FAR: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        // Not in the order of plies: a shuffled dataset.
        let records = [
            record(FAR, 5, 3, -1, Some(1)),
            record(WON, 5, 2, -1, Some(1)),
            record(FAR, 5, 1, -1, Some(1)),
            record(DRAWN, 5, 4, -1, Some(1)),
            record(FAR, 5, 6, -1, Some(1)),
            record(FAR, 6, 1, -1, Some(1)),
        ];
        let mut writer = patzer_data::Writer::create(&path, patzer_data::Metadata::default()).unwrap();
        writer.write(&records).unwrap();
        writer.finish().unwrap();
        let mut tables = Tables::new(
            syzygy(),
            Some(DataFile { path: &path, options: &patzer_formats::ReadOptions::default() }),
        )
        .unwrap();
        let mut corrected = records;
        tables.correct(&mut corrected).unwrap();
        // Ply 1 is won as ply 2 is, ply 3 drawn as ply 4; the end and the other game keep theirs.
        assert_eq!(corrected.map(|record| record.result), [0, 1, 1, 0, -1, -1]);
        assert_eq!(corrected[2].score, Some(1), "only the result is the game's");
        assert_eq!(tables.counts().game_results, [[0, 1, 1], [0, 0, 0], [0, 0, 0]]);
    }
}
