//! `patzer extract` in parts, beyond memory, and killed; `patzer data shuffle`, `split` and `merge` as a user runs
//! them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use patzer_data::Dataset;

use crate::{done, patzer};

/// The first games of the bundled ones, as two files in a folder.
fn games(folder: &Path) -> [&'static str; 2] {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games.pgn.zst");
    let text = patzer_io::read(&path, patzer_io::Limit::BOOK).unwrap();
    let starts: Vec<usize> = memchr::memmem::find_iter(&text, "[Event ").collect();
    std::fs::write(folder.join("a.pgn"), &text[..starts[401]]).unwrap();
    // A broken game, so that there is something to account for.
    let broken = b"[Event \"x\"]\n\n1. e4 e6 2. Ke3 1-0\n\n";
    std::fs::write(folder.join("b.pgn"), [&text[starts[401]..starts[900]], broken].concat()).unwrap();
    ["a.pgn", "b.pgn"]
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

fn json(folder: &Path, line: &str) -> serde_json::Value {
    serde_json::from_str(&done(folder, line)).unwrap()
}

/// Names of everything in a folder, hidden files too.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn error(folder: &Path, line: &str) -> String {
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn shards_merge_to_the_bytes_and_the_account_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b] = games(at);
    for (choice, last) in [
        ("--filter unique", ""),
        ("--filter quiet", ""),
        ("--filter capt --duplicates deepest", ""),
        ("--filter unique --duplicates mean --mirrored-duplicates", ""),
        ("--filter unique --duplicates last", "--per-game 3"),
        ("--filter unique --seed 9", "--sample 500"),
        ("--per-game 5", ""),
    ] {
        let whole = json(at, &format!("extract {a} {b} {choice} {last} --json -q -o whole"));
        for part in 1..=3 {
            done(at, &format!("extract {a} {b} {choice} --shard {part}/3 -q -o part{part}"));
        }
        let merged = json(at, &format!("data merge part2 part3 part1 {last} --json -q -o merged"));
        assert!(bytes(at, "merged") == bytes(at, "whole"), "{choice} {last}");
        for key in ["games", "games_bad", "games_skipped", "positions_read", "dropped"] {
            assert_eq!(merged["account"][key], whole[key], "{choice} {last}: {key}");
        }
        assert_eq!(merged["positions_written"], whole["positions_written"]);
    }
    assert!(error(at, "data merge part1 part3").contains("shard 2/3 is missing"));
    assert!(error(at, "data merge part1 part3 part1").contains("shard 1/3 is there twice"));
    assert!(error(at, "data merge part1 whole").contains("not a part of the same extraction"));
    assert!(error(at, "extract a.pgn --shard 1/2 --sample 5").contains("data merge"));
    assert!(error(at, "extract a.pgn --shard 3/2").contains("i/n"));
}

#[test]
fn datasets_of_several_files_merge_to_that_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b] = games(at);
    done(at, &format!("extract {a} {b} -q -o whole"));
    done(at, &format!("extract {a} -q -o a"));
    done(at, &format!("extract {b} -q -o b"));
    done(at, "data merge a b -q -o merged");
    assert!(bytes(at, "merged") == bytes(at, "whole"));
    done(at, "data convert a b -q -o converted");
    assert!(bytes(at, "converted") == bytes(at, "whole"));
    // Games without positions have numbers too.
    let few = "--filter piece_count --filter-set piece_count.max=6";
    done(at, &format!("extract {a} {few} -q -o few"));
    let metadata = |name: &str| Dataset::open(&at.join(name)).unwrap().metadata().clone();
    let last = Dataset::open(&at.join("few")).unwrap().read_all().unwrap().last().map(|record| record.game);
    assert!(last < Some(metadata("few").sources[0].games.unwrap() as u32 - 1));
    done(at, "data convert few b -q -o converted");
    done(at, "data merge few b -q -o merged");
    assert!(bytes(at, "converted") == bytes(at, "merged"));
    // Numbers of a file that joins twice say no more which file it is.
    done(at, "data convert a few -q -o converted");
    assert_eq!(metadata("converted").sources.iter().map(|s| s.games).collect::<Vec<_>>(), [None]);
    // Duplicates go across the parts, and the first stays.
    let unique = json(at, "data merge a b --duplicates first --json -q -o unique");
    done(at, &format!("extract {a} {b} --duplicates first -q -o expected"));
    let rows = |name: &str| Dataset::open(&at.join(name)).unwrap().read_all().unwrap();
    assert!(rows("unique") == rows("expected"));
    let dropped = unique["dropped"]["duplicates"].as_u64().unwrap();
    assert_eq!(unique["positions_read"], unique["positions_written"].as_u64().unwrap() + dropped);
}

#[test]
fn memory_does_not_change_a_byte_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b] = games(at);
    for choice in
        ["--filter unique", "--duplicates mean --mirrored-duplicates", "--duplicates last --per-game 4"]
    {
        for memory in ["1K", "300K", "2G"] {
            done(at, &format!("extract {a} {b} {choice} --memory {memory} -q -o x{memory}"));
        }
        assert!(bytes(at, "x1K") == bytes(at, "x2G"), "{choice}");
        assert!(bytes(at, "x300K") == bytes(at, "x2G"), "{choice}");
    }
    assert_eq!(names(at), ["a.pgn", "b.pgn", "x1K", "x2G", "x300K"]);
}

