//! Tests of the evaluation as a whole.

use super::*;
use shakmaty::fen::Fen;

fn board(fen: &str) -> (Board, Color) {
    let setup = fen.parse::<Fen>().unwrap().into_setup();
    (setup.board, setup.turn)
}

/// How often a weight counts, White's minus Black's.
fn counts(fen: &str, term: &str, part: &str) -> Vec<i16> {
    let (board, turn) = board(fen);
    let mut sink = Trace::default();
    trace(&board, turn, &mut sink);
    let (_, _, range) = parts().find(|(t, p, _)| t.name == term && p.name == part).unwrap();
    let mut counts = vec![0; range.len()];
    sink.drain(|index, count| {
        if range.contains(&usize::from(index)) {
            counts[usize::from(index) - range.start] = count;
        }
    });
    counts
}

#[test]
fn the_start_position_is_worth_the_tempo() {
    let (board, turn) = board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    let mut sink = Trace::default();
    trace(&board, turn, &mut sink);
    let mut seen = Vec::new();
    sink.drain(|index, count| seen.push((usize::from(index), count)));
    assert_eq!(seen, [(Term::named("tempo").unwrap().range().start, 1)]);
}

#[test]
fn phase_runs_from_full_to_none() {
    assert_eq!(phase(&Board::new()), FULL_PHASE);
    assert_eq!(phase(&board("4k3/pppp4/8/8/8/8/4P3/4K3 w - - 0 1").0), 0);
    assert_eq!(phase(&board("QQQQkQQQ/8/8/8/8/8/8/4K3 b - - 0 1").0), FULL_PHASE);
    assert_eq!(phase(&board("r3k3/8/8/8/8/8/8/QN2KB2 w - - 0 1").0), 8);
}

#[test]
fn tapering_rounds_towards_zero_on_both_sides() {
    assert_eq!(taper(100, 0, 24), 100);
    assert_eq!(taper(100, 0, 0), 0);
    assert_eq!(taper(1, 0, 23), 0);
    assert_eq!(taper(-1, 0, 23), 0);
    assert_eq!(taper(-30, 10, 12), -10);
}

#[test]
fn pawn_structure_is_what_the_textbook_says() {
    // White: a2 isolated, doubled c-pawns (isolated), g4 h4 phalanx. Black: e6 defends d5.
    let fen = "4k3/8/4p3/3p4/6PP/2P5/P1P5/4K3 w - - 0 1";
    assert_eq!(counts(fen, "pawns", "doubled"), [1]);
    assert_eq!(counts(fen, "pawns", "isolated"), [1, 0, 2, 0]);
    assert_eq!(counts(fen, "pawns", "phalanx"), [0, 0, 2, 0, 0, 0]);
    assert_eq!(counts(fen, "pawns", "defended"), [0, 0, -1, 0, 0, 0]);
    // The pawn on d3 cannot be supported and is held back by the one on e5.
    assert_eq!(counts("4k3/8/5p2/4p3/2P5/3P4/8/4K3 w - - 0 1", "pawns", "backward"), [1]);
}

#[test]
fn passed_pawns_are_those_that_no_pawn_can_stop() {
    // a5 and the front of the doubled f-pawns are passed; c4 is held by d6; Black's h3 is passed.
    let fen = "6k1/8/3p4/P4P2/2P2P2/7p/8/6K1 w - - 0 1";
    assert_eq!(counts(fen, "passed", "rank"), [0, 0, 0, 2, -1, 0]);
    // f6 is empty and not attacked, a6 neither; h2 is attacked by White's king.
    assert_eq!(counts(fen, "passed", "safe"), [0, 0, 0, 2, 0, 0]);
    assert_eq!(counts("4k3/4r3/8/4P3/8/8/8/4K3 w - - 0 1", "passed", "safe"), [0; 6]);
    assert_eq!(counts("4k3/8/4r3/4P3/8/8/8/4K3 w - - 0 1", "passed", "blocked"), [0, 0, 0, 1, 0, 0]);
}

