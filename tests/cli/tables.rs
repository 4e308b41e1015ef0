//! Tables and lines of positions: evaluations of several lines, columns, sides, units, bad rows and limits.

use std::path::Path;
use std::sync::Arc;

use patzer_data::{AnyReader, Record};

use crate::rewritten::write_table;
use crate::{done, patzer};

const PLACEMENT: &str = "4k3/8/8/8/8/8/4P3/4K3";

fn positions(path: &Path) -> Vec<Record> {
    AnyReader::open(path, None).unwrap().read_all().unwrap()
}

fn scores(path: &Path) -> Vec<Option<i16>> {
    positions(path).iter().map(|record| record.score).collect()
}

/// Runs a command line that has to succeed; gives what it says on stderr.
fn said(folder: &Path, line: &str) -> String {
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{line}: {stderr}");
    stderr
}

/// The error of a command line that has to fail.
fn refused(folder: &Path, line: &str) -> String {
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
    stderr.lines().find(|line| line.starts_with("error: ")).unwrap().to_string()
}

fn csv(rows: &[Vec<&str>]) -> String {
    rows.iter().map(|row| row.join(",") + "\n").collect()
}

/// Rows of a FEN are in several row groups.
#[test]
fn lines_of_evaluations_are_merged_to_positions() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let names = ["fen", "line", "depth", "knodes", "cp", "mate"];
    let fens = [format!("{PLACEMENT} w - -"), format!("{PLACEMENT} b - -")];
    let row = |fen: usize, depth, knodes, cp, mate| {
        vec![fens[fen].as_str(), ["e2e4 e8e7", "e8d8"][fen], depth, knodes, cp, mate]
    };
    let rows = [
        row(0, "20", "9", "-18", ""),
        row(0, "30", "5", "-35", ""),
        row(0, "30", "5", "-410", ""),
        row(0, "30", "8", "-25", ""),
        row(0, "30", "8", "-99", ""),
        row(1, "12", "1", "", "2"),
        row(1, "12", "1", "50", ""),
        row(0, "11", "1", "3", ""),
    ];
    write_table(&here.join("x.parquet"), &names, &rows);
    std::fs::write(here.join("x.csv"), csv(&[vec![names.to_vec()], rows.to_vec()].concat())).unwrap();
    for name in ["x.parquet", "x.csv"] {
        let stderr = said(here, &format!("data convert {name} -o out.parquet"));
        assert!(
            stderr.contains(&format!("{name}: 8 rows are lines of evaluations of 3 positions")),
            "{stderr}"
        );
        let read = positions(&here.join("out.parquet"));
        let facts: Vec<_> = read.iter().map(|r| (r.game, r.score, r.depth)).collect();
        assert_eq!(facts, [(0, Some(-25), Some(30)), (1, Some(-31_996), Some(12)), (2, Some(3), Some(11))]);
        done(here, &format!("data merge {name} {name} --threads 3 -o merged.parquet"));
        assert_eq!(positions(&here.join("merged.parquet")).len(), 6);
    }
}

/// Pairs of positions of the same score from White's side; `column` gives what a file says.
fn scored(column: impl Fn(i16, bool) -> String) -> String {
    let row = |nth: i16| {
        let (result, black) = ([1, -1, 0][nth as usize / 2 % 3], nth % 2 == 1);
        let fen = format!("{PLACEMENT} {} - - 0 1", if black { "b" } else { "w" });
        format!("{fen}{}\n", column(result, black))
    };
    (0..400).map(row).collect()
}

