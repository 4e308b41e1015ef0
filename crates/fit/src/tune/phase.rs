//! The phase formula of a terms file: from the phase field of a trace to the share of the midgame.

use serde::{Deserialize, Serialize};

use patzer_io::error::{Error, Result};

/// Weights of the pieces of both sides, and the sum of a full midgame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    #[serde(default)]
    pub p: f64,
    #[serde(default)]
    pub n: f64,
    #[serde(default)]
    pub b: f64,
    #[serde(default)]
    pub r: f64,
    #[serde(default)]
    pub q: f64,
    pub total: f64,
    /// Least and largest share of the midgame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clamp: Option<[f64; 2]>,
}

impl Phase {
    /// Divides phases by `total` and does nothing else.
    pub fn of(total: f64) -> Phase {
        Phase { p: 0.0, n: 0.0, b: 0.0, r: 0.0, q: 0.0, total, clamp: None }
    }

    pub(super) fn check(&self) -> Result<()> {
        let fault = |reason: &str| Err(Error::input(format!("`phase`: {reason}")));
        if !(self.total.is_finite() && self.total > 0.0) {
            return fault("`total` has to be above 0");
        }
        if ![self.p, self.n, self.b, self.r, self.q].iter().all(|weight| weight.is_finite()) {
            return fault("the weights of the pieces have to be numbers");
        }
        if self.clamp.is_some_and(|[low, high]| !(low.is_finite() && high.is_finite() && low <= high)) {
            return fault("`clamp` has to be the least and the largest share");
        }
        Ok(())
    }

    /// Share of the midgame of a phase in units of `total`.
    pub fn share(&self, phase: f64) -> f32 {
        let share = phase / self.total;
        self.clamp.map_or(share, |[low, high]| share.clamp(low, high)) as f32
    }

    /// The phase of the pieces of both sides, such as `n4b4r4q2`.
    pub(super) fn of_pieces(&self, text: &[u8]) -> Option<f64> {
        let (mut sum, mut rest) = (0.0, text);
        while let [piece, digits @ ..] = rest {
            let weight = match piece {
                b'p' => self.p,
                b'n' => self.n,
                b'b' => self.b,
                b'r' => self.r,
                b'q' => self.q,
                _ => return None,
            };
            let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let count: u8 = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
            sum += weight * f64::from(count);
            rest = &digits[length..];
        }
        (!text.is_empty()).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_numbers_become_shares_within_the_clamp() {
        let phase = Phase { n: 1.0, b: 1.0, r: 2.0, q: 4.0, clamp: Some([0.0, 1.0]), ..Phase::of(24.0) };
        let share = |text: &[u8]| phase.of_pieces(text).map(|sum| phase.share(sum));
        assert_eq!(share(b"n4b4r4q2"), Some(1.0));
        assert_eq!(share(b"q1r1p16"), Some(0.25));
        assert_eq!(share(b"q9"), Some(1.0));
        assert_eq!([b"", &b"n"[..], b"k1", b"n-1", b"4n"].map(share), [None; 5]);
        assert_eq!((phase.share(30.0), Phase::of(24.0).share(30.0)), (1.0, 1.25));
    }
}
