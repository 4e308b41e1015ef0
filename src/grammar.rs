//! One meaning for each option, and one option for each concept, over all commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use clap::{Arg, Command, CommandFactory};

use crate::Cli;

/// Most options of its own that a command shows with `-h`.
const SHOWN: usize = 20;

/// Options whose values differ in form, with the reason.
const FORMS: [(&str, &str); 5] = [
    ("hidden", "further layers follow after a comma where a network is trained"),
    ("output", "`data split` takes a prefix, `man` a folder"),
    ("score-scale", "games of several sources take a factor each"),
    ("terms", "names, patterns, or the file that names them"),
    ("wdl", "share of the result in the target, or results: both are the field's words"),
];

/// Options whose help differs from command to command, with the word that stands for their one meaning in each.
const MEANINGS: [(&str, &str); 46] = [
    ("against", "pponent"),
    ("batch", "Positions for each step"),
    ("chess960", "Chess960"),
    ("concurrency", "at the same time"),
    ("confidence", "robability"),
    ("count", "Number of"),
    ("data", "by which"),
    ("depth", "lies"),
    ("dry-run", "Write nothing"),
    ("engine", "cmd="),
    ("eval-side", "Side of the scores"),
    ("eval", ".hce.toml"),
    ("export", "Form in which"),
    ("filter", "reset"),
    ("format", "to write"),
    ("games", "Games"),
    ("hash", "ransposition table"),
    ("hidden", "idden"),
    ("in-place", "Write the files"),
    ("input-format", "Format of the"),
    ("keep-partial", "Keep a"),
    ("learning-rate", "First learning rate"),
    ("licence", "Licence of"),
    ("memory", "Memory"),
    ("movetime", "Milliseconds"),
    ("nodes", "odes"),
    ("notation", "otation"),
    ("overwrite", "Start over where"),
    ("pairs", "Pairs"),
    ("player", "layer"),
    ("plies", "after this many plies"),
    ("random-plies", "Random plies"),
    ("recipe", "ecipe"),
    ("rejects", "Write"),
    ("resume", "Resume the"),
    ("seed", "Seed"),
    ("set", "Another value for"),
    ("shard", "I"),
    ("stall-timeout", "Seconds"),
    ("svg", "raw"),
    ("tb", "Folder of Syzygy tables"),
    ("tolerance", "Centipawns that values may differ by"),
    ("validation", "Share of the games"),
    ("visits", "visit"),
    ("window", "Scores that"),
    ("score-scale", "Factor"),
];

/// Beginnings of a help that belong to one option alone.
const CONCEPTS: [(&str, &str); 12] = [
    ("Evaluation", "eval"),
    ("File to write", "output"),
    ("Folder of Syzygy tables", "tb"),
    ("Format of the", "input-format"),
    ("Format to write", "format"),
    ("Milliseconds a move", "movetime"),
    ("Nodes of each search", "nodes"),
    ("Number of", "count"),
    ("Resume the", "resume"),
    ("Seed", "seed"),
    ("Start over where", "overwrite"),
    ("Transposition table", "hash"),
];

#[derive(Default)]
struct LongOption {
    /// Names of the value, each with the commands.
    values: BTreeMap<String, Vec<String>>,
    helps: BTreeSet<String>,
}

/// Calls `see` with each command and its path, depth first.
fn walk(path: &str, command: &Command, see: &mut impl FnMut(&str, &Command)) {
    see(path, command);
    for below in command.get_subcommands() {
        walk(format!("{path} {}", below.get_name()).trim_start(), below, see);
    }
}

fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|argument| !argument.is_global_set() && !argument.is_hide_set())
}

fn value(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default().iter();
    let names: Vec<&str> = names.map(|name| name.as_str()).collect();
    if argument.get_action().takes_values() { names.join(" ") } else { String::new() }
}

fn options() -> BTreeMap<String, LongOption> {
    let mut table: BTreeMap<String, LongOption> = BTreeMap::new();
    walk("", &Cli::command(), &mut |path, command| {
        for argument in own(command) {
            let Some(name) = argument.get_long() else { continue };
            let option = table.entry(name.to_string()).or_default();
            option.values.entry(value(argument)).or_default().push(path.to_string());
            option.helps.insert(argument.get_help().map(ToString::to_string).unwrap_or_default());
        }
    });
    table
}

/// Beginning of a help, without defaults and particulars.
fn meaning(help: &str) -> &str {
    let ends = [" [default", "; ", ": ", ". ", ", "].iter().filter_map(|end| help.find(end)).min();
    &help[..ends.unwrap_or(help.len())]
}

#[test]
fn an_option_has_one_meaning() {
    let mut wrong = Vec::new();
    for (name, option) in options() {
        let forms = FORMS.iter().any(|(known, _)| *known == name);
        if option.values.len() > 1 && !forms {
            wrong.push(format!("--{name} takes {:?}", option.values));
        }
        let meanings: BTreeSet<&str> = option.helps.iter().map(|help| meaning(help)).collect();
        match MEANINGS.iter().find(|(known, _)| *known == name) {
            None if meanings.len() > 1 && !forms => wrong.push(format!("--{name} means {meanings:?}")),
            Some((_, word)) => wrong.extend(
                option
                    .helps
                    .iter()
                    .filter(|help| !help.contains(word))
                    .map(|help| format!("--{name}: {help}")),
            ),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_concept_has_one_option() {
    let mut wrong = Vec::new();
    for (name, option) in options() {
        for help in &option.helps {
            let concept = CONCEPTS.iter().find(|(begin, _)| help.starts_with(begin));
            if concept.is_some_and(|(_, known)| *known != name) {
                wrong.push(format!("--{name}: {help}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_short_help_shows_what_people_use() {
    let mut long = Vec::new();
    walk("", &Cli::command(), &mut |path, command| {
        let shown = own(command).filter(|a| !a.is_hide_short_help_set() && !a.is_positional()).count();
        if shown > SHOWN {
            long.push(format!("{path}: {shown}"));
        }
    });
    assert!(long.is_empty(), "options that -h shows, at most {SHOWN}: {}", long.join(", "));
}

/// `UPDATE=1` rewrites the page.
#[test]
fn the_page_of_options_is_the_programs() {
    let mut page = String::from(
        "# Options of all commands\n\nEach option has one meaning wherever it stands. `--json`, `--quiet`, `--verbose` and \
         `--threads` belong to every command.\n\n| option | meaning | commands |\n|---|---|---|\n",
    );
    for (name, option) in options() {
        let value: Vec<&str> = option.values.keys().map(String::as_str).collect();
        let value = value.join("|").replace('|', "\\|");
        let shown = if value.is_empty() { format!("--{name}") } else { format!("--{name} {value}") };
        let help = option.helps.first().map(|help| meaning(help).replace('|', "\\|")).unwrap_or_default();
        let mut commands: Vec<&str> = option.values.values().flatten().map(String::as_str).collect();
        commands.sort_unstable();
        page += &format!("| `{shown}` | {help} | {} |\n", commands.join(", "));
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/options.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file, &page).unwrap();
    }
    assert!(
        page == fs::read_to_string(file).unwrap_or_default(),
        "{file} is not the program's; UPDATE=1 rewrites it"
    );
}
