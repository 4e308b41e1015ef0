//! Phases of a piecewise learning rate.

use serde::{Deserialize, Serialize};

use super::Settings;
use super::check::Checked;
use patzer_fit::optim::Decay;

/// Phase of a piecewise learning-rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Length in epochs; the last phase lasts to the end of the run.
    pub epochs: usize,
    /// Learning rate at its first step.
    pub from: f32,
    /// Learning rate at its last step; default `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f32>,
    /// Interpolation between both; default linear.
    #[serde(default = "linear")]
    pub schedule: Decay,
}

fn linear() -> Decay {
    Decay::Linear
}

impl Settings {
    /// Keys without effect beside `phases`, and whether they differ from their default.
    fn replaced_by_phases(&self) -> [(&'static str, bool); 6] {
        let default = Settings::default();
        [
            ("learning_rate", self.learning_rate != default.learning_rate),
            ("final_learning_rate", self.final_learning_rate != default.final_learning_rate),
            ("schedule", self.schedule != default.schedule),
            ("warmup", self.warmup != default.warmup),
            ("epoch_decay", self.epoch_decay.is_some()),
            ("positions", self.positions > 0),
        ]
    }

    fn epochs_of_phases(&self) -> usize {
        self.phases.iter().map(|phase| phase.epochs).sum()
    }

    pub(super) fn check_phases(&self) -> Checked {
        if self.phases.is_empty() {
            return Ok(());
        }
        if let Some((key, _)) = self.replaced_by_phases().into_iter().find(|(_, set)| *set) {
            return Err((key, format!("{key}: not with phases, which name epochs and learning rates")));
        }
        match (self.epochs, self.epochs_of_phases()) {
            (epochs, sum) if epochs == sum => Ok(()),
            (epochs, sum) => Err(("epochs", format!("epochs = {epochs}: the phases have {sum} together"))),
        }
    }

    /// Lasts as long as the phases unless `named` has `epochs`.
    pub(super) fn lasting(mut self, named: &toml::Table) -> Settings {
        if !self.phases.is_empty() && !named.contains_key("epochs") {
            self.epochs = self.epochs_of_phases();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASES: &str = "phases = [{ epochs = 2, from = 1e-3 }, { epochs = 1, from = 1e-4 }]\n";

    fn parsed(text: &str) -> Result<Settings, String> {
        Settings::parse(text, std::path::Path::new("r.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn settings_without_effect_beside_phases_are_refused() {
        for (key, value) in [
            ("learning_rate", "0.1"),
            ("final_learning_rate", "0.0"),
            ("schedule", "\"step\""),
            ("warmup", "0"),
            ("epoch_decay", "0.9"),
            ("positions", "10"),
        ] {
            let expected = format!("{key}: not with phases, which name epochs and learning rates");
            let line = format!("{key} = {value}\n");
            assert_eq!(
                parsed(&(PHASES.to_string() + &line)).unwrap_err(),
                format!("r.toml: line 2: {expected}")
            );
            let set = parsed(PHASES).unwrap().with(&[line]).unwrap_err().to_string();
            assert_eq!(set, expected);
        }
    }

    #[test]
    fn a_run_lasts_as_long_as_its_phases() {
        let recipe = parsed(PHASES).unwrap();
        assert_eq!(recipe.epochs, 3);
        assert_eq!(parsed(&toml::to_string(&recipe).unwrap()).unwrap(), recipe);
        assert_eq!(parsed(&format!("epochs = 3\n{PHASES}")).unwrap(), recipe);
        let fault = parsed(&format!("wdl = 0.5\nepochs = 16\n{PHASES}")).unwrap_err();
        assert_eq!(fault, "r.toml: line 2: epochs = 16: the phases have 3 together");
    }

    #[test]
    fn new_phases_replace_the_learning_rate_of_the_recipe() {
        let thesis = Settings::load("thesis").unwrap();
        let set = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
            thesis.with(&changes).map_err(|e| e.to_string())
        };
        let changed = set(&[PHASES.trim()]).unwrap();
        assert_eq!((changed.epochs, changed.epoch_decay, changed.power), (3, None, thesis.power));
        assert!(set(&["epoch_decay=0.9", PHASES.trim()]).unwrap_err().starts_with("epoch_decay: not with"));
        let staged = format!("learning_rate = 0.1\n[[stage]]\nepochs = 5\n[[stage]]\n{PHASES}");
        let stages = parsed(&staged).unwrap().stages().unwrap();
        assert_eq!(stages.iter().map(|stage| stage.epochs).collect::<Vec<_>>(), [5, 3]);
        let fault = parsed(&format!("{PHASES}[[stage]]\nwarmup = 7\n")).unwrap_err();
        assert!(fault.starts_with("r.toml: stage 1: warmup: not with phases"), "{fault}");
    }
}
