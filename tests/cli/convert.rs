//! `patzer data convert` as a user runs it, and commands that take other formats.

use std::path::{Path, PathBuf};

use patzer_data::{AnyReader, Record};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::listing;
use patzer_formats::registry;

use crate::{done, patzer};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn positions(path: &Path) -> Vec<Record> {
    AnyReader::open(path, None).unwrap().read_all().unwrap()
}

/// A folder with a few games of the bundled engine, and two of people, which have no scores; extracted.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let few = |name: &str, games: usize| -> String {
        let text = patzer_io::read(&fixture(name), patzer_io::Limit::BOOK).unwrap();
        String::from_utf8_lossy(&text).split_inclusive("\n\n").take(2 * games).collect()
    };
    let text = few("engine.pgn.zst", 12) + &few("games.pgn.zst", 2);
    std::fs::write(folder.path().join("games.pgn"), text).unwrap();
    done(folder.path(), "extract games.pgn");
    folder
}

/// The one line of an error of a run that has to fail for the user's fault and write nothing.
fn refused(folder: &Path, line: &str) -> String {
    let before = std::fs::read_dir(folder).unwrap().count();
    let output = patzer(folder, &line.split_whitespace().collect::<Vec<_>>());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), before, "{line} leaves something");
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    errors[0].to_string()
}

