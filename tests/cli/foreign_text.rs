//! Foreign text on stdout and stderr: whatever tags, file names, networks, engines and damaged files hold, nothing
//! that steers a terminal is printed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use patzer_eval::nnue::{About, Network};

use crate::{mock, patzer};

/// A colour, an overriding of the direction, a bell, the C1 form of `ESC [`, and a carriage return.
pub const EVIL: &str = "\u{1b}[31m\u{202e}\u{7}\u{9b}2J\rEVIL";

/// Stands for [`EVIL`] in a command line, which is split at blanks.
const MARK: &str = "EVIL";

/// Plies without a check, and a second game with a token that is no move.
fn games() -> String {
    let tags = |result: &str, white: &str, black: &str| {
        format!(
            "[Event \"{EVIL}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\
             [WhiteElo \"2500\"]\n[BlackElo \"2500\"]\n"
        )
    };
    let game = |result: &str, white: &str, black: &str| {
        let line = "1. e4 {0.30/9} e5 {0.20/9} 2. Nf3 {0.30/9} Nc6 {0.10/9} 3. Bb5 {0.1/9} a6 {0.2/9} 4. Ba4 {0.1/9}";
        format!("{}\n{line} {result}\n\n", tags(result, white, black))
    };
    let evil = format!("{EVIL} 1");
    let mut text = String::new();
    for result in ["1-0", "0-1", "1/2-1/2", "1-0"].repeat(10) {
        text += &game(result, &evil, "Beta");
        text += &game(result, "Beta", &format!("{EVIL} 2"));
        text += &game(result, &format!("{EVIL} 2"), &evil);
    }
    text + &format!("{}\n1. e4 e5 2. Q{EVIL}x9 1-0\n\n", tags("1-0", "a", "b"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name.replace(MARK, EVIL)), bytes).unwrap();
    write("games.pgn", games().as_bytes());
    write("EVIL.pgn", games().as_bytes());
    let position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    write("bad.epd", format!("{position}; c9 \"1-0\";\n{EVIL} w - - c9 \"1-0\";\n").as_bytes());
    write("bad.csv", format!("fen,score,result\n\"{EVIL}\",10,1\n").as_bytes());
    write("suite.epd", format!("{position} ;D1 20\n{EVIL} ;D1 20\n").as_bytes());
    let puzzle = format!("id{EVIL},8/8/{EVIL} w - - 0 1,e2e4 e7e5,1500,80,90,1,x,y,z\n");
    write("puzzles.csv", format!("{}{puzzle}", puzzles()).as_bytes());
    let network = patzer_eval::nnue::material::network(16).unwrap();
    let about = About { description: format!("{EVIL}\nerror: forged"), training: EVIL.to_string() };
    let network: Network = network.with_about(about);
    write("net.nnue", &network.to_bytes());
    write("EVIL.nnue", &network.to_bytes());
    write("raw.bin", &network.body());
    write("weights.hce.toml", b"version = 1\nk = 1.0\n\"\\u001b[31m\\u202e\\u0007EVIL\" = [1, 2]\n");
    write("recipe.toml", b"hidden = 16\n\"\\u001b[31m\\u202e\\u0007EVIL\" = 3\n");
    write("preset.toml", b"name = \"mine\"\n\n[[filter]]\nuse = \"\\u001b[31m\\u202e\\u0007EVIL\"\n");
    write("traces.txt", format!("1-0 12 0:1\n{EVIL} 12 0:1\n").as_bytes());
    write(
        "terms.toml",
        b"format = 1\nfull_phase = 24\n\n[[term]]\nname = \"\\u001b[31m\\u202eEVIL\"\nshape = 1\n",
    );
    write("EVIL.json", format!("{{\"{}\": 1}}\n", "\\u001b[31mEVIL").as_bytes());
    write("junk", format!("{EVIL}\n").repeat(20).as_bytes());
    for line in ["extract EVIL.pgn games.pgn -o positions.parquet", "extract EVIL.pgn -o EVIL.parquet"] {
        let output = run(folder.path(), line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
    folder
}

fn puzzles() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/puzzles.csv");
    fs::read_to_string(file).unwrap().lines().take(4).map(|line| format!("{line}\n")).collect()
}

fn run(folder: &Path, line: &str) -> std::process::Output {
    let args: Vec<String> = line.split(' ').map(|word| word.replace(MARK, EVIL)).collect();
    patzer(folder, &args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Faults of a command's output: raw characters, or none of the foreign text at all.
fn faults(line: &str, output: &std::process::Output) -> String {
    let mut wrong = String::new();
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let Ok(text) = std::str::from_utf8(bytes) else {
            wrong += &format!("patzer {line}: {stream} is not UTF-8\n");
            continue;
        };
        let steers = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        if let Some(raw) = text.lines().find(|line| line.contains(steers)) {
            wrong += &format!("patzer {line}: {stream} holds {raw:?}\n");
        }
        if text.lines().any(|line| line.starts_with("error: forged")) {
            wrong += &format!("patzer {line}: {stream} has a forged line\n");
        }
    }
    let all = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if !["u{1b}", "u001b", "u{202e}"].iter().any(|escape| all.contains(escape)) {
        wrong += &format!("patzer {line}: prints nothing of the foreign text: {all}\n");
    }
    wrong
}

/// Commands by what they print of foreign text; with `EVIL` for the text itself.
const COMMANDS: &[&str] = &[
    // File names in errors, results and notes; arguments.
    "extract EVIL",
    "extract games.pgn -o EVIL/x.parquet",
    "extract EVIL.pgn -o out-EVIL.parquet",
    "extract EVIL.pgn -o out-EVIL.parquet --json",
    "extract games.pgn --EVIL",
    "EVIL",
    "extract games.pgn --filter EVIL",
    "extract games.pgn --filter preset.toml",
    "extract games.pgn --filter-set EVIL=1",
    // Tags.
    "rate games.pgn",
    "rate games.pgn --los --crosstable --head-to-head Beta",
    "rate games.pgn --csv -",
    "rate games.pgn --json",
    "rate games.pgn --anchor EVIL=100",
    "wdl games.pgn EVIL",
    "wdl model EVIL.pgn",
    // Datasets.
    "data stats positions.parquet",
    "data stats positions.parquet --json",
    "data stats EVIL.parquet positions.parquet",
    "data validate EVIL.parquet",
    "data validate EVIL.parquet --json",
    "data show EVIL.pgn",
    "data show positions.parquet --columns EVIL",
    "data convert EVIL.parquet -o EVIL.csv",
    "data convert bad.epd -o x.parquet",
    "data convert bad.csv -o x.parquet",
    "data convert EVIL.parquet -o EVIL.txt --format traces",
    "data shuffle EVIL.parquet -o shuffled-EVIL.parquet",
    "data split EVIL.parquet -o EVIL",
    "data merge EVIL.parquet positions.parquet -o merged-EVIL.parquet",
    "label EVIL.parquet -o labelled-EVIL.parquet",
    "wdl EVIL.parquet --eval EVIL.nnue",
    "moves fit EVIL.parquet --count 50 --iterations 2 -o EVIL.toml",
    "moves predict positions.parquet --table EVIL",
    "net features EVIL",
    // Evaluations.
    "net info net.nnue",
    "net info net.nnue --json",
    "net info EVIL.nnue",
    "net convert net.nnue -o EVIL.bin",
    "net convert raw.bin -o EVIL2.nnue",
    "eval --eval weights.hce.toml",
    "eval --eval EVIL",
    "eval EVIL",
    // Tunings.
    "tune EVIL.parquet --recipe small -o tuned-EVIL.nnue --set epochs=1 --set hidden=16",
    "tune positions.parquet --recipe recipe.toml",
    "tune positions.parquet --recipe EVIL",
    "tune traces traces.txt --terms terms.toml",
    "tune traces EVIL --terms terms.toml",
    // Other text.
    "puzzles puzzles.csv --nodes 10",
    "perft --suite suite.epd",
    "perft 1 --fen EVIL",
    "elo EVIL",
    "sprt default default-hce --openings junk",
    "sprt default EVIL.nnue --games 2 --nodes 5 --max-moves 3 -o EVIL-sprt.pgn",
    "sprt --resume -o EVIL-sprt.pgn",
    "report EVIL-sprt.journal -o -",
    "match EVIL.nnue net.nnue default-hce --tournament round-robin --games 2 --nodes 5 --max-moves 3",
    "match EVIL.nnue net.nnue --games 2 --nodes 5 --max-moves 3 --json-lines",
    "match EVIL.nnue net.nnue --games 2 --nodes 5 --max-moves 3 --output-format fastchess",
    "match EVIL.nnue net.nnue --games 2 --nodes 5 --max-moves 3 --output-format cutechess",
    "selfplay EVIL.nnue --games 16 --nodes 5 -o EVIL-selfplay.pgn.zst",
    // Reports.
    "report positions.parquet -o -",
    "report EVIL.parquet -o EVIL.html",
    "report games.pgn -o -",
    "report EVIL.pgn -o EVIL.html --svg EVIL-svg",
    "report net.nnue --data positions.parquet -o -",
    "report EVIL.json",
    "report EVIL",
];

#[test]
#[cfg(unix)]
fn no_command_prints_what_steers_a_terminal() {
    let folder = folder();
    let wrong: String = COMMANDS.iter().map(|line| faults(line, &run(folder.path(), line))).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_engines_say_is_printed_without_what_steers_a_terminal() {
    let folder = folder();
    // An engine that dies at its start, with a word on standard error; one that dies in a game.
    for (start, engine) in [("foreign", "name=one".to_string()), ("", "option.Mode=foreign".to_string())] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
        command.current_dir(folder.path()).arg("sprt").env(mock::VARIABLE, start);
        for engine in [&engine, "name=other"] {
            command.args(["--engine", &mock::command(engine)]);
        }
        let output =
            command.args(["--nodes", "5", "--games", "2", "--max-moves", "3"]).stdin(Stdio::null()).output();
        let wrong = faults("sprt", &output.unwrap());
        assert!(wrong.is_empty(), "{start:?}: {wrong}");
    }
}
