//! Replays the committed corpus of every fuzz target, and holds table, binaries and corpus together.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use patzer_formats::registry::{self, Read};
use sha2::{Digest, Sha256};

// The targets' own file, so that they compile wherever the tests do.
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::TARGETS;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn every_input_of_the_corpus_passes_its_target() {
    let mut failed = Vec::new();
    for (target, _) in TARGETS {
        let corpus = folder().join("corpus").join(target);
        for name in names(&corpus) {
            let bytes = fs::read(corpus.join(&name)).unwrap();
            if std::panic::catch_unwind(|| fuzz::run(target, &bytes)).is_err() {
                failed.push(format!("fuzz/corpus/{target}/{name}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_a_binary_and_a_corpus_and_the_reverse() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "names are unique");
    let manifest: toml::Table = fs::read_to_string(folder().join("Cargo.toml")).unwrap().parse().unwrap();
    let binaries = manifest["bin"].as_array().unwrap().iter().map(|bin| {
        let name = bin["name"].as_str().unwrap().to_string();
        assert_eq!(bin["path"].as_str(), Some(&*format!("fuzz_targets/{name}.rs")));
        let text = fs::read_to_string(folder().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(text.contains(&format!("run(\"{name}\", bytes)")), "{name}.rs runs another target");
        name
    });
    assert_eq!(binaries.collect::<BTreeSet<String>>(), targets);
    let files: BTreeSet<String> = targets.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(names(&folder().join("fuzz_targets")), files);
    assert_eq!(names(&folder().join("corpus")), targets);
}

#[test]
fn every_format_has_a_target() {
    for format in registry::FORMATS {
        let target = match format.read {
            Read::Dataset | Read::Table => "parquet",
            // One reader for all dialects.
            Read::Stream(_) if format.dialect.is_some() => "epd",
            Read::Stream(_) => format.name,
        };
        assert!(TARGETS.iter().any(|(name, _)| *name == target), "{target}");
    }
}

#[test]
fn the_corpus_is_small_and_no_target_is_without() {
    let mut bytes = 0;
    for (target, _) in TARGETS {
        let corpus = folder().join("corpus").join(target);
        let files = names(&corpus);
        assert!(!files.is_empty(), "{target} has no input");
        for name in &files {
            let hash = format!("{:x}", Sha256::digest(fs::read(corpus.join(name)).unwrap()));
            assert_eq!(
                name.trim_start_matches("crash-"),
                &hash[..16],
                "{target}: tools/keep-input.sh names inputs"
            );
        }
        bytes += files.iter().map(|name| fs::metadata(corpus.join(name)).unwrap().len()).sum::<u64>();
    }
    assert!(bytes < 300_000, "{bytes} bytes");
}
