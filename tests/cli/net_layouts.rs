//! Raw layouts of other programs: `patzer net convert` with its options, `start=`, and the documented arithmetic.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use patzer_eval::nnue::layout::{LAYOUTS, Layout, NamedLayout};
use patzer_eval::nnue::plain::{PlainNnue, Reading};
use patzer_eval::nnue::{Architecture, Network};
use shakmaty::EnPassantMode;
use shakmaty::fen::Fen;

use crate::net_emit::{families, random};
use crate::skip::skip;
use crate::{done, patzer};

fn convert(dir: &Path, line: &str) -> serde_json::Value {
    let args: Vec<&str> = ["net", "convert"].into_iter().chain(line.split(' ')).chain(["--json"]).collect();
    let output = patzer(dir, &args);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(dir: &Path, line: &str) -> String {
    let args: Vec<&str> = ["net", "convert"].into_iter().chain(line.split(' ')).collect();
    let output = patzer(dir, &args);
    assert_eq!(output.status.code(), Some(1), "{line}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.lines().count(), 1, "{errors}");
    errors
}

#[test]
fn every_named_layout_comes_back_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for (seed, named) in LAYOUTS.iter().enumerate() {
        let shape = Architecture { hidden: 24, ..named.architecture.clone() };
        let network = random(&shape, seed as u64, 60);
        std::fs::write(dir.join("a.nnue"), network.to_bytes()).unwrap();
        let name = &named.name;
        let said = convert(dir, &format!("a.nnue -o a.bin --to {name} --tolerance 1000"));
        assert_eq!(said["architecture"], shape.to_string());
        convert(dir, &format!("a.bin -o b.nnue --from {name} --tolerance 1000"));
        let read = Network::parse(&std::fs::read(dir.join("b.nnue")).unwrap()).unwrap();
        if named.layout.qa == 255 {
            assert_eq!(read.weights(), network.weights(), "{name}");
        }
        convert(dir, &format!("b.nnue -o b.bin --to {name} --tolerance 1000"));
        let bytes = |file: &str| std::fs::read(dir.join(file)).unwrap();
        assert!(bytes("a.bin") == bytes("b.bin"), "{name}");
    }
}

#[test]
fn options_change_a_layout_and_rounding_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let shape = Architecture { output_buckets: 4, ..Architecture::plain(8) };
    std::fs::write(dir.join("a.nnue"), random(&shape, 1, 60).to_bytes()).unwrap();
    let options =
        "--transpose features,outputs --bucket-order reversed --pad none --dtype i8 --qa 510 --qb 64";
    let said = convert(dir, &format!("a.nnue -o a.bin --to bullet {options}"));
    assert_eq!(
        (&said["qa"], &said["rounded"], &said["layout"]),
        (&510.into(), &serde_json::Value::Null, &"bullet".into())
    );
    // 768 · 8 and 4 · 16 weights of one byte, 8 and 4 biases of two.
    assert_eq!(said["bytes"], 768 * 8 + 64 + 24);
    let recipe = "--recipe default --set output_buckets=4 --hidden 8";
    convert(dir, &format!("a.bin -o b.nnue --from bullet {options} {recipe}"));
    let weights = |file: &str| Network::parse(&std::fs::read(dir.join(file)).unwrap()).unwrap().weights();
    assert_eq!(weights("a.nnue"), weights("b.nnue"));
    let said = convert(dir, "a.nnue -o c.bin --qa 181 --tolerance 1000");
    assert!(said["rounded"].as_u64().unwrap() > 1000, "{said}");
    assert!(
        said["mean_error"].as_f64().unwrap() > 0.1
            && said["max_error"].as_f64() > said["mean_error"].as_f64()
    );
    let said = convert(dir, "a.nnue -o c.bin --bucket-order 3,1,2,0");
    assert_eq!(said["rounded"], serde_json::Value::Null);
}

/// A network that knows pieces, as it is in its raw layout.
fn material(dir: &Path, shape: &Architecture) -> Vec<u8> {
    let random = random(shape, 3, 3);
    let (mut weights, hidden) = (random.weights(), shape.hidden);
    // The first neuron counts the own queens and rooks, and its weight is the side to move's.
    for row in 0..shape.rows() {
        weights.features[row * hidden] = [0, 0, 0, 80, 100, 0, 0, 0, 0, 0, 0, 0][row % 768 / 64];
    }
    weights.dense.iter_mut().for_each(|layers| layers[0].weights[0] = 120);
    let network = Network::new(shape.clone(), &weights, Default::default()).unwrap();
    std::fs::write(dir.join("known.nnue"), network.to_bytes()).unwrap();
    network.body()
}

