//! Raw weights of an unknown program: what their size, their weights and their evaluations say of layout and
//! architecture.
//!
//! The size leaves a few numbers of neurons, king buckets and output buckets. Rows that no game ever trains show the
//! order of the feature table: pawns on the first and last rank, kings on the half that mirroring empties, kings
//! outside of a bucket's squares. What then remains is decided by evaluations: a network read in the wrong order or
//! with the wrong activation agrees less with one that is known to be sound.

mod candidate;
mod reference_values;
mod rows;
mod sizes;

pub use self::candidate::Candidate;
pub use self::reference_values::ReferenceValues;
use self::rows::{PieceOrder, Table};
use self::sizes::Sizes;
use super::activation::Activation;
use super::architecture::Architecture;
use super::layout::{Axis, Coordinate, FirstColour, FirstSquare, Layout, TensorName};

/// Number of sizes whose orders are tried, those with the clearest pawns first.
const TRIED: usize = 12;
/// Largest excess of a size's share of trained pawns on outer ranks over the smallest share.
const EXCESS: f64 = 0.25;
/// Units that engines use for the hidden layer and for later weights, the usual ones first.
const QAS: [i32; 6] = [255, 181, 256, 128, 362, 512];
const QBS: [i32; 7] = [64, 128, 32, 256, 512, 1024, 16];
/// Where bullet clips weights, in units of 1.
const CLIP: f64 = 1.98;

/// Finds readings of raw weights of one hidden layer, the best first; none if no such network has the size.
pub fn identify(bytes: &[u8], reference: &ReferenceValues) -> Vec<Candidate> {
    let sizes = Sizes::of(bytes);
    let tables = sizes.iter().filter_map(|size| Table::new(size, bytes));
    let mut tables: Vec<(f64, Table)> = tables.map(|table| (table.pawns_on_outer_ranks(), table)).collect();
    tables.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let clearest = tables.first().map_or(0.0, |(share, _)| *share);
    tables.retain(|(share, _)| *share <= clearest + EXCESS);
    tables.truncate(TRIED);
    let read = |(_, table): &(f64, Table)| {
        let largest = table.largest();
        orders(table, bytes, reference).into_iter().map(|one| (largest, one)).collect::<Vec<_>>()
    };
    let better =
        |a: &Candidate, b: &Candidate| b.agreement.total_cmp(&a.agreement).then(b.equal.cmp(&a.equal));
    let mut found: Vec<(f64, Candidate)> = tables.iter().flat_map(read).collect();
    found.sort_by(|(_, a), (_, b)| better(a, b));
    found.truncate(TRIED);
    let of_units = found.into_iter().flat_map(|(largest, one)| units(one, largest, reference));
    let mut found: Vec<Candidate> = of_units.collect();
    found.sort_by(better);
    found.truncate(TRIED);
    found.into_iter().map(|candidate| reference.with_values(candidate)).collect()
}

/// Readings of one size in every order of pieces, squares and outputs, with the king buckets that each order shows.
fn orders(table: &Table, bytes: &[u8], reference: &ReferenceValues) -> Vec<Candidate> {
    let mut found = Vec::new();
    for order in PieceOrder::ALL {
        for squares in [FirstSquare::A1, FirstSquare::A8] {
            let Some(kings) = table.kings(order, squares) else { continue };
            let layout = ordered(&table.size.layout, order, kings.squares);
            let shape = Architecture {
                mirror: kings.mirror,
                king_buckets: kings.buckets,
                output_buckets: table.size.output_buckets,
                ..Architecture::plain(table.size.hidden)
            };
            let mut columns = layout.clone();
            columns.set_columns_of_outputs();
            let layouts = if shape.output_buckets > 1 { vec![layout, columns] } else { vec![layout] };
            for layout in layouts {
                for activation in [Activation::Screlu, Activation::Crelu] {
                    let shape = Architecture { activation, ..shape.clone() };
                    let read = Candidate::read(layout.clone(), shape, bytes);
                    found.extend(read.and_then(|read| reference.compared(read)));
                }
            }
        }
    }
    found
}

