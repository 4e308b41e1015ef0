//! `patzer report`: well-formed pages whose numbers are those of the runs.

mod contests;
mod xml;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::{done, patzer};
use contests::tested;
use xml::{Element, parse};

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&done(folder, line)).unwrap()
}

/// The page of a report, read strictly.
fn page(folder: &Path, runs: &str) -> Element {
    done(folder, &format!("report {runs} -o page.html"));
    let text = fs::read_to_string(folder.join("page.html")).unwrap();
    let page = parse(&text);
    alone(&page, &text);
    page
}

/// Nothing is loaded from elsewhere, every link within the page has its place, and every name is there once.
fn alone(page: &Element, text: &str) {
    for word in ["<script", "<link", "<img", "@import", "url("] {
        assert!(!text.contains(word), "{word}");
    }
    assert_eq!(
        text.matches("http").count(),
        1 + text.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    let all = page.all();
    let mut ids = BTreeMap::new();
    for element in &all {
        if !element.attribute("id").is_empty() {
            *ids.entry(element.attribute("id")).or_insert(0) += 1;
        }
    }
    assert_eq!(ids.iter().find(|(_, count)| **count > 1), None);
    for element in all.iter().filter(|e| e.name == "a") {
        let to = element.attribute("href");
        assert!(!to.starts_with('#') || ids.contains_key(&to[1..]), "{to}");
    }
    for figure in all.iter().filter(|e| e.name == "figure") {
        let svg = figure.children.iter().find(|e| e.name == "svg").expect("a drawing");
        assert!(!svg.attribute("aria-label").is_empty() && !svg.attribute("viewBox").is_empty());
        assert!(!svg.all().iter().any(|e| e.attributes.values().any(|value| value.contains("NaN"))));
    }
}

/// The rows of a figure's numbers.
fn numbers(page: &Element, figure: &str) -> Vec<Vec<String>> {
    page.by_id(&format!("run-1-{figure}-data")).rows()
}

/// The sum of a column of counts among a figure's numbers.
fn counted(page: &Element, figure: &str, column: usize) -> u64 {
    numbers(page, figure).iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// A histogram's rows as counts by value.
fn counts(page: &Element, figure: &str) -> Vec<(usize, u64)> {
    numbers(page, figure).iter().map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap())).collect()
}

fn extracted(sample: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    let line = format!("extract {games} --filter unique --sample {sample} --json");
    let result = json(folder.path(), &line);
    fs::write(folder.path().join("extract.json"), result.to_string()).unwrap();
    folder
}

