//! `data card`: the provenance of a dataset, through every command that moves positions.

use std::path::Path;

use crate::done;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn sha256(path: &Path) -> String {
    patzer_io::sha256(&std::fs::read(path).unwrap())
}

fn card(folder: &Path, file: &str) -> serde_json::Value {
    serde_json::from_str(&done(folder, &format!("data card {file} --json"))).unwrap()
}

/// Two sources, each with scores in its own dialect.
fn extracted(folder: &Path) {
    let games = [fixture("games_cutechess.pgn"), fixture("games_tcec.pgn")].join(" ");
    done(folder, &format!("extract {games} --filter quiet --licence CC0-1.0 -o x.parquet"));
}

#[test]
fn a_card_names_sources_scores_filters_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    extracted(here);
    let card = card(here, "x.parquet");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/games_tcec.pgn");
    assert_eq!(card["sources"][1]["sha256"], sha256(&source).as_str());
    assert_eq!(card["sources"][1]["bytes"], source.metadata().unwrap().len());
    assert_eq!(card["sources"][1]["licence"], "CC0-1.0");
    let decision = &card["sources"][0]["scores"]["decisions"][0];
    assert_eq!((&decision["dialect"], &decision["side"]), (&"cutechess".into(), &"mover".into()));
    assert_eq!(card["sha256"], sha256(&here.join("x.parquet")).as_str());
    let account = &card["account"];
    let dropped: u64 = account["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(account["positions_read"], card["positions"].as_u64().unwrap() + dropped);
    assert!(account["scored"]["cutechess"].as_u64() > Some(0), "{account}");
    let text = done(here, "data card x.parquet");
    for part in [
        "# x.parquet",
        "## Sources",
        "| CC0-1.0 |",
        "## Scores in comments",
        "## Filters",
        "## Counts",
        "## Columns",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    done(here, "data card x.parquet --front-matter -o README.md");
    let file = std::fs::read_to_string(here.join("README.md")).unwrap();
    assert!(
        file.starts_with("---\nlicense: \"CC0-1.0\"\npretty_name: \"x.parquet\"\nsize_categories:\n- "),
        "{file}"
    );
    assert!(file.ends_with(&text));
}

#[test]
fn provenance_passes_through_every_command_that_moves_positions() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    extracted(here);
    let before = card(here, "x.parquet");
    for (line, output) in [
        ("data convert x.parquet --filter unique -o a.parquet", "a.parquet"),
        ("data shuffle x.parquet -o b.parquet", "b.parquet"),
        ("data merge a.parquet b.parquet -o c.parquet", "c.parquet"),
        ("data split x.parquet --train 1 --validation 0 --test 0 -o d", "d.train.parquet"),
        ("data interleave b.parquet=2 a.parquet -o e.parquet", "e.parquet"),
        ("label x.parquet -o f.parquet", "f.parquet"),
    ] {
        done(here, line);
        let after = card(here, output);
        for nth in [0, 1] {
            for fact in ["name", "sha256", "bytes", "licence", "scores"] {
                assert_eq!(after["sources"][nth][fact], before["sources"][nth][fact], "{line}: {fact}");
            }
        }
        assert_eq!(after["filters"][0], before["filters"][0], "{line}");
        // Each input of the others has the counts of all of x, which no sum of them is.
        let of_one = !["c.parquet", "e.parquet"].contains(&output);
        let read = of_one.then(|| before["account"]["positions_read"].as_u64().unwrap());
        assert_eq!(after["account"]["positions_read"].as_u64(), read, "{line}");
    }
    let counted = card(here, "a.parquet");
    let dropped = before["positions"].as_u64().unwrap() - counted["positions"].as_u64().unwrap();
    assert_eq!(counted["account"]["dropped"]["duplicates"].as_u64().unwrap_or(0), dropped);
}

/// A filter of a part of the inputs is no filter of the whole, and positions left out count as dropped.
#[test]
fn a_card_says_what_holds_of_all_positions() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    extracted(here);
    done(here, "data convert x.parquet --filter unique -o u.parquet");
    for (line, output) in [
        ("data merge x.parquet u.parquet -o m.parquet", "m.parquet"),
        ("data merge u.parquet u.parquet -o uu.parquet", "uu.parquet"),
        ("data interleave x.parquet=1 u.parquet=2 -o i.parquet", "i.parquet"),
        ("data convert x.parquet u.parquet -o c.parquet", "c.parquet"),
    ] {
        done(here, line);
        let card = card(here, output);
        let texts = |key: &str| card[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
        assert!(texts("filters").all(|filter| !filter.contains("duplicates")), "{line}: {card}");
        assert!(texts("steps").any(|step| step.contains("input: unique: ")), "{line}: {card}");
    }
    done(here, "data split x.parquet --train 0.5 --validation 0.3 -o s");
    for output in ["s.train.parquet", "s.validation.parquet"] {
        let card = card(here, output);
        let account = &card["account"];
        let dropped = account["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap());
        let left = account["positions_read"].as_u64().unwrap() - dropped.sum::<u64>();
        assert_eq!(card["positions"], left, "{output}");
    }
}

/// A format without metadata: its card says so, and what is made of it names its digest.
#[test]
fn a_file_without_provenance_is_counted_and_named_by_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    extracted(here);
    done(here, "data convert x.parquet -o y.bullet.zst --no-score 0");
    let positions = card(here, "x.parquet")["positions"].clone();
    let digest = sha256(&here.join("y.bullet.zst"));
    let stream = card(here, "y.bullet.zst");
    assert_eq!((&stream["positions"], &stream["companion_matches"]), (&positions, &true.into()));
    assert!(done(here, "data card y.bullet.zst").contains("sources, filters and teacher are unknown"));
    done(here, "data split y.bullet.zst --train 1 --validation 0 --test 0 -o s.parquet");
    for (line, output) in [
        ("data convert y.bullet.zst --licence GPL-3.0 -o a.parquet", "a.parquet"),
        ("data shuffle y.bullet.zst -o b.parquet", "b.parquet"),
        ("data merge y.bullet.zst x.parquet -o c.parquet", "c.parquet"),
        ("label y.bullet.zst -o d.parquet", "d.parquet"),
    ] {
        done(here, line);
        let source = card(here, output)["sources"][0].clone();
        assert_eq!(source["sha256"], digest.as_str(), "{line}");
    }
    assert_eq!(card(here, "a.parquet")["sources"][0]["licence"], "GPL-3.0");
}
