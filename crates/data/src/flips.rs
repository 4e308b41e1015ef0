//! Flips every bit of a small file of each binary format: an error, the same content, or, without checksums, legal
//! records.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use patzer_pgn::{GameSplitter, Parser};
use rayon::prelude::*;

use crate::{Dataset, Leaf, Record, validate};
use patzer_formats::any::AnyReader;
use patzer_formats::any_writer::{AnyWriter, Target};
use patzer_formats::legality;
use patzer_formats::metadata::Metadata;
use patzer_formats::native::encode::ROWS_PER_PAGE;
use patzer_formats::native::projection::Projection;
use patzer_formats::registry;
use patzer_formats::spillable::Spillable;
use patzer_io::error::Result;

const GAME: &str = "[FEN \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\"]\n\
    [Result \"1-0\"]\n\n1. O-O {+0.25/9 0.1s} hxg2 {-0.50/8 0.1s} 2. Kxg2 {+1.50/9 0.1s} O-O-O {+0.10/9 0.1s} \
    3. dxe6 {+0.20/7 0.1s} d5 {+0.00/9 0.1s} 4. exd6 {+M5/9 0.1s} 1-0\n";

fn records() -> Vec<Record> {
    let (mut splitter, mut parser, mut records) = (GameSplitter::new(), Parser::default(), Vec::new());
    *splitter.text() = GAME.as_bytes().to_vec();
    splitter.scan(true);
    let (text, games) = splitter.take();
    parser.parse(&text, &games[0], 7, &mut records);
    assert!(records.len() >= 5);
    records
}

/// Calls `check` for every bit of a file, with the bit flipped and the place of the flip.
fn flip_every_bit(path: &Path, check: impl Fn(&Path, &str) + Sync) {
    flip_bits(path, |_, _| true, check);
}

/// Calls `check` for the bits of a file that are chosen by their byte and their place in it.
fn flip_bits(path: &Path, chosen: impl Fn(usize, usize) -> bool + Sync, check: impl Fn(&Path, &str) + Sync) {
    let bytes = std::fs::read(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let part = bytes.len().div_ceil(4 * rayon::current_num_threads());
    bytes.par_chunks(part).enumerate().for_each(|(nth, chunk)| {
        let copy = folder.path().join(format!("{nth}.{}", path.extension().unwrap().display()));
        std::fs::write(&copy, &bytes).unwrap();
        let file = File::options().write(true).open(&copy).unwrap();
        for (at, byte) in (nth * part..).zip(chunk) {
            for bit in (0..8).filter(|bit| chosen(at, *bit)) {
                file.write_all_at(&[byte ^ 1 << bit], at as u64).unwrap();
                check(&copy, &format!("bit {bit} of byte {at} of {}", bytes.len()));
            }
            file.write_all_at(&[*byte], at as u64).unwrap();
        }
    });
}

fn content(path: &Path) -> Result<(Metadata, Vec<Record>)> {
    let reader = AnyReader::open(path, registry::of_path(path))?;
    Ok((reader.metadata().clone(), reader.read_all()?))
}

#[test]
fn no_flipped_bit_of_a_dataset_changes_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut records = records();
    for record in &mut records[1..] {
        record.leaf = Some(Leaf { board: record.board, turn: record.turn, score: 20 });
    }
    let metadata =
        Metadata { resolved: Some("qsearch".into()), ..Metadata::new(vec![], vec!["quiet".into()], 3) };
    let mut writer = patzer_formats::native::parquet::Writer::create(&path, metadata.clone()).unwrap();
    writer.write(&records).unwrap();
    writer.finish().unwrap();
    let whole = (metadata, records);
    assert_eq!(content(&path).unwrap(), whole);
    flip_every_bit(&path, |path, place| {
        if let Ok(read) = content(path) {
            assert_eq!(read, whole, "{place}");
        }
    });
}

