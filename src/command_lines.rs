//! Every command line that the repository shows parses: in documents, scripts, comments, messages and `--help`.
//!
//! A whole line (a block of code, a script, an example of `--help`) has to parse. Of a fragment (`patzer …` between
//! backquotes, or a line with an ellipsis) the subcommand and the names of the options have to exist, and so has an
//! option that stands alone (`--json`) or in a message.

mod shell;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use crate::Cli;
use patzer_fastchess::{self as fastchess, Program};

/// Files and folders whose command lines are checked. The changelog has former names, and tests run their lines.
const ROOTS: [&str; 12] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "NETS.md",
    "Makefile",
    "Dockerfile",
    "docs",
    "studies",
    "tools",
    "examples",
    "crates",
    "src",
];

/// Options of clap itself, of pgn-extract in docs/games.md, of tools/ptx.py.
const OTHERS: [&str; 5] = ["help", "version", "fixresulttags", "notags", "check"];

/// Comments of the examples name options of cargo.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// Functions of the studies' scripts that run the program: words before its arguments, and its first argument.
const STEPS: [(&str, usize, Option<&str>); 3] =
    [("step", 2, None), ("tuned", 2, Some("tune")), ("network", 2, Some("tune"))];

/// Command lines by kind, each with a file that shows it.
#[derive(Default)]
struct Found {
    whole: BTreeMap<Vec<String>, PathBuf>,
    fragments: BTreeMap<Vec<String>, PathBuf>,
    options: BTreeMap<String, PathBuf>,
}

