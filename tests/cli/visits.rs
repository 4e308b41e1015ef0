//! Visits of the search by playouts: from self-play through every command on datasets.

use std::path::Path;

use patzer_data::AnyReader;
use patzer_formats::visits::{self, Visits};

use crate::{done, patzer};

/// The positions of a file with their visits, in an order that does not depend on the file's.
fn visited(path: &Path) -> Vec<(u128, u16, Visits)> {
    let reader = AnyReader::open(path, None).unwrap();
    let rows = reader.extra_rows(&[visits::column()]).unwrap();
    let records = reader.read_all().unwrap();
    let rows =
        rows.unwrap_or_else(|| panic!("no visits in {}", path.display())).take(records.len() + 1).unwrap();
    assert_eq!(rows.len(), records.len());
    let mut all: Vec<_> =
        records.iter().zip(rows).map(|(record, row)| (record.key(), record.ply, row.visits(0))).collect();
    all.sort();
    all
}

/// Visits as montyformat keeps them.
fn in_255ths(visits: &Visits) -> Visits {
    let most = visits.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let scaled =
        visits.iter().map(|&(m, count)| (m, (255.0 * f64::from(count) / f64::from(most)).round() as u32));
    let mut scaled: Visits = scaled.filter(|(_, count)| *count > 0).collect();
    visits::sort(&mut scaled);
    scaled
}

fn play(folder: &Path, options: &str) {
    let line = format!("selfplay --search mcts --nodes 150 --seed 5 -q {options}");
    done(folder, &line);
}

#[test]
fn selfplay_by_playouts_says_how_often_it_visited_each_move() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [one, two, resumed] = [0, 1, 2].map(|nth: usize| folders[nth].path());
    let files = "-o a.monty -o a.parquet";
    play(one, &format!("--games 3 --threads 1 {files}"));
    play(two, &format!("--games 3 --concurrency 3 {files}"));
    play(resumed, &format!("--games 1 {files}"));
    play(resumed, &format!("--games 3 --resume {files}"));
    for name in ["a.monty", "a.parquet", "a.pgn.zst"] {
        let bytes = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
        assert!(bytes(one) == bytes(two) && bytes(one) == bytes(resumed), "{name}");
    }
    let all = visited(&one.join("a.parquet"));
    let sums = all.iter().map(|(_, _, visits)| visits.iter().map(|(_, count)| *count).sum::<u32>());
    assert!(all.len() > 60 && sums.filter(|sum| *sum > 20).count() > all.len() / 2);
    let stats: serde_json::Value =
        serde_json::from_str(&done(one, "data stats a.parquet --json --threads 2")).unwrap();
    let count = |of: fn(&Visits) -> u64| all.iter().map(|(_, _, visits)| of(visits)).sum::<u64>();
    let counted = serde_json::json!({
        "positions": count(|visits| u64::from(!visits.is_empty())),
        "moves": count(|visits| visits.len() as u64),
        "visits": count(|visits| visits.iter().map(|(_, count)| u64::from(*count)).sum()),
    });
    assert_eq!(stats["visits"], counted);
    let text = done(one, "data stats a.parquet");
    assert!(text.contains("  with visits ") && text.contains("    moves visited, mean "), "{text}");
    let moves = |format: &str| done(one, &format!("data show {format} --columns move,visits --count 10"));
    let shown = moves("a.parquet");
    let best = shown.lines().skip(1).filter(|line| {
        let (played, visits) = line.split_once('\t').unwrap();
        visits.starts_with(&format!("{played}:"))
    });
    assert!(best.count() >= 8, "{shown}");
    // The games themselves have them too, in 255ths.
    let games = visited(&one.join("a.monty"));
    assert_eq!(games.len(), all.len());
    for ((key, _, exact), (other, _, scaled)) in all.iter().zip(&games) {
        assert_eq!((key, &in_255ths(exact)), (other, scaled));
    }
}