/// A layout with feature weights in another order of pieces and squares.
fn ordered(layout: &Layout, order: PieceOrder, squares: FirstSquare) -> Layout {
    let mut layout = layout.clone();
    let pieces = match order.by_role {
        true => [Coordinate::Role, Coordinate::Colour],
        false => [Coordinate::Colour, Coordinate::Role],
    };
    let axes = [&[Coordinate::KingBucket][..], &pieces, &[Coordinate::Square, Coordinate::Neuron]].concat();
    for tensor in layout.tensors.iter_mut().filter(|tensor| tensor.name == TensorName::Features) {
        tensor.squares = squares;
        tensor.colours = if order.other_first { FirstColour::Other } else { FirstColour::Own };
        tensor.order = axes.iter().map(|coordinate| Axis::from(*coordinate)).collect();
    }
    layout
}

/// Readings of the same order in other units. An engine's own values decide; else the largest weights do, where
/// they are the clip of a trainer, and the size of the values.
fn units(candidate: Candidate, largest: f64, reference: &ReferenceValues) -> Vec<Candidate> {
    if candidate.layout.is_float() {
        return vec![reference.with_scale(candidate)];
    }
    let clip = |units: &[i32], largest: f64| {
        let at =
            |unit: &&i32| [f64::floor, f64::round].iter().any(|of| of(CLIP * f64::from(**unit)) == largest);
        units.iter().find(at).copied()
    };
    let outputs = candidate.network.weights().dense;
    let weights = outputs.iter().flat_map(|layers| &layers[0].weights);
    let largest_output = weights.map(|weight| f64::from(*weight).abs()).fold(0.0, f64::max);
    let (qa, qb) = (clip(&QAS, largest), clip(&QBS, largest_output));
    let qas = match qa {
        Some(qa) => vec![qa],
        None if reference.is_engine() => QAS.to_vec(),
        None => vec![QAS[0]],
    };
    let read = |qa: i32| {
        let layout = Layout { qa, qb: qb.unwrap_or(QBS[0]), ..candidate.layout.clone() };
        let read = reference.compared(Candidate { layout, ..candidate.clone() })?;
        let read = if reference.is_engine() {
            reference.with_scale(read)
        } else {
            reference.with_qb(read, qb.is_some(), &QBS)
        };
        let (clipped_at, outputs_clipped_at) = (qa_clip(largest, qa, &clip), qb.map(|_| largest_output));
        Some(Candidate { clipped_at, outputs_clipped_at, ..read })
    };
    qas.into_iter().filter_map(read).collect()
}

fn qa_clip(largest: f64, qa: i32, clip: &impl Fn(&[i32], f64) -> Option<i32>) -> Option<f64> {
    (clip(&QAS, largest) == Some(qa)).then_some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Network;
    use crate::nnue::layout::NamedLayout;

    #[test]
    fn the_embedded_network_is_known_in_every_layout_of_one_layer() {
        let network = Network::embedded();
        let shape = network.architecture();
        let reference = ReferenceValues::embedded();
        for (name, change) in [("bullet", false), ("patzer", false), ("bullet-raw", false), ("bullet", true)]
        {
            let mut layout = NamedLayout::find(name).unwrap().layout.clone();
            if change {
                layout.header = b"NET\x01".iter().copied().cycle().take(64).collect();
                let features = &mut layout.tensors[0];
                (features.squares, features.colours) = (FirstSquare::H8, FirstColour::Other);
                features.order = ["king_bucket", "role", "colour", "square", "neuron"]
                    .map(|axis| Axis::try_from(axis.to_string()).unwrap())
                    .to_vec();
                layout.set_columns_of_outputs();
            }
            let bytes = layout.write(&network).unwrap().content;
            let found = identify(&bytes, &reference);
            let best = &found[0];
            assert_eq!(best.architecture.to_string(), shape.to_string(), "{name}");
            let kings =
                |shape: &Architecture| (0..64).map(|king| shape.orientation(king)).collect::<Vec<_>>();
            assert_eq!(kings(&best.architecture), kings(shape), "{name}");
            assert!(best.network.weights() == network.weights(), "{name}");
            assert!(best.agreement > found[1].agreement, "{name}");
        }
    }
}