#[test]
fn kings_and_passed_pawns_keep_their_distance() {
    // e5's next square is e6: White's king on e1 is 5 moves away, Black's on h8 3.
    let fen = "7k/8/8/4P3/8/8/8/4K3 w - - 0 1";
    let mut own = vec![0; 32];
    own[8 + 5] = 1;
    let mut enemy = vec![0; 32];
    enemy[8 + 3] = 1;
    assert_eq!(counts(fen, "passed", "own_king"), own);
    assert_eq!(counts(fen, "passed", "enemy_king"), enemy);
}

#[test]
fn rooks_count_files_and_the_seventh() {
    // a1: semi-open for White (only a black pawn); b1: open; h7 seventh, open.
    let fen = "4k3/p6R/8/8/8/8/4P3/RR2K3 w - - 0 1";
    assert_eq!(counts(fen, "rooks", "open_file"), [2]);
    assert_eq!(counts(fen, "rooks", "semi_open_file"), [1]);
    assert_eq!(counts(fen, "rooks", "seventh"), [1]);
}

#[test]
fn mobility_leaves_out_what_pawns_hold() {
    // The knight on e4 has eight squares, without c5 and g5 (own pawns) and without d6 and f6 (attacked by e7).
    let fen = "4k3/4p3/8/2P3P1/4N3/8/8/4K3 w - - 0 1";
    let mut expected = vec![0; 9];
    expected[4] = 1;
    assert_eq!(counts(fen, "mobility", "knight"), expected);
}

#[test]
fn bishops_know_pairs_and_colours() {
    assert_eq!(counts("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", "bishops", "pair"), [1]);
    // Both on dark squares: no pair.
    assert_eq!(counts("4k3/8/8/8/8/B7/8/2B1K3 w - - 0 1", "bishops", "pair"), [0]);
    // c1 is dark; of the pawns a3, b2, b3 two are on dark squares.
    assert_eq!(counts("4k3/8/8/8/8/PP6/1P6/2B1K3 w - - 0 1", "bishops", "pawns"), [2]);
}

#[test]
fn the_shelter_counts_ranks_to_the_nearest_pawn() {
    // King g1: f2 and g2 one rank up, h-file without own pawn and with an enemy pawn on h5, four up.
    let fen = "k7/8/8/7p/8/8/5PP1/6K1 w - - 0 1";
    let white = "rows: file a/h, b/g, c/f";
    let shelter = counts(fen, "king", "shelter");
    // Black's king on a8 sees no own pawn on files a, b, c: 7 in rows 0, 1 and 2.
    let mut expected = vec![0; 32];
    expected[7] += 1; // h
    expected[8 + 1] += 1; // g
    expected[16 + 1] += 1; // f
    for row in 0..3 {
        expected[row * 8 + 7] -= 1;
    }
    assert_eq!(shelter, expected, "{white}");
    assert_eq!(counts(fen, "king", "storm")[4], 1);
}

#[test]
fn threats_are_seen() {
    // The pawn on d4 attacks the knight on e5, which nothing defends.
    let fen = "7k/8/8/4n3/3P4/8/8/K7 w - - 0 1";
    assert_eq!(counts(fen, "threats", "by_pawn"), [1, 0, 0, 0]);
    assert_eq!(counts(fen, "threats", "hanging"), [1]);
    // d2-d4 would attack the knight on e5.
    assert_eq!(counts("7k/8/8/4n3/8/8/3P4/K7 w - - 0 1", "threats", "by_push"), [1]);
}

#[test]
fn a_bare_board_and_one_of_queens_are_evaluated() {
    let mut hce = Hce::new(Arc::new(Weights::untuned()));
    assert_eq!(hce.white(&Board::empty(), Color::White), 0);
    let (board, turn) = board("QQQQkQQQ/8/8/8/8/8/8/4K3 b - - 0 1");
    assert_eq!(hce.white(&board, turn), 6300);
    let position: Chess = "8/8/8/4k3/8/8/Q7/4K3 b - - 0 1"
        .parse::<Fen>()
        .unwrap()
        .into_position(shakmaty::CastlingMode::Standard)
        .unwrap();
    assert_eq!(hce.evaluate(&position, 0), -900);
}
