//! Maximum-likelihood fit of the win/draw/loss model.
//! a and b are expanded in Chebyshev polynomials over the range of rows mapped to ±1, where the eight
//! coefficients are nearly independent; in powers of material / 58 the problem is so ill-conditioned that
//! derivative-free searches stop early. Damped Newton steps (Levenberg, Marquardt) with exact derivatives
//! take about ten passes from any start.

use super::likelihood::{UNIT, in_a_b, in_alpha_t};
use super::model::WdlModel;
use super::table::{Cell, WdlRow, WdlTable};
use patzer_io::error::{Error, Result};
use patzer_stats::{Cholesky, Quadratic};

const TERMS: usize = 4;

const NO_MODEL: &str = "no finite model is the most likely: the scores predict every result, or none";

const ALL: usize = 2 * TERMS;

/// Give up after this many passes; the worst starts need about a hundred.
const MOST_PASSES: u32 = 2_000;

#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    pub model: WdlModel,
    /// Mean negative log-likelihood per position, in nats.
    pub objective: f64,
    pub passes: u32,
    /// (row, a, b) of rows fitted alone, in centipawns, where there are enough wins, draws and losses.
    pub local: Vec<(u16, f64, f64)>,
    /// a and b are above 0 in every row, so engines may use them there.
    pub valid: bool,
}

/// Fits a model, starting from `start` or else from constant a and b. `target`: see [`WdlModel`].
pub fn fit(table: &WdlTable, target: f64, start: Option<&WdlModel>) -> Result<FittedModel> {
    if table.positions() == 0 {
        return Err(Error::input("there are no scored positions within the bounds to fit a model to"));
    }
    if table.counts[1] == 0 || table.counts[0] + table.counts[2] == 0 {
        let [w, d, l] = table.counts;
        let reason =
            format!("a model needs draws and decided games; there are {w} wins, {d} draws, {l} losses");
        return Err(Error::input(reason));
    }
    let basis = Basis::new(table);
    let start = match start {
        Some(model) => basis.coefficients_of(table, model),
        None => basis.flat(flat_start(table)?),
    };
    let (coefficients, objective, passes) = newton(table, &basis, start)?;
    let model = basis.to_model(&coefficients, target);
    let valid = table.bounds.rows().clone().all(|row| {
        let (a, b) = basis.at(&coefficients, row);
        a > 0.0 && b > 0.0
    });
    if !model.a.iter().chain(&model.b).all(|c| c.is_finite()) {
        return Err(Error::internal("the fit ended without finite coefficients"));
    }
    Ok(FittedModel { model, objective, passes, local: local(table), valid })
}

/// Coefficients of a, then of b, lowest Chebyshev polynomial first, in [`UNIT`]s.
type Coefficients = [f64; ALL];

#[derive(Debug, Clone, Copy)]
struct Basis {
    middle: f64,
    half: f64,
    /// Number of polynomials used: at most the number of rows.
    used: usize,
}

impl Basis {
    fn new(table: &WdlTable) -> Basis {
        let (low, high) = (f64::from(*table.bounds.rows().start()), f64::from(*table.bounds.rows().end()));
        let half = ((high - low) / 2.0).max(0.5);
        Basis { middle: (low + high) / 2.0, half, used: table.rows.len().min(TERMS) }
    }

    fn values(&self, row: u16) -> [f64; TERMS] {
        let u = (f64::from(row) - self.middle) / self.half;
        let all = [1.0, u, 2.0 * u * u - 1.0, (4.0 * u * u - 3.0) * u];
        std::array::from_fn(|i| if i < self.used { all[i] } else { 0.0 })
    }

    fn at(&self, coefficients: &Coefficients, row: u16) -> (f64, f64) {
        let values = self.values(row);
        let sum = |c: &[f64]| (0..TERMS).map(|i| c[i] * values[i]).sum::<f64>();
        (sum(&coefficients[..TERMS]), sum(&coefficients[TERMS..]))
    }

