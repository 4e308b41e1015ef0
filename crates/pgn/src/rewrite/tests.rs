//! Layouts of written games.

use super::*;
use crate::{GameSplitter, Parser};

fn rewritten(text: &str, how: &Rewrite) -> (String, u64) {
    rewritten_bytes(text.as_bytes(), how)
}

fn rewritten_bytes(text: &[u8], how: &Rewrite) -> (String, u64) {
    let mut splitter = GameSplitter::new();
    splitter.text().extend_from_slice(text);
    splitter.scan(true);
    let (text, games) = splitter.take();
    let (mut out, mut unread) = (String::new(), 0);
    for span in &games {
        let game = Parser::default().parse(&text, span, 0, &mut Vec::new());
        assert_eq!(game.error, None);
        unread += how.write(&mut out, &text, span, game.result);
    }
    (out, unread)
}

const GAME: &str = "[Event \"a \\\"b\\\"\"]\n[White \"x\"]\n[Result \"1-0\"]\n\n\
    1.e4! {+0.31/12 0.5s} e5?! $6 (1... c5 2. Nf3 (2. Nc3 Nc6) d6) 2 Qh5 Ke7 ; why }\n3.Qxe5# +- 1-0\n\n";

#[test]
fn nothing_is_lost_unless_asked() {
    let (text, unread) = rewritten(GAME, &Rewrite::default());
    let movetext = "1. e4! {+0.31/12 0.5s} e5?! $6 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) 2. Qh5 Ke7\n\
                    {why )} 3. Qxe5# +- 1-0\n\n";
    assert_eq!(text, format!("[Event \"a \\\"b\\\"\"]\n[White \"x\"]\n[Result \"1-0\"]\n\n{movetext}"));
    assert_eq!(unread, 0);
    // Rewriting again changes nothing.
    assert_eq!(rewritten(&text, &Rewrite::default()).0, text);
}

#[test]
fn parts_and_tags_go_and_notations_change() {
    let without = vec![Part::Comments, Part::Glyphs, Part::Variations];
    let tags = Some(vec!["White".to_string()]);
    let bare = Rewrite { notation: None, without, tags };
    let head = "[White \"x\"]\n[Result \"1-0\"]\n\n";
    assert_eq!(rewritten(GAME, &bare).0, format!("{head}1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n"));
    for (notation, moves) in [
        (Notation::San, "1. e4 e5 2. Qh5 Ke7 3. Qxe5#"),
        (Notation::Lan, "1. e2e4 e7e5 2. Qd1h5 Ke8e7 3. Qh5xe5#"),
        (Notation::Uci, "1. e2e4 e7e5 2. d1h5 e8e7 3. h5e5"),
    ] {
        let how = Rewrite { notation: Some(notation), ..bare.clone() };
        let (text, _) = rewritten(GAME, &how);
        assert_eq!(text, format!("{head}{moves} 1-0\n\n"));
        let how = Rewrite { notation: Some(Notation::San), ..bare.clone() };
        assert_eq!(rewritten(&text, &how).0, format!("{head}1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n"));
    }
}

#[test]
fn marks_after_a_space_stay_and_names_of_tags_are_made_sound() {
    let (text, _) = rewritten("[Event \"x\"][1\u{e9}t \"y\"]\n\n1. e4 !? e5 $ *\n", &Rewrite::default());
    assert_eq!(text, "[Event \"x\"]\n[X1_t \"y\"]\n[Result \"*\"]\n\n1. e4!? e5 $ *\n\n");
    let (text, _) = rewritten("[Event \"x\" y[Event \"z]\n\n1. e4 *\n", &Rewrite::default());
    assert_eq!(text, "[Event \"x\"]\n[Event_ \"z]\"]\n[Result \"*\"]\n\n1. e4 *\n\n");
}

#[test]
fn a_tag_in_a_comment_begins_no_game() {
    let text = "[Result \"*\"]\n\n1. e4 ; [Event \"x\"] {y\n e5 *\n";
    let (text, _) = rewritten(text, &Rewrite::default());
    assert!(text.ends_with("1. e4 {[Event \"x\"] (y} e5 *\n\n"), "{text}");
    assert_eq!(rewritten(&text, &Rewrite::default()).0, text);
}

#[test]
fn what_the_moves_need_stays() {
    let text = "[FEN \"1r2k1r1/6p1/8/8/8/8/6P1/1R2K1R1 b GBgb - 3 50\"]\n[Variant \"Chess960\"]\n\n50... O-O -- Rf7 *\n";
    let how = Rewrite { notation: Some(Notation::Uci), tags: Some(Vec::new()), ..Rewrite::default() };
    let (text, _) = rewritten(text, &how);
    assert!(text.starts_with("[FEN \"1r2"), "{text}");
    assert!(
        text.ends_with("[Variant \"Chess960\"]\n[Result \"*\"]\n\n50... e8g8 51. 0000 f8f7 *\n\n"),
        "{text}"
    );
}

#[test]
fn a_variation_that_cannot_be_read_becomes_a_comment() {
    let how = Rewrite { notation: Some(Notation::Uci), ..Rewrite::default() };
    let text = "[Result \"*\"]\n\n1. e4 (a  move, ; 1. Nf9\n {b}) (1. d4 d5 2. Ke5) () e5 *\n";
    let (text, unread) = rewritten(text, &how);
    let comments = "{variation: a move, ; 1. Nf9 {b)} {variation: 1. d4 d5 2. Ke5}\n{variation:}";
    assert!(text.ends_with(&format!("1. e2e4 {comments} e7e5 *\n\n")), "{text}");
    assert_eq!(unread, 3);
    let deep = format!("[Result \"*\"]\n\n1. e4 {} d4 {} *\n", "( 1. ".repeat(500), ")".repeat(500));
    rewritten(&deep, &Rewrite::default());
}

#[test]
fn text_is_utf8_and_long_comments_are_wrapped() {
    let words = "word % ".repeat(40);
    let text = format!("[White \"M\u{fc}ller\"]\n[Result \"*\"]\n\n1. e4 {{{words}}} {{}} *\n");
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let (text, _) = rewritten_bytes(&latin, &Rewrite::default());
    assert!(text.starts_with("[White \"Müller\"]"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    assert!(text.contains(" %} {} *\n") && !text.contains("\n%"), "{text}");
    assert_eq!(text.matches("word").count(), 40);
}
