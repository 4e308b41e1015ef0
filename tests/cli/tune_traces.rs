//! `patzer tune traces`: traces of another engine, and its values as source code.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::net_emit::has;
use crate::{done, patzer};

#[path = "../../examples/write_traces.rs"]
#[allow(dead_code)]
mod write_traces;

/// Lines of FEN and result: material decides, mostly.
fn epd(lines: usize) -> String {
    let fens = [
        ("r1bq1rk1/ppp2ppp/2n1bn2/3p4/3P4/2N1BN2/PPP2PPP/R2QKB1R w KQ -", ["0.5", "0.5", "1.0", "0.0"]),
        ("8/5k2/8/3K4/8/8/7R/8 b - -", ["1.0", "1.0", "1.0", "0.5"]),
        ("8/5k2/8/3K4/8/8/7r/8 w - -", ["0.0", "0.0", "0.5", "0.0"]),
        ("4k3/pppp4/8/8/8/8/PPPPP3/4K3 w - -", ["1.0", "0.5", "1.0", "0.0"]),
        ("4k3/ppppp3/8/8/8/8/PPPP4/4K3 b - -", ["0.0", "0.5", "0.0", "1.0"]),
        ("4k3/pp3n2/8/8/8/8/PP2B3/4K3 w - -", ["0.5", "1.0", "0.5", "0.0"]),
        ("3qk3/pp6/8/8/8/8/PP6/3RK3 w - -", ["0.0", "0.0", "0.0", "0.5"]),
        ("3rk3/pp6/8/8/8/8/PP6/3QK3 b - -", ["1.0", "1.0", "1.0", "0.5"]),
    ];
    let line = |i: usize| {
        let (fen, results) = fens[i % fens.len()];
        format!("{fen} [{}]\n", results[i / fens.len() % 4])
    };
    (0..lines).map(line).collect()
}

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// Output of a program that reads positions.
fn piped(command: &mut std::process::Command, input: &str) -> Option<String> {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// A folder with traces as the Rust example writes them, and their terms.
fn traced() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let traces: String = epd(64)
        .lines()
        .filter_map(|line| write_traces::line(line).unwrap())
        .map(|line| line + "\n")
        .collect();
    fs::write(folder.path().join("traces.txt"), traces).unwrap();
    fs::copy(format!("{EXAMPLES}/traces/terms.toml"), folder.path().join("terms.toml")).unwrap();
    folder
}

/// Gives each four lines of the traces a game.
fn say_games(folder: &TempDir) {
    let path = folder.path().join("traces.txt");
    let text = fs::read_to_string(&path).unwrap();
    let numbered = text.lines().enumerate().map(|(i, line)| format!("{line} game={}\n", i / 4));
    fs::write(&path, numbered.collect::<String>()).unwrap();
}

const TRACES: &str = "tune traces traces.txt --terms terms.toml --validation 0 --l2 0.001";

