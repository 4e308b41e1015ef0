//! Fit of K, the constant of [`expected_score`].

use argmin::core::{CostFunction, Executor};
use argmin::solver::brent::BrentOpt;
use rayon::prelude::*;

use patzer_chess::score::expected_score;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KFit {
    pub k: f64,
    pub k_error: f64,
    /// Mean squared difference between result and expected result.
    pub loss: f64,
}

/// Search range of K: outside it scores say nothing about results, or everything.
const RANGE: (f64, f64) = (0.01, 100.0);

/// Points of the coarse grid, equally spaced in ln K.
const GRID: usize = 20;

/// Pairs per partial sum; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 8192;

/// Fits K to (centipawns, result from 0 to 1) pairs from White's side. The standard error takes the pairs as
/// independent; [`fit_k_by_game`] does not.
pub fn fit_k(pairs: &[(f32, f32)]) -> Result<KFit> {
    fit(pairs, |index| index as u32)
}

/// K of least loss, which is an end of its range where the scores say nothing or everything about the results.
pub fn best_k(pairs: &[(f32, f32)]) -> f64 {
    let by_loss = |a: &f64, b: &f64| loss(*a, pairs).total_cmp(&loss(*b, pairs));
    fit_k(pairs)
        .map_or_else(|_| if by_loss(&RANGE.0, &RANGE.1).is_le() { RANGE.0 } else { RANGE.1 }, |fit| fit.k)
}

/// Fits K with a cluster per game for the standard error (Liang and Zeger, 1986): `games[i]` is the game of
/// `pairs[i]`, and its positions share a result.
pub fn fit_k_by_game(pairs: &[(f32, f32)], games: &[u32]) -> Result<KFit> {
    if pairs.len() != games.len() {
        return Err(Error::internal(format!("{} scores of {} games", pairs.len(), games.len())));
    }
    fit(pairs, |index| games[index])
}

/// Mean squared error of expected results; 0 for no pairs.
pub fn loss(k: f64, pairs: &[(f32, f32)]) -> f64 {
    let [sum] = sum(pairs, |cp, result| [(result - expected_score(cp, k)).powi(2)]);
    sum / pairs.len().max(1) as f64
}

fn fit(pairs: &[(f32, f32)], group: impl Fn(usize) -> u32) -> Result<KFit> {
    let Some((_, first)) = pairs.first() else {
        return Err(Error::input("there are no scored positions to fit K to"));
    };
    if pairs.iter().any(|(cp, result)| !cp.is_finite() || !(0.0..=1.0).contains(result)) {
        return Err(Error::input("K needs finite scores and results from 0 to 1"));
    }
    if pairs.iter().all(|(_, result)| result == first) {
        return Err(Error::input("all results are equal, so they say nothing about K"));
    }
    let (low, high) = bracket(pairs)?;
    let k = minimise(pairs, low, high)?;
    Ok(KFit { k, k_error: standard_error(k, pairs, group), loss: loss(k, pairs) })
}

/// Brackets the minimum in ln K by a coarse grid, since odd data may have several minima.
fn bracket(pairs: &[(f32, f32)]) -> Result<(f64, f64)> {
    let step = (RANGE.1.ln() - RANGE.0.ln()) / (GRID - 1) as f64;
    let at = |i: usize| RANGE.0.ln() + step * i as f64;
    let losses: Vec<f64> = (0..GRID).map(|i| loss(at(i).exp(), pairs)).collect();
    let best = (0..GRID).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(0);
    match best {
        0 => Err(Error::input("the scores do not predict the results: no K above 0.01 helps")),
        best if best == GRID - 1 => {
            Err(Error::input("the scores predict every result, so K grows without end (above 100)"))
        }
        best => Ok((at(best - 1), at(best + 1))),
    }
}

struct LossAt<'a>(&'a [(f32, f32)]);

impl CostFunction for LossAt<'_> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, ln_k: &f64) -> std::result::Result<f64, argmin::core::Error> {
        Ok(loss(ln_k.exp(), self.0))
    }
}

/// Brent's method over ln K; parabolic steps converge within about ten evaluations on this smooth loss.
fn minimise(pairs: &[(f32, f32)], low: f64, high: f64) -> Result<f64> {
    let solver = BrentOpt::new(low, high).set_tolerance(1e-9, 1e-9);
    let executor = Executor::new(LossAt(pairs), solver).configure(|state| state.max_iters(100)).timer(false);
    let result = executor.run().map_err(|e| Error::internal(format!("the fit of K failed: {e}")))?;
    let ln_k = result.state.best_param.ok_or_else(|| Error::internal("the fit of K found nothing"))?;
    Ok(ln_k.exp())
}

