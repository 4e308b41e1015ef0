//! Networks: whatever was seen before, an evaluation is that of the position alone; bytes survive.

use std::sync::Arc;

use patzer_eval::Evaluator;
use patzer_eval::nnue::features::Features;
use patzer_eval::nnue::{Activation, Architecture, KingBuckets, Network, Nnue};
use patzer_train::{random_network, random_network_of};
use proptest::prelude::*;
use shakmaty::{Chess, Position};

/// Any network of those that a recipe can ask for.
fn architectures() -> impl Strategy<Value = Architecture> {
    let blocks = ["all", "all", "h+v", "all+d1+d2", "all+ph+pv", "all+mb", "all+mc", "all+pp+threats"];
    let buckets = ["none", "none", "five", "halfka"];
    let layers = [vec![], vec![], vec![8], vec![16, 8]];
    let choice =
        (0..blocks.len(), 0..buckets.len(), 0..Activation::ALL.len(), 0..layers.len(), 1usize..3, 0u8..8);
    (choice, 1usize..20, 1usize..9).prop_filter_map(
        "too many rows",
        move |(choice, hidden, output_buckets)| {
            let (block, bucket, activation, further, perspectives, flags) = choice;
            let architecture = Architecture {
                features: Features::parse(blocks[block]).ok()?,
                king_buckets: KingBuckets::parse(buckets[bucket]).ok()?,
                activation: Activation::ALL[activation],
                layers: layers[further].clone(),
                perspectives,
                white_perspective: perspectives == 1 && flags & 4 > 0,
                mirror: flags & 1 > 0,
                psqt: flags & 2 > 0,
                output_buckets,
                ..Architecture::plain(2 * hidden)
            };
            architecture.check().is_ok().then_some(architecture)
        },
    )
}

/// A move by choice, and the ply at which its position is looked at if that is not the next one.
type Step = (u16, Option<usize>);

/// Up to so many steps, of which a part jumps to any ply.
fn steps(jumping: f64, most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((any::<u16>(), prop::option::weighted(jumping, 0usize..200)), 1..most)
}

/// Whatever was seen before, an evaluation is that of a network that has seen nothing.
fn stays_fresh(network: &Network, steps: &[Step]) -> Result<(), TestCaseError> {
    let network = Arc::new(network.clone());
    let mut nnue = Nnue::new(network.clone());
    let mut position = Chess::default();
    for (ply, &(choice, jump)) in steps.iter().enumerate() {
        let moves = position.legal_moves();
        if moves.is_empty() {
            position = Chess::default();
            continue;
        }
        position.play_unchecked(moves[usize::from(choice) % moves.len()]);
        let seen = nnue.evaluate(&position, jump.unwrap_or(ply));
        let fresh = Nnue::new(network.clone()).evaluate(&position, 0);
        prop_assert_eq!(seen, fresh, "{}", network.architecture());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Random games with steps to any ply between, as null moves, reductions and new searches make them.
    #[test]
    fn an_evaluation_is_that_of_a_refresh(
        hidden in 1usize..70,
        seed in any::<u64>(),
        steps in steps(0.5, 120),
    ) {
        stays_fresh(&random_network(hidden, seed).unwrap(), &steps)?;
    }

    /// Networks of every shape, with a round trip through files in between.
    #[test]
    fn every_shape_evaluates_as_after_a_refresh(
        architecture in architectures(),
        seed in any::<u64>(),
        steps in steps(0.25, 60),
    ) {
        let network = random_network_of(&architecture, seed).unwrap();
        stays_fresh(&Network::parse(&network.to_bytes()).unwrap(), &steps)?;
    }

    #[test]
    fn a_network_survives_both_formats(hidden in 1usize..70, seed in any::<u64>()) {
        let network = random_network(hidden, seed).unwrap();
        prop_assert_eq!(&Network::parse(&network.to_bytes()).unwrap(), &network);
        let raw = Network::from_body(&network.body(), network.about().clone()).unwrap();
        prop_assert_eq!(&raw, &network);
    }

    #[test]
    fn random_bytes_are_no_network(mut bytes in prop::collection::vec(any::<u8>(), 0..4000), magic in any::<bool>()) {
        if magic && bytes.len() > 16 {
            bytes[..8].copy_from_slice(b"PATZNNUE");
            bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
        }
        prop_assert!(Network::parse(&bytes).is_err());
    }
}