#[test]
fn the_examples_read_every_dialect_and_write_the_same_traces_in_every_language() {
    let folder = traced();
    fs::write(folder.path().join("x.epd"), epd(64)).unwrap();
    let program = folder.path().join("write_traces");
    let test = "the examples that write traces";
    let (compiled, interpreted) = (has("cc", test), has("python3", test));
    if compiled {
        let source = format!("{EXAMPLES}/traces/write_traces.c");
        assert!(Command::new("cc").arg(source).arg("-o").arg(&program).status().unwrap().success());
    }
    let python = || {
        let mut command = Command::new("python3");
        command.arg(format!("{EXAMPLES}/traces/write_traces.py"));
        command
    };
    let mut dialects = Vec::new();
    for dialect in ["c9", "quoted", "bracket", "pipe", "leaf"] {
        // The last ones have a score, which these positions lack.
        let text = if let Some(game) =
            [("pipe", "", "35 "), ("leaf", " | 17", "")].iter().find(|one| one.0 == dialect)
        {
            epd(64).replace(" [", " 0 1 | 35 | ").replace(']', game.1).replacen("35 ", game.2, 1)
        } else {
            done(folder.path(), &format!("data convert x.epd -o {dialect}.epd --dialect {dialect}"));
            fs::read_to_string(folder.path().join(format!("{dialect}.epd"))).unwrap()
        };
        let lines = text.lines().filter_map(|line| write_traces::line(line).unwrap());
        let rust: String = lines.map(|line| line + "\n").collect();
        assert_eq!(rust.lines().count(), 64);
        if interpreted {
            assert_eq!(piped(&mut python(), &text).unwrap(), rust, "{dialect}");
        }
        if compiled {
            assert_eq!(piped(&mut Command::new(&program), &text).unwrap(), rust, "{dialect}");
        }
        if dialect == "leaf" {
            assert!(rust.lines().all(|line| line.contains(" game=17 ")), "{rust}");
            assert_eq!(rust.matches(" score=35 ").count(), 63);
            continue;
        }
        fs::write(folder.path().join("traces.txt"), &rust).unwrap();
        let fit =
            done(folder.path(), "tune traces traces.txt --terms terms.toml --wdl 1 --k 1 --epochs 2 --json");
        let fit: serde_json::Value = serde_json::from_str(&fit).unwrap();
        dialects.push(fit["train_loss"].as_f64().unwrap());
    }
    assert!(dialects.windows(2).all(|pair| pair[0] == pair[1]), "{dialects:?}");
    assert_eq!(write_traces::line("# a comment"), Ok(None));
    let bad = "\n8/5k2/8/3K4/8/8/7R/8 b - - 0 1\n";
    assert!(write_traces::line(bad.trim()).unwrap_err().starts_with("no result"));
    let commands = [interpreted.then(python), compiled.then(|| Command::new(&program))];
    for mut command in commands.into_iter().flatten() {
        fs::write(folder.path().join("bad.epd"), bad).unwrap();
        let input = fs::File::open(folder.path().join("bad.epd")).unwrap();
        let output = command.stdin(input).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.starts_with("line 2: no "), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn traces_come_from_a_pipe_whole() {
    let folder = traced();
    let loss = |line: &str| {
        let line = format!("{line} --epochs 2 --k 1 --overwrite --json");
        let mut command = Command::new("sh");
        command
            .args(["-c", &line.replace("patzer", env!("CARGO_BIN_EXE_patzer"))])
            .current_dir(folder.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("line 1"), "{said}");
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        result["train_loss"].as_f64().unwrap()
    };
    let piped = TRACES.replace("traces.txt", "/dev/stdin");
    assert_eq!(loss(&format!("cat traces.txt | patzer {piped}")), loss(&format!("patzer {TRACES}")));
}

#[test]
fn traces_of_another_engine_become_its_source_code() {
    let folder = traced();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let said = done(folder.path(), &format!("{TRACES} -o weights.hpp --export rust,json,csv,toml,c"));
    assert!(said.contains("the data cannot tell") && said.contains("never counted"), "{said}");
    let cpp = read("weights.hpp");
    assert!(cpp.contains("inline constexpr Score MATERIAL[5] = {S("), "{cpp}");
    assert!(read("weights.h").contains("static const Score PSQT[6][64] = {"));
    assert!(cpp.contains("// Seen in 0 to ") && cpp.contains(" positions of 0 to "), "{cpp}");
    let rust = read("weights.rs");
    assert!(
        rust.contains("pub const PSQT: [[[i32; 2]; 64]; 6] = [") && rust.contains("pub const TEMPO: i32 = ")
    );
    let json: serde_json::Value = serde_json::from_str(&read("weights.json")).unwrap();
    assert_eq!(json["terms"]["psqt"][5].as_array().unwrap().len(), 64);
    let rook = json["terms"]["material"][3][1].as_i64().unwrap();
    assert!(cpp.contains(&format!(", {rook})")));
    assert_eq!(read("weights.csv").lines().count(), 1 + 391);
    // One can go on from what came out.
    done(folder.path(), &format!("{} -o again.toml", TRACES.replace("terms.toml", "weights.toml")));
    let table = fs::read_to_string(folder.path().join("runs/weights/weights.csv")).unwrap();
    assert!(
        table.starts_with(
            "name,before,after,rounded,standard_error,spread,positions,games,prior,bound,fixed\n"
        )
    );
}

#[test]
fn wrong_counts_stop_a_fit_before_it_begins() {
    let folder = traced();
    let path = folder.path().join("traces.txt");
    let text = fs::read_to_string(&path).unwrap();
    // The first position: two rooks against none, and the move.
    let first = text.lines().next().unwrap().to_string();
    fs::write(&path, text.replacen(&first, &format!("{first} eval=5000"), 1)).unwrap();
    let run = |line: &str| patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    let refused = run(&format!("{TRACES} -o x.toml"));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    let error = said.lines().last().unwrap();
    assert!(
        error.starts_with("error: traces.txt: line 1: the engine says 5000, weights and counts "),
        "{said}"
    );
    assert!(error.contains("--max-deviation "), "{said}");
    assert!(said.contains("the engine's evaluation of 1 positions: off by "), "{said}");
    assert!(!folder.path().join("x.toml").exists());
    let allowed = run(&format!("{TRACES} -o x.toml --max-deviation 1e6"));
    assert!(allowed.status.success(), "{allowed:?}");
}

#[test]
fn counts_are_checked_without_a_fit() {
    let folder = traced();
    let path = folder.path().join("traces.txt");
    let run = |line: &str| patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    let check = "traces check traces.txt --terms terms.toml";
    let error = |output: std::process::Output| {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error(run(check)).ends_with("no line of the traces has eval=, so there is nothing to check\n"));
    // Each of the lines counts the move alone, worth its start value.
    fs::write(&path, "1 24 390:1 eval=10\n0 12 390:-1 eval=-12\n").unwrap();
    let terms = fs::read_to_string(folder.path().join("terms.toml")).unwrap();
    assert!(terms.contains("initial = 10\nbounds = [0, 50]"), "{terms}");
    let said = done(folder.path(), check);
    assert!(
        said.contains("evaluation of 2 positions: off by 1.00 centipawns in the mean, 2.0 at most"),
        "{said}"
    );
    let refused = error(run(&format!("{check} --max-deviation 1")));
    assert!(refused.contains("1 of 2 positions are above 1; --max-deviation 2 goes on"), "{refused}");
    // Where all lines are bad, the first says why.
    fs::write(&path, "1 24 999:1\nx\n").unwrap();
    let refused = error(run(TRACES));
    let told = "no positions are left to learn from: 2 lines, 2 of them bad, traces.txt: line 1: ";
    assert!(refused.contains(told), "{refused}");
}

#[test]
fn phases_beyond_the_full_phase_are_named() {
    let folder = traced();
    let run = |line: &str| {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let path = folder.path().join("terms.toml");
    let terms = fs::read_to_string(&path).unwrap();
    assert!(terms.contains("\nfull_phase = 24 "), "{terms}");
    fs::write(&path, terms.replace("full_phase = 24 ", "#")).unwrap();
    let (fitted, said) = run(TRACES);
    assert!(
        !fitted && said.contains("error: terms.toml: the traces have phases up to 24, and without"),
        "{said}"
    );
    let (checked, said) = run("traces check traces.txt --terms terms.toml");
    assert!(!checked && said.contains("write `full_phase = 24`"), "{said}");
    fs::write(&path, terms.replace("full_phase = 24 ", "full_phase = 22 ")).unwrap();
    let (fitted, said) = run(TRACES);
    assert!(
        fitted && said.contains("8 of 64 positions (12.5 %) have a phase above `full_phase` = 22, up to 24"),
        "{said}"
    );
}

#[test]
fn an_output_of_no_format_is_refused_before_any_work() {
    let folder = traced();
    let args = format!("{TRACES} -o weights.py");
    let refused = patzer(folder.path(), &args.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.starts_with("error: weights.py: its ending names no format; known are .h .c "), "{said}");
    assert!(!folder.path().join("runs").exists() && !folder.path().join("weights.py").exists());
    let path = folder.path().join("terms.toml");
    let terms = fs::read_to_string(&path).unwrap();
    let template = "[output]\ntemplate = '{name} = {values}'\n";
    assert_eq!(terms.matches("[output]\n").count(), 1, "{terms}");
    fs::write(&path, terms.replacen("[output]\n", template, 1)).unwrap();
    done(folder.path(), &args);
    let weights = fs::read_to_string(folder.path().join("weights.py")).unwrap();
    assert!(weights.starts_with("# Tuned by patzer "), "{weights}");
}

#[test]
fn indices_are_the_offsets_of_a_struct() {
    let folder = traced();
    let said = done(folder.path(), "traces indices --terms terms.toml");
    assert!(said.contains("char material[5]; /* 0 to 4 */"), "{said}");
    assert!(said.ends_with("} Terms;\n"), "{said}");
    let json = done(folder.path(), "traces indices --terms terms.toml --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let terms = json["terms"].as_array().unwrap();
    assert_eq!(terms.last().unwrap()["last"], 390);
    for pair in terms.windows(2) {
        assert_eq!(pair[0]["last"].as_u64().unwrap() + 1, pair[1]["first"].as_u64().unwrap());
    }
}

#[test]
fn values_that_a_type_does_not_hold_are_refused_and_weak_ones_are_marked() {
    let folder = traced();
    say_games(&folder);
    let path = folder.path().join("terms.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("format = 1", "format = 1\ntype = \"i8\"", 1)).unwrap();
    let run = |line: &str| {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), output.stdout)
    };
    let (code, said, _) = run(TRACES);
    assert_eq!(code, Some(1));
    assert_eq!(said, "error: terms.toml: `material`: `initial` has 300, which does not fit `i8`\n");
    fs::write(&path, text.replacen("format = 1", "format = 1\ntype = \"i16\"", 1)).unwrap();
    let (code, said, stdout) = run("tune traces traces.txt --terms terms.toml --json -o x.hpp");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("weights are tuned on ") && said.contains(" that were held out: validation loss "),
        "{said}"
    );
    let result: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
    let weights = result["weights"].as_array().unwrap();
    let rook = weights.iter().find(|weight| weight["name"] == "material[3] midgame").unwrap();
    assert!(
        rook["games"].as_u64().unwrap() > 0 && rook["positions"].as_u64() >= rook["games"].as_u64(),
        "{rook}"
    );
    assert!(result["scale_factor"].as_f64().unwrap() > 0.0 && result["warning"].is_string(), "{result}");
}

