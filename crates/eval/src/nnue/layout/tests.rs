use super::*;
use crate::nnue::network::tests::{random_of, shapes};

fn named(name: &str) -> Layout {
    NamedLayout::find(name).unwrap().layout.clone()
}

fn bullet() -> Layout {
    named("bullet")
}

fn bullet_columns() -> Layout {
    named("bullet-columns")
}

fn bullet_raw() -> Layout {
    named("bullet-raw")
}

fn of_numbers(number: Number, layout: Layout) -> Layout {
    let mut layout = layout;
    layout.set_numbers(number, false);
    layout
}

fn by_columns_of_features() -> Layout {
    let mut layout = bullet();
    layout.set_columns_of_features();
    layout
}

fn layouts() -> Vec<Layout> {
    let mut layouts: Vec<Layout> = LAYOUTS.iter().map(|named| named.layout.clone()).collect();
    // Coarser units than a network's have a test of their own.
    layouts.retain(|layout| layout.qa == QA && layout.tensors.iter().all(|tensor| tensor.layer.is_none()));
    layouts.push(by_columns_of_features());
    // Finer units than a network's are exact there and back.
    layouts.push(Layout { qa: 510, qb: 128, ..bullet() });
    layouts
}

/// Shapes that other programs' layouts can have.
fn raw_shapes() -> Vec<Architecture> {
    shapes().into_iter().filter(|shape| !shape.wdl_head).collect()
}

#[test]
fn a_wdl_head_is_refused_but_in_the_own_layout() {
    for shape in shapes().iter().filter(|shape| shape.wdl_head) {
        let network = random_of(shape, 1);
        let own = Layout { padding: Padding::None, ..Layout::default() };
        let written = own.write(&network).unwrap();
        assert_eq!(own.read(shape, &written.content, About::default()).unwrap().content, network);
        for layout in [bullet(), Layout { scale: 200, ..Layout::default() }] {
            assert!(layout.write(&network).unwrap_err().to_string().contains("`wdl_head`"));
            assert!(
                layout.read(shape, &[], About::default()).unwrap_err().to_string().contains("`wdl_head`")
            );
        }
        // Without a K there is no evaluation.
        let mut body = network.body();
        body[2 * shape.parameters() - 2..2 * shape.parameters()].fill(0);
        let error = Network::of_body(shape.clone(), &body, About::default()).unwrap_err();
        assert_eq!(error.to_string(), "the K of its WDL head, 0/256, is not above 0");
    }
}

#[test]
fn every_layout_brings_every_network_back() {
    for (seed, shape) in raw_shapes().iter().enumerate() {
        let network = random_of(shape, seed as u64);
        for mut layout in layouts() {
            let has_psqt = layout.tensors.iter().any(|tensor| tensor.name == TensorName::Psqt);
            if shape.psqt && !has_psqt {
                assert!(layout.write(&network).unwrap_err().to_string().contains("lacks the tensor psqt"));
                continue;
            }
            let written = layout.write(&network).unwrap();
            let read = layout.read(shape, &written.content, About::default()).unwrap();
            assert_eq!((read.content, written.rounded), (network.clone(), 0), "{shape} {layout:?}");
            layout.buckets = (0..shape.output_buckets).rev().collect();
            let reversed = layout.write(&network).unwrap().content;
            assert_eq!(reversed == written.content, shape.output_buckets == 1);
            let read = layout.read(shape, &reversed, About::default()).unwrap().content;
            assert_eq!(read, network, "{shape} {layout:?}");
        }
    }
}

#[test]
fn every_named_layout_brings_networks_of_its_architecture_back() {
    for NamedLayout { name, layout, architecture, .. } in LAYOUTS.iter().filter(|named| named.layout.qa == QA)
    {
        let shape = Architecture { hidden: 64, ..architecture.clone() };
        let mut weights = random_of(&shape, 7).weights();
        // Weights of 8 bits in twice as fine units.
        weights
            .dense
            .iter_mut()
            .flatten()
            .flat_map(|dense| &mut dense.weights)
            .for_each(|weight| *weight /= 2);
        let network = Network::new(shape.clone(), &weights, About::default()).unwrap();
        let written = layout.write(&network).unwrap();
        let read = layout.read(&shape, &written.content, About::default()).unwrap();
        assert_eq!((read.content == network, written.rounded, read.rounded), (true, 0, 0), "{name}");
    }
}

