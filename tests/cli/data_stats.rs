//! `patzer data stats` as a user runs it.

use std::path::Path;

use serde_json::{Value, json};

use crate::{done, patzer};

/// The first games of the bundled collection, as a file of their own.
fn games(folder: &Path, number: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    // The names are Latin-1 in part; nothing here depends on them.
    let text = String::from_utf8_lossy(&patzer_io::read(&path, patzer_io::Limit::BOOK).unwrap()).into_owned();
    let games: Vec<&str> = text.split("[Event ").skip(1).take(number).collect();
    let text: String = games.iter().map(|game| format!("[Event {game}")).collect();
    std::fs::write(folder.join("games.pgn"), text).unwrap();
}

fn stats(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, &format!("data stats --json {line}"))).unwrap()
}

fn total(histogram: &Value) -> u64 {
    histogram.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum()
}

/// All numbers were counted by python-chess 1.11.2 over `game.mainline_moves()` of the first 400 games whose Result is
/// not `*`; equal are positions whose first four FEN fields are, with `en_passant='legal'`.
#[test]
fn counts_are_those_of_python_chess() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), 400);
    done(folder.path(), "extract games.pgn");
    let s = stats(folder.path(), "");
    assert_eq!(
        (&s["positions"], &s["games"], &s["duplicates"]),
        (&json!(29_901), &json!(395), &json!(3_024))
    );
    assert_eq!(s["game_results"], json!({ "wins": 156, "draws": 136, "losses": 103 }));
    let marks = &s["marks"];
    let counted = ["in_check", "capture", "gives_check", "castling", "en_passant"].map(|key| &marks[key]);
    assert_eq!(counted, [&json!(1_381), &json!(6_192), &json!(1_458), &json!(9_402), &json!(55)]);
    let pieces = [
        0, 0, 0, 0, 29, 108, 168, 145, 272, 281, 399, 493, 632, 556, 739, 619, 946, 768, 1052, 791, 1317,
        824, 1572, 789, 1826, 810, 2076, 766, 2435, 755, 2921, 721, 5091,
    ];
    assert_eq!(s["piece_count"], json!(&pieces[..]));
    assert_eq!((&s["material"][78], &s["material"][40]), (&json!(5_091), &json!(288)));
    let halfmove = [0, 1, 10].map(|clock| &s["halfmove"][clock]);
    assert_eq!(halfmove, [&json!(12_633), &json!(5_667), &json!(180)]);
    let king = [4, 6, 0, 63].map(|square| &s["white_king"][square]);
    assert_eq!(king, [&json!(7_880), &json!(11_873), &json!(0), &json!(0)]);
    assert_eq!((&s["game_length"][80], s["game_length"].as_array().unwrap().len()), (&json!(8), 199));
    for key in ["ply", "halfmove", "piece_count", "material", "white_king", "black_king"] {
        assert_eq!(total(&s[key]), 29_901, "{key}");
    }
    // Legal moves by `board.legal_moves.count()`, and by `board.fullmove_number`.
    let legal = [1, 2, 20, 30, 64].map(|moves| &s["legal_moves"][moves]);
    assert_eq!(legal, [&json!(106), &json!(247), &json!(1_100), &json!(1_354), &json!(1)]);
    assert_eq!((total(&s["legal_moves"]), s["legal_moves"].as_array().unwrap().len()), (29_901, 65));
    let by_number = [0, 1, 2, 20, 60].map(|number| &s["legal_moves_by_number"][number]);
    let counted = [[0, 0], [790, 15_800], [790, 20_509], [701, 26_056], [77, 1_267]].map(|pair| json!(pair));
    assert!(by_number.into_iter().eq(&counted), "{by_number:?}");
    assert_eq!(total(&s["game_length"]) + s["game_length_unknown"].as_u64().unwrap(), 395);
    assert_eq!(s["scores"]["missing"], 29_901);
}

#[test]
fn duplicates_are_exact_whatever_the_memory_and_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), 400);
    done(folder.path(), "extract games.pgn");
    let whole = stats(folder.path(), "");
    for line in ["--memory 100K", "--memory 7K --threads 1", "--threads 3"] {
        assert_eq!(stats(folder.path(), line), whole, "{line}");
    }
    // Formats without a number of rows are read again when memory runs out.
    done(folder.path(), "data convert positions.parquet -o positions.csv.gz");
    let csv = stats(folder.path(), "positions.csv.gz --memory 100K");
    for key in ["positions", "duplicates", "piece_count", "white_king", "results", "marks"] {
        assert_eq!(csv[key], whole[key], "{key}");
    }
}

