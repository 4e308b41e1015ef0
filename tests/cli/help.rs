//! The program's help, version, and answers to misspelt names.

use std::process::{Command, Output, Stdio};

/// Runs the program where nothing is a terminal, so that the width is that of `COLUMNS`.
fn patzer(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    command.args(args).env("COLUMNS", "100").stdin(Stdio::null()).output().unwrap()
}

fn help(args: &[&str]) -> String {
    let output = patzer(&[args, &["--help"]].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names under `Commands:`, without `help`.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or("").split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_string).collect()
}

/// Every command and its help, depth first.
pub fn reference(path: &[&str], pages: &mut Vec<(String, String)>) {
    let help = help(path);
    let lines: String = help.trim_end().lines().map(|line| line.trim_end().to_string() + "\n").collect();
    pages.push(([&["patzer"], path].concat().join(" "), lines));
    for name in commands(&help) {
        reference(&[path, &[&name]].concat(), pages);
    }
}

#[test]
fn the_version_is_the_packages() {
    let version = |argument| {
        let output = patzer(&[argument]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(version("-V"), concat!("patzer ", env!("CARGO_PKG_VERSION"), "\n"));
    let build = concat!("patzer ", env!("CARGO_PKG_VERSION"), " (");
    let long = version("--version");
    let target = long.strip_prefix(build).and_then(|rest| rest.strip_suffix(")\n")).expect(&long);
    assert!(target.contains(std::env::consts::ARCH), "{long}");
}

#[test]
fn what_is_no_number_is_said_in_plain_words() {
    for (line, said) in [
        (
            &["extract", "x.pgn", "--per-game", "abc"][..],
            "invalid value 'abc' for '--per-game <N>': it is not a whole number",
        ),
        (&["tune", "--validation", "x"], "it is not a number"),
        (&["perft", "99999999999999999999"], "it is too large"),
    ] {
        let error = String::from_utf8(patzer(line).stderr).unwrap();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_misspelt_name_is_answered_with_the_nearest() {
    for (line, near) in [
        (&["filters", "uniqe"][..], "unique"),
        (&["extract", "x.pgn", "--filter", "in_chek"], "in_check"),
        (&["data", "convert", "x", "--input-format", "bulet", "-o", "y.csv"], "bullet"),
        (&["tune", "x.parquet", "--recipe", "defualt"], "default"),
    ] {
        let output = patzer(line);
        assert_eq!(output.status.code(), Some(1));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.trim_end().ends_with(&format!("; did you mean `{near}`?")), "{error}");
    }
}

#[test]
fn without_a_command_there_is_help_and_exit_1() {
    for args in [&[][..], &["net"]] {
        let output = patzer(args);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr).unwrap().contains("Usage: patzer"));
    }
}

#[test]
fn verbose_says_what_runs_and_what_it_took_and_leaves_the_result_alone() {
    let plain = patzer(&["filters"]);
    let verbose = patzer(&["filters", "-v", "--threads", "1"]);
    assert_eq!(plain.stdout, verbose.stdout);
    let said = String::from_utf8(verbose.stderr).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("patzer 0.") && lines[0].contains(", threads: 1, networks by "), "{said}");
    let last = lines.last().unwrap();
    assert!(last.starts_with("took 0."), "{said}");
    if cfg!(target_os = "linux") {
        assert!(
            last.contains(" s of processor time, ") && last.ends_with(" MiB of memory at most"),
            "{said}"
        );
    }
}