#[test]
fn tuned_values_go_into_the_source_and_only_when_asked() {
    let folder = traced();
    let path = folder.path().join("evaluate.c");
    let terms = folder.path().join("terms.toml");
    let text = fs::read_to_string(&terms).unwrap();
    let output = "output = { symbol = \"Material\" }";
    fs::write(&terms, text.replacen("name = \"material\"", &format!("name = \"material\"\n{output}"), 1))
        .unwrap();
    let source = "const Score Material[5] = { S( 80, 90), S(310,305), S(300,300), S(500,500), S(900,900) };\n\
                  const int tempo = 3; // centipawns\n";
    fs::write(&path, source).unwrap();
    let line = format!("{TRACES} --fix psqt,bishop_pair --patch evaluate.c -o x.toml");
    let run = |line: &str| patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
    // A term without a declaration ends the run before the fit.
    let refused = run(&line);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("error: no declaration of `psqt` with its values in evaluate.c"), "{said}");
    assert!(refused.status.code() == Some(1) && !folder.path().join("x.toml").exists());
    let none = "output = { symbol = \"\" }";
    let text = fs::read_to_string(&terms).unwrap();
    let text = ["psqt", "bishop_pair"].iter().fold(text, |text, name| {
        text.replacen(&format!("name = \"{name}\""), &format!("name = \"{name}\"\n{none}"), 1)
    });
    fs::write(&terms, text).unwrap();
    let said = done(folder.path(), &line);
    let diff = fs::read_to_string(folder.path().join("runs/x/weights.diff")).unwrap();
    assert!(
        diff.starts_with(
            "--- evaluate.c\n+++ evaluate.c\n@@ -1,2 +1,2 @@\n-const Score Material[5] = { S( 80"
        )
    );
    assert!(said.contains(&diff) && said.contains("in evaluate.c: not written; --in-place does"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), source);
    // The source gives the start values, but for terms that it does not declare.
    done(folder.path(), &format!("{TRACES} --source evaluate.c --fix psqt,bishop_pair -o y.toml"));
    let csv = fs::read_to_string(folder.path().join("runs/y/weights.csv")).unwrap();
    for start in
        ["material[0] midgame,80,", "material[1] endgame,305,", "tempo,3,", "bishop_pair midgame,20,"]
    {
        assert!(csv.lines().any(|line| line.starts_with(start)), "{start}: {csv}");
    }
    // Later, from the tuned terms.
    let said = done(folder.path(), "traces patch evaluate.c --terms x.toml --in-place");
    assert!(said.contains(&diff) && said.contains("in evaluate.c: written"), "{said}");
    let patched = fs::read_to_string(&path).unwrap();
    assert!(
        patched != source
            && patched.contains("Score Material[5] = { S(")
            && patched.contains("; // centipawns")
    );
    assert!(done(folder.path(), "traces patch evaluate.c --terms x.toml").contains("patch     0 numbers"));
}