    fn flat(&self, (a, b): (f64, f64)) -> Coefficients {
        let mut flat = [0.0; ALL];
        (flat[0], flat[TERMS]) = (a, b);
        flat
    }

    /// Coefficients of a model, raised where needed so that a and b are above 0 in all rows.
    fn coefficients_of(self, table: &WdlTable, model: &WdlModel) -> Coefficients {
        let mut coefficients = [0.0; ALL];
        for (part, cubic) in [&model.a, &model.b].into_iter().enumerate() {
            // Powers of m = (middle + half·u) / target, expanded in u, then turned into Chebyshev polynomials.
            let (m0, m1) = (self.middle / model.target, self.half / model.target);
            let [c3, c2, c1, c0] = cubic.map(|c| c / UNIT);
            let powers = [
                c0 + m0 * (c1 + m0 * (c2 + m0 * c3)),
                m1 * (c1 + m0 * (2.0 * c2 + 3.0 * m0 * c3)),
                m1 * m1 * (c2 + 3.0 * m0 * c3),
                m1 * m1 * m1 * c3,
            ];
            let chebyshev =
                [powers[0] + powers[2] / 2.0, powers[1] + 0.75 * powers[3], powers[2] / 2.0, powers[3] / 4.0];
            coefficients[part * TERMS..][..self.used].copy_from_slice(&chebyshev[..self.used]);
        }
        for (part, low) in [0.01, 0.01].into_iter().enumerate() {
            let at = |row: &WdlRow| <[f64; 2]>::from(self.at(&coefficients, row.at))[part];
            let least = table.rows.iter().map(at).fold(f64::INFINITY, f64::min);
            coefficients[part * TERMS] += (low - least).max(0.0);
        }
        coefficients
    }

    fn to_model(self, coefficients: &Coefficients, target: f64) -> WdlModel {
        let cubic = |c: &[f64]| {
            let powers = [c[0] - c[2], c[1] - 3.0 * c[3], 2.0 * c[2], 4.0 * c[3]];
            // u = s·m − r with m = row / target.
            let (s, r) = (target / self.half, self.middle / self.half);
            let [p0, p1, p2, p3] = powers;
            [
                s * s * s * p3,
                s * s * (p2 - 3.0 * r * p3),
                s * (p1 - r * (2.0 * p2 - 3.0 * r * p3)),
                p0 - r * (p1 - r * (p2 - r * p3)),
            ]
            .map(|c| c * UNIT)
        };
        WdlModel { a: cubic(&coefficients[..TERMS]), b: cubic(&coefficients[TERMS..]), target }
    }
}

struct Expansion {
    value: f64,
    gradient: Coefficients,
    hessian: [[f64; ALL]; ALL],
}

/// `None` where a or b is not above 0, or the value is not finite.
fn expand(table: &WdlTable, basis: &Basis, coefficients: &Coefficients) -> Option<Expansion> {
    let mut sum = Expansion { value: 0.0, gradient: [0.0; ALL], hessian: [[0.0; ALL]; ALL] };
    let scale = -1.0 / table.positions() as f64;
    for row in &table.rows {
        let (a, b) = basis.at(coefficients, row.at);
        if !(a > 0.0 && b > 0.0) {
            return None;
        }
        let Quadratic { value, gradient, hessian: [aa, ab, bb] } = in_a_b(&row.cells, a, b);
        let values = basis.values(row.at);
        sum.value += scale * value;
        for i in 0..ALL {
            let (part, v) = (i / TERMS, values[i % TERMS]);
            sum.gradient[i] += scale * gradient[part] * v;
            for j in 0..ALL {
                let second = [[aa, ab], [ab, bb]][part][j / TERMS];
                sum.hessian[i][j] += scale * second * v * values[j % TERMS];
            }
        }
    }
    // Unused polynomials stay 0.
    for i in (0..ALL).filter(|i| i % TERMS >= basis.used) {
        sum.hessian[i][i] = 1.0;
    }
    sum.value.is_finite().then_some(sum)
}

