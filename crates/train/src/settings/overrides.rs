//! Keys that replace others where a stage or `--set` names them, and keys without effect beside others.

use serde::de::Error as _;
use toml::{Table, Value};

use super::Settings;
use super::check::Checked;
use super::values::{LossKind, OptimiserKind};

/// Keys, and the recipe's keys that each replaces.
const REPLACED: [(&str, &[&str]); 9] = [
    ("wdl_points", &["wdl", "final_wdl", "wdl_epochs"]),
    ("wdl", &["wdl_points"]),
    ("final_wdl", &["wdl_points"]),
    (
        "phases",
        &["learning_rate", "final_learning_rate", "schedule", "warmup", "epoch_decay", "positions", "epochs"],
    ),
    ("epochs", &["positions"]),
    ("positions", &["epochs"]),
    ("schedule", &["epoch_decay"]),
    ("final_learning_rate", &["epoch_decay"]),
    ("epoch_decay", &["schedule", "final_learning_rate"]),
];

impl Settings {
    /// Overrides keys of `table`. A named key also replaces what has no effect beside it; two such keys are an error.
    pub(super) fn overridden(table: &Table, changes: &Table) -> Result<Settings, toml::de::Error> {
        let both = |pair: &&[&str; 2]| pair.iter().all(|key| changes.contains_key(*key));
        if let Some([key, other]) = EXCLUSIVE.iter().find(both) {
            return Err(toml::de::Error::custom(not_with(key, other)));
        }
        let mut table = table.clone();
        let named = REPLACED.iter().filter(|(key, _)| changes.contains_key(*key));
        for key in named.flat_map(|(_, replaced)| *replaced) {
            table.remove(*key);
        }
        let says = |key: &str| changes.get(key).and_then(Value::as_str);
        let buckets = |key: &str| changes.get(key).and_then(Value::as_integer);
        let without_effect: [(bool, &[&str]); 6] = [
            (says("optimiser") == Some("sgd"), &["weight_decay", "beta1", "beta2"]),
            (says("optimiser").is_some_and(|name| name != "sgd"), &["momentum"]),
            (says("loss").is_some_and(|loss| loss != "power"), &["power"]),
            (says("loss").is_some_and(|loss| loss != "pqr"), &["kappa", "legal_quantile"]),
            (buckets("output_buckets") == Some(1), &["output_by"]),
            (says("king_buckets") == Some("none"), &["factoriser"]),
        ];
        for key in without_effect.iter().filter(|(named, _)| *named).flat_map(|(_, keys)| *keys) {
            table.remove(*key);
        }
        table.extend(changes.clone());
        let settings: Settings = table.try_into()?;
        Ok(if changes.contains_key("phases") { settings.lasting(changes) } else { settings })
    }

    /// Checks that a recipe which names `epochs` leaves them to them.
    pub(super) fn check_named(&self, named: &Table) -> Checked {
        let epochs = named.contains_key("epochs") && self.epochs != Settings::default().epochs;
        if epochs && self.positions > 0 {
            return Err(("epochs", not_with("epochs", "positions")));
        }
        Ok(())
    }

    /// Checks for values other than the default of keys that have no effect.
    pub(super) fn check_effects(&self) -> Checked {
        let default = Settings::default();
        let last = default.final_learning_rate.min(self.learning_rate);
        let (decays, points) = (self.epoch_decay.is_some(), !self.wdl_points.is_empty());
        let sgd = self.optimiser == OptimiserKind::Sgd && self.weight_decay != 0.0;
        for (key, other, both) in [
            ("wdl", "wdl_points", points && self.wdl != default.wdl),
            ("final_wdl", "wdl_points", points && self.final_wdl.is_some()),
            ("schedule", "epoch_decay", decays && self.schedule != default.schedule),
            ("final_learning_rate", "epoch_decay", decays && self.final_learning_rate != last),
            ("weight_decay", "optimiser = \"sgd\"", sgd && self.weight_decay != default.weight_decay),
        ] {
            if both {
                return Err((key, not_with(key, other)));
            }
        }
        let (sgd, pqr) = (self.optimiser == OptimiserKind::Sgd, self.loss == LossKind::Pqr);
        let other = "another `optimiser` than sgd";
        for (key, needs, alone) in [
            ("power", "loss = \"power\"", self.power != default.power && self.loss != LossKind::Power),
            ("kappa", "loss = \"pqr\"", self.kappa != default.kappa && !pqr),
            ("legal_quantile", "loss = \"pqr\"", self.legal_quantile != default.legal_quantile && !pqr),
            ("wdl_epochs", "final_wdl", self.wdl_epochs.is_some() && self.final_wdl.is_none()),
            ("momentum", "optimiser = \"sgd\"", self.momentum != default.momentum && !sgd),
            ("beta1", other, self.beta1 != default.beta1 && sgd),
            ("beta2", other, self.beta2 != default.beta2 && sgd),
            ("output_by", "output_buckets", self.output_by != default.output_by && self.output_buckets == 1),
            ("factoriser", "king_buckets", self.factoriser && !self.factorised()),
        ] {
            if alone {
                return Err((key, format!("{key}: only with {needs}")));
            }
        }
        Ok(())
    }