#[test]
#[cfg(unix)]
fn the_recipes_of_the_documentation_run() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/traces.md")).unwrap();
    let section = |name: &str| page.split_once(name).unwrap().1.split("\n## ").next().unwrap();
    let scripts: Vec<&str> = ["\n## Non-linear parts\n", "\n## Check the counts\n", "\n## Recipes\n"]
        .into_iter()
        .flat_map(|name| section(name).split("```sh\n").skip(1))
        .map(|part| part.split("```").next().unwrap())
        .collect();
    assert_eq!(scripts.len(), 10);
    let folder = tempfile::tempdir().unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_patzer")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for script in scripts {
        let mut command = Command::new("sh");
        command.args(["-e", "-c", script]).env("PATH", &path).current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        // The traces count what the recipe is about. A table is determined up to a constant alone.
        let determined = !said.contains("never counted") && !said.contains("cannot tell");
        assert!(determined || script.contains("[[part]]"), "{script}{said}");
    }
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        read("midgame-tuned.toml").contains("initial = [12]") && read("quiet.txt").contains(" | | 0.0 | 0\n")
    );
    assert!(read("special.txt").contains(" scale=0.5 weight=0.25 0:"));
    let values = |name: &str| -> Vec<f64> {
        let line =
            read(name).lines().find_map(|line| line.strip_prefix("initial = ").map(String::from)).unwrap();
        let numbers = line.split([',', '[', ']', ' ']).filter(|part| !part.is_empty());
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let (scaled, kept) = (values("scaled.toml"), values("kept.toml"));
    assert!(scaled[0] < 0.7 * kept[0], "{scaled:?} {kept:?}");
}

