//! `patzer net identify` and layout files: raw weights that nobody describes.

use std::path::Path;

use patzer_eval::nnue::Network;
use patzer_eval::nnue::layout::NamedLayout;

use crate::{done, mock, patzer, program};

/// A layout of no named program, of the embedded network's architecture.
const ODD: &str = r#"
about = "a test"
qa = 510
qb = 128
header = "4e45540100000000"
padding = "zeros"

[architecture]
mirror = true
king_buckets = "KINGS"
output_buckets = 8
activation = "screlu"

[[tensor]]
name = "bias"
align = 64

[[tensor]]
name = "features"
order = ["king_bucket", "role", "colour", "square", "neuron"]
squares = "h8"
colours = "other"

[[tensor]]
name = "weights"
order = ["input", "output_bucket", "output"]

[[tensor]]
name = "biases"
"#;

fn embedded() -> Network {
    Network::embedded()
}

fn json(dir: &Path, args: &[&str]) -> serde_json::Value {
    let output = patzer(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_file_without_a_word_is_identified_and_read_by_its_layout_file() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    done(dir, "net convert default -o net.bin --to bullet");
    std::fs::remove_file(dir.join("net.bin.sha256")).unwrap();
    let found = json(dir, &["net", "identify", "net.bin", "-o", "found.toml", "--json"]);
    let best = &found["readings"][0];
    let shape = embedded().architecture().to_string();
    assert_eq!((&best["architecture"], &found["decided"]), (&shape.into(), &true.into()));
    assert!(best["agreement"].as_f64().unwrap() > 0.99, "{best}");
    let text = std::fs::read_to_string(dir.join("found.toml")).unwrap();
    assert_eq!(found["layout_file"], text);
    done(dir, "net convert net.bin -o again.nnue --from found.toml");
    let again = Network::parse(&std::fs::read(dir.join("again.nnue")).unwrap()).unwrap();
    assert!(again.weights() == embedded().weights());
    done(dir, "net convert again.nnue -o again.bin --to found.toml");
    let bytes = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert!(bytes("again.bin") == bytes("net.bin"));
}

#[test]
fn an_engine_decides_units() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    done(dir, "net convert default -o net.nnue");
    done(dir, "net convert default -o net.bin --to bullet --pad none");
    let engine = mock::command("option.EvalFile=net.nnue option.Reading=right");
    let mut command = program();
    command.env(mock::VARIABLE, "eval").current_dir(dir);
    command.args(["net", "identify", "net.bin", "--json", "--engine", &engine]);
    let output = command.output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let best = &found["readings"][0];
    assert_eq!(
        (&best["equal"], &best["qa"], &best["scale"]),
        (&250.into(), &255.into(), &400.into()),
        "{best}"
    );
    assert_eq!(found["positions"], 250);
}

#[test]
fn what_is_no_network_of_one_layer_gets_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    done(dir, "net init --random --hidden 32 --seed 5 -o random.nnue");
    done(dir, "net convert random.nnue -o random.bin");
    std::fs::write(dir.join("short.bin"), [7; 1000]).unwrap();
    for (file, reason) in [
        ("random.nnue", "is a .nnue file, which says what it is"),
        ("random.bin", "no reading of its size makes sense: the best, (768"),
        ("short.bin", "its 1,000 bytes are the size of no network of one hidden layer"),
        ("none.bin", "none.bin: "),
    ] {
        let output = patzer(dir, &["net", "identify", file]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
        assert!(errors.contains(file) && errors.contains(reason), "{errors}");
    }
}

#[test]
fn a_layout_file_is_shown_checked_and_used_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let network = embedded();
    let kings = String::from(network.architecture().king_buckets.clone());
    std::fs::write(dir.join("odd.toml"), ODD.replace("KINGS", &kings)).unwrap();
    done(dir, "net layouts odd.toml");
    done(dir, "net convert default -o odd.bin --to odd.toml");
    let said = json(dir, &["net", "info", "odd.bin", "--from", "odd.toml", "--json"]);
    assert_eq!((&said["layout"], &said["qa"], &said["qb"]), (&"odd.toml".into(), &510.into(), &128.into()));
    done(dir, "net convert odd.bin -o back.nnue --from odd.toml");
    let back = Network::parse(&std::fs::read(dir.join("back.nnue")).unwrap()).unwrap();
    assert!(back.weights() == network.weights());
    for named in patzer_eval::nnue::layout::LAYOUTS.iter() {
        let output = patzer(dir, &["net", "layouts", &named.name]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(NamedLayout::parse(&named.name, &text).unwrap().layout, named.layout, "{}", named.name);
    }
    std::fs::write(dir.join("bad.toml"), "about = ''\nqa = \"x\"").unwrap();
    for (line, reason) in [
        ("net convert default -o x.bin --to bad.toml", "bad.toml: line 2: invalid type"),
        ("net convert default -o x.bin --to buletin", "--to buletin: no such layout"),
        ("net layouts none.toml", "none.toml: "),
    ] {
        let output = patzer(dir, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(reason), "{line}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}
