//! Files of an earlier run: resumed, overwritten, moved aside, and the trust that its programs need.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::given::{self, Given};
use crate::{Error, Result, Ui};
use patzer_io::{Earlier, printable};
use patzer_match::journal::{self, JournalEntry, JournaledFile, Key, Opened, Start, StoredStart};
use patzer_match::participant;
use patzer_match::{Lineup, Spec};

/// Handling of the files of an earlier run.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct EarlierArgs {
    /// Resume the run of the journal; options not given are taken from it
    #[arg(long, help_heading = "Games")]
    resume: bool,

    /// Start over where an unfinished run lies; without this it stops, and a finished run is moved aside
    #[arg(long, help_heading = "Games", conflicts_with = "resume")]
    overwrite: bool,

    /// Resume also a journal that this user did not write on this machine; prints the programs that it runs
    #[arg(long, hide_short_help = true, help_heading = "Games")]
    trust: bool,
}

impl EarlierArgs {
    pub fn choice(self) -> Earlier {
        Earlier::of(self.resume, self.overwrite)
    }

    /// Arguments of the run to resume, those given now in the place of the stored ones; `None` without a journal.
    /// `players` are the arguments that name players: given again, they replace all stored ones.
    pub fn resumed<E: JournalEntry, A: clap::Args + Serialize + DeserializeOwned>(
        self,
        command: &'static str,
        players: &[&str],
        games: &Path,
        given: &Given,
    ) -> Result<Option<A>> {
        let named = players.iter().any(|name| given.has(name));
        let Some(stored) = self.stored::<E>(games)? else {
            return match usage_of_start(command) {
                Some(start) if self.resume && !named => {
                    let reason = format!("there is no journal of a run to resume; `{start}` starts one");
                    Err(Error::data(E::journal(games), reason))
                }
                _ => Ok(None),
            };
        };
        if stored.command() != command {
            let other = stored.command();
            return Err(Error::usage(format!("the journal is of `patzer {other}`, which resumes it")));
        }
        let mut arguments: A = stored.settings()?;
        if named {
            arguments = without(&arguments, players)?;
        }
        given.replace(arguments).map(Some)
    }

    fn stored<E: JournalEntry>(self, games: &Path) -> Result<Option<StoredStart>> {
        if self.resume { journal::stored::<E>(games) } else { Ok(None) }
    }

    /// Refuses to start programs for a resumed journal that this user did not start, without an option; prints them
    /// first.
    pub fn check_trust<E: JournalEntry>(self, games: &Path, specs: &[Spec], ui: &Ui) -> Result<()> {
        let Some(stored) = self.stored::<E>(games)? else { return Ok(()) };
        if Key::of_user().is_ok_and(|key| stored.is_signed_by(&key)) {
            return Ok(());
        }
        let mut commands = Vec::new();
        for spec in specs {
            if let Some(path) = participant::program_path(spec)? {
                commands.push(printable(&command_line(spec, &path)).into_owned());
            }
        }
        let journal = E::journal(games);
        if commands.is_empty() {
            return Ok(());
        }
        if !self.trust {
            let reason = format!(
                "was not written by this user on this machine, and resuming it would run: {}; --trust allows it",
                commands.join("; ")
            );
            return Err(Error::data(journal, reason));
        }
        ui.warn(format!("{}: not written by this user on this machine, runs:", journal.display()));
        commands.iter().for_each(|command| ui.warn(format!("    {command}")));
        Ok(())
    }

    /// Refuses to resume a run of other players, before their programs are started.
    pub fn check_players<E: JournalEntry>(self, games: &Path, lineup: &Lineup) -> Result<()> {
        let Some(stored) = self.stored::<E>(games)? else { return Ok(()) };
        let then = json!({ "player": stored.conditions()["player"] });
        journal::check_conditions::<E>(&E::journal(games), &then, &json!({ "player": lineup.conditions() }))
    }
}

/// Usage of a command's first run.
fn usage_of_start(command: &str) -> Option<&'static str> {
    match command {
        "sprt" => Some("patzer sprt A B"),
        "match" => Some("patzer match A B"),
        "race" => Some("patzer race A B C"),
        "screen" => Some("patzer screen ENGINE --options FILE"),
        "spsa" => Some("patzer spsa ENGINE PARAMS"),
        "selfplay" => Some("patzer selfplay"),
        "traces numeric" => Some("patzer traces numeric ENGINE DATA --params FILE"),
        _ => None,
    }
}

/// Arguments without the values of these.
fn without<A: Serialize + DeserializeOwned>(arguments: &A, names: &[&str]) -> Result<A> {
    let mut settings = given::settings(arguments)?;
    for (_, value) in settings.iter_mut().filter(|(name, _)| names.contains(&name.as_str())) {
        *value = if value.is_array() { Value::Array(Vec::new()) } else { Value::Null };
    }
    serde_json::from_value(Value::Object(settings)).map_err(|e| Error::internal(e.to_string()))
}

fn command_line(spec: &Spec, path: &Path) -> String {
    let mut text = path.display().to_string();
    for arg in spec.args.iter().flatten() {
        let plain = !arg.is_empty() && !arg.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c));
        text += &if plain { format!(" {arg}") } else { format!(" {arg:?}") };
    }
    if let Some(dir) = &spec.dir {
        text += &format!(" (in {})", dir.display());
    }
    for (name, value) in &spec.options {
        text += &format!(", option {name}={value}");
    }
    text
}

/// Returns the user's key for the journal of a run of programs; a run without programs needs no trust.
pub fn signing_key(runs_programs: bool, ui: &Ui) -> Option<Key> {
    let unsigned = |reason: &Error| {
        ui.note(format!("the journal is not signed ({reason}): --resume will need --trust"));
    };
    runs_programs.then(|| Key::of_user().inspect_err(unsigned).ok()).flatten()
}

/// Opens a record and says what became of earlier files.
pub fn open<E: JournalEntry>(path: &Path, earlier: Earlier, start: &Start, ui: &Ui) -> Result<Opened<E>> {
    let opened = JournaledFile::<E>::open(path, earlier, start)?;
    opened.notes.iter().for_each(|note| ui.note(note));
    if earlier == Earlier::Resume {
        let games = path.display();
        let some = |count: usize| format!("{count} {}", E::UNITS[usize::from(count != 1)]);
        match (opened.entries.len(), opened.record.count_ahead()) {
            (0, 0) => ui.note(format!("{games}: no finished games to resume from; this is the beginning")),
            (count, 0) => ui.note(format!("{games}: resuming after {}", some(count))),
            (count, ahead) => {
                let (count, ahead) = (some(count), some(ahead));
                ui.note(format!(
                    "{games}: resuming after {count}; {ahead} that finished ahead are not played again"
                ));
            }
        }
    }
    Ok(opened)
}