/// Damped Newton steps until rounding outweighs the predicted gain. Returns coefficients, value and passes.
fn newton(table: &WdlTable, basis: &Basis, start: Coefficients) -> Result<(Coefficients, f64, u32)> {
    const PROMISE: f64 = 1e-17;
    let mut at = start;
    let mut here = expand(table, basis, &at)
        .ok_or_else(|| Error::input("the fit cannot begin: its start has no finite likelihood"))?;
    let mut damping = 1e-3;
    for pass in 1..=MOST_PASSES {
        let Some(step) = solve(&here, damping) else {
            damping = f64::max(damping * 4.0, 1e-12);
            continue;
        };
        let promised: f64 = -(0..ALL).map(|i| step[i] * here.gradient[i]).sum::<f64>() / 2.0;
        let next: Coefficients = std::array::from_fn(|i| at[i] + step[i]);
        let there = expand(table, basis, &next).filter(|there| there.value <= here.value);
        if promised < PROMISE * here.value.abs().max(1.0) && damping < 1e-3 {
            let better = there.filter(|there| there.value < here.value);
            return Ok(better.map_or((at, here.value, pass), |there| (next, there.value, pass)));
        }
        match there {
            Some(there) => {
                (at, here) = (next, there);
                damping *= 0.1;
            }
            // No gain from a short step: rounding decides.
            None if promised < 1e-14 => return Ok((at, here.value, pass)),
            None => damping = f64::max(damping * 4.0, 1e-12),
        }
    }
    Err(Error::input(NO_MODEL))
}

/// The damped Newton step; `None` if the matrix is not positive definite.
fn solve(at: &Expansion, damping: f64) -> Option<Coefficients> {
    let mut matrix = at.hessian;
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += damping * row[i].abs().max(1e-12);
    }
    let step = Cholesky::new(matrix.concat(), ALL)?.solve(&at.gradient.map(|g| -g));
    step.try_into().ok().filter(|step: &Coefficients| step.iter().all(|v| v.is_finite()))
}

fn flat_start(table: &WdlTable) -> Result<(f64, f64)> {
    let mut cells = std::collections::BTreeMap::new();
    for cell in table.rows.iter().flat_map(|row| &row.cells) {
        let sum = cells.entry(cell.score).or_insert(Cell { wins: 0, draws: 0, losses: 0, ..*cell });
        sum.wins += cell.wins;
        sum.draws += cell.draws;
        sum.losses += cell.losses;
    }
    let row = WdlRow { at: 0, cells: cells.into_values().collect() };
    fit_row(&row).ok_or_else(|| Error::input(NO_MODEL))
}

/// a and b of each row, in centipawns; rows with fewer than 10 decided games or draws are skipped.
fn local(table: &WdlTable) -> Vec<(u16, f64, f64)> {
    let enough = |row: &&WdlRow| {
        let [wins, draws, losses] = row.counts();
        wins + losses >= 10 && draws >= 10
    };
    let fitted = |row: &WdlRow| fit_row(row).map(|(a, b)| (row.at, a * UNIT, b * UNIT));
    table.rows.iter().filter(enough).filter_map(fitted).collect()
}

