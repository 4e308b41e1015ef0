//! Fuzz targets by name: what must hold for any bytes that reach a reader. `tests/fuzz_corpus.rs` replays
//! `fuzz/corpus` through every target; `make fuzz` looks for new inputs. docs/fuzzing.md says how to add a target.

mod engine;
mod files;
mod fits;
mod formats;
mod games;
mod matches;
mod networks;
mod settings;

/// Panics if the bytes break what the target promises.
pub type Target = fn(&[u8]);

/// Every target. Each has a binary in Cargo.toml and a folder in corpus.
pub const TARGETS: &[(&str, Target)] = &[
    ("pgn", games::pgn),
    ("comments", games::comments),
    ("lines", games::lines),
    ("partial", games::partial),
    ("parquet", formats::parquet),
    ("bullet", formats::bullet),
    ("viri", |bytes| formats::stream("viri", bytes)),
    ("monty", formats::monty),
    ("montyvalue", |bytes| formats::stream("montyvalue", bytes)),
    ("binpack", |bytes| formats::stream("binpack", bytes)),
    ("bin", |bytes| formats::stream("bin", bytes)),
    ("marlin", formats::marlin),
    ("csv", formats::csv),
    ("jsonl", |bytes| formats::stream("jsonl", bytes)),
    ("epd", formats::epd),
    ("plain", |bytes| formats::stream("plain", bytes)),
    ("network", networks::network),
    ("body", networks::body),
    ("layout", networks::layout),
    ("checkpoint", networks::checkpoint),
    ("weights", settings::weights),
    ("recipe", settings::recipe),
    ("filters", settings::filters),
    ("terms", settings::terms),
    ("traces", settings::traces),
    ("journal", matches::journal),
    ("selfplay", matches::selfplay),
    ("book", matches::book),
    ("polyglot", matches::polyglot),
    ("puzzles", matches::puzzles),
    ("params", matches::params),
    ("histogram", fits::histogram),
    ("strengths", fits::strengths),
    ("teacher", fits::teacher),
    ("output", engine::output),
    ("commands", engine::commands),
    ("compressed", files::compressed),
    ("report", files::report),
    ("result", files::result),
];

/// Runs a target on an input.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of the table");
    target(bytes);
}
