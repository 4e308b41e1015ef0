//! `patzer games` as a user runs it.

use std::fs;
use std::path::Path;

use patzer_data::{Dataset, Record};
use sha2::{Digest, Sha256};

use crate::{done, patzer};

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&done(folder, &format!("{line} --json"))).unwrap()
}

/// The error of a run that has to fail for the user's fault and leave nothing.
fn refused(folder: &Path, line: &str) -> String {
    let before = fs::read_dir(folder).unwrap().count();
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), before, "{line} leaves something");
    String::from_utf8(output.stderr).unwrap()
}

/// Every position of a file of games, without its scores.
fn positions(folder: &Path, file: &str) -> Vec<Record> {
    done(folder, &format!("extract {file} -o all.parquet -q"));
    let records = Dataset::open(&folder.join("all.parquet")).unwrap().read_all().unwrap();
    records.into_iter().map(|record| Record { score: None, depth: None, ..record }).collect()
}

/// Moves of each game in UCI notation, from games that have nothing else in their movetext.
fn moves_of(text: &str) -> Vec<String> {
    let games = text.split("\n\n").skip(1).step_by(2);
    let number = |word: &&str| !word.ends_with('.');
    games
        .map(|moves| {
            let words: Vec<&str> = moves.split_whitespace().filter(number).collect();
            words[..words.len() - 1].join(" ")
        })
        .collect()
}

/// Count and hash were made with pgn-extract 26-05 from the same file: `pgn-extract -s -C -N -V -Wuci --notags`, each
/// line without its result and in lower case.
#[test]
fn moves_are_those_of_pgn_extract() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games.pgn.zst");
    let layout = "--unfinished --notation uci --without comments,glyphs,variations";
    done(folder.path(), &format!("games {games} {layout} -o uci.pgn"));
    let moves = moves_of(&fs::read_to_string(folder.path().join("uci.pgn")).unwrap());
    let hash = Sha256::digest((moves.join("\n") + "\n").as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(moves.len(), 4_000);
    assert_eq!(hex, "3abcb29b2ef70fc0cd9714907ceb2d3ae4281f4a4724ea92ad3b341e0e589102");
}

/// `pgn-extract -s -D` leaves 3,996 games of the same file.
#[test]
fn repeated_games_are_those_of_pgn_extract() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games.pgn.zst");
    let summary = json(folder.path(), &format!("games {games} --unfinished --unique"));
    assert_eq!(
        (summary["games_written"].as_u64(), summary["dropped"]["duplicates"].as_u64()),
        (Some(3_996), Some(4))
    );
    // All games once more are all repeated.
    let summary =
        json(folder.path(), &format!("games selected.pgn {games} --unfinished --unique -o twice.pgn"));
    assert_eq!(summary["dropped"]["duplicates"], 4_000);
    assert_eq!(
        fs::read(folder.path().join("selected.pgn")).unwrap(),
        fs::read(folder.path().join("twice.pgn")).unwrap()
    );
    // As many openings of three moves as the games have.
    let layout = "--unfinished --notation uci --without comments,glyphs,variations";
    done(folder.path(), &format!("games {games} {layout} -o uci.pgn"));
    let moves = moves_of(&fs::read_to_string(folder.path().join("uci.pgn")).unwrap());
    let first = |moves: &String| moves.split(' ').take(6).collect::<Vec<_>>().join(" ");
    let openings: std::collections::HashSet<String> = moves.iter().map(first).collect();
    let summary = json(folder.path(), &format!("games {games} --unfinished --unique=6 --dry-run"));
    assert_eq!(summary["games_written"], openings.len());
}

