//! Networks: efficiently updatable, quantised, of any [`Architecture`].
//! Sources: Nasu, "Efficiently Updatable Neural-Network-based Evaluation Functions for Computer Shogi" (2018);
//! the layout and the squared clipped ReLU are those of the trainer bullet.

mod activation;
pub mod architecture;
mod arena;
pub(crate) mod block;
pub mod breakdown;
pub(crate) mod byte_layer;
mod error;
mod feature_stack;
pub(crate) mod feature_table;
pub mod features;
pub mod file;
mod further_layers;
mod hidden_activations;
pub mod identify;
mod king_buckets;
pub mod layout;
pub mod material;
pub mod network;
mod output_by;
mod padding;
pub(crate) mod piece_stack;
mod pieces;
pub mod plain;
mod row_changes;
mod simd;
mod units;
pub mod wdl_head;
mod weights;

use std::sync::Arc;

use shakmaty::{Board, Chess, Color, Position};

pub use activation::{Activation, LayerActivation};
pub use architecture::{Architecture, RowNumbers};
pub use byte_layer::{INPUTS as BYTE_INPUTS, SHIFT as BYTE_SHIFT};
pub use error::{ArchitectureError, BodyError};
pub use feature_stack::oriented;
pub use king_buckets::KingBuckets;
pub use network::{About, Network};
pub use output_by::{OutputBy, OutputTable};
pub use pieces::Pieces;
pub use row_changes::RowChanges;

use self::block::Block;
use self::byte_layer::ByteInputs;
use self::feature_stack::FeatureStack;
use self::network::OutputLayers;
use self::piece_stack::PieceStack;
pub use self::simd::Kernel;
use self::units::{QA, QB};
use crate::evaluator::{BoardEvaluator, Evaluator};
use patzer_chess::score::{MATE_IN_MAX, Score};

/// Evaluates with a network and keeps the accumulators of the current line.
#[derive(Debug, Clone)]
pub struct Nnue {
    network: Arc<Network>,
    /// Output buckets by pieces or phase, see [`Architecture::output_bucket_table`].
    buckets: [u8; 65],
    accumulators: Accumulators,
    kernel: Kernel,
    active: Vec<Block>,
    bytes: ByteInputs,
    first: Vec<i64>,
}

#[derive(Debug, Clone)]
enum Accumulators {
    /// Stack for the feature block `all`, alone or with blocks that list their changes.
    Pieces(PieceStack),
    Features(FeatureStack),
}

impl Accumulators {
    #[inline]
    fn update(
        &mut self,
        network: &Network,
        kernel: Kernel,
        board: (&Board, u8),
        perspectives: &[Color],
        ply: usize,
    ) {
        match self {
            Accumulators::Pieces(stack) => stack.update(&network.table, kernel, board, perspectives, ply),
            Accumulators::Features(stack) => {
                perspectives.iter().for_each(|&side| stack.update(network, kernel, board, side, ply));
            }
        }
    }

    #[inline]
    fn of(&self, side: Color, ply: usize) -> &[Block] {
        match self {
            Accumulators::Pieces(stack) => stack.accumulator(side, ply),
            Accumulators::Features(stack) => stack.accumulator(side, ply),
        }
    }
}

#[inline]
pub fn phase(board: &Board) -> usize {
    let minor = (board.knights() | board.bishops()).count();
    minor + 2 * board.rooks().count() + 4 * board.queens().count()
}

/// The halfmove clock, at most 255.
#[inline]
pub fn halfmoves(position: &Chess) -> u8 {
    position.halfmoves().min(u8::MAX.into()) as u8
}

impl Nnue {
    pub fn new(network: Arc<Network>) -> Nnue {
        let accumulators = match RowChanges::new(network.architecture()) {
            Some(changes) => Accumulators::Pieces(PieceStack::new(&network.table, changes)),
            None => Accumulators::Features(FeatureStack::new(&network)),
        };
        Nnue::with(network, accumulators, Kernel::best())
    }

    fn with(network: Arc<Network>, accumulators: Accumulators, kernel: Kernel) -> Nnue {
        let buckets = network.architecture().output_bucket_table();
        let (active, bytes) = (Vec::new(), ByteInputs::default());
        Nnue { network, buckets, accumulators, kernel, active, bytes, first: Vec::new() }
    }

