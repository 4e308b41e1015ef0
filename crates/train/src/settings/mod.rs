//! Recipes: everything a training run depends on besides its positions.

mod check;
mod overrides;
mod phases;
mod stages;
mod values;

use std::path::{Path, PathBuf};

pub use phases::Phase;
use serde::{Deserialize, Serialize};
pub use values::{Forward, Keep, LossKind, OptimiserKind};

use crate::position_weight::{Measure, PositionWeight};
use patzer_eval::nnue::features::Features;
use patzer_eval::nnue::{Activation, Architecture, KingBuckets, LayerActivation, OutputBy};
use patzer_fit::optim::Decay;
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Built-in recipes: the name and text of every file in `recipes`.
pub const RECIPES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

/// Makes a struct that has the fields of an architecture, from another one, and its further fields.
macro_rules! of_shape {
    ($Struct:ident, $from:ident, { $($field:ident: $value:expr,)* }) => {
        $Struct {
            features: $from.features.clone(),
            hidden: $from.hidden,
            layers: $from.layers.clone(),
            perspectives: $from.perspectives,
            white_perspective: $from.white_perspective,
            activation: $from.activation,
            layer_activations: $from.layer_activations.clone(),
            skip_neuron: $from.skip_neuron,
            first_layer_bits: $from.first_layer_bits,
            wdl_head: $from.wdl_head,
            mirror: $from.mirror,
            king_buckets: $from.king_buckets.clone(),
            output_buckets: $from.output_buckets,
            output_by: $from.output_by,
            psqt: $from.psqt,
            $($field: $value,)*
        }
    };
}