#[test]
fn a_layout_of_more_layers_is_refused() {
    let two = random_of(&Architecture { layers: vec![3], ..Architecture::plain(8) }, 1);
    let error = named("bullet-layers").write(&two).unwrap_err().to_string();
    assert_eq!(error, "the layout has a layer 3, (768->8)x2->3->1 screlu has 2 after the hidden one");
    let four = random_of(&Architecture { layers: vec![3, 3, 3], ..Architecture::plain(8) }, 1);
    let error = named("bullet-layers").write(&four).unwrap_err().to_string();
    assert!(error.contains("lacks the tensor weights of layer 4"), "{error}");
}

#[test]
fn values_and_squares_of_a_dual_activation_change_places() {
    let NamedLayout { layout, architecture, .. } = NamedLayout::find("obsidian").unwrap();
    let network = random_of(&Architecture { hidden: 64, ..architecture.clone() }, 3);
    let mut weights = network.weights();
    weights.dense.iter_mut().for_each(|layers| layers[0].weights.iter_mut().for_each(|weight| *weight /= 2));
    let network = Network::new(network.architecture().clone(), &weights, About::default()).unwrap();
    let bytes = layout.write(&network).unwrap().content;
    // [bucket][input][output] of 64 · 16 weights and 16 biases, then of 32 · 32 weights.
    let start = 2 * (13 * 768 + 1) * 64 + 8 * (64 * 16 + 64);
    let float = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (bucket, input, output) = (3, 5, 7);
    let expected = weights.dense[bucket][1].weights[output * 32 + (input + 16) % 32];
    assert_eq!(float(start + 4 * (bucket * 32 * 32 + input * 32 + output)), f32::from(expected) / 64.0);
}

#[test]
fn the_default_layout_is_the_body() {
    for (seed, shape) in shapes().iter().enumerate() {
        let network = random_of(shape, seed as u64);
        assert_eq!(Layout::default().write(&network).unwrap().content, network.body());
    }
}

/// Two features would do, but there are 768: the places of a few numbers say the order.
#[test]
fn numbers_are_where_other_programs_expect_them() {
    let shape = Architecture { output_buckets: 2, layers: vec![3], ..Architecture::plain(2) };
    let network = random_of(&shape, 1);
    let weights = network.weights();
    let at = |bytes: &[u8], i: usize| i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let columns = bullet_columns().write(&network).unwrap().content;
    // After 768 · 2 weights and 2 biases: [input][bucket][output] of 4 · 2 · 3, then 2 · 3 biases.
    let start = 768 * 2 + 2;
    let (input, bucket, output) = (3, 1, 2);
    let expected = weights.dense[bucket][0].weights[output * 4 + input];
    assert_eq!(at(&columns, start + input * 6 + bucket * 3 + output), expected);
    assert_eq!(at(&columns, start + 24 + bucket * 3 + output), weights.dense[bucket][0].bias[output]);
    let rows = bullet().write(&network).unwrap().content;
    assert_eq!(at(&rows, start + (bucket * 3 + output) * 4 + input), expected);
    assert!(rows.ends_with(b"bulletbullet"));
    let flipped = by_columns_of_features().write(&network).unwrap().content;
    assert_eq!(at(&flipped, 768 + 5), weights.features[5 * 2 + 1]);
    let floats = bullet_raw().write(&network).unwrap().content;
    let float = |i: usize| f32::from_le_bytes(floats[4 * i..4 * i + 4].try_into().unwrap());
    assert_eq!(float(7), f32::from(weights.features[7]) / 255.0);
    assert_eq!(float(start + input * 6 + bucket * 3 + output), f32::from(expected) / 64.0);
    let bias = f32::from(weights.dense[bucket][0].bias[output]) / (255.0 * 64.0);
    assert_eq!(float(start + 24 + bucket * 3 + output), bias);
}

#[test]
fn weights_to_start_from_are_known_by_size_and_padding() {
    let guessed = |shape: &Architecture, bytes: &[u8]| {
        guess(shape, bytes).map(|(read, named)| (read.content.weights(), &named.name[..]))
    };
    for (seed, shape) in raw_shapes().iter().enumerate() {
        let network = random_of(shape, seed as u64);
        let floats = bullet_raw().write(&network).unwrap().content;
        assert_eq!(guessed(shape, &floats), Some((network.weights(), "bullet-raw")), "{shape}");
        let whole = bullet().write(&network).unwrap().content;
        let padded = whole.len() > bullet().size(shape);
        let found = (network.weights(), "bullet");
        let sure = shape.layers.is_empty() || padded;
        assert_eq!(guessed(shape, &whole), sure.then(|| found.clone()), "{shape}");
        assert_eq!(guessed(shape, &network.body()), shape.layers.is_empty().then_some(found), "{shape}");
        assert_eq!(guessed(shape, &whole[..whole.len() / 2]), None);
    }
    let single = random_of(&Architecture::plain(8), 1);
    let several = Architecture { output_buckets: 4, mirror: false, ..Architecture::plain(8) };
    assert_eq!(guessed(&several, &single.body()), Some((single.weights(), "bullet")));
}

