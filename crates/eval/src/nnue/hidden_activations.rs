//! Activations of the hidden layer, for statistics.

use shakmaty::{Board, Color};

use super::Nnue;
use super::block::Block;
use super::byte_layer::{ByteBlock, Products};

impl Nnue {
    /// Activations of the hidden layer in the units of the next one, the side to move's first.
    pub fn hidden_activations(&mut self, board: &Board, halfmoves: u8, side: Color) -> Vec<i16> {
        let (network, kernel) = (&*self.network, self.kernel);
        let shape = network.architecture();
        let perspectives = shape.sides(side);
        self.accumulators.update(network, kernel, (board, halfmoves), perspectives, 0);
        let mut active = vec![Block::ZERO; network.outputs[0].first[0][0].len()];
        let mut bytes = vec![ByteBlock::ZERO; active.len()];
        let mut activations = Vec::new();
        for side in perspectives {
            let accumulator = &self.accumulators.of(*side, 0)[..network.hidden_blocks];
            let count = shape.outputs_per_perspective();
            if shape.in_bytes() {
                kernel.activate_bytes(Products::Own, accumulator, &mut bytes);
                activations.extend(bytes.iter().flat_map(|block| block.0).take(count).map(i16::from));
            } else {
                kernel.activate(shape.activation, accumulator, &mut active);
                activations.extend(active.iter().flat_map(|block| block.0).take(count));
            }
        }
        activations
    }
}
