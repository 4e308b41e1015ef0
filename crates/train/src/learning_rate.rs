//! Learning-rate schedule of a run: warm-up and decay, or the phases of a recipe.

use super::{Phase, Settings};
use patzer_fit::optim::{Decay, Schedule};

#[derive(Debug, Clone)]
pub(crate) struct LearningRate {
    whole: Schedule,
    phases: Vec<Phase>,
    batches: u64,
}

impl LearningRate {
    pub(crate) fn new(settings: &Settings, batches: usize) -> LearningRate {
        let steps = (batches * settings.epochs) as u64;
        let (start, warmup) = (settings.learning_rate, settings.warmup.min(steps / 10));
        let (end, decay) = match settings.epoch_decay {
            // A decay factor per epoch implies the final rate.
            Some(factor) => {
                let epochs = steps.saturating_sub(1) as f64 / batches.max(1) as f64;
                ((f64::from(start) * f64::from(factor).powf(epochs)) as f32, Decay::Exponential)
            }
            // The default may be above a small rate that a recipe begins with.
            None => (settings.final_learning_rate.min(start), settings.schedule),
        };
        let whole = Schedule { start, end, decay, warmup, steps };
        LearningRate { whole, phases: settings.phases.clone(), batches: batches.max(1) as u64 }
    }

    pub(crate) fn at(&self, step: u64) -> f32 {
        let Some(last) = self.phases.last() else { return self.whole.rate(step) };
        let mut start = 0;
        for phase in &self.phases {
            let length = phase.epochs as u64 * self.batches;
            if step < start + length {
                let done = (step - start) as f64 / length.saturating_sub(1).max(1) as f64;
                let (from, to) = (f64::from(phase.from), f64::from(phase.to.unwrap_or(phase.from)));
                return phase.schedule.between(from, to, done) as f32;
            }
            start += length;
        }
        last.to.unwrap_or(last.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_one_another() {
        let phase = |epochs, from, to, schedule| Phase { epochs, from, to, schedule };
        let phases = vec![
            phase(2, 0.001, Some(0.01), Decay::Linear),
            phase(1, 0.01, None, Decay::Constant),
            phase(2, 0.01, Some(0.0001), Decay::Exponential),
        ];
        let rate = LearningRate::new(&Settings { phases, ..Settings::default() }, 10);
        let expected = [(0, 0.001), (19, 0.01), (20, 0.01), (29, 0.01), (30, 0.01), (49, 1e-4), (70, 1e-4)];
        for (step, expected) in expected {
            assert!((rate.at(step) - expected).abs() < 1e-7, "{step}: {}", rate.at(step));
        }
    }

    #[test]
    fn a_factor_an_epoch_is_that_factor() {
        let (learning_rate, epoch_decay) = (5e-4, Some(0.99));
        let settings = Settings { learning_rate, epoch_decay, warmup: 0, epochs: 7, ..Settings::default() };
        let rate = LearningRate::new(&settings, 100);
        for epoch in 0..7 {
            let expected = 5e-4 * 0.99f64.powi(epoch);
            assert!((f64::from(rate.at(100 * epoch as u64)) - expected).abs() < 1e-9, "{epoch}");
        }
    }
}
