//! Properties of datasets: files, removal of duplicates, shuffling, splitting and merging, in memory and beyond it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_data::dedupe::{Dedupe, Deduper, Keep};
use patzer_data::merge::merge;
use patzer_data::shuffle::{self, shuffle};
use patzer_data::split::{SplitPart, part_of, split};
use patzer_data::{
    Dataset, Leaf, MeanResult, Metadata, OutputSettings, Record, RowGroups, Target, Wdl, Writer,
};
use patzer_formats::native::projection::Projection;
use patzer_io::Shard;
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Color, fen::Fen};

const KEEPS: [Keep; 4] = [Keep::First, Keep::Last, Keep::Deepest, Keep::Mean];

/// Boards of which some are each other's mirror images, and some may castle.
fn board() -> impl Strategy<Value = PackedBoard> {
    let fens = [
        "4k3/8/8/8/8/8/8/R3K3 w - - 0 1",
        "3k4/8/8/8/8/8/8/3K3R w - - 0 1",
        "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1",
        "3k4/8/8/1n6/8/8/8/3K4 w - - 0 1",
        "4k3/8/8/6n1/8/8/8/4K3 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "k7/8/8/8/8/8/8/7K w - - 0 1",
    ];
    let pack = |fen: &str| {
        let position: Chess = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
        PackedBoard::pack(&position)
    };
    prop::sample::select(fens.map(pack).to_vec())
}

/// Any record; its leaf and mean are for datasets that have those columns.
fn record() -> impl Strategy<Value = Record> {
    let place = (any::<u8>(), any::<u8>(), any::<u16>(), any::<u16>(), any::<u16>());
    let facts = (-1i8..=1, any::<Option<i16>>(), any::<Option<u8>>(), any::<u16>(), any::<[u8; 3]>());
    let leaf = prop::option::of((board(), any::<bool>(), any::<i16>()));
    let mean = prop::option::of((1u32..1000, -900i32..900));
    let taught = (any::<u16>(), prop::option::of((0u16..=1000, any::<u16>())));
    let all = (board(), any::<bool>(), place, facts, leaf, mean, taught);
    all.prop_map(|(board, black, place, facts, leaf, mean, (best, wdl))| {
        let (ep, halfmove, fullmove, ply, played) = place;
        let (result, score, depth, flags, [to_capture, to_check, to_end]) = facts;
        Record {
            board,
            turn: Color::from_black(black),
            // Two in three have none, as most positions do.
            ep: if ep % 3 == 0 { ep } else { 255 },
            halfmove,
            fullmove,
            ply,
            game: 0,
            result,
            score,
            depth,
            played: PackedMove(played),
            flags,
            to_capture,
            to_check,
            to_end,
            leaf: leaf.map(|(board, black, score)| Leaf { board, turn: Color::from_black(black), score }),
            mean: mean.map(|(count, sum)| MeanResult { count, sum }),
            best: PackedMove(best),
            wdl: wdl.map(|(win, draw)| Wdl { win, draw: draw % (1001 - win) }),
        }
    })
}

/// Samples as an extraction gives them: in the order of their games, some games without any.
fn extracted(most: usize) -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec((record(), 0u32..4), 0..most).prop_map(|records| {
        let mut game = 0;
        let number = |(record, step): (Record, u32)| {
            game += step / 2;
            Record { game, leaf: None, mean: None, best: PackedMove::NONE, wdl: None, ep: 255, ..record }
        };
        records.into_iter().map(number).collect()
    })
}

fn write(path: &Path, records: &[Record], metadata: Metadata) -> Dataset {
    let mut writer = Writer::create(path, metadata).unwrap();
    records.chunks(7).for_each(|some| writer.write(some).unwrap());
    writer.finish().unwrap();
    Dataset::open(path).unwrap()
}

fn read(path: &Path) -> Vec<Record> {
    Dataset::open(path).unwrap().read_all().unwrap()
}

/// Drops duplicates as one would on paper.
fn dedupe_plainly(records: &[Record], how: Dedupe) -> Vec<Record> {
    let mut equal: HashMap<u128, Vec<usize>> = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        equal.entry(how.key(record)).or_default().push(index);
    }
    let rank = |index: usize| match (records[index].score, records[index].depth) {
        (None, _) => -2,
        (_, None) => -1,
        (_, Some(depth)) => i32::from(depth),
    };
    let mut kept: BTreeMap<usize, Record> = BTreeMap::new();
    for group in equal.values() {
        let stays = match how.keep {
            Keep::First | Keep::Mean => group[0],
            Keep::Last => *group.last().unwrap(),
            Keep::Deepest => *group.iter().min_by_key(|index| (-rank(**index), **index)).unwrap(),
        };
        let mut record = records[stays];
        if how.keep == Keep::Mean {
            let sum = group.iter().map(|index| i32::from(records[*index].result)).sum();
            record.mean = Some(MeanResult { count: group.len() as u32, sum });
        }
        kept.insert(stays, record);
    }
    kept.into_values().collect()
}

