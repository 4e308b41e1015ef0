use super::*;
use crate::GameSplitter;
use crate::{FAR, flags};

fn split(text: &str) -> (Vec<u8>, Vec<GameSpan>) {
    let mut splitter = GameSplitter::new();
    splitter.text().extend_from_slice(text.as_bytes());
    splitter.scan(true);
    splitter.take()
}

fn games(text: &str) -> Vec<(Vec<Record>, Option<i8>, Option<String>)> {
    let (text, spans) = split(text);
    let mut parser = Parser::default();
    let read = |span| {
        let mut records = Vec::new();
        let game = parser.parse(&text, span, 0, &mut records);
        (records, game.result, game.error.map(|f| f.reason))
    };
    spans.iter().map(read).collect()
}

fn game(text: &str) -> (Vec<Record>, Option<i8>, Option<String>) {
    games(text).remove(0)
}

#[test]
fn distances_count_the_plies_before_the_event() {
    let (records, result, error) =
        game("1. e4 d5 2. exd5 Nf6 3. Bb5+ Bd7 4. Bc4 Bg4 5. f3 Bf5 6. g4 Bg6 7. h4 h5 1-0");
    assert_eq!((result, error), (Some(1), None));
    let far = FAR;
    let column = |field: fn(&Record) -> u8| records.iter().map(field).collect::<Vec<_>>();
    assert_eq!(column(|s| s.to_capture)[..4], [2, 1, 0, far]);
    assert_eq!(column(|s| s.to_check)[..6], [4, 3, 2, 1, 0, far]);
    assert_eq!(column(|s| s.to_end), [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let with = |bit| records.iter().filter(|s| s.has(bit)).map(|s| s.ply).collect::<Vec<_>>();
    assert_eq!(with(flags::CAPTURE), [2]);
    assert_eq!(with(flags::GIVES_CHECK), [4]);
    assert_eq!(with(flags::IN_CHECK), [5]);
    assert_eq!(with(flags::MATE_END), [0u16; 0]);
}

#[test]
fn every_record_of_a_mated_game_has_the_mate_flag() {
    let (records, ..) = game("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0");
    assert_eq!(records.len(), 7);
    assert!(records.iter().all(|s| s.has(flags::MATE_END)));
}

#[test]
fn the_result_tag_counts_before_the_movetext() {
    for (text, result) in [
        ("[Result \"0-1\"]\n\n1. e4 1-0", Some(-1)),
        ("[Result \"*\"]\n\n1. e4 1-0", Some(1)),
        ("[Event \"x\"]\n\n1. e4 1/2-1/2", Some(0)),
        ("[Result \"1-0\"]\n\n1. e4", Some(1)),
        ("[Result \"?\"]\n\n1. e4 *", None),
    ] {
        assert_eq!(game(text).1, result, "{text}");
    }
}

#[test]
fn a_long_comment_is_read_whole() {
    let text = format!("1. e4 {{d=9, pv={} wv=0.50,}} e5 1-0", "Nf3 ".repeat(20_000) + ",");
    let (records, _, error) = game(&text);
    assert_eq!(error, None);
    assert_eq!((records[0].score, records[0].depth), (Some(50), Some(9)));
    assert_eq!(records.len(), 2);
}

#[test]
fn zeros_that_a_crash_left_are_blanks() {
    let all = games("[Event \"x\"]\n\n1. e4 1-0\n\n\0\0\0[Event \"y\"]\n\n1. d4 0-1\n\n\0\0\0\0");
    let found: Vec<_> = all.iter().map(|(records, result, error)| (records.len(), *result, error)).collect();
    assert_eq!(found, [(1, Some(1), &None), (1, Some(-1), &None)]);
}

#[test]
fn a_blank_line_before_the_first_move_is_valid() {
    let (records, _, error) = game("[Event \"x\"]\n\n{a comment on its own}\n\n1. e4 e5 1-0");
    assert_eq!((records.len(), error), (2, None));
}

#[test]
fn a_fault_has_its_line() {
    for (text, line) in [
        ("[Event \"x\"]\n\n1. e4 e5\n2. Zf6 1-0", 4),
        ("[Event \"x\"]\n\n1. e4\ne5\n2. e4 1-0", 5),
        ("[Event \"x\"]\n\n1. e4 {a}\n{b\n e5 1-0", 4),
        ("[Event \"x\"]\n\n\n1. e4 (\n e5 1-0", 1),
    ] {
        let (bytes, spans) = split(text);
        let game = Parser::default().parse(&bytes, &spans[0], 0, &mut Vec::new());
        let error = game.error.unwrap();
        assert_eq!((error.line, error.fault_line), (1, line), "{text}");
    }
}

#[test]
fn an_unreadable_token_ends_the_game() {
    // Without `Zf6` the moves that follow are legal, for the wrong sides.
    let (records, _, error) = game("1. e4 e5 2. Zf6 d3 3. d6 1-0");
    assert_eq!(records.len(), 2);
    assert!(error.is_some_and(|f| f.contains("Zf6")));
}

#[test]
fn moves_are_read_in_every_notation() {
    let plain =
        game("1. e4 d5 2. exd5 c5 3. dxc6 Nf6 4. cxb7 Nbd7 5. bxa8=N e5 6. Nf3 Bd6 7. Bc4 O-O 8. O-O 1-0").0;
    assert_eq!(plain.len(), 15);
    for text in [
        "1. e2-e4 d7-d5 2. e4xd5 c7-c5 3. d5xc6 e.p. Ng8-f6 4. c6xb7 Nb8-d7 5. b7xa8=N e7-e5 6. Ng1-f3 Bf8-d6 7. Bf1-c4 0-0 8. O-O 1-0",
        "e2e4 d7d5 e4d5 c7c5 d5c6 g8f6 c6b7 b8d7 b7a8n e7e5 g1f3 f8d6 f1c4 e8g8 e1g1 1-0",
        "e2e4 d7d5 e4d5 c7c5 d5c6 g8f6 c6b7 b8d7 b7a8n e7e5 g1f3 f8d6 f1c4 e8h8 e1h1 1-0",
        "1.e4! = d5 +- 2.ed5 $1c5 3.dc6ep Nf6 4.cb7?! Nbd7 5.ba8N e5 ± 6.Ng1f3 Bd6 7.Bc4 o-o 8.0-0 1:0",
        "1. Pe4 d5 2. e:d5 c5 3. d:c6 e. p. Nf6 4. c:b7 Nbd7 5. b:a8/N e5 6. Nf3 Bd6 7. Bc4 O-O 8. O-O+ 1–0",
    ] {
        let (records, result, error) = game(text);
        assert_eq!((result, error), (Some(1), None), "{text}");
        assert!(records == plain, "{text}");
    }
}

#[test]
fn a_null_move_is_a_ply_without_a_record() {
    for null in ["--", "Z0", "0000", "null"] {
        let (records, _, error) = game(&format!("1. e4 {null} {{+9.00/9 1s}} 2. d4 d5 3. exd5 1-0"));
        assert_eq!(error, None, "{null}");
        assert_eq!(records.iter().map(|s| s.ply).collect::<Vec<_>>(), [0, 2, 3, 4]);
        assert_eq!(records.iter().map(|s| s.to_capture).collect::<Vec<_>>(), [4, 2, 1, 0]);
        assert_eq!(records.iter().map(|s| s.to_end).collect::<Vec<_>>(), [4, 2, 1, 0]);
        assert_eq!(records[0].score, None);
        let position = records[1].position().unwrap();
        assert_eq!(
            shakmaty::fen::Fen::from_position(&position, shakmaty::EnPassantMode::Legal).to_string(),
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2"
        );
    }
    let (records, _, error) = game("1. e4 f5 2. Qh5+ -- 3. Qxe8 1-0");
    assert_eq!(records.len(), 3);
    assert!(error.is_some_and(|f| f.contains("2... -- in check")));
}

#[test]
fn conflicting_results_are_decided_by_the_board_then_the_tag() {
    for (text, result, conflict) in [
        ("[Result \"1-0\"]\n\n1. f3 e5 2. g4 Qh4# 1-0", Some(-1), Some(ResultConflict::Checkmate)),
        ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 1/2-1/2", Some(-1), Some(ResultConflict::Checkmate)),
        ("[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1", Some(-1), None),
        ("1. f3 e5 2. g4 Qh4#", Some(-1), None),
        ("[Result \"1-0\"]\n\n1. e4 0-1", Some(1), Some(ResultConflict::Tag)),
        ("[Result \"1-0\"]\n\n1. e4 *", Some(1), Some(ResultConflict::Tag)),
        ("[Result \"1-0\"]\n\n1. e4", Some(1), None),
        ("[Result \"*\"]\n\n1. e4 0-1", Some(-1), Some(ResultConflict::Movetext)),
        ("1. e4 0-1", Some(-1), None),
        ("[Result \"*\"]\n\n1. e4 *", None, None),
        ("[Result \"*\"]\n\n1. f3 e5 2. g4 Qh4# *", Some(-1), None),
        (
            "[Result \"1-0\"]\n[FEN \"7k/8/5KQ1/8/8/8/8/8 w - - 0 1\"]\n\n1. Kf7 1-0",
            Some(0),
            Some(ResultConflict::Stalemate),
        ),
    ] {
        let (bytes, spans) = split(text);
        let game = Parser::default().parse(&bytes, &spans[0], 0, &mut Vec::new());
        assert_eq!((game.result, game.conflict), (result, conflict), "{text}");
    }
}

#[test]
fn movetext_without_tags_must_start_at_move_one() {
    let read = games("[Event \"a\"]\n\n1. e4 e5 1-0\n\n2. Nf3 Nc6 1-0\n\n1. d4 0-1\n");
    assert_eq!(read.iter().map(|g| g.0.len()).collect::<Vec<_>>(), [2, 0, 1]);
    assert!(read[1].2.as_ref().is_some_and(|f| f.contains("no tags")));
}

#[test]
fn a_broken_game_does_not_affect_the_next_one() {
    let text = "[Event \"a\"]\n\n1. e4 {[%eval 3.0]} e5 2. Ke3 {x\n\n[Event \"b\"]\n\n1. d4 d5 1-0\n";
    let read = games(text);
    assert!(read[0].2.is_some());
    assert_eq!(read[1].2, None);
    assert_eq!(read[1].0.len(), 2);
    assert_eq!(read[1].0[0].score, None);
}

#[test]
fn visits_of_comments_are_read_where_they_are_wanted() {
    let text = "[Result \"1-0\"]\n\n1. e4 {+0.20/3 0.000s, visits=\"d2d4:2 e2e4:120\"} e5 2. Nf3\n{book}\n{x, visits=\"g1f3:1\"} 1-0\n";
    let (bytes, spans) = split(text);
    let mut parser = Parser { visits: Some(Vec::new()), ..Parser::default() };
    let mut records = Vec::new();
    assert_eq!(parser.parse(&bytes, &spans[0], 0, &mut records).error, None);
    let packed = |from: u16, to: u16| patzer_chess::PackedMove(from | to << 6);
    assert_eq!(
        parser.visits,
        Some(vec![vec![(packed(12, 28), 120), (packed(11, 27), 2)], vec![], vec![(packed(6, 21), 1)]])
    );
    assert_eq!(records[0].score, Some(20));
    for (bad, reason) in [
        ("e2e5:1", "visits that are none: `e2e5:1`"),
        ("e2e4", "visits that are none: `e2e4`"),
        ("e2e4:-1", "visits that are none: `e2e4:-1`"),
        ("e2e4:0", "no visit of the move from e2 to e4"),
        ("e2e4:1 e2e4:2", "visits twice of the move from e2 to e4"),
    ] {
        let (bytes, spans) = split(&text.replace("d2d4:2 e2e4:120", bad));
        let error = parser.parse(&bytes, &spans[0], 0, &mut Vec::new()).error.unwrap();
        assert_eq!((error.reason.as_str(), error.fault_line), (reason, 3), "{bad}");
        // Whoever does not ask for them is not disturbed by them.
        assert_eq!(Parser::default().parse(&bytes, &spans[0], 0, &mut Vec::new()).error, None);
    }
    let (bytes, spans) = split("[Result \"1-0\"]\n\n1. d4 1-0\n");
    parser.parse(&bytes, &spans[0], 0, &mut Vec::new());
    assert_eq!(parser.visits, Some(vec![vec![]]));
}
