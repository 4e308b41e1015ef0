//! Input that is no good: one clear line, exit 1, and nothing left behind, whatever the command.

use std::fs;
use std::path::Path;

use patzer_eval::hce::Weights;
use tempfile::TempDir;

use crate::patzer;

/// Four plies a game, in check at no point, so that a dataset and a fit can be made of them.
const GAMES: &str = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
    [Event \"x\"]\n[Result \"0-1\"]\n\n1. d4 d5 2. c4 e6 0-1\n\n";

/// A folder with good files of every kind, and with bad ones of every kind.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| fs::write(at(name), bytes).unwrap();

    write("good.pgn", GAMES.repeat(50).as_bytes());
    for args in [
        &["extract", "good.pgn", "-o", "good.parquet"][..],
        &["net", "init", "-o", "good.nnue"],
        &["label", "good.parquet", "-o", "labelled.parquet"],
    ] {
        assert!(patzer(folder.path(), args).status.success(), "{args:?}");
    }
    fs::copy(at("good.parquet"), at("part.train.parquet")).unwrap();
    fs::write(at("good.hce.toml"), Weights::untuned().to_toml()).unwrap();

    fs::create_dir(at("folder")).unwrap();
    write("empty", b"");
    write("junk", &(0..20_000).map(|i| patzer_chess::rng::mix(1, i) as u8).collect::<Vec<u8>>());
    let cut = |from: &str, to: &str| {
        let whole = fs::read(at(from)).unwrap();
        write(to, &whole[..whole.len() * 2 / 3]);
    };
    // Weights without a header that begin as sparse networks do.
    write("raw.nnue", &[&[0; 8192][..], &fs::read(at("junk")).unwrap()].concat());
    write("good.zip", &[b"PK\x03\x04\x14\0\0\0\x08\0", &fs::read(at("junk")).unwrap()[..]].concat());
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, GAMES.repeat(500).as_bytes()).unwrap();
    write("good.pgn.gz", &gz.finish().unwrap());
    cut("good.pgn.gz", "cut.gz");
    cut("good.nnue", "cut.nnue");
    cut("good.parquet", "cut.parquet");
    let mut long = fs::read(at("good.nnue")).unwrap();
    long.extend([0; 64]);
    write("long.nnue", &long);

    let weights = fs::read_to_string(at("good.hce.toml")).unwrap();
    write("missing.hce.toml", b"version = 1\nk = 1.0\n");
    write("unknown.hce.toml", format!("{weights}\nmagic = [1, 2]\n").as_bytes());
    write("text.hce.toml", b"these are no weights\n");
    write("allbad.pgn", b"[Event \"x\"]\n[Result \"1-0\"]\n\n1. e5 1-0\n");
    foreign(&at("foreign.parquet"));
    write("recipe.toml", b"hidden = 16\nneurons = 3\n");
    write("preset.toml", b"name = \"mine\"\n\n[[filter]]\nuse = \"before_czech\"\n");
    folder
}

/// A Parquet file of another program: one column of another name.
fn foreign(path: &Path) {
    use parquet::file::writer::SerializedFileWriter;
    let schema = parquet::schema::parser::parse_message_type("message m { REQUIRED INT32 price; }").unwrap();
    let file = fs::File::create(path).unwrap();
    SerializedFileWriter::new(file, schema.into(), Default::default()).unwrap().close().unwrap();
}

/// Every file and folder below, with its length.
fn listing(folder: &Path) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let length = entry.metadata().unwrap().len();
        all.push((entry.path().display().to_string(), if entry.path().is_dir() { 0 } else { length }));
        if entry.path().is_dir() {
            all.extend(listing(&entry.path()));
        }
    }
    all.sort();
    all
}