    /// [`BoardEvaluator::evaluate_board`] with win, draw and loss probability for the side to move, where the network
    /// has a WDL head.
    pub fn evaluate_with_chances(
        &mut self,
        board: &Board,
        halfmoves: u8,
        side: Color,
    ) -> (Score, Option<[f64; 3]>) {
        let bucket = self.bucket(board);
        let score = self.evaluate_in(bucket, (board, halfmoves), side, 0);
        // The evaluation has left the outputs of the first further layer.
        (score, self.network.chances(&self.network.outputs[bucket], &self.first))
    }

    #[inline]
    fn evaluate_in(&mut self, bucket: usize, board: (&Board, u8), side: Color, ply: usize) -> Score {
        let (network, kernel) = (&*self.network, self.kernel);
        let perspectives = network.architecture().sides(side);
        self.accumulators.update(network, kernel, board, perspectives, ply);
        let (first, last) = (perspectives[0], perspectives[perspectives.len() - 1]);
        let both = [self.accumulators.of(first, ply), self.accumulators.of(last, ply)];
        let accumulators = &both[..perspectives.len()];
        let layers = &network.outputs[bucket];
        let mut output = if network.architecture().is_single_layer() {
            single(network, kernel, layers, accumulators)
        } else if let Some(bytes) = &layers.bytes {
            let (layer, blocks) = ((bytes, &layers.bias[..]), network.hidden_blocks);
            kernel.byte_outputs(layer, accumulators, blocks, &mut self.bytes, &mut self.first);
            network.inner(layers, &self.first)
        } else {
            layered(network, kernel, layers, accumulators, &mut self.active, &mut self.first)
        };
        if network.architecture().psqt {
            let value = |row: &[Block]| i64::from(row[network.hidden_blocks].0[bucket]);
            let (own, count) = (value(accumulators[0]), accumulators.len() as i64);
            let theirs = accumulators.get(1).map_or(0, |row| value(row));
            output += (own - theirs) * i64::from(QB) / count;
        }
        let score = Network::centipawns(output).clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1);
        score * network.architecture().sign(side)
    }

    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }
}

/// The output of a network with one output and no further layers, in 1/(QA·QB).
#[inline]
fn single(network: &Network, kernel: Kernel, layers: &OutputLayers, accumulators: &[&[Block]]) -> i64 {
    let hidden = network.hidden_blocks;
    let accumulators = accumulators.iter().map(|row| &row[..hidden]);
    let mut sum = kernel.output(network, accumulators.zip(&layers.first[0]));
    if network.squares() {
        sum /= i64::from(QA);
    }
    sum + i64::from(layers.bias[0])
}

/// The output of another network, in 1/(QA·QB).
fn layered(
    network: &Network,
    kernel: Kernel,
    layers: &OutputLayers,
    accumulators: &[&[Block]],
    active: &mut Vec<Block>,
    first: &mut Vec<i64>,
) -> i64 {
    let (hidden, width) = (network.hidden_blocks, layers.first[0][0].len());
    active.resize(width * accumulators.len(), Block::ZERO);
    for (row, active) in accumulators.iter().zip(active.chunks_exact_mut(width)) {
        kernel.activate(network.architecture().activation, &row[..hidden], active);
    }
    first.clear();
    for (neuron, bias) in layers.first.iter().zip(&layers.bias) {
        let inputs = active.chunks_exact(width).zip(neuron);
        let sum: i64 = inputs.map(|(active, weights)| kernel.dot(network, active, weights)).sum();
        first.push(sum + i64::from(*bias));
    }
    network.inner(layers, first)
}

impl Evaluator for Nnue {
    fn evaluate(&mut self, position: &Chess, ply: usize) -> Score {
        self.evaluate_board(position.board(), halfmoves(position), position.turn(), ply)
    }
}

impl BoardEvaluator for Nnue {
    fn evaluate_board(&mut self, board: &Board, halfmoves: u8, side: Color, ply: usize) -> Score {
        let bucket = self.bucket(board);
        self.evaluate_in(bucket, (board, halfmoves), side, ply)
    }

    #[inline]
    fn bucket(&self, board: &Board) -> usize {
        let by = match self.network.architecture().output_by {
            OutputBy::Phase => phase(board).min(64),
            OutputBy::Pieces | OutputBy::Table(_) => board.occupied().count(),
        };
        usize::from(self.buckets[by])
    }

