//! The guide: its table of contents is complete, and what its tutorials say to type runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");

/// Pages under a folder, relative to `docs`.
fn pages(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.insert(path.strip_prefix(DOCS).unwrap().to_path_buf());
        }
    }
    found
}

#[test]
fn the_table_of_contents_has_every_page_once() {
    let docs = Path::new(DOCS);
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let links: Vec<PathBuf> =
        summary.split("](").skip(1).map(|rest| PathBuf::from(rest.split(')').next().unwrap())).collect();
    let listed: BTreeSet<PathBuf> = links.iter().cloned().collect();
    assert_eq!(listed.len(), links.len(), "a page is listed twice");
    let mut written = pages(docs);
    assert!(written.remove(Path::new("SUMMARY.md")));
    assert_eq!(listed, written, "docs/SUMMARY.md (left) and the pages in docs (right)");
}

#[test]
fn every_link_leads_to_a_file() {
    for page in pages(Path::new(DOCS)) {
        let path = Path::new(DOCS).join(&page);
        let text = fs::read_to_string(&path).unwrap();
        // Every second part between the fences is code.
        for prose in text.split("```").step_by(2) {
            let links = prose.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
            for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
                let file = path.parent().unwrap().join(link.split('#').next().unwrap());
                assert!(file.exists(), "{}: {link}", page.display());
            }
        }
    }
}

/// Runs the blocks of commands of a tutorial, in their order, in one empty folder.
#[cfg(unix)]
fn run(tutorial: &str) -> tempfile::TempDir {
    played(tutorial).0
}

/// Runs a tutorial whose outputs no machine changes, and checks that they are the page's, times apart.
#[cfg(unix)]
fn run_as_shown(tutorial: &str) -> tempfile::TempDir {
    let (folder, outputs) = played(tutorial);
    for (output, shown) in outputs {
        let mut lines = output.lines().map(str::trim_end);
        for line in shown.lines().filter(|line| !line.is_empty() && !line.contains('…') && !is_timed(line))
        {
            assert!(lines.any(|other| other == line), "{tutorial}: `{line}` is not in\n{output}");
        }
    }
    folder
}

fn is_timed(line: &str) -> bool {
    line.contains("/s") || ["time ", "seconds ", "Total Time"].iter().any(|start| line.starts_with(start))
}

