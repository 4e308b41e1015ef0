//! The report section of a network.

use shakmaty::{Board, Color};

use super::evaluation::EvaluationReport;
use super::figure::{Drawing, Figure};
use super::histogram::Histogram;
use super::log::{self, Log};
use super::plot::Curves;
use super::section::{OrMissing, Part, Section, SectionKind};
use super::squares::BoardHeatmaps;
use super::style::BLUE;
use super::table::{Cell, Table};
use super::weights::add_evaluation;
use patzer_eval::nnue::features::ones;
use patzer_eval::nnue::network::{QA, QB};
use patzer_eval::nnue::{Network, OutputBy, oriented, phase};

/// Differences of the quantised from the float network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantisation {
    /// Mean absolute difference in centipawns.
    pub mean_error: f64,
    /// Largest absolute difference in centipawns.
    pub max_error: f64,
}

/// A trained network for its section.
pub struct Trained {
    /// The network.
    pub network: OrMissing<std::sync::Arc<Network>>,
    /// Losses and learning rates by epoch.
    pub log: Log,
    /// Errors of quantisation, if the run has them.
    pub quantisation: Option<Quantisation>,
    /// Evaluation of positions by the network.
    pub evaluation: OrMissing<EvaluationReport>,
    /// Boards with halfmove clock and side to move, for the activity of neurons; may be empty.
    pub boards: Vec<(Board, u8, Color)>,
    /// Neurons to draw; those with the largest weights if empty.
    pub neurons: Vec<usize>,
}

const DRAWN: usize = 6;

/// The section of a network.
pub fn section(name: &str, data: &Trained) -> Section {
    let mut section = Section::new(name, SectionKind::Network);
    if let Ok(network) = &data.network {
        let about = network.about();
        section.summary = match about.description.as_str() {
            "" => network.architecture().to_string(),
            text => format!("{} · {text}", network.architecture()),
        };
        section.measure("parameters", "parameters", network.parameters() as u64);
        section.measure("hidden", "neurons of a view", network.hidden() as u64);
    }
    log::measures(&mut section, &data.log);
    if let Some(quantisation) = &data.quantisation {
        let Quantisation { mean_error, max_error } = *quantisation;
        section.measure("quantisation_mean", "quantising: mean error, cp", Cell::number(mean_error, 3));
        section.measure("quantisation_max", "quantising: largest error, cp", Cell::number(max_error, 1));
    }
    if let Ok(evaluation) = &data.evaluation {
        evaluation.measures(&mut section);
    }
    log::part("Training", &data.log).into_iter().for_each(|part| section.part(part));
    match &data.network {
        Ok(network) => of_network(&mut section, network, data),
        Err(reason) => {
            let mut part = Part::new("Network");
            part.missing(format!("The network itself is not shown: {reason}."));
            section.part(part);
        }
    }
    section
}

fn of_network(section: &mut Section, network: &Network, data: &Trained) {
    let shape = network.architecture();
    let mut part = Part::new("Neurons");
    let activity = activity(network, &data.boards);
    match &activity {
        Some(activity) => {
            let dead = activity.iter().filter(|share| **share == 0.0).count() as u64;
            section.measure("dead", "dead neurons", dead);
            part.add(activity_figure(activity, data.boards.len()));
        }
        None => part.missing("No count of dead neurons: it needs positions."),
    }
    if shape.features.blocks().first().is_some_and(|block| block.name == "all") {
        heatmaps(&mut part, network, &data.neurons, activity.as_deref());
    } else {
        part.missing("No pictures of neurons: the network does not see single pieces on single squares.");
    }
    section.part(part);
    section.part(sizes(network, data.quantisation));
    add_evaluation(section, &data.evaluation, |part, evaluation| {
        if shape.output_buckets > 1 {
            let bucket = |board: &Board| shape.output_bucket(board.occupied().count(), phase(board));
            part.add(evaluation.by_group("buckets", "Error by output bucket", "output bucket", bucket));
        }
        if shape.output_by != OutputBy::Phase || shape.output_buckets == 1 {
            let pieces = |board: &Board| board.occupied().count();
            let title = "Error by number of pieces";
            part.add(evaluation.by_group("pieces", title, "pieces on the board", pieces));
        }
        evaluation.by_phase().into_iter().for_each(|figure| part.add(figure));
    });
}

