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

/// An option and its meaning, which begins a line of its own where the option is too long for its column.
fn row(left: &str, means: Means) -> String {
    let gap = if left.chars().count() > 26 { format!("\n{:30}", "") } else { String::new() };
    format!("  {left:<28}{gap}{}\n", meaning(means))
}

pub fn help(program: Program) -> String {
    let name = program.name();
    let mut text = format!(
        "Play by the command line of {name}\n\nUsage: patzer {} -engine KEY=VALUE… -engine KEY=VALUE… [OPTION]…\n\nOptions:\n",
        if program == Program::Fastchess { "fastchess" } else { "cutechess" },
    );
    for flag in flags(program) {
        let left = format!("-{} {}", flag.name, flag.values);
        text += &row(left.trim_end(), flag.means);
    }
    text += "\nKeys of -engine and -each:\n";
    for (name, programs, means) in engine_keys() {
        if programs.contains(&program) {
            text += &row(name, *means);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_meanings_are_apart() {
        for program in [Program::Fastchess, Program::Cutechess] {
            let help = help(program);
            for flag in flags(program) {
                let left = format!("\n  -{} {}", flag.name, flag.values);
                let rest = help.split_once(left.trim_end()).unwrap().1;
                let meaning = meaning(flag.means);
                let (gap, _) = rest.split_once(&meaning).unwrap();
                assert!(gap.trim().is_empty() && gap.len() >= 2, "{left}: {gap:?}");
            }
        }
    }
}
