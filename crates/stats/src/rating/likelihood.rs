//! Likelihood of results given a rating difference x in favour of White, in natural units of Elo's scale, and a
//! draw parameter.
//!
//! The models of draws have scales of their own, on which all three are concave, so that ratings have one optimum.
//! Their differences are stretched to Elo's scale as Bayeselo does: between equals the expected score has the same
//! slope.

use crate::Quadratic;
use patzer_io::named;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ResultModel {
        Elo: "elo", "The expected score is logistic and a draw is half a win: the model of Elo and of Ordo";
        Davidson: "davidson", "Draws have a chance of their own, in the geometric mean of both wins' (Davidson, 1970)";
        RaoKupper: "rao-kupper", "Draws lie between two thresholds (Rao and Kupper, 1967); Bayeselo's model and scale";
    }
}

/// ln(1 + e^x) and the logistic function.
fn softplus(x: f64) -> (f64, f64) {
    let e = (-x.abs()).exp();
    (x.max(0.0) + e.ln_1p(), if x > 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) })
}

impl ResultModel {
    pub fn has_draws(self) -> bool {
        self != ResultModel::Elo
    }

    /// Tests whether `draw` is in the parameter's range.
    pub fn admits(self, draw: f64) -> bool {
        self != ResultModel::RaoKupper || draw > 0.0
    }

    pub fn start(self) -> f64 {
        if self == ResultModel::RaoKupper { 1.0 } else { 0.0 }
    }

    /// Units of the model's own scale in one of Elo's, with the derivative by the draw parameter.
    fn stretch(self, draw: f64) -> [f64; 2] {
        match self {
            ResultModel::Elo => [1.0, 0.0],
            ResultModel::Davidson => [1.0 + draw.exp() / 2.0, draw.exp() / 2.0],
            ResultModel::RaoKupper => [(draw / 2.0).cosh().powi(2), draw.sinh() / 2.0],
        }
    }

    /// Probabilities of a win, draw and loss of White. [`ResultModel::Elo`] has no draws: they follow Davidson's
    /// model and take from both sides equally.
    pub fn chances(self, x: f64, draw: f64) -> [f64; 3] {
        self.own_chances(x * self.stretch(draw)[0], draw)
    }

    /// [`ResultModel::chances`] on the model's own scale.
    fn own_chances(self, x: f64, draw: f64) -> [f64; 3] {
        match self {
            ResultModel::Elo => {
                let (score, [_, d, _]) = (softplus(x).1, ResultModel::Davidson.own_chances(x, draw));
                let d = d.min(2.0 * score.min(1.0 - score));
                [score - d / 2.0, d, 1.0 - score - d / 2.0]
            }
            ResultModel::Davidson => {
                let top = (x.abs() / 2.0).max(draw);
                let [w, d, l] = [x / 2.0, draw, -x / 2.0].map(|e| (e - top).exp());
                let sum = w + d + l;
                [w / sum, d / sum, l / sum]
            }
            ResultModel::RaoKupper => {
                let (win, loss) = (softplus(x - draw).1, softplus(-x - draw).1);
                [win, (1.0 - win - loss).max(0.0), loss]
            }
        }
    }

    pub fn score(self, x: f64, draw: f64) -> f64 {
        let [w, d, _] = self.chances(x, draw);
        w + d / 2.0
    }

    /// Variance of a game's score.
    pub fn variance(self, x: f64, draw: f64) -> f64 {
        let [w, d, l] = self.chances(x, draw);
        let score = w + d / 2.0;
        w * (1.0 - score).powi(2) + d * (0.5 - score).powi(2) + l * score * score
    }

    /// Negative log-likelihood of results by x and the draw parameter; counts may be fractional. The second derivatives
    /// leave out what is 0 in expectation.
    pub fn expand_counts(self, counts: [f64; 3], x: f64, draw: f64) -> Quadratic {
        let [stretch, change] = self.stretch(draw);
        let Quadratic { value, gradient: [by_x, by_draw], hessian: [xx, xd, dd] } =
            self.expand_own(counts, x * stretch, draw);
        let turn = x * change;
        Quadratic {
            value,
            gradient: [by_x * stretch, by_draw + by_x * turn],
            hessian: [xx * stretch * stretch, (xd + xx * turn) * stretch, dd + (2.0 * xd + xx * turn) * turn],
        }
    }