#[test]
fn rounding_beyond_a_few_centipawns_is_refused_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    std::fs::write(dir.join("a.nnue"), random(&Architecture::plain(16), 1, 90).to_bytes()).unwrap();
    let error = refused(dir, "a.nnue -o a.bin --qa 16");
    assert!(error.contains("off by ") && error.contains(" of the layout; --tolerance "), "{error}");
    assert!(!dir.join("a.bin").exists());
    // Finer units come back to the same numbers, which are nothing to round.
    convert(dir, "a.nnue -o fine.bin --qa 765");
    let said = convert(dir, "fine.bin -o b.nnue --from patzer --qa 765 --tolerance 0");
    assert_eq!(said["rounded"], serde_json::Value::Null);
    convert(dir, "a.nnue -o a.bin --qa 16 --tolerance 100000");
    // Floats between the units of a network: half a unit too much in each weight.
    convert(dir, "a.nnue -o raw.bin --to bullet-raw");
    let mut floats = std::fs::read(dir.join("raw.bin")).unwrap();
    for bytes in floats.as_chunks_mut().0[..768 * 16].iter_mut() {
        *bytes = (f32::from_le_bytes(*bytes) + 0.49 / 255.0).to_le_bytes();
    }
    std::fs::write(dir.join("half.bin"), floats).unwrap();
    let error = refused(dir, "half.bin -o c.nnue --from bullet-raw --hidden 16 --quiet");
    assert!(error.contains(" numbers rounded to the units of a network"), "{error}");
}

#[test]
fn a_guessed_layout_that_knows_no_pieces_is_doubted() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let body = material(dir, &Architecture::plain(16));
    std::fs::write(dir.join("right.bin"), &body).unwrap();
    let said = |line: &str| {
        let output = patzer(dir, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(!said("net convert right.bin -o a.nnue").contains("queen"));
    convert(dir, "known.nnue -o wrong.bin --transpose features");
    let text = said("net convert wrong.bin -o b.nnue");
    assert!(
        text.contains("warning: wrong.bin: in this layout a queen is worth ") && text.contains("--from"),
        "{text}"
    );
    // A layout that is named is not doubted.
    assert!(!said("net convert wrong.bin -o b.nnue --from patzer").contains("queen"));
}

#[test]
fn floats_without_their_factoriser_are_refused_and_a_state_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let text = "hidden = 8\nmirror = true\nking_buckets = \"five\"\nfactoriser = true\n";
    std::fs::write(dir.join("r.toml"), text).unwrap();
    let shape = patzer_train::Settings::load(dir.join("r.toml").to_str().unwrap()).unwrap().architecture();
    let network = random(&shape, 1, 60);
    std::fs::write(dir.join("a.nnue"), network.to_bytes()).unwrap();
    convert(dir, "a.nnue -o raw.bin --to bullet-raw");
    let error = refused(dir, "raw.bin -o b.nnue --from bullet-raw --recipe r.toml");
    assert!(error.contains("lacks the weights of a factoriser"), "{error}");
    convert(dir, "raw.bin -o b.nnue --from bullet-raw --recipe r.toml --set factoriser=false");
    let bytes = |file: &str| std::fs::read(dir.join(file)).unwrap();
    let weights = |file: &str| Network::parse(&bytes(file)).unwrap().weights();
    assert_eq!(weights("b.nnue"), network.weights());
    // The state has the rows less what they share.
    let raw = bytes("raw.bin");
    let numbers: Vec<f32> = raw.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let (rows, rest) = numbers.split_at(shape.rows() * 8);
    let own: Vec<f32> = rows.iter().map(|weight| weight - 0.25).collect();
    let tensors = [
        ("l0b", &rest[..8]),
        ("l0f", &[0.25; 768 * 8][..]),
        ("l0w", &own),
        ("l1b", &rest[24..]),
        ("l1w", &rest[8..24]),
    ];
    let mut state = Vec::new();
    for (name, numbers) in tensors {
        state.extend([name.as_bytes(), b"\n", &(numbers.len() as u64).to_le_bytes()].concat());
        state.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }
    std::fs::write(dir.join("weights.bin"), state).unwrap();
    convert(dir, "weights.bin -o c.nnue --recipe r.toml");
    assert_eq!(weights("c.nnue"), network.weights());
    let line = |start: &str| {
        let line = format!("tune games.pgn --recipe r.toml --set start={start} --epochs 1");
        String::from_utf8(patzer(dir, &line.split(' ').collect::<Vec<_>>()).stderr).unwrap()
    };
    assert!(line("raw.bin").contains("lacks the weights of a factoriser"), "{}", line("raw.bin"));
    assert!(!line("weights.bin").contains("weights.bin"), "{}", line("weights.bin"));
}

