//! Recipes: everything that a training run depends on besides its positions.
//!
//! In: the name of a built-in recipe, or a TOML file. Out: [`Settings`], complete and checked. A file need only
//! name what it changes; an unknown key or a value without sense is an error with its line.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::eval::nnue::network::MAX_HIDDEN;
use crate::optim::Decay;

/// The recipes that are built in, by name.
pub const RECIPES: &[(&str, &str)] = &[
    ("default", include_str!("../../recipes/default.toml")),
    ("small", include_str!("../../recipes/small.toml")),
];

/// What a training run depends on besides its positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Neurons of the hidden layer, 1 to 2048; the speed is best for multiples of 64.
    pub hidden: usize,
    /// Passes over the training positions.
    pub epochs: usize,
    /// Positions for each step; a pass is cut into equal batches of at most this size.
    pub batch: usize,
    /// Learning rate after the warm-up.
    pub learning_rate: f32,
    /// Learning rate at the last step.
    pub final_learning_rate: f32,
    /// How the learning rate falls: `cosine`, `linear`, `step` or `constant`.
    pub schedule: Decay,
    /// Steps over which the learning rate climbs at the start.
    pub warmup: u64,
    /// Weight of the game's result in the target, 0 to 1; the rest is the score's. A position without a score
    /// has the result alone.
    pub wdl: f32,
    /// K of the sigmoid σ(K·s/400) between the scores' centipawns and expected results; `None` is 1 here; `patzer tune`
    /// fits it to the data first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<f32>,
    /// Decoupled weight decay, in units of the learning rate; the fewer the positions, the more helps.
    pub weight_decay: f32,
    /// Decay of the mean gradient (Adam's β1).
    pub beta1: f32,
    /// Decay of the mean squared gradient (Adam's β2).
    pub beta2: f32,
    /// Seed of the first weights and of the order of the positions.
    pub seed: u64,
    /// Share of the games that is kept for validation, 0 to 0.5.
    pub validation: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            hidden: 128,
            epochs: 16,
            batch: 8_192,
            learning_rate: 0.000_6,
            final_learning_rate: 0.000_01,
            schedule: Decay::Cosine,
            warmup: 100,
            wdl: 0.2,
            k: None,
            weight_decay: 0.1,
            beta1: 0.9,
            beta2: 0.999,
            seed: 0,
            validation: 0.05,
        }
    }
}

impl Settings {
    /// Reads a recipe: the name of a built-in one, or the path of a TOML file.
    ///
    /// # Errors
    /// If there is neither, or the file has an unknown key or a value without sense.
    pub fn load(name_or_path: &str) -> Result<Settings> {
        if let Some((_, text)) = RECIPES.iter().find(|(name, _)| *name == name_or_path) {
            return Settings::parse(text, Path::new(name_or_path));
        }
        let path = Path::new(name_or_path);
        if !path.exists() && path.extension().is_none() {
            let names: Vec<&str> = RECIPES.iter().map(|(name, _)| *name).collect();
            return Err(Error::usage(format!(
                "{name_or_path}: no recipe of this name ({}) and no such file",
                names.join(", ")
            )));
        }
        Settings::parse(&crate::io::read_text(path)?, path)
    }

    /// Reads the text of a recipe; `path` is for the error message.
    ///
    /// # Errors
    /// If it has an unknown key or a value without sense.
    pub fn parse(text: &str, path: &Path) -> Result<Settings> {
        let settings: Settings = toml::from_str(text).map_err(|e| {
            let line = text[..e.span().map_or(0, |span| span.start)].matches('\n').count() + 1;
            Error::at(path, format!("line {line}"), e.message().replace('\n', " "))
        })?;
        settings.check().map_err(|(key, reason)| {
            let line = text.lines().position(|line| {
                line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
            });
            match line {
                Some(line) => Error::at(path, format!("line {}", line + 1), reason),
                None => Error::data(path, reason),
            }
        })?;
        Ok(settings)
    }

    /// Checks that every value makes sense.
    ///
    /// # Errors
    /// If one does not; names it.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|(_, reason)| Error::usage(reason))
    }

    /// The first value without sense: its key, and what is wrong.
    fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        let whole = |key, value: usize, max: usize| range(key, value as f64, 1.0, max as f64);
        let share = |key, value: f32| range(key, value.into(), 0.0, 1.0);
        whole("hidden", self.hidden, MAX_HIDDEN)?;
        whole("epochs", self.epochs, 1_000_000)?;
        whole("batch", self.batch, 1 << 24)?;
        range("learning_rate", self.learning_rate.into(), 1e-9, 10.0)?;
        range("final_learning_rate", self.final_learning_rate.into(), 0.0, self.learning_rate.into())?;
        share("wdl", self.wdl)?;
        range("k", self.k.unwrap_or(1.0).into(), 0.01, 100.0)?;
        range("weight_decay", self.weight_decay.into(), 0.0, 100.0)?;
        range("beta1", self.beta1.into(), 0.0, 0.999_999)?;
        range("beta2", self.beta2.into(), 0.0, 0.999_999_9)?;
        range("validation", self.validation, 0.0, 0.5)
    }
}

fn range(
    key: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> std::result::Result<(), (&'static str, String)> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((key, format!("{key} = {}: has to be from {} to {}", short(value), short(low), short(high))))
}

/// A number as a person would write it, although it may have been a 32-bit one.
fn short(value: f64) -> String {
    format!("{}", value as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Settings::parse(text, Path::new("r.toml")).unwrap_err().to_string()
    }

    #[test]
    fn the_recipe_named_default_is_the_default() {
        assert_eq!(Settings::load("default").unwrap(), Settings::default());
    }

    #[test]
    fn every_built_in_recipe_reads() {
        for (name, _) in RECIPES {
            Settings::load(name).unwrap().validate().unwrap();
        }
    }

    #[test]
    fn a_recipe_need_only_name_what_it_changes() {
        let settings = Settings::parse("hidden = 64\nschedule = \"step\"\n", Path::new("r.toml")).unwrap();
        assert_eq!(settings, Settings { hidden: 64, schedule: Decay::Step, ..Settings::default() });
    }

    #[test]
    fn faults_are_reported_with_their_line() {
        assert!(error("hidden = 64\nlayers = 3\n").starts_with("r.toml: line 2: unknown field `layers`"));
        assert_eq!(error("\nwdl = 1.5\n"), "r.toml: line 2: wdl = 1.5: has to be from 0 to 1");
        assert!(error("hidden = 0\n").starts_with("r.toml: line 1: hidden = 0"));
        assert!(error("epochs = \"many\"\n").starts_with("r.toml: line 1: invalid type"));
        assert!(error("k = nan\n").contains("k = NaN"));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Settings::load("huge").unwrap_err();
        assert_eq!(error.to_string(), "huge: no recipe of this name (default, small) and no such file");
        assert_eq!(error.exit_code(), 1);
        assert_eq!(Settings::load("none.toml").unwrap_err().to_string(), "none.toml: no such file");
    }
}
