//! Datasets that other programs rewrote (`fixtures/parquet/make.py`), and tables of other programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::file::reader::{FileReader, SerializedFileReader};
use patzer_data::{AnyReader, Record, flags};

use crate::{done, patzer};

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parquet").join(name)
}

fn positions(path: &Path) -> Vec<Record> {
    AnyReader::open(path, None).unwrap().read_all().unwrap()
}

/// Converts a file and returns its positions and what stderr says.
fn converted(file: &Path, options: &str) -> (Vec<Record>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut line = vec!["data", "convert", file.to_str().unwrap(), "-o", "x.parquet"];
    line.extend(options.split_whitespace());
    let output = patzer(folder.path(), &line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    (positions(&folder.path().join("x.parquet")), stderr)
}

#[test]
fn a_dataset_that_another_program_rewrote_is_the_same_dataset() {
    let source = positions(&fixture("source.parquet"));
    assert!(source.len() > 50);
    for (name, said) in [
        ("pyarrow.parquet", vec![]),
        ("pyarrow_v2.parquet", vec![]),
        ("pandas.parquet", vec!["it has no `patzer` metadata, so its sources and filters are unknown"]),
        ("polars.parquet", vec!["no `patzer` metadata"]),
        ("duckdb_v2.parquet", vec!["no `patzer` metadata"]),
    ] {
        let (read, stderr) = converted(&fixture(name), "");
        let mut expected = source.clone();
        if name == "pandas.parquet" {
            expected.iter_mut().step_by(3).for_each(|record| record.score = None);
        }
        assert!(read == expected, "{name}");
        for text in said {
            assert!(stderr.contains(text), "{name}: {stderr}");
        }
    }
}

/// The unknown columns of each position, by game and ply.
pub fn extra(path: &Path) -> BTreeMap<[String; 2], [String; 5]> {
    let file = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let rows = file.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let cell = |name: &str| {
            let found = row.get_column_iter().find(|(column, _)| *column == name);
            found.unwrap_or_else(|| panic!("{name} in {}", path.display())).1.to_string()
        };
        (["game", "ply"].map(cell), ["opening", "weight", "wide", "checked", "day"].map(cell))
    });
    rows.collect()
}

#[test]
fn unknown_columns_are_carried_along_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (here, file) = (folder.path(), fixture("extra.parquet"));
    let source = extra(&file);
    let known: Vec<_> = source.values().filter(|cells| cells.iter().all(|cell| cell != "null")).collect();
    assert!(known.len() > 20 && known[0] != known[1] && source.len() > known.len());
    for (line, output, all) in [
        ("data convert FILE -o a.parquet", "a.parquet", true),
        ("data convert FILE --filter capture -o b.parquet", "b.parquet", false),
        ("data shuffle FILE -o c.parquet", "c.parquet", true),
        ("data shuffle c.parquet --memory 10K -o d.parquet", "d.parquet", true),
        ("data split FILE --train 1 --validation 0 --test 0 -o e.parquet", "e.train.parquet", true),
        ("label FILE -o f.parquet", "f.parquet", true),
        ("data merge FILE -o i.parquet", "i.parquet", true),
        ("data interleave FILE=1 -o j.parquet", "j.parquet", true),
    ] {
        done(here, &line.replace("FILE", file.to_str().unwrap()));
        let carried = extra(&here.join(output));
        assert!(!carried.is_empty() && (carried.len() == source.len()) == all, "{line}");
        assert!(carried.iter().all(|(position, cells)| source[position] == *cells), "{line}");
        done(here, &format!("data validate {output}"));
    }
    // An input without these columns gives empty cells.
    let (plain, file) = (fixture("source.parquet"), file.display());
    for (nth, line) in
        ["convert PLAIN FILE", "merge FILE PLAIN", "interleave FILE=1 PLAIN=1"].iter().enumerate()
    {
        let line = line.replace("PLAIN", plain.to_str().unwrap()).replace("FILE", &file.to_string());
        done(here, &format!("data {line} -o g{nth}.parquet"));
        let mixed = extra(&here.join(format!("g{nth}.parquet"))).into_values();
        let (empty, carried): (Vec<_>, Vec<_>) = mixed.partition(|cells| cells[1] == "null");
        assert!(carried.iter().all(|cells| source.values().any(|known| known == cells)), "{line}");
        let ends_early = line.starts_with("interleave");
        let counts = [carried.len(), empty.len()];
        assert!(counts == [source.len(); 2] || ends_early && !counts.contains(&0), "{line}: {counts:?}");
    }
    for (line, said) in [
        (
            "data convert FILE -o h.csv",
            "columns opening, weight, wide, checked, day, which csv does not carry",
        ),
        (
            "data merge FILE --sample 20 -o l.parquet",
            "checked, day, which data merge does not carry where it drops positions",
        ),
        ("data convert FILE -o k.parquet", "left out are the columns tags, which are nested"),
    ] {
        let line = line.replace("FILE", &file.to_string());
        let output = patzer(here, &line.split_whitespace().collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.contains(said), "{line}: {stderr}");
    }
}

