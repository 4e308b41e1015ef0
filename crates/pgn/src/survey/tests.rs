use std::io::Read;
use std::path::Path;

use super::*;
use crate::scoring::PerSource;
use crate::{Parser, Record};

/// Games of the bundled engine against itself, with its scores in another dialect: `comment` gets the score in pawns
/// from the mover, a flag for White's moves, and the depth.
fn rewritten(games: usize, comment: impl Fn(f64, bool, &str) -> String) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/engine.pgn.zst");
    let mut text = String::new();
    patzer_io::decompressed(patzer_io::raw(&path).unwrap()).unwrap().read_to_string(&mut text).unwrap();
    let mut out = String::new();
    for game in text.split("[Event ").skip(1).take(games) {
        let mut white = !game.contains(" b KQ") && !game.contains(" b ");
        out += "[Event ";
        for (index, piece) in game.split('{').enumerate() {
            if index == 0 {
                out += piece;
                continue;
            }
            let (inside, rest) = piece.split_once('}').unwrap();
            let (score, depth) = inside.split_once(' ').unwrap().0.split_once('/').unwrap();
            match score.parse::<f64>() {
                Ok(pawns) => out += &format!("{{{}}}{rest}", comment(pawns, white, depth)),
                Err(_) => out += rest,
            }
            white = !white;
        }
    }
    out
}

struct Games {
    records: Vec<Record>,
    decisions: Vec<Decision>,
    tally: ScoreTally,
}

fn read(text: &str, options: ScoreOptions) -> Games {
    read_files(&[text], options)
}

fn read_files(texts: &[&str], options: ScoreOptions) -> Games {
    let folder = tempfile::tempdir().unwrap();
    let path = |index: usize| match texts.len() {
        1 => folder.path().join("x.pgn"),
        _ => folder.path().join(format!("{index}.pgn")),
    };
    texts.iter().enumerate().for_each(|(index, text)| std::fs::write(path(index), text).unwrap());
    let mut reader = SurveyedReader::start((0..texts.len()).map(path).collect(), options, false).unwrap();
    let mut all = Games { records: Vec::new(), decisions: Vec::new(), tally: ScoreTally::default() };
    while let Some(surveyed) = reader.next_event() {
        all.decisions.extend(surveyed.survey.into_iter().flat_map(|survey| survey.decisions));
        let Event::Chunk(chunk) = surveyed.event else { continue };
        let mut parser = Parser::new(surveyed.scoring);
        for (index, span) in chunk.games.iter().enumerate() {
            parser.parse(&chunk.text, span, (chunk.number + index as u64) as u32, &mut all.records);
        }
        all.tally.merge(&parser.tally);
    }
    all
}

fn signed(white_view: bool, pawns: f64, white: bool) -> f64 {
    if white_view && !white { -pawns } else { pawns }
}

#[test]
fn the_side_is_that_which_agrees_with_results_and_neighbours() {
    let original = read(&rewritten(100, |s, _, d| format!("{s:+.2}/{d} 0.1s")), ScoreOptions::default());
    assert!(original.decisions.iter().all(Decision::is_by_dialect));
    let scores = |records: &[Record]| records.iter().map(|r| r.score).collect::<Vec<_>>();
    for white_view in [false, true] {
        let side = if white_view { Side::White } else { Side::Mover };
        for (name, write) in [
            ("xboard", (|s, d| format!("{s:+.2}/{d} 5")) as fn(f64, &str) -> String),
            ("chessbase", |s, d| format!("{s:.2}/{d} 239 (Nf3)")),
            ("arena", |s, d| format!("(Nf3) {s:+.2}/{d} 5")),
            ("compact", |s, d| format!("{s:+.2}/{d}")),
            ("comma", |s, d| format!("{s:+.2}/{d} 5").replace('.', ",")),
            ("ccc", |s, d| format!("{s:+.2} | {d}")),
            ("ev", |s, d| format!("ev={s:.2}, d={d}, pd=Nf3, tb=0,")),
        ] {
            let text = rewritten(100, |s, white, d| write(signed(white_view, s, white), d));
            let games = read(&text, ScoreOptions::default());
            assert_eq!(games.decisions.len(), 1, "{name}: {:?}", games.decisions);
            let decision = &games.decisions[0];
            assert_eq!(
                (decision.dialect.as_str(), decision.side, decision.side_by),
                (name, side, Basis::Data)
            );
            assert!(scores(&games.records) == scores(&original.records), "{name} {side:?}");
            assert!(!games.tally.is_contradictory());
        }
    }
}