#[test]
fn every_command_carries_visits_along() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    play(here, "--games 3 -o a.parquet");
    let all = visited(&here.join("a.parquet"));
    for (line, output) in [
        ("data convert a.parquet -o b.parquet", "b.parquet"),
        ("data shuffle a.parquet -o c.parquet", "c.parquet"),
        ("data shuffle a.parquet -o d.parquet --memory 10K", "d.parquet"),
        ("data split a.parquet --train 1 --validation 0 --test 0 -o e.parquet", "e.train.parquet"),
        ("data merge a.parquet -o f.parquet", "f.parquet"),
        ("data interleave a.parquet=1 -o g.parquet", "g.parquet"),
        ("label a.parquet -o h.parquet", "h.parquet"),
        ("extract --visits a.pgn.zst -o i.parquet", "i.parquet"),
    ] {
        done(here, line);
        assert!(visited(&here.join(output)) == all, "{line}");
        done(here, &format!("data validate {output}"));
    }
    let scaled: Vec<Visits> = all.iter().map(|(_, _, visits)| in_255ths(visits)).collect();
    for (line, output) in [
        ("data convert a.parquet -o j.monty", "j.monty"),
        ("extract --visits a.pgn.zst -o k.monty.zst", "k.monty.zst"),
        ("data convert j.monty -o l.parquet", "l.parquet"),
        ("data merge j.monty -o m.parquet", "m.parquet"),
        ("data shuffle j.monty -o n.parquet", "n.parquet"),
        ("label l.parquet -o o.parquet", "o.parquet"),
    ] {
        done(here, line);
        let carried = visited(&here.join(output)).into_iter().map(|(_, _, visits)| visits);
        assert!(carried.collect::<Vec<_>>() == scaled, "{line}");
    }
    let kept = "data convert a.parquet --filter capture -o p.parquet";
    done(here, kept);
    let kept = visited(&here.join("p.parquet"));
    assert!(!kept.is_empty() && kept.len() < all.len() && kept.iter().all(|row| all.contains(row)));
}

#[test]
fn visits_that_other_programs_rewrote_are_the_same() {
    let fixture = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parquet").join(name);
    let source = visited(&fixture("visits.parquet"));
    assert!(source.iter().filter(|(_, _, visits)| visits.len() > 3).count() > 4);
    for name in ["visits_pandas.parquet", "visits_duckdb.parquet"] {
        assert_eq!(visited(&fixture(name)), source, "{name}");
    }
}

#[test]
fn visits_that_are_lost_or_make_no_sense_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = |line: &str, code: i32, expected: &str| {
        let output = patzer(here, &line.split_whitespace().collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    };
    said(
        "selfplay --search mcts --nodes 40 --games 1 -o a.vf -o a.parquet",
        0,
        "a.vf: its format does not carry the visits of the search",
    );
    for line in
        ["data convert a.parquet -o b.csv", "selfplay --search mcts --nodes 40 --games 1 -o d.pgn -o d.csv"]
    {
        said(line, 0, "left out are the columns visits, which csv does not carry");
    }
    said("data merge a.parquet --sample 5 -o c.parquet", 0, "left out are the columns visits");
    said(
        "extract --visits a.pgn.zst --duplicates first -o c.parquet",
        1,
        "--visits: goes with filters of single positions",
    );
    said("selfplay --search slow --games 1", 1, "Search");
    let pgn = "[Result \"1-0\"]\n\n1. e4 {visits=\"e2e4:3\"} e5\n{visits=\"e7e4:1\"} 1-0\n\n[Result \"0-1\"]\n\n1. d4 0-1\n";
    std::fs::write(here.join("bad.pgn"), pgn).unwrap();
    said("extract --visits bad.pgn -o e.parquet", 0, "visits that are none: `e7e4:1`");
    assert_eq!(visited(&here.join("e.parquet")).len(), 1);
    said("extract bad.pgn -o f.parquet", 0, "");
    assert!(AnyReader::open(&here.join("f.parquet"), None).unwrap().metadata().extra.is_empty());
}