/// a and b of one row in [`UNIT`]s: a concave problem in two variables.
fn fit_row(row: &WdlRow) -> Option<(f64, f64)> {
    let total = row.counts().iter().sum::<u64>() as f64;
    let (mut alpha, mut t) = (1.0, 1.0);
    let mut here = in_alpha_t(&row.cells, alpha, t);
    for _ in 0..200 {
        let ([ga, gt], [aa, at, tt]) = (here.gradient, here.hessian);
        // A ridge far below the curvature of any data keeps the matrix invertible.
        let (aa, tt) = (aa - 1e-9 * total, tt - 1e-9 * total);
        let determinant = aa * tt - at * at;
        let (da, dt) = ((at * gt - tt * ga) / determinant, (at * ga - aa * gt) / determinant);
        let gain = (ga * da + gt * dt) / total;
        if !gain.is_finite() || alpha > 1e4 {
            return None;
        }
        if gain.abs() < 1e-15 {
            return Some((t / alpha, 1.0 / alpha));
        }
        let mut length = 1.0;
        loop {
            let (next_alpha, next_t) = (alpha + length * da, t + length * dt);
            if next_alpha > 0.0 && next_t > 0.0 {
                let there = in_alpha_t(&row.cells, next_alpha, next_t);
                if there.value >= here.value {
                    (alpha, t, here) = (next_alpha, next_t, there);
                    break;
                }
            }
            length *= 0.5;
            if length < 1e-12 {
                return (gain.abs() < 1e-10).then(|| (t / alpha, 1.0 / alpha));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wdl::histogram::{Bin, Histogram, Observation};
    use crate::wdl::table::Bounds;
    use patzer_chess::rng::Rng;

    const TRUTH: WdlModel =
        WdlModel { a: [-30.0, 90.0, -60.0, 110.0], b: [15.0, -25.0, 10.0, 48.0], target: 58.0 };

    fn drawn(model: &WdlModel, count: usize, seed: u64) -> WdlTable {
        let mut rng = Rng::new(seed);
        let mut histogram = Histogram::default();
        for _ in 0..count {
            let material = 17 + rng.below(62) as u8;
            let score = rng.below(81) as i32 * 10 - 400;
            let [win, draw, _] = model.chances(f64::from(material), f64::from(score));
            let u = rng.unit();
            let result = if u < win { 1 } else { -i8::from(u >= win + draw) };
            histogram.add(Observation::new(result, 30, material, score, false, Bin::default()), 1);
        }
        WdlTable::new(&histogram, Bounds::default())
    }

    #[test]
    fn coefficients_of_both_bases_are_the_same_model() {
        let table = drawn(&TRUTH, 2_000, 1);
        let basis = Basis::new(&table);
        assert_eq!((basis.middle, basis.half), (47.5, 30.5));
        let coefficients = basis.coefficients_of(&table, &TRUTH);
        for row in [17, 30, 58, 78] {
            let (a, b) = basis.at(&coefficients, row);
            let want = TRUTH.at(f64::from(row));
            assert!((a * UNIT - want.0).abs() < 1e-9 && (b * UNIT - want.1).abs() < 1e-9);
        }
        let back = basis.to_model(&coefficients, 58.0);
        for (got, want) in back.a.iter().chain(&back.b).zip(TRUTH.a.iter().chain(&TRUTH.b)) {
            assert!((got - want).abs() < 1e-8, "{got} {want}");
        }
    }

    #[test]
    fn derivatives_by_the_coefficients_agree_with_differences() {
        let table = drawn(&TRUTH, 3_000, 2);
        let basis = Basis::new(&table);
        let at = [1.2, 0.1, -0.05, 0.02, 0.5, 0.03, 0.02, -0.01];
        let here = expand(&table, &basis, &at).unwrap();
        for i in 0..ALL {
            let h = 1e-5;
            let moved = |by: f64| {
                let mut moved = at;
                moved[i] += by;
                expand(&table, &basis, &moved).unwrap()
            };
            let (up, down) = (moved(h), moved(-h));
            let slope = (up.value - down.value) / (2.0 * h);
            assert!((here.gradient[i] - slope).abs() < 1e-8, "{i}: {} {slope}", here.gradient[i]);
            for j in 0..ALL {
                let bend = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                assert!((here.hessian[i][j] - bend).abs() < 1e-7, "{i} {j}: {} {bend}", here.hessian[i][j]);
            }
        }
    }

    #[test]
    fn a_known_model_is_recovered() {
        let fitted = fit(&drawn(&TRUTH, 200_000, 3), 58.0, None).unwrap();
        assert!(fitted.valid && fitted.passes < 30, "{fitted:?}");
        for row in [17.0, 30.0, 47.0, 58.0, 78.0] {
            let (got, want) = (fitted.model.at(row), TRUTH.at(row));
            assert!((got.0 - want.0).abs() < 6.0 && (got.1 - want.1).abs() < 4.0, "{row}: {got:?} {want:?}");
        }
        assert!(fitted.local.len() > 55);
    }

    #[test]
    fn exact_counts_give_the_model_back_exactly() {
        let mut histogram = Histogram::default();
        for material in 17..=78u8 {
            for score in (-400..=400).step_by(20) {
                let chances = TRUTH.chances(f64::from(material), f64::from(score));
                for (result, chance) in [1, 0, -1].into_iter().zip(chances) {
                    let count = (chance * 1e12).round() as u64;
                    histogram
                        .add(Observation::new(result, 30, material, score, false, Bin::default()), count);
                }
            }
        }
        let fitted = fit(&WdlTable::new(&histogram, Bounds::default()), 58.0, None).unwrap().model;
        for (got, want) in fitted.a.iter().chain(&fitted.b).zip(TRUTH.a.iter().chain(&TRUTH.b)) {
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
    }

    #[test]
    fn every_start_reaches_the_same_optimum() {
        let table = drawn(&TRUTH, 20_000, 4);
        let best = fit(&table, 58.0, None).unwrap();
        let mut rng = Rng::new(5);
        for _ in 0..40 {
            let mut wild = |size: f64| size * 10f64.powf(3.0 * rng.unit() - 2.0) * (rng.unit() - 0.3);
            let start = WdlModel {
                a: std::array::from_fn(|_| wild(1_000.0)),
                b: std::array::from_fn(|_| wild(1_000.0)),
                target: 58.0,
            };
            let got = fit(&table, 58.0, Some(&start)).unwrap();
            assert!((got.objective - best.objective).abs() < 1e-12, "{start:?} {got:?}");
            assert!((got.model.spread() - best.model.spread()).abs() < 1e-3);
        }
    }

    #[test]
    fn few_rows_are_fitted_with_fewer_powers() {
        let whole = drawn(&TRUTH, 40_000, 6);
        for kept in [1, 2, 3] {
            let mut table = whole.clone();
            table.rows = table.rows.into_iter().step_by(20).take(kept).collect();
            table.counts = table
                .rows
                .iter()
                .map(WdlRow::counts)
                .fold([0; 3], |s, c| std::array::from_fn(|i| s[i] + c[i]));
            let fitted = fit(&table, 58.0, None).unwrap();
            // As many coefficients as rows: the model is each row's own.
            for (row, a, b) in &fitted.local {
                let got = fitted.model.at(f64::from(*row));
                assert!((got.0 - a).abs() < 1e-4 && (got.1 - b).abs() < 1e-4, "{kept}: {got:?} {a} {b}");
            }
        }
    }

    #[test]
    fn a_table_without_a_model_is_refused_with_the_reason() {
        let table = |counts: &[(i8, i32)]| {
            let mut histogram = Histogram::default();
            for &(result, score) in counts {
                histogram.add(Observation::new(result, 30, 50, score, false, Bin::default()), 20);
            }
            fit(&WdlTable::new(&histogram, Bounds::default()), 58.0, None).unwrap_err().to_string()
        };
        assert!(table(&[]).contains("no scored positions"));
        assert!(table(&[(1, 100), (-1, -100)]).contains("draws"));
        assert!(table(&[(0, 100), (0, -100)]).contains("decided"));
        assert!(table(&[(1, 100), (0, 0), (-1, -100)]).contains("no finite model"));
        assert!(table(&[(1, -100), (0, 0), (-1, 100)]).contains("no finite model"));
    }
}