#[test]
#[cfg(unix)]
fn exported_code_compiles() {
    let folder = traced();
    done(folder.path(), &format!("{TRACES} -o weights.rs"));
    fs::write(folder.path().join("main.rs"), "mod weights; fn main() { println!(\"{}\", weights::TEMPO); }")
        .unwrap();
    let rustc =
        Command::new("rustc").args(["--edition", "2021", "main.rs"]).current_dir(folder.path()).output();
    assert!(rustc.is_ok_and(|output| output.status.success()));
}

#[test]
fn bad_lines_are_counted_and_named_and_strict_stops_at_the_first() {
    let folder = traced();
    let path = folder.path().join("traces.txt");
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(String::from).collect();
    lines.insert(2, "1.0 24 9999:1".to_string());
    lines.push("what is this".to_string());
    fs::write(path, lines.join("\n")).unwrap();
    fs::write(folder.path().join("x.epd"), epd(64).replacen("[0.5]", "[draw]", 1)).unwrap();
    let run = |line: &str| {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, notes) = run(TRACES);
    assert_eq!(code, Some(0), "{notes}");
    for part in
        ["traces.txt: line 3: index 9999 is beyond the 391 entries", "line 66", "66 positions read, 2 bad"]
    {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let (code, notes) = run(&format!("{TRACES} --strict"));
    assert_eq!(code, Some(1));
    assert!(notes.starts_with("error: traces.txt: line 3: index 9999"), "{notes}");
    let epd = "tune hce x.epd --terms material --no-resolve --validation 0 --l2 0.001";
    let (code, notes) = run(epd);
    assert_eq!(code, Some(0), "{notes}");
    assert!(
        notes.contains("x.epd: line 1: no result") && notes.contains("1 dropped (bad line 1)"),
        "{notes}"
    );
    assert!(run(&format!("{epd} --strict")).1.starts_with("error: x.epd: line 1: no result"));
    // With the leaves of quiescence search.
    let (code, notes) = run(&epd.replace("--no-resolve ", ""));
    assert!(code == Some(0) && notes.contains("x.epd: line 1"), "{notes}");
}

#[test]
fn traces_in_columns_are_those_in_lines() {
    use parquet::data_type::{DoubleType, FloatType, Int32Type};
    let folder = traced();
    let text = fs::read_to_string(folder.path().join("traces.txt")).unwrap();
    let schema = "message m { REQUIRED DOUBLE result; OPTIONAL INT32 phase; \
        REQUIRED GROUP index (LIST) { REPEATED GROUP list { OPTIONAL INT32 element; } } REPEATED FLOAT coefficient; }";
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let file = fs::File::create(folder.path().join("traces.parquet")).unwrap();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(file, schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let results: Vec<f64> = lines.iter().map(|line| line[0].parse().unwrap()).collect();
    let phases: Vec<i32> = lines.iter().map(|line| line[1].parse().unwrap()).collect();
    let counts = |line: &[&str]| {
        line[2..]
            .iter()
            .map(|pair| pair.split_once(':').unwrap())
            .map(|(i, c)| (i.parse().unwrap(), c.parse().unwrap()))
            .collect::<Vec<(i32, f32)>>()
    };
    let all: Vec<(i32, f32)> = lines.iter().flat_map(|line| counts(line)).collect();
    let repetition: Vec<i16> =
        lines.iter().flat_map(|line| (2..line.len()).map(|i| i16::from(i > 2))).collect();
    macro_rules! column {
        ($kind:ty, $values:expr, $definition:expr, $repetition:expr) => {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<$kind>().write_batch($values, $definition, $repetition).unwrap();
            column.close().unwrap();
        };
    }
    column!(DoubleType, &results, None, None);
    column!(Int32Type, &phases, Some(&vec![1; lines.len()]), None);
    let indices: Vec<i32> = all.iter().map(|pair| pair.0).collect();
    column!(Int32Type, &indices, Some(&vec![2; all.len()]), Some(&repetition));
    let coefficients: Vec<f32> = all.iter().map(|pair| pair.1).collect();
    column!(FloatType, &coefficients, Some(&vec![1; all.len()]), Some(&repetition));
    group.close().unwrap();
    writer.close().unwrap();
    done(folder.path(), &format!("{TRACES} -o text.json"));
    done(folder.path(), &format!("{} -o columns.json", TRACES.replace("traces.txt", "traces.parquet")));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("text.json"), read("columns.json"));
}

#[test]
fn traces_that_do_not_say_their_games_are_warned_of() {
    let folder = traced();
    let run = |line: &str| {
        let output = patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        String::from_utf8(output.stderr).unwrap()
    };
    let warning = "traces.txt does not say which positions are of one game (game=N)";
    let line = TRACES.replace("--validation 0", "--validation 0.3 --epochs 1 --overwrite");
    let said = run(&line);
    assert!(said.contains(warning), "{said}");
    say_games(&folder);
    let said = run(&line);
    assert!(!said.contains(warning) && said.contains("to validate"), "{said}");
    // The converter gives no game to positions whose file has none.
    fs::write(folder.path().join("x.epd"), epd(64)).unwrap();
    done(folder.path(), "data convert x.epd -o t.txt --format traces");
    assert!(!fs::read_to_string(folder.path().join("t.txt")).unwrap().contains("game="));
}

/// Traces of two features of equal size, one of which `decides` the result and the score.
fn two_features(decides: usize, positions: usize) -> String {
    let line = |i: usize| {
        let counts = [i % 7, i / 7 % 7].map(|count| count as i32 - 3);
        let score = 100 * counts[decides];
        // Two results of eleven are upset.
        let result =
            ["0-1", "1/2-1/2", "1-0"][(if i % 11 < 2 { -score } else { score }.signum() + 1) as usize];
        format!("{result} 1 game={} score={score} 0:{} 1:{}\n", i / 10, counts[0], counts[1])
    };
    (0..positions).map(line).collect()
}

#[test]
fn weights_that_judge_worse_on_own_games_are_not_written_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let term = |name: &str, initial: u32| {
        format!("[[term]]\nname = \"{name}\"\nkind = \"single\"\ninitial = {initial}\n")
    };
    write("terms.toml", &format!("format = 1\n{}{}", term("a", 100), term("b", 0)));
    write("other.txt", &two_features(1, 3_000));
    write("own.txt", &two_features(0, 1_000));
    write("new.txt", &two_features(1, 1_000));
    let fit = |args: &str| {
        let line = format!("tune traces other.txt --terms terms.toml --k 1 -o new.toml --overwrite {args}");
        patzer(folder.path(), &line.split_whitespace().collect::<Vec<_>>())
    };
    let written = || folder.path().join("new.toml").exists();
    let output = fit("--judge own.txt --json");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), written()), (Some(10), false), "{result}");
    let judge = &result["judge"];
    assert_eq!((&judge["verdict"], &judge["positions"]), (&"worse".into(), &1_000.into()));
    assert!(judge["loss_after"].as_f64().unwrap() > judge["loss_before"].as_f64().unwrap(), "{judge}");
    assert_eq!(result["refused"], true);
    let text = String::from_utf8(fit("--judge own.txt").stdout).unwrap();
    assert!(text.contains("against their results: worse than the initial weights"), "{text}");
    assert!(text.contains("new.toml is not written, --force writes it"), "{text}");
    assert_eq!((fit("--judge own.txt --force").status.code(), written()), (Some(0), true));
    fs::remove_file(folder.path().join("new.toml")).unwrap();
    let better = String::from_utf8(fit("--judge new.txt").stdout).unwrap();
    assert!(
        written() && better.contains("against their results: better than the initial weights"),
        "{better}"
    );
    // Positions without scores judge nothing.
    write("bare.txt", &two_features(0, 50).replace("score=", "constant="));
    let output = fit("--judge bare.txt");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1)
            && said.contains("--judge: the scores' K: there are no scored positions"),
        "{said}"
    );
}