#[test]
fn scores_of_another_side_than_they_are_read_for_are_noticed_and_turned() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let of_white = scored(|result, _| format!(",{},{result}", 40 * result + 7));
    std::fs::write(here.join("x.csv"), "fen,score,result\n".to_string() + &of_white).unwrap();
    let of_mover = |result: i16, black: bool| {
        let score = if black { -40 * result - 7 } else { 40 * result + 7 };
        format!(" | {score} | {:.1}", f32::from(result + 1) / 2.0)
    };
    std::fs::write(here.join("x.txt"), scored(of_mover)).unwrap();
    for (name, side) in [("x.csv", "white"), ("x.txt", "mover")] {
        let stderr = said(here, &format!("data convert {name} -o wrong.parquet"));
        let text = format!("{name}: the scores agree with the results for one side only: correlation +");
        assert!(stderr.contains(&text) && stderr.contains("(200 and 200 positions)"), "{stderr}");
        let stderr = said(here, &format!("data convert {name} --eval-side {side} -o x.parquet"));
        assert!(!stderr.contains("agree"), "{stderr}");
        assert_eq!(scores(&here.join("x.parquet"))[..4], [47, -47, -33, 33].map(Some), "{name}");
    }
}

#[test]
fn columns_that_are_not_read_are_named_if_they_are_nested_too_but_not_all() {
    use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
    use parquet::file::writer::SerializedFileWriter;
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let schema = "message m { REQUIRED BYTE_ARRAY fen (UTF8); REPEATED FLOAT policy; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let file = std::fs::File::create(here.join("x.parquet")).unwrap();
    let mut file = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let fen = ByteArray::from(format!("{PLACEMENT} w - - 0 1").as_str());
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&[fen], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<FloatType>().write_batch(&[0.1, 0.9], Some(&[1, 1]), Some(&[0, 1])).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    let stderr = said(here, "data convert x.parquet -o y.parquet");
    assert!(stderr.contains("x.parquet: columns not read: policy (a mapping"), "{stderr}");
    assert!(stderr.contains("it has neither scores nor results that are read"), "{stderr}");
    let text = refused(here, "data convert x.parquet --map score=policy,side=white -o z.parquet");
    assert!(text.contains("its column `policy` holds neither text nor numbers"), "{text}");

    let names: Vec<String> = (0..1000).map(|column| format!("c{column}")).collect();
    let table = format!("fen,{}\n{PLACEMENT} w - - 0 1,{}\n", names.join(","), ["1"; 1000].join(","));
    std::fs::write(here.join("many.csv"), table).unwrap();
    let stderr = said(here, "data convert many.csv -o y.csv");
    assert!(stderr.contains("c6, c7 and 992 more (a mapping") && stderr.len() < 500, "{stderr}");
}

#[test]
fn filters_are_named_that_judge_by_counters_that_a_table_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let fen = format!("{PLACEMENT} w - -");
    let rows = [vec![fen.as_str(), "1"]];
    write_table(&here.join("x.parquet"), &["fen", "result"], &rows);
    std::fs::write(here.join("x.csv"), csv(&[vec![vec!["fen", "result"]], rows.to_vec()].concat())).unwrap();
    std::fs::write(here.join("x.jsonl"), format!("{{\"fen\":\"{PLACEMENT} w - -\",\"result\":1}}\n"))
        .unwrap();
    for name in ["x.parquet", "x.csv", "x.jsonl"] {
        let stderr = said(here, &format!("data convert {name} --filter early_skip -o y.csv"));
        assert!(stderr.contains(&format!("{name}: does not say what these filters judge by")), "{stderr}");
        assert!(stderr.contains("(move number)"), "{stderr}");
    }
    std::fs::write(here.join("whole.csv"), format!("fen,result\n{PLACEMENT} w - - 0 9,1\n")).unwrap();
    assert!(!said(here, "data convert whole.csv --filter early_skip -o y.csv").contains("judge by"));
    std::fs::write(here.join("x.epd"), format!("{PLACEMENT} w - - -1 5 [0.5]\n")).unwrap();
    let stderr = said(here, "data convert x.epd -o y.csv");
    assert!(stderr.contains("x.epd: counters such as -1 are not read"), "{stderr}");
}

