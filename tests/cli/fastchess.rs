//! `patzer fastchess`, and what it has in common with `patzer cutechess`: what scripts of others rely on.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::mock;

pub const PATZER: &str = env!("CARGO_BIN_EXE_patzer");

/// A folder with a book of three openings.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let moves = ["e4", "d4", "c4"].map(|first| {
        let files = "abcdefgh";
        let file = files.find(&first[..1]).unwrap();
        let (left, right) = (file, 7 - file);
        let digit = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        format!(
            "rnbqkbnr/pppppppp/8/8/{}P{}/8/{}1{}/RNBQKBNR b KQkq - 0 1\n",
            digit(left),
            digit(right),
            "P".repeat(left),
            "P".repeat(right)
        )
    });
    fs::write(folder.path().join("book.epd"), moves.concat()).unwrap();
    folder
}

pub fn run_as(folder: &Path, program: &str, first: &[&str], words: &[String]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(folder).env(mock::VARIABLE, "").args(first).args(words);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Words of mock engines: how each gets its arguments, then its options.
pub fn mocks(arguments: &[&str], engines: &[impl AsRef<str>]) -> Vec<String> {
    let exe = std::env::current_exe().unwrap().display().to_string();
    let words = |options: &str| {
        let mut words = vec!["-engine".to_string(), format!("cmd={exe}")];
        words.extend(arguments.iter().map(|word| word.to_string()));
        words.extend(line(options));
        words
    };
    engines.iter().flat_map(|options| words(options.as_ref())).collect()
}

/// All arguments in one word.
pub const ARGS: [&str; 1] = ["args=--exact mock::engine --ignored --nocapture"];

pub fn line(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

#[track_caller]
pub fn played(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn refused(program: &str, text: &str) -> String {
    let folder = folder();
    let output = run_as(folder.path(), PATZER, &[program], &line(text));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

const SEEDS: [&str; 2] = ["name=A option.Seed=1", "name=B option.Seed=2"];

/// Plays mocks with the options of fastchess.
pub fn fastchess(folder: &Path, options: &str) -> Output {
    let words = [mocks(&ARGS, &SEEDS), line(options)].concat();
    run_as(folder, PATZER, &["fastchess"], &words)
}

#[test]
fn the_defaults_are_those_of_fastchess() {
    let folder = folder();
    let text = played(&fastchess(folder.path(), "-each nodes=5 -pgnout file=games.pgn"));
    // Two rounds of two games, nothing adjudicated, one report at the end.
    assert!(text.starts_with("Started game 1 of 4 (A vs B)\n"), "{text}");
    assert!(text.contains("\nFinished game 4 (B vs A): "), "{text}");
    assert_eq!(text.matches("\nResults of A vs B (5 nodes, NULL, NULL):\n").count(), 1, "{text}");
    assert!(text.contains("\nPtnml(0-2): [") && text.contains("\nFinished match\nTotal Time: "), "{text}");
    let pgn = fs::read_to_string(folder.path().join("games.pgn")).unwrap();
    assert!(!pgn.contains("adjudication"), "{pgn}");
    assert_eq!(pgn.matches("[Event \"Fastchess Tournament\"]\n").count(), 4);
    assert_eq!(pgn.matches("[Round \"2\"]\n").count(), 2);
    assert!(pgn.contains("[GameStartTime \"20") && pgn.contains("[GameDuration \"00:00:"), "{pgn}");
    // A second run appends, and another replaces the file.
    played(&fastchess(folder.path(), "-each nodes=5 -rounds 1 -pgnout file=games.pgn"));
    let count = || fs::read_to_string(folder.path().join("games.pgn")).unwrap().matches("[Event ").count();
    assert_eq!(count(), 6);
    played(&fastchess(folder.path(), "-each nodes=5 -rounds 1 -pgnout file=games.pgn append=false"));
    assert_eq!(count(), 2);
    assert!(!folder.path().join("games.journal").exists());
}

/// The command line that OpenBench's worker builds, word by word.
#[test]
fn the_command_line_of_openbenchs_worker_plays_its_test() {
    let folder = folder();
    let names = ["Engines", "Books", "PGNs"].map(|name| folder.path().join(name));
    names.iter().for_each(|name| fs::create_dir(name).unwrap());
    fs::rename(folder.path().join("book.epd"), folder.path().join("Books/book.epd")).unwrap();
    let exe = std::env::current_exe().unwrap();
    for name in ["Mock-1", "Mock-2"] {
        let script =
            format!("#!/bin/sh\nexec '{}' --exact mock::engine --ignored --nocapture\n", exe.display());
        let path = folder.path().join("Engines").join(name);
        fs::write(&path, script).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    // The worker renames the runner.
    let runner = folder.path().join("fastchess-ob");
    fs::hard_link(PATZER, &runner).or_else(|_| fs::copy(PATZER, &runner).map(drop)).unwrap();
    let options = "-recover -variant standard -testEnv -concurrency 2 -rounds 6 -games 2 \
        -resign movecount=3 score=9000 -draw movenumber=40 movecount=8 score=10 \
        -engine dir=Engines/ cmd=./Mock-1 proto=uci tc=8.00+0.08 option.Seed=1 option.Threads=1 option.Hash=16 name=Mock-dev \
        -engine dir=Engines/ cmd=./Mock-2 proto=uci tc=8.00+0.08 option.Seed=2 option.Threads=1 option.Hash=16 name=Mock-base \
        -openings file=Books/book.epd format=epd order=random start=5 -srand 123456 \
        -pgnout file=PGNs/1.2.3.0.pgn seldepth=true nodes=true";
    let mut words = line(options);
    words.push("match_line=^info string pgncomment .*".to_string());
    let output = run_as(folder.path(), runner.to_str().unwrap(), &[], &words);
    let text = played(&output);
    assert!(text.contains("Warning; Mock-dev doesn't have option Threads\n"), "{text}");
    // OpenBench's worker splits its results from the third and the seventh word.
    let mut numbers = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("Finished game")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        numbers.push(words[2].parse::<u32>().unwrap());
        assert!(["1-0", "0-1", "1/2-1/2"].contains(&words[6]), "{line}");
    }
    // Games are reported as they finish.
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(1..=12), "{text}");
    let pgn = fs::read_to_string(folder.path().join("PGNs/1.2.3.0.pgn")).unwrap();
    assert!(pgn.contains("s, n=") && pgn.contains(", sd=9"), "{pgn}");
    // Both games of a round begin alike, and the seed decides the order.
    let tags = |start| pgn.lines().filter_map(move |line: &str| line.strip_prefix(start));
    let round = |text: &str| text.trim_matches(['"', ']']).parse::<u32>().unwrap();
    let mut by_round: Vec<(u32, &str)> = tags("[Round ").map(round).zip(tags("[FEN ")).collect();
    by_round.sort_unstable();
    let fens: Vec<&str> = by_round.into_iter().map(|(_, fen)| fen).collect();
    assert_eq!(fens.len(), 12);
    assert!(fens.chunks(2).all(|pair| pair[0] == pair[1]), "{fens:?}");
    assert_eq!(fens[..6], fens[6..], "the book has three openings");
}

/// The command line that fishtest's worker builds, word by word.
#[test]
fn the_command_line_of_fishtests_worker_plays_its_test() {
    let folder = folder();
    let options = "-testEnv -recover -repeat -games 2 -rounds 3 -ratinginterval 1 -scoreinterval 1 \
        -autosaveinterval 0 -report penta=true -pgnout file=results.pgn append=false -crc32 pgn=true \
        -site https://tests.stockfishchess.org/tests/view/66b -srand 7 -resign movecount=3 score=9000 \
        -draw movenumber=34 movecount=8 score=20 -variant standard -concurrency 1 \
        -openings file=book.epd format=epd order=random plies=16 start=1 -check-mate-pvs";
    let mut words = line(options);
    words.extend(["-event".to_string(), "Batch 5: new vs base".to_string()]);
    words.extend(mocks(
        &ARGS,
        &[
            "tc=9.95+0.10 dir=. name=New-e443b2459e option.Seed=1",
            "tc=9.95+0.10 dir=. name=Base-e443 option.Seed=2",
        ],
    ));
    words.extend(line("-each proto=uci option.Seed=3"));
    let text = played(&run_as(folder.path(), PATZER, &["fastchess"], &words));
    let blocks = text.matches("\nGames: ").count();
    assert_eq!((blocks, text.matches("\nPtnml(0-2): [").count()), (3, 3), "{text}");
    assert!(
        text.contains("\nGames: 6, Wins: ") && text.contains("(9.95+0.1, NULL, NULL, book.epd):"),
        "{text}"
    );
    let pgn = fs::read(folder.path().join("results.pgn")).unwrap();
    let sum = text
        .lines()
        .filter_map(|line| line.strip_prefix("File results.pgn has CRC32: "))
        .next_back()
        .unwrap();
    let mut hasher = flate2::Crc::new();
    hasher.update(&pgn);
    assert_eq!(sum, format!("{:#x}", hasher.sum()));
    let pgn = String::from_utf8(pgn).unwrap();
    assert!(pgn.contains(
        "[Event \"Batch 5: new vs base\"]\n[Site \"https://tests.stockfishchess.org/tests/view/66b\"]"
    ));
}

#[test]
fn colours_openings_and_schedules_follow_the_options() {
    let folder = folder();
    let whites = |options: &str| -> Vec<String> {
        let text = played(&fastchess(folder.path(), &format!("-each nodes=2 -maxmoves 2 {options}")));
        let games = text.lines().filter_map(|line| line.strip_prefix("Started game "));
        games.map(|line| line.split(['(', ' ']).nth(4).unwrap().to_string()).collect()
    };
    assert_eq!(whites("-rounds 2"), ["A", "B", "A", "B"]);
    assert_eq!(whites("-rounds 2 -reverse"), ["B", "A", "B", "A"]);
    assert_eq!(whites("-rounds 2 -noswap"), ["A"; 4]);
    let fens = |options: &str| {
        let _ = fs::remove_file(folder.path().join("o.pgn"));
        let options =
            format!("-each nodes=2 -maxmoves 2 -openings file=book.epd -pgnout file=o.pgn {options}");
        played(&fastchess(folder.path(), &options));
        let pgn = fs::read_to_string(folder.path().join("o.pgn")).unwrap();
        let fens = pgn.lines().filter(|line| line.starts_with("[FEN "));
        fens.map(str::to_string).collect::<Vec<_>>()
    };
    let pairs = fens("-rounds 2 -games 2");
    assert!(pairs[0] == pairs[1] && pairs[1] != pairs[2], "{pairs:?}");
    let single = fens("-rounds 4 -games 1 -openings start=2");
    let pgn = fs::read_to_string(folder.path().join("o.pgn")).unwrap();
    assert!(pgn.contains("[Round \"4\"]"), "a round of one game: {pgn}");
    assert!(single[0] != single[1] && single[0] == single[3], "{single:?}");
}

#[test]
fn records_hold_what_was_asked_for() {
    let folder = folder();
    let options = "-each nodes=5 tc=9+1 -rounds 1 -maxmoves 3 -epdout file=end.epd -log file=log.txt engine=true level=info \
        -show-latency -pgnout file=g.pgn notation=uci nps=true hashfull=true tbhits=true timeleft=true latency=true \
        pv=true match_line=depth.*nodes";
    let text = played(&fastchess(folder.path(), options));
    assert!(text.contains("A: 6 moves of ") && text.contains(" ms on average, "), "{text}");
    let pgn = fs::read_to_string(folder.path().join("g.pgn")).unwrap().replace('\n', " ");
    for field in
        ["tl=1", "latency=-0.001s", "nps=1000", "hashfull=0", "tbhits=0", "pv=\"", "line=\"info depth 1 "]
    {
        assert!(pgn.contains(&format!(", {field}")), "{field}: {pgn}");
    }
    assert!(pgn.contains(" 1. ") && !pgn.contains("n="), "{pgn}");
    let epd = fs::read_to_string(folder.path().join("end.epd")).unwrap();
    assert!(epd.lines().count() == 2 && epd.ends_with("; fmvn 4;\n"), "{epd}");
    let log = fs::read_to_string(folder.path().join("log.txt")).unwrap();
    assert!(log.contains("> A <--- go wtime 10000 btime ") && log.contains("> B ---> bestmove "), "{log}");
    assert!(log.contains("> patzer --- Finished game 1 (A vs B): "), "{log}");
    assert!(log.lines().next().unwrap().starts_with("[Engine] ["), "{log}");
}

#[test]
fn faults_of_engines_are_reported_in_fastchesss_words() {
    let folder = folder();
    let first = |mode: &str, options: &str| {
        let one = format!("name=bad option.Seed=1 option.Mode={mode}");
        let words = [mocks(&ARGS, &[&one, "name=good option.Seed=2"]), line(options)].concat();
        played(&run_as(folder.path(), PATZER, &["fastchess"], &words))
    };
    let text = first("late@1", "-each st=0.01 -rounds 1 -maxmoves 2");
    assert!(text.contains("Finished game 1 (bad vs good): 0-1 {White loses on time ("), "{text}");
    assert!(
        text.contains("ms overrun)}")
            && !text.contains("(1ms overrun)")
            && text.contains("Player: bad\n  Timeouts: 1\n  Crashed: 0\n"),
        "{text}"
    );
    let text = first("crash@1", "-each nodes=1 -rounds 1 -maxmoves 2 -recover");
    assert!(text.contains("(bad vs good): 0-1 {White disconnects}\n"), "{text}");
    // The engine that was started again crashes at its first move, too.
    assert!(text.contains("Player: bad\n  Timeouts: 0\n  Crashed: 2\n"), "{text}");
    let text = first("illegal@1", "-each nodes=1 -rounds 1 -maxmoves 2 -testEnv");
    assert!(text.contains("Warning; Illegal move e2e5 played by bad\n"), "{text}");
    let warning = "Warning; Bestmove does not match beginning of last PV";
    assert!(!text.contains(warning), "an illegal move matches nothing: {text}");
}

#[test]
fn a_strict_run_ends_at_the_first_warning() {
    let folder = folder();
    let output = fastchess(folder.path(), "-each nodes=1 option.Nonsense=1 -strict");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Warning; A doesn't have option Nonsense\n"));
}

#[test]
fn a_test_stops_with_its_verdict_and_exit_code_0() {
    let folder = folder();
    let options =
        "-each nodes=1 -rounds 500 -resign movecount=1 score=500 -sprt elo0=0 elo1=200 alpha=0.05 beta=0.05";
    let words =
        [mocks(&ARGS, &["name=A option.Score=0", "name=B option.Score=-900"]), line(options)].concat();
    let text = played(&run_as(folder.path(), PATZER, &["fastchess"], &words));
    assert!(text.contains("\nSPRT ([0.00, 200.00]) completed - H1 was accepted\nFinished match\n"), "{text}");
    assert!(text.contains("\nLLR: ") && !text.contains("Finished game 1000 "), "{text}");
}

#[test]
fn a_run_goes_on_from_the_config_that_fastchess_or_patzer_wrote() {
    let folder = folder();
    let options = "-openings file=book.epd format=epd order=random -srand 5 -pgnout file=g.pgn append=false notation=uci \
                   nodes=true -draw movenumber=3 movecount=2 score=90 -autosaveinterval 2 -each nodes=5 -event some-where";
    let whole = played(&fastchess(folder.path(), &format!("{options} -rounds 4")));
    let games = fs::read_to_string(folder.path().join("g.pgn")).unwrap();
    fs::remove_file(folder.path().join("g.pgn")).unwrap();
    played(&fastchess(folder.path(), &format!("{options} -rounds 2")));
    let text =
        played(&run_as(folder.path(), PATZER, &["fastchess"], &line("-config file=config.json -rounds 4")));
    assert!(text.starts_with("Started game 5 of 8 (A vs B)\n"), "{text}");
    let end = |text: &str| -> Vec<String> {
        let results = text.split("Results of A vs B").last().unwrap();
        results.lines().filter(|line| !line.starts_with("Total Time")).map(str::to_string).collect()
    };
    assert_eq!(end(&text), end(&whole));
    let moves = |pgn: &str| -> Vec<String> {
        let bare = |game: &str| -> Option<String> {
            let text = game.split("\n\n").nth(1)?.replace('\n', " ");
            Some(text.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect())
        };
        // Games are written as they finish.
        let mut all: Vec<String> = pgn.split("[Event ").skip(1).filter_map(bare).collect();
        all.sort();
        all
    };
    let resumed = fs::read_to_string(folder.path().join("g.pgn")).unwrap();
    assert_eq!(moves(&resumed), moves(&games));
    let config: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("config.json")).unwrap()).unwrap();
    assert_eq!((&config["rounds"], &config["stats"]["A vs B"]["wins"].is_u64()), (&4.into(), &true));
    // Without its results everything is played again; with -config discard=true the file is forgotten.
    let words = line("-config file=config.json stats=false -rounds 1");
    let text = played(&run_as(folder.path(), PATZER, &["fastchess"], &words));
    assert!(text.starts_with("Started game 1 of 2"), "{text}");
    let words = line("-config file=config.json discard=true -rounds 1");
    assert_eq!(run_as(folder.path(), PATZER, &["fastchess"], &words).status.code(), Some(1));
    for (change, says) in [
        (("\"rounds\"", "\"turns\""), "config.json: unknown field `turns`"),
        (("\"variant\": 0", "\"variant\": 7"), "config.json: -variant 7: patzer plays standard"),
        (
            ("\"penta_WW\": ", "\"penta_WW\": 9999999999"),
            "-config: the results are of more than 4194304 pairs",
        ),
    ] {
        let text = fs::read_to_string(folder.path().join("config.json")).unwrap();
        fs::write(folder.path().join("other.json"), text.replacen(change.0, change.1, 1)).unwrap();
        let output = run_as(folder.path(), PATZER, &["fastchess"], &line("-config file=other.json"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.replace("other", "config").contains(says), "{error}");
    }
    // A file of something else stays.
    fs::write(folder.path().join("config.json"), "{}\n").unwrap();
    let output = fastchess(folder.path(), "-each nodes=5 -rounds 1");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("config.json: is no file of fastchess"),
        "{output:?}"
    );
    assert_eq!(fs::read_to_string(folder.path().join("config.json")).unwrap(), "{}\n");
}

#[test]
fn results_from_a_file_have_no_colours_in_the_words_of_cutechess() {
    let folder = folder();
    let options = "-openings file=book.epd -noswap -each nodes=5 -output format=cutechess";
    played(&fastchess(folder.path(), &format!("{options} -rounds 2")));
    let words = line("-config file=config.json -rounds 3");
    let text = played(&run_as(folder.path(), PATZER, &["fastchess"], &words));
    assert!(text.contains("\nElo difference: ") && !text.contains(" playing "), "{text}");
    assert!(text.contains("\nFinished match\n") && !text.contains("\nTournament finished\n"), "{text}");
}

#[test]
fn in_the_words_of_cutechess_each_game_of_three_engines_has_its_score() {
    let folder = folder();
    let engines = ["name=A option.Seed=1", "name=B option.Seed=2", "name=C option.Seed=3"];
    let options = "-each nodes=5 -rounds 1 -maxmoves 3 -output format=cutechess";
    let words = [mocks(&ARGS, &engines), line(options)].concat();
    let text = played(&run_as(folder.path(), PATZER, &["fastchess"], &words));
    for (a, b) in [("A", "B"), ("A", "C"), ("B", "C")] {
        assert_eq!(text.matches(&format!("\nScore of {a} vs {b}: ")).count(), 2, "{text}");
    }
    assert!(text.contains("\nFinished match\n"), "{text}");
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    for (program, text, says) in [
        ("fastchess", "-round 5", "`-round` is not an option of fastchess; did you mean `rounds`?"),
        ("fastchess", "-config file=none.json", "none.json: no such file"),
        ("fastchess", "-rounds", "-rounds: takes one value"),
        ("fastchess", "-games x", "`x` is not a number"),
        ("fastchess", "-pgnout games.pgn", "`games.pgn` is not KEY=VALUE"),
        ("fastchess", "-debug", "-debug: use -log"),
        ("fastchess", "-engine cmd=a ponder", "there is no key `ponder`"),
        ("fastchess", "-pgnout match_line=(", "-pgnout match_line=(: match_line=(:"),
        ("fastchess", "-variant atomic", "standard and fischerandom"),
        ("cutechess", "-engine cmd=a bookdepth=x -engine cmd=b", "write full moves, 1 or more"),
        ("cutechess", "-bookmode tape", "write ram or disk"),
        ("fastchess", "-tournament knockout", "write roundrobin or gauntlet"),
        ("cutechess", "-quick cmd=a", "`-quick` is not an option of cutechess-cli"),
        ("cutechess", "-repeat 3 -engine cmd=a depth=1 -engine cmd=b depth=1", "once or twice"),
        ("fastchess", "-engine cmd=a nodes=1 -engine cmd=b nodes=1 -concurrency 4000", "-force-concurrency"),
        (
            "fastchess",
            "-sprt elo0=0 elo1=5 -each nodes=1 -engine cmd=a -engine cmd=b",
            "-sprt: write alpha= and",
        ),
        ("fastchess", "-each tc=8+0.08 st=1 -engine cmd=a -engine cmd=b", "tc= and st= exclude each other"),
    ] {
        let error = refused(program, text);
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn versions_and_help_name_the_program() {
    let folder = folder();
    for (program, option, says) in [
        ("fastchess", "--version", "fastchess alpha 1.8.2 (patzer "),
        ("fastchess", "-v", "fastchess alpha 1.8.2 (patzer "),
        ("cutechess", "-version", "cutechess-cli 1."),
        ("cutechess", "-help", "Play by the command line of cutechess-cli"),
        ("fastchess", "", "Play by the command line of fastchess"),
    ] {
        let text = played(&run_as(folder.path(), PATZER, &[program], &line(option)));
        assert!(text.starts_with(says), "{text}");
    }
}

/// The table of the page is that of the registry; `UPDATE=1` writes it.
#[test]
fn the_page_has_the_registrys_options() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/fastchess.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- from the registry -->\n", "<!-- end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let table = played(&run_as(path.parent().unwrap(), PATZER, &["fastchess"], &line("--options-table")));
    let new = format!("{before}{begin}\n{table}\n{end}{after}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &new).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == new, "docs/fastchess.md differs: run with UPDATE=1");
}

#[test]
fn a_run_ends_when_its_reader_is_gone() {
    let folder = folder();
    let words = line(
        "fastchess -engine cmd=untuned-hce name=a -engine cmd=untuned-hce name=b -each nodes=50 -rounds 20000 -openings \
         file=book.epd format=epd -pgnout file=games.pgn",
    );
    let mut command = Command::new(PATZER);
    command.current_dir(folder.path()).args(words).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.nth(2).is_some());
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let games = fs::read_to_string(folder.path().join("games.pgn")).unwrap().matches("[Result ").count();
    assert!((1..20_000).contains(&games), "{games} games");
}