#[test]
fn no_layout_changes_a_position() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["games.pgn.zst", "engine.pgn.zst", "games_dialects.pgn", "games_lichess.pgn"] {
        let games = fixture(name);
        let before = positions(folder.path(), &games);
        let numbered = |records: Vec<Record>| -> Vec<Record> {
            // Games that give no position are gone, so the others have new numbers.
            let (mut number, mut last) = (0, None);
            let renumbered = records.into_iter().map(|record| {
                number += u32::from(last.is_some_and(|last| last != record.game));
                last = Some(record.game);
                Record { game: number, ..record }
            });
            renumbered.collect()
        };
        let before = numbered(before);
        for layout in
            ["", "--notation san", "--notation lan", "--notation uci", "--without variations", "--tags seven"]
        {
            done(folder.path(), &format!("games {games} {layout} -o out.pgn.gz -q"));
            let after = numbered(positions(folder.path(), "out.pgn.gz"));
            assert_eq!(before.len(), after.len(), "{name} {layout}");
            assert!(before == after, "{name} {layout}");
        }
    }
}

#[test]
fn every_game_is_kept_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let (damaged, lichess) = (fixture("games_damaged.pgn"), fixture("games_lichess.pgn"));
    let line = format!("games {damaged} {lichess} --rejects rejects.pgn.zst -o kept.pgn");
    let summary = json(folder.path(), &line);
    assert_eq!((summary["games"].as_u64(), summary["games_bad"].as_u64()), (Some(26), Some(11)));
    let kept = json(folder.path(), "games kept.pgn --dry-run");
    assert_eq!((kept["games"].as_u64(), kept["games_written"].as_u64()), (Some(15), Some(15)));
    let rejected =
        json(folder.path(), &format!("games {damaged} rejects.pgn.zst --dry-run --by-tag Rejected"));
    assert_eq!(rejected["games_bad"], 22);
    // As they were read.
    let (all, kept) =
        (fs::read_to_string(lichess).unwrap(), fs::read_to_string(folder.path().join("kept.pgn")).unwrap());
    assert!(kept.ends_with(&format!("{}\n\n", all.trim())));
}

/// The second game has no tags, and no result separates it from the first.
#[test]
fn games_without_tags_stay_games_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (first, second, apart) in [
        ("[Result \"1-0\"]\n\n1. e4 e5", "1. d4 d5 0-1", false),
        ("[Result \"1-0\"]\n\n1. e4 e5 1-0 ; a note", "1. d4 d5 0-1", false),
        ("1. e4 e5 1-0", "{a note} 1. d4 d5 0-1", false),
        ("1. e4 e5 1-0", "1. d4 d5 0-1", true),
        ("[Result \"1-0\"]\n\n1. e4 e5", "[Result \"0-1\"]\n\n1. d4 d5", true),
    ] {
        fs::write(here.join("a.pgn"), first).unwrap();
        fs::write(here.join("b.pgn"), second).unwrap();
        done(here, "games a.pgn b.pgn -o c.pgn");
        let tag = if apart { "" } else { "[Event \"?\"]\n\n" };
        let text = fs::read_to_string(here.join("c.pgn")).unwrap();
        assert_eq!(text, format!("{first}\n\n{tag}{second}\n\n"));
        let results: Vec<i8> = positions(here, "c.pgn").iter().map(|record| record.result).collect();
        assert_eq!(results, [1, 1, -1, -1]);
        let summary = json(here, "games a.pgn b.pgn --per-file 1 -o d.pgn");
        assert_eq!(summary["games_written"], 2);
        assert_eq!(fs::read_to_string(here.join("d-0002.pgn")).unwrap(), format!("{second}\n\n"));
    }
}

#[test]
fn comments_between_tags_do_not_end_them() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let game = format!("[White \"a\"]\n; from a book\n[FEN \"{fen}\"]\n[Result \"1-0\"]\n\n1. Rh8+ 1-0\n\n");
    fs::write(here.join("a.pgn"), game.repeat(2)).unwrap();
    let summary = json(here, "games a.pgn -o b.pgn");
    assert_eq!((&summary["games"], &summary["games_written"]), (&2.into(), &2.into()));
    assert_eq!(fs::read_to_string(here.join("b.pgn")).unwrap(), game.repeat(2));
    done(here, "games a.pgn --notation uci -o c.pgn");
    let rewritten = format!("[White \"a\"]\n[FEN \"{fen}\"]\n[Result \"1-0\"]\n\n1. h1h8 1-0\n\n");
    assert_eq!(fs::read_to_string(here.join("c.pgn")).unwrap(), rewritten.repeat(2));
    assert_eq!(positions(here, "b.pgn").len(), 2);
}

