//! A network of every family of architectures that `net emit` knows, with random weights.

use patzer_chess::rng::Rng;
use patzer_eval::nnue::features::Features;
use patzer_eval::nnue::network::body_size;
use patzer_eval::nnue::{About, Activation, Architecture, KingBuckets, LayerActivation, Network, OutputBy};

pub fn random(architecture: &Architecture, seed: u64, bound: usize) -> Network {
    let mut rng = Rng::new(seed);
    let mut body: Vec<u8> = (0..architecture.parameters())
        .flat_map(|_| (rng.below(2 * bound + 1) as i16 - bound as i16).to_le_bytes())
        .collect();
    if architecture.wdl_head {
        // K, which has to be above 0, is the last number.
        body.truncate(body.len() - 2);
        body.extend(300i16.to_le_bytes());
    }
    body.resize(body_size(architecture), 0);
    let about = About { description: "random, for a test */ // \\".into(), training: String::new() };
    Network::of_body(architecture.clone(), &body, about).unwrap()
}

/// Every family: name, architecture, bound of the random weights (beyond 128 the sums need 64 bits).
pub fn families() -> Vec<(&'static str, Architecture, usize)> {
    let plain = || Architecture::plain(24);
    let pairwise = |hidden| Architecture { activation: Activation::Pairwise, ..Architecture::plain(hidden) };
    let buckets = |text: &str| KingBuckets::parse(text).unwrap();
    let blocks = |text: &str| Features::parse(text).unwrap();
    vec![
        ("plain", Architecture::plain(300), 90),
        (
            "bucketed",
            Architecture {
                mirror: true,
                king_buckets: buckets("five"),
                psqt: true,
                output_buckets: 8,
                ..plain()
            },
            90,
        ),
        (
            "phase",
            Architecture {
                activation: Activation::Crelu,
                output_buckets: 4,
                output_by: OutputBy::Phase,
                king_buckets: buckets("halfka"),
                hidden: 7,
                ..plain()
            },
            90,
        ),
        (
            "table",
            Architecture {
                output_buckets: 8,
                output_by: "000001111222233334444555566667777".to_string().try_into().unwrap(),
                ..plain()
            },
            90,
        ),
        ("relu", Architecture { activation: Activation::Relu, perspectives: 1, psqt: true, ..plain() }, 90),
        ("pairwise", Architecture { activation: Activation::Pairwise, mirror: true, ..plain() }, 90),
        ("wide", plain(), 400),
        (
            "layers",
            Architecture {
                layers: vec![8, 4, 6],
                activation: Activation::Pairwise,
                output_buckets: 2,
                psqt: true,
                ..plain()
            },
            90,
        ),
        (
            "layer",
            Architecture { layers: vec![3], activation: Activation::Relu, perspectives: 1, ..plain() },
            90,
        ),
        ("layer-crelu", Architecture { layers: vec![5], activation: Activation::Crelu, ..plain() }, 90),
        (
            "stockfish",
            Architecture {
                layers: vec![6, 5],
                layer_activations: vec![LayerActivation::Dual, LayerActivation::Crelu],
                skip_neuron: true,
                first_layer_bits: 8,
                psqt: true,
                output_buckets: 2,
                ..pairwise(72)
            },
            90,
        ),
        (
            "dual",
            Architecture {
                layers: vec![2, 3, 4],
                layer_activations: vec![
                    LayerActivation::Dual,
                    LayerActivation::Relu,
                    LayerActivation::Screlu,
                ],
                skip_neuron: true,
                perspectives: 1,
                ..pairwise(24)
            },
            90,
        ),
        (
            "skip",
            Architecture { layers: vec![17, 3], skip_neuron: true, first_layer_bits: 8, ..pairwise(24) },
            90,
        ),
        ("wdl", Architecture { wdl_head: true, output_buckets: 2, ..plain() }, 90),
        (
            "wdl-layers",
            Architecture { wdl_head: true, layers: vec![6], first_layer_bits: 8, ..pairwise(24) },
            90,
        ),
        (
            "lines",
            Architecture { features: blocks("all+h+v+d1+d2+pv"), mirror: true, psqt: true, ..plain() },
            30,
        ),
        (
            "moves",
            Architecture { features: blocks("all+ph+pv+mb+mc"), king_buckets: buckets("five"), ..plain() },
            30,
        ),
    ]
}
