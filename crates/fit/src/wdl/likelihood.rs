//! Log-likelihood of a row's results with exact first and second derivatives.
//! With α = 1/b and t = a/b the results follow an ordered logit: for p = αx − t and q = −αx − t, P(win) =
//! σ(p), P(loss) = σ(q) and P(draw) = (1 − e^(−2t)) σ(−p) σ(−q), a form without cancellation. Its logarithm
//! is concave in (α, t) (Burridge, "A note on maximum likelihood estimation for regression models using
//! grouped data", 1981; Pratt, "Concavity of the log likelihood", 1981), so a row has one optimum.

use super::table::Cell;
use patzer_stats::Quadratic;

/// Scale of scores in centipawns, which keeps all numbers near 1.
pub(super) const UNIT: f64 = 100.0;

/// ln(1 + e^x) and its derivative, the logistic function.
#[inline]
fn softplus(x: f64) -> (f64, f64) {
    let e = (-x.abs()).exp();
    let small = e / (1.0 + e);
    (x.max(0.0) + e.ln_1p(), if x > 0.0 { 1.0 - small } else { small })
}

/// Log-likelihood of cells by α (per [`UNIT`]) and t, both above 0.
pub(super) fn in_alpha_t(cells: &[Cell], alpha: f64, t: f64) -> Quadratic {
    let mut sum = Quadratic::default();
    let mut draws = 0.0;
    for cell in cells {
        let x = f64::from(cell.score) / UNIT;
        let (w, d, l) = (cell.wins as f64, cell.draws as f64, cell.losses as f64);
        let (p, q) = (alpha * x - t, -alpha * x - t);
        let ((sp, win), (sq, loss)) = (softplus(p), softplus(q));
        sum.value += w * p + l * q - (w + d) * sp - (l + d) * sq;
        let (fp, fq) = (w - (w + d) * win, l - (l + d) * loss);
        let (fpp, fqq) = (-(w + d) * win * (1.0 - win), -(l + d) * loss * (1.0 - loss));
        sum.gradient[0] += x * (fp - fq);
        sum.gradient[1] -= fp + fq;
        sum.hessian[0] += x * x * (fpp + fqq);
        sum.hessian[1] -= x * (fpp - fqq);
        sum.hessian[2] += fpp + fqq;
        draws += d;
    }
    if draws > 0.0 {
        let e = (-2.0 * t).exp();
        let rest = -(-2.0 * t).exp_m1();
        sum.value += draws * rest.ln();
        sum.gradient[1] += draws * 2.0 * e / rest;
        sum.hessian[2] -= draws * 4.0 * e / (rest * rest);
    }
    sum
}

/// Log-likelihood of cells by a and b, in [`UNIT`]s and above 0.
pub(super) fn in_a_b(cells: &[Cell], a: f64, b: f64) -> Quadratic {
    let f = in_alpha_t(cells, 1.0 / b, a / b);
    let ([fa, ft], [faa, fat, ftt]) = (f.gradient, f.hessian);
    let slope = fa + a * ft;
    Quadratic {
        value: f.value,
        gradient: [ft / b, -slope / (b * b)],
        hessian: [
            ftt / (b * b),
            -(fat + a * ftt) / (b * b * b) - ft / (b * b),
            (faa + 2.0 * a * fat + a * a * ftt) / (b * b * b * b) + 2.0 * slope / (b * b * b),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wdl::model::chances;

    fn cells() -> Vec<Cell> {
        let cell = |score, wins, draws, losses| Cell { score, wins, draws, losses };
        vec![cell(0, 3, 9, 3), cell(35, 6, 11, 2), cell(180, 20, 5, 1), cell(400, 30, 1, 0)]
    }

    #[test]
    fn the_value_is_that_of_the_models_chances() {
        let (a, b) = (130.0, 48.0);
        let want: f64 = (cells().iter())
            .map(|c| {
                let [win, draw, loss] = chances(a, b, f64::from(c.score));
                c.wins as f64 * win.ln() + c.draws as f64 * draw.ln() + c.losses as f64 * loss.ln()
            })
            .sum();
        let got = in_a_b(&cells(), a / UNIT, b / UNIT).value;
        assert!((got - want).abs() < 1e-10, "{got} {want}");
    }

    #[test]
    fn derivatives_agree_with_differences() {
        for function in [in_alpha_t, in_a_b] {
            for at in [(1.3, 0.48), (0.2, 2.0), (3.0, 0.1), (0.05, 0.7)] {
                Quadratic::check(|x, y| function(&cells(), x, y), at);
            }
        }
    }

    #[test]
    fn nothing_overflows_far_from_the_data() {
        for (alpha, t) in [(1e6, 1e6), (1e-9, 1e-9), (1e6, 1e-6), (1e-6, 800.0)] {
            let f = in_alpha_t(&cells(), alpha, t);
            assert!(
                f.value.is_finite() && f.gradient.iter().chain(&f.hessian).all(|v| v.is_finite()),
                "{f:?}"
            );
        }
    }
}