#[test]
fn statistics_of_parts_are_those_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), 60);
    let text = std::fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    let half = text.match_indices("[Event ").nth(25).unwrap().0;
    std::fs::write(folder.path().join("a.pgn"), &text[..half]).unwrap();
    std::fs::write(folder.path().join("b.pgn"), &text[half..]).unwrap();
    done(folder.path(), "extract a.pgn b.pgn -o both.parquet");
    done(folder.path(), "extract a.pgn -o a.parquet");
    done(folder.path(), "extract b.pgn -o b.parquet");
    let (mut whole, mut parts) =
        (stats(folder.path(), "both.parquet"), stats(folder.path(), "a.parquet b.parquet"));
    // By source file: the games of each are counted apart, as if each were a file of its own.
    let counts = |file: &Value| ["positions", "games", "game_results"].map(|key| file[key].clone());
    let sources = whole["files"][0]["sources"].as_array().unwrap().clone();
    assert_eq!([&sources[0]["source"], &sources[1]["source"]], ["a.pgn", "b.pgn"]);
    assert_eq!(counts(&sources[0]), counts(&parts["files"][0]));
    assert_eq!(counts(&sources[1]), counts(&parts["files"][1]));
    whole["files"].take();
    parts["files"].take();
    assert_eq!(whole, parts);
}

#[test]
fn scores_are_set_against_results() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = "[Result \"1-0\"]\n\n1. e4 {+0.60/9 1s} e5 {-0.60/9 1s} 2. d4 {+M5/9 1s} d5 1-0\n";
    std::fs::write(folder.path().join("x.pgn"), pgn).unwrap();
    done(folder.path(), "extract x.pgn");
    let scores = &stats(folder.path(), "")["scores"];
    let bucket =
        |from: i64| scores["buckets"].as_array().unwrap().iter().find(|b| b["from"] == from).unwrap().clone();
    assert_eq!(
        bucket(50),
        json!({ "from": 50, "to": 100, "wins": 1, "draws": 0, "losses": 0, "mean_result": 1.0 })
    );
    assert_eq!(bucket(-100)["losses"], 1);
    assert_eq!((&scores["mates_given"]["wins"], &scores["missing"]), (&json!(1), &json!(1)));
}

#[test]
fn pictures_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/engine.pgn.zst");
    done(folder.path(), &format!("extract {}", engine.display()));
    let s = stats(folder.path(), "--svg plots");
    let figures: Vec<&str> = s["figures"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert_eq!(figures.len(), 11, "{figures:?}");
    for figure in figures {
        let svg = std::fs::read_to_string(folder.path().join(figure)).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{figure}");
        assert!(!svg.contains("href") && svg.contains("<text"), "{figure}");
    }
}

#[test]
fn a_preset_made_of_the_data_levels_its_pieces() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), 400);
    done(folder.path(), "extract games.pgn");
    done(folder.path(), "data stats --piece-target even.toml");
    let args = ["--filter", "even.toml", "--filter-set", "piece_target.curve=1,1,1,1,1"];
    let base = ["extract", "games.pgn", "-o", "even.parquet"];
    assert!(patzer(folder.path(), &[&base[..], &args].concat()).status.success());
    let pieces = stats(folder.path(), "even.parquet")["piece_count"].as_array().unwrap().clone();
    let counts: Vec<f64> = pieces[5..].iter().map(|n| n.as_f64().unwrap()).collect();
    // 29 to 5,091 positions before; now each about as often as the rarest, within the noise of the draws.
    let (low, high) =
        (counts.iter().copied().fold(f64::MAX, f64::min), counts.iter().copied().fold(0.0, f64::max));
    assert!(high < 8.0 * low, "{counts:?}");
}

#[test]
fn people_get_a_table() {
    let folder = tempfile::tempdir().unwrap();
    games(folder.path(), 20);
    done(folder.path(), "extract games.pgn");
    insta::assert_snapshot!(done(folder.path(), "data stats"));
}

/// A copy knows no more of games and moves than the file that it was made of.
#[test]
fn what_data_do_not_say_is_unknown_in_their_copies_too() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    games(here, 20);
    done(here, "extract games.pgn -o x.parquet");
    done(here, "data convert x.parquet -o e.epd --no-score 0");
    done(here, "data convert x.parquet -o b.bullet --no-score 0");
    done(here, "data convert e.epd -o copy.parquet");
    done(here, "data convert b.bullet -o turned.parquet");
    for line in ["e.epd", "copy.parquet"] {
        let s = stats(here, line);
        let unknown: Vec<&str> =
            s["unknown"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(["game", "move played"].iter().all(|name| unknown.contains(name)), "{unknown:?}");
        assert_eq!((&s["games"], &s["marks"]["capture"]), (&json!(0), &json!(0)), "{line}");
    }
    assert!(stats(here, "x.parquet").get("unknown").is_none());
    assert!(stats(here, "x.parquet e.epd")["games"].as_u64() > Some(15), "one of the files says them");
    let said = |line: &str| {
        let output = patzer(here, &line.split(' ').collect::<Vec<_>>());
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    let text = said("data stats turned.parquet");
    assert!(text.contains("unknown   results of positions") && text.contains("side to move won"), "{text}");
    assert!(!text.contains("move captures"), "{text}");
    let games = "does not say which positions are of one game";
    assert!(said("wdl copy.parquet").contains(games) && !said("wdl x.parquet").contains(games));
    assert!(
        said("data convert copy.parquet -o c.csv --filter capture")
            .contains("capture en_passant=true (move played)")
    );
    assert!(said("tune hce copy.parquet --terms material --epochs 1 --run r").contains("no strangers"));
    assert!(said("data games copy.parquet -o g.pgn").contains("has no moves, so no games"));
}