#[test]
fn whole_numbers_are_centipawns_where_none_has_decimals() {
    let original = read(&rewritten(30, |s, _, d| format!("{s:+.2}/{d} 0.1s")), ScoreOptions::default());
    let text = rewritten(30, |s, _, d| format!("{:+}/{d} 5", (s * 100.0).round()));
    let games = read(&text, ScoreOptions::default());
    assert_eq!((games.decisions[0].unit, games.decisions[0].unit_by), (Unit::Cp, Basis::Data));
    assert!(games.records.iter().map(|r| r.score).eq(original.records.iter().map(|r| r.score)));
    let asked = ScoreOptions { unit: vec!["pawn".parse().unwrap()], ..ScoreOptions::default() };
    let games = read(&text, asked);
    assert_eq!((games.decisions[0].unit, games.decisions[0].unit_by), (Unit::Pawn, Basis::Option));
    // Among decimals, `[%eval 1]` is a pawn; among whole numbers a centipawn.
    for (comments, expected) in [(["0.5", "1"], [Some(-50), Some(100)]), (["50", "1"], [Some(-50), Some(1)])]
    {
        let text = format!(
            "[Result \"1-0\"]\n\n1. e4 {{[%eval {}]}} e5 {{[%eval {}]}} 2. d4 d5 1-0\n",
            comments[0], comments[1]
        );
        let records = read(&text, ScoreOptions::default()).records;
        assert_eq!(records[1..3].iter().map(|r| r.score).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn whole_numbers_are_centipawns_where_the_dialect_has_pawns_too() {
    let whole = rewritten(20, |score, _, depth| format!("{:+.0}/{depth} 0.1s", 100.0 * score));
    let games = read(&whole, ScoreOptions::default());
    let decision = &games.decisions[0];
    assert_eq!((&decision.dialect[..], decision.side_by), ("cutechess", Basis::Dialect));
    assert_eq!((decision.unit, decision.unit_by), (Unit::Cp, Basis::Data));
    let pawns = rewritten(20, |score, _, depth| format!("{score:+.2}/{depth} 0.1s"));
    let truth = read(&pawns, ScoreOptions::default());
    assert!(truth.decisions[0].is_by_dialect());
    let scores = |games: &Games| games.records.iter().map(|record| record.score).collect::<Vec<_>>();
    assert_eq!(scores(&games), scores(&truth));
    // No program rounds to pawns.
    let few = "[Event \"x\"]\n\n1. e4 {+1/12 0.1s} e5 {-1/12 0.1s} *\n";
    assert_eq!(read(few, ScoreOptions::default()).records[0].score, Some(1));
}

#[test]
fn evaluations_keep_their_unit_when_files_are_merged() {
    let pawns = rewritten(30, |s, white, _| format!("[%eval {:.2}]", signed(true, s, white)));
    let centipawns = pawns.replace(".", "");
    let apart = [&pawns, &centipawns].map(|text| read(text, ScoreOptions::default()).records);
    for (first, second) in [(0, 1), (1, 0)] {
        let texts = [&pawns, &centipawns];
        let merged = read(&(texts[first].clone() + texts[second]), ScoreOptions::default()).records;
        let expected = apart[first].iter().chain(&apart[second]).map(|r| r.score);
        assert!(merged.iter().map(|r| r.score).eq(expected));
    }
}

#[test]
fn games_of_two_conventions_in_one_file_are_noticed() {
    let games = |white_view: bool| {
        let text = rewritten(100, |s, white, d| format!("{:+.2}/{d} 5", signed(white_view, s, white)));
        read(&text, ScoreOptions::default()).tally
    };
    let (mover, white) = (games(false), games(true));
    assert!(!mover.is_mixed() && !white.is_mixed());
    let text = |white_view: bool| {
        rewritten(100, |s, white, d| format!("{:+.2}/{d} 5", signed(white_view, s, white)))
    };
    let both = read(&(text(false) + &text(true)), ScoreOptions::default());
    assert!(both.tally.is_mixed(), "{:?}", both.tally.senses());
}

#[test]
fn too_little_evidence_leaves_the_default_and_says_so() {
    let text = rewritten(1, |s, white, d| format!("{:.2}/{d} 239", signed(true, s, white)));
    let text = text.split("} ").take(9).collect::<Vec<_>>().join("} ") + "} 1-0\n";
    let games = read(&text, ScoreOptions::default());
    let decision = &games.decisions[0];
    assert_eq!((decision.side, decision.side_by), (Side::White, Basis::Default));
    assert!(decision.to_string().contains("which decides nothing"), "{decision}");
    let one = read("[Result \"1-0\"]\n\n1. e4 {0.18/12 5 (e5)} e5 1-0\n", ScoreOptions::default());
    let said = one.decisions[0].to_string();
    assert!(said.contains("White's by default (there are too few to correlate them"), "{said}");
}

#[test]
fn a_contradiction_is_seen_where_the_side_is_wrong() {
    let text = rewritten(100, |s, white, d| format!("{:.2}/{d} 239", signed(true, s, white)));
    let options = ScoreOptions { side: vec!["mover".parse().unwrap()], ..ScoreOptions::default() };
    let games = read(&text, options);
    assert_eq!(games.decisions[0].side_by, Basis::Option);
    assert!(games.tally.is_contradictory(), "{:?}", games.tally.senses());
}

#[test]
fn numbers_without_any_sign_are_times() {
    let times = read("1. e4 {0.35} e5 {1.20} 2. d4 {12.05} 1-0\n", ScoreOptions::default());
    assert!(times.decisions.is_empty() && times.records.iter().all(|r| r.score.is_none()));
    let scores = read("1. e4 {0.35} e5 {-1.20} 2. d4 {12.05} d5 1-0\n", ScoreOptions::default());
    assert_eq!(
        scores.records.iter().map(|r| r.score).collect::<Vec<_>>()[1..],
        [Some(-35), Some(-120), Some(-1205)]
    );
}

#[test]
fn scores_of_one_player_are_kept_and_scaled() {
    let text = "[White \"New 1\"]\n[Black \"Old\"]\n[Result \"1-0\"]\n\n\
        1. e4 {+0.35/9 1s} e5 {-0.20/9 1s} 2. d4 {+M5/9 1s} d5 {[%eval -0.7]} 3. c4 1-0\n";
    let with = |of: &str| ScoreOptions {
        of: vec![crate::Pattern::new(of)],
        scale: vec!["x.pgn=2".parse().unwrap()],
        ..ScoreOptions::default()
    };
    let scores = |of| read(text, with(of)).records.iter().map(|r| r.score).collect::<Vec<_>>();
    assert_eq!(scores("new*"), [Some(70), None, Some(31_995), None, None]);
    // The evaluation after Black's move is his engine's, though it belongs to White's position.
    assert_eq!(scores("OLD"), [None, Some(-40), None, None, Some(-140)]);
    assert_eq!(scores("New"), [None; 5]);
    let wrong =
        ScoreOptions { unit: vec![PerSource { source: Some("y".into()), value: Unit::Cp }], ..with("*") };
    assert!(wrong.check(&["x.pgn".into()]).is_err());
}

#[test]
fn a_comment_that_is_not_understood_is_counted_with_its_line() {
    let games = read(
        "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 {fine} e5\n{score: +0.35} 2. d4 {+0.3x}\nd5 1-0\n",
        ScoreOptions::default(),
    );
    assert_eq!(games.tally.unread, 2);
    let sample = games.tally.sample.unwrap();
    assert_eq!((sample.line, sample.text.as_str()), (5, "score: +0.35"));
}

#[test]
fn a_file_for_each_game_is_read_as_one_file_of_all() {
    for white_view in [false, true] {
        let all = rewritten(60, |s, white, d| format!("{:.2}/{d} 12", signed(white_view, s, white)));
        let whole = read(&all, ScoreOptions::default());
        let games: Vec<String> = all.split("[Event ").skip(1).map(|game| format!("[Event {game}")).collect();
        let parts =
            read_files(&games.iter().map(String::as_str).collect::<Vec<_>>(), ScoreOptions::default());
        let scores = |games: &Games| games.records.iter().map(|r| r.score).collect::<Vec<_>>();
        assert!(scores(&whole).iter().flatten().count() > 1_000);
        assert_eq!(scores(&whole), scores(&parts));
        assert_eq!(whole.decisions[0].side, parts.decisions[0].side);
        assert!(parts.decisions.iter().all(|decision| decision == &parts.decisions[0]));
    }
}

#[test]
fn whole_numbers_in_a_short_file_are_centipawns() {
    // As c-chess-cli writes `%i/%i`, with mates in moves.
    let game = "[Result \"1-0\"]\n\n1. e4 {35/12} e5 {-30/12} 2. Nf3 {41/13} Nc6 {-28/11} 3. Bb5 {0/10} a6 {12/10} \
                4. Ba4 {M4/20} Nf6 {-M3/18} 1-0\n";
    let games = read(game, ScoreOptions::default());
    let scores: Vec<_> = games.records.iter().filter_map(|record| record.score).collect();
    assert_eq!(scores, [35, -30, 41, -28, 0, 12, 31_993, -31_994]);
    assert!(games.decisions[0].mates_in_moves.is_some());
    assert!(
        games.decisions[0].to_string().ends_with("mates count moves (2 of 2 would be impossible in plies)")
    );
}

#[test]
fn mates_in_moves_are_told_by_distances_that_plies_cannot_have() {
    let game = |comments: [&str; 4]| {
        let [a, b, c, d] = comments;
        format!("[Result \"1-0\"]\n\n1. e4 {{{a}}} e5 {{{b}}} 2. Nf3 {{{c}}} Nc6 {{{d}}} 1-0\n")
    };
    for (comments, scores) in [
        // fastchess since September 2024, and before.
        (["+M7/20 1s", "-M6/20 1s", "+M5/20 1s", "-M4/20 1s"], [31_993, -31_994, 31_995, -31_996]),
        (["+M4/20 1s", "-M3/20 1s", "+M3/20 1s", "-M2/20 1s"], [31_993, -31_994, 31_995, -31_996]),
    ] {
        let games = read(&game(comments), ScoreOptions::default());
        assert_eq!(games.records.iter().filter_map(|record| record.score).collect::<Vec<_>>(), scores);
    }
}
