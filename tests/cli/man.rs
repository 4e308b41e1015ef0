//! `patzer completions` and `patzer man`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{done, patzer};

#[test]
fn bash_takes_the_completions_and_completes_subcommands() {
    let folder = tempfile::tempdir().unwrap();
    let script = done(folder.path(), "completions bash");
    let asked =
        "COMP_WORDS=(patzer data con) COMP_CWORD=2 && _patzer patzer con data && echo ${COMPREPLY[@]}";
    let mut bash = Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(format!("set -e\n{script}\n{asked}\n").as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "convert");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(done(folder.path(), &format!("completions {shell}")).contains("interleave"), "{shell}");
    }
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let folder = tempfile::tempdir().unwrap();
    let said = done(folder.path(), "man -o pages");
    let pages = std::fs::read_dir(folder.path().join("pages")).unwrap().count();
    assert_eq!(said, format!("written   {pages} pages → pages\n"));
    let page = |name: &str| std::fs::read_to_string(folder.path().join("pages").join(name)).unwrap();
    assert!(page("patzer-net-emit.1").contains(".TH patzer-net-emit 1"));
    let examples = page("patzer-extract.1");
    assert!(
        examples.split(".SH EXAMPLES\n.nf\n").nth(1).unwrap().starts_with("\\&  patzer extract games.pgn")
    );
    assert!(!page("patzer.1").contains("help(1)"));
    assert_eq!(done(folder.path(), "man"), page("patzer.1"));
    // Each command that the help names has a page.
    let help = String::from_utf8(patzer(folder.path(), &["--help"]).stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names: Vec<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 20 && pages > names.len());
    names.iter().for_each(|name| assert!(!page(&format!("patzer-{name}.1")).is_empty()));
}
