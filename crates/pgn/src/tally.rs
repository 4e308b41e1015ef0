//! Sums over the scores in a file's comments: counts by dialect, and their agreement with the results.

use serde::{Deserialize, Serialize};

use shakmaty::Color;

use crate::Record;
use crate::dialect::DIALECTS;
use patzer_io::number::grouped;

/// Bound on scores in centipawns, so that won positions do not hide the others.
const CLAMP: i64 = 1000;

/// Largest score in centipawns that counts for the slope: further out the result hardly depends on it.
const LINEAR: i64 = 400;

/// Sums over scores and results, both from the side to move, in whole numbers, so that their order does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    pub n: i64,
    x: i64,
    y: i64,
    xx: i64,
    yy: i64,
    xy: i64,
}

impl Sums {
    #[inline]
    pub(crate) fn add(&mut self, x: i64, y: i64) {
        self.n += 1;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.yy += y * y;
        self.xy += x * y;
    }

    /// Adds `n` scores with one result, by their sum and sum of squares.
    fn add_all(&mut self, (n, x, xx): (i64, i64, i64), y: i64) {
        self.merge(&Sums { n, x, y: n * y, xx, yy: n * y * y, xy: x * y });
    }

    pub fn merge(&mut self, other: &Sums) {
        self.n += other.n;
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.yy += other.yy;
        self.xy += other.xy;
    }

    /// Tests whether the sums can be of at most this many values.
    fn is_of(&self, values: u64) -> bool {
        let sums = [self.x, self.y, self.xx, self.yy, self.xy];
        let Ok(n) = u64::try_from(self.n) else { return false };
        n <= values && sums.iter().all(|sum| u128::from(sum.unsigned_abs()) <= u128::from(n) << 20)
    }

    fn moments(&self) -> (f64, f64, f64) {
        let [n, x, y, xx, yy, xy] = [self.n, self.x, self.y, self.xx, self.yy, self.xy].map(|v| v as f64);
        (xx - x * x / n, yy - y * y / n, xy - x * y / n)
    }

    /// Correlation of the two; `None` if one of them never varies.
    pub fn correlation(&self) -> Option<f64> {
        let (xx, yy, xy) = self.moments();
        (self.n > 1 && xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
    }

    /// Slope of the least-squares line of the second over the first.
    pub fn slope(&self) -> Option<f64> {
        let (xx, _, xy) = self.moments();
        (self.n > 1 && xx > 0.0).then(|| xy / xx)
    }
}

/// A comment that looks like a score and cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadComment {
    pub line: u64,
    /// First characters of the comment.
    pub text: String,
}

/// Scores of the games of one source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreTally {
    /// Positions with a score by dialect, bad games included.
    pub positions: [u64; DIALECTS.len()],
    /// Comments that look like a score and cannot be read.
    pub unread: u64,
    pub sample: Option<UnreadComment>,
    /// Scores beyond ±30,999 centipawns, clamped, without mates.
    #[serde(default)]
    pub clamped: u64,
    /// Games with a result and a score.
    pub games: u64,
    /// Score and result with Black and with White to move, by `Color as usize`.
    pub by_turn: [Sums; 2],
    /// Score and result for small scores.
    pub small: Sums,
}

impl ScoreTally {
    pub fn merge(&mut self, other: &ScoreTally) {
        self.positions.iter_mut().zip(&other.positions).for_each(|(ours, theirs)| *ours += theirs);
        self.unread += other.unread;
        self.sample = self.sample.take().or_else(|| other.sample.clone());
        self.clamped += other.clamped;
        self.games += other.games;
        self.by_turn.iter_mut().zip(&other.by_turn).for_each(|(ours, theirs)| ours.merge(theirs));
        self.small.merge(&other.small);
    }

    pub fn scored(&self) -> u64 {
        self.positions.iter().sum()
    }

    /// Tests whether a source with these numbers of games and positions can have these counts; it has any number of
    /// comments.
    pub fn is_of(&self, games: u64, positions: u64) -> bool {
        let scored = self.positions.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let sums = self.by_turn.iter().chain([&self.small]).all(|sums| sums.is_of(positions));
        self.games <= games && scored <= positions && self.unread.max(self.clamped) < 1 << 60 && sums
    }

    /// Adds the records of one game with a result from White's side.
    pub(crate) fn add_game(&mut self, records: &[Record], result: i8) {
        self.games += 1;
        // The result is that of all records, so scores alone are summed by record.
        let (mut all, mut small) = ([(0i64, 0i64, 0i64); 2], [(0i64, 0i64, 0i64); 2]);
        for record in records {
            let Some(score) = record.score else { continue };
            let (turn, x) = (record.turn as usize, i64::from(score));
            let clamped = x.clamp(-CLAMP, CLAMP);
            let near = i64::from(x.abs() <= LINEAR);
            let (n, sum, squares) = &mut all[turn];
            (*n, *sum, *squares) = (*n + 1, *sum + clamped, *squares + clamped * clamped);
            let (n, sum, squares) = &mut small[turn];
            (*n, *sum, *squares) = (*n + near, *sum + near * x, *squares + near * x * x);
        }
        for turn in Color::ALL {
            let y = i64::from(turn.fold_wb(result, -result));
            self.by_turn[turn as usize].add_all(all[turn as usize], y);
            self.small.add_all(small[turn as usize], y);
        }
    }

