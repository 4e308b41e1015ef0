//! λ over a run: the weight of the game result in the target.

use patzer_chess::rng;

use super::Settings;

/// Piecewise linear λ by steps, with a random deviation for each step of training.
#[derive(Debug, Clone)]
pub(crate) struct WdlSchedule {
    /// Steps and λ, by steps.
    points: Vec<(f32, f32)>,
    /// Largest deviation, and its seed.
    jitter: (f32, u64),
}

impl WdlSchedule {
    /// A schedule over `steps`, with `batches` steps an epoch.
    pub(crate) fn new(settings: &Settings, batches: usize, steps: u64, seed: u64) -> WdlSchedule {
        let points = match settings.wdl_points.is_empty() {
            false => settings.wdl_points.iter().map(|[epoch, wdl]| (epoch * batches as f32, *wdl)).collect(),
            true => {
                let length = settings.wdl_epochs.map_or(steps, |epochs| (batches * epochs) as u64);
                let last = settings.final_wdl.unwrap_or(settings.wdl);
                vec![(0.0, settings.wdl), (length.clamp(1, steps.max(1)) as f32, last)]
            }
        };
        WdlSchedule { points, jitter: (settings.wdl_jitter.unwrap_or(0.0), seed) }
    }

    /// λ of the schedule: that of the first point before it, that of the last after it.
    pub(crate) fn at(&self, step: u64) -> f32 {
        let step = step as f32;
        let next = self.points.iter().position(|(at, _)| step < *at);
        match next {
            Some(0) => self.points[0].1,
            None => self.points.last().map_or(0.0, |(_, wdl)| *wdl),
            Some(next) => {
                let ((from, start), (to, end)) = (self.points[next - 1], self.points[next]);
                start + (end - start) * ((step - from) / (to - from))
            }
        }
    }

    /// λ of a training step.
    pub(crate) fn drawn(&self, step: u64) -> f32 {
        let (most, seed) = self.jitter;
        let share = 2.0 * rng::unit(rng::mix(seed, step)) as f32 - 1.0;
        (self.at(step) + most * share).clamp(0.0, 1.0)
    }
}

impl Settings {
    /// λ of the first step.
    pub(crate) fn first_wdl(&self) -> f32 {
        self.wdl_points.first().map_or(self.wdl, |[_, wdl]| *wdl)
    }

    /// Finds the first fault of the points of λ.
    pub(crate) fn wdl_points_fault(&self) -> Option<String> {
        let sound = |[epoch, wdl]: &[f32; 2]| epoch.is_finite() && *epoch >= 0.0 && (0.0..=1.0).contains(wdl);
        if let Some([epoch, wdl]) = self.wdl_points.iter().find(|point| !sound(point)) {
            return Some(format!("wdl_points: [{epoch}, {wdl}] has to be an epoch from 0 and λ from 0 to 1"));
        }
        let rising = self.wdl_points.is_sorted_by(|[a, _], [b, _]| a < b);
        (!rising).then(|| "wdl_points: epochs have to rise from point to point".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_joined_by_lines() {
        let wdl_points = vec![[1.0, 0.2], [3.0, 0.6], [4.0, 0.0]];
        let schedule = WdlSchedule::new(&Settings { wdl_points, ..Settings::default() }, 10, 60, 0);
        let expected = [(0, 0.2), (10, 0.2), (20, 0.4), (30, 0.6), (35, 0.3), (40, 0.0), (59, 0.0)];
        for (step, wdl) in expected {
            assert!((schedule.at(step) - wdl).abs() < 1e-6, "{step}: {}", schedule.at(step));
        }
        assert_eq!(schedule.drawn(20), schedule.at(20));
        let settings = Settings { wdl: 0.2, final_wdl: Some(0.8), ..Settings::default() };
        let two = WdlSchedule::new(&settings, 10, 60, 0);
        assert_eq!((two.at(0), two.at(60)), (0.2, 0.8));
        assert!((two.at(30) - 0.5).abs() < 1e-6);
        let jitter = WdlSchedule::new(&Settings { wdl_jitter: Some(0.1), ..settings }, 10, 60, 0);
        assert!((0..60).all(|step| (jitter.drawn(step) - two.at(step)).abs() <= 0.1));
        assert!((0..60).any(|step| (jitter.drawn(step) - two.at(step)).abs() > 0.05));
    }
}
