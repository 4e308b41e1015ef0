use super::*;

/// Every game's text and line, with the bytes arriving `step` at a time and taken as soon as possible.
fn split(text: &str, step: usize) -> Vec<(String, u64)> {
    let mut splitter = GameSplitter::new();
    let mut games = Vec::new();
    let mut take = |splitter: &mut GameSplitter| {
        let (text, spans) = splitter.take();
        games.extend(
            spans.iter().map(|p| (String::from_utf8_lossy(&text[p.start..p.end]).into_owned(), p.line)),
        );
    };
    for bytes in text.as_bytes().chunks(step) {
        splitter.text().extend_from_slice(bytes);
        splitter.scan(false);
        take(&mut splitter);
    }
    splitter.scan(true);
    take(&mut splitter);
    games
}

fn starts(text: &str) -> Vec<u64> {
    let whole = split(text, usize::MAX);
    for step in [1, 2, 7, 64] {
        assert_eq!(split(text, step), whole, "arriving {step} bytes at a time");
    }
    whole.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn games_start_where_their_text_says() {
    for (text, expected) in [
        // Blank lines are counted, also before the first game.
        ("\n \r\n\n\n  \n[Event \"a\"]\n\n1. e4 *\n\n\t\n\n[Event \"b\"]\n\n\n\n*", &[6, 12][..]),
        // A tag after movetext starts a game.
        ("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n", &[1, 5]),
        ("\u{feff}[Event \"a\"]\r\n\r\n1. e4 *\r\n\r\n[Site \"b\"]\r\n\r\n*", &[1, 5]),
        ("[Event \"a\"]\n1. e4 *\n[White \"b\"]\n1. d4 *", &[1, 3]),
        // A game without movetext ends at the next event.
        ("[Event \"a\"]\n[Site \"x\"]\n\n[Event \"b\"]\n\n*\n", &[1, 4]),
        ("[Event \"a\"]\n[Event \"b\"]\n\n*\n", &[1, 2]),
        ("[White \"a\"]\n[Event \"b\"]\n\n*\n", &[1]),
        // A comment may contain text like a game.
        ("[Event \"a\"]\n\n1. e4 {see\n\n[Event \"x\"]\n\n1. d4} e5 *\n\n[Event \"b\"]\n\n*", &[1, 9]),
        ("[Event \"a\"]\n\n1. e4 {x\n[%eval 0.2]\n[Site \"x\"]} e5 *\n", &[1]),
        // An unclosed comment ends with its game.
        ("[Event \"a\"]\n\n1. e4 {oh\n\n[Event \"b\"]\n\n1. d4 {x} *\n", &[1, 5]),
        ("[Event \"a\"]\n\n1. e4 {oh\n\n[Event \"b\"]\n\n1. d4 *\n", &[1, 5]),
        // After a result and a blank line: the second game has lost its tags; rubbish follows as a third.
        ("[Event \"a\"]\n\n1. e4 {x} 1-0\n\n1. d4 *\n\nSent from a telephone\n\n", &[1, 5, 7]),
        // A comment on the ended game is not a new one; nor is movetext that continues without a result.
        ("[Event \"a\"]\n\n1. e4 1-0\n\n{a fine game}\n", &[1]),
        ("[Event \"a\"]\n\n1. e4\n\n1... e5 1-0\n", &[1]),
        // A line that needs more text is scanned again.
        ("[Event \"a\"]\n\n1. e4 1-0\n\n [%clk 1] } e5 { (x [Event \"b\"]\n\n1. d4 *\n", &[1, 5, 5]),
        ("[Event \"a\"]\n\n1. e4 1-0\n\n[b c] e5 { (x [Event \"b\"]\n\n1. d4 *\n", &[1, 5, 5]),
        // A lost line end does not hide a game.
        ("[Event \"a\"]\n\n1. e4 {[Event \"x\"]} 1-0 [Event \"b\"]\n[Site \"b\"]\n\n1. d4 *\n", &[1, 3]),
        // A value that ends as a tag begins is none.
        ("[Event \" N [Event \"]\n[Site \"x\"]\n\n1. e4 *\n", &[1]),
        // A comment with many texts like a game, and one that ends between them.
        (
            "[Event \"a\"]\n\n1. e4 {[Event \"x\"] [Event \"y\"] } { [Event \"z\"]} {[Event \"b\"] {\n\n*",
            &[1, 3],
        ),
        // A comment between tags is no movetext, whatever it holds.
        ("[Event \"a\"]\n; [Event \"x\"]\n[FEN \"y\"]\n;{\n\n1. e4 *\n\n[Event \"b\"]\n\n*", &[1, 8]),
        ("; x\n[White \"a\"]\n; x\n[Event \"b\"]\n; x\n1. e4 *\n[Event \"b\"]\n\n*", &[2, 7]),
        // After a blank line it belongs to the movetext.
        ("[Event \"a\"]\n\n; x\n[Event \"b\"]\n\n*", &[1, 4]),
        // Braces in tags and line comments are ignored.
        ("[Event \"{\"]\n\n1. e4 ; {\n% {\n*\n\n[Event \"b\"]\n\n*\n", &[1, 7]),
    ] {
        assert_eq!(starts(text), expected, "{text:?}");
    }
    let open = " ".repeat(2 * LOOK_AHEAD);
    let long = format!("[Event \"a\"]\n\n1. e4 {{oh\n\n[Event \"b\"]\n\n1. d4 {open}*\n}}");
    assert_eq!(split(&long, 1000).iter().map(|g| g.1).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn text_before_the_first_game_is_not_kept() {
    let mut splitter = GameSplitter::new();
    for _ in 0..100 {
        splitter.text().extend_from_slice(&b"\n; note\n".repeat(100));
        splitter.scan(false);
        assert!(splitter.unfinished() == 0);
    }
    splitter.text().extend_from_slice(b"*");
    splitter.scan(true);
    let (text, games) = splitter.take();
    assert_eq!((&text[..], games[0].start, games[0].end), (&b"*"[..], 0, 1));
    assert_eq!(games[0].line, 20_001);
}

#[test]
fn spans_cover_the_text_and_mark_the_movetext() {
    let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n[Event \"c\"]\n\n*\n";
    let mut splitter = GameSplitter::new();
    splitter.text().extend_from_slice(text);
    splitter.scan(true);
    let (taken, spans) = splitter.take();
    assert_eq!(taken, text);
    assert!(spans.windows(2).all(|pair| pair[0].end == pair[1].start));
    let movetexts: Vec<&[u8]> = spans.iter().map(|p| &text[p.movetext..p.end]).collect();
    assert_eq!(movetexts, [&b"1. e4 *\n\n"[..], b"", b"*\n"]);
}
