//! `patzer extract` as a user runs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use patzer_data::filter::{PRESETS, Pipeline};
use patzer_data::{Dataset, Record, flags};
use sha2::{Digest, Sha256};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, EnPassantMode};

use crate::patzer;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Extracts a fixture with more arguments; the dataset's samples and the JSON summary.
fn extract(name: &str, args: &[&str]) -> (Vec<Record>, serde_json::Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(name);
    let args = [&["extract", path.to_str().unwrap(), "--json"], args].concat();
    let output = patzer(folder.path(), &args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let samples = Dataset::open(&folder.path().join("positions.parquet")).unwrap().read_all().unwrap();
    (samples, serde_json::from_slice(&output.stdout).unwrap(), stderr)
}

/// The error of a run that has to fail for the user's fault and leave nothing.
fn refused(folder: &Path, args: &[&str]) -> String {
    let before = std::fs::read_dir(folder).unwrap().count();
    let output = patzer(folder, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), before, "{args:?} leaves something");
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    errors[0].to_string()
}

/// Count and SHA-256 of `FEN move result` lines were made from the same file with python-chess 1.11.2:
/// for each game whose Result is not `*`, for each move of `game.mainline_moves()`, the line
/// `f"{board.fen(en_passant='legal')} {move.uci()} {game.headers['Result']}\n"`.
#[test]
fn positions_are_those_of_python_chess() {
    let (samples, summary, _) = extract("games.pgn.zst", &[]);
    let mut hash = Sha256::new();
    for sample in &samples {
        let position = sample.position().unwrap();
        let fen = Fen::from_position(&position, EnPassantMode::Legal);
        let uci = sample.played.unpack(&position).unwrap().to_uci(CastlingMode::Standard);
        let result = ["0-1", "1/2-1/2", "1-0"][(sample.result + 1) as usize];
        hash.update(format!("{fen} {uci} {result}\n"));
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(samples.len(), 306_663);
    assert_eq!(hex, "f559175cf9c35a813e0cdaf9f0dccd99e2aece0a253a1918703267689c952131");
    assert_eq!(summary["games"], 4000);
    assert_eq!(summary["games_bad"], 0);
    assert_eq!(summary["games_skipped"]["no_result"], 54);
    assert_eq!(summary["dropped"], serde_json::json!({ "no_result": 1958 }));
    assert_eq!(summary["positions_read"], 306_663 + 1958);
}

#[test]
fn a_broken_game_never_takes_its_neighbour() {
    let (samples, summary, stderr) = extract("games_damaged.pgn", &[]);
    assert_eq!(summary["games"], 25);
    assert_eq!(summary["games_bad"], 11);
    // Each of the fourteen sound games has four plies, and the broken ones none.
    assert_eq!(samples.len(), 14 * 4);
    let text = std::fs::read_to_string(fixture("games_damaged.pgn")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let named: Vec<&str> = stderr.lines().filter(|line| line.contains("game ")).collect();
    assert_eq!(named.len(), 11, "{stderr}");
    for warning in named {
        let line: usize = warning.split("line ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
        assert!(lines[line - 1].starts_with("[Event \"bad"), "{warning}");
    }
    insta::assert_snapshot!(stderr.replace(fixture("").to_str().unwrap(), ""));
}

#[test]
fn the_part_before_a_fault_is_kept_if_asked_for() {
    let (samples, summary, _) = extract("games_damaged.pgn", &["--keep-partial"]);
    assert_eq!(summary["games_bad"], 11);
    assert!(samples.len() > 14 * 4);
    let Some(before) = samples.iter().position(|s| s.game == 3) else {
        panic!("game 4 has plies before `Xf3`")
    };
    assert_eq!(samples[before..].iter().take_while(|s| s.game == 3).count(), 2);
}

#[test]
fn a_game_is_rejected_or_gives_positions() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [late, none, early, sound] = ["1. e4 e5 2. Kg3", "", "1. Ke3", "1. e4"]
        .map(|moves| format!("[Result \"1-0\"]\n\n{moves} 1-0\n\n"));
    std::fs::write(at.join("x.pgn"), format!("{late}{none}{early}{sound}")).unwrap();
    let rejected = |more: &[&str]| {
        let args = [&["extract", "x.pgn", "--rejects", "r.pgn", "-q"], more].concat();
        assert!(patzer(at, &args).status.success());
        let text = std::fs::read_to_string(at.join("r.pgn")).unwrap();
        let reasons = text.lines().filter_map(|line| line.strip_prefix("[Rejected \""));
        reasons.map(|reason| reason.trim_end_matches("\"]").to_string()).collect::<Vec<_>>()
    };
    let illegal = |at: &str| format!("illegal or ambiguous move {at}");
    assert_eq!(rejected(&[]), [illegal("2. Kg3"), "no_positions".into(), illegal("1. Ke3")]);
    assert_eq!(rejected(&["--keep-partial"]), ["no_positions".into(), illegal("1. Ke3")]);
}

#[test]
fn what_is_odd_but_right_is_read() {
    let (samples, summary, _) = extract("games_dialects.pgn", &[]);
    assert_eq!(summary["games"], 9);
    assert_eq!(summary["games_bad"], 0);
    assert_eq!(summary["games_skipped"], serde_json::json!({ "no_result": 2, "variant": 1 }));
    let plies: Vec<(u32, usize, i8)> = samples
        .chunk_by(|a, b| a.game == b.game)
        .map(|game| (game[0].game, game.len(), game[0].result))
        .collect();
    assert_eq!(plies, [(0, 6, 0), (1, 2, -1), (4, 3, 1), (5, 4, -1), (8, 1, 1)]);
    assert!(samples.iter().all(|s| s.has(flags::CHESS960) == (s.game == 5)));
}

#[test]
fn every_dialect_of_comments_gives_the_score_of_the_side_to_move() {
    let facts = |name| -> Vec<(Option<i16>, Option<u8>, bool)> {
        extract(name, &[]).0.iter().map(|s| (s.score, s.depth, s.has(flags::BOOK))).collect()
    };
    assert_eq!(
        facts("games_cutechess.pgn"),
        [
            (None, None, true),
            (None, None, true),
            (Some(-125), Some(12), false),
            (Some(131), Some(14), false),
            (Some(-207), Some(11), false),
            (Some(31_999), Some(245), false),
            (None, None, true),
            (Some(0), Some(1), false),
            (Some(-31_998), Some(20), false),
            (Some(31_999), Some(20), false),
        ]
    );
    let lichess = [
        (None, None, false),
        (Some(90), None, false),
        (Some(-120), None, false),
        (Some(31_999), None, false),
    ];
    assert_eq!(facts("games_lichess.pgn"), lichess);
    assert_eq!(
        facts("games_tcec.pgn"),
        [
            (None, None, true),
            (Some(85), Some(24), false),
            (Some(-31_998), Some(6), false),
            (Some(31_999), Some(127), false),
        ]
    );
}

#[test]
fn a_preset_leaves_the_same_positions_at_extract_and_later() {
    let (all, _, _) = extract("games.pgn.zst", &[]);
    for (preset, _) in PRESETS {
        let (at_extract, summary, _) = extract("games.pgn.zst", &["--filter", preset]);
        let mut pipeline = Pipeline::new(&[preset.to_string()], &[]).unwrap();
        let later: Vec<Record> = all.iter().filter(|s| pipeline.keep(s).is_ok()).copied().collect();
        assert!(at_extract == later, "{preset}: {} and {} positions", at_extract.len(), later.len());
        assert!(later.len() <= all.len());
        let dropped: u64 =
            summary["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(summary["positions_read"], summary["positions_written"].as_u64().unwrap() + dropped);
    }
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games.pgn.zst");
    let choices: [&[&str]; 2] =
        [&["--filter", "unique", "--per-game", "20"], &["--sample", "5000", "--seed", "7"]];
    for choice in choices {
        let files = ["1", "2", "5"].map(|threads| {
            let base = ["extract", games.to_str().unwrap(), "--threads", threads, "-o", threads];
            assert!(patzer(folder.path(), &[&base, choice].concat()).status.success());
            std::fs::read(folder.path().join(threads)).unwrap()
        });
        assert!(files[0] == files[1] && files[0] == files[2], "{choice:?}");
    }
}

#[test]
fn random_choices_keep_what_they_promise() {
    let (all, _, _) = extract("games.pgn.zst", &[]);
    let (few, summary, _) = extract("games.pgn.zst", &["--per-game", "10", "--seed", "3"]);
    assert!(few.chunk_by(|a, b| a.game == b.game).all(|game| game.len() <= 10));
    let expected: usize = all.chunk_by(|a, b| a.game == b.game).map(|game| game.len().min(10)).sum();
    assert_eq!(few.len(), expected);
    assert_eq!(summary["dropped"]["per_game"], all.len() - expected);
    let (other, _, _) = extract("games.pgn.zst", &["--per-game", "10", "--seed", "4"]);
    assert_ne!(few, other);
    let (sample, summary, _) = extract("games.pgn.zst", &["--sample", "1000"]);
    assert_eq!(sample.len(), 1000);
    assert_eq!(summary["dropped"]["sample"], all.len() - 1000);
    assert!(sample.is_sorted_by_key(|s| (s.game, s.ply)));
    // Spread over the whole file, not taken from its start.
    assert!(sample[900].game > 3200);
    let (whole, _, _) = extract("games_damaged.pgn", &["--sample", "1000"]);
    assert_eq!(whole.len(), 56);
}

#[test]
fn several_files_count_their_games_on() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["games_cutechess.pgn", "games_lichess.pgn"].map(fixture);
    let args =
        ["extract", paths[0].to_str().unwrap(), paths[1].to_str().unwrap(), "-o", "x", "--filter", "capt"];
    assert!(patzer(folder.path(), &args).status.success());
    let dataset = Dataset::open(&folder.path().join("x")).unwrap();
    let sources: Vec<(&str, &str)> =
        dataset.metadata().sources.iter().map(|s| (s.name.as_str(), s.sha256.as_str())).collect();
    let hash = |path: &PathBuf| -> String {
        Sha256::digest(std::fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(
        sources,
        [("games_cutechess.pgn", hash(&paths[0]).as_str()), ("games_lichess.pgn", hash(&paths[1]).as_str())]
    );
    assert_eq!(dataset.metadata().filters, ["capt: in_check, before_mate plies=5, before_check plies=5"]);
}

#[test]
fn a_folder_is_read_like_its_files_whatever_they_are_packed_with() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [cutechess, lichess, tcec] =
        ["games_cutechess.pgn", "games_lichess.pgn", "games_tcec.pgn"].map(fixture);
    std::fs::create_dir_all(at.join("games/deep")).unwrap();
    std::fs::copy(&cutechess, at.join("games/a.pgn")).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(&std::fs::read(&lichess).unwrap()).unwrap();
    // Two streams one after the other, the second of nothing.
    let end = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best()).finish().unwrap();
    std::fs::write(at.join("games/b.pgn.bz2"), [bz2.finish().unwrap(), end].concat()).unwrap();
    let zst = zstd::encode_all(&std::fs::read(&tcec).unwrap()[..], 1).unwrap();
    std::fs::write(at.join("games/deep/c.pgn.zst"), zst).unwrap();
    std::fs::write(at.join("games/notes.txt"), "no games").unwrap();
    let plain = [cutechess, lichess, tcec].map(|path| path.to_str().unwrap().to_string());
    let plain = [&["extract", "-o", "plain"][..], &plain.each_ref().map(String::as_str)].concat();
    assert!(patzer(at, &plain).status.success());
    assert!(patzer(at, &["extract", "games", "-o", "packed"]).status.success());
    let [plain, packed] = ["plain", "packed"].map(|name| Dataset::open(&at.join(name)).unwrap());
    assert_eq!(plain.rows(), 18);
    assert!(plain.read_all().unwrap() == packed.read_all().unwrap());
    let names: Vec<&str> = packed.metadata().sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["a.pgn", "b.pgn.bz2", "c.pgn.zst"]);
}

#[test]
fn conflicting_results_are_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0\n\n[Result \"1-0\"]\n\n1. e4 0-1\n";
    std::fs::write(folder.path().join("x.pgn"), text).unwrap();
    let output = patzer(folder.path(), &["extract", "x.pgn", "--json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["results_conflicting"], serde_json::json!({ "checkmate": 1, "tag": 1 }));
    assert!(stderr.contains("the board is believed") && stderr.contains("the tag is believed"), "{stderr}");
    let samples = Dataset::open(&folder.path().join("positions.parquet")).unwrap().read_all().unwrap();
    assert_eq!(samples.iter().map(|s| s.result).collect::<Vec<_>>(), [-1, -1, -1, -1, 1]);
}

#[test]
fn the_side_that_scores_speak_for_can_be_told() {
    let scores = |side: &str| -> Vec<Option<i16>> {
        extract("games_tcec.pgn", &["--eval-side", side]).0.iter().map(|s| s.score).collect()
    };
    assert_eq!(scores("auto"), scores("white"));
    assert_eq!(scores("mover")[1..3], [Some(-85), Some(-31_998)]);
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games_damaged.pgn");
    let output = patzer(folder.path(), &["extract", games.to_str().unwrap(), "--dry-run", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["positions_written"], 56);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn bad_input_gets_one_line_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let whole = std::fs::read(fixture("games.pgn.zst")).unwrap();
    std::fs::write(at.join("cut.zst"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(at.join("head.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    std::fs::write(at.join("empty.pgn"), b"").unwrap();
    std::fs::write(at.join("blank.pgn"), b"\n \n").unwrap();
    let junk: Vec<u8> = (0..50_000u64).map(|i| patzer_chess::rng::mix(1, i) as u8).collect();
    std::fs::write(at.join("junk.bin"), junk).unwrap();
    std::fs::write(at.join("all_bad.pgn"), b"[Event \"x\"]\n[Result \"1-0\"]\n\n1. e5 1-0\n").unwrap();
    std::fs::write(at.join("typo.toml"), b"name = \"x\"\n\n[[filter]]\nuse = \"before_czech\"\n").unwrap();
    std::fs::write(at.join("huge.toml"), b"name = \"x\"\n[[filter]]\nuse = \"before_check\"\nplies = 400\n")
        .unwrap();
    std::fs::create_dir(at.join("folder")).unwrap();
    let games = fixture("games_damaged.pgn");
    let games = games.to_str().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["none.pgn"], &["none.pgn", "no such file"]),
        (&[games, "none.pgn"], &["none.pgn", "no such file"]),
        (&["empty.pgn"], &["empty.pgn", "is empty"]),
        (&["blank.pgn"], &["blank.pgn", "holds no games"]),
        (&["folder"], &["folder", "is a folder"]),
        (&["cut.zst"], &["cut.zst", "ends early at byte", "game", "nothing was written", "--keep-partial"]),
        (&["head.gz"], &["head.gz", "ends early"]),
        (&["junk.bin"], &["junk.bin", "holds no games"]),
        (&["all_bad.pgn"], &["none of the 1 games"]),
        (&[games, "--filter", "quite"], &["`quite`", "capt, quiet, unique"]),
        (&[games, "--filter", "typo.toml"], &["typo.toml: line 4", "before_czech", "before_check"]),
        (&[games, "--filter", "huge.toml"], &["huge.toml: line 4", "plies` is 400", "from 1 to 255"]),
        (
            &[games, "--filter", "capt", "--filter-set", "before_chec.plies=3"],
            &["before_chec", "before_check"],
        ),
        (
            &[games, "--filter", "capt", "--filter-set", "before_check.ply=3"],
            &["no parameter `ply`", "plies"],
        ),
        (
            &[games, "--filter", "capt", "--filter-set", "before_check.plies=x"],
            &["`x` is not a whole number"],
        ),
        (&[games, "--filter", "capt", "--filter-set", "draws.plies=1"], &["takes no parameter"]),
        (
            &[games, "--filter", "capt", "--filter-set", "before_capture.plies=3"],
            &["before_capture", "in use are"],
        ),
        (&[games, "--filter", "capt", "--filter-set", "plies"], &["filter.parameter=value"]),
        (&[games, "-o", "no/such/place"], &["no/such/place"]),
        (&["all_bad.pgn", "-o", "all_bad.pgn"], &["all_bad.pgn", "is one of the files of games"]),
    ];
    for (args, parts) in cases {
        let error = refused(at, &[&["extract"], *args].concat());
        for part in *parts {
            assert!(error.contains(part), "{args:?}: {error}");
        }
    }
}

#[test]
fn games_before_a_truncation_are_kept_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("games.pgn.zst")).unwrap();
    std::fs::write(folder.path().join("cut.zst"), &whole[..whole.len() / 2]).unwrap();
    let output = patzer(folder.path(), &["extract", "cut.zst", "--keep-partial", "--json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("what could be read is kept"), "{stderr}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = Dataset::open(&folder.path().join("positions.parquet")).unwrap().read_all().unwrap();
    let (all, _, _) = extract("games.pgn.zst", &[]);
    // The last game that was read breaks off; everything before it is as in the whole file.
    let broken = summary["games"].as_u64().unwrap() as u32 - 1;
    let sound: Vec<Record> = all.iter().filter(|s| s.game < broken).copied().collect();
    assert!(broken > 1000);
    assert!(kept[..sound.len()] == sound[..]);
    assert!(kept[sound.len()..].iter().all(|s| s.game == broken));
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_patzer"))
        .args(["extract", "-", "--quiet", "-o", "x"])
        .current_dir(folder.path())
        .stdin(std::fs::File::open(fixture("games_damaged.pgn")).unwrap())
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(Dataset::open(&folder.path().join("x")).unwrap().rows(), 56);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_patzer"))
        .args(["extract", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads the dataset, nor the warnings about the broken games.
    drop((child.stdout.take(), child.stderr.take()));
    let games = std::fs::read(fixture("games_damaged.pgn")).unwrap();
    child.stdin.take().unwrap().write_all(&games).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn archives_in_a_folder_are_left_out_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let games = folder.path().join("games");
    std::fs::create_dir(&games).unwrap();
    std::fs::write(games.join("a.zip"), "").unwrap();
    std::fs::write(games.join("b.pgn.xz"), "").unwrap();
    let none = refused(folder.path(), &["extract", "games"]);
    assert!(none.ends_with("; unpack its archives first"), "{none}");
    std::fs::copy(fixture("games_tcec.pgn"), games.join("c.pgn")).unwrap();
    let output = patzer(folder.path(), &["extract", "games", "-q"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let a = Path::new("games").join("a.zip");
    let warning = format!("warning: {} and 1 more: archives are left out; unpack them first\n", a.display());
    assert_eq!(stderr, warning);
}
