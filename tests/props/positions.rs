//! Properties of positions: cutting, filtering, choosing.

use std::sync::LazyLock;

use patzer::chess::packed::NO_EP;
use patzer::chess::{PackedBoard, PackedMove};
use patzer::pgn::Cutter;
use patzer::positions::filter::Pipeline;
use patzer::positions::filter::registry::{Make, ROWS};
use patzer::positions::{Sample, flags};
use proptest::prelude::*;
use shakmaty::{Chess, Color};

/// Pieces of text from which games, and damage to them, are made.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "[Event \"x\"]\n",
        "[Site \"{\"]\n",
        "\n",
        "\r\n",
        "1. e4 e5 ",
        "{",
        "}",
        "; {\n",
        "%}\n",
        "(",
        ")",
        "1-0\n",
        "[%eval 1]\n",
        "\u{feff}",
    ])
}

fn cut(text: &[u8], steps: &[usize]) -> Vec<(Vec<u8>, u64)> {
    let mut cutter = Cutter::new();
    let mut games = Vec::new();
    let (mut at, mut steps) = (0, steps.iter().cycle());
    while at < text.len() {
        let end = (at + steps.next().unwrap()).min(text.len());
        cutter.text().extend_from_slice(&text[at..end]);
        cutter.scan(end == text.len());
        let (text, pieces) = cutter.take();
        games.extend(pieces.iter().map(|p| (text[p.start..p.end].to_vec(), p.line)));
        at = end;
    }
    games
}

/// A preset file that uses this filter alone, with its defaults.
fn preset_of(filter: &str) -> String {
    static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());
    let path = FOLDER.path().join(format!("{filter}.toml"));
    if !path.exists() {
        let text =
            format!("name = \"{filter}\"\ndescription = \"one row\"\n\n[[filter]]\nuse = \"{filter}\"\n");
        std::fs::write(&path, text).unwrap();
    }
    path.display().to_string()
}

fn sample() -> impl Strategy<Value = Sample> {
    (any::<u16>(), any::<[u8; 3]>(), -1i8..=1, any::<u64>()).prop_map(
        |(bits, distances, result, occupied)| {
            let mut board = PackedBoard::pack(&Chess::default());
            board.0[..8].copy_from_slice(&occupied.to_le_bytes());
            Sample {
                board,
                turn: Color::White,
                ep: NO_EP,
                halfmove: 0,
                fullmove: 1,
                ply: 0,
                game: 0,
                result,
                score: None,
                depth: None,
                played: PackedMove::NONE,
                flags: bits & (flags::CHESS960 * 2 - 1),
                to_capture: distances[0],
                to_check: distances[1],
                to_end: distances[2],
                leaf: None,
                mean: None,
            }
        },
    )
}

proptest! {
    #[test]
    fn cuts_do_not_depend_on_how_the_bytes_arrive(
        parts in prop::collection::vec(fragment(), 1..60),
        steps in prop::collection::vec(1usize..40, 1..8),
    ) {
        let text = parts.concat();
        let whole = cut(text.as_bytes(), &[usize::MAX / 2]);
        prop_assert_eq!(&cut(text.as_bytes(), &steps), &whole);
        // Nothing but what stands before the first game is lost.
        let joined: Vec<u8> = whole.iter().flat_map(|(text, _)| text.clone()).collect();
        prop_assert!(text.as_bytes().ends_with(&joined));
    }

    #[test]
    fn a_stricter_window_never_keeps_more(sample in sample(), plies in 1u8..255) {
        for row in ROWS.iter().filter(|row| row.parameters.iter().any(|p| p.name == "plies")) {
            if let Make::Stateless(make) = row.make {
                prop_assert!(make(&[plies]).keeps(&sample) || !make(&[plies + 1]).keeps(&sample), "{}", row.name);
            }
        }
    }

    /// A preset of one row drops what the row's filter does not keep, and under the row's name.
    #[test]
    fn every_row_of_the_registry_drops_under_its_own_name(sample in sample()) {
        for row in ROWS {
            let mut pipeline = Pipeline::new(&[preset_of(row.name)], &[]).unwrap();
            let verdict = pipeline.keep(&sample);
            match row.make {
                Make::Stateless(make) => {
                    let kept = make(&row.defaults()).keeps(&sample);
                    prop_assert_eq!(verdict, if kept { Ok(()) } else { Err(row.name) });
                }
                _ => {
                    prop_assert_eq!(verdict, Ok(()), "the first of equal positions stays");
                    prop_assert_eq!(pipeline.keep(&sample), Err(row.name));
                }
            }
        }
    }
}