const PLAIN: &str = "fen 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\nmove e2e4\nscore 208\nply 0\nresult 1\ne\n";

#[test]
fn units_of_scores_are_known_named_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let pawns = format!("FEN,Evaluation\n{PLACEMENT} w - - 0 2,0.25\n{PLACEMENT} b - - 0 2,-0.31\n");
    std::fs::write(here.join("p.csv"), pawns).unwrap();
    let line = "data convert p.csv --map fen=FEN,score=Evaluation,side=white -o p.parquet";
    assert!(refused(here, line).contains("scores in pawns need the factor 100"));
    said(here, &format!("{line} --score-scale 100"));
    assert_eq!(scores(&here.join("p.parquet")), [Some(25), Some(31)]);

    std::fs::write(here.join("x.plain"), PLAIN).unwrap();
    let stays = "scores stay in their unit, the writer's (Stockfish: 208 a pawn";
    assert!(said(here, "data convert x.plain -o x.parquet").contains(stays));
    assert!(said(here, "data convert x.parquet -o y.csv").contains(stays));
    assert!(!said(here, "data convert x.plain -o x.binpack").contains("unit"));
    assert!(done(here, "data card x.parquet").contains("unit of the scores"));
    let takes = "which these filters take for centipawns: wdl_skip";
    assert!(said(here, "data convert x.plain --filter stockfish -o y.parquet").contains(takes));
    let mixed = "m.parquet: scores of several units are mixed: the writer's (Stockfish: 208 a pawn; patzer: centipawns), centipawns";
    for command in ["merge", "interleave"] {
        let stderr = said(here, &format!("data {command} x.plain p.parquet -o m.parquet"));
        assert!(stderr.contains(mixed), "{stderr}");
    }
    assert!(said(here, "data merge x.parquet p.parquet -o m.parquet").contains(mixed));
    let scaled = "data merge x.parquet p.parquet --score-scale x.parquet=0.4808 -o m.parquet";
    assert!(!said(here, scaled).contains("unit"));
    assert_eq!(scores(&here.join("m.parquet")), [100, 25, 31].map(Some));
    assert!(done(here, "data card m.parquet").contains("scores: times 0.4808"));
}

#[test]
fn bad_lines_and_rows_end_a_conversion_or_are_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (fen, bad) = (format!("{PLACEMENT} w - - 0 1"), "4k3/8/8/8/8/8/4P3/8 w - - 0 1");
    let fens = [fen.as_str(), bad, fen.as_str()];
    let lines = |line: &dyn Fn(&str) -> String| fens.map(line).concat();
    let write = |name: &str, text: String| std::fs::write(here.join(name), text).unwrap();
    write("x.epd", lines(&|fen| format!("{fen} [0.5]\n")));
    write("x.csv", "fen,result\n".to_string() + &lines(&|fen| format!("{fen},1\n")) + "one cell\n");
    write("x.jsonl", lines(&|fen| format!("{{\"fen\":\"{fen}\"}}\n")));
    write("x.plain", lines(&|fen| PLAIN.replace("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", fen)));
    write_table(&here.join("x.parquet"), &["fen"], &fens.map(|fen| vec![fen]));
    for (name, place, count) in [
        ("x.epd", "line 2: ", 1),
        ("x.csv", "line 3: ", 2),
        ("x.jsonl", "line 2: ", 1),
        ("x.plain", "line 7: ", 1),
        ("x.parquet", "row 1: ", 1),
    ] {
        let line = format!("data convert {name} -o out.csv");
        let text = refused(here, &line);
        assert!(text.contains(&format!("{name}: {place}")), "{text}");
        let stderr = said(here, &format!("{line} --keep-partial"));
        assert!(stderr.contains(&format!("{name}: {place}")) && stderr.contains("; left out"), "{stderr}");
        assert!(stderr.contains(&format!("{name}: {count} bad row")), "{stderr}");
        let json = done(here, &format!("{line} --keep-partial --json"));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["bad_rows"], &json["positions_written"]), (&count.into(), &2.into()), "{name}");
        said(here, &format!("data merge {name} {name} --keep-partial -o merged.csv"));
        assert_eq!(positions(&here.join("merged.csv")).len(), 4, "{name}");
    }
}

