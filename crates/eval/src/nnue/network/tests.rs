//! Networks of every shape for tests, and properties that all of them have.

use super::*;
use crate::nnue::Activation;
use patzer_chess::rng::Rng;

pub fn random_of(architecture: &Architecture, seed: u64) -> Network {
    let mut rng = Rng::new(seed);
    let bound = if architecture.features.is_all() { 90 } else { 30 };
    let mut numbers = std::iter::repeat_with(|| rng.below(2 * bound + 1) as i16 - bound as i16)
        .take(architecture.parameters());
    let mut weights = Weights::read(architecture, &mut numbers);
    weights.wdl_k = weights.wdl_k.map(|_| 300);
    Network::new(architecture.clone(), &weights, About::default()).unwrap()
}

pub fn shapes() -> Vec<Architecture> {
    use crate::nnue::features::Features;
    use crate::nnue::{KingBuckets, LayerActivation, OutputBy};

    let plain = || Architecture::plain(40);
    let buckets = |text| KingBuckets::parse(text).unwrap();
    let sum = |text| Features::parse(text).unwrap();
    vec![
        plain(),
        Architecture { perspectives: 1, ..plain() },
        Architecture {
            perspectives: 1,
            white_perspective: true,
            psqt: true,
            king_buckets: buckets("five"),
            ..plain()
        },
        Architecture { activation: Activation::Relu, ..plain() },
        Architecture { activation: Activation::Crelu, output_buckets: 8, ..plain() },
        Architecture { activation: Activation::Pairwise, ..plain() },
        Architecture { mirror: true, ..plain() },
        Architecture { king_buckets: buckets("five"), psqt: true, ..plain() },
        Architecture { mirror: true, king_buckets: buckets("halfka"), hidden: 4, ..plain() },
        Architecture { output_buckets: 4, output_by: OutputBy::Phase, psqt: true, ..plain() },
        Architecture {
            output_buckets: 3,
            output_by: "001122".repeat(6)[..33].to_string().try_into().unwrap(),
            ..plain()
        },
        Architecture { layers: vec![8], ..plain() },
        Architecture { layers: vec![8, 4], activation: Activation::Crelu, output_buckets: 2, ..plain() },
        Architecture { layers: vec![3], activation: Activation::Relu, perspectives: 1, ..plain() },
        Architecture { layers: vec![5, 7, 3], activation: Activation::Pairwise, ..plain() },
        Architecture {
            layers: vec![6, 5],
            layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
            skip_neuron: true,
            activation: Activation::Pairwise,
            output_buckets: 2,
            ..plain()
        },
        Architecture {
            layers: vec![17, 4],
            activation: Activation::Pairwise,
            first_layer_bits: 8,
            psqt: true,
            output_buckets: 2,
            ..plain()
        },
        Architecture {
            layers: vec![16, 8],
            layer_activations: vec![LayerActivation::Dual, LayerActivation::Screlu],
            skip_neuron: true,
            activation: Activation::Pairwise,
            first_layer_bits: 8,
            hidden: 132,
            ..plain()
        },
        Architecture {
            layers: vec![3],
            activation: Activation::Pairwise,
            first_layer_bits: 8,
            perspectives: 1,
            hidden: 2,
            ..plain()
        },
        Architecture {
            layers: vec![4, 3, 5],
            layer_activations: vec![LayerActivation::Relu, LayerActivation::Dual, LayerActivation::Screlu],
            activation: Activation::Crelu,
            perspectives: 1,
            ..plain()
        },
        Architecture { wdl_head: true, output_buckets: 2, ..plain() },
        Architecture { wdl_head: true, activation: Activation::Relu, perspectives: 1, ..plain() },
        Architecture {
            wdl_head: true,
            layers: vec![8, 5],
            layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
            activation: Activation::Pairwise,
            first_layer_bits: 8,
            ..plain()
        },
        Architecture { features: sum("all+h+v+d1+d2"), ..plain() },
        Architecture { features: sum("ph+pv+mb+mc"), mirror: true, hidden: 8, ..plain() },
        Architecture { features: sum("all+pp+threats"), hidden: 8, ..plain() },
        Architecture { features: sum("pp+threats"), perspectives: 1, hidden: 4, ..plain() },
        Architecture {
            features: sum("all+pp+threats+clock"),
            mirror: true,
            king_buckets: buckets("five"),
            psqt: true,
            output_buckets: 2,
            hidden: 4,
            ..plain()
        },
        Architecture { features: sum("all+h+clock"), king_buckets: buckets("five"), hidden: 4, ..plain() },
        Architecture {
            features: sum("all+mc"),
            layers: vec![16, 8],
            activation: Activation::Pairwise,
            mirror: true,
            king_buckets: buckets("five"),
            output_buckets: 8,
            psqt: true,
            ..plain()
        },
    ]
}

#[test]
fn sizes_agree_with_published_networks() {
    // Files of the engine Leorik, made by another trainer.
    for (hidden, bytes) in [(1, 1600), (4, 6208), (16, 24_704), (64, 98_752), (256, 394_816)] {
        assert_eq!(body_size(&Architecture::plain(hidden)), bytes);
        assert_eq!(hidden_of(bytes), Some(hidden));
    }
    for bytes in [0, 1, 2, 1599, 1601, 24_640, 24_768, 394_815] {
        assert_eq!(hidden_of(bytes), None, "{bytes}");
    }
}

#[test]
fn bodies_of_every_shape_survive_the_round_trip() {
    for hidden in [1, 16, 31, 32, 33, 64] {
        let network = random_of(&Architecture::plain(hidden), 5);
        let body = network.body();
        assert_eq!(Network::from_body(&body, About::default()).unwrap(), network);
        assert_eq!(body.len() % 64, 0);
    }
    for (seed, architecture) in shapes().into_iter().enumerate() {
        let network = random_of(&architecture, seed as u64);
        let body = network.body();
        let name = architecture.to_string();
        assert_eq!(body.len(), (2 * network.weights().numbers().count()).next_multiple_of(64), "{name}");
        assert_eq!(Network::of_body(architecture, &body, About::default()).unwrap(), network, "{name}");
    }
}

#[test]
fn layers_after_the_first_follow_the_definition() {
    // One output of 0.5 after the first layer: squared 0.25, times 1.5, plus 0.125; then 0.5² · −2 + 1.
    let architecture = Architecture { layers: vec![1, 1], ..Architecture::plain(1) };
    let mut network = random_of(&architecture, 1);
    let dense = |weight: i16, bias: i16| Dense { weights: vec![weight], bias: vec![bias] };
    network.outputs[0].inner = vec![dense(96, 2040), dense(-128, 16_320)];
    assert_eq!(network.inner(&network.outputs[0], &[8160]), 16_320 / 2);
}

#[test]
fn a_dual_layer_passes_on_squares_first_and_its_skip_neuron_not_at_all() {
    use crate::nnue::LayerActivation;

    // −0.5 and 0.25, and 0.75 that skips: squares 0.25 and 0.0625, clipped 0 and 0.25.
    let architecture = Architecture {
        layers: vec![3],
        layer_activations: vec![LayerActivation::Dual],
        skip_neuron: true,
        ..Architecture::plain(1)
    };
    let mut network = random_of(&architecture, 1);
    network.outputs[0].inner = vec![Dense { weights: vec![64, 128, 64, -64], bias: vec![0] }];
    let expected = 16_320 / 4 + 16_320 / 8 - 16_320 / 4 + 12_240;
    assert_eq!(network.inner(&network.outputs[0], &[-8160, 4080, 12_240]), expected);
}