/// A recipe; keys that a file lacks have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Feature blocks with `+` between them, such as `all+h+v`.
    pub features: Features,
    /// Neurons of the hidden layer, 1 to 4096; the speed is best for multiples of 32.
    pub hidden: usize,
    /// Neurons of further layers, at most three of at most 128.
    pub layers: Vec<usize>,
    /// Perspectives: 2 for both sides with shared weights, 1 for the side to move alone.
    #[serde(rename = "views")]
    pub perspectives: usize,
    /// White's perspective whoever is to move; with one perspective.
    #[serde(rename = "white_view", skip_serializing_if = "std::ops::Not::not")]
    pub white_perspective: bool,
    /// Activation of the hidden layer: `screlu`, `crelu`, `relu` or `pairwise`.
    pub activation: Activation,
    /// Activation of each further layer: `relu`, `crelu`, `screlu` or `dual`; unset: as `activation`, `screlu` for
    /// `pairwise`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layer_activations: Vec<LayerActivation>,
    /// The last neuron of the first further layer is added to the output instead of being passed on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_neuron: bool,
    /// Bits of the first further layer's weights in the quantised network: 16, or 8 after `pairwise`.
    #[serde(skip_serializing_if = "is_sixteen")]
    pub first_layer_bits: u8,
    /// Three outputs, the chances of win, draw and loss; with `cross-entropy`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wdl_head: bool,
    /// Horizontal mirroring while the own king is on the files e to h.
    pub mirror: bool,
    /// Input buckets by the own king's square: `none`, `five`, `halfka`, 64 characters from a1 to h8, or 32 of
    /// the files a to d.
    pub king_buckets: KingBuckets,
    /// Factoriser: weights shared by all king buckets, added to each bucket's own.
    pub factoriser: bool,
    /// Number of output buckets, 1 to 32.
    pub output_buckets: usize,
    /// Selector of the output bucket: `pieces`, `phase`, or 33 characters, the bucket by number of pieces from 0 to 32.
    pub output_by: OutputBy,
    /// Piece-square values: one value per feature, added directly to the output.
    pub psqt: bool,
    /// Number of epochs.
    pub epochs: usize,
    /// Share of the steps, the last ones, whose forward pass rounds as the quantised network.
    #[serde(skip_serializing_if = "is_zero")]
    pub quantisation_aware: f32,
    /// Positions per epoch of streamed data; 0 loads all data, and an epoch is one pass.
    pub superbatch: usize,
    /// Shuffle buffer of a stream, in positions of 64 bytes.
    pub buffer: usize,
    /// Batch size; a pass is split into equal batches of at most this size.
    pub batch: usize,
    /// Learning rate after the warm-up.
    pub learning_rate: f32,
    /// Learning rate at the last step.
    pub final_learning_rate: f32,
    /// Learning-rate decay: `cosine`, `linear`, `exponential`, `step` or `constant`.
    pub schedule: Decay,
    /// Factor of the learning rate an epoch, in place of `final_learning_rate` and `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_decay: Option<f32>,
    /// Steps of linear warm-up, at most a tenth of all.
    pub warmup: u64,
    /// File of weights to start from: a `.nnue` file or raw weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<PathBuf>,
    /// Layout of raw weights in `start`, one of [`patzer_eval::nnue::layout::LAYOUTS`]; guessed if unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_layout: Option<String>,
    /// Network whose evaluations are the scores to learn, in place of the scores in the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher: Option<PathBuf>,
    /// Loss: `power` (|σ(out) − target|^power), `cross-entropy`, or `pqr`, which learns from the moves played alone.
    pub loss: LossKind,
    /// Exponent of the loss `power`.
    pub power: f32,
    /// Weight of p = −q in `pqr`; 1 in its source.
    pub kappa: f32,
    /// Half the width of the draws in scores, centipawns: the expected score of s is then
    /// (1 + σ(K·(s − offset)/400) − σ(K·(−s − offset)/400)) / 2. With `power`; of scores also with `wdl_head`.
    pub score_offset: f32,
    /// Half the width of the draws in the output, centipawns; see `score_offset`.
    pub output_offset: f32,
    /// Further share of the loss where the output is above the target; with `power`.
    pub asymmetry: f32,
    /// Penalty on the mean activation of the hidden layer, added to each position's loss.
    #[serde(skip_serializing_if = "is_zero")]
    pub l1_activations: f32,
    /// Quantile of legal moves by side and move number below which `pqr` drops positions.
    pub legal_quantile: f64,
    /// λ of TD(λ): results become λ-returns along the game, from the result (1) to the scores (0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub td_lambda: Option<f32>,
    /// Weight of the game result in the target, 0 to 1; the score, if there is one, has the rest.
    pub wdl: f32,
    /// `wdl` after the last step, and in validation; linear in between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_wdl: Option<f32>,
    /// Epochs over which λ goes to `final_wdl`, where it stays; unset: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wdl_epochs: Option<usize>,
    /// λ at epochs from 0, `[epoch, λ]`, in place of `wdl`, `final_wdl` and `wdl_epochs`; linear in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wdl_points: Vec<[f32; 2]>,
    /// Largest deviation of λ from its schedule, drawn for each step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wdl_jitter: Option<f32>,
    /// Weights of positions in the loss, by ply or pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_weight: Option<PositionWeight>,
    /// K of the sigmoid σ(K·s/400) from centipawns; unset means 1 here, and `patzer tune` fits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<f32>,
    /// K of the output's sigmoid; unset: `k`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_k: Option<f32>,
    /// Accumulator precision in training: `i16` or `f32`.
    pub forward: Forward,
    /// Optimiser: `adamw`, `adam`, `radam`, `ranger` or `sgd`.
    pub optimiser: OptimiserKind,
    /// Momentum of `sgd`, in `[0, 1)`.
    pub momentum: f32,
    /// L2 decay through the gradient.
    pub l2: f32,
    /// Largest gradient norm; 0 for no clipping.
    pub clip_gradient: f32,
    /// Epochs without a better validation loss before early stopping; 0 disables it.
    pub patience: usize,
    /// Epoch to keep: the best, or the last.
    #[serde(skip_serializing_if = "Keep::is_best")]
    pub keep: Keep,
    /// Decay of the weight average per step, such as 0.999; the average is validated and kept. 0: off.
    pub average: f32,
    /// Decoupled weight decay, in units of the learning rate; helps more the fewer the positions.
    pub weight_decay: f32,
    /// Factor of the random feature weights at the start. At 0 neurons that count no material stay silent.
    pub noise: f32,
    /// Decoupled pull of every weight towards its start, in units of the learning rate.
    pub pull: f32,
    /// Decay of Adam's first moment.
    pub beta1: f32,
    /// Decay of Adam's second moment.
    pub beta2: f32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Share of games held out for validation, 0 to 0.5.
    pub validation: f64,
    /// Files to train on, as on the command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<PathBuf>,
    /// Frequency of each file's positions, relative to one another; an epoch is a pass of the most frequent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
    /// Filters of positions, as on the command line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<String>,
    /// Parameters of filters, `key=value`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter_set: Vec<String>,
    /// Positions are replaced by the leaf of their quiescence search; `false` takes them as they are.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub resolve: bool,
    /// Files of other games to validate with, instead of `validation`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_data: Vec<PathBuf>,
    /// Positions to train on in all, rounded up to whole epochs; 0 leaves it to `epochs`.
    pub positions: u64,
    /// Piecewise learning rate, instead of `learning_rate`, `schedule` and `warmup`; `epochs` is their sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Stages that follow one another, each with the keys that it changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stage: Vec<toml::Table>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::of(&Architecture::default())
    }
}