/// Starts an extraction that can be resumed, and kills it when its journal has so many lines, if it comes to that.
fn kill_at(folder: &Path, arguments: &[&str], lines: usize) -> bool {
    let journal: PathBuf = folder.join("x.partial/journal");
    let mut child = Command::new(env!("CARGO_BIN_EXE_patzer"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return false;
        }
        let written = std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        if written >= lines {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
    }
}

#[test]
fn a_killed_extraction_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b] = games(at);
    let plain = ["extract", a, b, "--filter", "unique", "--per-game", "30", "--json", "-q", "-o"];
    let whole = patzer(at, &[&plain[..], &["whole"]].concat());
    let resumable = [&plain[..], &["x", "--resume", "--memory", "1M"]].concat();
    let alone = ["extract", "--resume", "-o", "x", "--json", "-q"];
    let mut kills = 0;
    // Each run gets a little further than the one before, until one gets to the end.
    for lines in 1.. {
        if !kill_at(at, if lines == 1 { &resumable } else { &alone }, lines) {
            break;
        }
        kills += 1;
        assert!(!at.join("x").exists());
        if kills == 2 {
            // One bit of a count in the last checkpoint.
            let whole = bytes(at, "x.partial/journal");
            let mut damaged = whole.clone();
            let key = b"\"next_game\":";
            let count = damaged.windows(key.len()).rposition(|text| text == key).unwrap() + key.len();
            damaged[count] ^= 1;
            std::fs::write(at.join("x.partial/journal"), damaged).unwrap();
            let again = format!("extract {a} {b} --filter unique --per-game 30 --resume -o x");
            let damaged = error(at, &again);
            assert!(
                damaged.contains("x.partial/journal: line ") && damaged.contains("is damaged"),
                "{damaged}"
            );
            std::fs::write(at.join("x.partial/journal"), whole).unwrap();
            // The last line was being written, and positions that no checkpoint speaks of.
            let mut journal = bytes(at, "x.partial/journal");
            journal.extend(b"{\"length\":123");
            std::fs::write(at.join("x.partial/journal"), journal).unwrap();
            let mut positions = bytes(at, "x.partial/positions");
            positions.extend([7; 1000]);
            std::fs::write(at.join("x.partial/positions"), positions).unwrap();
            let unfinished = error(at, "extract a.pgn -o x");
            assert!(unfinished.contains("x.partial: is of an unfinished run"), "{unfinished}");
            assert!(unfinished.contains("--resume") && unfinished.contains("--overwrite"), "{unfinished}");
            let other = error(at, "extract a.pgn --resume -o x");
            assert!(other.contains("x.partial") && other.contains("other games or settings"), "{other}");
        }
    }
    assert!(kills >= 1);
    assert!(bytes(at, "x") == bytes(at, "whole"));
    assert_eq!(names(at), ["a.pgn", "b.pgn", "whole", "x"]);
    // Once more in one go, to compare what it reports.
    let again = patzer(at, &resumable);
    let report = |output: &std::process::Output| {
        let mut report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for key in ["seconds", "positions_per_second", "bytes_per_second", "output"] {
            report[key].take();
        }
        report
    };
    assert_eq!(report(&again), report(&whole));
    assert!(error(at, "extract - --resume -o y").contains("standard input"));
    assert!(error(at, "extract --resume -o y").contains("no unfinished run to resume"));
}

#[test]
fn a_resumable_extraction_writes_what_another_would() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, _] = games(at);
    for (plain, resumed) in [("a.epd.zst", "B.EPD.ZST"), ("a.bullet", "b.bullet")] {
        done(at, &format!("extract {a} -q -o {plain}"));
        std::fs::write(at.join(resumed), "an earlier one").unwrap();
        std::fs::write(at.join(format!("{resumed}.sha256")), "of the earlier one").unwrap();
        done(at, &format!("extract {a} -q --resume -o {resumed}"));
        assert!(bytes(at, plain) == bytes(at, resumed), "{resumed}");
    }
    let companion = patzer_io::companion(&at.join("b.bullet")).unwrap();
    assert_eq!(companion, Some(patzer_io::sha256(&bytes(at, "b.bullet"))));
    assert!(!at.join("B.EPD.ZST.sha256").exists());
}

/// The file system of a link's target may be another than the link's.
#[test]
#[cfg(target_os = "linux")]
fn a_resumable_extraction_follows_a_link_to_another_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let (at, target) = (folder.path(), elsewhere.path().join("x"));
    let [a, _] = games(at);
    std::os::unix::fs::symlink(&target, at.join("link")).unwrap();
    std::fs::write(&target, "an earlier one").unwrap();
    done(at, &format!("extract {a} -q --resume -o link"));
    done(at, &format!("extract {a} -q -o whole"));
    assert!(bytes(elsewhere.path(), "x") == bytes(at, "whole"));
    assert_eq!(names(at), ["a.pgn", "b.pgn", "link", "whole"]);
}

