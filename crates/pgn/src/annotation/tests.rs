use super::*;

fn before(comment: &str, mover: Color) -> Option<(i16, Option<u8>)> {
    let annotation = Annotation::parse(comment.as_bytes());
    annotation.before(mover, &Conventions::default()).map(|s| (s.value, s.depth))
}

fn after(comment: &str, turn: Color) -> Option<(i16, Option<u8>)> {
    let annotation = Annotation::parse(comment.as_bytes());
    annotation.after(turn, &Conventions::default()).map(|s| (s.value, s.depth))
}

fn dialect(comment: &str) -> Option<&'static str> {
    Annotation::parse(comment.as_bytes()).score.map(|score| DIALECTS[score.dialect].name)
}

#[test]
fn cutechess_and_fastchess_score_from_the_mover() {
    for mover in Color::ALL {
        assert_eq!(before("+0.35/12 0.50s", mover), Some((35, Some(12))));
        assert_eq!(before(" -0.07/4\n0.56s ", mover), Some((-7, Some(4))));
        assert_eq!(before("0.00/36 75s, n=12, Draw by adjudication", mover), Some((0, Some(36))));
        assert_eq!(before("+M1/245 1s", mover), Some((31_999, Some(245))));
        assert_eq!(before("-M5/20 1.2s", mover), Some((-31_995, Some(20))));
        assert_eq!(before("+152.51/300 1s", mover), Some((15_251, Some(255))));
    }
}

#[test]
fn fastchess_and_openbench_extras_are_ignored() {
    for (comment, score, depth) in [
        ("+1.00/15 1.321s", 100, 15),
        ("+10.15/18 1.821s, engine2 got checkmated", 1015, 18),
        ("+1.45/16 0.310s, n=0, sd=24, aborted", 145, 16),
        ("+1.45/16 0.310s, Black makes an illegal move: a1a1", 145, 16),
        (
            "-0.31/21 0.420s, tl=5.123s, latency=0.001s, n=812345, sd=30, nps=1934154, hashfull=12, tbhits=3, pv=\"e2e4 e7e5, +9.99/9\", line=\"info string eval -M3/4\"",
            -31,
            21,
        ),
        ("+0.35/12", 35, 12),
        ("+0.35/12, line=+2.00/3", 35, 12),
        ("+0.35/12 0.05s, n=1234, sd=20, line=wdl 300 500 200", 35, 12),
        ("-M12/30 0.05s, n=1234, sd=20", -31_988, 30),
        // chess.com's championship ran cutechess with TCEC's fields.
        ("+0.08/16 70s, ev=0.08, d=16, pd=Bd5, mt=00:01:10, tb=0, R50=50, wv=-0.08", 8, 16),
    ] {
        for mover in Color::ALL {
            assert_eq!(before(comment, mover), Some((score, Some(depth))), "{comment}");
        }
    }
    for none in ["unknown", "/12 0.05s", "White makes an illegal move: a1a1"] {
        assert_eq!(Annotation::parse(none.as_bytes()), Annotation::default(), "{none}");
    }
}

