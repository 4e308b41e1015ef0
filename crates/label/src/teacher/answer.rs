//! A teacher's answer to one position, 12 bytes in the journal.

use patzer_chess::PackedMove;
use patzer_chess::score::{MATE, MATE_IN_MAX, is_mate};
use patzer_data::{Record, Wdl, flags};
use patzer_match::Analysis;

/// Bytes of an answer.
pub const BYTES: usize = 12;

const SCORED: u8 = 1;
const FAILED: u8 = 2;
const JOINED: u8 = 4;

/// Value of `win` without shares.
const NO_WDL: u16 = u16::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// In the engine's unit; a mate as ±(32000 − plies).
    pub score: Option<i32>,
    pub depth: u8,
    /// [`PackedMove::NONE`] if the engine named no legal move.
    pub best: PackedMove,
    pub wdl: Option<Wdl>,
    /// The engine crashed or hung, twice.
    pub failed: bool,
    /// Taken from a file, in centipawns whatever the teacher's unit is.
    pub joined: bool,
}

impl Answer {
    pub const FAILED: Answer =
        Answer { score: None, depth: 0, best: PackedMove::NONE, wdl: None, failed: true, joined: false };

    pub fn of(analysis: &Analysis) -> Answer {
        let Analysis { info, best } = analysis;
        Answer {
            score: info.score,
            depth: info.depth.clamp(0, 254) as u8,
            best: best.as_ref().map_or(PackedMove::NONE, |&m| PackedMove::pack(m)),
            wdl: info.wdl.filter(|_| info.score.is_some()).map(|[win, draw, _]| Wdl { win, draw }),
            failed: false,
            joined: false,
        }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let Answer { score, depth, best, wdl, failed, joined } = *self;
        let bit = |bit, set| if set { bit } else { 0 };
        out.push(bit(SCORED, score.is_some()) | bit(FAILED, failed) | bit(JOINED, joined));
        out.push(depth);
        out.extend(best.0.to_le_bytes());
        out.extend(score.unwrap_or(0).to_le_bytes());
        let Wdl { win, draw } = wdl.unwrap_or(Wdl { win: NO_WDL, draw: 0 });
        out.extend(win.to_le_bytes());
        out.extend(draw.to_le_bytes());
    }

    pub fn read(bytes: &[u8; BYTES]) -> Answer {
        let [kind, depth, b0, b1, s0, s1, s2, s3, w0, w1, d0, d1] = *bytes;
        let (win, draw) = (u16::from_le_bytes([w0, w1]), u16::from_le_bytes([d0, d1]));
        Answer {
            score: (kind & SCORED != 0).then_some(i32::from_le_bytes([s0, s1, s2, s3])),
            depth,
            best: PackedMove(u16::from_le_bytes([b0, b1])),
            wdl: (win != NO_WDL).then_some(Wdl { win, draw }),
            failed: kind & FAILED != 0,
            joined: kind & JOINED != 0,
        }
    }

    /// Puts the answer in place of the record's score; `unit` is the worth of the engine's unit in centipawns.
    pub fn apply(&self, record: &mut Record, unit: f64) {
        let unit = if self.joined { 1.0 } else { unit };
        record.score = self.score.map(|score| in_centipawns(score, unit));
        record.depth = self.score.map(|_| self.depth);
        (record.best, record.wdl) = (self.best, self.wdl);
        record.flags &= !(flags::MATE_SCORE | flags::PLACEHOLDER);
        if self.score.is_some_and(is_mate) {
            record.flags |= flags::MATE_SCORE;
        }
    }
}

fn in_centipawns(score: i32, unit: f64) -> i16 {
    if is_mate(score) {
        return score.clamp(-MATE, MATE) as i16;
    }
    let most = f64::from(MATE_IN_MAX - 1);
    (f64::from(score) * unit).round().clamp(-most, most) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::native::columns::EMPTY;

    #[test]
    fn every_answer_survives_its_bytes() {
        for answer in [
            Answer::FAILED,
            Answer {
                score: Some(-31_998),
                depth: 254,
                best: PackedMove(0x8fff),
                wdl: Some(Wdl { win: 0, draw: 1000 }),
                failed: false,
                joined: true,
            },
            Answer { depth: 3, best: PackedMove(7), failed: false, ..Answer::FAILED },
        ] {
            let mut bytes = Vec::new();
            answer.write(&mut bytes);
            assert_eq!(Answer::read(bytes[..].try_into().unwrap()), answer);
        }
    }

    #[test]
    fn the_unit_scales_centipawns_and_no_mates() {
        for (score, unit, stored, mate) in [
            (150, 1.0, 150, false),
            (150, 0.5, 75, false),
            (-3, 0.5, -2, false),
            (30_000, 2.0, 30_999, false),
            (31_997, 0.1, 31_997, true),
            (-32_000, 3.0, -32_000, true),
        ] {
            let mut record = patzer_data::Record { flags: flags::MATE_SCORE | flags::BOOK, ..EMPTY };
            Answer { score: Some(score), failed: false, ..Answer::FAILED }.apply(&mut record, unit);
            assert_eq!((record.score, record.depth), (Some(stored), Some(0)), "{score} × {unit}");
            assert_eq!((record.has(flags::MATE_SCORE), record.has(flags::BOOK)), (mate, true));
        }
        let mut record = EMPTY;
        Answer { score: Some(-70), joined: true, failed: false, ..Answer::FAILED }.apply(&mut record, 0.5);
        assert_eq!(record.score, Some(-70), "joined scores are centipawns");
        let mut record = patzer_data::Record { score: Some(50), depth: Some(9), ..EMPTY };
        Answer::FAILED.apply(&mut record, 1.0);
        assert_eq!((record.score, record.depth), (None, None), "the old score has another scale");
    }
}