#[test]
fn filters_judge_games_and_their_positions() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games.pgn.zst");
    let written = |line: &str| {
        json(folder.path(), &format!("games {games} --dry-run {line}"))["games_written"].as_u64()
    };
    // Some of its names are Latin-1, and are written so.
    let text = patzer(folder.path(), &["games", &games, "-q", "-o", "-"]).stdout;
    let text = String::from_utf8_lossy(&text);
    let of_adams = text.matches("[White \"Adams, Michael\"]").count()
        + text.matches("[Black \"Adams, Michael\"]").count();
    assert!(of_adams > 10);
    assert_eq!(
        written("--filter players --filter-set players.name=adams,* --by-tag White"),
        Some(of_adams as u64)
    );
    // A game of 81 plies has a position 80 plies from the start, and two of at least 79.
    let records = positions(folder.path(), &games);
    let longer = records.iter().filter(|record| record.ply == 80).count() as u64;
    assert_eq!(written("--filter ply --filter-set ply.min=80"), Some(longer));
    assert_eq!(written("--filter ply --filter-set ply.min=79 --min-positions 2"), Some(longer));
    // Random filters draw by game and ply: about half of the games, not all or none.
    let half = written("--filter random_skip --filter ply --filter-set ply.max=0").unwrap();
    assert!((1_800..2_150).contains(&half), "{half}");
    let drawn =
        written("--filter result --filter-set result.white_wins=false --filter-set result.black_wins=false");
    let counts = json(folder.path(), &format!("games {games} --dry-run --by-tag Result"));
    assert_eq!(drawn, counts["counts"]["Result"]["1/2-1/2"].as_u64());
}

#[test]
fn files_of_some_games_hold_what_one_file_does() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("engine.pgn.zst");
    let own = b"1. e4 *\n";
    fs::write(folder.path().join("part-0005.pgn.bz2"), own).unwrap();
    // A numbered file that is read is not replaced.
    let line = format!("games {games} part-0005.pgn.bz2 --per-file 100 -o part.pgn.bz2");
    let run = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8(run.stderr).unwrap();
    assert!(error.contains("part-0005.pgn.bz2: is one of the files that are read"), "{error}");
    assert_eq!(fs::read(folder.path().join("part-0005.pgn.bz2")).unwrap(), own);
    let run = patzer(folder.path(), &["games", &games, "--per-file", "150", "-o", "part.pgn.bz2"]);
    assert!(String::from_utf8(run.stdout).unwrap().contains("→ part-0001.pgn.bz2 to part-0004.pgn.bz2"));
    assert!(String::from_utf8(run.stderr).unwrap().contains("part-0005.pgn.bz2: is of an earlier run"));
    fs::remove_file(folder.path().join("part-0005.pgn.bz2")).unwrap();
    done(folder.path(), &format!("games {games} -o one.pgn --threads 1"));
    done(
        folder.path(),
        "games part-0001.pgn.bz2 part-0002.pgn.bz2 part-0003.pgn.bz2 part-0004.pgn.bz2 -o all.pgn --threads 3",
    );
    let [one, all] = ["one.pgn", "all.pgn"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(one == all);
    assert_eq!(json(folder.path(), "games part-0002.pgn.bz2 --dry-run")["games"], 150);
    let shards = [1, 2]
        .map(|n| json(folder.path(), &format!("games one.pgn --shard {n}/2 --dry-run"))["games"].as_u64());
    assert_eq!(shards, [Some(300); 2]);
}

