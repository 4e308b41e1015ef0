//! The sequential test that confirms the result of an experiment: one engine with two settings of its options, or two
//! builds of it.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Command};
use serde::Serialize;

use crate::given::{self, quoted, spec_word};
use crate::play::PlayArgs;
use crate::sprt::SprtArgs;
use crate::{Result, Status, Ui};
use patzer_match::record::journal_of;

/// Arguments that the test has of its own.
const OWN: [&str; 3] = ["engine", "games", "seed"];

/// Description of a player that may be its file or command alone.
pub fn described(text: &str) -> String {
    if text.contains("cmd=") { text.to_string() } else { format!("cmd={}", spec_word(text)) }
}

/// Description of an experiment's engine, as it was given.
pub fn player(play: &PlayArgs, cmd: &str) -> String {
    play.engines().first().cloned().unwrap_or_else(|| format!("cmd={}", spec_word(cmd)))
}

/// A player's description with a name and options; the last of two keys counts.
pub fn with_options(player: &str, name: &str, options: impl IntoIterator<Item = (String, String)>) -> String {
    let mut text = format!("{player} name={name}");
    for (option, value) in options {
        text += &format!(" {}", spec_word(&format!("option.{option}={value}")));
    }
    text
}

/// Words of the conditions of an experiment, with another seed if there is one.
fn conditions(args: &(impl Args + Serialize), seed: Option<u64>) -> Result<Vec<String>> {
    let mut words = given::shared_words::<SprtArgs>(args, &OWN)?;
    if let Some(seed) = seed {
        words.extend(["--seed".to_string(), seed.to_string()]);
    }
    Ok(words)
}

/// Command line of the test of two players under the conditions of an experiment.
pub fn command(args: &(impl Args + Serialize), players: &[String; 2], seed: Option<u64>) -> Result<String> {
    let [first, second] = players.each_ref().map(|player| in_quotes(player));
    let conditions: String =
        conditions(args, seed)?.iter().map(|word| format!(" {}", quoted(word))).collect();
    Ok(format!("patzer sprt --engine {first} --engine {second}{conditions}"))
}

/// Runs that test with its games in `output`, or goes on with it.
pub fn run(
    args: &(impl Args + Serialize),
    players: &[String; 2],
    seed: Option<u64>,
    output: &Path,
    ui: &Ui,
) -> Result<Status> {
    let mut words: Vec<OsString> = Vec::new();
    players.iter().for_each(|player| words.extend(["--engine".into(), player.into()]));
    words.extend(conditions(args, seed)?.into_iter().map(OsString::from));
    words.extend(["-o".into(), output.into()]);
    if journal_of(output).is_file() {
        words.push("--resume".into());
    }
    crate::sprt::run(&given::parsed(Command::new("sprt"), words)?, ui)
}

/// A description of a player as a shell takes it.
fn in_quotes(text: &str) -> String {
    let escaped = |c: char| if "\\\"$`".contains(c) { format!("\\{c}") } else { c.to_string() };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}
