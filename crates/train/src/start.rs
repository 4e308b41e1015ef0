//! The network that a run starts from.

use patzer_eval::nnue::file::has_magic;
use patzer_eval::nnue::layout::{self, Layout, NamedLayout};
use patzer_eval::nnue::{About, Architecture, Network};
use patzer_eval::stockfish;
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

use super::Settings;
use super::layout_file::layout_of;
use super::model::{Clipped, Model};
use super::outcome::Quantisation;
use super::quantised::rounding_error;

/// The `start` of a recipe.
#[derive(Debug)]
pub struct Start {
    /// The network, with a single input or output bucket of the file copied to all of the recipe's, and as many
    /// neurons as the recipe.
    pub network: Network,
    /// `None` for a `.nnue` file.
    pub raw: Option<RawStart>,
}

/// Raw weights of a start.
#[derive(Debug)]
pub struct RawStart {
    pub architecture: Architecture,
    pub layout: String,
    /// Numbers rounded to a network's units, and by how much that changes evaluations; `None` if there are none.
    pub rounding: Option<(usize, Quantisation)>,
}

impl Start {
    /// Weights beyond the limits of training, which clips them.
    pub fn clipped(&self, settings: &Settings) -> Option<Clipped> {
        Model::unclipped(&self.network, settings.factorised()).clip()
    }
}

impl Settings {
    /// Tests whether raw weights of a layout lack the factoriser that the recipe has: bullet's `raw.bin`, its only
    /// layout of floats, is without it.
    pub fn lacks_factoriser(&self, layout: &Layout) -> bool {
        self.factorised() && layout.is_float()
    }

    /// Loads the `start` network: a `.nnue` file, or raw weights in the layout `start_layout` or a guessed one of
    /// bullet.
    pub fn start(&self) -> Result<Option<Start>> {
        let Some(path) = &self.start else { return Ok(None) };
        let expected = self.architecture();
        let layout = self.start_layout.as_deref().map(layout_of).transpose()?;
        let read = |bytes: &[u8]| {
            if has_magic(bytes) {
                return Network::parse(bytes).map(|network| (network, None)).map_err(|e| e.to_string());
            }
            if stockfish::has_magic(bytes) {
                return Err("is a network of Stockfish; a training does not start from its units, but learns from its \
                            scores as `teacher`"
                    .to_string());
            }
            let state = layout::raw_of_state(bytes).transpose().map_err(|e| e.to_string())?;
            let layout = if state.is_some() { NamedLayout::find("bullet-raw") } else { layout.as_ref() };
            let (bytes, merged) = state.as_ref().map_or((bytes, false), |state| (&state[..], true));
            let raw = match layout {
                Some(named) => {
                    let read = named.layout.read_start(&expected, bytes).map_err(|e| e.to_string())?;
                    Some((read, named))
                }
                None => layout::guess(&expected, bytes),
            };
            let (read, named) = raw.ok_or_else(|| {
                format!(
                    "is neither a .nnue file nor of the size of {expected} in a layout of bullet; start_layout names \
                     another layout"
                )
            })?;
            let layout = &named.layout;
            if !merged && self.lacks_factoriser(layout) {
                return Err(
                    "bullet's raw.bin lacks the weights of a factoriser, which the recipe has: start from \
                            optimiser_state/weights.bin, or from a .nnue file of the weights with them"
                        .to_string(),
                );
            }
            let network = read.content;
            let architecture = network.architecture().clone();
            let rounding = (read.rounded > 0).then(|| {
                let exact = layout.exact(&architecture, bytes).map_err(|e| e.to_string())?;
                Ok::<_, String>((read.rounded, rounding_error(&exact, &network)))
            });
            let rounding = rounding.transpose()?;
            Ok((network, Some(RawStart { architecture, layout: named.name.clone(), rounding })))
        };
        let (network, raw) = patzer_io::parse(path, |_| Some(Limit::NETWORK), read)?;
        let hidden = network.hidden().min(expected.hidden);
        let reason = || format!("is {}, not {expected}, as the recipe says", network.architecture());
        let narrow = network.with_buckets(&Architecture { hidden, ..expected.clone() });
        let narrow = narrow.ok_or_else(|| Error::data(path, reason()))?;
        let network = if hidden < expected.hidden {
            widened(&narrow, expected.hidden, self.noise, self.seed)?
        } else {
            narrow
        };
        Ok(Some(Start { network, raw }))
    }
}