#[test]
fn missing_columns_are_empty_or_computed_and_named() {
    let (read, stderr) = converted(&fixture("duckdb.parquet"), "");
    let mut expected = positions(&fixture("source.parquet"));
    expected.reverse();
    for (row, record) in expected.iter_mut().enumerate() {
        // Facts that a single position lacks.
        record.flags &= !(flags::BOOK | flags::MATE_END);
        record.to_capture = if record.has(flags::CAPTURE) { 0 } else { 255 };
        record.to_check = if record.has(flags::GIVES_CHECK) { 0 } else { 255 };
        (record.to_end, record.depth, record.game) = (255, None, row as u32);
        record.ply = record.game_ply() as u16;
    }
    assert!(expected.iter().any(|record| record.flags != 0));
    assert!(read == expected);
    let said = "it lacks the columns ply, game, depth, flags, to_capture, to_check, to_end, which are empty or computed";
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn a_value_beyond_its_column_is_an_error_with_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let output = patzer(
        folder.path(),
        &["data", "convert", fixture("ep300.parquet").to_str().unwrap(), "-o", "x.csv"],
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("ep300.parquet: row 17: ep is 300, not a whole number from 0 to 255"),
        "{stderr}"
    );
    assert!(!folder.path().join("x.csv").exists());
}

/// A rewritten dataset goes through every command, also with a row group read by several threads.
#[test]
fn other_commands_take_rewritten_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |line: &str, name: &str| done(folder.path(), &line.replace("FILE", fixture(name).to_str().unwrap()));
    let names = ["polars.parquet", "source.parquet"];
    let [rewritten, source] = names.map(|name| run("data show FILE --count 200", name));
    assert!(rewritten == source && source.lines().count() > 100);
    let [rewritten, source] = names.map(|name| {
        let counts = ["stats", "validate"].map(|command| run(&format!("data {command} FILE --json"), name));
        counts.map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap()["positions"].clone())
    });
    assert_eq!(rewritten, source);
    for (line, output) in [
        ("label FILE -o x.parquet", "x.parquet"),
        ("data shuffle FILE -o x.bullet --no-score 0", "x.bullet"),
        ("data merge FILE FILE -o y.parquet --threads 3", "y.parquet"),
    ] {
        let [rewritten, source] = names.map(|name| {
            run(line, name);
            positions(&folder.path().join(output))
        });
        assert!(rewritten == source && !source.is_empty(), "{line}");
    }
}