#[test]
fn layouts_that_do_not_fit_get_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    std::fs::write(dir.join("a.nnue"), random(&Architecture::plain(8), 1, 90).to_bytes()).unwrap();
    std::fs::write(dir.join("junk.bin"), [7; 1000]).unwrap();
    let layers = Architecture { layers: vec![4], ..Architecture::plain(8) };
    std::fs::write(dir.join("layers.nnue"), random(&layers, 1, 60).to_bytes()).unwrap();
    // A plain network of 16 neurons takes 24,674 bytes, and 30 to pad them.
    let as_raw = |head: &[u8], fill: u8, size: usize| {
        let mut bytes = head.to_vec();
        bytes.resize(size, fill);
        bytes
    };
    std::fs::write(dir.join("fish.bin"), as_raw(&0x7AF3_2F20u32.to_le_bytes(), 0, 24_704)).unwrap();
    std::fs::write(dir.join("pack.bin"), as_raw(b"BINP", 0, 24_704)).unwrap();
    std::fs::write(dir.join("odd.bin"), as_raw(&[], 1, 24_704)).unwrap();
    std::fs::write(dir.join("mixed.bin"), as_raw(&[], 0, 12_600)).unwrap();
    // Nine king buckets of 768 features, 1,536 neurons.
    std::fs::write(dir.join("viridithas.bin"), vec![0; 21_242_944]).unwrap();
    for (line, expected) in [
        (
            "junk.bin -o x.nnue --from leorik-buckets",
            "junk.bin: its 1000 bytes are not the size of any (768x5hm->N)x2->1x8 screlu network in the layout",
        ),
        (
            "junk.bin -o x.nnue --from viridithas-13",
            "in the layout viridithas-13 (nine mirrored king buckets; later versions, with layers in floats, are not \
             read); `net convert` reads no such size",
        ),
        ("viridithas.bin -o x.nnue", "padded to 64); `net convert` reads this size --from viridithas-13"),
        ("viridithas.bin -o x.nnue --from viridithas", "reads this size --from viridithas-13"),
        ("a.nnue -o x.nnue --from bullet", "a.nnue: has a header"),
        ("a.nnue -o x.nnue --qa 181", "are for raw weights"),
        ("a.nnue -o x.bin --bucket-order 1,0", "the order of 1 output buckets has to name each of them once"),
        ("a.nnue -o x.bin --bucket-order last", "--bucket-order last: numbers such as"),
        ("a.nnue -o x.bin --dtype i8 --qa 1000", "beyond 8 bits; take smaller units"),
        ("a.nnue -o x.bin --dtype f32 --qa 181", "--qa: floats are not quantised"),
        ("a.nnue -o x.bin --to bullet-raw --qb 32", "--qb: floats are not quantised"),
        ("layers.nnue -o x.bin --dtype f32 --output-scale 200", "further layers in another scale"),
        ("fish.bin -o x.nnue", "fish.bin: is a network of Stockfish with the hash 0x00000000; of them"),
        ("pack.bin -o x.nnue --from bullet", "pack.bin: is a binpack of positions, not a network"),
        ("odd.bin -o x.nnue", "odd.bin: its last 30 bytes are neither zeros nor `bullet`"),
        (
            "mixed.bin -o x.nnue --from bullet --recipe default --set layers=[4] --hidden 8",
            "as in bullet's multi-layer example, are read --from bullet-layers, or by a layout file",
        ),
    ] {
        let errors = refused(dir, line);
        assert!(errors.contains(expected), "{line}: {errors}");
        assert!(!dir.join("x.nnue").exists() && !dir.join("x.bin").exists());
    }
}