#[test]
fn long_rows_cells_and_quotes_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let rows = format!("{PLACEMENT} w - - 0 1,1\n").repeat(10_000);
    std::fs::write(here.join("x.csv"), format!("fen,result\n{PLACEMENT} w - - 0 1,1\n\"{rows}")).unwrap();
    let text = refused(here, "data shuffle x.csv -o y.parquet --memory 10M");
    assert!(text.contains("x.csv: line 3: a row of more than 65,536 bytes begins here"), "{text}");
    let long = "x".repeat(70_000);
    write_table(&here.join("x.parquet"), &["fen"], &[vec!["8/8/8/8/8/8/8/8 w - -"], vec![&long]]);
    let stderr = said(here, "data convert x.parquet -o y.csv --keep-partial");
    assert!(stderr.contains("row 1: a cell has 70,000 bytes; the most is 65,536"), "{stderr}");
    std::fs::write(here.join("x.epd"), format!("{} w - - [0.5]\n", "8/".repeat(30_000))).unwrap();
    let text = refused(here, "data convert x.epd -o y.csv --input-format epd");
    assert!(text.len() < 500, "{}", text.len());
}

#[test]
fn a_split_without_games_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::write(here.join("x.plain"), PLAIN).unwrap();
    said(here, "data convert x.plain -o x.bullet");
    said(here, "data convert x.bullet -o y.parquet");
    let text = "does not say which positions are of one game, so positions of a game come into several parts";
    for name in ["x.bullet", "y.parquet"] {
        assert!(said(here, &format!("data split {name}")).contains(text), "{name}");
    }
    assert!(!said(here, "data split x.plain").contains(text));
}

/// The leaf dialect carries leaf, score, result and game, for engines that write traces.
#[test]
fn leaves_are_written_as_text_with_their_games() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let moves = "1. e4 {+0.30/9} e5 {-0.20/9} 2. Qh5 {+0.50/9} Nf6 {+1.10/9} 3. a3 {-9.00/9} Nxh5 {+9.00/9}";
    let pgn = format!("[Result \"0-1\"]\n\n{moves} 0-1\n\n");
    std::fs::write(here.join("g.pgn"), pgn.repeat(2)).unwrap();
    done(here, "extract g.pgn");
    done(here, "label positions.parquet -o labelled.parquet");
    let stderr = said(here, "data convert labelled.parquet --dialect leaf -o leaves.txt");
    assert!(!stderr.contains("leaf") && !stderr.contains("game"), "{stderr}");
    let labelled = positions(&here.join("labelled.parquet"));
    let text = std::fs::read_to_string(here.join("leaves.txt")).unwrap();
    let read = positions(&here.join("leaves.txt"));
    assert!(labelled.len() == 12 && labelled.iter().any(|record| record.leaf.unwrap().board != record.board));
    done(here, "data convert leaves.txt -o plain.epd");
    said(here, "data convert plain.epd --dialect leaf -o unscored.txt");
    let text_without = std::fs::read_to_string(here.join("unscored.txt")).unwrap();
    assert!(text_without.lines().nth(2).unwrap().ends_with(" | | 0.0 | 2"), "{text_without}");
    for ((record, read), line) in labelled.iter().zip(&read).zip(text.lines()) {
        let leaf = record.leaf.unwrap();
        assert_eq!((read.board, read.turn, read.result), (leaf.board, leaf.turn, -1), "{line}");
        let of_white = record.turn.fold_wb(record.score.unwrap(), -record.score.unwrap());
        assert!(line.ends_with(&format!(" | {of_white} | 0.0 | {}", record.game)), "{line}");
    }
}