/// A table as Lichess publishes it on Hugging Face: White's scores, the best line, no results.
#[test]
fn a_parquet_table_with_fens_is_read() {
    let (read, stderr) = converted(&fixture("lichess.parquet"), "");
    let facts: Vec<_> = read.iter().map(|r| (r.score.unwrap(), r.depth.unwrap(), r.result)).collect();
    assert_eq!(facts, [(-69, 46, 0), (4, 38, 0), (31_971, 40, 0)]);
    assert_eq!(read[0].played.to(), shakmaty::Square::G7);
    assert!(stderr.contains("scores are read as White's"), "{stderr}");
    assert!(stderr.contains("it has no results, so every game counts as drawn"), "{stderr}");
    let (turned, _) = converted(&fixture("lichess.parquet"), "--map score=cp,side=mover");
    assert_eq!(turned[0].score, Some(69));
}

#[test]
fn the_columns_of_a_table_can_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let csv = "id,board,eval,wdl\n1,8/8/8/4k3/8/8/4P3/4K3 b - - 0 1,55,1.0\n2,8/8/8/4k3/8/8/4P3/4K3 w - - 0 1,,0.5\n";
    std::fs::write(here.join("x.csv"), csv).unwrap();
    let (_, stderr) = converted(&here.join("x.csv"), "--map fen=board,score=eval,result=wdl,side=white");
    assert!(stderr.contains("x.csv: columns not read: id (a mapping"), "{stderr}");
    done(here, "data convert x.csv --map fen=board,score=eval,result=wdl,side=white -o x.parquet");
    let read = positions(&here.join("x.parquet"));
    let facts: Vec<_> = read.iter().map(|r| (r.score, r.result)).collect();
    assert_eq!(facts, [(Some(-55), 1), (None, 0)]);
    let json = csv.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        format!(
            "{{\"board\":\"{}\",\"eval\":{},\"wdl\":{}}}\n",
            cells[1],
            if cells[2].is_empty() { "null" } else { cells[2] },
            cells[3]
        )
    });
    std::fs::write(here.join("x.jsonl"), json.collect::<String>()).unwrap();
    let error = |line: &str| {
        let output = patzer(here, &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    done(here, "data convert x.jsonl --map fen=board,score=eval,result=wdl,side=white -o y.parquet");
    assert!(positions(&here.join("y.parquet")) == read);
    assert!(
        error("data convert x.csv --input-format csv -o z.csv")
            .contains("no column `fen`; a mapping such as fen=NAME")
    );
    assert!(
        error("data convert x.csv --map fen=board,score=eval -o z.csv")
            .contains("say it by a mapping, side=white or side=mover")
    );
    assert!(error("data convert x.csv --map fen=board,score=none -o z.csv").contains("has no column `none`"));
    assert!(error("data convert x.parquet -o z.jsonl").contains("jsonl is read only"));
}

/// The columns for other programs are in the file, and no part of the dataset.
#[test]
fn readable_columns_are_added_and_ignored_on_reading() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let source = fixture("source.parquet");
    done(here, &format!("data convert {} --with fen,uci -o x.parquet", source.display()));
    let output = patzer(here, &["data", "convert", "x.parquet", "-o", "y.parquet"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "y.parquet: without the columns fen,uci of the input, which are written where they are asked for\n"
    );
    assert!(positions(&here.join("y.parquet")) == positions(&source));
    done(here, &format!("data convert {} -o plain.parquet", source.display()));
    let size = |name: &str| std::fs::metadata(here.join(name)).unwrap().len();
    assert_eq!(size("y.parquet"), size("plain.parquet"));
    use parquet::record::RowAccessor;
    let file = SerializedFileReader::new(std::fs::File::open(here.join("x.parquet")).unwrap()).unwrap();
    let names: Vec<&str> =
        file.metadata().file_metadata().schema_descr().columns().iter().map(|c| c.name()).collect();
    assert_eq!(names[names.len() - 2..], ["fen", "uci"]);
    let row = file.get_row_iter(None).unwrap().next().unwrap().unwrap();
    assert_eq!(
        row.get_string(names.len() - 2).unwrap(),
        "rnbqk2r/ppp3bp/3p1np1/4pp2/2PP4/2N1P1P1/PP3PBP/R1BQK1NR w KQkq - 0 1"
    );
    assert_eq!(row.get_string(names.len() - 1).unwrap().len(), 4);
    let pairs = file.metadata().file_metadata().key_value_metadata().unwrap();
    let about = pairs.iter().find(|pair| pair.key == "patzer.columns").unwrap().value.as_ref().unwrap();
    let about: serde_json::Value = serde_json::from_str(about).unwrap();
    assert_eq!((&about["score"]["side"], &about["ep"]["empty"]), (&"side to move".into(), &"255".into()));
    let output = patzer(here, &["data", "convert", "x.parquet", "-o", "x.csv", "--with", "fen"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("--with: csv has no such columns"));
}

/// Writes cells as text, which tables take for numbers, in row groups of two.
pub fn write_table(path: &Path, names: &[&str], rows: &[Vec<&str>]) {
    use parquet::data_type::ByteArrayType;
    use parquet::file::writer::SerializedFileWriter;
    let columns = names.iter().map(|name| format!("OPTIONAL BYTE_ARRAY {name} (UTF8);\n"));
    let schema = format!("message table {{\n{}}}", columns.collect::<String>());
    let schema = Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut file = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    for rows in rows.chunks(2) {
        let mut group = file.next_row_group().unwrap();
        for column in 0..names.len() {
            let levels: Vec<i16> = rows.iter().map(|row| i16::from(!row[column].is_empty())).collect();
            let cells = rows.iter().map(|row| row[column]).filter(|cell| !cell.is_empty());
            let cells: Vec<_> = cells.map(parquet::data_type::ByteArray::from).collect();
            let mut writer = group.next_column().unwrap().unwrap();
            writer.typed::<ByteArrayType>().write_batch(&cells, Some(&levels), None).unwrap();
            writer.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
}

#[test]
fn a_column_of_fens_is_found_in_large_letters_or_named_by_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let rows = [vec!["8/8/8/4k3/8/8/4P3/4K3 w - - 0 1", "1-0"]];
    write_table(&here.join("large.parquet"), &["FEN", "Result"], &rows);
    done(here, "data convert large.parquet -o x.parquet");
    assert_eq!(positions(&here.join("x.parquet"))[0].result, 1);
    write_table(&here.join("other.parquet"), &["place", "Result"], &rows);
    let output = patzer(here, &["data", "convert", "other.parquet", "-o", "y.parquet"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("it has place, Result (a conversion with the mapping fen=NAME"), "{stderr}");
}

#[test]
fn tables_carry_leaves_and_mean_results() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let pgn: String =
        ["1-0", "0-1", "1-0"].map(|end| format!("[Result \"{end}\"]\n\n1. e4 e5 2. Nf3 {end}\n\n")).concat();
    std::fs::write(here.join("g.pgn"), pgn).unwrap();
    done(here, "extract g.pgn --duplicates mean -o means.parquet");
    done(here, "label means.parquet -o labelled.parquet");
    done(here, "data convert labelled.parquet -o means.csv");
    let csv = std::fs::read_to_string(here.join("means.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, rows) = (lines.next().unwrap(), lines.collect::<Vec<_>>());
    write_table(&here.join("table.parquet"), &names, &rows);
    let json = rows.iter().map(|row| {
        let cells = names.iter().zip(row).map(|(name, cell)| format!("\"{name}\":\"{cell}\""));
        format!("{{{}}}\n", cells.collect::<Vec<_>>().join(","))
    });
    std::fs::write(here.join("means.jsonl"), json.collect::<String>()).unwrap();
    let before = positions(&here.join("labelled.parquet"));
    assert_eq!(before[0].mean.map(|mean| (mean.count, mean.sum)), Some((3, 1)));
    assert!(before[0].leaf.is_some());
    for table in ["means.csv", "means.jsonl", "table.parquet"] {
        done(here, &format!("data convert {table} -o back.parquet"));
        assert!(positions(&here.join("back.parquet")) == before, "{table}");
    }
}