#[test]
fn every_command_line_that_is_shown_parses() {
    let cli = Cli::command();
    let found = Found::everywhere(&cli);
    let mut wrong = Vec::new();
    for (words, path) in &found.whole {
        if let Err(error) = parse(&cli, words) {
            wrong.push(format!("{}: patzer {}\n    {error}", path.display(), words.join(" ")));
        }
    }
    let mut known = options(&cli);
    known.extend(OTHERS);
    for (name, path) in found.options.iter().filter(|(name, _)| !known.contains(name.as_str())) {
        wrong.push(format!("{}: --{name}\n    an option of no command", path.display()));
    }
    for (words, path) in &found.fragments {
        if let Err(error) = names_exist(&cli, words) {
            wrong.push(format!("{}: patzer {} …\n    {error}", path.display(), words.join(" ")));
        }
    }
    let counts = [found.whole.len(), found.fragments.len(), found.options.len()];
    println!("{} whole command lines, {} fragments, {} options", counts[0], counts[1], counts[2]);
    assert!(wrong.is_empty(), "{} command lines are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts[0] > 300 && counts[1] > 100 && counts[2] > 100, "most command lines were not found");
}

/// Parses a whole line as the program does.
fn parse(cli: &Command, words: &[String]) -> std::result::Result<(), String> {
    let program = match words.first().map(String::as_str) {
        Some("fastchess") => Program::Fastchess,
        Some("cutechess") => Program::Cutechess,
        _ => {
            let parsed = cli.clone().no_binary_name(true).try_get_matches_from(words);
            return match parsed {
                Err(error) if error.use_stderr() => Err(crate::one_line(&error.render().to_string())),
                _ => Ok(()),
            };
        }
    };
    if words[1..].first().is_some_and(|word| word == "-compliance") {
        return Ok(());
    }
    fastchess::parse(program, &words[1..]).map(drop).map_err(|error| error.to_string())
}

/// Checks that the subcommand and the options of a fragment exist.
fn names_exist(cli: &Command, words: &[String]) -> std::result::Result<(), String> {
    let (mut command, mut words) = (cli, words);
    while let Some((name, rest)) = words.split_first()
        && command.has_subcommands()
        && !name.starts_with('-')
        && !is_elided(name)
    {
        match command.find_subcommand(name) {
            Some(below) => (command, words) = (below, rest),
            None if command.get_positionals().next().is_some() => break,
            None => return Err(format!("no subcommand `{name}`")),
        }
    }
    let known = |name: &str| {
        let mut arguments = command.get_arguments().chain(cli.get_arguments());
        ["help", "version"].contains(&name) || arguments.any(|argument| argument.get_long() == Some(name))
    };
    for word in words {
        let name = word.strip_prefix("--").unwrap_or_default().split('=').next().unwrap_or_default();
        if !name.is_empty() && !known(name) {
            return Err(format!("no option `--{name}`"));
        }
    }
    Ok(())
}

/// Long options of all commands.
fn options(command: &Command) -> BTreeSet<&str> {
    let own = command.get_arguments().filter_map(|argument| argument.get_long());
    own.chain(command.get_subcommands().flat_map(options)).collect()
}

/// A word in place of others: an ellipsis, a placeholder in capitals.
fn is_elided(word: &str) -> bool {
    word.contains(['…', '{']) || word.contains("...") || word.bytes().all(|byte| byte.is_ascii_uppercase())
}

impl Found {
    fn everywhere(cli: &Command) -> Found {
        let (mut found, root) = (Found::default(), Path::new(env!("CARGO_MANIFEST_DIR")));
        for name in ROOTS {
            found.path(&root.join(name));
        }
        found.help(cli);
        found
    }

    fn path(&mut self, path: &Path) {
        if path.is_dir() {
            // The reference is what the program says, examples of `--help` included.
            let others = ["docs/reference", "target", "tests", "command_lines"];
            if !others.iter().any(|other| path.ends_with(other)) {
                let entries = fs::read_dir(path).unwrap();
                entries.for_each(|entry| self.path(&entry.unwrap().path()));
            }
            return;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let Ok(text) = fs::read_to_string(path) else { return };
        if path.ends_with(file!()) {
            return;
        }
        match ending {
            "md" => self.markdown(&text, path),
            "py" => self.markdown(&text.split("\"\"\"").skip(1).step_by(2).collect::<String>(), path),
            "sh" => self.shell(&with_included(&text, path), path),
            _ if path.ends_with("Makefile") => self.make(&text, path),
            _ => {}
        }
        if ending != "md" {
            let comments: Vec<&str> = text.lines().filter_map(comment).collect();
            self.markdown(&comments.join("\n"), path);
        }
        self.spans(&text, path);
        self.options(&text, path);
    }

    /// Examples of every command's `--help`.
    fn help(&mut self, command: &Command) {
        let texts = [command.get_after_help(), command.get_after_long_help(), command.get_long_about()];
        for text in texts.into_iter().flatten() {
            self.annotated(&text.to_string(), Path::new("--help"));
        }
        command.get_subcommands().for_each(|command| self.help(command));
    }

    /// Fenced and indented blocks.
    fn markdown(&mut self, text: &str, path: &Path) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                let fenced = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```"));
                let block = fenced.collect::<Vec<_>>().join("\n");
                match language {
                    "sh" => self.shell(&block, path),
                    "make" => self.make(&block, path),
                    "" | "text" => self.annotated(&block, path),
                    _ => {}
                }
            } else if line.starts_with("    ") {
                self.annotated(line, path);
            }
        }
    }

    /// Lines with a description, or a second command, after two spaces; other lines are output.
    fn annotated(&mut self, text: &str, path: &Path) {
        let mut joined = String::new();
        for line in text.lines() {
            let line = if joined.ends_with(' ') { line.trim_start() } else { line };
            joined += &line
                .strip_suffix('\\')
                .map_or_else(|| format!("{line}\n"), |line| line.trim_end().to_string() + " ");
        }
        for column in joined.lines().flat_map(|line| line.split("  ")) {
            let column = column.trim();
            self.shell(column.strip_prefix("$ ").unwrap_or(column), path);
        }
    }

    /// Rules of a Makefile.
    fn make(&mut self, text: &str, path: &Path) {
        let text = text.replace("\\\n", " ");
        let (rules, others): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('\t'));
        let mut rules = rules.join("\n").replace(['\t', '@'], "");
        let defined = others.iter().filter_map(|line| line.split_once('='));
        for (name, value) in defined.collect::<Vec<_>>().iter().rev() {
            let name = name.trim_end_matches(['?', ':', ' ']);
            rules = rules.replace(&format!("$({name})"), value.trim());
        }
        self.shell(&rules.replace("$$", "$"), path);
    }

    fn shell(&mut self, text: &str, path: &Path) {
        for words in shell::commands(text).iter().filter_map(|words| arguments(words)) {
            let lines =
                if words.iter().any(|word| is_elided(word)) { &mut self.fragments } else { &mut self.whole };
            lines.entry(words).or_insert_with(|| path.to_path_buf());
        }
    }

    /// Long options between backquotes; in code, where messages name them too, all.
    fn options(&mut self, text: &str, path: &Path) {
        let code = path.extension().is_some_and(|ending| ending == "rs") && !path.starts_with(EXAMPLES);
        for (at, mark) in text.match_indices("--") {
            let begins = match text[..at].chars().next_back() {
                Some('`') => true,
                Some(c) => code && !c.is_alphanumeric() && !"-<".contains(c),
                None => false,
            };
            let rest = text[at + mark.len()..].chars();
            let name: String = rest.take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if begins && name.starts_with(|c: char| c.is_ascii_lowercase()) {
                self.options.entry(name).or_insert_with(|| path.to_path_buf());
            }
        }
    }

    /// Fragments between backquotes.
    fn spans(&mut self, text: &str, path: &Path) {
        for span in text.split("`patzer ").skip(1).filter_map(|rest| rest.split_once('`')) {
            let unwrapped = span.0.lines().map(|line| comment(line).unwrap_or(line).trim_end_matches('\\'));
            let words =
                unwrapped.flat_map(str::split_whitespace).map(|word| word.trim_matches('"').to_string());
            self.fragments.entry(words.collect()).or_insert_with(|| path.to_path_buf());
        }
    }
}

/// Arguments of the program in a command, if it is one that runs it.
fn arguments(words: &[String]) -> Option<Vec<String>> {
    let (first, rest) = words.split_first()?;
    if (first == "patzer" || first.ends_with("/patzer")) && !rest.is_empty() {
        return Some(rest.to_vec());
    }
    if first == "docker" && rest.first()? == "run" {
        return rest.split(|word| word == "patzer").nth(1).map(<[String]>::to_vec);
    }
    let (_, skipped, prefix) = STEPS.iter().find(|(name, ..)| name == first)?;
    Some(prefix.iter().map(|word| word.to_string()).chain(words.get(*skipped..)?.iter().cloned()).collect())
}

/// Text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    ["//!", "///", "//", "#", "*"].iter().find_map(|mark| line.trim_start().strip_prefix(mark))
}

/// A script with the scripts that it sources in their places.
fn with_included(text: &str, path: &Path) -> String {
    let line =
        |line: &str| match line.strip_prefix(". ").and_then(|name| name.trim_matches('"').rsplit('/').next())
        {
            Some(name) => with_included(&fs::read_to_string(path.with_file_name(name)).unwrap(), path),
            None => format!("{line}\n"),
        };
    text.lines().map(line).collect()
}
