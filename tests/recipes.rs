//! The recipes of CONTRIBUTING.md, walked for real: a copy of the crates gets a thing as each recipe says, and is
//! built and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use patzer_eval::{Evaluation, Evaluator, hce::Hce, nnue::Nnue};
use shakmaty::{CastlingMode, Chess, fen::Fen};

const POSITIONS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
];

const CRATES: [&str; 3] = ["chess", "eval", "engine"];

/// A workspace of its own with the changes of every recipe.
static CHANGED: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("recipes/workspace");
    let _ = fs::remove_dir_all(&workspace);
    for name in CRATES {
        copy(&root.join("crates").join(name), &workspace.join("crates").join(name));
    }
    fs::copy(root.join("Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    fs::write(workspace.join("Cargo.toml"), workspace_manifest(&manifest)).unwrap();
    add_term(&workspace.join("crates/eval/src/hce/terms"));
    add_feature_block(&workspace.join("crates/eval/src/nnue/features"));
    add_uci_option(&workspace.join("crates/engine/src/uci"));
    workspace
});

/// Runs a program as an example of the changed engine; what it prints.
fn run(name: &str, program: &str) -> String {
    let examples = CHANGED.join("crates/engine/examples");
    fs::create_dir_all(&examples).unwrap();
    fs::write(examples.join(format!("{name}.rs")), program).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--package", "patzer-engine", "--example", name])
        .args(["--target-dir", "../target"])
        .current_dir(&*CHANGED)
        .env_remove("EVALFILE")
        // As `make EXE=NAME TUNE=1` does.
        .env("PATZER_TUNE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The root manifest without its package, and with only the copied crates of the workspace's own.
fn workspace_manifest(text: &str) -> String {
    let manifest: toml::Table = toml::from_str(text).unwrap();
    let mut workspace = manifest["workspace"].as_table().unwrap().clone();
    workspace.remove("default-members");
    let kept = |name: &str| name.strip_prefix("patzer-").is_none_or(|name| CRATES.contains(&name));
    workspace["dependencies"].as_table_mut().unwrap().retain(|name, _| kept(name));
    toml::to_string(&toml::Table::from_iter([("workspace".to_string(), workspace.into())])).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Inserts text before the only occurrence of a marker in a file of the copy.
fn insert(path: PathBuf, marker: &str, text: &str) {
    let source = fs::read_to_string(&path).unwrap();
    assert_eq!(source.matches(marker).count(), 1, "{}: {marker}", path.display());
    fs::write(path, source.replace(marker, &format!("{text}{marker}"))).unwrap();
}

fn evaluations(mut evaluator: impl Evaluator) -> String {
    let score = |fen: &&str| {
        let position: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        evaluator.evaluate(&position, 0)
    };
    format!("{:?}", POSITIONS.iter().map(score).collect::<Vec<_>>())
}

/// A program that prints the evaluations of an embedded evaluation after `start`, which defines `evaluator`.
fn program(start: &str) -> String {
    format!(
        "use patzer_eval::{{Evaluation, Evaluator, hce, nnue}};
        use shakmaty::{{CastlingMode, Chess, fen::Fen}};

        fn main() {{
            {start}
            let score = |fen: &&str| {{
                let fen = fen.parse::<Fen>().unwrap();
                let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
                evaluator.evaluate(&position, 0)
            }};
            print!(\"{{:?}}\", {POSITIONS:?}.iter().map(score).collect::<Vec<_>>());
        }}"
    )
}

fn add_term(terms: &Path) {
    let term = r#"//! Castled kings.

        use shakmaty::{Bitboard, Color};

        use crate::hce::context::Context;
        use crate::hce::sink::Sink;

        term! {
            "castled", "kings away from the centre";
            KING = single("king", "a king off the files d and e");
        }

        pub fn pieces<S: Sink>(c: &Context<'_>, us: Color, sink: &mut S) {
            const CENTRE: Bitboard = Bitboard(0x1818_1818_1818_1818);
            let castled = c.kings[us].is_some_and(|king| !CENTRE.contains(king));
            sink.add(us, KING, i32::from(castled));
        }
    "#;
    fs::write(terms.join("castled.rs"), term).unwrap();
    insert(terms.join("mod.rs"), "    tempo: pieces;\n", "    castled: pieces;\n");
}

fn add_feature_block(features: &Path) {
    let function = "pub(super) fn wing(perspective: &Perspective, bits: &mut Bits<'_>) {
        each(perspective, bits, 2, |file, _| file / 4);
    }\n\n";
    insert(features.join("lines.rs"), "pub(super) fn rank(", function);
    let row = "    block(\"w\", [24, 24], lines::wing, \"wing, role, colour\"),\n";
    insert(features.join("mod.rs"), "    block(\"mb\",", row);
}

fn add_uci_option(uci: &Path) {
    let row = "    UciOption::spin(\"Contempt\", 7, 0, 50, |_, _| Ok(()))
        .in_process(InProcess::Number { max: 50, set: |player, mb| player.hash_mb = mb as usize }),\n";
    insert(uci.join("options.rs"), "    UciOption::new(\"EvalFile\",", row);
}

#[test]
fn every_place_that_a_recipe_changes_is_there() {
    assert!(CHANGED.join("crates/eval/src/hce/terms/castled.rs").exists());
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_an_evaluation_term_is_one_file_and_one_line() {
    let start = r#"
        let weights = match Evaluation::default_hce() {
            Evaluation::Hce(weights) => weights,
            Evaluation::Nnue(_) => unreachable!(),
        };
        assert_eq!(weights.missing(), ["castled"]);
        assert!(hce::describe().contains("castled.king: a king off the files d and e (1)"));
        assert!(weights.to_toml().contains("[castled]"));
        let mut evaluator = hce::Hce::new(weights);
        let _ = nnue::Network::embedded();
    "#;
    let Evaluation::Hce(weights) = Evaluation::default_hce() else { unreachable!() };
    assert_eq!(run("term", &program(start)), evaluations(Hce::new(weights)));
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_a_feature_block_is_a_function_and_a_row() {
    let start = r#"
        use nnue::{About, Architecture, Network, Nnue, features::Features};
        let features = Features::parse("all+w").unwrap();
        assert_eq!((features.count(), features.most()), (768 + 24, 32 + 24));
        let architecture = Architecture { features, ..Architecture::plain(8) };
        let body = vec![0; 2 * architecture.parameters()];
        let network = Network::of_body(architecture, &body, About::default()).unwrap();
        let network = Network::parse(&network.to_bytes()).unwrap();
        assert_eq!(Nnue::new(network.into()).evaluate(&Chess::default(), 0), 0);
        let _ = (Evaluation::EMBEDDED, hce::COUNT);
        let mut evaluator = Nnue::new(Network::embedded().into());
    "#;
    let Evaluation::Nnue(network) = Evaluation::default() else { unreachable!() };
    assert_eq!(run("block", &program(start)), evaluations(Nnue::new(network)));
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_a_uci_option_is_one_row() {
    let program = r#"
        use patzer_engine::{PlayerSettings, uci};
        fn main() {
            let mut player = PlayerSettings {
                hash_mb: 1,
                overhead: std::time::Duration::ZERO,
                search: patzer_engine::SearchKind::default(),
            };
            player.set("contempt", "9").unwrap();
            assert_eq!(player.hash_mb, 9);
            let commands = ["uci", "setoption name Contempt value 50", "setoption name Contempt value 51"];
            let carried_out = uci::carry_out(&commands.map(String::from));
            assert!(!carried_out);
        }
    "#;
    let printed = run("option", program);
    assert!(printed.contains("option name Contempt type spin default 7 min 0 max 50\n"), "{printed}");
    assert!(printed.lines().last().unwrap().contains("a number from 0 to 50, not `51`"), "{printed}");
    assert!(printed.contains("option name rfp_margin type spin default "), "{printed}");
}

#[test]
fn a_format_is_named_in_the_files_of_its_recipe_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut named = Vec::new();
    for folder in ["src", "crates", "fuzz", "tests", "benches"] {
        name_files(&root.join(folder), "marlin", &mut named);
    }
    let mut named: Vec<String> =
        named.iter().map(|file| file.strip_prefix(root).unwrap().display().to_string()).collect();
    named.sort();
    let recipe = [
        "crates/formats/src/foreign/mod.rs",
        "crates/formats/src/registry.rs",
        "fuzz/Cargo.toml",
        "fuzz/fuzz_targets/marlin.rs",
        // Only for a promise beyond that of every format.
        "fuzz/src/formats.rs",
        "fuzz/src/lib.rs",
        // Golden bytes, which no new format owes.
        "tests/pipeline.rs",
        "tests/recipes.rs",
    ];
    assert_eq!(named, recipe);
}

/// Finds the sources below a folder that have a word.
fn name_files(folder: &Path, word: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "corpus"].contains(&name.as_str()) {
            name_files(&path, word, found);
        } else if name.ends_with(".rs") || name == "Cargo.toml" {
            let text = fs::read_to_string(&path).unwrap();
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if text.split(|c| !is_part(c)).any(|part| part == word) {
                found.push(path);
            }
        }
    }
}