    /// [`ResultModel::expand_counts`] on the model's own scale and with all of the second derivatives.
    pub fn expand_own(self, [w, d, l]: [f64; 3], x: f64, draw: f64) -> Quadratic {
        let n = w + d + l;
        match self {
            ResultModel::Elo => {
                let score = w + d / 2.0;
                let (sp, p) = softplus(x);
                Quadratic {
                    value: n * sp - score * x,
                    gradient: [n * p - score, 0.0],
                    hessian: [n * p * (1.0 - p), 0.0, 0.0],
                }
            }
            ResultModel::Davidson => {
                let [pw, pd, pl] = self.own_chances(x, draw);
                let top = (x.abs() / 2.0).max(draw);
                let sum: f64 = [x / 2.0, draw, -x / 2.0].iter().map(|e| (e - top).exp()).sum();
                let lead = pw - pl;
                Quadratic {
                    value: n * (top + sum.ln()) - (w - l) * x / 2.0 - d * draw,
                    gradient: [(n * lead - (w - l)) / 2.0, n * pd - d],
                    hessian: [n * (pw + pl - lead * lead) / 4.0, -n * lead * pd / 2.0, n * pd * (1.0 - pd)],
                }
            }
            ResultModel::RaoKupper => {
                let (p, q) = (x - draw, -x - draw);
                let ((sp, win), (sq, loss)) = (softplus(p), softplus(q));
                let (fp, fq) = ((w + d) * win - w, (l + d) * loss - l);
                let (fpp, fqq) = ((w + d) * win * (1.0 - win), (l + d) * loss * (1.0 - loss));
                let (fade, rest) = ((-2.0 * draw).exp(), -(-2.0 * draw).exp_m1());
                let draws = if d > 0.0 {
                    [-d * rest.ln(), -2.0 * d * fade / rest, 4.0 * d * fade / (rest * rest)]
                } else {
                    [0.0; 3]
                };
                Quadratic {
                    value: (w + d) * sp + (l + d) * sq - w * p - l * q + draws[0],
                    gradient: [fp - fq, -fp - fq + draws[1]],
                    hessian: [fpp + fqq, fqq - fpp, fpp + fqq + draws[2]],
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [f64; 3] = [7.0, 11.0, 4.0];

    #[test]
    fn the_value_is_that_of_the_chances() {
        for model in [ResultModel::Davidson, ResultModel::RaoKupper] {
            for (x, draw) in [(0.0, 0.4), (1.3, 0.9), (-2.0, 0.2), (60.0, 0.5)] {
                let want: f64 =
                    -(0..3).map(|i| COUNTS[i] * model.chances(x, draw)[i].max(1e-300).ln()).sum::<f64>();
                let got = model.expand_counts(COUNTS, x, draw).value;
                assert!(
                    (got - want).abs() < 1e-9 * want.abs() || x > 50.0,
                    "{model:?} {x} {draw}: {got} {want}"
                );
            }
        }
        // Equal players: Davidson's share of draws is ν / (2 + ν), Rao and Kupper's (e^t − 1) / (e^t + 1).
        assert!((ResultModel::Davidson.chances(0.0, 0.0)[1] - 1.0 / 3.0).abs() < 1e-12);
        assert!((ResultModel::RaoKupper.chances(0.0, 3f64.ln())[1] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn derivatives_agree_with_differences() {
        for model in [ResultModel::Elo, ResultModel::Davidson, ResultModel::RaoKupper] {
            for at in [(0.0, 0.4), (1.3, 0.9), (-2.0, 0.2)] {
                Quadratic::check(|x, draw| model.expand_own(COUNTS, x, draw), at);
                // The counts expected there leave out nothing.
                let expected = model.chances(at.0, at.1);
                if model.has_draws() {
                    Quadratic::check(|x, draw| model.expand_counts(expected, x, draw), at);
                }
            }
        }
    }

    #[test]
    fn the_expected_score_between_equals_has_the_slope_of_elo() {
        for (model, draw) in [(ResultModel::Davidson, 2.2), (ResultModel::RaoKupper, 2.3)] {
            let slope = (model.score(1e-4, draw) - model.score(-1e-4, draw)) / 2e-4;
            assert!((slope - 0.25).abs() < 1e-6, "{model:?}: {slope}");
        }
    }

    #[test]
    fn variance_is_that_of_the_three_outcomes() {
        assert!((ResultModel::Elo.variance(0.0, -50.0) - 0.25).abs() < 1e-12);
        assert!((ResultModel::Davidson.variance(0.0, 0.0) - (1.0 - 1.0 / 3.0) / 4.0).abs() < 1e-12);
    }
}
