//! `patzer cutechess`: what scripts of others rely on; tests/cli/fastchess.rs has what both programs share.

use std::fs;
use std::path::Path;

use crate::fastchess::{PATZER, fastchess, folder, line, mocks, played, run_as};

/// A word for each argument.
const ARGS: [&str; 4] = ["arg=--exact", "arg=mock::engine", "arg=--ignored", "arg=--nocapture"];

#[test]
fn cutechess_has_its_own_words_and_lines() {
    let folder = folder();
    let mut words = mocks(&ARGS, &["name=A", "name=B"]);
    words.extend(line(
        "-each proto=uci tc=inf depth=1 restart=auto trust -rounds 2 -games 2 -repeat -maxmoves 5 -openings file=book.epd \
         format=epd policy=round -pgnout g.pgn min fi -ratinginterval 2 -site here -event there -debug",
    ));
    let text = played(&run_as(folder.path(), PATZER, &["cutechess"], &words));
    assert_eq!(text.matches("\nScore of A vs B: ").count(), 4, "{text}");
    assert_eq!(text.matches("\nElo difference: ").count(), 2, "none twice: {text}");
    assert!(text.contains("A playing Black: ") && text.ends_with("\nFinished match\n"), "{text}");
    assert!(text.contains("> A <--- go depth 1\n"), "{text}");
    let pgn = fs::read_to_string(folder.path().join("g.pgn")).unwrap();
    assert!(pgn.contains("[Event \"there\"]\n[Site \"here\"]\n") && !pgn.contains(['{', '}']), "{pgn}");
    assert!(!pgn.contains("PlyCount"), "{pgn}");
}

#[test]
fn options_without_effect_are_noted_once_and_standard_error_goes_to_its_file() {
    let folder = folder();
    let mut words = mocks(&ARGS, &["name=A option.Mode=crash@1 stderr=a.txt tscale=2", "name=B tscale=2"]);
    words.extend(line(
        "-each tc=inf depth=1 debug -games 2 -recover -maxmoves 2 -debug all -resultformat wide2 -outcomeinterval 9 \
         -draw movenumber=0 movecount=1 score=20000 -pgnout g.pgn",
    ));
    let output = run_as(folder.path(), PATZER, &["cutechess"], &words);
    let text = played(&output);
    assert!(text.contains("A <--- go depth 1\n") && !text.contains("Draw by adjudication}"), "{text}");
    assert_eq!(text.matches("\nScore of A vs B: ").count(), 2, "{text}");
    let said = String::from_utf8(output.stderr).unwrap();
    for note in [
        "tscale: timeouts are fixed",
        "debug: patzer sends no",
        "-debug all: patzer",
        "-resultformat: the table",
        "-outcomeinterval: patzer prints no table",
        "-draw movenumber=0: no game",
    ] {
        assert_eq!(said.matches(note).count(), 1, "{note}: {said}");
    }
    let errors = fs::read_to_string(folder.path().join("a.txt")).unwrap();
    assert_eq!(errors.matches("assertion failed: at go 1").count(), 2, "{errors}");
}

#[test]
fn answers_without_a_question_are_warned_of() {
    let folder = folder();
    let mut words = mocks(&ARGS, &["name=A option.Mode=doubled", "name=B"]);
    words.extend(line("-each tc=inf depth=1 -games 2 -maxmoves 4 -pgnout g.pgn"));
    let output = run_as(folder.path(), PATZER, &["cutechess"], &words);
    played(&output);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("warning: A: dropped answers without a question, "), "{said}");
}

/// Moves of books in the first two games.
fn book_moves(pgn: &str) -> [usize; 2] {
    let mut games = pgn.split("[Event ").skip(1);
    [0, 1].map(|_| games.next().unwrap().matches("{book}").count())
}

#[test]
fn engines_of_cutechess_play_from_polyglot_books() {
    let folder = folder();
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/polyglot.bin");
    let options = [("A", 2), ("B", 3)]
        .map(|(name, depth)| format!("name={name} book={} bookdepth={depth}", book.display()));
    let mut words = mocks(&ARGS, &options);
    words.extend(line("-each tc=inf depth=1 -games 2 -maxmoves 5 -srand 3 -bookmode disk -pgnout g.pgn"));
    played(&run_as(folder.path(), PATZER, &["cutechess"], &words));
    let pgn = fs::read_to_string(folder.path().join("g.pgn")).unwrap();
    assert!(book_moves(&pgn).iter().all(|count| (1..=5).contains(count)), "{pgn}");
    // With the book as openings, both games of a pair begin with its line.
    let options = format!(
        "-each nodes=5 -rounds 3 -maxmoves 5 -openings file={} order=random plies=4 -srand 1 -pgnout file=o.pgn",
        book.display()
    );
    played(&fastchess(folder.path(), &options));
    let pgn = fs::read_to_string(folder.path().join("o.pgn")).unwrap();
    assert!((12..=24).contains(&pgn.matches("{book}").count()) && !pgn.contains("[FEN "), "{pgn}");
    let mut lines: Vec<String> = pgn
        .split("[Event ")
        .skip(1)
        .map(|game| game.split("\n\n").nth(1).unwrap().replace('\n', " "))
        .map(|game| game.rsplit_once("{book}").unwrap().0.to_string())
        .collect();
    // Games are written as they finish; two play each line.
    lines.sort();
    assert!(lines.chunks(2).all(|pair| pair[0] == pair[1]) && lines[0] != lines[2], "{lines:?}");
    assert!(pgn.matches("[ECO \"").count() == 6 && pgn.contains("[Opening \""), "{pgn}");
}

#[test]
fn a_knockout_and_a_pyramid_of_cutechess_are_played() {
    let folder = folder();
    let engines = mocks(
        &ARGS,
        &[("A", 1), ("B", 2), ("C", 3)]
            .map(|(name, seed)| format!("name={name} option.Seed={seed} option.Mode=illegal@0")),
    );
    for (kind, games) in [("knockout", 4), ("pyramid", 6)] {
        let options = line(&format!(
            "-each tc=inf depth=1 -games 2 -maxmoves 5 -openings file=book.epd format=epd -pgnout {kind}.pgn -tournament {kind}"
        ));
        played(&run_as(folder.path(), PATZER, &["cutechess"], &[engines.clone(), options].concat()));
        let pgn = fs::read_to_string(folder.path().join(format!("{kind}.pgn"))).unwrap();
        assert!(pgn.matches("[Event ").count() >= games, "{pgn}");
        let first =
            if kind == "knockout" { "[White \"B\"]\n[Black \"C\"]" } else { "[White \"A\"]\n[Black \"B\"]" };
        let names: String = pgn
            .lines()
            .filter(|line| line.starts_with("[White \"") || line.starts_with("[Black \""))
            .take(2)
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(names, first);
    }
}