/// Standard output and error of a command of `net` that succeeds.
fn said(dir: &Path, line: &str) -> (String, String) {
    let args: Vec<&str> = ["net"].into_iter().chain(line.split(' ')).collect();
    let output = patzer(dir, &args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{line}: {stderr}");
    (stdout, stderr)
}

#[test]
fn every_command_says_as_what_it_takes_raw_weights() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let layers = Architecture { hidden: 24, layers: vec![4], output_buckets: 2, ..Architecture::plain(1) };
    std::fs::write(dir.join("plain.nnue"), random(&Architecture::plain(8), 1, 90).to_bytes()).unwrap();
    std::fs::write(dir.join("layers.nnue"), random(&layers, 2, 60).to_bytes()).unwrap();
    convert(dir, "plain.nnue -o plain.bin");
    for layout in ["patzer", "bullet"] {
        convert(dir, &format!("layers.nnue -o {layout}.bin --to {layout}"));
    }
    let taken = "plain.bin: taken as (768->8)x2->1 screlu by its size; --from names another layout, --recipe another \
                 architecture";
    for line in ["info plain.bin", "emit plain.bin -o x.h", "convert plain.bin -o x.nnue"] {
        assert!(said(dir, line).1.contains(taken), "{line}");
    }
    // The recipe has 64 neurons: the size of the file says 24.
    let recipe = "--recipe default --set layers=[4] --set output_buckets=2";
    for (file, layout) in [
        ("bullet.bin", "bullet by its padding; bullet-columns differs"),
        ("patzer.bin", "patzer; bullet and bullet-columns differ"),
    ] {
        for line in
            [format!("info {file}"), format!("emit {file} -o x.h"), format!("convert {file} -o x.nnue")]
        {
            let errors = said(dir, &format!("{line} {recipe}")).1;
            assert!(
                errors.contains(&format!("{file}: taken in the layout {layout}, which --from")),
                "{line}: {errors}"
            );
            assert!(
                errors.contains("taken as (768->24)x2->4->1x2 screlu by its size; --hidden"),
                "{line}: {errors}"
            );
        }
        let read = Network::parse(&std::fs::read(dir.join("x.nnue")).unwrap()).unwrap();
        let whole = Network::parse(&std::fs::read(dir.join("layers.nnue")).unwrap()).unwrap();
        assert_eq!(read.weights(), whole.weights(), "{file}");
    }
    // Named architectures give no note.
    let (_, errors) = said(dir, &format!("info bullet.bin --from bullet --hidden 24 {recipe}"));
    assert_eq!(errors, "");
    let (text, _) = said(dir, &format!("info bullet.bin --from bullet {recipe}"));
    assert!(text.contains("layout        bullet"), "{text}");
}

#[test]
fn the_page_has_every_layout() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/networks-arithmetic.md");
    let text = std::fs::read_to_string(page).unwrap();
    let row = |layout: &NamedLayout| {
        let (Layout { qa, qb, scale, .. }, shape) = (&layout.layout, &layout.architecture);
        let units = if layout.layout.is_float() { "floats".to_string() } else { format!("{qa}, {qb}") };
        let shape = shape.to_string().replace("->1)", "->N)");
        format!("| `{}` | {} | {shape} | {units}, {scale} |\n", layout.name, layout.about)
    };
    let table: String = LAYOUTS.iter().map(row).collect();
    assert!(text.contains(&table), "the page lacks:\n{table}");
    for layout in LAYOUTS.iter() {
        let map = String::from(layout.architecture.king_buckets.clone());
        let row = format!("| `{}` | `{map}` |\n", layout.name);
        assert!(map == "none" || text.contains(&row), "the page lacks {row}");
    }
}

#[test]
fn a_form_without_emitted_code_is_refused_by_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let white = Architecture { perspectives: 1, white_perspective: true, ..Architecture::plain(8) };
    std::fs::write(folder.path().join("net.nnue"), random(&white, 1, 90).to_bytes()).unwrap();
    let output = patzer(folder.path(), &["net", "emit", "net.nnue", "--format", "c"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("net.nnue: its `white_view` has no code to emit"), "{errors}");
}

