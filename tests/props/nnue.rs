//! Networks: whatever was seen before, an evaluation is that of the position alone; bytes survive.

use std::sync::Arc;

use patzer::eval::Evaluator;
use patzer::eval::nnue::{Network, Nnue};
use patzer::train::random_network;
use proptest::prelude::*;
use shakmaty::{Chess, Position};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Random games with steps to any ply between, as null moves, reductions and new searches make them.
    #[test]
    fn an_evaluation_is_that_of_a_refresh(
        hidden in 1usize..70,
        seed in any::<u64>(),
        steps in prop::collection::vec((any::<u16>(), 0usize..200, any::<bool>()), 1..120),
    ) {
        let network = Arc::new(random_network(hidden, seed).unwrap());
        let mut nnue = Nnue::new(network.clone());
        let mut position = Chess::default();
        for (ply, &(choice, jump, jumps)) in steps.iter().enumerate() {
            let moves = position.legal_moves();
            if moves.is_empty() {
                position = Chess::default();
                continue;
            }
            position.play_unchecked(moves[usize::from(choice) % moves.len()]);
            let at = if jumps { jump } else { ply };
            prop_assert_eq!(nnue.evaluate(&position, at), Nnue::new(network.clone()).evaluate(&position, 0));
        }
    }

    #[test]
    fn a_network_survives_both_formats(hidden in 1usize..70, seed in any::<u64>()) {
        let network = random_network(hidden, seed).unwrap();
        prop_assert_eq!(&Network::parse(&network.to_bytes()).unwrap(), &network);
        let raw = Network::from_body(&network.body(), network.about().clone()).unwrap();
        prop_assert_eq!(&raw, &network);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..4000), magic in any::<bool>()) {
        if magic && bytes.len() > 16 {
            bytes[..8].copy_from_slice(b"PATZNNUE");
            bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
        }
        let _ = Network::parse(&bytes);
    }
}