#[test]
fn a_named_layout_starts_where_a_guess_would_be_wrong() {
    let shape = Architecture { output_buckets: 4, ..Architecture::plain(8) };
    let network = random_of(&shape, 1);
    let columns = bullet_columns().write(&network).unwrap().content;
    let (guessed, named) = guess(&shape, &columns).unwrap();
    assert_eq!((&named.name[..], guessed.content == network), ("bullet", false));
    assert_eq!(bullet_columns().read_start(&shape, &columns).unwrap().content, network);
}

#[test]
fn other_units_are_rounded_and_counted() {
    let network = random_of(&Architecture::plain(16), 1);
    let layout = Layout { qa: 181, scale: 200, ..Layout::default() };
    let written = layout.write(&network).unwrap();
    assert!(written.rounded > 10_000);
    let read = layout.read(network.architecture(), &written.content, About::default()).unwrap().content;
    let (a, b) = (network.weights(), read.weights());
    assert!(a.features.iter().zip(&b.features).all(|(a, b)| (a - b).abs() <= 1));
    // Half the scale makes the last layer's numbers twice as large.
    let doubled = Layout { scale: 200, ..Layout::default() }.write(&network).unwrap().content;
    let last = |bytes: &[u8]| i16::from_le_bytes(bytes[2 * 12_336..][..2].try_into().unwrap());
    assert_eq!(last(&doubled), 2 * last(&network.body()));
    let small = of_numbers(Number::I8, Layout { qa: 32, ..Layout::default() });
    assert!(small.write(&network).is_ok());
    let large = of_numbers(Number::I8, Layout { qa: 510, ..Layout::default() });
    assert!(large.write(&network).unwrap_err().to_string().contains("beyond 8 bits"));
}

#[test]
fn the_hidden_size_follows_from_the_bytes() {
    for NamedLayout { name, layout, architecture: shape, .. } in LAYOUTS.iter() {
        for hidden in [2, 24, 640] {
            let bytes = layout.padded(layout.size(&Architecture { hidden, ..shape.clone() }));
            assert_eq!(layout.hidden(shape, &vec![0; bytes]), Some(hidden), "{name}");
        }
        assert_eq!(layout.hidden(shape, &[0; 1000]), None);
    }
}

#[test]
fn a_layout_of_any_padding_reads_what_happens_to_be_there() {
    let network = random_of(&Architecture::plain(24), 1);
    let tcheran = named("tcheran");
    let mut bytes = tcheran.write(&network).unwrap().content;
    let size = tcheran.size(network.architecture());
    assert!(bytes.len() > size && bytes[size..].iter().all(|byte| *byte == 0));
    bytes[size..].iter_mut().zip(1..).for_each(|(byte, number)| *byte = number);
    let read = tcheran.read(network.architecture(), &bytes, About::default()).unwrap();
    assert_eq!(read.content, network);
    assert_eq!(tcheran.hidden(&Architecture::plain(1), &bytes), Some(24));
    assert!(bullet().read(network.architecture(), &bytes, About::default()).is_err());
}

#[test]
fn a_file_of_another_shape_is_no_network_of_the_same_size() {
    // 384 neurons with eight output buckets take as many bytes as 391 with one, padded.
    let network = random_of(&Architecture { output_buckets: 8, ..Architecture::plain(384) }, 1);
    let bytes = bullet().write(&network).unwrap().content;
    let single = Architecture::plain(391);
    assert_eq!(bytes.len(), bullet().padded(bullet().size(&single)));
    assert_eq!(bullet().hidden(&single, &bytes), None);
    assert_eq!(bullet().hidden(network.architecture(), &bytes), Some(384));
    assert!(bullet().ends_as_of_bullet(network.architecture(), &bytes));
    assert!(!bullet().ends_as_of_bullet(&single, &bytes));
    for error in [
        bullet().read(&single, &bytes, About::default()).unwrap_err(),
        Network::from_body(&bytes, About::default()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("are neither zeros nor `bullet`"), "{error}");
    }
}

