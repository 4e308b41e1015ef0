use super::*;
use patzer_chess::testing::along_random_games;
use shakmaty::fen::Fen;

fn board(fen: &str) -> (Board, Color) {
    let setup = fen.parse::<Fen>().unwrap().into_setup();
    (setup.board, setup.turn)
}

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

/// Counts of which only these differ from 0.
fn sparse<const N: usize>(counts: &[(usize, i16)]) -> [i16; N] {
    let mut all = [0; N];
    counts.iter().for_each(|(index, count)| all[*index] = *count);
    all
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
    assert_eq!([taper(100, 0, 24, 64), taper(100, 0, 0, 64)], [100, 0]);
    assert_eq!([taper(1, 0, 23, 64), taper(-1, 0, 23, 64), taper(-30, 10, 12, 64)], [0, 0, -10]);
    // A quarter of the endgame value.
    assert_eq!(taper(-30, 40, 12, 16), -10);
}

#[test]
fn pawns_are_classed_as_the_textbook_says() {
    // White: a2 isolated, doubled c-pawns (isolated), g4 h4 phalanx. Black: e6 defends d5.
    let fen = "4k3/8/4p3/3p4/6PP/2P5/P1P5/4K3 w - - 0 1";
    assert_eq!(counts(fen, "pawns", "number")[4..6], [0, 1]);
    assert_eq!(counts(fen, "pawns", "islands"), [0, -1, 0, 1, 0]);
    // Rows: free, opposed; files a/h, b/g, c/f, d/e.
    assert_eq!(counts(fen, "pawns", "doubled"), [0, 0, 1, 0, 0, 0, 0, 0]);
    assert_eq!(counts(fen, "pawns", "isolated"), [1, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!(counts(fen, "pawns", "phalanx"), [0, 0, 2, 0, 0, 0]);
    assert_eq!(counts(fen, "pawns", "defended"), [0, 0, -1, 0, 0, 0]);
    // g4 and h4 for White, d5 for Black, in the row of rank 4.
    assert_eq!(counts(fen, "pawns", "connected")[8..12], [1, 1, 0, -1]);
    // The pawn on d3 cannot be supported and is held back by the one on e5; no pawn opposes it.
    let backward = counts("4k3/8/5p2/4p3/2P5/3P4/8/4K3 w - - 0 1", "pawns", "backward");
    assert_eq!(backward, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // e4 is held by d6 alone and d4 helps; without d4 nothing does. Black's d6 has no pawn before it in the second.
    let with = counts("4k3/8/3p4/8/3PP3/8/8/4K3 w - - 0 1", "pawns", "candidate");
    assert_eq!(with[6 + 2], 1);
    let without = counts("4k3/8/3p4/8/4P3/8/8/4K3 w - - 0 1", "pawns", "candidate");
    assert_eq!(without[2], 1);
    assert_eq!(without[6 + 2], 0);
}

#[test]
fn passed_pawns_count_paths_races_and_kings() {
    // a5 and f5 are passed, h3 for Black. a6 and f6 are free and safe, h2 is attacked by White's king.
    let fen = "6k1/8/3p4/P4P2/2P2P2/7p/8/6K1 w - - 0 1";
    assert_eq!(counts(fen, "passed", "rank"), [0, 0, 0, 2, -1, 0]);
    assert_eq!(counts(fen, "passed", "file"), [0, 0, 1, 0]);
    assert_eq!(counts(fen, "passed", "next"), sparse::<24>(&[(18 + 3, 2), (12 + 4, -1)]));
    assert_eq!(counts("4k3/8/4r3/4P3/8/8/8/4K3 w - - 0 1", "passed", "blocked"), [0, 0, 0, 1, 0, 0]);
    // The rook on e7 attacks the whole way; nothing attacks a's.
    assert_eq!(counts("4k3/4r3/8/4P3/8/8/8/4K3 w - - 0 1", "passed", "free_path"), [0]);
    assert_eq!(counts("7k/8/8/P7/8/8/8/4K3 w - - 0 1", "passed", "free_path"), [1]);
    // Four steps to a8 from a4. The king on e6 is four moves away, in the square with either side to move; on f6
    // it is five, in time only if it moves first.
    for (fen, race) in [
        ("8/8/4k3/8/P7/8/8/7K w - - 0 1", [0, 0, 1, 0]),
        ("8/8/5k2/8/P7/8/8/7K w - - 0 1", [0, 0, 0, 1]),
        ("8/8/5k2/8/P7/8/8/7K b - - 0 1", [0, 0, 1, 0]),
        // With a knight left the enemy may hold it otherwise.
        ("8/8/5k2/8/P7/8/8/6nK w - - 0 1", [0, 0, 0, 0]),
    ] {
        assert_eq!(counts(fen, "passed", "race"), race, "{fen}");
    }
    // e5's next square is e6: White's king on e1 is 5 moves away, Black's on h8 3.
    let fen = "7k/8/8/4P3/8/8/8/4K3 w - - 0 1";
    assert_eq!(counts(fen, "passed", "own_king"), sparse::<32>(&[(8 + 5, 1)]));
    assert_eq!(counts(fen, "passed", "enemy_king"), sparse::<32>(&[(8 + 3, 1)]));
}

#[test]
fn rooks_count_files_and_the_seventh() {
    // a1: semi-open for White (only a black pawn); b1: open; h7 seventh, open.
    let fen = "4k3/p6R/8/8/8/8/4P3/RR2K3 w - - 0 1";
    assert_eq!(counts(fen, "rooks", "open_file"), [2]);
    assert_eq!(counts(fen, "rooks", "semi_open_file"), [1]);
    assert_eq!(counts(fen, "rooks", "seventh"), [1, 1, 0]);
}

#[test]
fn mobility_leaves_out_what_pawns_hold_and_sees_through_pieces_that_move_alike() {
    // The knight on e4 has eight squares, without c5 and g5 (own pawns) and without d6 and f6 (attacked by e7).
    let fen = "4k3/4p3/8/2P3P1/4N3/8/8/4K3 w - - 0 1";
    assert_eq!(counts(fen, "mobility", "knight"), sparse::<9>(&[(4, 1)]));
    // From a1 a bishop has 7 squares, whether the own queen stands on b2 or not.
    let behind = counts("4k3/8/8/8/8/8/1Q6/B3K3 w - - 0 1", "mobility", "bishop");
    assert_eq!(behind[7], 1);
    // A knight stops it; its square counts for mobility.
    assert_eq!(counts("4k3/8/8/8/8/8/1N6/B3K3 w - - 0 1", "mobility", "bishop")[1], 1);
}

#[test]
fn bishops_know_pairs_colours_and_outposts() {
    assert_eq!(counts("4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1", "bishops", "pair"), [1]);
    // Both on dark squares: no pair.
    assert_eq!(counts("4k3/8/8/8/8/B7/8/2B1K3 w - - 0 1", "bishops", "pair"), [0]);
    // c1 is dark; of the pawns a3, b2, b3 two are on dark squares.
    assert_eq!(counts("4k3/8/8/8/8/PP6/1P6/2B1K3 w - - 0 1", "bishops", "pawns"), [2]);
    // d4, dark, is rammed by d5, light; h6 is dark.
    let fen = "4k3/8/7p/3p4/3P4/8/8/2B1K3 w - - 0 1";
    assert_eq!(counts(fen, "bishops", "rammed"), [1]);
    assert_eq!(counts(fen, "bishops", "enemy_pawns")[1], 1);
    assert_eq!(counts("4k3/8/8/8/8/8/1B6/4K3 w - - 0 1", "bishops", "long_diagonal"), [1]);
    assert_eq!(counts("4k3/8/8/8/8/2P5/1B6/4K3 w - - 0 1", "bishops", "long_diagonal"), [0]);
    // e5, defended by d4, with no pawns on the files d and f: inside, defended. a5 is at the edge, defended by b4.
    assert_eq!(counts("4k3/8/8/4N3/3P4/8/8/4K3 w - - 0 1", "knights", "outpost"), [0, 0, 0, 1]);
    assert_eq!(counts("4k3/8/8/B7/1P6/8/8/4K3 w - - 0 1", "bishops", "outpost"), [0, 1, 0, 0]);
    // The pawn on f7 can come to f6.
    assert_eq!(counts("4k3/5p2/8/4N3/3P4/8/8/4K3 w - - 0 1", "knights", "outpost"), [0; 4]);
    // The knight on f3 attacks e5.
    assert_eq!(counts("4k3/8/8/8/3P4/5N2/8/4K3 w - - 0 1", "knights", "reach"), [1, 0]);
}

#[test]
fn kings_count_their_shelter_and_the_danger() {
    // King g1: f2 and g2 one rank up, h-file without own pawn and with an enemy pawn on h5, four up.
    let fen = "k7/8/8/7p/8/8/5PP1/6K1 w - - 0 1";
    let files_f_h_and_own_g = [(8 * 5 + 1, 1), (8 * 7 + 7, 1), (64 + 8 * 6 + 1, 1)];
    // Black's king on a8 sees no own pawn on files a and b.
    let expected = [&files_f_h_and_own_g[..], &[(64 + 7, -1), (8 + 7, -1)]].concat();
    assert_eq!(counts(fen, "king", "shelter"), sparse::<128>(&expected));
    assert_eq!(counts(fen, "king", "storm")[4], 1);
    // The enemy pawn on g3 is blocked by the own one on g2: the second half of the table, two ranks up.
    let blocked = counts("k7/8/8/8/8/6p1/6P1/6K1 w - - 0 1", "king", "storm");
    assert_eq!(blocked[32 + 8 + 2], 1);
    let quiet = counts("6k1/5ppp/8/8/8/8/5PPP/6K1 w - - 0 1", "attack", "danger");
    assert_eq!(quiet, vec![0; 32], "both sides in the same lowest degree");
    // Queen and rook before the king: Qh7 is a safe check, and mate.
    let attack = counts("6k1/5pp1/8/8/8/3B4/2Q5/4K1R1 w - - 0 1", "attack", "danger");
    let degree = attack.iter().position(|&n| n == 1).unwrap();
    assert!(degree > 8, "{degree}");
    assert!(counts("6k1/5pp1/8/8/8/3B4/2Q5/4K1R1 w - - 0 1", "attack", "safe_check")[3] > 0);
}

#[test]
fn pins_are_of_single_own_pieces() {
    // The rook on e1 pins the knight on e5, but not a white one, and not one of two.
    assert_eq!(counts("4k3/8/8/4n3/8/8/8/3KR3 w - - 0 1", "pins", "pinned"), [0, -1, 0, 0, 0]);
    assert_eq!(counts("4k3/8/8/4N3/8/8/8/3KR3 w - - 0 1", "pins", "pinned"), [0; 5]);
    assert_eq!(counts("4k3/8/4p3/4n3/8/8/8/3KR3 w - - 0 1", "pins", "pinned"), [0; 5]);
    assert_eq!(counts("3q3k/8/8/3p4/8/8/8/3RK3 w - - 0 1", "pins", "queen"), [-1]);
}

#[test]
fn piece_square_tables_know_the_wings_of_the_kings() {
    // White's king on the queen side, Black's on the king side; one knight.
    let fen = "6k1/8/8/8/8/2N5/8/1K6 w - - 0 1";
    let c3 = shakmaty::Square::C3 as usize;
    assert_eq!(counts(fen, "psqt", "knight")[c3], 1);
    assert_eq!(counts(fen, "psqt_own", "knight")[c3], 1);
    assert_eq!(counts(fen, "psqt_enemy", "knight"), vec![0; 64]);
    // Black's king, g8 as White's g1, has an enemy king on the queen side.
    assert_eq!(counts(fen, "psqt_enemy", "king")[shakmaty::Square::G1 as usize], -1);
}

#[test]
fn imbalance_multiplies_numbers_of_pieces() {
    // Two knights and a pawn against a rook: pp 1, np 2, nn 4 for White, rr 1 for Black; r·p 1, r·n 2 for Black.
    let fen = "3rk3/8/8/8/8/8/4P3/1N2K1N1 w - - 0 1";
    assert_eq!(counts(fen, "imbalance", "own"), [1, 2, 4, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0]);
    assert_eq!(counts(fen, "imbalance", "enemy"), [0, 0, 0, -1, -2, 0, 0, 0, 0, 0]);
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
    let position = patzer_chess::fen::position("8/8/8/4k3/8/8/Q7/4K3 b - - 0 1", false).unwrap();
    assert_eq!(hce.evaluate(&position, 0), -900);
}

fn positions() -> Vec<Chess> {
    let mut positions = Vec::new();
    along_random_games(7, 40, 120, |position| positions.push(position.clone()));
    positions
}

fn distinct_weights() -> Weights {
    let pairs: Vec<_> = (0..COUNT as i32).map(|i| [i * 31 % 197 - 90, i * 17 % 189 - 80]).collect();
    Weights::from_pairs(1.0, &pairs).unwrap()
}

#[test]
fn the_cache_never_changes_an_evaluation() {
    let mut hce = Hce::new(Arc::new(distinct_weights()));
    for position in positions() {
        let full = hce.white(position.board(), position.turn());
        let white = position.turn().fold_wb(full, -full);
        assert_eq!(hce.evaluate(&position, 0), white, "{position:?}");
    }
}

#[test]
fn counts_times_weights_are_the_evaluation() {
    let weights = distinct_weights();
    let hce = Hce::new(Arc::new(weights.clone()));
    let mut counts = Trace::default();
    for position in positions() {
        let (board, turn) = (position.board(), position.turn());
        trace(board, turn, &mut counts);
        let (mut mg, mut eg) = (0, 0);
        counts.drain(|index, count| {
            let [a, b] = weights.pairs()[usize::from(index)];
            (mg, eg) = (mg + a * i32::from(count), eg + b * i32::from(count));
        });
        assert_eq!(taper(mg, eg, phase(board), scale(board)), hce.white(board, turn), "{position:?}");
    }
}

#[test]
fn a_position_with_colours_changed_is_worth_the_opposite() {
    let hce = Hce::new(Arc::new(distinct_weights()));
    for position in positions() {
        let mut board = position.board().clone();
        let white = hce.white(&board, position.turn());
        board.flip_vertical();
        board.swap_colors();
        assert_eq!(hce.white(&board, !position.turn()), -white, "{position:?}");
    }
}
