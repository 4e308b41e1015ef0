//! The plan of the house, held against the code: which crate may use which, and no circles of files.

mod imports;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files, by the beginnings of their paths, that are one idea and may import each other.
const ONE_IDEA: &[&[&str]] = &[
    // A type and its `impl` files.
    &[
        "crates/engine/src/extensions",
        "crates/engine/src/mate",
        "crates/engine/src/pruning",
        "crates/engine/src/quiescence",
        "crates/engine/src/root",
        "crates/engine/src/search",
    ],
    &["crates/engine/src/limits", "crates/engine/src/strength"],
    &["crates/engine/src/mcts/"],
    &["crates/match/src/pgn/"],
    &["crates/train/src/settings/"],
    &["crates/uci/src/ponder", "crates/uci/src/uci_player"],
    // A registry and its rows.
    &["crates/eval/src/hce/"],
    &["crates/engine/src/uci/"],
    &["crates/eval/src/nnue/features/"],
    &["crates/eval/src/nnue/simd/"],
    &["crates/experiments/src/race/policy/"],
    &["crates/fastchess/src/"],
    &["crates/report/src/inputs/"],
    // Templates and the numbers that fill them.
    &["crates/emit/src/"],
    // A command and its steps.
    &["src/data/"],
    &["src/elo"],
    &["src/label/"],
    &["src/moves/"],
    &["src/net"],
    &["src/report/"],
    &["src/tune/"],
    &["src/wdl/"],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Crates in the order of ARCHITECTURE.md's table, which is the order in which data flows.
fn table() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| Some(row.split_once("` |")?.0.to_string())).collect()
}

/// Folders of the project's own crates that a manifest depends on, tests aside.
fn dependencies(manifest: &Path) -> Vec<String> {
    let read = |path: &Path| fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let workspace = read(&root().join("Cargo.toml"));
    let folder = |name: &String| {
        let path = workspace["workspace"]["dependencies"].get(name)?.get("path")?;
        Some(path.as_str()?.strip_prefix("crates/")?.to_string())
    };
    read(manifest)["dependencies"].as_table().unwrap().keys().filter_map(folder).collect()
}

#[test]
fn a_crate_depends_only_on_crates_above_it() {
    let table = table();
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().file_name());
    let members: BTreeSet<String> = folders.map(|name| name.into_string().unwrap()).collect();
    let listed: BTreeSet<String> = table.iter().cloned().chain(["python".to_string()]).collect();
    assert_eq!(members, listed, "ARCHITECTURE.md lists every crate once");
    for (place, name) in table.iter().enumerate() {
        for used in dependencies(&root().join("crates").join(name).join("Cargo.toml")) {
            let above = table[..place].contains(&used);
            assert!(above, "{name} depends on {used}, which ARCHITECTURE.md has below it");
        }
    }
}

#[test]
fn libraries_do_not_know_the_command_line() {
    for name in table() {
        let manifest = fs::read_to_string(root().join("crates").join(&name).join("Cargo.toml")).unwrap();
        assert!(!manifest.lines().any(|line| line.starts_with("clap")), "{name} depends on clap");
    }
}

/// Crates whose subject is a command line.
const COMMAND_LINES: &[&str] = &["fastchess", "python"];

#[test]
fn libraries_name_no_options() {
    let mut found = Vec::new();
    for name in table().iter().filter(|name| !COMMAND_LINES.contains(&name.as_str())) {
        for file in rust_files(&root().join("crates").join(name).join("src")) {
            let path = file.strip_prefix(root()).unwrap().display().to_string();
            if ["/src/bin/", "tests", "gpu/ptx.rs"].iter().any(|part| path.contains(part)) {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("\n#[cfg(test)]").next().unwrap_or_default().lines().enumerate();
            let named = code.filter(|(_, line)| !line.trim_start().starts_with("//") && names_option(line));
            found.extend(named.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
        }
    }
    assert!(found.is_empty(), "`src` has the words of the command line:\n{}", found.join("\n"));
    assert!(names_option(r#""give --k""#) && !names_option("a -- b"));
}

/// Tests for `--` with a letter after it, which Rust has in texts alone.
fn names_option(line: &str) -> bool {
    line.split("--").skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let rust = files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    rust.chain(folders.iter().flat_map(|folder| rust_files(folder))).collect()
}

#[test]
fn files_of_different_ideas_do_not_import_each_other_in_a_circle() {
    let mut sources: Vec<PathBuf> =
        table().iter().map(|name| root().join("crates").join(name).join("src")).collect();
    sources.push(root().join("src"));
    let (mut circles, mut used) = (Vec::new(), BTreeSet::new());
    for source in sources {
        for circle in imports::circles(&source) {
            let name =
                |file: &PathBuf| file.strip_prefix(root()).unwrap().with_extension("").display().to_string();
            let files: Vec<String> = circle.iter().map(name).collect();
            let one =
                |idea: &&[&str]| files.iter().all(|file| idea.iter().any(|begin| file.starts_with(begin)));
            match ONE_IDEA.iter().position(one) {
                Some(idea) => drop(used.insert(idea)),
                None => circles.push(files.join(" ")),
            }
        }
    }
    assert!(circles.is_empty(), "{} circles:\n{}", circles.len(), circles.join("\n"));
    let unused: Vec<_> =
        (0..ONE_IDEA.len()).filter(|idea| !used.contains(idea)).map(|idea| ONE_IDEA[idea]).collect();
    assert!(unused.is_empty(), "no circle is left of {unused:?}");
}
