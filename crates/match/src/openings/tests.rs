use super::*;
use patzer_io::Named;
use shakmaty::{EnPassantMode, Position, fen::Fen};

fn parse(text: &str) -> Result<Openings> {
    let options = BookOptions { order: Order::Sequential, ..BookOptions::default() };
    Openings::parse(text.as_bytes().to_vec(), Path::new("book"), options)
}

fn fen_of(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

#[test]
fn orders_have_the_names_that_journals_have() {
    let names = serde_json::to_string(Order::ALL).unwrap();
    assert_eq!(names, r#"["random","fastchess","sequential"]"#);
}

#[test]
fn epd_and_fen_lines_are_read() {
    let book = parse(
        "# a comment\n\
         rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n\n\
         4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 3; fmvn 40; id \"x\";\n\
         4k3/8/8/8/8/8/4R3/4K3 b - - 7 50\n\
         4k3/8/8/8/8/8/5R2/4K3 w - -; c1 x\0\n\
         4k3/8/8/8/8/8/3R4/4K3 b - - 5 20;\0\n",
    )
    .unwrap();
    let fens: Vec<String> = (0..5).map(|i| fen_of(&book.get(i, false))).collect();
    assert_eq!(fens[0], "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!(fens[1], "4k3/8/8/8/8/8/4P3/4K3 w - - 3 40");
    assert_eq!(fens[2], "4k3/8/8/8/8/8/4R3/4K3 b - - 7 50");
    assert_eq!(fens[3], "4k3/8/8/8/8/8/5R2/4K3 w - - 0 1");
    assert_eq!(fens[4], "4k3/8/8/8/8/8/3R4/4K3 b - - 5 20");
    assert_eq!(book.get(5, false), book.get(0, false), "after the last the first comes again");
}

#[test]
fn pgn_games_end_in_the_opening() {
    let book = parse("[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"b\"]\n\n1. d4 *\n").unwrap();
    assert_eq!(book.len(), 2);
    assert_eq!(fen_of(&book.get(0, false)), "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
}

#[test]
fn a_bad_line_is_named_and_left_out_and_a_book_of_bad_lines_is_an_error() {
    let good = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
    for (text, place) in [
        (format!("{good}\njunk\n"), "line 3"),
        (format!("{good}4k3/8/8/8/8/8/8/8 w - -\n"), "line 2"),
        (format!("{good}7k/6Q1/6K1/8/8/8/8/8 b - -\n"), "line 2: the game is over"),
        ("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. e5 *\n".to_string(), "game 2"),
        (
            "[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. e4 xx 2. d4 *\n".to_string(),
            "game 2, line 5: cannot read `xx`",
        ),
    ] {
        let book = parse(&text).unwrap();
        let bad = book.bad().unwrap();
        assert_eq!((book.len(), bad.count), (1, 1));
        assert!(bad.first.contains(place), "{bad:?}");
    }
    let book = parse(good).unwrap();
    assert!(book.bad().is_none() && book.newly_bad().is_none());
    for (text, says) in [("", "no opening"), ("# nothing\n", "no opening"), ("\njunk\nmore\n", "line 2")] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains(says), "{error}");
    }
}

/// A book of this many lines; the bad ones have no kings.
fn large(lines: usize, is_bad: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut text = String::new();
    for line in 0..lines {
        let kings = if is_bad(line) { "8" } else { "4k2K" };
        text += &format!("{kings}/8/8/8/8/8/P7/8 w - - hmvc 0; fmvn {};\n", line + 1);
    }
    text.into_bytes()
}

fn number(position: &Chess) -> u32 {
    position.fullmoves().get()
}

#[test]
fn lines_of_a_large_book_are_parsed_when_they_are_drawn_and_bad_ones_are_skipped() {
    let options = BookOptions { order: Order::Sequential, start: 3, as_is: true, ..BookOptions::default() };
    let count = SMALL + 100;
    let text = large(count, |line| line == 4 || line == 6 || line + 1 == count);
    let book = Openings::parse(text.clone(), Path::new("book"), options).unwrap();
    assert!(book.bad().is_none(), "line 5 has not been drawn");
    assert_eq!(book.len(), count);
    let drawn: Vec<u32> = (0..4).map(|pair| number(&book.get(pair, false))).collect();
    assert_eq!(drawn, [3, 4, 6, 8]);
    let (last, new) = book.newly_bad().unwrap();
    assert!(new == 2 && last.starts_with("book: line 7: "), "{last}");
    assert_eq!((book.newly_bad(), book.len()), (None, count - 2));
    assert!(book.bad().unwrap().first.starts_with("book: line 5: "));
    // After the last comes the first, whether drawn one by one or at once.
    let whole = Openings::parse(text, Path::new("book"), options).unwrap();
    whole.read_all();
    assert_eq!(whole.len(), count - 3);
    for pair in [count - 4, count - 3, 2 * count, 5, 1] {
        assert_eq!(book.get(pair, false), whole.get(pair, false), "{pair}");
    }
    assert_eq!((number(&book.get(count - 4, false)), number(&book.get(count - 3, false))), (2, 3));
}

#[test]
fn a_book_in_the_order_of_a_seed_begins_as_its_parsed_positions_would() {
    let text = large(SMALL + 1, |_| false);
    for (order, shuffle) in [
        (Order::Random, (|items, seed| Rng::new(seed).shuffle(items)) as fn(&mut [u32], u64)),
        (Order::Fastchess, |items, seed| mersenne::shuffle(items, seed)),
    ] {
        let options = BookOptions { order, seed: 9, start: 2, as_is: true, ..BookOptions::default() };
        let book = Openings::parse(text.clone(), Path::new("book"), options).unwrap();
        let mut numbers: Vec<u32> = (1..=SMALL as u32 + 1).collect();
        shuffle(&mut numbers, 9);
        let drawn: Vec<u32> = (0..50).map(|pair| number(&book.get(pair, false))).collect();
        assert_eq!(drawn, numbers[1..51]);
    }
}

#[test]
fn repeated_positions_are_dropped_however_they_are_written() {
    let book = parse(
        "4k2r/8/8/8/4P3/8/8/4K2R b Kk e3 0 1\n\
         4k2r/8/8/8/4P3/8/8/4K2R b Kk -\n\
         4k2r/8/8/8/4P3/8/8/4K2R  b  kK - hmvc 3;\n\
         4k2r/8/8/8/11P3/8/8/4K2R b Kk -\n\
         4k2r/8/8/8/4P3/8/8/4K2R b k -\n\
         4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1\n\
         4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1\n",
    )
    .unwrap();
    let fens: Vec<String> = (0..book.len()).map(|pair| fen_of(&book.get(pair, false))).collect();
    assert_eq!(book.bad().map(|bad| bad.count), Some(1));
    assert_eq!(fens.len(), 4, "{fens:?}");
}

#[test]
fn repeated_openings_are_shuffled_as_by_fastchess() {
    let text: String =
        [1, 2, 1, 3, 2, 4].map(|file| format!("4k3/8/8/8/8/8/{file}P{}/4K3 w - - 0 1\n", 7 - file)).concat();
    let load = |text: &str, order, as_is| {
        let options = BookOptions { order, seed: 7, as_is, ..BookOptions::default() };
        Openings::parse(text.as_bytes().to_vec(), Path::new("book"), options).unwrap()
    };
    let order = |book: &Openings| (0..6).map(|pair| fen_of(&book.get(pair, false))).collect::<Vec<_>>();
    let book = load(&text, Order::Fastchess, false);
    assert!(book.repeats());
    assert_eq!(order(&book), order(&load(&text, Order::Fastchess, true)));
    assert_eq!((load(&text, Order::Random, false).len(), book.len()), (4, 6));
    let once = text.lines().nth(3).unwrap();
    assert!(!load(once, Order::Fastchess, false).repeats());
}

#[test]
fn the_seed_alone_decides_the_order() {
    let order = |seed| {
        let book = Openings::load(BookOptions { seed, ..BookOptions::default() }).unwrap();
        (0..20).map(|i| book.get(i, false).clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn the_built_in_book_is_balanced_in_material_and_playable() {
    let book = Openings::load(BookOptions { order: Order::Sequential, ..BookOptions::default() }).unwrap();
    assert!(book.len() >= 500);
    for i in 0..book.len() {
        assert!(!book.get(i, false).is_check());
    }
}

#[test]
fn a_second_round_through_the_book_begins_from_other_positions() {
    let book = Openings::load(BookOptions { seed: 5, ..BookOptions::default() }).unwrap();
    let mut seen = HashSet::new();
    for pair in 0..3 * book.len() {
        let position = book.get(pair, true);
        assert!(!position.legal_moves().is_empty());
        seen.insert(position.clone());
        assert_eq!(position, book.get(pair, true), "always the same for a pair");
    }
    assert!(seen.len() * 100 > 3 * book.len() * 98, "{} of {}", seen.len(), 3 * book.len());
    assert_eq!(book.get(book.len() + 3, false), book.get(3, false));
}

#[test]
fn a_book_as_it_is_keeps_repeats_and_begins_again_unchanged() {
    let line = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n";
    let text = format!("{line}{line}4k3/8/8/8/8/8/4P3/4K3 w - -\n");
    let options = BookOptions { as_is: true, start: 5, ..BookOptions::default() };
    let book = Openings::parse(text.into_bytes(), Path::new("book"), options).unwrap();
    assert_eq!(book.len(), 3);
    assert_eq!(book.get(0, true), book.get(3, true));
    assert_eq!(book.get(2, true), book.get(3, true), "the first two are the same");
    let start = Openings::start_position();
    assert_eq!((start.len(), start.get(7, true)), (1, Chess::default()));
}

#[test]
fn a_game_can_be_left_after_so_many_plies() {
    let text = "[Event \"a\"]\n\n1. e4 e5 2. Nf3 *\n".to_string().into_bytes();
    let after = |plies| {
        let options = BookOptions { plies: Some(plies), ..BookOptions::default() };
        fen_of(&Openings::parse(text.clone(), Path::new("book"), options).unwrap().get(0, false))
    };
    assert_eq!(after(1), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    assert_eq!(after(3), after(40), "a shorter game ends in the opening");
}

#[test]
fn the_first_pair_begins_where_it_is_told() {
    let from =
        |start| Openings::load(BookOptions { start, order: Order::Sequential, ..BookOptions::default() });
    assert_eq!(from(4).unwrap().get(0, false), from(1).unwrap().get(3, false));
    let last = from(1).unwrap().len();
    assert_eq!(from(last).unwrap().get(1, false), from(1).unwrap().get(0, false));
    assert!(from(last + 1).is_err());
}

#[test]
fn one_opening_of_chess960_makes_a_book_of_it() {
    let standard = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    let book = parse(standard).unwrap();
    assert!(book.get(0, false).castles().mode().is_standard());
    let frc = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq -\n";
    let book = parse(&format!("{standard}{frc}")).unwrap();
    assert!((0..2).all(|i| book.get(i, false).castles().mode().is_chess960()));
}

#[test]
fn a_game_without_moves_is_the_position_of_its_tag_unless_it_is_of_another_variant() {
    let game = |variant: &str| {
        format!("[Event \"a\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Variant \"{variant}\"]\n\n*\n\n")
    };
    for variant in ["Standard", "From Position", "Chess960", "Fischer Random"] {
        let book = parse(&game(variant)).unwrap();
        assert_eq!(fen_of(&book.get(0, false)), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "{variant}");
    }
    let book = parse(&[game("Standard"), game("Atomic")].concat()).unwrap();
    let bad = book.bad().unwrap();
    assert_eq!((book.len(), bad.count), (1, 1));
    assert!(bad.first.contains("is neither standard chess nor Chess960"), "{}", bad.first);
}