/// Share of boards on which each neuron is above 0 for the side to move; `None` without boards.
fn activity(network: &Network, boards: &[(Board, u8, Color)]) -> Option<Vec<f64>> {
    if boards.is_empty() {
        return None;
    }
    let (shape, weights) = (network.architecture(), network.weights());
    let hidden = shape.hidden;
    let mut active = vec![0u64; hidden];
    let mut words = vec![0; shape.features.words()];
    let mut accumulator = vec![0i32; hidden];
    let numbers = shape.row_numbers();
    for (board, halfmoves, turn) in boards {
        let (perspective, bucket) = oriented(shape, board, *halfmoves, *turn);
        shape.features.write(&perspective, &mut words);
        accumulator.iter_mut().zip(&weights.bias).for_each(|(sum, bias)| *sum = i32::from(*bias));
        for feature in ones(&words) {
            let row = &weights.features[numbers.row(bucket, feature) * hidden..][..hidden];
            accumulator.iter_mut().zip(row).for_each(|(sum, weight)| *sum += i32::from(*weight));
        }
        active.iter_mut().zip(&accumulator).for_each(|(active, sum)| *active += u64::from(*sum > 0));
    }
    Some(active.iter().map(|count| *count as f64 / boards.len() as f64).collect())
}

fn activity_figure(activity: &[f64], boards: usize) -> Figure {
    let mut sorted: Vec<(usize, f64)> = activity.iter().copied().enumerate().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let points: Vec<(f64, f64)> =
        sorted.iter().enumerate().map(|(at, (_, share))| (at as f64, *share)).collect();
    let mut curves =
        Curves::around("neurons, the most active first", "share of positions", points.iter().copied())
            .of_counts();
    curves.axes.y_range = -0.02..1.02;
    let curves = curves.dots("", BLUE, points);
    let mut data = Table::new(&["neuron", "active"]);
    for (neuron, share) in &sorted {
        data.row([Cell::Count(*neuron as u64), Cell::exact(*share)]);
    }
    let [never, always] = [0.0, 1.0].map(|share| activity.iter().filter(|s| **s == share).count());
    let caption = format!(
        "How often a neuron is above 0 for the side to move, over {boards} positions. Never (dead): {never}; always: {always}."
    );
    Figure::new("activity", "Active neurons", &caption, Drawing::Curves(curves)).with_data(data)
}