/// Sandwich estimate: spread of the clusters' summed slopes over the curvature.
fn standard_error(k: f64, pairs: &[(f32, f32)], group: impl Fn(usize) -> u32) -> f64 {
    let slope = |cp: f64, result: f64| {
        let p = expected_score(cp, k);
        2.0 * (p - result) * p * (1.0 - p) * cp / 400.0
    };
    let [curvature] = sum(pairs, |cp, result| {
        let p = expected_score(cp, k);
        let variance = p * (1.0 - p);
        [2.0 * (cp / 400.0).powi(2) * variance * (variance + (p - result) * (1.0 - 2.0 * p))]
    });
    let mut slopes: Vec<(u32, f64)> = (pairs.iter().enumerate())
        .map(|(index, &(cp, result))| (group(index), slope(f64::from(cp), f64::from(result))))
        .collect();
    slopes.sort_by_key(|(group, _)| *group);
    let of_group = |group: &[(u32, f64)]| group.iter().map(|(_, slope)| slope).sum::<f64>();
    let spread: f64 = slopes.chunk_by(|a, b| a.0 == b.0).map(|group| of_group(group).powi(2)).sum();
    spread.sqrt() / curvature
}

/// Parallel sum in fixed chunks, added in order.
fn sum<const N: usize>(pairs: &[(f32, f32)], value: impl Fn(f64, f64) -> [f64; N] + Sync) -> [f64; N] {
    let add = |mut a: [f64; N], b: [f64; N]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let of_chunk = |chunk: &[(f32, f32)]| {
        chunk.iter().fold([0.0; N], |sum, &(cp, result)| add(sum, value(f64::from(cp), f64::from(result))))
    };
    let sums: Vec<[f64; N]> = pairs.par_chunks(CHUNK).map(of_chunk).collect();
    sums.into_iter().fold([0.0; N], add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    fn drawn(n: usize, seed: u64) -> Vec<(f32, f32)> {
        let mut rng = Rng::new(seed);
        let draw = |_| {
            let cp = (rng.unit() * 1200.0 - 600.0) as f32;
            let won = rng.unit() < expected_score(f64::from(cp), 1.5);
            (cp, f32::from(u8::from(won)))
        };
        (0..n).map(draw).collect()
    }

    #[test]
    fn exact_probabilities_give_their_k_back() {
        let pairs: Vec<_> = (-50..=50)
            .map(|i| (i as f32 * 10.0, expected_score(f64::from(i) * 10.0, 1.8125) as f32))
            .collect();
        let fit = fit_k(&pairs).unwrap();
        assert!((fit.k - 1.8125).abs() < 1e-6, "{fit:?}");
        assert!(fit.loss < 1e-12);
    }

    #[test]
    fn drawn_results_give_k_within_its_error() {
        let fits: Vec<KFit> = (0..40).map(|seed| fit_k(&drawn(2_000, seed)).unwrap()).collect();
        let mean = fits.iter().map(|fit| fit.k).sum::<f64>() / 40.0;
        let spread = (fits.iter().map(|fit| (fit.k - mean).powi(2)).sum::<f64>() / 39.0).sqrt();
        let error = fits.iter().map(|fit| fit.k_error).sum::<f64>() / 40.0;
        assert!((mean - 1.5).abs() < 4.0 * error / 40f64.sqrt(), "mean {mean} error {error}");
        assert!((0.7..1.4).contains(&(error / spread)), "claimed {error}, seen {spread}");
    }

    #[test]
    fn copies_of_a_position_add_nothing_to_what_is_known() {
        let once = drawn(1_000, 5);
        let games: Vec<u32> = (0..4_000).map(|i| i % 1_000).collect();
        let four = once.repeat(4);
        let alone = fit_k(&once).unwrap();
        let together = fit_k_by_game(&four, &games).unwrap();
        assert!((alone.k - together.k).abs() < 1e-6);
        assert!((alone.k_error / together.k_error - 1.0).abs() < 1e-6);
        assert!((alone.k_error / fit_k(&four).unwrap().k_error - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_loss_at_k_is_the_least() {
        let pairs = drawn(3_000, 9);
        let fit = fit_k(&pairs).unwrap();
        for factor in [0.999, 1.001, 0.9, 1.1] {
            assert!(loss(fit.k * factor, &pairs) > fit.loss);
        }
    }

    #[test]
    fn data_that_has_no_k_is_refused_with_the_reason() {
        let reason = |pairs: &[(f32, f32)]| fit_k(pairs).unwrap_err().to_string();
        assert!(reason(&[]).contains("no scored positions"));
        assert!(reason(&[(10.0, 1.0), (-10.0, 1.0)]).contains("all results are equal"));
        assert!(reason(&[(10.0, 0.0), (-10.0, 1.0)]).contains("do not predict"));
        assert!(reason(&[(10.0, 1.0), (-10.0, 0.0)]).contains("without end"));
        assert!(reason(&[(0.0, 1.0), (0.0, 0.0)]).contains("do not predict"));
        assert!(reason(&[(f32::NAN, 1.0), (0.0, 0.0)]).contains("finite"));
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let pairs = drawn(50_000, 3);
        let with = |threads| crate::on_threads(threads, || fit_k(&pairs).unwrap());
        assert_eq!(with(1), with(2));
    }
}