impl Settings {
    /// The defaults with an architecture.
    pub(crate) fn of(shape: &Architecture) -> Settings {
        of_shape!(Settings, shape, {
            factoriser: false,
            epochs: 16,
            quantisation_aware: 0.0,
            superbatch: 0,
            buffer: 1 << 22,
            batch: 8_192,
            learning_rate: 0.000_6,
            final_learning_rate: 0.000_01,
            schedule: Decay::Cosine,
            epoch_decay: None,
            warmup: 100,
            start: None,
            start_layout: None,
            teacher: None,
            loss: LossKind::Power,
            power: 2.0,
            kappa: 1.0,
            score_offset: 0.0,
            output_offset: 0.0,
            asymmetry: 0.0,
            l1_activations: 0.0,
            legal_quantile: 0.0,
            td_lambda: None,
            wdl: 0.2,
            final_wdl: None,
            wdl_epochs: None,
            wdl_points: Vec::new(),
            wdl_jitter: None,
            position_weight: None,
            k: None,
            output_k: None,
            forward: Forward::I16,
            optimiser: OptimiserKind::AdamW,
            momentum: 0.9,
            l2: 0.0,
            clip_gradient: 0.0,
            patience: 0,
            keep: Keep::Best,
            average: 0.0,
            weight_decay: 0.1,
            noise: 1.0,
            pull: 0.0,
            beta1: 0.9,
            beta2: 0.999,
            seed: 0,
            validation: 0.05,
            data: Vec::new(),
            weights: Vec::new(),
            filter: Vec::new(),
            filter_set: Vec::new(),
            resolve: true,
            validation_data: Vec::new(),
            positions: 0,
            phases: Vec::new(),
            stage: Vec::new(),
        })
    }

    /// Loads a built-in recipe by name, or a file. An error for an unknown name or an invalid recipe.
    pub fn load(name_or_path: &str) -> Result<Settings> {
        if let Some((_, text)) = RECIPES.iter().find(|(name, _)| *name == name_or_path) {
            return Settings::parse(text, Path::new(name_or_path));
        }
        let path = Path::new(name_or_path);
        if !path.exists() && path.extension().is_none() {
            let names = RECIPES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let near = patzer_io::did_you_mean(name_or_path, RECIPES.iter().map(|(name, _)| *name));
            let reason = format!("{name_or_path}: no recipe of this name ({names}) and no such file{near}");
            return Err(Error::usage(reason));
        }
        Settings::parse(&patzer_io::read_text(path, Limit::RECIPE)?, path)
    }

