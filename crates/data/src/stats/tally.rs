//! Counts and histograms over positions.

use serde::Serialize;
use shakmaty::{Color, Position, Square};

use crate::filter::PieceCounts;
use crate::{Record, flags};
use patzer_chess::score::is_mate;
use patzer_formats::capabilities::{self, Capabilities};

/// Width of a score's bucket, in centipawns.
pub const SCORE_BIN: i32 = 50;

/// Scores beyond this fall into the outermost buckets, in centipawns.
pub const SCORE_REACH: i32 = 2_000;

pub const MATERIAL: usize = 206;

/// Wins, draws and losses, for White unless stated otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Outcomes {
    /// Counts a result: 1, 0 or −1.
    #[inline]
    pub fn add(&mut self, result: i8) {
        match result {
            0 => self.draws += 1,
            1.. => self.wins += 1,
            _ => self.losses += 1,
        }
    }

    pub fn total(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Mean result from 0 to 1; `None` without games.
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / total as f64)
    }

    pub fn merge(&mut self, other: &Outcomes) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
    }
}

/// Outcomes for the side to move by its score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scores {
    buckets: Vec<Outcomes>,
    /// Forced mates for and against the side to move.
    pub mates: [Outcomes; 2],
    pub missing: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    /// Lowest score, in centipawns for the side to move; `None` without a lower end.
    pub from: Option<i32>,
    /// Lowest score above the bucket; `None` without an upper end.
    pub to: Option<i32>,
    #[serde(flatten)]
    pub outcomes: Outcomes,
    pub mean_result: Option<f64>,
}

const BUCKETS: usize = (2 * SCORE_REACH / SCORE_BIN) as usize + 2;

impl Default for Scores {
    fn default() -> Scores {
        Scores { buckets: vec![Outcomes::default(); BUCKETS], mates: Default::default(), missing: 0 }
    }
}

impl Scores {
    /// Counts a score with the result for the same side.
    #[inline]
    pub fn add(&mut self, score: Option<i16>, result: i8) {
        let Some(score) = score.map(i32::from) else {
            self.missing += 1;
            return;
        };
        if is_mate(score) {
            self.mates[usize::from(score < 0)].add(result);
            return;
        }
        let place = (score + SCORE_REACH).div_euclid(SCORE_BIN) + 1;
        self.buckets[place.clamp(0, BUCKETS as i32 - 1) as usize].add(result);
    }

    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.buckets.iter().enumerate().map(|(index, outcomes)| {
            let to = index as i32 * SCORE_BIN - SCORE_REACH;
            Bucket {
                from: (index > 0).then_some(to - SCORE_BIN),
                to: (index + 1 < BUCKETS).then_some(to),
                outcomes: *outcomes,
                mean_result: outcomes.mean(),
            }
        })
    }

    fn merge(&mut self, other: &Scores) {
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(ours, theirs)| ours.merge(theirs));
        self.mates.iter_mut().zip(&other.mates).for_each(|(ours, theirs)| ours.merge(theirs));
        self.missing += other.missing;
    }
}

impl Serialize for Scores {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut out = serializer.serialize_struct("Scores", 4)?;
        out.serialize_field("buckets", &self.buckets().collect::<Vec<_>>())?;
        out.serialize_field("mates_given", &self.mates[0])?;
        out.serialize_field("mates_received", &self.mates[1])?;
        out.serialize_field("missing", &self.missing)?;
        out.end()
    }
}

/// Counts of positions. A histogram is indexed by the value, from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub white_to_move: u64,
    pub results: Outcomes,
    pub scores: Scores,
    pub depth: Vec<u64>,
    pub ply: Vec<u64>,
    /// Positions by plies since the last capture or pawn move.
    pub halfmove: Vec<u64>,
    pub piece_count: Vec<u64>,
    /// Positions by material of both sides: pawn 1, knight and bishop 3, rook 5, queen 9.
    pub material: Vec<u64>,
    /// Positions by the square of White's king, a1 to h8.
    pub white_king: Vec<u64>,
    pub black_king: Vec<u64>,
    /// Positions by number of legal moves, without illegal positions.
    pub legal_moves: Vec<u64>,
    /// Positions and the sum of their legal moves, by move number from 0.
    pub legal_moves_by_number: Vec<[u64; 2]>,
    pub marks: Marks,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    pub capture: u64,
    pub promotion: u64,
    pub in_check: u64,
    pub gives_check: u64,
    pub mate_end: u64,
    pub book: u64,
    pub chess960: u64,
    pub castling: u64,
    /// Positions with a legal en passant capture.
    pub en_passant: u64,
}