/// Runs each line, and gathers what is wrong with how it fails.
fn refuse(cases: &[(&str, &[&str])]) {
    let folder = folder();
    let before = listing(folder.path());
    let mut wrong = String::new();
    for (line, says) in cases {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        let one_line = stderr.starts_with("error: ") && stderr.ends_with('\n') && stderr.lines().count() == 1;
        let left = listing(folder.path());
        let faults = [
            (output.status.code() != Some(1), "the exit code"),
            (!output.stdout.is_empty(), "stdout"),
            (!one_line, "not one line"),
            (says.iter().any(|part| !stderr.contains(part)), "the reason"),
            (left != before, "something is left or changed"),
        ];
        for (_, fault) in faults.iter().filter(|(found, _)| *found) {
            wrong +=
                &format!("patzer {line}: {fault} ({:?}, wanted {says:?})\n{stderr}", output.status.code());
        }
        // The next case is to find the folder as it was.
        for (path, _) in left.iter().filter(|entry| !before.contains(entry)).rev() {
            let path = Path::new(path);
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn files_of_games_that_are_none() {
    refuse(&[
        ("extract none.pgn", &["none.pgn", "no such file"]),
        ("extract folder", &["folder", "is a folder"]),
        ("extract empty", &["empty", "is empty"]),
        ("extract junk", &["junk", "holds no games"]),
        ("extract good.zip", &["good.zip", "is a ZIP archive", "`unzip -p FILE | patzer … -`"]),
        ("extract allbad.pgn", &["allbad.pgn: game 1, line 1", "none of the 1 games"]),
        ("extract cut.gz", &["cut.gz", "ends early"]),
        ("extract good.pgn cut.gz -o x.parquet", &["cut.gz", "nothing was written"]),
        ("extract good.parquet", &["good.parquet", "holds positions (parquet), not games in PGN"]),
        ("extract good.nnue", &["good.nnue"]),
        ("extract good.pgn -o folder", &["folder", "is a folder"]),
        ("extract good.pgn -o none/x.parquet", &["none/x.parquet", "no such folder"]),
        ("extract good.pgn -o empty/x.parquet", &["empty/x.parquet"]),
        ("man -o empty", &["empty: is not a folder"]),
        ("man -o empty/below", &["empty/below: empty is not a folder"]),
        ("data stats good.parquet --svg empty", &["empty: is not a folder"]),
        ("wdl good.parquet --svg empty", &["empty: is not a folder"]),
        ("report good.parquet --svg empty", &["empty: is not a folder"]),
        ("extract good.pgn -o good.pgn", &["good.pgn", "is one of the files"]),
    ]);
}

#[test]
fn outputs_that_are_inputs() {
    refuse(&[
        ("tune labelled.parquet -o labelled.parquet", &["labelled.parquet", "is one of the inputs"]),
        ("tune labelled.parquet --floats labelled.parquet", &["labelled.parquet", "is one of the inputs"]),
        ("tune labelled.parquet --floats new.nnue", &["--floats and --output name the same file"]),
        ("net emit good.nnue --format c -o good.nnue", &["good.nnue", "is one of the inputs"]),
        ("net convert good.nnue -o good.nnue --to bullet", &["good.nnue", "is one of the inputs"]),
        ("data card good.parquet -o good.parquet", &["good.parquet", "is one of the inputs"]),
        ("data stats good.parquet --piece-target good.parquet", &["good.parquet", "is one of the inputs"]),
        ("rate good.pgn --csv good.pgn", &["good.pgn", "is one of the inputs"]),
        ("tune labelled.parquet --floats ./new.nnue", &["--floats and --output name the same file"]),
        (
            "extract good.pgn -o w.parquet --rejects ./w.parquet",
            &["--rejects and --output name the same file"],
        ),
        ("games good.pgn -o w.pgn --rejects folder/../w.pgn", &["--rejects and --output name the same file"]),
        ("data merge good.parquet -o good.parquet --sample 1", &["good.parquet", "is one of the inputs"]),
        ("extract good.pgn ./good.pgn", &["./good.pgn", "has the games of good.pgn", "count twice"]),
        ("games good.pgn ./good.pgn", &["./good.pgn", "has the games of good.pgn", "count twice"]),
        ("rate good.pgn ./good.pgn", &["./good.pgn", "has the games of good.pgn", "count twice"]),
        ("rate good.pgn --csv empty --anchors ./empty", &["empty", "is one of the inputs"]),
        ("rate good.pgn --csv empty --aliases ./empty", &["empty", "is one of the inputs"]),
        ("rate good.pgn --csv empty --exclude ./empty", &["empty", "is one of the inputs"]),
        ("match good.nnue default-hce --log good.nnue", &["good.nnue", "is not empty and no log of engines"]),
        ("match good.nnue default-hce --log folder/../match.pgn", &["match.pgn", "is a file of the games"]),
        ("match good.nnue default-hce --log ./match.journal", &["match.journal", "is a file of the games"]),
        (
            "sprt good.nnue default-hce --log sprt.journal.ahead",
            &["sprt.journal.ahead", "is a file of the games"],
        ),
        (
            "data split part.train.parquet -o part --train 0.5",
            &["part.train.parquet", "is one of the inputs"],
        ),
        ("selfplay default-hce -o s.pgn -o ./s.pgn", &["./s.pgn", "is the file of -o s.pgn already"]),
        ("report good.parquet -o good.parquet", &["good.parquet", "is one of the inputs"]),
        ("wdl model good.pgn --histogram good.pgn", &["good.pgn", "is one of the inputs"]),
        ("moves fit labelled.parquet -o labelled.parquet", &["labelled.parquet", "is one of the inputs"]),
        ("label good.parquet -o good.parquet", &["good.parquet", "is one of the inputs"]),
        ("label good.parquet --tb folder -o ./good.parquet", &["good.parquet", "is one of the inputs"]),
        (
            "label good.parquet --engine cmd=none --nodes 1 -o folder/../good.parquet",
            &["good.parquet", "is one of the inputs"],
        ),
        ("wdl model good.pgn --merge empty --histogram empty", &["empty", "is one of the inputs"]),
        ("spsa good.nnue --terms output -o good.nnue", &["good.nnue", "is one of the inputs"]),
    ]);
}

#[test]
fn datasets_that_are_none() {
    let bad = [
        ("none.parquet", "no such file"),
        ("folder", "is a folder"),
        ("empty", "is empty"),
        ("junk", "not a Parquet file"),
        ("good.pgn", "holds games in PGN"),
        ("good.zip", "is a ZIP archive"),
        ("good.nnue", "not a Parquet file"),
        ("cut.parquet", "Parquet"),
        ("foreign.parquet", "not a patzer dataset"),
    ];
    for command in ["label", "tune", "tune hce"] {
        let lines: Vec<(String, [&str; 2])> =
            bad.iter().map(|&(file, reason)| (format!("{command} {file}"), [file, reason])).collect();
        let cases: Vec<(&str, &[&str])> =
            lines.iter().map(|(line, says)| (line.as_str(), &says[..])).collect();
        refuse(&cases);
    }
    // Games are as good as datasets to `wdl`.
    refuse(&[
        ("wdl none.parquet", &["none.parquet", "no such file"]),
        ("wdl empty", &["empty", "is empty"]),
        ("wdl junk", &["junk", "holds no games in PGN"]),
        ("wdl good.pgn", &["good.pgn", "none of its positions has a score"]),
        ("wdl good.nnue", &["good.nnue", "holds no games in PGN"]),
        ("wdl cut.parquet", &["cut.parquet", "Parquet"]),
        ("wdl foreign.parquet", &["foreign.parquet", "not a patzer dataset"]),
    ]);
    // Good data does not make up for bad data.
    refuse(&[
        ("tune labelled.parquet none.parquet", &["none.parquet", "no such file"]),
        ("tune hce labelled.parquet junk", &["junk", "not a Parquet file"]),
        ("tune good.parquet -o none/x.nnue", &["none/x.nnue", "no such folder"]),
        ("tune good.parquet -o folder", &["folder", "is a folder"]),
        ("tune hce good.parquet -o none/x.hce.toml", &["none/x.hce.toml", "no such folder"]),
        ("tune hce good.parquet -o x.nnue", &["-o", ".nnue", "--export"]),
        ("tune good.parquet --run empty", &["empty", "not a folder"]),
        ("label good.parquet -o none/x.parquet", &["none/x.parquet", "no such folder"]),
    ]);
}

#[test]
fn evaluations_that_are_none() {
    let bad = [
        ("none.nnue", "no such file"),
        ("folder", "is a folder"),
        ("empty", "is empty"),
        ("junk", "neither a patzer network nor a weight file"),
        ("raw.nnue", "neither a patzer network nor a weight file"),
        ("cut.nnue", "truncated"),
        ("long.nnue", "bytes"),
        ("missing.hce.toml", "names no term"),
        ("unknown.hce.toml", "magic"),
        ("text.hce.toml", "line 1"),
        ("good.pgn", "line 1"),
        ("cut.gz", "cut.gz"),
    ];
    for command in [
        "label good.parquet --eval",
        "wdl labelled.parquet --eval",
        "tune hce labelled.parquet --eval",
        "sprt default-hce",
        "eval --eval",
        "uci",
        "bench --eval",
    ] {
        let lines: Vec<(String, [&str; 2])> =
            bad.iter().map(|&(file, reason)| (format!("{command} {file}"), [file, reason])).collect();
        let cases: Vec<(&str, &[&str])> =
            lines.iter().map(|(line, says)| (line.as_str(), &says[..])).collect();
        refuse(&cases);
    }
    refuse(&[
        ("tune hce labelled.parquet --eval good.nnue", &["good.nnue", "is a network"]),
        ("sprt none.nnue default", &["none.nnue", "no such file"]),
        ("net info none.nnue", &["none.nnue", "no such file"]),
        ("net info folder", &["folder", "is a folder"]),
        ("net info empty", &["empty", "is empty"]),
        ("net info junk", &["junk", "20000 bytes"]),
        ("net info cut.nnue", &["cut.nnue", "truncated"]),
        ("net info long.nnue", &["long.nnue", "bytes"]),
        ("net convert cut.nnue -o x.bin", &["cut.nnue", "truncated"]),
        ("net convert good.nnue -o none/x.bin", &["none/x.bin", "no such folder"]),
        ("net convert good.nnue -o x.bin --hidden 32", &["good.nnue", "16 neurons, not the 32"]),
    ]);
}

#[test]
fn names_that_mean_nothing() {
    refuse(&[
        ("extract good.pgn --filter quite", &["`quite`", "capt, quiet, unique"]),
        ("extract good.pgn --filter preset.toml", &["preset.toml: line 4", "before_czech"]),
        ("extract good.pgn --filter junk", &["junk"]),
        ("extract good.pgn --filter-set plies=3", &["plies=3", "filter.parameter=value"]),
        ("extract good.pgn --filter capt --filter-set before_check.ply=3", &["`ply`", "plies"]),
        ("extract good.pgn --filter capt --filter-set before_check.plies=900", &["900", "1 to 255"]),
        ("tune labelled.parquet --filter quite", &["`quite`", "capt, quiet, unique"]),
        ("tune hce good.parquet --filter quite", &["`quite`", "capt, quiet, unique"]),
        ("tune good.parquet --filter-set x.y=1", &["x.y=1", "unknown filter `x`"]),
        ("tune labelled.parquet --recipe huge", &["huge", "bucketed, default"]),
        ("tune labelled.parquet --recipe recipe.toml", &["recipe.toml: line 2", "neurons"]),
        ("tune labelled.parquet --recipe none.toml", &["none.toml", "no such file"]),
        ("tune hce labelled.parquet --terms magic", &["`magic`", "material, "]),
        ("tune hce labelled.parquet --export fortran", &["fortran", "cpp, rust"]),
        ("sprt default default-hce --openings none.epd", &["none.epd", "no such file"]),
        ("sprt default default-hce --openings junk", &["junk"]),
        ("sprt default default-hce --openings empty", &["empty"]),
        ("sprt default default-hce --openings folder", &["folder", "is a folder"]),
        ("sprt default default-hce -o none/x.pgn", &["none/x", "no such folder"]),
        ("sprt default default-hce -o good.pgn", &["good.pgn"]),
        ("sprt default default-hce --order upwards", &["upwards", "random, fastchess, sequential"]),
        ("sprt default default-hce --elo-model linear", &["linear", "normalized, logistic, bayesian"]),
        ("eval nonsense", &["nonsense"]),
        ("perft 2 --fen nonsense", &["--fen"]),
        ("perft --suite none.epd", &["none.epd", "no such file"]),
        ("perft --suite junk", &["junk", "UTF-8"]),
        ("perft --suite empty", &["empty", "holds no position"]),
        ("extrac good.pgn", &["extrac", "extract"]),
        ("tune --filtre unique", &["--filtre", "--filter"]),
    ]);
}

#[test]
fn numbers_that_make_no_sense() {
    refuse(&[
        ("extract", &["<GAMES>"]),
        ("extract good.pgn --threads 0", &["--threads", "1..=1024"]),
        ("extract good.pgn --threads 9000", &["--threads", "1..=1024"]),
        ("extract good.pgn --threads many", &["many", "--threads"]),
        ("extract good.pgn --per-game 0", &["--per-game", "0"]),
        ("extract good.pgn --sample 0", &["--sample", "0"]),
        ("extract good.pgn --seed -1", &["-1"]),
        ("label good.parquet --depth 0", &["--depth", "0"]),
        ("label good.parquet --nodes 0", &["--nodes", "0"]),
        ("label good.parquet --nodes 5 --depth 5", &["--nodes", "--depth"]),
        ("label good.parquet --rescore", &["--rescore", "--depth"]),
        ("tune good.parquet --validation 2", &["validation", "2"]),
        ("tune good.parquet --validation nan", &["validation", "NaN"]),
        ("tune good.parquet --hidden 0", &["hidden", "1 to 4096"]),
        ("tune good.parquet --hidden 1000000", &["hidden", "1 to 4096"]),
        ("tune good.parquet --epochs 0", &["epochs", "0"]),
        ("tune good.parquet --batch 0", &["batch", "0"]),
        ("tune good.parquet --learning-rate 0", &["learning_rate", "0"]),
        ("tune good.parquet --wdl 1.5", &["wdl", "0 to 1"]),
        ("tune good.parquet --k 0", &["k = 0"]),
        ("tune hce good.parquet --hidden 16", &["--hidden", "unexpected argument"]),
        ("tune good.parquet --terms psqt", &["--terms", "unexpected argument"]),
        ("tune hec", &["hec", "no such file; did you mean `hce`?"]),
        ("tune --epochs 1 hce", &["`patzer tune hce` takes its options after `hce`"]),
        ("tune hce good.parquet --validation 2", &["--validation 2"]),
        ("tune hce good.parquet --epochs 0", &["epochs", "0"]),
        ("tune hce good.parquet --learning-rate nan", &["learning rate", "NaN"]),
        ("tune hce good.parquet --k inf", &["K", "inf"]),
        ("tune hce good.parquet --optimizer gauss-newton --learning-rate 3", &["--learning-rate", "adam, "]),
        ("tune hce good.parquet --optimizer lbfgs --batch 64", &["--batch", "lbfgs does not use it"]),
        ("tune hce good.parquet --optimizer newton --schedule linear", &["--schedule", "adagrad and sgd"]),
        (
            "tune good.parquet --set phases=[{epochs=2,from=0.001}] --epochs 3",
            &["epochs = 3", "phases have 2"],
        ),
        (
            "tune good.parquet --set phases=[{epochs=2,from=0.001}] --learning-rate 6e-4",
            &["--learning-rate", "phases"],
        ),
        ("tune hce good.parquet --k 0", &["K", "0"]),
        ("sprt default", &["needs two players, not 1"]),
        ("sprt default default-hce --games 0", &["--games", "0"]),
        ("sprt default default-hce --nodes 0", &["--nodes", "0"]),
        ("sprt default default-hce --tc 0", &["--tc"]),
        ("sprt default default-hce --tc fast", &["fast", "--tc"]),
        ("sprt default default-hce --concurrency 0", &["--concurrency", "0"]),
        ("sprt default default-hce --hash 0", &["--hash", "0"]),
        ("sprt default default-hce --elo0 5 --elo1 0", &["elo0 5, elo1 0"]),
        ("sprt default default-hce --elo1 nan", &["elo1"]),
        ("sprt default default-hce --alpha 1", &["alpha", "1"]),
        ("sprt default default-hce --beta -0.5", &["beta", "0"]),
        ("tune good.parquet --validation -1", &["validation", "-1"]),
        ("sprt default default-hce --draw 1,2", &["1,2", "--draw"]),
        ("sprt default default-hce --resign x", &["--resign"]),
        ("elo", &["--ptnml", "--wdl"]),
        ("elo --wdl 1,2", &["1,2", "3 counts"]),
        ("elo --wdl 0,0,0 --ptnml 1,2,3,4,5", &["--wdl", "--ptnml"]),
        ("elo --ptnml 1,2,3,4,5 --elo-model bayesian", &["--wdl"]),
        ("net init --hidden 0", &["--hidden 0", "1 to 4096"]),
        ("net init --hidden 5", &["--hidden 5", "at least 12"]),
        ("bench --depth 0", &["--depth", "0"]),
        ("bench --depth 1 --hash 0", &["--hash", "0"]),
        ("perft", &["<DEPTH>"]),
        ("perft -1", &["-1"]),
        ("perft 2 --suite good.pgn", &["--suite"]),
    ]);
}

#[test]
fn data_that_cannot_be_fitted() {
    let folder = folder();
    fs::write(folder.path().join("won.pgn"), GAMES.split("\n\n[").next().unwrap().to_string() + "\n\n")
        .unwrap();
    fs::write(folder.path().join("none.pgn"), "[Event \"x\"]\n[Result \"*\"]\n\n1. e4 *\n").unwrap();
    for name in ["won", "none"] {
        let (pgn, parquet) = (format!("{name}.pgn"), format!("{name}.parquet"));
        assert!(patzer(folder.path(), &["extract", &pgn, "-o", &parquet]).status.success());
        for command in [&["tune", "hce", "--no-resolve"][..], &["tune", "--no-resolve"], &["wdl"]] {
            if name == "won" && command == ["tune", "--no-resolve"] {
                // Results alone are data enough for a network.
                continue;
            }
            let before = listing(folder.path());
            let output = patzer(folder.path(), &[command, &[parquet.as_str()]].concat());
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{command:?} {name}: {stderr}");
            assert!(stderr.lines().last().unwrap().starts_with("error: "), "{stderr}");
            assert_eq!(listing(folder.path()), before, "{command:?} {name}");
        }
    }
}