/// Extracted, written as games and extracted again, positions and scores are the same.
#[test]
fn games_of_a_dataset_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let read = |name: &str| Dataset::open(&here.join(name)).unwrap().read_all().unwrap();
    for name in ["engine.pgn.zst", "games.pgn.zst"] {
        done(here, &format!("games {} --notation san -o in.pgn -q", fixture(name)));
        done(here, "extract in.pgn -o in.parquet -q");
        let summary = json(here, "data games in.parquet -o out.pgn");
        assert_eq!(summary["gaps"], 0);
        done(here, "extract out.pgn -o out.parquet -q");
        let [before, after] = ["in.parquet", "out.parquet"].map(read);
        assert_eq!(
            (summary["positions_read"].as_u64(), before.len()),
            (Some(after.len() as u64), after.len())
        );
        // Games without moves leave no position, so the others have new numbers.
        let same = |a: &Record, b: &Record| *a == Record { game: a.game, ..*b };
        assert!(before.iter().zip(&after).all(|(a, b)| same(a, b)), "{name}");
        // Other formats keep games and scores without depths and moves of a book.
        done(here, "data convert in.parquet -o in.vf --no-score 0 -q");
        done(here, "data convert in.vf -o in_vf.parquet -q");
        let summary = json(here, "data games in.vf -o viri.pgn");
        assert_eq!(summary["gaps"], 0);
        done(here, "extract viri.pgn -o viri.parquet -q");
        let [vf, viri] = ["in_vf.parquet", "viri.parquet"].map(read);
        let bare = |record: &Record| {
            (
                record.board,
                record.turn,
                record.ply,
                record.played,
                record.result,
                record.to_capture,
                record.score,
            )
        };
        assert!(vf.iter().map(bare).eq(viri.iter().map(bare)), "{name}");
    }
    // Stretches between the positions that a filter drops.
    done(here, "data convert in.parquet -o quiet.parquet --filter capture -q");
    let run = patzer(here, &["data", "games", "quiet.parquet", "-o", "quiet.pgn", "--json"]);
    assert!(String::from_utf8(run.stderr).unwrap().contains("gaps within games"));
    let summary: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let stretches = json(here, "games quiet.pgn --dry-run")["games_written"].as_u64();
    assert_eq!(summary["games_written"].as_u64(), stretches);
    assert_eq!(positions(here, "quiet.pgn").len(), read("quiet.parquet").len());
}

#[test]
fn scores_of_book_moves_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("in.pgn"), "1. e4 {book} {d=5, wv=0.33} e5 {book} 2. Nf3 {d=6, wv=0.20} 1-0\n")
        .unwrap();
    done(here, "extract in.pgn -o in.parquet -q");
    done(here, "data games in.parquet -o out.pgn -q");
    let text = fs::read_to_string(here.join("out.pgn")).unwrap();
    assert!(text.contains("1. e4 {book} {d=5, wv=+0.33} e5 {book} 2. Nf3 {d=6, wv=+0.20} 1-0"), "{text}");
    done(here, "extract out.pgn -o out.parquet -q");
    let [before, after] = ["in.parquet", "out.parquet"]
        .map(|name| Dataset::open(&here.join(name)).unwrap().read_all().unwrap());
    assert!(before == after && before[0].score == Some(33) && before[0].has(patzer_data::flags::BOOK));
}

#[test]
fn games_without_enough_positions_go_without_a_filter_too() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("in.pgn"), "[Event \"a\"]\n\n1. e4 1-0\n\n[Event \"b\"]\n\n1. e4 e5 1-0\n").unwrap();
    let summary = json(here, "games in.pgn --min-positions 2 --dry-run");
    assert_eq!((&summary["games_written"], &summary["dropped"]["positions"]), (&1.into(), &1.into()));
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixture("games_lichess.pgn");
    for (line, part) in [
        (format!("games {games} --filter unique"), "--unique drops games"),
        (format!("games {games} -o games.parquet"), "is no name of a file of games (.pgn, .pgn.gz"),
        (format!("games {games} -o {games}"), "is one of the files of games"),
        (format!("games {games} -o - --per-file 5"), "--per-file: needs the name of a file"),
        (format!("games {games} -o a.pgn --rejects a.pgn"), "name the same file"),
        (format!("games {games} --unique=x"), "write a number of plies, or all"),
        (format!("games {}", fixture("puzzles.csv")), "holds no games"),
        (format!("games {}", fixture("unchecked.parquet")), "holds positions (parquet), not games in PGN"),
    ] {
        let error = refused(folder.path(), &line);
        assert!(error.contains(part), "{line}: {error}");
    }
}
