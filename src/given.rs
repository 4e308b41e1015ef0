//! Arguments of the command line apart from defaults, for runs that take the others from a journal.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;
use serde_json::{Map, Value};

use super::one_line;
use patzer_io::error::{Error, Result};

/// Arguments as the parser found them: the first field of a command's arguments, since the others take their values out.
#[derive(Debug, Clone, Default)]
pub struct Given(ArgMatches);

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Given, clap::Error> {
        Ok(Given(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl Given {
    pub fn has(&self, name: &str) -> bool {
        self.0.value_source(name) == Some(ValueSource::CommandLine)
    }

    /// Replaces stored arguments by those of the command line; arguments that are not stored have their values of now.
    ///
    /// # Errors
    /// An argument conflicts with a stored one.
    pub fn replace<A: Args + Serialize>(&self, mut stored: A) -> Result<A> {
        let kept: Vec<String> = settings(&stored)?.into_iter().map(|(name, _)| name).collect();
        let kept = kept.iter().filter(|name| !self.has(name));
        let mut given = self.0.clone();
        for name in kept.clone() {
            given.try_clear_id(name).map_err(|e| Error::internal(e.to_string()))?;
        }
        let changed = changed(&stored)?;
        let command = A::augment_args(Command::new("resume"));
        for argument in command.get_arguments().filter(|argument| self.has(argument.get_id().as_str())) {
            let conflicts = |name: &&String| {
                let other = command.get_arguments().find(|other| other.get_id() == name.as_str());
                let excludes = |a: &clap::Arg, b: &clap::Arg| command.get_arg_conflicts_with(a).contains(&b);
                other.is_some_and(|other| excludes(argument, other) || excludes(other, argument))
            };
            if let Some(other) = kept.clone().filter(|name| changed.contains_key(*name)).find(conflicts) {
                let [this, other] = [argument.get_id().as_str(), other].map(|name| name.replace('_', "-"));
                return Err(Error::usage(format!("--{this}: not with --{other}, which the run has")));
            }
        }
        let updated = stored.update_from_arg_matches_mut(&mut given);
        updated.map_err(|error| Error::usage(one_line(&error.render().to_string())))?;
        Ok(stored)
    }
}

/// Arguments by name, as a journal stores them.
pub fn settings(args: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(args) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Error::internal("arguments have names")),
        Err(error) => Err(Error::internal(error.to_string())),
    }
}

/// Arguments from words that patzer itself wrote.
pub fn parsed<A: Args>(command: Command, words: impl IntoIterator<Item = OsString>) -> Result<A> {
    let internal = |error: clap::Error| Error::internal(one_line(&error.to_string()));
    let matches = A::augment_args(command.no_binary_name(true)).try_get_matches_from(words);
    A::from_arg_matches(&matches.map_err(internal)?).map_err(internal)
}

/// Arguments that differ from the defaults, by name.
fn changed<A: Args + Serialize>(args: &A) -> Result<Map<String, Value>> {
    let default: A = parsed(Command::new("default").ignore_errors(true), [])?;
    let default = settings(&default)?;
    let mut changed = settings(args)?;
    changed.retain(|name, value| default.get(name) != Some(value));
    Ok(changed)
}

/// Arguments that command `A` has too, all but the defaults and `except`, as its words.
pub fn shared_words<A: Args>(args: &(impl Args + Serialize), except: &[&str]) -> Result<Vec<String>> {
    let command = A::augment_args(Command::new("shared"));
    let mut words = Vec::new();
    for (name, value) in changed(args)?.iter().filter(|(name, _)| !except.contains(&name.as_str())) {
        let argument = command.get_arguments().find(|argument| argument.get_id() == name.as_str());
        let Some((argument, long)) = argument.and_then(|argument| Some((argument, argument.get_long()?)))
        else {
            continue;
        };
        let mut add = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            match argument.is_require_equals_set() {
                true => words.push(format!("--{long}={text}")),
                false => words.extend([format!("--{long}"), text]),
            }
        };
        match value {
            Value::Bool(_) => words.push(format!("--{long}")),
            Value::Array(values) => values.iter().for_each(add),
            value => add(value),
        }
    }
    Ok(words)
}

