//! Sequential probability ratio test.
//!
//! Wald's test ("Sequential Analysis", 1947) with the generalised likelihood ratio: each hypothesis gets the
//! distribution of results that satisfies it and fits the observations best (Van den Bergh, 2017 to 2020;
//! fishtest's `LLRcalc`). Where no such distribution exists or its iteration does not converge, the normal
//! approximation gives the LLR in closed form, so it is finite for all counts and bounds.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::elo::{NELO, expected_score};
use super::likelihood::{log_ratio, with_mean, with_t};
use super::pentanomial::{Distribution, ResultCounts, Trinomial};
use patzer_io::error::{Error, Result};
use patzer_io::named;

named! {
    /// Scale of the hypotheses
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Model {
        Normalized: "normalized", "Normalised Elo: excess score over its standard deviation for one game";
        Logistic: "logistic", "Logistic Elo: the usual rating difference";
        Bayesian: "bayesian", "BayesElo with a draw rate fitted to the games; counts games, not pairs";
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    H1,
    H0,
    #[serde(rename = "undecided")]
    Undecided,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
}

impl Sprt {
    /// `alpha` is the probability of accepting H1 under H0, `beta` of accepting H0 under H1.
    pub fn new(model: Model, elo0: f64, elo1: f64, alpha: f64, beta: f64) -> Result<Sprt> {
        if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
            return Err(Error::usage(format!("elo0 {elo0}, elo1 {elo1}: the first must be the lower")));
        }
        let inside = |p: f64| p > 0.0 && p < 1.0;
        if !(inside(alpha) && inside(beta) && alpha + beta < 1.0) {
            return Err(Error::usage(format!(
                "alpha {alpha}, beta {beta}: error rates lie between 0 and 1, and their sum below 1"
            )));
        }
        Ok(Sprt { elo0, elo1, alpha, beta, model })
    }

    pub fn model(&self) -> Model {
        self.model
    }

    pub fn bounds(&self) -> [f64; 2] {
        [self.elo0, self.elo1]
    }

    /// LLR that accepts H0: ln(β / (1 − α)).
    pub fn lower(&self) -> f64 {
        (self.beta / (1.0 - self.alpha)).ln()
    }

    /// LLR that accepts H1: ln((1 − β) / α).
    pub fn upper(&self) -> f64 {
        ((1.0 - self.beta) / self.alpha).ln()
    }

    pub fn verdict(&self, llr: f64) -> Verdict {
        if llr >= self.upper() {
            Verdict::H1
        } else if llr <= self.lower() {
            Verdict::H0
        } else {
            Verdict::Undecided
        }
    }

    /// Log-likelihood ratio; 0 without counts, and for pairs under the Bayesian model.
    pub fn llr(&self, counts: impl Into<ResultCounts>) -> f64 {
        match counts.into() {
            ResultCounts::Games(games) if self.model == Model::Bayesian => self.bayesian(games),
            ResultCounts::Games(games) if games.games() > 0 => {
                self.generalised(&Distribution::regularised(games.ascending()))
            }
            ResultCounts::Pairs(pairs) if pairs.pairs() > 0 && self.model != Model::Bayesian => {
                self.generalised(&Distribution::regularised(pairs.0))
            }
            _ => 0.0,
        }
    }

    fn generalised<const N: usize>(&self, observed: &Distribution<N>) -> f64 {
        match self.model {
            Model::Normalized => {
                // A pair has √2 times the t-value of a game.
                let unit = Distribution::<N>::games_each().sqrt() / NELO;
                normalized(observed, self.elo0 * unit, self.elo1 * unit)
            }
            _ => logistic(observed, expected_score(self.elo0), expected_score(self.elo1)),
        }
    }

    /// BayesElo's model with the draw parameter that fits the games (Coulom, "Bayeselo"; fishtest before 2020).
    fn bayesian(&self, games: Trinomial) -> f64 {
        if games.wins == 0 || games.losses == 0 {
            return 0.0; // the draw parameter is infinite or unknown
        }
        let total = games.games() as f64;
        let (win, loss) = (games.wins as f64 / total, games.losses as f64 / total);
        let draw_elo = 200.0 * ((1.0 - loss) / loss * (1.0 - win) / win).log10();
        let log_chances = |elo: f64| {
            let win = expected_score(elo - draw_elo);
            let loss = expected_score(-elo - draw_elo);
            let draw = expected_score(elo + draw_elo) - win;
            [win, draw, loss].map(|p| p.max(f64::MIN_POSITIVE).ln())
        };
        let (null, alternative) = (log_chances(self.elo0), log_chances(self.elo1));
        let counts = [games.wins, games.draws, games.losses];
        (0..3).filter(|&i| counts[i] > 0).map(|i| counts[i] as f64 * (alternative[i] - null[i])).sum()
    }
}

