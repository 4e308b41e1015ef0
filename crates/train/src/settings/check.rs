//! The values that the keys of a recipe may have.

use patzer_eval::nnue::layout::NamedLayout;
use patzer_fit::optim::Decay;

use super::Settings;
use super::values::{Keep, LossKind};
use crate::layout_file::{is_layout_file, no_such_layout};

/// Key and reason of the first bad value.
pub(super) type Checked = std::result::Result<(), (&'static str, String)>;

impl Settings {
    pub(crate) fn check(&self) -> Checked {
        let whole = |key, value: usize, max: usize| range(key, value as f64, 1.0, max as f64);
        let share = |key, value: f32| range(key, value.into(), 0.0, 1.0);
        self.architecture().check().map_err(|error| (error.key(), error.to_string()))?;
        self.check_start_layout()?;
        whole("epochs", self.epochs, 1_000_000)?;
        share("quantisation_aware", self.quantisation_aware)?;
        range("superbatch", self.superbatch as f64, 0.0, 1e12)?;
        whole("buffer", self.buffer, 1 << 31)?;
        whole("batch", self.batch, 1 << 24)?;
        range("learning_rate", self.learning_rate.into(), 1e-9, 10.0)?;
        if let Some(reason) = self.wdl_points_fault() {
            return Err(("wdl_points", reason));
        }
        if self.schedule != Decay::Constant
            && self.final_learning_rate != Settings::default().final_learning_rate
        {
            range("final_learning_rate", self.final_learning_rate.into(), 0.0, self.learning_rate.into())?;
        }
        let by_factor = matches!(self.schedule, Decay::Exponential | Decay::Step);
        if by_factor && self.epoch_decay.is_none() && self.final_learning_rate == 0.0 {
            let reason =
                "final_learning_rate = 0: `exponential` and `step` fall by factors, which never reach 0";
            return Err(("final_learning_rate", reason.to_string()));
        }
        range("epoch_decay", self.epoch_decay.unwrap_or(1.0).into(), 0.01, 1.0)?;
        for phase in &self.phases {
            whole("epochs", phase.epochs, 1_000_000)?;
            range("from", phase.from.into(), 1e-12, 10.0)?;
            range("to", phase.to.unwrap_or(phase.from).into(), 1e-12, 10.0)?;
        }
        self.check_phases()?;
        self.check_effects()?;
        range("momentum", self.momentum.into(), 0.0, 0.999_999)?;
        range("l2", self.l2.into(), 0.0, 1.0)?;
        range("clip_gradient", self.clip_gradient.into(), 0.0, 1e6)?;
        range("average", self.average.into(), 0.0, 0.999_999)?;
        range("power", self.power.into(), 1.0, 10.0)?;
        range("kappa", self.kappa.into(), 0.0, 1000.0)?;
        range("score_offset", self.score_offset.into(), 0.0, 1000.0)?;
        range("output_offset", self.output_offset.into(), 0.0, 1000.0)?;
        range("asymmetry", self.asymmetry.into(), -0.99, 10.0)?;
        range("l1_activations", self.l1_activations.into(), 0.0, 10.0)?;
        if self.wdl_head && self.loss != LossKind::CrossEntropy {
            return Err(("wdl_head", "wdl_head = true: needs loss = \"cross-entropy\"".to_string()));
        }
        let with_wdl_head = |key: &&str| !(self.wdl_head && *key == "score_offset");
        if let (Some(key), true) = (self.of_power_alone().find(with_wdl_head), self.loss != LossKind::Power) {
            return Err((key, format!("{key}: only with loss = \"power\"")));
        }
        if self.keep == Keep::Last && self.patience > 0 {
            return Err((
                "keep",
                "keep = \"last\": not with patience, which waits for a better epoch".to_string(),
            ));
        }
        range("legal_quantile", self.legal_quantile, 0.0, 0.99)?;
        share("td_lambda", self.td_lambda.unwrap_or(0.0))?;
        for (key, set) in [("loss", self.loss == LossKind::Pqr), ("td_lambda", self.td_lambda.is_some())] {
            if set && self.superbatch > 0 {
                return Err((key, format!("{key}: only for positions in memory (superbatch = 0)")));
            }
            if set && self.wdl_head {
                return Err((key, format!("{key}: not with wdl_head, whose targets are results")));
            }
        }
        self.check_weights(self.data.len())?;
        if !self.weights.is_empty() {
            if self.loss == LossKind::Pqr {
                return Err(("weights", "weights: not with loss = \"pqr\"".to_string()));
            }
            self.weights.iter().try_for_each(|weight| range("weights", (*weight).into(), 1e-6, 1e6))?;
        }
        if let Some(rule) = &self.position_weight {
            let fault = |reason: String| Err(("position_weight", format!("position_weight: {reason}")));
            if self.loss == LossKind::Pqr {
                return fault("not with loss = \"pqr\"".to_string());
            }
            if let Some(reason) = rule.fault() {
                return fault(reason);
            }
        }
        share("wdl", self.wdl)?;
        share("wdl_jitter", self.wdl_jitter.unwrap_or(0.0))?;
        share("final_wdl", self.final_wdl.unwrap_or(0.0))?;
        if let Some(epochs) = self.wdl_epochs {
            // With `positions` the epochs follow from the data.
            let most = if self.positions > 0 { usize::MAX } else { self.epochs };
            range("wdl_epochs", epochs as f64, 1.0, most as f64)?;
        }
        range("k", self.k.unwrap_or(1.0).into(), 0.01, 100.0)?;
        range("output_k", self.output_k.unwrap_or(1.0).into(), 0.01, 100.0)?;
        range("weight_decay", self.weight_decay.into(), 0.0, 100.0)?;
        range("noise", self.noise.into(), 0.0, 10.0)?;
        range("pull", self.pull.into(), 0.0, 100.0)?;
        range("beta1", self.beta1.into(), 0.0, 0.999_999)?;
        range("beta2", self.beta2.into(), 0.0, 0.999_999_9)?;
        range("validation", self.validation, 0.0, 0.5)
    }

    /// Keys of the loss `power` that differ from their defaults.
    fn of_power_alone(&self) -> impl Iterator<Item = &'static str> + use<> {
        let keys = [
            ("score_offset", self.score_offset),
            ("output_offset", self.output_offset),
            ("asymmetry", self.asymmetry),
        ];
        keys.into_iter().filter(|(_, value)| *value != 0.0).map(|(key, _)| key)
    }

    fn check_start_layout(&self) -> Checked {
        let Some(name) = &self.start_layout else { return Ok(()) };
        let fault = |reason: String| Err(("start_layout", format!("start_layout = \"{name}\": {reason}")));
        if self.start.is_none() {
            return fault("there is no `start`".into());
        }
        if NamedLayout::find(name).is_none() && !is_layout_file(name) {
            return fault(no_such_layout(name, &[]));
        }
        Ok(())
    }

    /// Checks that each of the files has a weight, unless none has.
    pub(crate) fn check_weights(&self, files: usize) -> Checked {
        match self.weights.len() {
            0 => Ok(()),
            weights if weights == files => Ok(()),
            weights => Err(("weights", format!("weights: {weights} of them for {files} files of `data`"))),
        }
    }
}

fn range(key: &'static str, value: f64, low: f64, high: f64) -> Checked {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    // The shortest decimal of a value that may have been an f32.
    let [value, low, high] = [value, low, high].map(|x| x as f32);
    Err((key, format!("{key} = {value}: has to be from {low} to {high}")))
}
