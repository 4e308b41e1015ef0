use std::fs::File;
use std::sync::Arc;

use super::*;
use crate::Leaf;
use parquet::schema::parser::parse_message_type;
use patzer_chess::{PackedBoard, PackedMove};
use shakmaty::Color;

fn records(n: usize) -> Vec<Record> {
    let start = PackedBoard::pack(&shakmaty::Chess::default());
    (0..n)
        .map(|i| Record {
            board: start,
            turn: Color::from_black(i % 2 == 1),
            ep: 255,
            fullmove: i as u16,
            game: (i / 10) as u32,
            result: (i % 3) as i8 - 1,
            score: (i % 4 != 0).then_some(-(i as i16 % 500)),
            depth: (i % 5 == 0).then_some(12),
            played: PackedMove(i as u16),
            ..EMPTY
        })
        .collect()
}

#[test]
fn records_survive_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    for resolved in [None, Some("qsearch".to_string())] {
        let mut written = records(ROWS_PER_PAGE + 1234);
        let metadata =
            Metadata { resolved: resolved.clone(), ..Metadata::new(vec![], vec!["quiet".into()], 9) };
        if resolved.is_some() {
            let leaf = Leaf { board: written[0].board, turn: Color::Black, score: -31_999 };
            written.iter_mut().filter(|s| s.fullmove % 7 != 0).for_each(|s| s.leaf = Some(leaf));
        }
        let mut writer = Writer::create(&path, metadata.clone()).unwrap();
        writer.write(&written[..100]).unwrap();
        writer.write(&written[100..]).unwrap();
        assert_eq!(writer.finish().unwrap(), written.len() as u64);
        let dataset = Dataset::open(&path).unwrap();
        assert_eq!(dataset.metadata(), &metadata);
        assert_eq!(dataset.rows(), written.len() as u64);
        assert_eq!(dataset.read_all().unwrap(), written);
    }
}

#[test]
fn row_groups_can_be_read_concurrently() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let written = records(12 * ROWS_PER_PAGE + 1000);
    let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
    writer.pages_per_group = 1;
    writer.write(&written).unwrap();
    writer.finish().unwrap();
    let dataset = Dataset::open(&path).unwrap();
    assert_eq!(dataset.groups(), 13);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    assert!(pool.install(|| dataset.read_all()).unwrap() == written);
}

/// Writes with parquet's typed writers: plain or dictionary encoding, pages of other lengths in every column.
pub fn write_plainly(path: &Path, records: &[Record], dictionary: bool) {
    use parquet::data_type::*;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::ZSTD(Default::default()))
        .set_dictionary_enabled(dictionary)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_size_limit(1000)
        .set_write_batch_size(16)
        .build();
    // Other writers declare logical types and field ids differently.
    let schema =
        Layout::default().schema(Default::default()).replace(" (UINT_8)", "").replace("(UINT_16)", "= 7");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut file = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties.into()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = |index: usize| {
        let mut writer = group.next_column().unwrap().unwrap();
        let ints = |get: fn(&Record) -> i32| records.iter().map(get).collect::<Vec<_>>();
        let some = |get: fn(&Record) -> Option<i32>| {
            let levels: Vec<i16> = records.iter().map(|s| get(s).is_some().into()).collect();
            (records.iter().filter_map(get).collect::<Vec<_>>(), Some(levels))
        };
        let (values, levels) = match index {
            0 => {
                let boards = records.iter().map(|s| FixedLenByteArray::from(s.board.0.to_vec()));
                let boards: Vec<_> = boards.collect();
                writer.typed::<FixedLenByteArrayType>().write_batch(&boards, None, None).unwrap();
                writer.close().unwrap();
                return;
            }
            1 => {
                let black: Vec<bool> = records.iter().map(|s| s.turn.is_black()).collect();
                writer.typed::<BoolType>().write_batch(&black, None, None).unwrap();
                writer.close().unwrap();
                return;
            }
            2 => (ints(|s| s.ep.into()), None),
            4 => (ints(|s| s.fullmove.into()), None),
            6 => (ints(|s| s.game as i32), None),
            7 => (ints(|s| s.result.into()), None),
            8 => some(|s| s.score.map(i32::from)),
            9 => some(|s| s.depth.map(i32::from)),
            10 => (ints(|s| s.played.0.into()), None),
            _ => (ints(|_| 0), None),
        };
        writer.typed::<Int32Type>().write_batch(&values, levels.as_deref(), None).unwrap();
        writer.close().unwrap();
    };
    (0..Layout::default().columns().count()).for_each(&mut column);
    group.close().unwrap();
    let json = serde_json::to_string(&Metadata::new(vec![], vec![], 0)).unwrap();
    file.append_key_value_metadata(KeyValue::new(crate::metadata::METADATA_KEY.to_string(), json));
    file.close().unwrap();
}