#[test]
fn every_format_comes_back_as_a_dataset() {
    let folder = folder();
    let before = positions(&folder.path().join("positions.parquet"));
    for format in registry::written() {
        let name = format!("x.{}", format.endings[0]);
        let json = done(folder.path(), &format!("data convert positions.parquet -o {name} --json"));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let dropped: u64 = json["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(json["positions_read"], before.len() as u64, "{name}");
        assert_eq!(json["positions_written"].as_u64().unwrap() + dropped, before.len() as u64, "{name}");
        assert_eq!(json["format"], format.name);
        done(folder.path(), &format!("data convert {name} -o back.parquet"));
        let after = positions(&folder.path().join("back.parquet"));
        assert_eq!(after.len() as u64, json["positions_written"].as_u64().unwrap(), "{name}");
        if let Some(form) = format.score {
            let scores = |samples: &[Record]| samples.iter().filter_map(|s| s.score).collect::<Vec<_>>();
            let before: Vec<i16> = scores(&before).into_iter().map(|score| form.read_back(score)).collect();
            assert_eq!(scores(&after), before, "{name}");
        }
    }
}

/// Every command that moves positions, its input and output of each format that is written.
#[test]
fn every_command_reads_and_writes_what_the_names_say() {
    let folder = folder();
    let here = folder.path();
    let count = |json: &str| {
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let number = |name: &str| json[name].as_u64().unwrap();
        let dropped: u64 = json["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(number("positions_written") + dropped, number("positions_read"), "{json}");
        (number("positions_read"), number("positions_written"))
    };
    for format in registry::written() {
        let ending = format.endings[0];
        let scored = if format.needs == Capabilities::NONE { "" } else { "--no-score 0" };
        done(here, &format!("data convert positions.parquet -o in.{ending} {scored}"));
        let records = positions(&here.join(format!("in.{ending}")));
        let kept = records.len() as u64;
        for (line, outputs, positions_read) in [
            ("data shuffle in.E -o out.E", vec!["out"], kept),
            ("data merge in.E in.E -o out.E", vec!["out"], 2 * kept),
            ("data split in.E -o part.E --train 0.5 --test 0.5", vec!["part.train", "part.test"], kept),
            ("data interleave in.E=2 in.E=1 -o out.E", vec!["out"], 2 * kept),
            ("label in.E -o out.E", vec!["out"], kept),
        ] {
            let json = done(here, &(line.replace(".E", &format!(".{ending}")) + " --json -q"));
            let mut written = 0;
            for output in outputs {
                let path = here.join(format!("{output}.{ending}"));
                let reader = AnyReader::open(&path, None).unwrap();
                // The dialects of text are one format to a reader.
                assert!(format.dialect.is_some() || reader.format().name == format.name, "{line}");
                written += reader.read_all().unwrap().len() as u64;
            }
            if line.starts_with("label") {
                assert_eq!(written, kept, "{ending}: {line}");
            } else {
                assert_eq!(count(&json), (positions_read, written), "{ending}: {line}");
            }
        }
    }
}

#[test]
fn an_unknown_ending_is_refused_with_the_known_ones() {
    let folder = folder();
    let here = folder.path();
    for line in [
        "extract games.pgn -o y.ebd",
        "data convert positions.parquet -o y.ebd",
        "data shuffle positions.parquet -o y.ebd",
        "data merge positions.parquet -o y.ebd.zst",
        "data interleave positions.parquet -o y.ebd",
        "label -o y.ebd",
    ] {
        let error = refused(here, line);
        for part in ["y.ebd", ": its ending names no format", ".parquet .csv", ".binpack", "--format"] {
            assert!(error.contains(part), "{line}: {error}");
        }
    }
    assert!(refused(here, "data convert positions.parquet -o y.ebd").contains("; did you mean `.epd`?"));
    done(here, "data shuffle positions.parquet -o y.ebd --format bullet --no-score 0 -q");
    assert!(
        refused(here, "data convert positions.parquet -o y.parquet.zst").contains("compresses its own pages")
    );
    assert!(refused(here, "data shuffle -o y.viri --compress 3").contains("viri is not compressed"));
    assert!(refused(here, "data interleave positions.parquet=0 -o z.parquet").contains("a number above 0"));
}

/// A shuffle's order depends on the number of positions, which a stream says only at its end.
#[test]
fn a_shuffle_is_the_same_whatever_the_format_it_reads() {
    let folder = folder();
    let here = folder.path();
    done(here, "data convert positions.parquet -o x.csv");
    done(here, "data shuffle positions.parquet --seed 3 -o a.csv -q");
    done(here, "data shuffle x.csv --seed 3 --memory 100K -o b.csv -q");
    let [a, b] = ["a.csv", "b.csv"].map(|name| std::fs::read(here.join(name)).unwrap());
    assert!(a == b);
    assert!(a != std::fs::read(here.join("x.csv")).unwrap());
}

#[test]
fn a_mix_has_the_shares_of_its_weights_and_keeps_games_whole() {
    let folder = folder();
    let here = folder.path();
    done(here, "data convert positions.parquet -o scored.binpack");
    done(here, "data convert scored.binpack -o scored.parquet");
    let json = done(here, "data interleave scored.parquet=1 scored.binpack=3 --seed 4 -o mix.parquet --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let [first, second] = [0, 1].map(|nth| json["taken"][nth][1].as_f64().unwrap());
    let all = positions(&here.join("scored.parquet")).len() as f64;
    // Binomial with 1,300 draws of 3 in 4: four standard deviations are 5 %, and a game more or less 10 %.
    assert!((0.6..0.9).contains(&(second / (first + second))), "{first} {second}");
    assert!(second == all, "the mix ends with the file that is used up: {second} of {all}");
    let mixed = positions(&here.join("mix.parquet"));
    assert_eq!(mixed.len() as f64, first + second);
    let mut games: Vec<u32> = mixed.chunk_by(|a, b| a.game == b.game).map(|game| game[0].game).collect();
    assert!(games.windows(2).filter(|pair| pair[0] % 2 != pair[1] % 2).count() > 3, "{games:?}");
    games.sort_unstable();
    assert!(games.windows(2).all(|pair| pair[0] != pair[1]), "a game comes twice");
    done(here, "data interleave scored.parquet=1 scored.binpack=3 --seed 4 -o again.parquet --threads 1 -q");
    assert!(positions(&here.join("again.parquet")) == mixed);
    // Position by position where there are no games, by the seed.
    done(here, "data convert scored.parquet -o scored.bullet --no-score 0");
    let mixes = [4, 4, 5].map(|seed| {
        done(
            here,
            &format!("data interleave scored.bullet=1 scored.bullet=3 --seed {seed} -o mix.bullet -q"),
        );
        std::fs::read(here.join("mix.bullet")).unwrap()
    });
    assert!(mixes[0] == mixes[1] && mixes[1] != mixes[2]);
}

#[test]
fn extract_writes_what_convert_would() {
    let folder = folder();
    for name in ["x.epd", "x.bullet", "x.binpack", "x.csv", "x.viri", "x.plain"] {
        done(folder.path(), &format!("extract games.pgn -o {name}"));
        done(folder.path(), &format!("data convert positions.parquet -o converted.{}", &name[2..]));
        let [a, b] = [name.to_string(), format!("converted.{}", &name[2..])]
            .map(|n| std::fs::read(folder.path().join(n)).unwrap());
        assert!(a == b, "{name}");
    }
    done(folder.path(), "extract games.pgn -o - --format epd");
    let error = refused(folder.path(), "extract games.pgn -o y --format nonsense");
    assert!(error.contains("there are parquet, csv, epd"), "{error}");
}

#[test]
fn what_is_lost_is_told_in_one_warning() {
    let folder = folder();
    let output = patzer(folder.path(), &["data", "convert", "positions.parquet", "-o", "x.bullet"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let warnings: Vec<&str> = stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 1, "{stderr}");
    for text in ["left out: no_score (", "bullet does not carry: ", "castling rights (", "side to move ("] {
        assert!(warnings[0].contains(text), "{stderr}");
    }
    let output = patzer(folder.path(), &["data", "convert", "positions.parquet", "-o", "x.csv"]);
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn files_that_count_again_and_parts_without_positions_are_named() {
    let folder = folder();
    let warned = |line: &str, text: &str| {
        let output = patzer(folder.path(), &line.split(' ').collect::<Vec<_>>());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.contains(text), "{line}: {stderr}");
    };
    let again = "./positions.parquet is the file positions.parquet again, so its positions count once more";
    warned("data merge positions.parquet ./positions.parquet -o a.parquet", again);
    warned("data convert positions.parquet ./positions.parquet -o a.parquet", again);
    warned("data interleave positions.parquet=2 ./positions.parquet -o a.parquet", again);
    warned("data stats positions.parquet ./positions.parquet", again);
    let line = "data split positions.parquet --validation 0.00000001 -o tiny";
    warned(line, "tiny.validation.parquet: no position is in this part");
}

#[test]
fn dialects_compression_and_filters_are_chosen_by_flags() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o x.epd.zst --dialect bracket --filter quiet");
    let text = patzer_io::read_text(&folder.path().join("x.epd.zst"), patzer_io::Limit::BOOK).unwrap();
    assert!(text.lines().all(|line| line.ends_with(".0]") || line.ends_with(" [0.5]")), "{text}");
    done(folder.path(), "data convert positions.parquet -o quiet.parquet --filter quiet");
    assert_eq!(text.lines().count(), positions(&folder.path().join("quiet.parquet")).len());
    done(folder.path(), "data convert x.epd.zst -o x.fen");
    let json = done(folder.path(), "data convert positions.parquet -o pipe.epd --dialect pipe --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["format"], "text");
    assert!(json["dropped"]["no_score"].as_u64().unwrap() > 0);
    let error = refused(folder.path(), "data convert positions.parquet -o y.bullet --dialect c9");
    assert!(error.contains("has no dialects"), "{error}");
    done(folder.path(), "data convert positions.parquet -o all.bullet --no-score 0");
    let size = std::fs::metadata(folder.path().join("all.bullet")).unwrap().len();
    assert_eq!(size, 32 * positions(&folder.path().join("positions.parquet")).len() as u64);
}

#[test]
fn damage_is_named_with_its_place() {
    let folder = folder();
    let here = folder.path();
    for name in ["x.bullet", "x.viri", "x.binpack"] {
        done(here, &format!("data convert positions.parquet -o {name}"));
        let bytes = std::fs::read(here.join(name)).unwrap();
        std::fs::write(here.join(name), &bytes[..bytes.len() - 3]).unwrap();
        let error = refused(here, &format!("data convert {name} -o y.parquet"));
        assert!(error.starts_with(&format!("error: {name}: byte ")), "{error}");
    }
    let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c9 \"1-0\";\n";
    std::fs::write(here.join("x.epd"), format!("{line}\n{line}nonsense\n{line}")).unwrap();
    assert!(refused(here, "data convert x.epd -o y.csv").starts_with("error: x.epd: line 4: "));
    std::fs::write(here.join("x.plain"), "fen 8/8/8/8/8/8/8/8 w - - 0 1\n").unwrap();
    assert!(refused(here, "data convert x.plain -o y.csv").starts_with("error: x.plain: line 1: "));
    // The lines from `score` to `e` between two positions are lost.
    let fen = "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\nmove e1g1\n";
    std::fs::write(here.join("x.plain"), format!("{fen}{fen}score 1\nply 1\nresult 1\ne\n")).unwrap();
    assert!(refused(here, "data convert x.plain -o y.csv").starts_with("error: x.plain: line 3: "));
    std::fs::write(here.join("x.csv"), "fen,result\nnonsense,0\n").unwrap();
    assert!(refused(here, "data convert x.csv -o y.epd").starts_with("error: x.csv: line 2: "));
    std::fs::write(here.join("unknown"), "nonsense").unwrap();
    assert!(refused(here, "data convert unknown -o y.epd").contains("--input-format"));
    std::fs::write(here.join("empty"), "").unwrap();
    assert!(refused(here, "data convert empty -o y.epd").contains("is empty"));
    assert!(refused(here, "data convert x.epd -o x.epd").contains("is one of the inputs"));
}

#[test]
fn the_fits_take_any_format() {
    let folder = folder();
    done(folder.path(), "data convert positions.parquet -o foo.epd");
    let json = done(folder.path(), "label foo.epd -o foo.labelled.parquet --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["positions"], positions(&folder.path().join("foo.epd")).len() as u64);
    let labelled = positions(&folder.path().join("foo.labelled.parquet"));
    assert!(labelled.iter().any(|sample| sample.leaf.is_some()));
}

/// The tables of the pages are those of the code; `UPDATE=1` writes them.
#[test]
fn the_pages_have_the_tables_of_the_code() {
    let description = patzer_formats::native::description::markdown();
    for (page, begin, table) in [
        ("docs/formats.md", "<!-- from the registry -->\n", listing::markdown()),
        ("docs/schema.md", "<!-- from the columns -->\n", description),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once(begin).unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        let new = format!("{before}{begin}\n{table}\n<!-- end -->{after}");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &new).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap() == new, "{page} differs: run with UPDATE=1");
    }
}

#[test]
fn a_list_of_fens_is_read_under_its_first_line_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let fens =
        "fen\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n4k3/8/8/8/8/8/8/4K2R w K - 3 40\n";
    for name in ["list.epd", "list.fen", "list.txt", "list.csv"] {
        std::fs::write(folder.path().join(name), fens).unwrap();
        done(folder.path(), &format!("data convert {name} -o x.parquet"));
        assert_eq!(positions(&folder.path().join("x.parquet")).len(), 2, "{name}");
    }
}

#[test]
fn a_table_of_ones_and_zeros_says_what_zero_is() {
    let folder = tempfile::tempdir().unwrap();
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("x.csv", format!("fen,score,result\n{fen},120,1\n{fen},-120,0\n"));
    let row = |result: i32| format!("{{\"fen\":\"{fen}\",\"score\":0,\"result\":{result}}}\n");
    write("x.jsonl", row(1) + &row(0));
    for name in ["x.csv", "x.jsonl"] {
        let output = patzer(folder.path(), &["data", "convert", name, "-o", "x.epd"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains("0 is read as a draw"), "{name}: {said}");
    }
}

#[test]
fn results_between_win_draw_and_loss_stay_in_a_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let lines = format!("{fen} [0.900]\n{fen} | 655.0 | 0.25\n{fen};1.0\n");
    std::fs::write(folder.path().join("x.epd"), lines).unwrap();
    done(folder.path(), "data convert x.epd -o x.parquet");
    let read = positions(&folder.path().join("x.parquet"));
    let results: Vec<f32> = read.iter().map(|record| (record.outcome() + 1.0) / 2.0).collect();
    assert_eq!(results, [0.9, 0.25, 1.0]);
    assert_eq!(read[1].score, Some(655));
    // With and without filters a fit takes the same lines.
    for filter in ["", "--filter piece_count"] {
        let line = format!("tune x.epd --no-resolve --strict --epochs 1 --validation 0 --k 1 {filter}");
        done(folder.path(), &line);
    }
}

#[test]
fn filters_that_a_file_hides_its_facts_from_are_named() {
    let folder = folder();
    let here = folder.path();
    let said = |line: &str| {
        let output = patzer(here, &format!("data convert {line} -o x.csv").split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{line}");
        String::from_utf8(output.stderr).unwrap()
    };
    done(here, "data convert positions.parquet -o c9.epd");
    done(here, "data convert positions.parquet -o whole.epd --dialect bracket");
    let filters = "name = \"f\"\ndescription = \"f\"\n[[filter]]\nuse = \"halfmove\"\nmax = 9\n\
        [[filter]]\nuse = \"every_nth\"\n[[filter]]\nuse = \"piece_count\"\n";
    std::fs::write(here.join("f.toml"), filters).unwrap();
    let text = said("c9.epd --filter f.toml");
    let named = "c9.epd: does not say what these filters judge by, so they judge otherwise than in its games: \
        halfmove min=0 max=9 (halfmove clock), every_nth n=2 offset=0 (move number, ply)";
    assert!(text.contains(named), "{text}");
    // Counters make the same dialects whole.
    let hidden = "what these filters judge by";
    assert!(!said("whole.epd --filter f.toml").contains(hidden));
    let lines = std::fs::read_to_string(here.join("c9.epd")).unwrap();
    std::fs::write(here.join("clocks.epd"), lines.replace(" c9 ", " hmvc 3; fmvn 9; c9 ")).unwrap();
    assert!(!said("clocks.epd --filter f.toml").contains(hidden));
    assert!(!said("positions.parquet --filter f.toml").contains(hidden));
    // A dataset remembers what its source did not say.
    done(here, "data convert c9.epd -o copy.parquet");
    assert!(said("copy.parquet --filter f.toml").contains(hidden));
}
