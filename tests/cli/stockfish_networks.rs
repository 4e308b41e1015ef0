//! Networks of Stockfish as files that commands take.

use std::path::Path;
use std::sync::Arc;

use patzer_data::Dataset;
use patzer_eval::stockfish::parameters::{BUCKETS, FIRST, Layer, ROWS, SECOND, SECOND_INPUTS, Stack};
use patzer_eval::stockfish::{Network, Parameters, Stockfish};
use patzer_eval::{BoardEvaluator, Evaluation};
use tempfile::TempDir;

use crate::{done, error, patzer};

/// A network that counts material, by its piece-square values alone.
fn material() -> Parameters {
    const VALUES: [i32; 11] = [100, -100, 300, -300, 300, -300, 500, -500, 900, -900, 0];
    let internal = |centipawns: i32| 16 * centipawns * 377 / 100;
    let psqt = |at: usize| internal(VALUES[at / BUCKETS / 64 % 11]);
    let layer = |inputs: usize, outputs| Layer { bias: vec![0; outputs], weights: vec![0; inputs * outputs] };
    let stack =
        Stack { first: layer(64, FIRST), second: layer(SECOND_INPUTS, SECOND), output: layer(SECOND, 1) };
    Parameters {
        description: "counts material".into(),
        bias: vec![0; 64],
        weights: vec![0; 64 * ROWS],
        psqt: (0..ROWS * BUCKETS).map(psqt).collect(),
        stacks: vec![stack; BUCKETS],
        compressed: true,
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("fish.nnue"), material().to_bytes()).unwrap();
    folder
}

#[test]
fn info_names_architecture_unit_and_licence() {
    let folder = folder();
    let said = done(folder.path(), "net info fish.nnue");
    for part in [
        "stockfish network",
        "(HalfKAv2_hm->64)x2->15+1->32->1x8",
        "377 internal",
        "counts material",
        "GPL-3.0",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let refused =
        ["net convert fish.nnue -o x.bin", "net emit fish.nnue -o x.h", "net check fish.nnue ./engine"];
    for line in refused {
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(
            error(&output).contains("fish.nnue: is a network of Stockfish, in units of its own"),
            "{line}"
        );
    }
    let mut older = material().to_bytes();
    older[4] ^= 1;
    std::fs::write(folder.path().join("older.nnue"), older).unwrap();
    let output = patzer(folder.path(), &["net", "info", "older.nnue"]);
    assert!(error(&output).contains("of them patzer reads those of 15.1 to 17.1"));
}

#[test]
fn positions_are_evaluated_played_and_labelled() {
    let folder = folder();
    let here = folder.path();
    let without_queen = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1";
    let said =
        String::from_utf8(patzer(here, &["eval", "--eval", "fish.nnue", without_queen]).stdout).unwrap();
    assert!(said.contains("+900 centipawns for White, -900 for the side to move"), "{said}");
    assert!(said.contains("-> bucket  7    +900"), "{said}");
    let said = done(here, "match fish.nnue default --games 2 --nodes 200 --seed 1 -o games.pgn");
    assert!(said.contains("fish"), "{said}");

    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    done(here, &format!("extract {} --sample 2000 --seed 3", games.display()));
    done(here, "label --static --eval fish.nnue -o labelled.parquet");
    let card = done(here, "data card labelled.parquet");
    assert!(card.contains("a network of Stockfish, GPL-3.0-or-later"), "{card}");
    let network = Network::parse(&std::fs::read(here.join("fish.nnue")).unwrap()).unwrap();
    let mut stockfish = Stockfish::new(Arc::new(network));
    let labelled = Dataset::open(&here.join("labelled.parquet")).unwrap().read_all().unwrap();
    assert_eq!(labelled.len(), 2000);
    for record in labelled {
        let score = stockfish.evaluate_board(&record.board.board().unwrap(), 0, record.turn, 0);
        assert_eq!(record.score, Some(score as i16));
    }

    let recipe = "--set teacher=fish.nnue --set epochs=1 --set hidden=8 --wdl 0 --no-resolve";
    done(here, &format!("tune positions.parquet --recipe small {recipe} -o student.nnue"));
    let said = done(here, "net info student.nnue");
    assert!(said.contains("scores by fish.nnue, a network of Stockfish, GPL-3.0-or-later"), "{said}");
    assert!(matches!(Evaluation::load(&here.join("student.nnue")).unwrap(), Evaluation::Nnue(_)));
}