fn dedupe(records: &[Record], how: Dedupe, memory: usize, step: usize, folder: &Path) -> (Vec<Record>, u64) {
    let mut deduper = Deduper::new(how, memory, folder).unwrap();
    let (mut kept, mut dropped) = (Vec::new(), 0);
    for some in records.chunks(step) {
        let (mut some, keys) = (some.to_vec(), some.iter().map(|s| how.key(s)).collect::<Vec<_>>());
        dropped += deduper.take(&mut some, &keys).unwrap();
        kept.extend(some);
    }
    dropped += deduper
        .finish(|some| {
            kept.extend(some);
            Ok(())
        })
        .unwrap();
    (kept, dropped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// parquet's own reader, which goes another way than ours, sees what was written.
    #[test]
    fn any_samples_survive_the_file_and_others_can_read_it(
        records in prop::collection::vec(record(), 0..200),
        resolved in any::<bool>(),
        means in any::<bool>(),
        taught in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let plain = |s: &Record| Record {
            leaf: s.leaf.filter(|_| resolved),
            mean: s.mean.filter(|_| means),
            best: if taught { s.best } else { PackedMove::NONE },
            wdl: s.wdl.filter(|_| taught),
            ..*s
        };
        let records: Vec<Record> = records.iter().map(plain).collect();
        let metadata = Metadata {
            resolved: resolved.then(|| "qsearch".into()),
            teacher: taught.then(|| "an engine".into()),
            dedupe: means.then_some(Dedupe { keep: Keep::Mean, mirror: false }),
            ..Metadata::new(vec![], vec![], 0)
        };
        let dataset = write(&path, &records, metadata);
        prop_assert_eq!(&dataset.read_all().unwrap(), &records);
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let mut rows = 0;
        for (row, record) in reader.get_row_iter(None).unwrap().zip(&records) {
            let row = row.unwrap();
            prop_assert_eq!(row.get_bytes(0).unwrap().data(), record.board.0);
            prop_assert_eq!(row.get_bool(1).unwrap(), record.turn.is_black());
            prop_assert_eq!(row.get_ubyte(2).unwrap(), record.ep);
            prop_assert_eq!(row.get_ushort(4).unwrap(), record.fullmove);
            prop_assert_eq!(row.get_byte(7).unwrap(), record.result);
            prop_assert_eq!(row.get_short(8).ok(), record.score);
            prop_assert_eq!(row.get_ubyte(9).ok(), record.depth);
            if resolved {
                prop_assert_eq!(row.get_bool(16).ok(), record.leaf.map(|leaf| leaf.turn.is_black()));
                prop_assert_eq!(row.get_short(17).ok(), record.leaf.map(|leaf| leaf.score));
            }
            if taught {
                let first = 15 + 3 * usize::from(resolved) + 2 * usize::from(means);
                prop_assert_eq!(row.get_ushort(first).unwrap_or(0), record.best.0);
                prop_assert_eq!(row.get_ushort(first + 1).ok(), record.wdl.map(|wdl| wdl.win));
                prop_assert_eq!(row.get_ushort(first + 2).ok(), record.wdl.map(|wdl| wdl.draw));
            }
            rows += 1;
        }
        prop_assert_eq!(rows, records.len());
    }

    #[test]
    fn columns_read_alone_are_those_of_the_whole(records in extracted(300)) {
        let folder = tempfile::tempdir().unwrap();
        let dataset = write(&folder.path().join("x"), &records, Metadata::new(vec![], vec![], 0));
        if !records.is_empty() {
            let some = dataset.read_columns(0, Projection::TRAINING.and(Projection::GAME)).unwrap();
            for (some, all) in some.iter().zip(&records) {
                prop_assert_eq!((some.board, some.turn, some.game), (all.board, all.turn, all.game));
                prop_assert_eq!((some.result, some.score), (all.result, all.score));
                prop_assert_eq!((some.ply, some.depth), (0, None));
            }
        }
    }

    #[test]
    fn removal_of_duplicates_is_exact_whatever_the_memory(
        records in prop::collection::vec(record(), 0..400),
        mirror in any::<bool>(),
        step in 1usize..90,
        memory in prop::sample::select(vec![0, 20_000, 100_000, usize::MAX]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let records: Vec<Record> = records.iter().map(|s| Record { mean: None, ..*s }).collect();
        for keep in KEEPS {
            let how = Dedupe { keep, mirror };
            let expected = dedupe_plainly(&records, how);
            let (kept, dropped) = dedupe(&records, how, memory, step, folder.path());
            prop_assert_eq!(dropped as usize, records.len() - expected.len());
            prop_assert_eq!(kept, expected, "{:?}", how);
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn shards_merge_to_the_whole(
        records in extracted(300),
        of in 1u32..5,
        keep in prop::sample::select(vec![None, Some(Keep::First), Some(Keep::Last), Some(Keep::Deepest), Some(Keep::Mean)]),
        memory in prop::sample::select(vec![0, usize::MAX]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let how = keep.map(|keep| Dedupe { keep, mirror: true });
        let unique = |records: &[Record]| match how {
            Some(how) => dedupe_plainly(records, how),
            None => records.to_vec(),
        };
        let parts: Vec<Dataset> = (0..of)
            .rev()
            .map(|index| {
                let shard = Shard { index, of };
                let own: Vec<Record> =
                    records.iter().filter(|s| shard.has(u64::from(s.game))).copied().collect();
                let metadata =
                    Metadata { shard: Some(shard), dedupe: how, ..Metadata::new(vec![], vec![], 0) };
                write(&at(&index.to_string()), &unique(&own), metadata)
            })
            .collect();
        let whole = Metadata { dedupe: how, ..Metadata::new(vec![], vec![], 0) };
        write(&at("whole"), &unique(&records), whole);
        let choices = OutputSettings { memory, ..OutputSettings::default() };
        let rows: u64 = parts.iter().map(Dataset::rows).sum();
        let paths: Vec<_> = parts.iter().map(|part| part.path().to_path_buf()).collect();
        let open = |paths: &[std::path::PathBuf]| paths.iter().map(|path| RowGroups::open(path, None).unwrap()).collect();
        let merged = merge(open(&paths), &at("merged"), choices, &Target::default(), |_| {}).unwrap();
        prop_assert_eq!(merged.done.read, rows);
        prop_assert_eq!(merged.done.written + merged.done.dropped.values().sum::<u64>(), rows);
        prop_assert_eq!(read(&at("merged")), unique(&records));
        prop_assert!(std::fs::read(at("merged")).unwrap() == std::fs::read(at("whole")).unwrap());
        if of > 1 {
            let error = merge(open(&paths[1..]), &at("part"), OutputSettings::default(), &Target::default(), |_| {}).unwrap_err();
            prop_assert!(error.to_string().contains("is missing"), "{}", error);
        }
    }

    #[test]
    fn merged_datasets_never_share_a_game(a in extracted(100), b in extracted(100)) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let parts = [("a", &a), ("b", &b)].map(|(name, s)| RowGroups::Dataset(write(&at(name), s, Metadata::new(vec![], vec![], 0))));
        merge(parts.into(), &at("merged"), OutputSettings::default(), &Target::default(), |_| {}).unwrap();
        let merged = read(&at("merged"));
        let games = |records: &[Record]| records.iter().map(|s| s.game).collect::<HashSet<u32>>();
        let (of_a, of_b) = (games(&merged[..a.len()]), games(&merged[a.len()..]));
        prop_assert!(of_a.is_disjoint(&of_b));
        prop_assert_eq!((of_a.len(), of_b.len()), (games(&a).len(), games(&b).len()));
        let unnumbered = |records: &[Record]| records.iter().map(|s| Record { game: 0, ..*s }).collect::<Vec<_>>();
        prop_assert_eq!(unnumbered(&merged), unnumbered(&[a, b].concat()));
    }

    #[test]
    fn a_shuffle_keeps_every_position_and_spilling_does_not_change_it(records in extracted(2000), seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(&at("x"), &records, Metadata::new(vec![], vec![], 0));
        for (name, memory) in [("small", 0), ("large", usize::MAX)] {
            let settings = shuffle::Settings { seed, memory, target: Target::default() };
            let (read, written) = shuffle(RowGroups::open(&at("x"), None).unwrap(), &at(name), &settings, |_| {}).unwrap();
            prop_assert_eq!((read, written.positions), (records.len() as u64, records.len() as u64));
        }
        prop_assert!(std::fs::read(at("small")).unwrap() == std::fs::read(at("large")).unwrap());
        let mut shuffled = read(&at("small"));
        prop_assert!(records.len() < 100 || shuffled != records);
        let mut records = records;
        for records in [&mut records, &mut shuffled] {
            records.sort_by_key(|s| (s.game, s.board, s.ply, s.played, s.flags, s.fullmove, s.halfmove));
        }
        prop_assert_eq!(shuffled.len(), records.len());
        prop_assert!(shuffled.iter().map(Record::key).eq(records.iter().map(Record::key)));
    }

    #[test]
    fn a_split_never_has_a_game_in_two_parts(records in extracted(500), seed in any::<u64>(), share in 0.1f64..0.5) {
        let folder = tempfile::tempdir().unwrap();
        let dataset = write(&folder.path().join("x"), &records, Metadata::new(vec![], vec![], 0));
        let part = |name| SplitPart { name, share, output: folder.path().join(name) };
        let parts = [part("train"), part("test")];
        let done = split(RowGroups::Dataset(dataset), &parts, seed, &Target::default(), |_| {}).unwrap();
        prop_assert_eq!(done.read as usize, records.len());
        prop_assert_eq!(done.written.iter().map(|written| written.positions).sum::<u64>() + done.left_out, done.read);
        for (index, part) in parts.iter().enumerate() {
            let belongs = |s: &&Record| part_of(s.game, &parts, seed) == Some(index);
            let expected: Vec<Record> = records.iter().filter(belongs).copied().collect();
            prop_assert_eq!(read(&part.output), expected);
        }
    }
}
