//! Files: decompression, what `report` reads, and files for readers that take a path.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use patzer_report::section::{Missing, Section, SectionKind};
use patzer_report::{contest, html, log, weights};

/// Runs with an empty folder in memory, where the system has one.
pub fn in_folder<T>(run: impl FnOnce(&Path) -> T) -> T {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("a folder");
    run(folder.path())
}

/// Runs with the bytes in a file.
pub fn with_file(bytes: &[u8], ending: &str, run: impl FnOnce(&Path)) {
    in_folder(|folder| {
        let path: PathBuf = folder.join("fuzz").with_extension(ending);
        fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("a file");
        run(&path);
    });
}

/// Most bytes that are unpacked of an input.
const UNPACKED: u64 = 1 << 26;

/// A stream unpacks to the same bytes however they are asked for, in bounded memory; an error is one of the content.
pub fn compressed(bytes: &[u8]) {
    let unpacked = |step: usize| -> Option<(u64, u64)> {
        let mut stream = patzer_io::decompressed(Box::new(Cursor::new(bytes.to_vec()))).ok()?.take(UNPACKED);
        let (mut buffer, mut length, mut hash) = (vec![0; step], 0, 0u64);
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Some((length, hash)),
                Ok(read) => {
                    length += read as u64;
                    hash = buffer[..read]
                        .iter()
                        .fold(hash, |hash, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte));
                }
                Err(_) => return None,
            }
        }
    };
    assert_eq!(unpacked(1 << 16), unpacked(4099));
}

/// Files of a run folder as `report` reads and draws them: games, a log, weights.
pub fn report(bytes: &[u8]) {
    with_file(bytes, "csv", |path| {
        let mut sections = Vec::new();
        if let Ok(epochs) = log::read(path) {
            let mut section = Section::new("log", SectionKind::Network);
            let log = log::Log { epochs, kept: None };
            log::measures(&mut section, &log);
            log::part("log", &log).into_iter().for_each(|part| section.part(part));
            sections.push(section);
        }
        if let Ok(weights) = weights::read(path) {
            let evaluation = Err(Missing("not read here".to_string()));
            let log = log::Log::default();
            let data = weights::Weights { weights, k: None, log, before: [None; 2], evaluation };
            sections.push(weights::section("weights", &data));
        }
        if let Ok(games) = contest::games::read(path) {
            sections.push(contest::section("games", &contest::of_games_alone(games)));
        }
        if !sections.is_empty() {
            html::page(&sections, &[]).expect("a page");
        }
    });
}

/// The JSON object of a match, drawn on a report's page.
pub fn result(bytes: &[u8]) {
    let Ok(result) = serde_json::from_slice(bytes) else { return };
    if let Some(section) = contest::of_result("result", &result) {
        html::page(&[section], &[]).expect("a page");
    }
}