/// Comments as their programs wrote them: TCEC's archive (the Fritz GUI, ChessGUI), GitHub threads of OpenBench,
/// PyChess and python-chess-annotator, and the source of XBoard, Banksia and Scid; scores with White and with Black to
/// move.
#[test]
fn each_dialect_gives_side_unit_and_depth() {
    for (comment, name, white, black, depth) in [
        // TCEC, match 1 (2010), written by the Fritz GUI; wrapped inside numbers.
        ("0.18/23 239", "chessbase", 18, -18, Some(23)),
        ("0.44/22 278 \n(exd6)", "chessbase", 44, -44, Some(22)),
        ("-0.03/30 150", "chessbase", -3, 3, Some(30)),
        ("0.\n60/21 826", "chessbase", 60, -60, Some(21)),
        ("2.29/\n34 119 (Rg6)", "chessbase", 229, -229, Some(34)),
        ("0. 60/21 826", "chessbase", 60, -60, Some(21)),
        ("0.41/38\n42 (Kc7)", "chessbase", 41, -41, Some(38)),
        // With White to move #43 is a mate in 85 plies, with Black to move in 86.
        ("#43/26 55", "chessbase", 31_915, -31_914, Some(26)),
        ("-#34/59 0", "chessbase", -31_932, 31_933, Some(59)),
        ("#29/\n29 58 (Ke4)", "chessbase", 31_943, -31_942, Some(29)),
        ("+0.35/12 5", "xboard", 35, 35, Some(12)),
        ("+0.35/12 1:05", "xboard", 35, 35, Some(12)),
        ("+0.35/12 1:02:05", "xboard", 35, 35, Some(12)),
        ("-0.12/9 0.4", "xboard", -12, -12, Some(9)),
        ("+0.3/12 3.2; King's Gambit", "xboard", 30, 30, Some(12)),
        ("+1000.05/9 2", "xboard", 31_991, 31_991, Some(9)),
        ("-327.65/9 2.0", "xboard", -31_998, -31_998, Some(9)),
        ("+319.90/20 1.0s", "cutechess", 31_990, 31_990, Some(20)),
        ("-320.00/20 1.0s", "cutechess", -31_999, -31_999, Some(20)),
        ("+999.99/20 1.0s", "cutechess", 30_999, 30_999, Some(20)),
        ("(e5) +0.35/12 5", "arena", 35, 35, Some(12)),
        ("(Nf6 e5) -1.20/9 14", "arena", -120, -120, Some(9)),
        ("+0,35/12 5", "comma", 35, 35, Some(12)),
        ("(e5) -0,35/12 5", "comma", -35, -35, Some(12)),
        ("+0.57 17/28 583 363004", "openbench", 57, 57, Some(17)),
        ("-0.57 17/22 520 671767", "openbench", -57, -57, Some(17)),
        ("+0.35 | 12", "ccc", 35, 35, Some(12)),
        ("-M4 | 40", "ccc", -31_992, -31_992, Some(40)),
        // TCEC, season 1 (2011) and season 5 (2013).
        ("ev=0.09, d=28, pd=Nd5, mt=00:10:30, tl=01:49:29, s=15540 kN/s, tb=0,", "ev", 9, -9, Some(28)),
        ("ev=-0.12, d=33,\npd=f4, mt=00:06:48", "ev", -12, 12, Some(33)),
        (
            "ev=-0.30, d=21, pd=Nb3, mt=00:03:31, tl=01:56:59, s=17967 kN/s, n=3736044003, pv=Nf6 Nb3, tb=0, R50=48, wv=0.30,",
            "tcec",
            30,
            -30,
            Some(21),
        ),
        ("ev=306.08, d=26, mt=00:10:07, pv=Rf2, wv=-306.08,", "tcec", -30_608, 30_608, Some(26)),
        ("d=24, sd=31, mt=2, pd=e3, pv=Nf6 e3, wv=0.35, R50=49,", "tcec", 35, -35, Some(24)),
        ("d=1, wv=M12,", "tcec", 31_988, -31_988, Some(1)),
        ("d=1, wv=-M5, tb=0", "tcec", -31_995, 31_995, Some(1)),
        ("d=1, wv=653.20,", "tcec", 30_999, -30_999, Some(1)),
        ("d=9, wv=\n-0.35,", "tcec", -35, 35, Some(9)),
    ] {
        assert_eq!(dialect(comment), Some(name), "{comment}");
        let read = [Color::White, Color::Black].map(|color| before(comment, color));
        assert_eq!(read, [Some((white, depth)), Some((black, depth))], "{comment}");
        assert_eq!(after(comment, Color::White), None, "{comment}");
    }
}

#[test]
fn analyses_score_from_white_after_the_move() {
    for (comment, name, white, black, depth) in [
        (" [%eval -1.2] [%clk 0:01:00] ", "eval", -120, 120, None),
        ("[%eval 0.35,22]", "eval", 35, -35, Some(22)),
        // Black mates with his third move: 5 plies with Black to move, 6 with White to move.
        ("[%eval #-3]", "eval", -31_994, 31_995, None),
        ("[%eval #1]", "eval", 31_999, -31_998, None),
        // PyChess: a slash, and a line break before the number.
        ("[%eval 0.47/16]", "eval", 47, -47, Some(16)),
        ("[%eval\n6.41/12]", "eval", 641, -641, Some(12)),
        ("[%eval 327.67/29]", "eval", 31_999, -31_999, Some(29)),
        ("[%eval 35,12]", "eval-cp", 35, -35, Some(12)),
        ("[%eval 32765,20]", "eval-cp", 31_998, -31_998, Some(20)),
        ("[%eval -32760,20]", "eval-cp", -31_993, 31_993, Some(20)),
        ("[%eval -14,24] [%emt 0:00:07]", "eval-cp", -14, 14, Some(24)),
        ("12:+0.35", "scid", 35, -35, Some(12)),
        ("Stockfish 17: 24:-1.07", "scid", -107, 107, Some(24)),
        ("20:M-3", "scid", -31_994, 31_995, Some(20)),
        ("1.27", "bare", 127, -127, None),
        ("-0.49", "bare", -49, 49, None),
        ("+0.4", "bare", 40, -40, None),
        ("#-3", "bare", -31_994, 31_995, None),
    ] {
        assert_eq!(dialect(comment), Some(name), "{comment}");
        let read = [Color::White, Color::Black].map(|color| after(comment, color));
        assert_eq!(read, [Some((white, depth)), Some((black, depth))], "{comment}");
        assert_eq!(before(comment, Color::White), None, "{comment}");
    }
}

