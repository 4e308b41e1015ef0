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
