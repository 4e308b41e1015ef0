//! Win/draw/loss model: the side to move with score x wins with W(x) = 1 / (1 + exp((a − x) / b)) and loses
//! with L(x) = W(−x); a and b are cubic in material / target or move number / target, and a is the score that
//! wins half of the games. Source: Stockfish's `win_rate_model` and the fitting scripts in
//! official-stockfish/WDL_model.

use patzer_chess::score::logistic;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WdlModel {
    /// Coefficients of a, in centipawns, highest power first.
    pub a: [f64; 4],
    pub b: [f64; 4],
    /// Material or move number at which a and b are the sums of their coefficients; above 0.
    pub target: f64,
}

impl WdlModel {
    pub fn at(&self, row: f64) -> (f64, f64) {
        let m = row / self.target;
        let cubic = |c: &[f64; 4]| ((c[0] * m + c[1]) * m + c[2]) * m + c[3];
        (cubic(&self.a), cubic(&self.b))
    }

    pub fn chances(&self, row: f64, cp: f64) -> [f64; 3] {
        let (a, b) = self.at(row);
        chances(a, b, cp)
    }

    /// a at the target, in centipawns: Stockfish's `NormalizeToPawnValue`.
    pub fn normalize_to_pawn_value(&self) -> f64 {
        self.a.iter().sum()
    }

    pub fn spread(&self) -> f64 {
        self.b.iter().sum()
    }

    /// Probability of a draw at the target and score 0.
    pub fn draw_rate(&self) -> f64 {
        self.chances(self.target, 0.0)[1]
    }
}

pub fn chances(a: f64, b: f64, cp: f64) -> [f64; 3] {
    let win = logistic((cp - a) / b);
    let loss = logistic((-cp - a) / b);
    [win, (1.0 - win - loss).max(0.0), loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_has_its_known_values() {
        let model =
            WdlModel { a: [-40.0, 120.0, -130.0, 400.0], b: [90.0, -140.0, 70.0, 50.0], target: 58.0 };
        assert_eq!((model.normalize_to_pawn_value(), model.spread()), (350.0, 70.0));
        assert_eq!(model.at(58.0), (350.0, 70.0));
        let (a, b) = model.at(29.0);
        assert_eq!((a, b), (-5.0 + 30.0 - 65.0 + 400.0, 11.25 - 35.0 + 35.0 + 50.0));
        let [win, draw, loss] = model.chances(29.0, a);
        assert!((win - 0.5).abs() < 1e-12 && (win + draw + loss - 1.0).abs() < 1e-12);
        // 1 − 2 / (1 + e^5)
        assert!((model.draw_rate() - 0.986_614_298_151_430_3).abs() < 1e-12);
        let [w, d, l] = model.chances(30.0, -123.0);
        assert_eq!(model.chances(30.0, 123.0), [l, d, w]);
    }
}
