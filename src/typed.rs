//! The command line as typed, stored in a journal so that a run can be resumed with `--resume` alone.

use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory};

use super::{Cli, one_line};
use patzer_io::error::{Error, Result};
use patzer_match::record::Arguments;

pub fn given(command: &str) -> Arguments {
    let cli = Cli::command();
    let Ok(matches) = cli.clone().try_get_matches_from(std::env::args_os()) else { return Arguments::new() };
    let (Some(matches), Some(command)) = (matches.subcommand_matches(command), cli.find_subcommand(command))
    else {
        return Arguments::new();
    };
    let mut given = Arguments::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_global_set()) {
        let name = argument.get_id().as_str();
        if matches.value_source(name) == Some(ValueSource::CommandLine) {
            let values = match argument.get_action() {
                ArgAction::Set | ArgAction::Append => matches.get_raw(name).unwrap_or_default(),
                _ => Default::default(),
            };
            given
                .insert(name.to_string(), values.map(|value| value.to_string_lossy().into_owned()).collect());
        }
    }
    given
}

/// Writes the options that command `A` has too, all but `except`, as words for a shell, each after a space.
pub fn shared_with<A: clap::Args>(typed: &Arguments, except: &[&str]) -> String {
    let command = A::augment_args(clap::Command::new("shared"));
    let mut line = String::new();
    for (name, values) in typed.iter().filter(|(name, _)| !except.contains(&name.as_str())) {
        let argument = command.get_arguments().find(|argument| argument.get_id() == name.as_str());
        let Some(long) = argument.and_then(|argument| argument.get_long()) else { continue };
        line += &format!(" --{long}").repeat(usize::from(values.is_empty()));
        values.iter().for_each(|value| line += &format!(" --{long} {}", quoted(value)));
    }
    line
}

/// Quotes a word for a shell where it needs to be.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Quotes a word of a player's description (`--engine`) where it needs to be.
pub fn spec_word(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !"\"'\\$`&|;<>*?()".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_string() } else { format!("'{word}'") }
}

pub fn parse<A: clap::Args>(command: &'static str, typed: &Arguments) -> Result<A> {
    let parser = A::augment_args(clap::Command::new(command).no_binary_name(true));
    let mut line: Vec<String> = Vec::new();
    let mut positional: Vec<String> = Vec::new();
    for (name, values) in typed {
        let Some(argument) = parser.get_arguments().find(|argument| argument.get_id() == name.as_str())
        else {
            return Err(Error::usage(match command_of(typed) {
                Some(other) => format!("the journal is of `patzer {other}`, which resumes it"),
                None => format!(
                    "the journal's argument `{name}` is none of `patzer {command}`; start again without --resume"
                ),
            }));
        };
        match argument.get_long() {
            None => {}
            Some(long) if values.is_empty() => line.push(format!("--{long}")),
            Some(long) => line.extend(values.iter().map(|value| format!("--{long}={value}"))),
        }
    }
    for argument in parser.get_positionals() {
        positional.extend(typed.get(argument.get_id().as_str()).into_iter().flatten().cloned());
    }
    line.push("--".to_string());
    line.extend(positional);
    let wrong = |error: clap::Error| Error::usage(one_line(&error.render().to_string()));
    let matches = parser.try_get_matches_from(line).map_err(wrong)?;
    A::from_arg_matches(&matches).map_err(wrong)
}

/// The command of matches that has all these arguments.
fn command_of(typed: &Arguments) -> Option<&'static str> {
    let cli = Cli::command();
    let has = |command: &&str| {
        let command = cli.find_subcommand(command)?;
        let is = |name: &String| command.get_arguments().any(|argument| argument.get_id() == name.as_str());
        typed.keys().all(is).then_some(())
    };
    ["sprt", "match", "race", "spsa"].into_iter().find(|command| has(command).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_::MatchArgs;

    #[test]
    fn a_journal_of_another_command_is_named() {
        let error = |names: &[&str]| {
            let typed = names.iter().map(|name| (name.to_string(), vec!["1".to_string()])).collect();
            parse::<MatchArgs>("match", &typed).unwrap_err().to_string()
        };
        assert!(error(&["a", "b", "games"]).contains("is of `patzer sprt`"), "{}", error(&["a", "b"]));
        let gone = error(&["a", "gone"]);
        assert!(gone.contains("`a` is none of `patzer match`"), "{gone}");
    }
}