/// Plays a tutorial; each output with what the page shows of it.
#[cfg(unix)]
fn played(tutorial: &str) -> (tempfile::TempDir, Vec<(String, String)>) {
    use std::process::{Command, Stdio};
    let page = fs::read_to_string(format!("{DOCS}/guide/{tutorial}")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_patzer")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let (mut outputs, fences) = (Vec::new(), page.split("```").collect::<Vec<_>>());
    for (i, fence) in fences.iter().enumerate().skip(1).step_by(2) {
        let Some(script) = fence.strip_prefix("sh\n") else { continue };
        let mut command = Command::new("sh");
        command.args(["-e", "-c", script]).env("PATH", &path).current_dir(folder.path());
        command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{tutorial}: {script}{output:?}");
        let shown = fences.get(i + 2).and_then(|fence| fence.strip_prefix("text\n")).unwrap_or_default();
        outputs.push((String::from_utf8(output.stdout).unwrap(), shown.to_string()));
    }
    assert!(!outputs.is_empty(), "{tutorial} has no commands");
    (folder, outputs)
}

#[test]
#[cfg(unix)]
fn the_first_network_evaluates_in_c_as_in_patzer() {
    let folder = run("first-network.md");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let (value, same) = (read("value.txt").trim().parse::<i32>().unwrap(), read("same.txt"));
    assert!(same.contains(&format!("{value:+} for the side to move")), "{value}: {same}");
}

#[test]
#[cfg(unix)]
fn the_command_line_of_fastchess_and_its_translation_play_the_same_games() {
    let folder = run_as_shown("from-fastchess.md");
    let results = |name: &str| -> Vec<String> {
        let games = fs::read_to_string(folder.path().join(name)).unwrap();
        let of_game = |game: &str| {
            let tags = game.lines().filter(|line| line.starts_with("[FEN ") || line.starts_with("[Result "));
            tags.collect()
        };
        games.split("[Event ").skip(1).map(of_game).collect()
    };
    let (mut theirs, ours) = (results("games.pgn"), results("sprt.pgn"));
    assert_eq!(theirs.len(), 40);
    // A match writes pairs in order; fastchess writes games as they finish.
    let mut first = ours[..40].to_vec();
    first.sort();
    theirs.sort();
    assert!(first == theirs && ours.len() > 40, "{theirs:?} {ours:?}");
    assert!(folder.path().join("report.html").exists());
}

#[test]
#[cfg(unix)]
fn a_dataset_is_shared_with_its_rejects_and_its_card() {
    let folder = run_as_shown("share-dataset.md");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("rejects.pgn").matches("[Rejected ").count(), 2);
    let card = read("README.md");
    for part in ["license: \"CC0-1.0\"", "| broken games | 1 |", "- shuffle: seed 1"] {
        assert!(card.contains(part), "{part}: {card}");
    }
}

#[test]
#[cfg(unix)]
fn the_books_lie_in_their_windows_and_the_test_plays_from_them() {
    let folder = run_as_shown("openings.md");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let scores = |name: &str| -> Vec<i32> {
        let score = |line: &str| line.split("ce ").nth(1).unwrap().trim_end_matches(';').parse().unwrap();
        read(name).lines().map(score).collect()
    };
    let (balanced, unbalanced) = (scores("balanced.epd"), scores("unbalanced.epd"));
    assert!(balanced.len() == 1000 && balanced.iter().all(|score| score.abs() <= 50));
    assert!(unbalanced.len() == 200 && unbalanced.iter().all(|score| (90..=140).contains(&score.abs())));
    let (book, games) = (read("balanced.epd"), read("sprt.pgn"));
    let played: Vec<&str> = games.lines().filter_map(|line| line.strip_prefix("[FEN \"")).collect();
    assert!(!played.is_empty());
    for fen in played {
        let board = fen.split(' ').next().unwrap();
        assert!(book.lines().any(|line| line.split(' ').next() == Some(board)), "{fen}");
    }
}

#[test]
#[cfg(unix)]
fn the_recipe_of_a_configuration_of_bullet_trains_a_network_in_its_layout() {
    let folder = run("from-bullet.md");
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let log = fs::read_to_string(folder.path().join("runs/simple/log.csv")).unwrap();
    let rates: Vec<f64> =
        log.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(rates.len(), 40);
    for (epoch, rate) in rates.iter().enumerate() {
        let of_bullet = 1e-3 * 0.1f64.powi((epoch / 18) as i32);
        assert!((rate / of_bullet - 1.0).abs() < 1e-3, "superbatch {}: {rate}", epoch + 1);
    }
    // The weights of a file in bullet's layout end where its padding begins.
    let (theirs, again) = (read("quantised.bin"), read("theirs.nnue"));
    let weights: usize = 2 * (768 * 32 + 32 + 64 + 1);
    assert_eq!(theirs.len(), weights.next_multiple_of(64));
    assert!(again.windows(weights).any(|window| window == &theirs[..weights]));
}

#[test]
#[cfg(unix)]
fn an_evaluation_in_c_is_tuned_in_its_source() {
    let folder = run("tune-evaluation.md");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let result: serde_json::Value = serde_json::from_str(&read("runs/tuned/result.json")).unwrap();
    let loss = |name: &str| result[name].as_f64().expect(name);
    assert!(loss("validation_loss") < loss("validation_loss_before"), "{result}");
    let (before, after) = (read("before.c"), read("evaluate.c"));
    let changed = before.lines().zip(after.lines()).filter(|(before, after)| before != after);
    assert_eq!(before.lines().count(), after.lines().count());
    let names =
        ["{S(", "Score PieceValue", "PassedPawn", "IsolatedPawn", "BishopPair", "RookOnOpenFile", "Tempo"];
    for (line, _) in changed {
        assert!(names.iter().any(|name| line.contains(name)), "{line}");
    }
    assert_eq!(result["judge"]["verdict"], "better", "{result}");
    let positions = read("games.txt").lines().count();
    assert!(positions > 30_000 && positions == read("traces.txt").lines().count());
}