#[test]
fn a_files_conventions_give_side_and_unit() {
    let with = |id: DialectId, side, unit| {
        let mut conventions = Conventions::default();
        conventions.0[id] = Reading::of(id, side, unit);
        conventions
    };
    let cp = with(CHESSBASE, Side::Mover, Unit::Cp);
    let score = Annotation::parse(b"35/12 5").before(Color::Black, &cp);
    assert_eq!(score.map(|s| s.value), Some(35));
    // An engine's own scores belong to the position that it searched.
    let bare = with(BARE, Side::Mover, Unit::Pawn);
    let score = Annotation::parse(b"+0.35").before(Color::Black, &bare);
    assert_eq!(score.map(|s| s.value), Some(35));
    // After the move the mover is not to move, so his score is negated.
    let eval = with(EVAL, Side::Mover, Unit::Pawn);
    for turn in Color::ALL {
        assert_eq!(Annotation::parse(b"[%eval 0.4]").after(turn, &eval).map(|s| s.value), Some(-40));
    }
}

#[test]
fn book_moves_are_recognised_and_other_text_is_ignored() {
    for book in ["book", "Book", " book\n", "book, mb=+0+0+0+0+0,", "B 0", "B/0 12"] {
        assert!(Annotation::parse(book.as_bytes()).book, "{book}");
    }
    for other in [
        "",
        "1.2s",
        "bookish",
        "a fine move",
        "+",
        "12/",
        "/3",
        "[%clk 0:01:00]",
        "1-0/2",
        "M/3",
        "wv=",
        "0.",
        "Bc4 was better",
        "0:00:07",
        "5 minutes",
        "1. e4 e5",
        "(Nf6)",
        "ev=, d=3",
        "21 ply: e4",
        "1/2",
        "12:30",
    ] {
        assert_eq!(Annotation::parse(other.as_bytes()), Annotation::default(), "{other}");
    }
}

/// The dialect of a number depends on its surroundings, not on its sign, decimals or size.
#[test]
fn a_number_is_a_score_whatever_its_sign_decimals_and_size() {
    type Form = fn(&str) -> String;
    let forms: [(&str, Form); 12] = [
        ("cutechess", |n| format!("{n}/12 0.50s")),
        ("compact", |n| format!("{n}/12")),
        ("chessbase", |n| format!("{n}/23 239 (Nd7)")),
        ("arena", |n| format!("(e5) {n}/12 5")),
        ("openbench", |n| format!("{n} 17/28 583 363004")),
        ("ccc", |n| format!("{n} | 12")),
        ("eval", |n| format!("[%eval {n},12]")),
        ("eval", |n| format!("[%csl Gd4] [%eval {n}] good")),
        ("tcec", |n| format!("d=24, wv={n}")),
        ("ev", |n| format!("ev={n}, d=24")),
        ("bare", |n| n.to_string()),
        ("compact", |n| format!("[%clk 0:01:00][%csl Gd4,Re5] {n}/12 [%cal Ge2e4]")),
    ];
    for (name, form) in forms {
        for number in ["0", "1", "7", "35", "0.3", "0.35", "1.5", "12.25", "152.51", "15", "300", "5000"] {
            for sign in ["", "+", "-"] {
                let comment = form(&format!("{sign}{number}"));
                let found = dialect(&comment);
                let xboard = found == Some("xboard") && name == "chessbase";
                let whole = found == Some("eval-cp") && name == "eval";
                assert!(found == Some(name) || xboard || whole, "{comment}: {found:?}");
                let score = Annotation::parse(comment.as_bytes()).score.unwrap();
                let (hundredths, decimal) = score.number().unwrap();
                let value = format!("{sign}{number}").parse::<f64>().unwrap();
                assert_eq!(
                    (hundredths, decimal),
                    ((value * 100.0).round() as i32, number.contains('.')),
                    "{comment}"
                );
            }
        }
    }
}

#[test]
fn text_that_looks_like_a_score_is_told_from_other_text() {
    for text in
        ["eval: 0.3", "score +0.35", "= -1.2", "0.35/12x", "[%eval x1]", "(+M5)", "+0;35 -0.35!", "#x #3"]
    {
        assert!(looks_like_score(text.as_bytes()), "{text}");
    }
    for text in [
        "1.2s",
        "[%clk 0:01:00]",
        "[%emt 0.35]",
        "Kasparov-Karpov, 1985",
        "1/2-1/2",
        "0:00:07",
        "B/0",
        "5.Nf3!",
        "W=26.0 plies; 8 341kN/s",
        "25-Aug-2010",
        "evaluate this",
        "",
        "1-0",
        "better is 12.Nf3",
        "G#",
    ] {
        assert!(!looks_like_score(text.as_bytes()), "{text}");
    }
}