    /// Parses a recipe; `path` names it in errors.
    pub fn parse(text: &str, path: &Path) -> Result<Settings> {
        let settings: Settings = toml::from_str(text).map_err(|e| {
            let line = text[..e.span().map_or(0, |span| span.start)].matches('\n').count() + 1;
            Error::at(path, format!("line {line}"), suggested(e.message()))
        })?;
        let named = toml::from_str(text).unwrap_or_default();
        let settings = settings.lasting(&named);
        settings.check_named(&named).and_then(|()| settings.check()).map_err(|(key, reason)| {
            let line = text.lines().position(|line| {
                line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
            });
            match line {
                Some(line) => Error::at(path, format!("line {}", line + 1), reason),
                None => Error::data(path, reason),
            }
        })?;
        settings.stages().map_err(|(stage, reason)| Error::at(path, format!("stage {stage}"), reason))?;
        Ok(settings)
    }

    /// Overrides keys by `KEY=VALUE`, with values as in a recipe; quotes around text are optional.
    pub fn with(&self, changes: &[String]) -> Result<Settings> {
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let table = toml::Table::try_from(self).map_err(|e| Error::internal(e.to_string()))?;
        let (mut changed, mut settings) = (toml::Table::new(), self.clone());
        for change in changes {
            let fault = |reason: String| Error::setting("set", change, reason);
            let (key, text) =
                change.split_once('=').ok_or_else(|| fault("has to be KEY=VALUE".to_string()))?;
            let (key, text) = (key.trim(), text.trim());
            let read = |text: &str| toml::from_str::<toml::Table>(&format!("x = {text}")).ok()?.remove("x");
            let value = read(text).unwrap_or_else(|| toml::Value::String(text.to_string()));
            changed.insert(key.to_string(), value);
            settings = Settings::overridden(&table, &changed).map_err(|e| fault(suggested(e.message())))?;
        }
        settings.validate()?;
        Ok(settings)
    }

    /// Architecture of the recipe's network.
    pub fn architecture(&self) -> Architecture {
        of_shape!(Architecture, self, {})
    }

    /// Tests for a factoriser with more than one king bucket.
    pub fn factorised(&self) -> bool {
        self.factoriser && self.architecture().king_bucket_count() > 1
    }

    pub(crate) fn sees_clock(&self) -> bool {
        self.features.blocks().iter().any(|block| block.name == "clock")
    }

    pub(crate) fn sees_ply(&self) -> bool {
        self.position_weight
            .as_ref()
            .is_some_and(|weight| weight.0.iter().any(|rule| rule.by == Measure::Ply))
    }

    /// An error for a value out of range, or keys that exclude each other.
    pub fn validate(&self) -> Result<()> {
        self.check().map_err(|(_, reason)| Error::usage(reason))
    }
}

fn is_sixteen(bits: &u8) -> bool {
    *bits == 16
}

fn is_zero(value: &f32) -> bool {
    *value == 0.0
}

