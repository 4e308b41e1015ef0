//! Actual and expected results by score, to judge a fitted K at a glance.

use serde::Serialize;

use patzer_chess::score::expected_score;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bucket {
    pub from: Option<i32>,
    /// First score beyond the range.
    pub to: Option<i32>,
    pub positions: usize,
    pub actual: f64,
    /// Mean expected result.
    pub expected: f64,
}

const LIMITS: [i32; 14] = [-800, -500, -300, -200, -150, -100, -50, 50, 100, 150, 200, 300, 500, 800];

pub fn buckets(k: f64, pairs: &[(f32, f32)]) -> Vec<Bucket> {
    let mut sums = [(0usize, 0.0, 0.0); LIMITS.len() + 1];
    for &(cp, result) in pairs {
        let sum = &mut sums[LIMITS.partition_point(|limit| *limit as f32 <= cp)];
        *sum = (sum.0 + 1, sum.1 + f64::from(result), sum.2 + expected_score(f64::from(cp), k));
    }
    let row = |(i, (positions, actual, expected)): (usize, (usize, f64, f64))| Bucket {
        from: i.checked_sub(1).map(|i| LIMITS[i]),
        to: LIMITS.get(i).copied(),
        positions,
        actual: actual / positions as f64,
        expected: expected / positions as f64,
    };
    sums.into_iter().enumerate().filter(|(_, sum)| sum.0 > 0).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_in_the_row_that_names_it() {
        let table = buckets(1.0, &[(-900.0, 0.0), (-50.0, 0.5), (49.9, 1.0), (50.0, 1.0), (800.0, 1.0)]);
        let ranges: Vec<_> = table.iter().map(|b| (b.from, b.to, b.positions)).collect();
        assert_eq!(
            ranges,
            [(None, Some(-800), 1), (Some(-50), Some(50), 2), (Some(50), Some(100), 1), (Some(800), None, 1)]
        );
        assert_eq!(table[1].actual, 0.75);
        assert!((table[1].expected - 0.5).abs() < 1e-3);
    }
}
