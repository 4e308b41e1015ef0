//! Properties of positions: cutting, choosing.

use patzer_pgn::GameSplitter;
use proptest::prelude::*;

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
    let mut cutter = GameSplitter::new();
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
}