#[test]
fn the_macros_of_the_page_compile_with_every_compiler() {
    let page = include_str!("../../docs/traces.md");
    let from = page.find("#ifdef PATZER_TRACE").unwrap();
    let macros = &page[from..from + page[from..].find("#endif").unwrap()];
    let program = format!(
        "#define PATZER_TRACE\nenum {{ BLACK, WHITE }};\n{macros}#endif\n\
         PatzerTrace trace;\n\
         int attacked(int square) {{ return square % 28; }}\n\
         int main(int argc, char **argv) {{\n    (void)argv;\n    \
         NOTE(Mobility[1][attacked(argc)], WHITE, 1);\n    return trace.white[10 + 28 + attacked(argc)] != 1;\n}}\n"
    );
    let test = "the macros of docs/traces.md";
    for (compiler, name) in [("gcc", "a.c"), ("clang", "a.c"), ("g++", "a.cpp"), ("clang++", "a.cpp")] {
        if !has(compiler, test) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, &program).unwrap();
        let mut command = Command::new(compiler);
        command
            .args(["-Wall", "-Wextra", "-Werror", "-I", &format!("{EXAMPLES}/traces"), "-o", "a"])
            .arg(&path);
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(Command::new(folder.path().join("a")).status().unwrap().success(), "{compiler}");
    }
}
