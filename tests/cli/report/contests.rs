//! Matches in a report.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::xml::Element;
use super::{counts, json, number, numbers, page};

/// Plays a test to its end in `sprt.pgn`.
pub fn tested(folder: &Path) -> Value {
    let weights = patzer_eval::hce::Weights::untuned();
    let pairs = vec![[0, 0]; weights.pairs().len()];
    let blind = patzer_eval::hce::Weights::from_pairs(1.0, &pairs).unwrap();
    fs::write(folder.join("blind.hce.toml"), blind.to_toml()).unwrap();
    let line = "sprt untuned-hce blind.hce.toml --nodes 50 --elo-model logistic --elo1 40 --max-moves 24 --hash 1 --json";
    json(folder, line)
}

#[test]
fn a_test_is_shown_from_its_first_pair_to_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let result = tested(folder);
    fs::write(folder.join("sprt.json"), result.to_string()).unwrap();
    let page = page(folder, "sprt.journal");
    let value = |key: &str| result[key].as_f64().unwrap();
    let games = value("wins") + value("draws") + value("losses");
    let llr = numbers(&page, "llr");
    let last = llr.last().unwrap();
    let close =
        |cell: &str, value: f64| assert!((number(cell) - value).abs() < 1e-9, "{cell} is not {value}");
    assert_eq!(number(&last[0]), games);
    close(&last[1], value("llr"));
    assert!(page.by_id("run-1-llr").text.contains(&format!("H1 {:.3}", value("upper"))));
    let elo = numbers(&page, "elo");
    let last = elo.last().unwrap();
    close(&last[1], value("elo"));
    close(&last[2], value("elo_error"));
    let pairs: Vec<u64> = numbers(&page, "pentanomial").iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!(serde_json::json!(pairs), result["pentanomial"]);
    let white: Vec<u64> =
        numbers(&page, "colours")[0][1..].iter().map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(white, ["wins", "draws", "losses"].map(|key| result["white"][key].as_u64().unwrap()));
    for row in numbers(&page, "reasons") {
        assert_eq!(number(&row[1]), result["reasons"][row[0].replace(' ', "_")].as_f64().unwrap());
    }
    let lengths: u64 = counts(&page, "game-length").iter().map(|(_, count)| count).sum();
    assert_eq!(lengths as f64, games);
    assert!(page.all().iter().any(|e| e.name == "a" && e.attribute("href") == "sprt.pgn"));
    assert!(page.text.contains("By the games alone; `patzer why sprt.pgn`"), "causes are missing");

    // The PGN alone tells the same but for the test, and so does what was printed.
    fs::rename(folder.join("sprt.journal"), folder.join("elsewhere")).unwrap();
    for run in ["sprt.pgn", "sprt.json"] {
        let other = self::page(folder, run);
        assert_eq!(numbers(&other, "pentanomial"), numbers(&page, "pentanomial"), "{run}");
        assert_eq!(numbers(&other, "colours"), numbers(&page, "colours"), "{run}");
    }
    let other = self::page(folder, "sprt.pgn");
    assert_eq!(numbers(&other, "reasons"), numbers(&page, "reasons"));
    assert_eq!(numbers(&other, "elo"), numbers(&page, "elo"));

    // The games need not be there.
    fs::rename(folder.join("elsewhere"), folder.join("alone.journal")).unwrap();
    let journal = self::page(folder, "alone.journal");
    assert!(journal.text.contains("alone.pgn is not there"));
    assert_eq!(numbers(&journal, "llr"), numbers(&page, "llr"));
}

#[test]
fn a_gauntlet_has_a_table_of_its_players() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tested(folder);
    let line =
        "match untuned-hce blind.hce.toml default-hce --games 4 --nodes 50 --max-moves 20 --hash 1 --json";
    let result = json(folder, line);
    let page = page(folder, "match.journal");
    for row in numbers(&page, "players") {
        let player =
            result["players"].as_array().unwrap().iter().find(|player| player["name"] == row[0].as_str());
        let player = player.unwrap();
        let counts = ["wins", "draws", "losses"].map(|key| player[key].to_string());
        assert_eq!(row[1..], counts, "{row:?}");
    }
    assert_eq!(numbers(&page, "players").len(), 3);
}

/// Won, drawn and lost with White and with Black in a report.
fn by_colour(page: &Element) -> Value {
    let row = |at: usize| numbers(page, "colours")[at][1..].to_vec();
    serde_json::json!(
        [row(0), row(1)].map(|row| row.iter().map(|cell| number(cell) as u64).collect::<Vec<_>>())
    )
}

#[test]
fn colours_that_are_kept_or_reversed_are_shown_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for order in ["--no-swap", "--reverse"] {
        let line = format!("match default-hce untuned-hce --games 8 --nodes 100 --hash 1 {order} --json");
        let result = json(folder, &line);
        let counts = |colour: &str| {
            ["wins", "draws", "losses"].map(|key| result["players"][0][colour][key].as_u64().unwrap())
        };
        let (white, black) = (counts("white"), counts("black"));
        let page = page(folder, "match.journal");
        assert_eq!(by_colour(&page), serde_json::json!([white, black]), "{order}");
        assert_eq!(page.text.contains("No results by opening"), order == "--no-swap");
        // The games alone say the same, though none has a partner if colours are kept.
        fs::rename(folder.join("match.pgn"), folder.join("games.pgn")).unwrap();
        let alone = self::page(folder, "games.pgn");
        let reversed = |[wins, draws, losses]: [u64; 3]| [losses, draws, wins];
        // The first player of games alone is White of the first.
        let first = if order == "--reverse" { [reversed(black), reversed(white)] } else { [white, black] };
        assert_eq!(by_colour(&alone), serde_json::json!(first), "{order}");
        assert_eq!(alone.text.contains("single games are counted"), order == "--no-swap");
        fs::remove_file(folder.join("match.journal")).unwrap();
    }
}
