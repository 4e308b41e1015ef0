//! Stages of a recipe, and the keys in which recipes differ.

use super::{Settings, suggested};

impl Settings {
    /// The settings of each stage; without stages, these. The error names the stage.
    pub fn stages(&self) -> std::result::Result<Vec<Settings>, (usize, String)> {
        let base = Settings { stage: Vec::new(), ..self.clone() };
        if self.stage.is_empty() {
            return Ok(vec![base]);
        }
        let table = toml::Table::try_from(&base).map_err(|e| (1, e.to_string()))?;
        let stage = |(at, changes): (usize, &toml::Table)| {
            let fault = |reason: &str| Err((at + 1, reason.to_string()));
            let stage = match Settings::overridden(&table, changes) {
                Ok(stage) => stage,
                Err(e) => return fault(&suggested(e.message())),
            };
            if stage.architecture() != base.architecture() || stage.factoriser != base.factoriser {
                return fault("the network is the same in all stages: its keys are those of the recipe");
            }
            if ["start", "start_layout"].iter().any(|key| changes.contains_key(*key))
                || !stage.stage.is_empty()
            {
                return fault("`start`, `start_layout` and `stage` are keys of the recipe");
            }
            stage.check().map_err(|(_, reason)| (at + 1, reason))?;
            Ok(stage)
        };
        self.stage.iter().enumerate().map(stage).collect()
    }

    /// Keys whose values differ, as `hidden 32 for 128`.
    pub fn difference(&self, other: &Settings) -> Vec<String> {
        let table = |settings: &Settings| toml::Table::try_from(settings).unwrap_or_default();
        let (own, others) = (table(self), table(other));
        let value = |value: Option<&toml::Value>| match value {
            // f32 values would have the digits of f64.
            Some(toml::Value::Float(x)) => (*x as f32).to_string(),
            Some(value) => value.to_string(),
            None => "none".to_string(),
        };
        let keys: std::collections::BTreeSet<&String> = own.keys().chain(others.keys()).collect();
        let changed = keys.into_iter().filter(|key| own.get(*key) != others.get(*key));
        changed.map(|key| format!("{key} {} for {}", value(own.get(key)), value(others.get(key)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn stages_inherit_the_recipe_and_their_faults_are_named() {
        let text =
            "hidden = 64\nwdl = 0.5\n[[stage]]\nlearning_rate = 0.01\n[[stage]]\nwdl = 0.1\nepochs = 3\n";
        let recipe = Settings::parse(text, Path::new("r.toml")).unwrap();
        let stages = recipe.stages().unwrap();
        assert_eq!(stages.iter().map(|s| (s.hidden, s.wdl)).collect::<Vec<_>>(), [(64, 0.5), (64, 0.1)]);
        assert_eq!((stages[0].learning_rate, stages[1].epochs), (0.01, 3));
        let again = toml::to_string(&recipe).unwrap();
        assert_eq!(Settings::parse(&again, Path::new("r.toml")).unwrap(), recipe);
        for (stage, expected) in [
            ("lamda = 1", "unknown field `lamda`"),
            ("hiden = 1", "unknown field `hiden`; did you mean `hidden`?"),
            ("hidden = 32", "the network is the same in all stages"),
            ("start = \"a.nnue\"", "`start`, `start_layout` and `stage` are keys of the recipe"),
            ("wdl = 7", "wdl = 7: has to be from 0 to 1"),
            ("data = [\"a\"]\nweights = [1.0, 2.0]", "weights: 2 of them for 1 files of `data`"),
        ] {
            let text = format!("[[stage]]\n[[stage]]\n{stage}\n");
            let found = Settings::parse(&text, Path::new("r.toml")).unwrap_err().to_string();
            assert!(found.starts_with(&format!("r.toml: stage 2: {expected}")), "{found}");
        }
    }
}