const SCALES: [(Model, &str); 3] =
    [(Model::Normalized, "normalised Elo"), (Model::Logistic, "logistic Elo"), (Model::Bayesian, "BayesElo")];

impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sprt { elo0, elo1, alpha, beta, model } = self;
        let scale = SCALES.iter().find(|(of, _)| of == model).map_or("", |(_, scale)| scale);
        write!(f, "{scale} [{elo0}, {elo1}], alpha {alpha}, beta {beta}")
    }
}

impl<'de> Deserialize<'de> for Sprt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Sprt, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            elo0: f64,
            elo1: f64,
            alpha: f64,
            beta: f64,
            model: Model,
        }
        let Fields { elo0, elo1, alpha, beta, model } = Fields::deserialize(from)?;
        Sprt::new(model, elo0, elo1, alpha, beta).map_err(D::Error::custom)
    }
}

fn logistic<const N: usize>(observed: &Distribution<N>, score0: f64, score1: f64) -> f64 {
    exact(observed, with_mean(observed, score0), with_mean(observed, score1)).unwrap_or_else(|| {
        let twice = 2.0 * observed.mean() - score0 - score1;
        0.5 * observed.count * (score1 - score0) * twice / observed.variance()
    })
}

/// LLR of two t-values (excess over one half in standard deviations of one observation).
fn normalized<const N: usize>(observed: &Distribution<N>, t0: f64, t1: f64) -> f64 {
    exact(observed, with_t(observed, t0), with_t(observed, t1)).unwrap_or_else(|| {
        let t = (observed.mean() - 0.5) / observed.variance().sqrt();
        // ½ ln((1 + (t − t₀)²) / (1 + (t − t₁)²)), safe from overflow.
        let each = |bound: f64| 1f64.hypot(t - bound).ln();
        observed.count * (each(t0) - each(t1))
    })
}