#[test]
fn a_scale_that_further_layers_cannot_have_is_refused_for_floats_too() {
    let network = random_of(&Architecture { layers: vec![3], ..Architecture::plain(2) }, 1);
    for number in [Number::I16, Number::F32] {
        let layout = of_numbers(number, Layout { scale: 200, ..Layout::default() });
        let error = layout.write(&network).unwrap_err().to_string();
        assert!(error.contains("in another scale or by columns need a layout by layers"), "{error}");
    }
    let by_layer = of_numbers(Number::F32, Layout { scale: 200, ..bullet() });
    let read = by_layer.write(&network).unwrap().content;
    let same = by_layer.read(network.architecture(), &read, About::default()).unwrap().content;
    assert_eq!(same.weights(), network.weights());
    assert_ne!(read, Layout { scale: SCALE, ..by_layer }.write(&network).unwrap().content);
}

/// A file with everything that a description can say, beside its twin in plain loops.
#[test]
fn tensors_have_types_units_orders_and_alignment() {
    let text = r#"
        about = "test"
        qa = 510
        header = "01 ff"
        trailer = "aa"
        padding = "none"
        [architecture]
        mirror = true
        king_buckets = "five"
        output_buckets = 2
        layers = [3]
        [[tensor]]
        name = "bias"
        neurons = { block = 2, order = [1, 0] }
        align = 64
        [[tensor]]
        name = "features"
        order = ["king_bucket", "square", "colour", "role", "neuron"]
        squares = "a8"
        colours = "other"
        roles = "KQRBNP"
        [[tensor]]
        name = "weights"
        layer = 1
        order = ["output_bucket", "input/4", "output", "input%4"]
        type = "i32"
        [[tensor]]
        name = "biases"
        layer = 1
        type = "f32"
        unit = "qa*qb/512"
        [[tensor]]
        name = "weights"
        layer = 2
        order = ["input", "output_bucket", "output"]
        type = "f32"
        [[tensor]]
        name = "biases"
        layer = 2
    "#;
    let NamedLayout { layout, architecture, .. } = NamedLayout::parse("x", text).unwrap();
    let network = random_of(&Architecture { hidden: 8, ..architecture }, 3);
    let shape = network.architecture();
    let written = layout.write(&network).unwrap();
    assert_eq!(written.rounded, 0);
    let Weights { features, bias, dense, .. } = network.weights();
    let mut expected = vec![1, 255];
    for neuron in [2, 3, 0, 1, 6, 7, 4, 5] {
        expected.extend((2 * bias[neuron]).to_le_bytes());
    }
    expected.resize(2 + 64, 0);
    for bucket in 0..5 {
        for index in 0..64 {
            for (colour, role) in
                [1, 0].into_iter().flat_map(|colour| (0..6).rev().map(move |role| (colour, role)))
            {
                let row = bucket * 768 + colour * 384 + role * 64 + (index ^ 56);
                features[row * 8..row * 8 + 8]
                    .iter()
                    .for_each(|weight| expected.extend((2 * weight).to_le_bytes()));
            }
        }
    }
    for layers in &dense {
        for block in 0..4 {
            for output in 0..3 {
                let weights = &layers[0].weights[output * 16 + block * 4..][..4];
                weights.iter().for_each(|weight| expected.extend(i32::from(*weight).to_le_bytes()));
            }
        }
    }
    let biases = dense.iter().flat_map(|layers| &layers[0].bias);
    biases.for_each(|bias| expected.extend((f32::from(*bias) / 256.0).to_le_bytes()));
    for input in 0..3 {
        dense
            .iter()
            .for_each(|layers| expected.extend((f32::from(layers[1].weights[input]) / 64.0).to_le_bytes()));
    }
    dense.iter().for_each(|layers| expected.extend((2 * layers[1].bias[0]).to_le_bytes()));
    expected.push(0xaa);
    assert!(written.content == expected);
    let read = layout.read(shape, &written.content, About::default()).unwrap();
    assert_eq!((read.content.weights() == network.weights(), read.rounded), (true, 0));
    assert_eq!(layout.hidden(shape, &written.content), Some(8));
    let mut other = written.content;
    other[0] = 2;
    let error = layout.read(shape, &other, About::default()).unwrap_err().to_string();
    assert_eq!(error, "does not begin with the header of its layout");
}
