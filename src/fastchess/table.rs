//! The registry as help text and as the tables of docs/fastchess.md.

use std::fmt::Write;

use super::Program;
use super::flags::{Flag, Means, Takes, engine_keys};
use super::parse::flags;

fn meaning(means: Means) -> String {
    match means {
        Means::Does(what) => what.to_string(),
        Means::Nothing(reason) => format!("no effect: {reason}"),
        Means::Refused(reason) => format!("refused: {reason}"),
    }
}

pub fn help(program: Program) -> String {
    let name = program.name();
    let mut text = format!(
        "Play by the command line of {name}\n\nUsage: patzer {} -engine KEY=VALUE… -engine KEY=VALUE… [OPTION]…\n\nOptions:\n",
        if program == Program::Fastchess { "fastchess" } else { "cutechess" },
    );
    for flag in flags(program) {
        let left = format!("-{} {}", flag.name, flag.values);
        let _ = writeln!(text, "  {:<28}{}", left.trim_end(), meaning(flag.means));
    }
    text += "\nKeys of -engine and -each:\n";
    for (name, programs, means) in engine_keys() {
        if programs.contains(&program) {
            let _ = writeln!(text, "  {name:<28}{}", meaning(*means));
        }
    }
    text + "\ndocs/fastchess.md has the keys of the other options."
}

/// Both tables in Markdown.
pub fn markdown() -> String {
    let mut text =
        String::from("| option | fastchess | cutechess-cli | what patzer does |\n|---|---|---|---|\n");
    let marks = |programs: &[Program]| {
        [Program::Fastchess, Program::Cutechess]
            .map(|program| if programs.contains(&program) { "yes" } else { "" })
    };
    let mut row = |name: &str, programs: &[Program], means: Means| {
        let [fast, cute] = marks(programs);
        let _ = writeln!(text, "| {name} | {fast} | {cute} | {} |", meaning(means));
    };
    let both = flags(Program::Fastchess);
    let all = both.chain(flags(Program::Cutechess).filter(|flag| flag.programs.len() == 1));
    for flag in all {
        let Flag { name, values, .. } = flag;
        row(
            &format!("`-{name}{}{}`", if values.is_empty() { "" } else { " " }, values.replace('|', "\\|")),
            flag.programs,
            flag.means,
        );
        if let Takes::Keys(_, keys) = flag.takes {
            for key in keys {
                let programs: Vec<Program> =
                    key.programs.iter().copied().filter(|program| flag.programs.contains(program)).collect();
                row(&format!("`-{name} {}=`", key.name), &programs, key.means);
            }
        }
    }
    for (name, programs, means) in engine_keys() {
        row(&format!("`-engine`, `-each`: `{name}=`"), programs, *means);
    }
    text
}