#[test]
fn a_file_without_checksums_is_said_to_be_unchecked_and_its_records_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut written = records(3000);
    let notice = (path.clone(), UNCHECKED.to_string());
    for dictionary in [false, true] {
        write_plainly(&path, &written, dictionary);
        let dataset = Dataset::open(&path).unwrap();
        assert!(!dataset.has_checksums());
        dataset.read_columns(0, Projection::GAME).unwrap();
        assert!(!dataset.notices().take().contains(&notice));
        assert!(dataset.read_all().unwrap() == written);
        assert!(dataset.notices().take().contains(&notice));
    }
    // White's king is gone.
    written[2500].board.0[10] ^= 1;
    write_plainly(&path, &written, false);
    let mut dataset = Dataset::open(&path).unwrap();
    let error = dataset.read_all().unwrap_err().to_string();
    assert!(error.ends_with("x.parquet: row group 0, row 2500: is damaged: not one king a side"), "{error}");
    dataset.accept_illegal_records();
    assert!(dataset.read_all().unwrap() == written);
}

#[test]
fn reading_does_not_depend_on_threads_or_reused_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let written = records(5 * ROWS_PER_PAGE + 777);
    let projection = Projection::TRAINING.and(Projection::GAME);
    let few = |s: &Record| Record { ep: 0, fullmove: 0, depth: None, played: PackedMove(0), ..*s };
    let some: Vec<Record> = written.iter().map(few).collect();
    for dictionary in [None, Some(false), Some(true)] {
        match dictionary {
            Some(dictionary) => write_plainly(&path, &written, dictionary),
            None => {
                let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
                writer.write(&written).unwrap();
                writer.finish().unwrap();
            }
        }
        let dataset = Dataset::open(&path).unwrap();
        assert!(dataset.read_all().unwrap() == written);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            // Memory with other content and length.
            let mut read = records(100_000 * (threads % 2));
            pool.install(|| dataset.read_into(0, Projection::ALL, &mut read)).unwrap();
            assert!(read == written, "{dictionary:?} {threads}");
            pool.install(|| dataset.read_into(0, projection, &mut read)).unwrap();
            assert!(read == some, "{dictionary:?} {threads}");
        }
    }
}

/// Renames the key of the metadata and the mark of the footer's checksum, as if another program had written the file.
fn without_metadata(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    // The length of the key comes before it.
    for (old, new) in [(&b"\x06patzer"[..], &b"\x06others"[..]), (b"patzer crc32", b"others crc32")] {
        let at = bytes.windows(old.len()).rposition(|some| some == old).unwrap();
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn optional_columns_survive_the_loss_of_the_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let leaf = Leaf { board: records(1)[0].board, turn: Color::Black, score: 7 };
    let mut written = records(100);
    for record in &mut written {
        record.best = PackedMove(77);
        record.wdl = Some(crate::Wdl { win: 300, draw: 500 });
        record.mean = Some(crate::MeanResult { count: 3, sum: -1 });
        record.leaf = Some(leaf);
    }
    let dedupe =
        Some(crate::dedupe_rule::Dedupe { keep: crate::dedupe_rule::Keep::Mean, ..Default::default() });
    let (teacher, resolved) = (Some("engine".into()), Some("qsearch".into()));
    let metadata = Metadata { teacher, resolved, dedupe, ..Metadata::new(vec![], vec![], 0) };
    let mut writer = Writer::create(&path, metadata).unwrap();
    writer.write(&written).unwrap();
    writer.finish().unwrap();
    without_metadata(&path);
    let dataset = Dataset::open(&path).unwrap();
    assert!(!dataset.has_provenance());
    assert_eq!(dataset.metadata().layout(), Layout { resolved: true, means: true, taught: true });
    let mut writer = Writer::create(&path, dataset.metadata().clone()).unwrap();
    writer.write(&dataset.read_all().unwrap()).unwrap();
    writer.finish().unwrap();
    assert_eq!(Dataset::open(&path).unwrap().read_all().unwrap(), written);
}

#[test]
fn an_error_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    std::fs::write(&path, b"not parquet at all").unwrap();
    let error = Dataset::open(&path).err().unwrap();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("x.parquet"), "{error}");
}
