//! `patzer join`: shards of matches and screens are the bytes of one run.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::{done, kill, patzer};

const LIMITS: &str = "--max-moves 30 --hash 1";

fn timeless(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    value.as_object_mut().unwrap().remove("games_per_second");
    value
}

/// Games, conditions of the journal, and its entries.
fn files(at: &Path, name: &str) -> (String, Value, Vec<String>) {
    let games = fs::read_to_string(at.join(format!("{name}.pgn"))).unwrap();
    let journal = fs::read_to_string(at.join(format!("{name}.journal"))).unwrap();
    let mut lines = journal.lines().map(str::to_string);
    let first: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    (games, first["conditions"].clone(), lines.collect())
}

fn refused(at: &Path, line: &str, says: &str) {
    let output = patzer(at, &line.split_whitespace().collect::<Vec<_>>());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && text.contains(says), "{line}: {text}");
}

#[test]
fn five_shards_two_of_them_killed_and_resumed_are_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // 22 pairs, which five shards do not share equally.
    let line = format!("match default default-hce untuned-hce {LIMITS} --nodes 1500 --games 22");
    let whole = timeless(&done(at, &format!("{line} --json -q -o whole.pgn")));
    let mut kills = 0;
    for shard in 1..=5 {
        let mut part = format!("{line} --shard {shard}/5 -q -o part{shard}.pgn");
        if shard % 2 == 0 {
            let mut command = crate::program();
            command.current_dir(at).args(part.split_whitespace());
            let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            let journal = at.join(format!("part{shard}.journal"));
            while child.try_wait().unwrap().is_none()
                && fs::read_to_string(&journal).unwrap_or_default().lines().count() < 2
            {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            // A run that had just written its last line is finished although it was killed.
            if kill(&mut child) && !fs::read_to_string(&journal).unwrap().contains("{\"end\":") {
                kills += 1;
                refused(at, &format!("join part1.pgn part{shard}.pgn -o m.pgn"), "has not come to its end");
            }
            part = format!("match --resume -q -o part{shard}.pgn");
        }
        done(at, &part);
    }
    assert!(kills >= 1, "{kills}");
    refused(at, "join part1.pgn part5.pgn part3.pgn -o m.pgn", "these shards are missing: 2/5, 4/5");
    let joined = done(at, "join part5.pgn part3.pgn part1.pgn part2.pgn part4.pgn part3.pgn -o m.pgn --json");
    let joined: Value = serde_json::from_str(&joined).unwrap();
    assert_eq!(joined, serde_json::json!({ "output": "m.pgn", "shards": 5, "games": 44 }));
    assert!(files(at, "m") == files(at, "whole"), "the files differ");
    assert_eq!(timeless(&done(at, "match --resume --json -q -o m.pgn")), whole);
    // A shard is a match of its own to all that reads matches.
    let rated = done(at, "rate part2.pgn --json");
    assert!(serde_json::from_str::<Value>(&rated).is_ok(), "{rated}");
    refused(at, "join whole.pgn part2.pgn -o n.pgn", "whole.pgn: is no shard of a match");
    done(at, &format!("{line} --seed 7 --shard 2/5 -q -o other.pgn"));
    refused(at, "join part1.pgn other.pgn -o n.pgn", "is not a shard of the match of part1.pgn");
    refused(
        at,
        &format!("{line} --tournament knockout --shard 1/2"),
        "--shard: not in a tournament in rounds",
    );
    assert!(!at.join("n.pgn").exists());
}

#[test]
fn shards_of_a_screen_are_a_screen_that_decides_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("factors.txt"), "null: null_depth=1000\nkillers: killers=1>0\n").unwrap();
    let line = format!("screen default --options factors.txt {LIMITS} --nodes 100 --games 60");
    let whole = timeless(&done(at, &format!("{line} --fixed --json -q -o whole.pgn")));
    for shard in 1..=3 {
        done(at, &format!("{line} --shard {shard}/3 -q -o part{shard}.pgn"));
    }
    let report = done(at, "report part2.journal -o part.html --json -q");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["runs"][0]["measures"]["games"], 20);
    done(at, "join part1.pgn part2.pgn part3.pgn -o s.pgn");
    assert!(files(at, "s") == files(at, "whole"), "the files differ");
    assert_eq!(timeless(&done(at, "watch s.pgn --json -q")), whole);
    assert_eq!(whole["effects"][0]["standing"], "open");
}