/// A message of serde in one line; for an unknown name it suggests a near one instead of listing all.
fn suggested(message: &str) -> String {
    let message = message.replace('\n', " ").trim().to_string();
    let mut names = message.split('`').skip(1).step_by(2);
    let near = names
        .next()
        .filter(|_| message.starts_with("unknown "))
        .and_then(|word| patzer_io::nearest(word, names));
    match (near, message.split_once(", expected")) {
        (Some(near), Some((unknown, _))) => format!("{unknown}; did you mean `{near}`?"),
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Settings::parse(text, Path::new("r.toml")).unwrap_err().to_string()
    }

    #[test]
    fn every_built_in_recipe_reads_and_default_is_the_default() {
        for (name, _) in RECIPES {
            Settings::load(name).unwrap().validate().unwrap();
        }
        assert_eq!(Settings::load("default").unwrap(), Settings::default());
    }

    #[test]
    fn a_recipe_need_only_name_what_it_changes() {
        let settings = Settings::parse("hidden = 64\nschedule = \"step\"\n", Path::new("r.toml")).unwrap();
        assert_eq!(settings, Settings { hidden: 64, schedule: Decay::Step, ..Settings::default() });
    }

    #[test]
    fn faults_are_reported_with_their_line() {
        assert_eq!(error("\nwdl = 1.5\n"), "r.toml: line 2: wdl = 1.5: has to be from 0 to 1");
        assert!(error("k = nan\n").contains("k = NaN"));
        for (text, expected) in [
            ("hidden = 64\nlayer = 3\n", "line 2: unknown field `layer`; did you mean `layers`?"),
            ("velocity = 3\n", "line 1: unknown field `velocity`, expected one of"),
            ("activation = \"scerlu\"\n", "line 1: unknown variant `scerlu`; did you mean `screlu`?"),
            ("hidden = 0\n", "line 1: hidden = 0"),
            ("epochs = \"many\"\n", "line 1: invalid type"),
            ("hidden = 8\n\nfeatures = \"all+x\"\n", "line 3: features = \"all+x\""),
            ("king_buckets = \"0\"\n", "line 1: king_buckets = \"0\""),
            ("activation = \"tanh\"\n", "line 1: unknown variant `tanh`"),
            ("position_weight = { by = \"ply\", at = [] }\n", "line 1: position_weight: needs a point"),
            ("position_weight = { by = \"age\", at = [[0, 1]] }\n", "line 1: unknown variant `age`"),
            (
                "schedule = \"step\"\nfinal_learning_rate = 0\n",
                "line 2: final_learning_rate = 0: `exponential` and `step` fall by factors",
            ),
            ("wdl_jitter = 2\n", "line 1: wdl_jitter = 2: has to be from 0 to 1"),
            ("wdl_epochs = 3\n", "line 1: wdl_epochs: only with final_wdl"),
            (
                "epochs = 2\nfinal_wdl = 1.0\nwdl_epochs = 3\n",
                "line 3: wdl_epochs = 3: has to be from 1 to 2",
            ),
            (
                "epochs = 2\nfinal_wdl = 1.0\nwdl_epochs = 0\n",
                "line 3: wdl_epochs = 0: has to be from 1 to 2",
            ),
            ("hidden = 7\nactivation = \"pairwise\"\n", "line 1: hidden = 7: has to be even"),
            ("layer_activations = [\"dual\"]\n", "line 1: layer_activations: 1 of them for 0 further layers"),
            ("layers = [1]\nskip_neuron = true\n", "line 2: skip_neuron = true: needs a first further layer"),
            ("wdl_head = true\n", "line 1: wdl_head = true: needs loss = \"cross-entropy\""),
            ("loss = \"cross-entropy\"\nscore_offset = 9\n", "line 2: score_offset: only with loss"),
        ] {
            let found = error(text);
            assert!(found.starts_with(&format!("r.toml: {expected}")), "{found}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Settings::load("huge").unwrap_err();
        let names = RECIPES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let expected = format!("huge: no recipe of this name ({names}) and no such file");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.exit_code(), 1);
        assert!(Settings::load("mirorred").unwrap_err().to_string().ends_with("; did you mean `mirrored`?"));
        assert_eq!(Settings::load("none.toml").unwrap_err().to_string(), "none.toml: no such file");
    }

    #[test]
    fn any_key_can_be_overridden() {
        let set = |changes: &[&str]| {
            let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
            Settings::default().with(&changes).map_err(|e| e.to_string())
        };
        let settings =
            set(&["king_buckets=five", "mirror=true", "layers=[16, 32]", "final_wdl = 0.5"]).unwrap();
        assert_eq!(settings.architecture().to_string(), "(768x5hm->128)x2->16->32->1 screlu");
        assert_eq!(settings.final_wdl, Some(0.5));
        assert!(
            set(&["mirrored=true"]).unwrap_err().starts_with("set mirrored=true: unknown field `mirrored`")
        );
        assert!(set(&["mirror=maybe"]).unwrap_err().starts_with("set mirror=maybe: invalid type"));
        assert!(set(&["mirror"]).unwrap_err().contains("KEY=VALUE"));
        assert!(set(&["wdl=2"]).unwrap_err().contains("wdl = 2"));
    }
}
