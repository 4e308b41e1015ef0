//! Input made to cost much: it costs little, and ends in one line and exit code 1.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{error, patzer};

/// Runs the program with a limit of its address space in MiB.
#[cfg(target_os = "linux")]
fn within(mib: u32, folder: &Path, args: &str) -> Output {
    let line =
        format!("ulimit -v {}; exec {} --threads 2 -q {args}", mib << 10, env!("CARGO_BIN_EXE_patzer"));
    Command::new("sh").args(["-c", &line]).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

const GAME: &str = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0\n\n";

/// Thirty streams of one block each, which expand to 1.2 GB.
fn bomb(byte: u8) -> Vec<u8> {
    let mut stream = Vec::new();
    let text = std::io::repeat(byte).take(40 << 20);
    bzip2::read::BzEncoder::new(text, bzip2::Compression::best()).read_to_end(&mut stream).unwrap();
    stream.repeat(30)
}

#[test]
#[cfg(target_os = "linux")]
fn a_bzip2_bomb_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("nothing.pgn.bz2"), bomb(b'\n')).unwrap();
    fs::write(folder.path().join("long.pgn.bz2"), bomb(b' ')).unwrap();
    fs::write(folder.path().join("line.pgn.bz2"), bomb(b'e')).unwrap();
    assert!(fs::metadata(folder.path().join("line.pgn.bz2")).unwrap().len() < 2000);
    let run = |file: &str| error(&within(600, folder.path(), &format!("extract {file} -o out.parquet")));
    assert!(run("nothing.pgn.bz2").contains("holds no games"));
    assert!(run("long.pgn.bz2").contains("more than 64 MiB"));
    assert!(run("line.pgn.bz2").contains("more than 64 MiB"));
    let refused = error(&within(600, folder.path(), "extract games.pgn --filter line.pgn.bz2"));
    assert!(refused.contains("larger than 1 MiB, the limit for a preset"), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
#[cfg(unix)]
fn endless_input_ends_at_the_limit_of_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    for (line, expected) in [
        ("extract games.pgn --filter /dev/zero", "the limit for a preset"),
        ("extract /dev/zero", "more than 64 MiB"),
        ("tune --recipe /dev/zero", "the limit for a recipe"),
        ("eval --eval /dev/zero", "/dev/zero: "),
        ("match --engine cmd=/dev/zero --engine cmd=default --games 2", "/dev/zero: "),
        ("match --engine cmd=default --engine cmd=default-hce --games 2 --openings /dev/zero", "/dev/zero: "),
        ("perft --suite /dev/zero", "the limit for a perft suite"),
        ("puzzles /dev/zero", "line 1 is longer than 65,536 bytes"),
        ("wdl /dev/zero", "/dev/zero: "),
        ("data validate /dev/zero", "/dev/zero: "),
    ] {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let message = error(&output);
        assert!(message.contains(expected), "{line}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A terabyte of zeros, which take no room.
fn lengthened(path: &Path) {
    fs::File::options().create(true).append(true).open(path).unwrap().set_len(1 << 40).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_journal_is_read_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let match_of = "match default-hce untuned-hce --games 2 --nodes 50 --max-moves 4 --hash 1 -o";
    for name in ["first.pgn", "long.pgn", "ahead.pgn", "games.pgn"] {
        assert!(within(2000, folder.path(), &format!("{match_of} {name}")).status.success());
    }
    fs::remove_file(folder.path().join("first.journal")).unwrap();
    for name in ["first.journal", "long.journal", "ahead.journal.ahead"] {
        lengthened(&folder.path().join(name));
    }
    fs::create_dir(folder.path().join("games.parquet.partial")).unwrap();
    lengthened(&folder.path().join("games.parquet.partial/journal"));
    for (line, expected) in [
        ("match --resume -o first.pgn", "line 1: is longer than 64 MiB"),
        ("watch first.journal", "line 1: is longer than 64 MiB"),
        ("elo first.journal", "the limit for a journal"),
        ("match --resume -o long.pgn", "the limit for a journal"),
        (&format!("{match_of} long.pgn --overwrite"), "the limit for a journal"),
        ("watch long.journal", "the limit for a journal"),
        ("report long.journal -o x.html", "the limit for a journal"),
        ("match --resume -o ahead.pgn", "the limit for games ahead of a journal"),
        ("extract games.pgn -o games.parquet --resume", "line 1: is longer than 64 MiB"),
    ] {
        let message = error(&within(4000, folder.path(), line));
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn there_may_be_more_files_than_stay_open() {
    let folder = tempfile::tempdir().unwrap();
    let names = |ending: &str| (0..300).map(|number| format!("{number}.{ending}")).collect::<Vec<_>>();
    fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    for (ending, options) in [("parquet", ""), ("bullet", "")] {
        let first = format!("extract games.pgn -o 0.{ending} {options}");
        assert!(patzer(folder.path(), &first.split_whitespace().collect::<Vec<_>>()).status.success());
        for name in &names(ending)[1..] {
            fs::copy(folder.path().join(format!("0.{ending}")), folder.path().join(name)).unwrap();
        }
        for line in ["data merge", "data stats", "data validate", "wdl --score --k 1"] {
            let line = format!(
                "ulimit -n 200; exec {} -q {line} {}",
                env!("CARGO_BIN_EXE_patzer"),
                names(ending).join(" ")
            );
            let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("Too many open files"), "{line}: {said}");
        }
    }
}

/// Runs the program until it waits, signals it once, and gives its exit code.
fn terminated(folder: &Path, line: &str) -> Option<i32> {
    let mut command = crate::program();
    command.args(line.split(' ')).current_dir(folder);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let is = |text: &str| fs::read_to_string(&status).unwrap().lines().any(|line| line.starts_with(text));
    // It catches SIGTERM, and sleeps.
    let caught = |line: &str| u64::from_str_radix(line.trim(), 16).is_ok_and(|mask| mask >> 14 & 1 == 1);
    let waits = || {
        let text = fs::read_to_string(&status).unwrap();
        is("State:\tS") && text.lines().filter_map(|line| line.strip_prefix("SigCgt:")).any(caught)
    };
    for _ in 0..600 {
        if waits() || child.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    crate::signal("TERM", &child.id().to_string());
    for _ in 0..600 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("{line} waits on");
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_the_wait_for_the_other_end_of_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(
        Command::new("mkfifo")
            .args(["pipe", ".patzer-out.csv-abcdef"])
            .current_dir(folder)
            .status()
            .unwrap()
            .success()
    );
    fs::write(folder.join("games.pgn"), GAME.repeat(20_000)).unwrap();
    for line in [
        "extract pipe -o out.csv",
        "extract games.pgn -o pipe --format csv",
        // More than the pipe of its standard output holds.
        "extract games.pgn -o - --format csv",
        "games games.pgn -o -",
        "data convert pipe -o out.csv",
        "data stats pipe",
        "elo pipe",
        "rate pipe",
        "wdl pipe",
        "label pipe -o out.csv",
        "puzzles pipe",
    ] {
        assert_eq!(terminated(folder, line), Some(143), "{line}");
    }
    // A pipe or a file of a user stays, though its name begins as a temporary file's.
    assert!(patzer(folder, &["extract", "games.pgn", "-o", "out.csv"]).status.success());
    assert!(fs::symlink_metadata(folder.join(".patzer-out.csv-abcdef")).is_ok());
}

#[test]
#[cfg(target_os = "linux")]
fn a_book_that_expands_without_measure_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = zip::ZipWriter::new(fs::File::create(folder.path().join("book.zip")).unwrap());
    writer.start_file("book.epd", zip::write::SimpleFileOptions::default()).unwrap();
    for _ in 0..200 {
        writer.write_all(&vec![b'\n'; 1 << 20]).unwrap();
    }
    writer.finish().unwrap();
    let line = "match --engine cmd=default --engine cmd=default-hce --games 2 --openings book.zip";
    let message = error(&within(600, folder.path(), line));
    assert!(message.contains("book.zip: expands more than a hundredfold"), "{message}");
}

#[test]
#[cfg(target_os = "linux")]
fn with_little_memory_extract_takes_less_and_with_too_little_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games.pgn"), GAME.repeat(50_000)).unwrap();
    let comment = format!("[Result \"1-0\"]\n\n1. e4 {{ {} }} e5 1-0\n", "a".repeat(60 << 20));
    fs::write(folder.path().join("comment.pgn"), comment).unwrap();
    let extract = "extract games.pgn --filter unique -o out.parquet";
    // Less than the text of the game alone.
    let message = error(&within(58, folder.path(), "extract comment.pgn -o out.parquet"));
    assert!(message.contains("memory") || message.contains("threads"), "{message}");
    assert!(!folder.path().join("out.parquet").exists());
    let output = within(600, folder.path(), extract);
    assert!(output.status.success(), "{output:?}");
    let within_limit = fs::read(folder.path().join("out.parquet")).unwrap();
    assert!(patzer(folder.path(), &extract.split_whitespace().collect::<Vec<_>>()).status.success());
    assert!(fs::read(folder.path().join("out.parquet")).unwrap() == within_limit);
}

#[test]
#[cfg(target_os = "linux")]
fn without_threads_to_start_there_is_one_line() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(folder.path().join("games.pgn"), GAME).unwrap();
    assert!(patzer(folder.path(), &["extract", "games.pgn"]).status.success());
    // The limit does not hold for root.
    let as_nobody = "exec setpriv --reuid=65533 --clear-groups --no-new-privs";
    let mut refused = 0;
    for (line, most) in [
        "extract games.pgn -o -",
        "data convert positions.parquet -o - --format csv",
        "perft 3",
        "match default-hce untuned-hce --hash 1 --games 2 --nodes 5 --max-moves 3 -o /dev/shm/none/x.pgn",
        "data stats positions.parquet",
    ]
    .into_iter()
    .flat_map(|line| (2..9).map(move |most| (line, most)))
    {
        let program = env!("CARGO_BIN_EXE_patzer");
        let line = format!("ulimit -u {most}; {as_nobody} {program} -q --threads 2 {line}");
        let output = Command::new("bash").args(["-c", &line]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("setpriv: ") || said.contains("bash: ") || output.status.code() == Some(127) {
            return crate::skip::skip("hostile::without_threads_to_start_there_is_one_line", "no setpriv");
        }
        assert!([Some(0), Some(1)].contains(&output.status.code()), "{line}: {output:?}");
        refused += usize::from(said.contains("try fewer --threads") && said.lines().count() == 1);
    }
    assert!(refused > 5, "{refused}");
}