/// Draws the weights of chosen neurons, a heat map per kind of piece.
fn heatmaps(part: &mut Part, network: &Network, chosen: &[usize], activity: Option<&[f64]>) {
    const ROLES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    let names: Vec<String> =
        ["own", "their"].iter().flat_map(|side| ROLES.map(|role| format!("{side} {role}"))).collect();
    let (shape, weights) = (network.architecture(), network.weights());
    let weight = |neuron: usize, feature: usize| f64::from(weights.features[feature * shape.hidden + neuron]);
    let size = |neuron: usize| (0..768).map(|feature| weight(neuron, feature).powi(2)).sum::<f64>();
    let neurons: Vec<usize> = if chosen.is_empty() {
        let mut order: Vec<(usize, f64)> = (0..shape.hidden).map(|neuron| (neuron, size(neuron))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order.into_iter().map(|(neuron, _)| neuron).take(DRAWN).collect()
    } else {
        chosen.iter().copied().filter(|neuron| *neuron < shape.hidden).collect()
    };
    let which = if chosen.is_empty() { "The neurons with the largest weights" } else { "Chosen neurons" };
    let bucket = if shape.king_bucket_count() > 1 { ", for the first king bucket" } else { "" };
    part.say(format!(
        "{which}: feature weights in 1/{QA} by kind and square of a piece, the own side below{bucket}. Blue raises the \
         neuron, orange lowers it."
    ));
    for neuron in neurons {
        let board =
            |plane: usize| (0..64).map(|square| weight(neuron, 64 * plane + square)).collect::<Vec<f64>>();
        let boards: Vec<(String, Vec<f64>)> =
            names.iter().enumerate().map(|(plane, name)| (name.clone(), board(plane))).collect();
        let deepest =
            boards.iter().flat_map(|(_, values)| values).fold(1.0, |most: f64, v| most.max(v.abs()));
        let heatmaps = BoardHeatmaps { boards, columns: 3, deepest };
        let active = activity.map_or(String::new(), |a| format!(", active in {:.1} %", 100.0 * a[neuron]));
        let caption = format!("Bias {}, deepest colour {deepest}{active}.", weights.bias[neuron]);
        let (id, title) = (format!("neuron-{neuron}"), format!("Neuron {neuron}"));
        part.add(Figure::new(&id, &title, &caption, Drawing::BoardHeatmaps(heatmaps)));
    }
}

fn sizes(network: &Network, quantisation: Option<Quantisation>) -> Part {
    let mut part = Part::new("Quantisation");
    if let Some(Quantisation { mean_error, max_error }) = quantisation {
        part.say(format!(
            "Rounding to whole numbers moved the evaluation by {mean_error:.3} centipawns in the mean and {max_error:.1} at most."
        ));
    } else {
        part.missing("What rounding changed is not known: the run does not tell.");
    }
    let weights = network.weights();
    let output: Vec<i16> =
        weights.dense.iter().flatten().flat_map(|dense| dense.weights.iter().copied()).collect();
    for (id, title, unit, values) in [
        ("feature-weights", "Feature weights", QA, &weights.features),
        ("output-weights", "Weights behind the hidden layer", QB, &output),
    ] {
        let Some(most) = values.iter().map(|w| w.unsigned_abs()).max() else { continue };
        // About eighty bars of equal width.
        let width = i32::from(most.div_ceil(40)).max(1);
        let start = -(i32::from(most) / width + 1) * width;
        let mut bars = vec![0u64; ((i32::from(most) - start) / width + 1) as usize];
        for weight in values.iter() {
            bars[((i32::from(*weight) - start) / width) as usize] += 1;
        }
        let zero = values.iter().filter(|weight| **weight == 0).count();
        let histogram = Histogram {
            title: String::new(),
            values: format!("1/{unit}"),
            counted: "weights".into(),
            start: f64::from(start),
            width: f64::from(width),
            bars,
        };
        let share = 100.0 * zero as f64 / values.len() as f64;
        let caption = format!("{} weights; the largest is {most}/{unit}, {share:.1} % are 0.", values.len());
        part.add(Figure::new(id, title, &caption, Drawing::Histogram(histogram)));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Missing;
    use patzer_eval::nnue::material;

    fn trained() -> Trained {
        let network = material::network(16).unwrap();
        let boards = vec![(Board::default(), 0, Color::White), (Board::empty(), 0, Color::Black)];
        Trained {
            network: Ok(network.into()),
            log: Log::default(),
            quantisation: None,
            evaluation: Err(Missing("none".into())),
            boards,
            neurons: vec![3, 99],
        }
    }

    #[test]
    fn neurons_are_active_where_their_sum_is_above_zero() {
        let data = trained();
        let network = data.network.as_ref().unwrap();
        let (weights, hidden) = (network.weights(), network.hidden());
        let view = patzer_eval::nnue::features::Perspective::new(&Board::default(), 0, Color::White);
        let start: Vec<usize> = ones(&view.pieces).collect();
        assert_eq!(start.len(), 32);
        let activity = activity(network, &data.boards).unwrap();
        for (neuron, found) in activity.iter().enumerate() {
            let sum: i32 = start.iter().map(|f| i32::from(weights.features[f * hidden + neuron])).sum();
            let bias = i32::from(weights.bias[neuron]);
            let expected = (f64::from(u8::from(sum + bias > 0)) + f64::from(u8::from(bias > 0))) / 2.0;
            assert_eq!(*found, expected, "{neuron}");
        }
    }

    #[test]
    fn chosen_neurons_are_drawn_with_their_weights() {
        let data = trained();
        let weights = data.network.as_ref().unwrap().weights();
        let section = section("x", &data);
        let figures: Vec<&str> = section.figures().map(|figure| figure.id.as_str()).collect();
        assert_eq!(figures, ["activity", "neuron-3", "feature-weights", "output-weights"]);
        let neuron = section.figures().nth(1).unwrap();
        // Row a2, first column: an own pawn on a2 is feature 8.
        assert_eq!(neuron.data.rows[8][1], Cell::exact(f64::from(weights.features[8 * 16 + 3])));
        let counted: u64 = (section.figures().nth(2).unwrap().data.rows.iter())
            .map(|row| if let Cell::Count(count) = row[2] { count } else { 0 })
            .sum();
        assert_eq!(counted, 768 * 16);
    }
}
