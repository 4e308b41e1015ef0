//! Networks of trained weights, quantised, with their description and their distance to the float weights.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::cpu_gradient;
use super::loader;
use super::model::Model;
use super::sparse_order::{self, Zeros};
use super::{DataLoader, Earlier, Quantisation, Settings, TrainItem};
use patzer_chess::random_positions;
use patzer_eval::nnue::{About, Architecture, Network, Nnue, file};
use patzer_eval::{BoardEvaluator, stockfish};
use patzer_io::error::{Error, Result};

/// The network of trained weights; `trained` are some of the positions.
pub(crate) fn network(model: &Model, about: About, k: f32, trained: &[TrainItem]) -> Result<Network> {
    sparse_order::in_order_of_zeros(model.quantise(about)?.with_wdl_k(k.into()), trained)
}

/// A plain network with random weights. An error for a hidden size out of range.
pub fn random_network(hidden: usize, seed: u64) -> Result<Network> {
    random_network_of(&Architecture::plain(hidden), seed)
}

/// A network with random weights. An error for an invalid architecture.
pub fn random_network_of(architecture: &Architecture, seed: u64) -> Result<Network> {
    architecture.check().map_err(|error| Error::usage(error.to_string()))?;
    let about = About { description: format!("random, seed {seed}"), training: String::new() };
    Model::random(architecture, false, seed).quantise(about)
}

/// Description of a trained network, and a hash of everything that determines it.
pub(crate) fn about(
    loader: &dyn DataLoader,
    validation: &[TrainItem],
    settings: &Settings,
    start: Option<&Network>,
    layout: Option<&str>,
    earlier: &Earlier,
) -> About {
    let mut hash = Sha256::new();
    // The positions count, not where they come from.
    let settings = &Settings {
        data: Vec::new(),
        filter: Vec::new(),
        filter_set: Vec::new(),
        resolve: true,
        validation_data: Vec::new(),
        ..settings.clone()
    };
    hash.update(toml::to_string(settings).unwrap_or_default());
    if let Some(network) = start {
        hash.update(network.body());
    }
    earlier.weights.iter().for_each(|weight| hash.update(weight.to_le_bytes()));
    loader.hash(&mut hash);
    // They choose the epoch that is kept.
    loader::hash_items(&mut hash, validation);
    let (version, positions) = (env!("CARGO_PKG_VERSION"), loader.positions());
    let Settings { epochs, seed, .. } = settings;
    let stage = if earlier.stages > 0 { format!(", stage {}", earlier.stages + 1) } else { String::new() };
    let from = layout.map_or(String::new(), |layout| format!(", from raw weights in the layout {layout}"));
    let scores = settings.teacher.as_deref().map(scores_by).unwrap_or_default();
    let description = format!(
        "trained by patzer {version} on {positions} positions, {epochs} epochs, seed {seed}{stage}{from}{scores}"
    );
    About { description, training: file::hex(&hash.finalize()) }
}

/// Names a teacher, with the licence of a network of Stockfish.
fn scores_by(teacher: &Path) -> String {
    let mut head = [0; 4];
    let read = File::open(teacher).and_then(|mut file| file.read_exact(&mut head));
    let licence = match read {
        Ok(()) if stockfish::has_magic(&head) => format!(", {}", stockfish::origin()),
        _ => String::new(),
    };
    format!(", scores by {}{licence}", teacher.file_name().unwrap_or_default().display())
}

/// Difference of a network from the weights it was rounded from, in positions of random games; `exact` are the numbers
/// of its raw body before rounding.
pub fn rounding_error(exact: &[f32], network: &Network) -> Quantisation {
    let items: Vec<TrainItem> = random_positions(1_000, 0).iter().map(TrainItem::of).collect();
    let model = Model::of_numbers(network.architecture(), exact.iter().copied(), false);
    compare(&cpu_gradient::centipawns(&model, &items, false, 1.0), network, &items)
}

pub(crate) fn compare(floats: &[f32], network: &Network, items: &[TrainItem]) -> Quantisation {
    let mut nnue = Nnue::new(network.clone().into());
    let (mut sum, mut max, mut count) = (0.0, 0.0f64, 0);
    let shape = network.architecture();
    let mut zeros = Zeros::default();
    for (item, float) in items.iter().zip(floats) {
        let Some(board) = item.board.board() else { continue };
        let error =
            (f64::from(nnue.evaluate_board(&board, item.halfmoves, item.turn, 0)) - f64::from(*float)).abs();
        (sum, max, count) = (sum + error, max.max(error), count + 1);
        let active = nnue.hidden_activations(&board, item.halfmoves, item.turn);
        zeros.count(&active, shape.outputs_per_perspective());
    }
    Quantisation {
        mean_error: sum / f64::from(count.max(1)),
        max_error: max,
        zero_activations: zeros.share_of_activations(),
        zero_blocks: shape.in_bytes().then(|| zeros.share_of_blocks()),
    }
}