    /// Correlations of score and result with White and with Black to move, if both have enough positions.
    pub fn senses(&self) -> Option<(f64, f64)> {
        let [black, white] = &self.by_turn;
        if self.games < ENOUGH_GAMES || white.n.min(black.n) < ENOUGH_POSITIONS {
            return None;
        }
        Some((white.correlation()?, black.correlation()?))
    }

    /// Tests whether White's and Black's scores agree with the results in opposite senses: one side's are misread.
    pub fn is_contradictory(&self) -> bool {
        self.senses().is_some_and(|(white, black)| {
            white.abs().min(black.abs()) >= CLEAR_CORRELATION && (white > 0.0) != (black > 0.0)
        })
    }

    /// Tests whether one side's scores agree with the results far less: games of several origins, some of which write
    /// the mover's scores and others White's.
    pub fn is_mixed(&self) -> bool {
        self.senses().is_some_and(|(white, black)| {
            let (less, more) = (white.abs().min(black.abs()), white.abs().max(black.abs()));
            self.games >= MIXED_GAMES && more >= CLEAR_MIXTURE && less < more / 3.0
        })
    }

    /// Change of the result (−1 to 1) for a centipawn near 0, if there are enough positions.
    pub fn slope(&self) -> Option<f64> {
        let enough = self.games >= SLOPE_GAMES && self.small.n >= 2 * ENOUGH_POSITIONS;
        self.small.slope().filter(|slope| enough && *slope > 0.0)
    }
}

/// Agreement of scores with results, of positions that are not known by game.
#[derive(Debug, Default)]
pub struct SideCheck {
    /// Score and result with Black and with White to move, by `Color as usize`.
    by_turn: [Sums; 2],
}

impl SideCheck {
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            let Some(score) = record.score else { continue };
            let result = record.turn.fold_wb(record.result, -record.result);
            self.by_turn[record.turn as usize].add(i64::from(score).clamp(-CLAMP, CLAMP), result.into());
        }
    }

    /// Describes scores that agree with the results for one side only; `None` without clear evidence.
    pub fn contradiction(&self) -> Option<String> {
        let [black, white] = &self.by_turn;
        let (of_white, of_black) = (white.correlation()?, black.correlation()?);
        let fewest = white.n.min(black.n);
        let clear = if fewest >= MANY_POSITIONS { CLEAR_CORRELATION } else { CLEAR_MIXTURE };
        let contradict = (of_white > 0.0) != (of_black > 0.0);
        (fewest >= FEW_POSITIONS && contradict && of_white.abs().min(of_black.abs()) >= clear).then(|| {
            let [white, black] = [white.n, black.n].map(|n| grouped(n as u64));
            format!("{} ({white} and {black} positions)", misread(of_white, of_black))
        })
    }
}

/// Describes scores that agree with the results for one side only, by their correlations.
pub fn misread(white: f64, black: f64) -> String {
    format!(
        "the scores agree with the results for one side only: correlation {white:+.2} with White to move, {black:+.2} with \
         Black to move; they are of the other side than they are read for"
    )
}

/// Fewest positions a side without games: chance gives a correlation of 0.3 to a hundred once in 400 files.
const FEW_POSITIONS: i64 = 100;
const MANY_POSITIONS: i64 = 10_000;

/// Minimum numbers for correlations to decide.
pub(crate) const ENOUGH_GAMES: u64 = 10;
pub(crate) const ENOUGH_POSITIONS: i64 = 300;

/// Minimum number of games for a slope: with fewer it says more about the games than about the scale.
const SLOPE_GAMES: u64 = 100;

/// Least correlation of score and result that counts.
pub(crate) const CLEAR_CORRELATION: f64 = 0.08;

/// Minimum numbers at which one side's correlation of a third of the other's is no chance.
const MIXED_GAMES: u64 = 50;
const CLEAR_MIXTURE: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_and_slope_are_those_of_the_least_squares_line() {
        let mut sums = Sums::default();
        for (x, y) in [(0, 1), (10, 3), (20, 2), (30, 6)] {
            sums.add(x, y);
        }
        // By hand: means 15 and 3; Sxx 500, Syy 14, Sxy 70.
        assert!((sums.correlation().unwrap() - 70.0 / (500.0f64 * 14.0).sqrt()).abs() < 1e-12);
        assert!((sums.slope().unwrap() - 0.14).abs() < 1e-12);
        let mut halves = Sums::default();
        halves.add(0, 1);
        halves.add(10, 3);
        let mut rest = Sums::default();
        rest.add(20, 2);
        rest.add(30, 6);
        halves.merge(&rest);
        assert_eq!(halves, sums);
        let (mut one, mut many) = (Sums::default(), Sums::default());
        [3, 5, -4].iter().for_each(|x| one.add(*x, -1));
        many.add_all((3, 4, 50), -1);
        assert_eq!(one, many);
        assert_eq!(Sums::default().correlation(), None);
    }
}