impl Tally {
    pub fn add(&mut self, record: &Record) {
        let turn = record.turn;
        let counts = PieceCounts::of(&record.board);
        self.white_to_move += u64::from(turn.is_white());
        self.results.add(record.result);
        self.scores.add(record.score, turn.fold_wb(record.result, -record.result));
        if let Some(depth) = record.depth {
            count(&mut self.depth, depth.into());
        }
        count(&mut self.ply, record.ply.into());
        count(&mut self.halfmove, record.halfmove.into());
        count(&mut self.piece_count, record.board.count().min(64) as usize);
        count(&mut self.material, (counts.material() as usize).min(MATERIAL));
        let kings = kings(record);
        for (histogram, king) in [(&mut self.white_king, kings[0]), (&mut self.black_king, kings[1])] {
            histogram.resize(64, 0);
            if let Some(king) = king {
                histogram[king.to_usize()] += 1;
            }
        }
        if let Some(position) = record.position() {
            let (moves, number) = (position.legal_moves().len(), usize::from(record.fullmove.max(1)));
            count(&mut self.legal_moves, moves);
            self.legal_moves_by_number.resize(self.legal_moves_by_number.len().max(number + 1), [0; 2]);
            self.legal_moves_by_number[number][0] += 1;
            self.legal_moves_by_number[number][1] += moves as u64;
        }
        self.marks.add(record);
    }

    /// Takes away the counts of facts that the positions lack.
    pub fn forget(&mut self, lacks: Capabilities) {
        let lack = |fact| lacks.contains(fact);
        if lack(Capabilities::TURN) {
            self.white_to_move = 0;
        }
        if lack(Capabilities::FULLMOVE) {
            self.legal_moves_by_number.clear();
        }
        if lack(Capabilities::FULLMOVE.and(Capabilities::PLY)) {
            self.ply.clear();
        }
        if lack(Capabilities::HALFMOVE) {
            self.halfmove.clear();
        }
        if lack(Capabilities::MOVE) {
            self.marks = Marks { capture: 0, promotion: 0, gives_check: 0, mate_end: 0, ..self.marks };
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        self.white_to_move += other.white_to_move;
        self.results.merge(&other.results);
        self.scores.merge(&other.scores);
        for (ours, theirs) in [
            (&mut self.depth, &other.depth),
            (&mut self.ply, &other.ply),
            (&mut self.halfmove, &other.halfmove),
            (&mut self.piece_count, &other.piece_count),
            (&mut self.material, &other.material),
            (&mut self.white_king, &other.white_king),
            (&mut self.black_king, &other.black_king),
            (&mut self.legal_moves, &other.legal_moves),
        ] {
            add_all(ours, theirs);
        }
        let (ours, theirs) = (&mut self.legal_moves_by_number, &other.legal_moves_by_number);
        ours.resize(ours.len().max(theirs.len()), [0; 2]);
        for (ours, theirs) in ours.iter_mut().zip(theirs) {
            *ours = [ours[0] + theirs[0], ours[1] + theirs[1]];
        }
        self.marks.merge(&other.marks);
    }
}

impl Marks {
    #[inline]
    fn add(&mut self, record: &Record) {
        let has = |bits| u64::from(record.has(bits));
        self.capture += has(flags::CAPTURE);
        self.promotion += has(flags::PROMOTION);
        self.in_check += has(flags::IN_CHECK);
        self.gives_check += has(flags::GIVES_CHECK);
        self.mate_end += has(flags::MATE_END);
        self.book += has(flags::BOOK);
        self.chess960 += has(flags::CHESS960);
        self.castling += u64::from(capabilities::castling(&record.board) != Capabilities::NONE);
        self.en_passant += u64::from(record.ep != patzer_chess::packed::NO_EP);
    }

    fn merge(&mut self, other: &Marks) {
        self.capture += other.capture;
        self.promotion += other.promotion;
        self.in_check += other.in_check;
        self.gives_check += other.gives_check;
        self.mate_end += other.mate_end;
        self.book += other.book;
        self.chess960 += other.chess960;
        self.castling += other.castling;
        self.en_passant += other.en_passant;
    }
}

#[inline]
pub(super) fn count(histogram: &mut Vec<u64>, value: usize) {
    if histogram.len() <= value {
        histogram.resize(value + 1, 0);
    }
    histogram[value] += 1;
}

pub(super) fn add_all(ours: &mut Vec<u64>, theirs: &[u64]) {
    if ours.len() < theirs.len() {
        ours.resize(theirs.len(), 0);
    }
    ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
}

/// Squares of White's and Black's kings.
fn kings(record: &Record) -> [Option<Square>; 2] {
    let mut kings = [None, None];
    for (square, piece) in record.board.pieces() {
        if piece.role == shakmaty::Role::King {
            kings[usize::from(piece.color == Color::Black)] = Some(square);
        }
    }
    kings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_in_the_bucket_that_names_it() {
        for score in [-30_000, -2_001, -2_000, -1_999, -51, -50, -1, 0, 49, 50, 1_999, 2_000, 2_500] {
            let mut scores = Scores::default();
            scores.add(Some(score), 1);
            let bucket = scores.buckets().find(|bucket| bucket.outcomes.total() == 1).unwrap();
            let score = i32::from(score);
            assert!(bucket.from.is_none_or(|from| from <= score), "{score} {bucket:?}");
            assert!(bucket.to.is_none_or(|to| score < to), "{score} {bucket:?}");
            assert_eq!(bucket.mean_result, Some(1.0));
        }
        let mut scores = Scores::default();
        scores.add(Some(31_999), 1);
        scores.add(Some(-31_000), 1);
        scores.add(None, 1);
        assert_eq!((scores.mates[0].wins, scores.mates[1].wins, scores.missing), (1, 1, 1));
        assert_eq!(scores.buckets().map(|bucket| bucket.outcomes.total()).sum::<u64>(), 0);
    }
}
