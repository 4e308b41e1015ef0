//! Learning-rate schedules: linear warm-up, then decay. Source of the cosine: Loshchilov and Hutter, "SGDR:
//! Stochastic Gradient Descent with Warm Restarts" (2017), without restarts.

use serde::{Deserialize, Serialize};

patzer_io::named! {
    /// Fall of the learning rate.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Decay {
        Cosine: "cosine", "Half a cosine from `start` to `end`";
        Linear: "linear", "A straight line from `start` to `end`";
        Exponential: "exponential", "By the same factor every step, from `start` to `end`";
        Step: "step", "Five equal stages, each lower than the last by the same factor, from `start` to `end`";
        Constant: "constant", "No change";
    }
}

const STAGES: f64 = 5.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Learning rate after the warm-up.
    pub start: f32,
    pub end: f32,
    pub decay: Decay,
    pub warmup: u64,
    pub steps: u64,
}

impl Schedule {
    /// Learning rate of a step, from 0.
    pub fn rate(&self, step: u64) -> f32 {
        let (start, end) = (f64::from(self.start), f64::from(self.end));
        if step < self.warmup {
            return (start * (step + 1) as f64 / self.warmup as f64) as f32;
        }
        let length = self.steps.saturating_sub(self.warmup + 1).max(1);
        let done = ((step - self.warmup) as f64 / length as f64).min(1.0);
        self.decay.between(start, end, done) as f32
    }
}

impl Decay {
    /// Learning rate at a share `done` of the way, 0 to 1.
    pub fn between(self, start: f64, end: f64, done: f64) -> f64 {
        match self {
            Decay::Cosine => end + (start - end) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
            Decay::Linear => start + (end - start) * done,
            Decay::Exponential => start * (end / start).powf(done),
            Decay::Step => {
                let stage = (done * STAGES).floor().min(STAGES - 1.0);
                start * (end / start).powf(stage / (STAGES - 1.0))
            }
            Decay::Constant => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(decay: Decay) -> Schedule {
        Schedule { start: 0.01, end: 0.0001, decay, warmup: 10, steps: 111 }
    }

    #[test]
    fn the_warm_up_climbs_to_the_start() {
        let schedule = schedule(Decay::Cosine);
        assert!((schedule.rate(0) - 0.001).abs() < 1e-8);
        assert!((schedule.rate(9) - 0.01).abs() < 1e-8);
        assert!((schedule.rate(10) - 0.01).abs() < 1e-8);
    }

    #[test]
    fn every_way_down_ends_at_the_end() {
        for decay in [Decay::Cosine, Decay::Linear, Decay::Exponential, Decay::Step] {
            let schedule = schedule(decay);
            assert!((schedule.rate(110) - 0.0001).abs() < 1e-8, "{decay:?}");
            assert!((10..110).all(|step| schedule.rate(step + 1) <= schedule.rate(step)), "{decay:?}");
        }
        assert_eq!(schedule(Decay::Constant).rate(110), 0.01);
    }

    #[test]
    fn halfway_the_cosine_is_at_the_mean() {
        assert!((schedule(Decay::Cosine).rate(60) - 0.00505).abs() < 1e-6);
    }
}
