//! Dataset formats: records or an error, and every record holds a legal position. What a format reads, it writes, and
//! reads again as it was.

use std::io::Cursor;
use std::path::Path;

use patzer_chess::PackedMove;
use patzer_data::{AnyReader, AnyWriter, Dataset, Metadata, Record, Target};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::codec::PositionReader;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::foreign::epd::Dialect;
use patzer_formats::foreign::fast_epd;
use patzer_formats::foreign::{bullet, csv, epd, marlin};
use patzer_formats::native::columns::Layout;
use patzer_formats::notices::Notices;
use patzer_formats::registry;
use patzer_formats::stream::Input;
use patzer_io::error::Result;

use super::files::{in_folder, with_file};
use super::games::check;

fn read(format: &str, bytes: &[u8]) -> (Vec<Record>, Result<()>) {
    let mut records = Vec::new();
    let registry::Read::Stream(open) = registry::named(format).expect("a format").read else {
        panic!("a stream")
    };
    let input = Input::of(Path::new("fuzz"), Box::new(Cursor::new(bytes.to_vec())));
    let read = input.and_then(open).and_then(|mut reader: Box<dyn PositionReader>| {
        while reader.next_batch(&mut records)? {}
        Ok(())
    });
    (records, read)
}

/// Reads records, up to a fault, and checks each.
fn sound(format: &str, bytes: &[u8]) -> Vec<Record> {
    let (records, _) = read(format, bytes);
    records.iter().for_each(check);
    records
}

/// Writes records as a file of the format, and reads them.
fn rewritten(format: &str, records: &[Record]) -> Vec<Record> {
    in_folder(|folder| {
        let path = folder.join("again");
        let target = Target { format: registry::named(format).ok(), ..Target::default() };
        let metadata = Metadata::new(Vec::new(), Vec::new(), 0);
        let mut writer = AnyWriter::create(&path, &target, &metadata).expect("a file to write");
        writer.write(records).expect("a file to write");
        let written = writer.finish().expect("a file to write");
        let bytes = std::fs::read(&path).expect("the file");
        let (read, result) = read(format, &bytes);
        result.expect("our own file");
        // Castling rights of Chess960 can be read from a binpack and not be written to one.
        let dropped: u64 = written.dropped.values().sum();
        assert_eq!(read.len() as u64 + dropped, records.len() as u64, "{written:?}");
        if dropped == 0 { read } else { records.to_vec() }
    })
}

/// The facts of a position that every format with moves carries.
fn position(record: &Record) -> impl PartialEq + std::fmt::Debug {
    (record.board, record.turn, record.ep, record.halfmove, record.result, record.score, record.played)
}

/// Reads a format of the registry; if it is written too, positions that have what it needs come back.
pub fn stream(name: &str, bytes: &[u8]) {
    let mut records = sound(name, bytes);
    let format = registry::named(name).expect("a format");
    if format.write.is_none() {
        return;
    }
    // Positions without a move are read only where moves are needed.
    records.retain(|record| record.played != PackedMove::NONE || !format.needs.contains(Capabilities::MOVE));
    for (again, record) in rewritten(name, &records).iter().zip(&records) {
        assert_eq!(position(again), position(record));
    }
}

/// Row groups or an error.
pub fn parquet(bytes: &[u8]) {
    with_file(bytes, "parquet", |path| {
        // A table with FENs, or else a dataset.
        if let Ok(mut reader) = AnyReader::open(path, None) {
            let mut records = Vec::new();
            while reader.format().name == "table" && matches!(reader.next_batch(&mut records), Ok(true)) {
                records.iter().for_each(check);
            }
        }
        let Ok(dataset) = Dataset::open(path) else { return };
        for group in 0..dataset.groups() {
            let _ = dataset.read_group(group);
        }
        extra(path, dataset.metadata());
    });
}

/// Reads the columns beside the records.
fn extra(path: &Path, metadata: &Metadata) {
    if let Ok(Some(mut rows)) = ExtraRows::of(path, metadata, &metadata.extra, &Notices::default()) {
        while matches!(rows.take(1 << 10), Ok(rows) if !rows.is_empty()) {}
    }
}

pub fn bullet(bytes: &[u8]) {
    for record in sound("bullet", bytes) {
        let again = bullet::decode(&bullet::encode(&record)).expect("our own record");
        assert_eq!(Record { game: record.game, ..again }, record);
    }
}

/// Reads like [`stream`], with the visits beside the records.
pub fn monty(bytes: &[u8]) {
    stream("monty", bytes);
    with_file(bytes, "monty", |path| {
        if let Ok(reader) = AnyReader::open(path, registry::named("monty").ok()) {
            extra(path, reader.metadata());
        }
    });
}

pub fn marlin(bytes: &[u8]) {
    for record in sound("marlin", bytes) {
        let again = marlin::decode(&marlin::encode(&record)).expect("our own record");
        assert_eq!(Record { game: record.game, ..again }, record);
    }
}

pub fn csv(bytes: &[u8]) {
    let records = sound("csv", bytes);
    let layout = Layout { resolved: true, means: true, taught: true };
    let mut text = csv::header(layout);
    records.iter().for_each(|record| csv::encode(&mut text, record, layout));
    let (again, result) = read("csv", &text);
    result.expect("our own file");
    assert_eq!(again, records);
}

/// EPD and FEN with results, by the exact and by the fast reader.
pub fn epd(bytes: &[u8]) {
    for record in sound("epd", bytes) {
        for dialect in [Dialect::C9, Dialect::Quoted, Dialect::Bracket, Dialect::Pipe] {
            let mut line = Vec::new();
            epd::encode(&mut line, &record, dialect);
            let again = epd::decode(std::str::from_utf8(&line).expect("text")).expect("our own line");
            let facts = |record: &Record| (record.board, record.turn, record.ep, record.result);
            assert_eq!(facts(&again), facts(&record));
            let fast = fast_epd::parse(&line).expect("our own line");
            assert_eq!(fast.board.board(), record.board.board());
            assert_eq!((fast.turn, fast.result), (record.turn, f32::from(record.result + 1) / 2.0));
            assert_eq!((fast.halfmove, fast.ply), (again.halfmove, again.ply));
        }
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(fast) = fast_epd::parse(line) {
            assert!((0.0..=1.0).contains(&fast.result));
            assert!(fast.board.board().is_some() && fast.board.count() <= 32);
        }
    }
}
