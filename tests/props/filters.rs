//! Properties of every filter of the registry: the same answer wherever it is asked, and counts that add up.

use std::collections::BTreeMap;

use patzer_chess::{PackedBoard, PackedMove};
use patzer_data::filter::{Build, FilterRow, GameTags, ParamKind, ParamValues, Pipeline, rows};
use patzer_data::{Dataset, Metadata, Record, Writer, flags};
use patzer_formats::EMPTY;
use proptest::prelude::*;
use shakmaty::{Chess, Color, Position};

/// A position that random legal moves lead to, so that boards are real.
fn board() -> impl Strategy<Value = (PackedBoard, Color)> {
    prop::collection::vec(any::<u8>(), 0..80).prop_map(|choices| {
        let mut position = Chess::default();
        for choice in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play_unchecked(moves[usize::from(choice) % moves.len()]);
        }
        (PackedBoard::pack(&position), position.turn())
    })
}

fn record() -> impl Strategy<Value = Record> {
    let score = prop::option::of(prop_oneof![-32_000i16..=32_000, -100i16..=100]);
    let numbers = (any::<u8>(), 1u16..300, 0u16..600, 0u32..50, prop::option::of(any::<u8>()));
    (board(), any::<u16>(), any::<[u8; 3]>(), -1i8..=1, score, numbers, any::<u16>()).prop_map(
        |((board, turn), bits, distances, result, score, (halfmove, fullmove, ply, game, depth), played)| {
            Record {
                board,
                turn,
                halfmove,
                fullmove,
                ply,
                game,
                result,
                score,
                depth,
                played: PackedMove(played),
                flags: bits & (flags::PLACEHOLDER * 2 - 1),
                to_capture: distances[0],
                to_check: distances[1],
                to_end: distances[2],
                ..EMPTY
            }
        },
    )
}

fn tags() -> impl Strategy<Value = GameTags> {
    let tag = prop::sample::select(vec!["normal", "time forfeit", "illegal move", "adjudication", "?"]);
    (0u16..4000, 0u16..4000, 0u32..10_000, tag).prop_map(|(white, black, seconds, end)| {
        let text = format!(
            "[WhiteElo \"{white}\"]\n[BlackElo \"{black}\"]\n[TimeControl \"{seconds}+1\"]\n[Termination \"{end}\"]\n"
        );
        GameTags::of(text.as_bytes(), b"")
    })
}

/// Values for a row's parameters, all within their ranges, as overrides and as the row takes them.
fn values(row: &'static FilterRow, numbers: &[u64]) -> Option<(Vec<String>, ParamValues)> {
    let mut numbers = numbers.iter().cycle();
    let mut values = row.defaults();
    let mut texts = Vec::new();
    for p in row.params {
        let one = |number: u64| match p.kind {
            ParamKind::Whole((low, high), _) => (low + (number % (high - low + 1) as u64) as i64).to_string(),
            ParamKind::Real((low, high), _) => {
                (low + (high - low) * (number % 1001) as f64 / 1000.0).to_string()
            }
            ParamKind::Switch(_) => number.is_multiple_of(2).to_string(),
            ParamKind::Choice(words) => words[number as usize % words.len()].to_string(),
            ParamKind::Text(default) if p.name == "signatures" => {
                [default, "KP*vK", "KRP*vKRP*, KPKP", "*vKQ+"][number as usize % 4].to_string()
            }
            ParamKind::Text(default) if row.name == "eco" => {
                [default, "B", "c4", "D99"][number as usize % 4].to_string()
            }
            ParamKind::Text(default) if row.name == "date" => {
                [default, "2020", "1999-12", "2021.6.30"][number as usize % 4].to_string()
            }
            ParamKind::Text(default) => [default, "*a*", "2020", "C"][number as usize % 4].to_string(),
            ParamKind::File => "fixtures/perft.epd".to_string(),
        };
        let list: Vec<String> = (0..p.kind.count()).map(|_| one(*numbers.next().unwrap())).collect();
        let text = list.join(",");
        row.set_text(&mut values, p.name, &text).unwrap();
        texts.push(format!("{}.{}={text}", row.name, p.name));
    }
    // A `min` may lie above its `max`.
    Pipeline::for_games(&[row.name.to_string()], &texts).is_ok().then_some((texts, values))
}