#[test]
fn the_numpy_program_of_the_page_agrees_to_the_centipawn() {
    let numpy = Command::new("python3").args(["-c", "import numpy, tomllib"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        return skip("docs/nnue.py", "python3 lacks numpy or tomllib");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut fens = Vec::new();
    patzer_chess::testing::along_random_games(7, 2, 60, |position| fens.push(position.clone()));
    let lines: String = fens
        .iter()
        .map(|position| format!("{}\n", Fen::from_position(position, EnPassantMode::Legal)))
        .collect();
    let white = Architecture {
        perspectives: 1,
        white_perspective: true,
        mirror: true,
        psqt: true,
        ..Architecture::plain(8)
    };
    // Sums and piece-square values wrap to 16 bits where weights are large.
    let shapes = families().into_iter().chain([("white", white.clone(), 90), ("wraps", white, 9000)]);
    for (seed, (name, shape, bound)) in shapes.enumerate() {
        if !shape.features.is_all() {
            continue;
        }
        let network = random(&shape, seed as u64, bound);
        let file = folder.path().join("net.nnue");
        std::fs::write(&file, network.to_bytes()).unwrap();
        let mut command = Command::new("python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/nnue.py")).arg(&file);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let plain = PlainNnue::new(&network);
        let value =
            |position: &shakmaty::Chess| format!("{}\n", plain.evaluate(position, &Reading::default()));
        let expected: String = fens.iter().map(value).collect();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_recipe_starts_from_the_files_of_bullet_and_of_any_named_layout() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let small = patzer_train::Settings::load("small").unwrap();
    let network = random(&small.architecture(), 5, 90);
    std::fs::write(dir.join("a.nnue"), network.to_bytes()).unwrap();
    let start = |settings: &patzer_train::Settings, file: &str, layout: Option<&str>| {
        let start_layout = layout.map(str::to_string);
        patzer_train::Settings { start: Some(dir.join(file)), start_layout, ..settings.clone() }.start()
    };
    convert(dir, "a.nnue -o quantised.bin --to bullet");
    convert(dir, "a.nnue -o raw.bin --to bullet-raw");
    for (file, layout) in
        [("quantised.bin", Some("bullet")), ("raw.bin", Some("bullet-raw")), ("a.nnue", None)]
    {
        let found = start(&small, file, None).unwrap().unwrap();
        assert_eq!(found.network.weights(), network.weights(), "{file}");
        assert_eq!(found.raw.map(|raw| raw.layout).as_deref(), layout);
    }
    for named in LAYOUTS.iter().filter(|named| named.layout.qa == 255) {
        let shape = Architecture { hidden: 16, ..named.architecture.clone() };
        let Architecture { activation, mirror, king_buckets, output_buckets, output_by, layers, .. } =
            shape.clone();
        let layer_activations = shape.layer_activations.clone();
        let settings =
            patzer_train::Settings { activation, mirror, king_buckets, output_buckets, ..small.clone() };
        let settings = patzer_train::Settings { output_by, layers, layer_activations, ..settings };
        let network = random(&shape, 6, 60);
        std::fs::write(dir.join("b.nnue"), network.to_bytes()).unwrap();
        convert(dir, &format!("b.nnue -o b.bin --to {}", named.name));
        let found = start(&settings, "b.bin", Some(&named.name)).unwrap().unwrap();
        assert_eq!(found.network.weights(), network.weights(), "{}", named.name);
    }
    std::fs::write(dir.join("junk.bin"), [1; 999]).unwrap();
    let fault = |layout| start(&small, "junk.bin", layout).unwrap_err().to_string();
    assert!(fault(None).contains("junk.bin: is neither a .nnue file nor of the size of (768->16)x2->1"));
    assert!(fault(Some("akimbo-0.6")).contains("takes 24674 bytes in this layout, the file has 999"));
}

#[test]
fn tune_says_and_keeps_the_layout_that_it_guesses() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    done(dir, concat!("extract ", env!("CARGO_MANIFEST_DIR"), "/fixtures/engine.pgn.zst --sample 2000"));
    let shape = Architecture { output_buckets: 4, ..Architecture::plain(16) };
    std::fs::write(dir.join("a.nnue"), random(&shape, 5, 60).to_bytes()).unwrap();
    convert(dir, "a.nnue -o quantised.bin --to bullet-columns");
    let tune = |more: &str| {
        let line =
            format!("tune --set output_buckets=4 --set start=quantised.bin --epochs 1 --overwrite {more}");
        let output = patzer(dir, &line.split_whitespace().collect::<Vec<_>>());
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let kept =
        || Network::parse(&std::fs::read(dir.join("new.nnue")).unwrap()).unwrap().about().description.clone();
    let (trained, errors) = tune("");
    let said = "quantised.bin: taken as (768->16)x2->1x4 screlu by its size in the layout bullet; start_layout names";
    assert!(trained && errors.matches(said).count() == 1, "{errors}");
    assert!(kept().ends_with(", from raw weights in the layout bullet"));
    let (trained, errors) = tune("--set start_layout=bullet-columns");
    assert!(trained && !errors.contains("taken as"), "{errors}");
    assert!(kept().ends_with(", from raw weights in the layout bullet-columns"));
    let (trained, errors) = tune("--set start_layout=bulet");
    let fault = "start_layout = \"bulet\": no such layout; did you mean `bullet`?";
    assert!(!trained && errors.contains(fault), "{errors}");
}