#[test]
fn a_dataset_is_shown_with_the_numbers_of_stats_wdl_and_extract() {
    let folder = extracted(4_000);
    let folder = folder.path();
    let page = page(folder, "positions.parquet");
    let stats = json(folder, "data stats --json");
    for (figure, key) in [
        ("piece-count", "piece_count"),
        ("game-length", "game_length"),
        ("ply", "ply"),
        ("material", "material"),
        ("legal-moves", "legal_moves"),
    ] {
        for (value, count) in counts(&page, figure) {
            assert_eq!(stats[key][value], count, "{key} {value}");
        }
        let all: u64 = stats[key].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(counts(&page, figure).iter().map(|(_, count)| count).sum::<u64>(), all, "{key}");
    }
    let by_number = stats["legal_moves_by_number"].as_array().unwrap();
    let enough = by_number.iter().zip(0..).filter(|(count, _)| count[0].as_u64().unwrap() >= 30);
    let rows = numbers(&page, "mobility");
    assert!(rows.len() > 30 && rows.len() < by_number.len());
    for (row, (count, at)) in rows.iter().zip(enough) {
        assert_eq!([&row[0], &row[2]], [&i32::to_string(&at), &count[0].to_string()]);
        let mean = count[1].as_f64().unwrap() / count[0].as_f64().unwrap();
        assert!((number(&row[1]) - mean).abs() < 1e-3, "{row:?} {mean}");
    }
    for (row, square) in numbers(&page, "white-king").iter().zip(0..) {
        assert_eq!(row[1], stats["white_king"][square as usize].to_string());
    }
    let games = &stats["game_results"];
    let results: Vec<String> = ["wins", "draws", "losses"].map(|key| games[key].to_string()).to_vec();
    assert_eq!(numbers(&page, "results")[0][1..], results);
    let histogram = numbers(&page, "score-histogram");
    let buckets = stats["scores"]["buckets"].as_array().unwrap();
    assert_eq!(histogram.len(), buckets.len());
    for (row, bucket) in histogram.iter().zip(buckets) {
        let all: u64 = ["wins", "draws", "losses"].iter().map(|key| bucket[key].as_u64().unwrap()).sum();
        assert_eq!(row[2], all.to_string());
    }

    let fit = json(folder, "wdl --score --json");
    let caption = &page.by_id("run-1-agreement").text;
    assert!(caption.contains(&format!("K = {:.4}", fit["k"].as_f64().unwrap())), "{caption}");
    for row in numbers(&page, "agreement") {
        let bucket = buckets.iter().find(|bucket| bucket["from"].as_f64() == row[0].parse().ok()).unwrap();
        match bucket["mean_result"].as_f64() {
            // Numbers in JSON may be read a last digit off.
            Some(mean) => assert!((number(&row[5]) - mean).abs() < 1e-12, "{bucket}"),
            None => assert_eq!(row[5], ""),
        }
    }
    assert!(!numbers(&page, "wdl-wins").is_empty());

    let extract: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("extract.json")).unwrap()).unwrap();
    let funnel = numbers(&page, "funnel");
    assert_eq!(funnel[0][2], extract["positions_read"].to_string());
    for row in &funnel[1..funnel.len() - 1] {
        assert_eq!(row[1], extract["dropped"][&row[0]].to_string(), "{row:?}");
    }
    assert_eq!(funnel.len() - 2, extract["dropped"].as_object().unwrap().len());
    assert_eq!(funnel.last().unwrap()[2], stats["positions"].to_string());
}

/// Holds all words of small pages: of positions without their games, of games, of a network.
#[test]
fn pages_read_as_they_are_kept() {
    let folder = extracted(200);
    let folder = folder.path();
    done(folder, "data convert positions.parquet -o positions.bullet");
    done(folder, "net init -o base.nnue");
    let games = format!("{}/fixtures/games_cutechess.pgn", env!("CARGO_MANIFEST_DIR"));
    fs::copy(games, folder.join("games.pgn")).unwrap();
    let filters = [
        ("(?s)<style>.*?</style>", "<style/>"),
        ("(?s)<svg .*?</svg>", "<svg/>"),
        ("(?s)<details.*?</details>", "<details/>"),
        (r"patzer \d+\.\d+\.\d+", "patzer VERSION"),
    ];
    insta::with_settings!({ filters => filters }, {
        for (name, file) in [("positions", "positions.bullet"), ("games", "games.pgn"), ("network", "base.nnue")] {
            page(folder, file);
            insta::assert_snapshot!(name, fs::read_to_string(folder.join("page.html")).unwrap());
        }
    });
}