    fn buckets(&mut self, board: &Board, halfmoves: u8, side: Color) -> Vec<Score> {
        let count = self.network.architecture().output_buckets;
        (0..count).map(|bucket| self.evaluate_in(bucket, (board, halfmoves), side, 0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::network::tests::{random_of, shapes};
    use super::plain::{PlainNnue, Reading};
    use super::*;
    use patzer_chess::rng::Rng;
    use patzer_chess::testing::along_random_games;

    #[test]
    fn every_shape_evaluates_by_its_definition_whatever_came_before() {
        for (seed, architecture) in shapes().iter().enumerate() {
            let network = Arc::new(random_of(architecture, seed as u64));
            let definition = PlainNnue::new(&network);
            let mut rng = Rng::new(2);
            let mut nnue = Nnue::new(network.clone());
            let stack = Accumulators::Features(FeatureStack::new(&network));
            let mut portable = Nnue::with(network.clone(), stack, Kernel::Portable);
            for _ in 0..3 {
                let mut position = Chess::default();
                for ply in 0..100 {
                    let moves = position.legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    position.play_unchecked(moves[rng.below(moves.len())]);
                    let at = if rng.below(4) == 0 { rng.below(140) } else { ply };
                    let expected = definition.evaluate(&position, &Reading::default());
                    assert_eq!(nnue.evaluate(&position, at), expected, "{architecture}");
                    assert_eq!(portable.evaluate(&position, at), expected, "{architecture}");
                }
            }
        }
    }

    #[test]
    fn added_buckets_evaluate_as_the_only_one_did() {
        let single = Architecture { psqt: true, mirror: true, ..Architecture::plain(24) };
        let outputs = Architecture { output_buckets: 8, output_by: OutputBy::Phase, ..single.clone() };
        let buckets = Architecture { king_buckets: KingBuckets::parse("five").unwrap(), ..outputs.clone() };
        let network = random_of(&single, 5);
        let several = Arc::new(network.with_buckets(&buckets).unwrap());
        let by_steps = network.with_buckets(&outputs).unwrap().with_buckets(&buckets).unwrap();
        assert_eq!(by_steps.weights(), several.weights());
        assert_eq!(several.with_buckets(&buckets).unwrap().weights(), several.weights());
        let (mut one, mut many) = (Nnue::new(Arc::new(network)), Nnue::new(several.clone()));
        along_random_games(8, 4, 80, |position| {
            assert_eq!(many.evaluate(position, 0), one.evaluate(position, 0));
        });
        assert!(several.with_buckets(&Architecture { output_buckets: 4, ..buckets.clone() }).is_none());
        let no_king_buckets = Architecture { king_buckets: KingBuckets::none(), ..buckets.clone() };
        assert!(several.with_buckets(&no_king_buckets).is_none());
        let wider = Architecture { hidden: 25, ..buckets };
        assert!(one.network().with_buckets(&wider).is_none());
    }

    #[test]
    fn the_chances_have_the_expected_score_of_the_evaluation() {
        let mut heads = 0;
        for (seed, architecture) in shapes().iter().enumerate() {
            let network = Arc::new(random_of(architecture, seed as u64));
            let k = f64::from(network.weights().wdl_k.unwrap_or(0)) / wdl_head::K_UNIT;
            let mut nnue = Nnue::new(network);
            along_random_games(2, 5, 60, |position| {
                let (board, side) = (position.board(), position.turn());
                let (score, chances) = nnue.evaluate_with_chances(board, halfmoves(position), side);
                assert_eq!(score, nnue.evaluate(position, 0), "{architecture}");
                assert_eq!(chances.is_some(), architecture.wdl_head);
                let Some([win, draw, loss]) = chances else { return };
                heads += 1;
                assert!((win + draw + loss - 1.0).abs() < 1e-9);
                let expected = 1.0 / (1.0 + (-k * f64::from(score) / f64::from(units::SCALE)).exp());
                // The score is rounded to a centipawn.
                let error = (win + draw / 2.0 - expected).abs();
                assert!(error < 0.3 * k / f64::from(units::SCALE), "{architecture}: {error}");
            });
        }
        assert!(heads > 100, "{heads}");
    }

    #[test]
    fn both_colours_are_evaluated_alike() {
        let network = Arc::new(random_of(&Architecture::plain(32), 4));
        along_random_games(8, 1, 80, |position| {
            let mut setup = position.to_setup(shakmaty::EnPassantMode::Legal);
            setup.mirror();
            let mode = position.castles().mode();
            let Ok(mirrored) = shakmaty::FromSetup::from_setup(setup, mode) else { return };
            let mut nnue = Nnue::new(network.clone());
            assert_eq!(nnue.evaluate(position, 0), nnue.evaluate(&mirrored, 0));
        });
    }
}