#[test]
fn games_without_tags_make_a_file_of_games_whoever_parses_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("few.pgn"), "1. e4 e5 1-0\n\n").unwrap();
    let shuffled = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n\n";
    std::fs::write(at.join("many.pgn"), shuffled.repeat(20_000)).unwrap();
    for line in ["extract few.pgn --shard 2/2 -o x", "games few.pgn --shard 2/2 -o x.pgn"] {
        done(at, &format!("{line} -q"));
    }
    let line = "extract few.pgn many.pgn --memory 1M -q -o x --resume";
    std::fs::remove_file(at.join("x")).unwrap();
    kill_at(at, &line.split_whitespace().collect::<Vec<_>>(), 3);
    done(at, line);
    done(at, &line.replace("-o x --resume", "-o whole"));
    assert!(bytes(at, "x") == bytes(at, "whole"));
    std::fs::write(at.join("none.pgn"), "no game\n\nat all\n").unwrap();
    assert!(error(at, "extract none.pgn --shard 2/2 -o y").contains("holds no games in PGN"));
}

#[test]
fn a_second_run_leaves_the_progress_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, b] = games(at);
    let line = format!("extract {a} {b} --filter unique --memory 1M -q -o x --resume");
    if !kill_at(at, &line.split_whitespace().collect::<Vec<_>>(), 2) {
        return;
    }
    let lock = patzer_io::Lock::take(&at.join("x.partial")).unwrap();
    if lock.is_none() {
        return;
    }
    let before = ["journal", "positions"].map(|name| bytes(&at.join("x.partial"), name));
    assert!(error(at, &line).contains("x.partial: in use by "));
    assert!(before == ["journal", "positions"].map(|name| bytes(&at.join("x.partial"), name)));
    drop(lock);
    done(at, &line);
}

#[test]
fn a_shuffle_depends_on_its_seed_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, _] = games(at);
    done(at, &format!("extract {a} -q"));
    let report = json(at, "data shuffle --seed 5 --json -q");
    done(at, "data shuffle --seed 5 --memory 100K --threads 1 -q -o small");
    done(at, "data shuffle --seed 6 -q -o other");
    done(at, "data shuffle --seed 5 --compress 9 -q -o tight");
    assert!(bytes(at, "small") == bytes(at, "shuffled.parquet"));
    assert!(bytes(at, "other") != bytes(at, "small"));
    assert!(bytes(at, "tight").len() < bytes(at, "small").len());
    let rows = |name: &str| Dataset::open(&at.join(name)).unwrap().read_all().unwrap();
    let (mut before, mut after) = (rows("positions.parquet"), rows("small"));
    assert_eq!(report["positions_written"], before.len());
    assert!(after == rows("tight"));
    assert!(!after.is_sorted_by_key(|s| s.game));
    before.sort_by_key(|s| (s.game, s.ply));
    after.sort_by_key(|s| (s.game, s.ply));
    assert!(before == after);
    // Shards that were shuffled have lost the order in which they would merge.
    for part in 1..=2 {
        done(at, &format!("extract {a} --shard {part}/2 -q -o p{part}"));
        done(at, &format!("data shuffle p{part} -q -o s{part}"));
    }
    assert!(error(at, "data merge s1 s2").contains("not in the order of its games"));
    assert!(!at.join("merged.parquet").exists());
}

#[test]
fn a_split_gives_every_game_to_one_part() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let [a, _] = games(at);
    done(at, &format!("extract {a} -q"));
    let report = json(at, "data split --seed 3 --json -q");
    let names = ["train", "validation", "test"].map(|name| format!("positions.{name}.parquet"));
    let parts = names.map(|name| Dataset::open(&at.join(name)).unwrap().read_all().unwrap());
    let games = |part: &[patzer_data::Record]| {
        part.iter().map(|s| s.game).collect::<std::collections::BTreeSet<u32>>()
    };
    let all: usize = parts.iter().map(|part| games(part).len()).sum();
    let together: std::collections::BTreeSet<u32> = parts.iter().flat_map(|part| games(part)).collect();
    assert_eq!(all, together.len());
    // About nine in ten of some 390 games: four standard deviations are 24.
    assert!((0.84..0.96).contains(&(games(&parts[0]).len() as f64 / all as f64)));
    assert_eq!(report["positions_read"], parts.iter().map(Vec::len).sum::<usize>());
    let half = json(at, "data split --train 0.5 --json -q -o half");
    assert_eq!(half["outputs"].as_array().unwrap().len(), 1);
    let left_out = half["dropped"]["left_out"].as_u64().unwrap();
    assert_eq!(half["positions_read"], half["positions_written"].as_u64().unwrap() + left_out);
    assert!(error(at, "data split --train 0.9 --test 0.2").contains("add up to 1.1"));
    assert!(error(at, "data split --train 2").contains("from 0 to 1"));
    assert!(error(at, "data split none.parquet").contains("no such file"));
}