/// More rows than a page: its header then decides how the rows of the next pages are found.
#[test]
fn no_flipped_bit_of_a_page_header_changes_what_is_read() {
    /// The longest header.
    const HEADER: usize = 32;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let records: Vec<Record> = records().into_iter().cycle().take(2 * ROWS_PER_PAGE + 9).collect();
    let mut writer = patzer_formats::native::parquet::Writer::create(&path, Metadata::default()).unwrap();
    writer.write(&records).unwrap();
    writer.finish().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // Pages start with their type and a size of more than 63 bytes.
    let pages: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, four)| matches!(four, [0x15, 0, 0x15, 0x80..=255]))
        .map(|page| page.0)
        .collect();
    assert!(pages.len() > 30);
    let (columns, file) =
        (Projection::of(&["stm", "score", "result"]), File::options().write(true).open(&path).unwrap());
    let read = || Dataset::open(&path).and_then(|dataset| dataset.read_columns(0, columns));
    let whole = read().unwrap();
    // The columns `stm`, `result` and `score`: encoded plainly, split, and with levels.
    for bit in [3, 7 * 3, 8 * 3].into_iter().flat_map(|page| (pages[page] * 8..).take(HEADER * 8)) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        file.write_all_at(&bytes[bit / 8..=bit / 8], (bit / 8) as u64).unwrap();
        if let Ok(read) = read() {
            assert!(read == whole, "bit {bit}");
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
        file.write_all_at(&bytes[bit / 8..=bit / 8], (bit / 8) as u64).unwrap();
    }
}

/// Files of DuckDB and pyarrow have no checksums: pages of both versions, dictionaries, deltas, text. One bit a byte.
#[test]
fn a_flipped_bit_of_a_file_of_another_program_is_an_error_or_leaves_legal_records() {
    for name in ["duckdb_v2", "pyarrow_v2", "lichess"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/parquet/{name}.parquet"));
        assert!(!AnyReader::open(&path, None).unwrap().read_all().unwrap().is_empty());
        flip_bits(
            &path,
            |byte, bit| byte * 5 % 8 == bit,
            |path, place| {
                let Ok(read) = AnyReader::open(path, None).and_then(AnyReader::read_all) else { return };
                assert!(read.len() < 200, "{place}");
                assert!(read.iter().all(|record| legality::fault(record).is_none()), "{place} of {name}");
            },
        );
    }
}

#[test]
fn a_flipped_bit_of_a_format_without_checksums_leaves_legal_records() {
    let folder = tempfile::tempdir().unwrap();
    for format in registry::FORMATS.iter().filter(|format| format.companion) {
        let path = folder.path().join("x").with_extension(format.endings[0]);
        let mut writer = AnyWriter::create(&path, &Target::default(), &Metadata::default()).unwrap();
        writer.write(&records()).unwrap();
        writer.finish().unwrap();
        assert!(content(&path).unwrap().1.len() >= 3);
        flip_every_bit(&path, |path, place| {
            let read = content(path).map_or_else(|_| Vec::new(), |read| read.1);
            for record in &read {
                validate::check(record, &mut |fault, reason| {
                    assert!(fault == "score", "{}: {place}: {fault}: {reason}", format.name);
                });
            }
        });
    }
}

#[test]
fn formats_have_companions_as_the_registry_says() {
    let folder = tempfile::tempdir().unwrap();
    for format in registry::written() {
        let path = folder.path().join("x").with_extension(format.endings[0]);
        let mut writer = AnyWriter::create(&path, &Target::default(), &Metadata::default()).unwrap();
        writer.write(&records()).unwrap();
        writer.finish().unwrap();
        assert_eq!(patzer_io::companion_path(&path).exists(), format.companion, "{}", format.name);
    }
}

#[test]
fn a_flipped_bit_of_a_spilled_block_is_an_error() {
    let mut block = Record::encode(&records()).unwrap();
    let mut read = Vec::new();
    Record::decode(&block, &mut read).unwrap();
    assert_eq!(read, records());
    for bit in 0..8 * block.len() {
        block[bit / 8] ^= 1 << (bit % 8);
        assert!(Record::decode(&block, &mut Vec::new()).is_err(), "bit {bit}");
        block[bit / 8] ^= 1 << (bit % 8);
    }
}