fn exact<const N: usize>(
    observed: &Distribution<N>,
    null: Option<Distribution<N>>,
    alternative: Option<Distribution<N>>,
) -> Option<f64> {
    Some(log_ratio(observed, &alternative?, &null?)).filter(|llr| llr.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pentanomial;
    use patzer_io::Named;

    fn llr(model: Model, bounds: [f64; 2], counts: impl Into<ResultCounts>) -> f64 {
        Sprt::new(model, bounds[0], bounds[1], 0.05, 0.05).unwrap().llr(counts)
    }

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-4 * want.abs(), "{got} is not {want}");
    }

    #[test]
    fn models_have_the_names_that_files_have() {
        let names = [Model::Normalized, Model::Logistic, Model::Bayesian].map(Model::name);
        assert_eq!(names, ["normalized", "logistic", "bayesian"]);
        assert!(names.iter().all(|name| name.parse::<Model>().is_ok()));
    }

    #[test]
    fn pentanomial_ratios_match_published_values() {
        // Published values, computed by independent implementations.
        use Model::{Logistic, Normalized};
        for (model, bounds, counts, want) in [
            (Normalized, [0.0, 2.0], [365, 16618, 36229, 16974, 390], 2.250368),
            (Normalized, [-1.75, 0.25], [127, 4883, 10712, 5150, 104], 3.010154),
            (Normalized, [0.0, 5.0], [0, 0, 0, 0, 5550], 111.797555),
            (Logistic, [0.5, 2.5], [223, 9863, 21279, 10037, 246], -3.074126),
            (Logistic, [0.0, 2.0], [871, 26175, 55983, 26678, 821], -4.978673),
            (Logistic, [-3.0, 1.0], [10789, 19328, 33806, 19402, 10543], 2.131068),
            // Lopsided; from an independent iteration of the same conditions with scipy's root finder.
            (Normalized, [0.0, 5.0], [0, 3, 13, 10, 84], 1.974_925_4),
            (Normalized, [0.0, 5.0], [50, 15, 42, 3, 0], -1.617_423_8),
            (Normalized, [0.0, 5.0], [96, 0, 8, 6, 0], -2.079_972_5),
        ] {
            close(llr(model, bounds, Pentanomial(counts)), want);
        }
    }

    #[test]
    fn every_pair_of_a_one_sided_test_moves_the_ratio_as_far_as_the_first() {
        // From the published first pair and 5,550th: −0.020569, and 111.797555 / 5550 = 0.0201437.
        let each = |counts: [u64; 5], pairs: u64| {
            llr(Model::Normalized, [0.0, 5.0], Pentanomial(counts)) / pairs as f64
        };
        for pairs in (1..=600).chain([5_550, 100_000]) {
            let (lost, won) = (each([pairs, 0, 0, 0, 0], pairs), each([0, 0, 0, 0, pairs], pairs));
            assert!(
                (lost + 0.020569).abs() < 2e-5 && (won - 0.0201437).abs() < 2e-5,
                "{pairs}: {lost}, {won}"
            );
        }
        let first = |counts| llr(Model::Normalized, [0.0, 5.0], Pentanomial(counts));
        assert!((first([0, 0, 1, 0, 0]) + 0.000215).abs() < 5.1e-7);
        close(first([1, 0, 0, 0, 0]), -0.020569);
    }

    #[test]
    fn trinomial_ratios_match_published_values() {
        let games = |wins, losses, draws| Trinomial { wins, draws, losses };
        close(llr(Model::Normalized, [0.0, 2.0], games(36433, 36027, 68692)), 0.923293);
        close(llr(Model::Logistic, [0.5, 2.5], games(21404, 21184, 40708)), -1.571889);
        close(llr(Model::Bayesian, [0.0, 2.0], games(68965, 68526, 128429)), -1.262156);
    }

    #[test]
    fn bounds_follow_wald() {
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        close(test.upper(), 2.944439);
        close(test.lower(), -2.944439);
        let test = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.1).unwrap();
        close(test.upper(), 18f64.ln());
        close(test.lower(), (2.0f64 / 19.0).ln());
        assert_eq!(test.verdict(2.9), Verdict::H1);
        assert_eq!(test.verdict(-2.26), Verdict::H0);
        assert_eq!(test.verdict(0.0), Verdict::Undecided);
    }

    #[test]
    fn senseless_tests_are_refused() {
        for (elo0, elo1, alpha, beta) in [
            (5.0, 0.0, 0.05, 0.05),
            (1.0, 1.0, 0.05, 0.05),
            (f64::NAN, 1.0, 0.05, 0.05),
            (0.0, f64::INFINITY, 0.05, 0.05),
            (0.0, 5.0, 0.0, 0.05),
            (0.0, 5.0, 0.6, 0.6),
        ] {
            assert!(Sprt::new(Model::Logistic, elo0, elo1, alpha, beta).is_err());
        }
    }

    #[test]
    fn a_test_is_read_back_from_its_fields() {
        for (model, elo0, elo1) in
            [(Model::Normalized, 0.0, 5.0), (Model::Logistic, -3.5, 1.0), (Model::Bayesian, -1e-3, 0.125)]
        {
            let test = Sprt::new(model, elo0, elo1, 0.05, 0.1).unwrap();
            let text = serde_json::to_string(&test).unwrap();
            assert_eq!(serde_json::from_str::<Sprt>(&text).unwrap(), test);
            for bad in ["", &text.replace("0.1", "1.5"), &text.replace("model", "scale"), "{\"elo0\":0.0}"] {
                assert!(serde_json::from_str::<Sprt>(bad).is_err(), "{bad}");
            }
        }
    }
}
