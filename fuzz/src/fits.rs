//! Files of fits: counts of scores and results, strengths of moves, answers of a teacher.

use std::fs;

use patzer_fit::moves::table;
use patzer_fit::wdl::Histogram;
use patzer_io::Earlier;
use patzer_label::teacher::{Cut, Journal};
use patzer_report::{html, moves};

use super::files::{in_folder, with_file};

/// Counts of scores: what is saved reads the same.
pub fn histogram(bytes: &[u8]) {
    with_file(bytes, "json", |path| {
        let (mut read, mut again) = (Histogram::default(), Histogram::default());
        if read.merge_file(path).is_err() {
            return assert_eq!(read.total(), 0);
        }
        let saved = path.with_extension("saved");
        read.save(&saved).expect("a file to write");
        again.merge_file(&saved).expect("our own file");
        assert_eq!(again, read);
    });
}

/// Strengths of moves: above 0, drawn on a report's page, and what is written reads the same.
pub fn strengths(bytes: &[u8]) {
    with_file(bytes, "toml", |path| {
        let Ok(fit) = table::read_fit(path) else { return };
        assert!(fit.levels.iter().flatten().all(|level| level.gamma > 0.0 && level.gamma.is_finite()));
        html::page(&[moves::section("strengths", &fit)], &[]).expect("a page");
        fs::write(path, table::write(&fit, &[])).expect("a file to write");
        let again = table::read_fit(path).expect("our own file");
        assert_eq!(again.terms, fit.terms);
    });
}

/// Bytes of a record of the journal before its answers, and of an answer.
const HEAD: usize = 20;
const ANSWER: usize = 12;

/// Records of the target [`teacher`] with their length and checksum: the count of answers is that of the bytes that
/// follow.
fn records(bytes: &[u8]) -> Vec<u8> {
    let mut journal = Vec::new();
    let mut rest = bytes;
    while let Some((&count, after)) = rest.split_first() {
        let count = usize::from(count % 8);
        let Some((record, after)) = after.split_at_checked(HEAD + ANSWER * count) else { break };
        let mut record = record.to_vec();
        record[8..12].copy_from_slice(&(count as u32).to_le_bytes());
        let checksum = crc32fast::hash(&record);
        journal.extend(record);
        journal.extend(checksum.to_le_bytes());
        rest = after;
    }
    journal.extend(rest);
    journal
}

/// The journal of a labelling by a teacher: a byte that says whether the rest is the file, or records of a right header
/// without their checksums. Resuming twice finds the same, and every block that is said to be finished is there.
pub fn teacher(bytes: &[u8]) {
    let cut = Cut { size: 7, blocks: 0..4, positions: 28 };
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let header = b"{\"patzer_teacher\":2,\"conditions\":{},\"arguments\":null}\n";
    let file = if kind & 1 == 0 { bytes.to_vec() } else { [&header[..], &records(bytes)].concat() };
    in_folder(|folder| {
        let output = folder.join("labelled.parquet");
        let path = Journal::path_of(&output);
        fs::write(&path, &file).expect("a file to write");
        let open = || {
            Journal::open(&output, &serde_json::json!({}), &serde_json::Value::Null, &cut, Earlier::Resume)
        };
        let facts = |journal: &Journal| {
            let finished = journal.finished();
            let blocks = (0..).zip(&finished).filter(|(_, positions)| positions.is_some());
            let blocks: Vec<_> =
                blocks.map(|(block, _)| journal.read(block).expect("a finished block")).collect();
            (finished, journal.answered(), blocks)
        };
        let Ok(journal) = open() else { return assert_eq!(fs::read(&path).expect("the file"), file) };
        let first = facts(&journal);
        drop(journal);
        let kept = fs::read(&path).expect("the file");
        assert!(file.starts_with(&kept) || kept == header);
        assert_eq!(facts(&open().expect("a resumed run")), first);
    });
}