    /// Checks that TD(λ), which changes results, has a share of them to change.
    pub(crate) fn check_td_lambda(&self) -> Checked {
        let shares = [Some(self.first_wdl()), self.final_wdl, self.wdl_jitter];
        let points = self.wdl_points.iter().map(|[_, wdl]| *wdl);
        if self.td_lambda.is_some() && shares.into_iter().flatten().chain(points).all(|share| share == 0.0) {
            let reason = "td_lambda: changes results, whose share `wdl` is 0; set `wdl` too";
            return Err(("td_lambda", reason.to_string()));
        }
        Ok(())
    }
}

/// Pairs of keys of which one has no effect.
const EXCLUSIVE: [[&str; 2]; 5] = [
    ["epochs", "positions"],
    ["schedule", "epoch_decay"],
    ["final_learning_rate", "epoch_decay"],
    ["wdl", "wdl_points"],
    ["final_wdl", "wdl_points"],
];

fn not_with(key: &str, other: &str) -> String {
    format!("{key}: not with {other}, beside which it has no effect")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parsed(text: &str) -> Result<Settings, String> {
        Settings::parse(text, Path::new("r.toml")).map_err(|e| e.to_string())
    }

    fn set(recipe: &Settings, changes: &[&str]) -> Result<Settings, String> {
        let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
        recipe.with(&changes).map_err(|e| e.to_string())
    }

    #[test]
    fn keys_of_which_one_has_no_effect_are_refused() {
        for (text, fault) in [
            ("epochs = 3\npositions = 1000\n", "line 1: epochs: not with positions"),
            ("epoch_decay = 0.9\nschedule = \"step\"\n", "line 2: schedule: not with epoch_decay"),
            ("final_learning_rate = 0\nepoch_decay = 0.9\n", "line 1: final_learning_rate: not with epoch"),
            ("optimiser = \"sgd\"\nweight_decay = 0.5\n", "line 2: weight_decay: not with optimiser"),
            ("loss = \"cross-entropy\"\npower = 2.5\n", "line 2: power: only with loss"),
            ("kappa = 2\nloss = \"power\"\n", "line 1: kappa: only with loss = \"pqr\""),
            ("legal_quantile = 0.5\nloss = \"power\"\n", "line 1: legal_quantile: only with loss"),
            ("optimiser = \"adam\"\nmomentum = 0.5\n", "line 2: momentum: only with optimiser = \"sgd\""),
            ("optimiser = \"sgd\"\nbeta1 = 0.5\n", "line 2: beta1: only with another `optimiser`"),
            ("output_by = \"phase\"\noutput_buckets = 1\n", "line 1: output_by: only with output_buckets"),
            ("factoriser = true\nking_buckets = \"none\"\n", "line 1: factoriser: only with king_buckets"),
        ] {
            let found = parsed(text).unwrap_err();
            assert!(found.starts_with(&format!("r.toml: {fault}")), "{found}");
            // In a stage or as changes they replace each other, or are refused together.
            let staged = format!("[[stage]]\n{text}");
            assert!(parsed(&staged).unwrap_err().starts_with("r.toml: stage 1: "), "{staged}");
            let changes: Vec<&str> = text.lines().collect();
            assert!(set(&Settings::default(), &changes).is_err(), "{text}");
        }
        for text in ["positions = 1000\n", "optimiser = \"sgd\"\nweight_decay = 0\n", "epoch_decay = 0.9\n"] {
            let recipe = parsed(text).unwrap();
            assert_eq!(
                parsed(&toml::to_string(&recipe).unwrap()).unwrap(),
                recipe,
                "what is written is read"
            );
        }
    }

    #[test]
    fn a_named_key_replaces_what_the_recipe_says() {
        let positions = parsed("positions = 1000\n[[stage]]\nepochs = 3\n[[stage]]\n").unwrap();
        let stages = positions.stages().unwrap();
        let lengths: Vec<_> = stages.iter().map(|stage| (stage.epochs, stage.positions)).collect();
        assert_eq!(lengths, [(3, 0), (16, 1000)]);
        let recipe =
            parsed("epochs = 9\nschedule = \"step\"\noptimiser = \"adamw\"\nweight_decay = 0.5\n").unwrap();
        let changed = set(&recipe, &["positions=7", "epoch_decay=0.9", "optimiser=sgd"]).unwrap();
        let default = Settings::default();
        let expected = (default.epochs, 7, default.schedule, default.weight_decay);
        assert_eq!((changed.epochs, changed.positions, changed.schedule, changed.weight_decay), expected);
        let thesis = Settings::load("thesis").unwrap();
        assert_eq!(set(&thesis, &["schedule=linear"]).unwrap().epoch_decay, None);
        assert_eq!(set(&thesis, &["loss=cross-entropy"]).unwrap().power, default.power);
        assert_eq!(set(&thesis, &["loss=power"]).unwrap(), thesis);
    }
}
