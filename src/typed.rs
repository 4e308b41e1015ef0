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

pub fn parse<A: clap::Args>(command: &'static str, typed: &Arguments) -> Result<A> {
    let parser = A::augment_args(clap::Command::new(command).no_binary_name(true));
    let mut line: Vec<String> = Vec::new();
    let mut positional: Vec<String> = Vec::new();
    for (name, values) in typed {
        let Some(argument) = parser.get_arguments().find(|argument| argument.get_id() == name.as_str())
        else {
            return Err(Error::usage(format!(
                "there is no argument `{name}` any more; start the match again without --resume"
            )));
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