/// Writes [`shared_words`] for a shell, each after a space.
pub fn shared_with<A: Args>(args: &(impl Args + Serialize), except: &[&str]) -> Result<String> {
    Ok(shared_words::<A>(args, except)?.iter().map(|word| format!(" {}", quoted(word))).collect())
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

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::match_::MatchArgs;
    use crate::race::RaceArgs;
    use crate::selfplay::SelfplayArgs;
    use crate::sprt::SprtArgs;
    use crate::spsa::SpsaArgs;
    use crate::tune::NetArgs;

    fn parsed<A: Args>(line: &str) -> A {
        let command = A::augment_args(Command::new("x").no_binary_name(true));
        A::from_arg_matches(&command.get_matches_from(line.split_whitespace())).unwrap()
    }

    fn given<A: Args>(line: &str) -> Given {
        let command = A::augment_args(Command::new("x").no_binary_name(true));
        Given(command.get_matches_from(line.split_whitespace()))
    }

    /// Settings of a run that is resumed by another line.
    fn resumed<A: Args + Serialize>(first: &str, then: &str) -> Result<Map<String, Value>> {
        settings(&given::<A>(then).replace(parsed::<A>(first))?)
    }

    #[test]
    fn what_is_given_now_replaces_what_is_stored_and_defaults_do_not() {
        let first = "a b --tc 8+0.08 --elo1 3 --option Hash=1 --option Threads=1 --chess960 --draw 20,3,5";
        let all = resumed::<SprtArgs>(first, "--resume --games 9 --option Hash=2 --concurrency 3").unwrap();
        let expected = parsed::<SprtArgs>(
            "a b --tc 8+0.08 --elo1 3 --option Hash=2 --chess960 --draw 20,3,5 --games 9 --concurrency 3",
        );
        assert_eq!(all, settings(&expected).unwrap());
        let error = resumed::<SprtArgs>(first, "--movetime 5").unwrap_err().to_string();
        assert_eq!(error, "--movetime: not with --tc, which the run has");
        let error = resumed::<MatchArgs>("a b --no-adjudication", "--resign 3,400").unwrap_err().to_string();
        assert_eq!(error, "--resign: not with --no-adjudication, which the run has");
    }

    /// Stored names are those of the arguments, and what is not stored is of one start of the program.
    fn check_names<A: Args + Serialize + DeserializeOwned>(of_this_start: &[&str]) {
        let args: A = parsed("");
        let stored = settings(&args).unwrap();
        let command = A::augment_args(Command::new("x"));
        let names = command.get_arguments().map(|argument| argument.get_id().as_str());
        let (kept, others): (Vec<&str>, Vec<&str>) = names.partition(|name| stored.contains_key(*name));
        assert_eq!(kept.len(), stored.len(), "{stored:?}");
        let (mut known, mut others) = (of_this_start.to_vec(), others);
        known.sort_unstable();
        others.sort_unstable();
        assert_eq!(others, known);
        let read: A = serde_json::from_value(Value::Object(stored.clone())).unwrap();
        assert_eq!(settings(&read).unwrap(), stored);
    }

    #[test]
    fn a_journal_has_every_argument_by_its_name() {
        let earlier = ["resume", "overwrite", "trust"];
        let shown =
            [&earlier[..], &["output", "json_lines", "output_format", "rating_interval", "by_opening"]]
                .concat();
        check_names::<SprtArgs>(&shown);
        check_names::<MatchArgs>(&shown);
        check_names::<RaceArgs>(&shown);
        check_names::<SpsaArgs>(&[&shown[..], &["export"]].concat());
        check_names::<SelfplayArgs>(&[&earlier[..], &["output"]].concat());
        check_names::<NetArgs>(&["resume", "overwrite"]);
    }

    #[test]
    fn conditions_are_read_back_from_their_words() {
        let line = "--tc 40/60+0.6 --draw 20,3,5 --affinity=1-3 --pgn-fields nodes,pv --order sequential \
                    --option A=1 --option B=2 --openings my.epd";
        let race: RaceArgs = parsed(&format!("{line} --policy epsilon --seed 7"));
        let words = shared_with::<SprtArgs>(&race, &["seed"]).unwrap();
        let [read, expected] = [&words, line].map(|line| settings(&parsed::<SprtArgs>(line)).unwrap());
        assert_eq!(read, expected);
        let words =
            shared_with::<SprtArgs>(&parsed::<SprtArgs>("a b --elo1 3.5 --seed 7"), &["seed"]).unwrap();
        assert_eq!(words, " --elo1 3.5");
    }
}