/// Adds neurons to the hidden layer: their feature weights are random, their weights in the next layer 0, so that the
/// output stays and training can use them.
fn widened(network: &Network, hidden: usize, noise: f32, seed: u64) -> Result<Network> {
    let own = network.architecture();
    let shape = Architecture { hidden, ..own.clone() };
    let old = network.weights();
    let mut new = Model::noisy(&shape, false, seed, noise).quantise(About::default())?.weights();
    // Neurons that are multiplied with each other stay so: either half of a pairwise layer grows.
    let (old_width, width) = (own.outputs_per_perspective(), shape.outputs_per_perspective());
    let place = |neuron: usize| neuron / old_width * width + neuron % old_width;
    let rows = new.features.chunks_exact_mut(hidden).zip(old.features.chunks_exact(own.hidden));
    for (row, old_row) in rows.chain([(new.bias.as_mut_slice(), old.bias.as_slice())]) {
        old_row.iter().enumerate().for_each(|(neuron, weight)| row[place(neuron)] = *weight);
    }
    for (head, old_head) in new.dense.iter_mut().zip(old.dense) {
        let mut weights = vec![0; head[0].weights.len()];
        for (row, old_row) in weights.chunks_exact_mut(width).zip(old_head[0].weights.chunks_exact(old_width))
        {
            row[..old_width].copy_from_slice(old_row);
        }
        *head = old_head;
        head[0].weights = weights;
    }
    (new.psqt, new.wdl_k) = (old.psqt, old.wdl_k);
    let whole = Network::new(shape, &new, network.about().clone());
    whole.ok_or_else(|| Error::usage("the start's weights do not fit the wider network".to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use patzer_chess::testing::along_random_games;
    use patzer_eval::Evaluator;
    use patzer_eval::nnue::{Activation, Nnue};

    use super::*;
    use crate::random_network_of;

    #[test]
    fn a_wider_start_evaluates_as_the_narrow_network() {
        let plain = Architecture { mirror: true, ..Architecture::plain(24) };
        let values = Architecture { psqt: true, layers: vec![4], ..plain.clone() };
        let pairs = Architecture { activation: Activation::Pairwise, layers: vec![8, 3], ..plain.clone() };
        let bytes = Architecture { first_layer_bits: 8, ..pairs.clone() };
        let wdl = Architecture { wdl_head: true, perspectives: 1, ..plain.clone() };
        for architecture in [plain, values, pairs, bytes, wdl] {
            let narrow = random_network_of(&architecture, 5).unwrap();
            let wide = widened(&narrow, 40, 1.0, 6).unwrap();
            assert_eq!(wide.architecture().hidden, 40);
            let added =
                |network: &Network| network.weights().features.iter().filter(|weight| **weight != 0).count();
            assert!(added(&wide) > added(&narrow), "{architecture}");
            let (mut narrow, mut wide) = (Nnue::new(Arc::new(narrow)), Nnue::new(Arc::new(wide)));
            along_random_games(8, 4, 80, |position| {
                assert_eq!(wide.evaluate(position, 0), narrow.evaluate(position, 0), "{architecture}");
            });
        }
    }

    #[test]
    fn numbers_of_raw_weights_that_are_rounded_are_counted_and_measured() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let network = random_network_of(&Architecture::plain(16), 5).unwrap();
        let written =
            |layout: &str| NamedLayout::find(layout).unwrap().layout.write(&network).unwrap().content;
        let settings = Settings { start: Some(file.path().into()), hidden: 16, ..Settings::default() };
        let rounding = |bytes: &[u8]| {
            std::fs::write(file.path(), bytes).unwrap();
            settings.start().unwrap().unwrap().raw.unwrap().rounding
        };
        assert_eq!(rounding(&written("bullet")), None);
        let mut bytes = written("bullet-raw");
        for number in &mut bytes.as_chunks_mut().0[..768 * 16] {
            *number = (f32::from_le_bytes(*number) + 0.49 / 255.0).to_le_bytes();
        }
        let (rounded, error) = rounding(&bytes).unwrap();
        assert!(rounded >= 768 * 16 && error.mean_error > 0.0, "{rounded} {error:?}");
    }

    #[test]
    fn a_start_of_fewer_neurons_or_output_buckets_fits_a_recipe_of_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("narrow.nnue");
        let narrow = random_network_of(&Architecture::plain(16), 5).unwrap();
        std::fs::write(&path, narrow.to_bytes()).unwrap();
        let settings = Settings { start: Some(path), hidden: 32, output_buckets: 4, ..Settings::default() };
        let start = settings.start().unwrap().unwrap().network;
        assert_eq!(*start.architecture(), settings.architecture());
        let fewer = Settings { hidden: 8, ..settings };
        let reason = fewer.start().unwrap_err().to_string();
        let expected =
            "narrow.nnue: is (768->16)x2->1 screlu, not (768->8)x2->1x4 screlu, as the recipe says";
        assert!(reason.ends_with(expected), "{reason}");
    }
}