fn pipeline(row: &FilterRow, overrides: &[String]) -> Pipeline {
    Pipeline::for_games(&[row.name.to_string()], overrides).unwrap()
}

fn stored(records: &[Record]) -> Vec<Record> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let mut writer = Writer::create(&path, Metadata::new(vec![], vec![], 0)).unwrap();
    writer.write(records).unwrap();
    writer.finish().unwrap();
    Dataset::open(&path).unwrap().read_all().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the values, a filter gives the same answer twice, before and after the dataset, and drops under its
    /// own name; read is kept and dropped together.
    #[test]
    fn every_filter_says_the_same_at_extract_and_on_the_dataset(
        records in prop::collection::vec(record(), 1..12),
        tags in tags(),
        numbers in prop::collection::vec(any::<u64>(), 64),
    ) {
        let later = stored(&records);
        for row in rows() {
            let Some((overrides, _)) = values(row, &numbers) else { continue };
            let (mut at_extract, mut again) = (pipeline(row, &overrides), pipeline(row, &overrides));
            let whole = at_extract.halves().0.keep_game(&tags);
            prop_assert_eq!(whole, again.halves().0.keep_game(&tags));
            prop_assert!(whole.is_ok() || (matches!(row.build, Build::Game(_)) && whole == Err(row.name)));
            let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
            for (record, later) in records.iter().zip(&later) {
                let answer = at_extract.keep(record);
                prop_assert_eq!(answer, again.keep(later), "{}", row.name);
                prop_assert!(answer.is_ok() || answer == Err(row.name));
                *counts.entry(answer.err()).or_default() += 1;
            }
            prop_assert_eq!(counts.values().sum::<usize>(), records.len());
        }
    }

    #[test]
    fn a_stricter_window_never_keeps_more(record in record(), plies in 1i64..255) {
        for row in rows().filter(|row| row.name.starts_with("before_")) {
            if let Build::Position(build) = row.build {
                let window = |plies: i64| build([("plies".into(), plies.into())].into_iter().collect()).unwrap();
                prop_assert!(window(plies)(&record) || !window(plies + 1)(&record), "{}", row.name);
            }
        }
    }

    #[test]
    fn a_wider_range_never_keeps_less(record in record(), numbers in prop::collection::vec(any::<u64>(), 8)) {
        for row in rows().filter(|row| row.params.iter().any(|p| p.name == "min")) {
            let (Build::Position(build), Some((_, narrow))) = (&row.build, values(row, &numbers)) else { continue };
            let mut wide = narrow.clone();
            wide["min"] = row.defaults()["min"].clone();
            prop_assert!(build(wide).unwrap()(&record) || !build(narrow).unwrap()(&record), "{}", row.name);
        }
    }

    /// A filter that draws keeps the same positions when they come in another order or in parts.
    #[test]
    fn draws_do_not_depend_on_the_order(records in prop::collection::vec(record(), 2..12)) {
        for name in ["random_skip", "early_skip", "wdl_skip", "piece_target"] {
            let row = rows().find(|row| row.name == name).unwrap();
            let (mut forwards, mut backwards) = (pipeline(row, &[]), pipeline(row, &[]));
            let ahead: Vec<bool> = records.iter().map(|s| forwards.keep(s).is_ok()).collect();
            let mut back: Vec<bool> = records.iter().rev().map(|s| backwards.keep(s).is_ok()).collect();
            back.reverse();
            prop_assert_eq!(ahead, back);
        }
    }
}
