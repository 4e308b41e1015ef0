//! Formats that names hide, and inputs from pipes.

use std::fs;
#[cfg(unix)]
use std::io::Write;
#[cfg(unix)]
use std::process::Stdio;
use std::process::{Command, Output};
#[cfg(unix)]
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{done, error, patzer};

const GAME: &str = "[Event \"x\"]\n[Result \"1-0\"]\n\n\
    1. e4 {+0.30/8 0.1s} d6 {-0.30/8 0.1s} 2. Qg4 {+0.40/8 0.1s} Bxg4 {-0.30/8 0.1s} 3. f3 {+0.50/8 0.1s} 1-0\n";

fn positions() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    done(folder.path(), "extract games.pgn");
    folder
}

#[test]
fn every_command_reads_a_file_whose_name_says_another_format() {
    let folder = positions();
    let here = folder.path();
    done(here, "data convert positions.parquet -o data.bullet");
    fs::rename(here.join("data.bullet"), here.join("data.bin")).unwrap();
    done(here, "data convert positions.parquet -o x.binpack");
    for line in [
        "wdl --score data.bin",
        "wdl model data.bin --min-count 1 --material 0..78",
        "label data.bin -o labelled.bullet",
        "net features data.bin",
        "tune data.bin --no-resolve --validation 0 --recipe small --hidden 2 --epochs 1 --k 1 --device cpu",
        "tune hce data.bin --no-resolve --validation 0 --k 1 --terms material",
        "data convert data.bin -o out.csv",
        "data stats data.bin",
        "data show data.bin",
        "data shuffle data.bin -o shuffled.bullet",
    ] {
        let said = error(&patzer(here, &[&["-q"], &line.split(' ').collect::<Vec<_>>()[..]].concat()));
        assert!(said.contains("(read as bin by its name); --input-format names another"), "{line}: {said}");
        let output = patzer(here, &format!("-q {line} --input-format bullet").split(' ').collect::<Vec<_>>());
        // Five won positions give no K and no model.
        assert!(output.status.success() != line.starts_with("wdl"), "{line}: {output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("by its name"), "{line}: {output:?}");
    }
    let run = fs::read_to_string(here.join("runs/new/run.json")).unwrap();
    assert!(run.contains("\"input_format\": \"bullet\""), "{run}");
    let said = error(&patzer(here, &["label", "x.binpack", "--input-format", "csv", "-o", "y.parquet"]));
    assert!(!said.contains("by its name"), "{said}");
}

#[cfg(unix)]
fn piped(folder: &TempDir, line: &str) -> Output {
    let line = line.replace("patzer", env!("CARGO_BIN_EXE_patzer"));
    Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap()
}

#[test]
fn a_result_beside_a_file_on_stdout_is_on_stderr() {
    let folder = positions();
    let run = |line: &str| {
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {output:?}");
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let result: serde_json::Value = serde_json::from_str(&stderr[stderr.find('{').unwrap()..]).unwrap();
        (stdout, result)
    };
    let (positions, result) = run("extract games.pgn -o - --format csv --json -q");
    assert_eq!((positions.lines().count(), &result["positions_written"]), (6, &5.into()), "{positions}");
    let (rejects, result) = run(
        "extract games.pgn -o x.csv --filter players --filter-set players.name=ann --rejects - --json -q",
    );
    assert!(rejects.contains("[Rejected ") && !rejects.contains("positions_written"), "{rejects}");
    assert_eq!(result["positions_written"], 0);
    let (preset, result) = run("data stats positions.parquet --piece-target - --json -q");
    assert!(!preset.contains('{') && result["positions"] == 5, "{preset}");
}

/// Sends SIGINT once the program reads a pipe that stays open; gives its exit code and what it says.
#[cfg(unix)]
fn interrupted_at_a_pipe(folder: &TempDir, line: &str, text: &str) -> (Option<i32>, String) {
    let mut command = crate::program();
    command.args(line.split(' ')).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, id) = (child.stdin.take().unwrap(), child.id().to_string());
    let output = std::thread::spawn(|| child.wait_with_output().unwrap());
    // More than a batch holds; once the pipe is empty, the program waits for it.
    stdin.write_all(text.repeat(8_000_000 / text.len()).as_bytes()).unwrap();
    while rustix::io::ioctl_fionread(&stdin).unwrap() > 0 {
        std::thread::yield_now();
    }
    assert!(crate::signal("INT", &id));
    let begun = Instant::now();
    while !output.is_finished() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{line} waits for the pipe");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    let output = output.join().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_wait_for_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let epd = "8/8/4k3/8/8/3QK3/8/8 w - - c9 \"1-0\";\n";
    for (line, text, says) in [
        ("data stats -", epd, "error: interrupted; nothing was written"),
        ("data validate -", epd, "error: interrupted; "),
        ("data convert - -o x.csv", epd, "error: interrupted; nothing was written"),
        ("data convert - -o - --format csv", epd, "error: interrupted; what was written is not whole"),
        ("data convert /dev/stdin -o x.csv", epd, "error: interrupted; nothing was written"),
        ("label - -o x.parquet", epd, "error: interrupted; nothing was written"),
        ("book show -", epd, "error: interrupted; nothing was written"),
        ("puzzles -", epd, "error: interrupted; "),
        ("extract - -o x.csv", GAME, "error: interrupted; nothing was written"),
        ("rate -", GAME, "error: interrupted; nothing was written"),
    ] {
        let (code, said) = interrupted_at_a_pipe(&folder, line, text);
        assert_eq!(code, Some(130), "{line}: {said}");
        assert!(said.contains(says) && !said.contains("sound"), "{line}: {said}");
    }
    assert!(!folder.path().join("x.csv").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf_8_work() {
    let folder = positions();
    for line in [
        "patzer extract games.pgn -o $(printf 'a\\377.epd') --json",
        "patzer data convert $(printf 'a\\377.epd') -o $(printf 'b\\377.parquet') --json",
        "patzer data stats $(printf 'b\\377.parquet') --json",
        "patzer data validate $(printf 'b\\377.parquet') --json",
        "patzer games games.pgn -o $(printf 'b\\377.pgn') --json",
        "patzer label $(printf 'b\\377.parquet') -o $(printf 'c\\377.parquet') --json",
    ] {
        let output = piped(&folder, line);
        let json = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && json.contains('\u{fffd}'), "{line}: {json} {:?}", output.stderr);
    }
}

#[test]
#[cfg(unix)]
fn an_output_that_cannot_grow_is_named_without_its_temporary_file() {
    let output = piped(&positions(), "ulimit -f 8; exec patzer -q net init -o x.nnue");
    let said = error(&output);
    assert!(said.starts_with("error: x.nnue: ") && !said.contains(".patzer-"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_report_of_a_pipe_is_refused() {
    let output = piped(&positions(), "cat games.pgn | patzer report /dev/stdin");
    assert!(error(&output).contains("/dev/stdin: is a stream"), "{output:?}");
}

#[test]
#[cfg(unix)]
fn positions_on_a_pipe_need_their_format_for_wdl() {
    let output = piped(&positions(), "cat positions.parquet | patzer wdl /dev/stdin");
    assert!(error(&output).contains("`patzer wdl` from a pipe with --input-format parquet"), "{output:?}");
}

#[test]
#[cfg(unix)]
fn a_dataset_goes_through_pipes() {
    let folder = positions();
    done(folder.path(), "data convert positions.parquet -o x.binpack");
    let stats = |line: &str| {
        let output = piped(&folder, line);
        assert!(output.status.success(), "{output:?}");
        let mut stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        stats.as_object_mut().unwrap().retain(|key, _| key != "files");
        stats
    };
    let of_file = stats("patzer data stats positions.parquet --json");
    assert_eq!(of_file["positions"], 5);
    assert_eq!(stats("cat positions.parquet | patzer data stats - --json"), of_file);
    assert_eq!(stats("gzip -c positions.parquet | patzer data stats - --json"), of_file);
    assert_eq!(stats("cat positions.parquet | patzer data stats /dev/stdin --json"), of_file);
    let again = piped(&folder, "patzer data convert x.binpack -o - | patzer data convert - -o again.binpack");
    assert!(again.status.success(), "{again:?}");
    let [before, after] =
        ["x.binpack", "again.binpack"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(before, after);
}

#[test]
#[cfg(unix)]
fn tuning_refuses_a_stream_in_one_line() {
    let folder = positions();
    for line in [
        "cat positions.parquet | patzer tune -",
        "cat positions.parquet | patzer tune - --recipe small",
        "cat positions.parquet | patzer tune /dev/stdin --no-resolve",
        "cat positions.parquet | patzer tune hce -",
        "cat positions.parquet | patzer -q tune positions.parquet --validation-data -",
    ] {
        let said = error(&piped(&folder, line));
        assert!(said.contains("is a stream, which cannot be read twice as fits do; name a file"), "{said}");
    }
}

#[test]
fn rejected_games_that_are_not_written_are_no_success() {
    let folder = positions();
    for (rejects, code) in [("", Some(0)), (" --rejects rejects.pgn", Some(1))] {
        let mut command = crate::program();
        command.args(format!("extract games.pgn -o - --format csv -q{rejects}").split(' '));
        command.current_dir(folder.path()).stdout(std::process::Stdio::piped());
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code == Some(0) || said.contains("rejects.pgn: was not written: standard output"), "{said}");
    }
    assert!(!folder.path().join("rejects.pgn").exists());
}