/// The rows of a CSV file by the names of its columns.
fn csv(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

fn losses_are_those_of_the_log(page: &Element, folder: &Path) {
    let log = csv(&folder.join("log.csv"));
    let losses = numbers(page, "losses");
    assert_eq!(losses.len(), log.len());
    for (row, epoch) in losses.iter().zip(&log) {
        assert_eq!(number(&row[0]), number(&epoch["epoch"]));
        assert_eq!(number(&row[1]), number(&epoch["train_loss"]));
        assert_eq!(number(&row[2]), number(&epoch["validation_loss"]));
    }
}

/// The table of the positions that are most wrong.
fn most_wrong(page: &Element) -> Vec<Vec<String>> {
    let table = page.all().into_iter().rfind(|e| e.name == "table" && e.text.contains("FEN"));
    table.unwrap().rows()
}

fn the_most_wrong_come_first(page: &Element) {
    let rows = most_wrong(page);
    assert!(rows.len() > 3, "{rows:?}");
    let residual = |row: &Vec<String>| (number(&row[4]) - number(&row[3])).abs();
    assert!(rows.windows(2).all(|pair| residual(&pair[0]) >= residual(&pair[1]) - 1e-3), "{rows:?}");
    for (place, row) in rows.iter().enumerate() {
        let fen: shakmaty::fen::Fen = row[1].parse().unwrap();
        assert!(fen.into_position::<shakmaty::Chess>(shakmaty::CastlingMode::Standard).is_ok());
        let figure = page.by_id(&format!("run-1-wrong-{}", place + 1));
        assert!(figure.text.contains(&row[1]), "{}", figure.text);
    }
}

#[test]
fn a_tuning_is_shown_with_its_weights_and_what_they_get_wrong() {
    let folder = extracted(4_000);
    let folder = folder.path();
    let tune = "tune hce positions.parquet --terms material,psqt,mobility -o my.hce.toml --json";
    let result = json(folder, tune);
    let page = page(folder, "runs/my.hce");
    losses_are_those_of_the_log(&page, &folder.join("runs/my.hce"));
    // The epochs of the fit that found the prior are not among them.
    let epochs: Vec<String> =
        csv(&folder.join("runs/my.hce/log.csv")).iter().map(|row| row["epoch"].clone()).collect();
    let expected: Vec<String> =
        (1..=result["epochs"].as_u64().unwrap()).map(|number| number.to_string()).collect();
    assert_eq!(epochs, expected);
    let weights = csv(&folder.join("runs/my.hce/weights.csv"));
    let of = |name: &str| weights.iter().find(|row| row["name"] == name).unwrap();
    for half in ["midgame", "endgame"] {
        for row in numbers(&page, &format!("psqt-knight-{half}")) {
            let weight = of(&format!("psqt.knight[{}] {half}", row[0]));
            assert_eq!(number(&row[1]), number(&weight["before"]));
            assert_eq!(number(&row[2]), number(&weight["after"]));
            assert_eq!(row[3].parse::<f64>().ok(), weight["standard_error"].parse().ok());
            assert_eq!(row[4], weight["positions"]);
        }
    }
    let mobility = numbers(&page, "mobility-knight");
    assert_eq!(mobility.len(), 18);
    assert_eq!(number(&mobility[3][3]), number(&of("mobility.knight[3] midgame")["after"]));

    // Only positions that were held out are judged, with the K of the run.
    let [train, held_out] = ["positions", "validation_positions"].map(|key| result[key].as_u64().unwrap());
    assert_eq!(counted(&page, "residuals", 1), held_out);
    let phases = numbers(&page, "residuals");
    let squares: f64 = phases.iter().map(|row| number(&row[1]) * number(&row[3])).sum();
    let (mean, loss) = (squares / held_out as f64, result["validation_loss"].as_f64().unwrap());
    assert!((mean - loss).abs() < 2e-4, "{mean} is not {loss}");
    the_most_wrong_come_first(&page);

    // The file alone: the weights, and with positions what it says of them.
    let alone = self::page(folder, "my.hce.toml");
    assert!(alone.text.contains("positions are needed"));
    let board = numbers(&alone, "psqt-knight-midgame");
    let weight = of("psqt.knight[e4] midgame");
    assert_eq!(number(&board[28][2]), number(&weight["rounded"]));
    let named = self::page(folder, "my.hce.toml --data labelled.parquet");
    assert_eq!(counted(&named, "residuals", 1), train + held_out);
    the_most_wrong_come_first(&named);
    // A move changes the sign of a value and little else, and the one played is better than most.
    let before_after = numbers(&named, "before-after");
    let rising = before_after.iter().filter(|row| number(&row[0]) * number(&row[2]) > 0.0).count();
    assert!(before_after.len() > 20 && rising > before_after.len() * 3 / 4, "{before_after:?}");
    let measured =
        named.text.split("f(R) above f(Q), %").nth(1).and_then(|rest| rest.split_whitespace().next());
    assert!(measured.is_some_and(|share| number(share) > 55.0), "{measured:?}");
}

#[test]
fn a_tuning_on_lines_is_judged_by_the_positions_that_it_held_out() {
    let folder = extracted(4_000);
    let folder = folder.path();
    done(folder, "data convert positions.parquet -o lines.epd");
    let result = json(folder, "tune hce lines.epd --terms material -o lines.hce.toml --json");
    let page = page(folder, "runs/lines.hce");
    assert!(page.text.contains("at their quiet leaves"), "{}", page.text);
    assert_eq!(counted(&page, "residuals", 1), result["validation_positions"].as_u64().unwrap());
    let phases = numbers(&page, "residuals");
    let squares: f64 = phases.iter().map(|row| number(&row[1]) * number(&row[3])).sum();
    let mean = squares / result["validation_positions"].as_f64().unwrap();
    let loss = result["validation_loss"].as_f64().unwrap();
    assert!((mean - loss).abs() < 2e-4, "{mean} is not {loss}");
}

#[test]
fn a_training_is_shown_with_its_network_and_what_it_gets_wrong() {
    let folder = extracted(4_000);
    let folder = folder.path();
    let result = json(
        folder,
        "tune positions.parquet --hidden 16 --epochs 3 --set output_buckets=4 --set validation=0.3 -o my.nnue --json",
    );
    let page = page(folder, "runs/my");
    losses_are_those_of_the_log(&page, &folder.join("runs/my"));
    let rates = csv(&folder.join("runs/my/log.csv"));
    assert_eq!(number(&numbers(&page, "learning-rate")[1][1]), number(&rates[1]["learning_rate"]));
    let text = &page.by_id("run-1").text;
    let mean = result["quantisation"]["mean_error"].as_f64().unwrap();
    assert!(text.contains(&format!("{mean:.3} centipawns in the mean")), "{mean}");
    // Only positions that were held out.
    for figure in ["buckets", "pieces", "residuals"] {
        assert_eq!(counted(&page, figure, 1), result["validation_positions"].as_u64().unwrap(), "{figure}");
    }
    assert_eq!(numbers(&page, "buckets").len(), 4);
    assert_eq!(numbers(&page, "activity").len(), 16);
    the_most_wrong_come_first(&page);
    // Every weight is in the histogram, and chosen neurons are drawn.
    let chosen = self::page(folder, "my.nnue --neurons 5,2");
    assert_eq!(counted(&chosen, "feature-weights", 2), 768 * 16);
    let network = patzer_eval::nnue::Network::parse(&fs::read(folder.join("my.nnue")).unwrap()).unwrap();
    let plain = network.weights();
    // The own rook on e4 is feature 3 · 64 + 28.
    let weight = plain.features[(3 * 64 + 28) * 16 + 5];
    assert_eq!(numbers(&chosen, "neuron-5")[28][4], weight.to_string());
    assert_eq!(numbers(&chosen, "neuron-2").len(), 64);
    let output = patzer(folder, &["report", "my.nnue", "--neurons", "16"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("0 to 15"));
}

/// A test between material and nothing at all.
#[test]
fn runs_stand_side_by_side_and_figures_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    tested(folder);
    fs::copy(folder.join("sprt.pgn"), folder.join("a & b <c>.pgn")).unwrap();
    let output = patzer(
        folder,
        &["report", "sprt.journal", "a & b <c>.pgn", "--svg", "plots", "--png", "dots", "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = fs::read_to_string(folder.join("report.html")).unwrap();
    let page = parse(&text);
    alone(&page, &text);
    let rows = page.by_id("comparison-1").rows();
    let elo = rows.iter().find(|row| row[0] == "Elo").unwrap();
    assert!(elo[2].ends_with("(+0.00)"), "{elo:?}");
    assert!(page.all().iter().any(|e| e.attribute("href") == "a%20%26%20b%20%3Cc%3E.pgn"));
    let files = result["figures"].as_array().unwrap();
    let figures: usize =
        result["runs"].as_array().unwrap().iter().map(|r| r["figures"].as_array().unwrap().len()).sum();
    assert_eq!(files.len(), 2 * figures);
    let (lines, dots) = files.split_at(figures);
    for (file, drawing) in dots.iter().zip(lines) {
        let png = fs::read(folder.join(file.as_str().unwrap())).unwrap();
        let svg = parse(&fs::read_to_string(folder.join(drawing.as_str().unwrap())).unwrap());
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        let twice = |name: &str| 2 * svg.attribute(name).parse::<u32>().unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        assert_eq!((side(16), side(20)), (twice("width"), twice("height")), "{file}");
    }
    for file in lines {
        let svg = fs::read_to_string(folder.join(file.as_str().unwrap())).unwrap();
        assert_eq!(parse(&svg).name, "svg");
    }
}

#[test]
fn the_same_runs_make_the_same_bytes() {
    let folder = extracted(600);
    let folder = folder.path();
    done(folder, "tune positions.parquet --hidden 8 --epochs 1 -o my.nnue");
    let made = |threads: usize| {
        done(folder, &format!("report positions.parquet runs/my -o {threads}.html --threads {threads}"));
        fs::read(folder.join(format!("{threads}.html"))).unwrap()
    };
    let one = made(1);
    assert!(one == made(3) && one == made(1));
    let output = patzer(folder, &["report", "positions.parquet", "runs/my", "-o", "-"]);
    assert!(output.stdout == one, "standard output is a file like any other");
}

#[test]
fn what_is_no_run_is_one_line_and_leaves_nothing() {
    let folder = extracted(200);
    let folder = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    write("empty", b"");
    write("junk", &(0..5_000).map(|i| patzer_chess::rng::mix(1, i) as u8).collect::<Vec<u8>>());
    write("x.json", b"{\"a\": 1}");
    write("x.journal", b"{\"patzer_journal\":2}\n");
    let header = "{\"patzer_journal\":4,\"command\":\"match\",\"settings\":{},\
                  \"conditions\":{\"player\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";
    let lines = [header, "{\"pair\":2"].map(|line| patzer_io::checked_line::seal(line.into()));
    write("y.journal", &lines.concat());
    write("none.pgn", b"[Event \"x\"]\n\n");
    let parquet = fs::read(folder.join("positions.parquet")).unwrap();
    write("cut.parquet", &parquet[..parquet.len() / 2]);
    fs::create_dir(folder.join("plain")).unwrap();
    fs::create_dir(folder.join("run")).unwrap();
    write("run/weights.csv", b"name,before\nx,1\n");
    fs::create_dir(folder.join("net")).unwrap();
    write("net/log.csv", b"epoch,train_loss\n1,much\n");
    write("net/recipe.toml", b"hidden = 8\n");
    write("bad.toml", b"version = 7\n");
    for (run, words) in [
        ("missing", "no such file"),
        ("empty", "is empty"),
        ("junk", "junk: "),
        ("x.json", "result of a match"),
        ("x.journal", "line 1: is a journal of another version"),
        ("y.journal", "line 2: is not a pair of games"),
        ("none.pgn", "holds no games"),
        ("cut.parquet", "cut.parquet: "),
        ("plain", "is not the folder of a run"),
        ("run", "line 1: has no column `after`"),
        ("net", "line 2: `much` is not a number"),
        ("bad.toml", "bad.toml: "),
        ("-", "standard input"),
    ] {
        // A good run before it does not help.
        for runs in [&[run][..], &["positions.parquet", run]] {
            let output = patzer(folder, &[&["report"], runs].concat());
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{run}: {error}");
            assert_eq!(error.trim_end().lines().count(), 1, "{run}: {error}");
            assert!(error.contains(words), "{run}: {error}");
            assert!(!folder.join("report.html").exists(), "{run}");
        }
    }
    let output = patzer(folder, &["report", "positions.parquet", "-o", "no/such/folder.html"]);
    assert_eq!(output.status.code(), Some(1));
    let output = patzer(folder, &["report", "positions.parquet", "--data", "junk", "-o", "a.html"]);
    assert_eq!(output.status.code(), Some(0), "positions are not asked for where nothing is judged");
}
