//! Participants: what plays a match, from a description to players at boards.
//!
//! In: a [`Spec`]. Out: a net or weight file that plays in this process, or a program that plays as a child
//! process, told apart by what the file holds; and as many players of it as there are boards.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::control::Control;
use super::game::TimeSettings;
use super::player::{InProcess, Player, PlayerError};
use super::spec::Spec;
use super::uci::{Program, Timeouts, UciPlayer};
use patzer_engine as engine;
use patzer_eval::Evaluation;
use patzer_io as io;
use patzer_io::error::{Error, Result};

/// What holds for players that do not say otherwise.
#[derive(Debug, Clone)]
pub struct Defaults {
    /// Time, nodes or depth.
    pub control: Control,
    /// By how much the time may be overstepped.
    pub margin: Duration,
    /// Transposition table of players in this process, in MiB.
    pub hash: usize,
    /// What players in this process keep in reserve of their time.
    pub overhead: Duration,
    /// How long to wait for programs.
    pub timeouts: Timeouts,
}

/// A player of a match, of whom there may be several at different boards.
pub struct Participant {
    /// The name in the PGN and in messages.
    pub name: String,
    /// What it plays under.
    pub time_settings: TimeSettings,
    /// What identifies it in the journal: the SHA-256 of its file, or the name of a built-in evaluation.
    pub digest: String,
    kind: Kind,
    /// Programs that have been started to see whether they work, for the first boards.
    spares: Mutex<Vec<UciPlayer>>,
    /// The name by which a program introduced itself.
    engine_name: Option<String>,
}

enum Kind {
    InProcess(Own),
    Program(Arc<Program>),
}

/// An evaluation that plays in this process.
struct Own {
    evaluation: Evaluation,
    hash: usize,
    overhead: Duration,
}

impl Own {
    fn player(&self) -> InProcess {
        InProcess::new(engine::engine(&self.evaluation, self.hash), self.overhead)
    }
}

impl Participant {
    /// Finds and reads what a description names. A program is not started yet.
    ///
    /// # Errors
    /// If there is nothing of that name, or it is neither an evaluation nor a program.
    pub fn load(spec: &Spec, defaults: &Defaults) -> Result<Participant> {
        let control = if spec.control.is_unlimited() { defaults.control } else { spec.control };
        let time_settings = TimeSettings {
            control: control.scaled(spec.odds.unwrap_or(1.0)),
            margin: spec.margin.unwrap_or(defaults.margin),
        };
        let embedded = Evaluation::EMBEDDED.contains(&spec.cmd.as_str());
        let path = if embedded { PathBuf::from(&spec.cmd) } else { find(&spec.cmd, spec.dir.as_deref())? };
        let bytes = if embedded { Vec::new() } else { io::read(&path)? };
        let digest = if embedded { spec.cmd.clone() } else { format!("{:x}", Sha256::digest(&bytes)) };
        let kind = if !embedded && is_program(&path, &bytes) {
            Kind::Program(Arc::new(program(spec, path, defaults)?))
        } else {
            in_process(spec, &path, defaults)?
        };
        let name = spec.name.clone().unwrap_or_else(|| file_name(&spec.cmd));
        Ok(Participant { name, time_settings, digest, kind, spares: Mutex::default(), engine_name: None })
    }

    /// Whether it plays in a process of its own.
    pub fn is_program(&self) -> bool {
        matches!(self.kind, Kind::Program(_))
    }

    /// How many threads it searches with: the value of its option `Threads`, else 1.
    pub fn threads(&self) -> usize {
        self.option("Threads").and_then(|value| value.parse().ok()).unwrap_or(1).max(1)
    }

    /// Its transposition table in MiB; `None` if that is left to the program.
    pub fn hash(&self) -> Option<usize> {
        match &self.kind {
            Kind::InProcess(own) => Some(own.hash),
            Kind::Program(_) => self.option("Hash").and_then(|value| value.parse().ok()),
        }
    }

    /// The value of a program's option, if it is set.
    fn option(&self, name: &str) -> Option<&str> {
        let Kind::Program(program) = &self.kind else { return None };
        let option = program.options.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        option.map(|(_, value)| value.as_str())
    }

    /// The name by which a program introduced itself, once [`check`] has seen it.
    pub fn engine_name(&self) -> Option<&str> {
        self.engine_name.as_deref()
    }

    /// What decides how it plays, apart from its file and its terms: one line for the journal.
    pub fn settings(&self) -> String {
        match &self.kind {
            Kind::InProcess(own) => format!("in process, Hash {}", own.hash),
            Kind::Program(program) => {
                let options: Vec<String> =
                    program.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let dir =
                    program.dir.as_ref().map(|dir| format!(" in {}", dir.display())).unwrap_or_default();
                let restart = if program.restart { ", restarted" } else { "" };
                let short = if program.short_history { ", short history" } else { "" };
                let text = format!("program {:?}{dir} {}{restart}{short}", program.args, options.join(" "));
                text.trim_end().to_string()
            }
        }
    }

    /// A player for one board. It may be a program that has just been started.
    ///
    /// # Errors
    /// If the program cannot be started or does not work.
    pub fn player(&self, stop: &AtomicBool) -> std::result::Result<Box<dyn Player>, PlayerError> {
        match &self.kind {
            Kind::InProcess(own) => Ok(Box::new(own.player())),
            Kind::Program(program) => {
                let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
                if let Some(spare) = spare {
                    return Ok(Box::new(spare));
                }
                let mut player = UciPlayer::launch(program.clone()).map_err(PlayerError::Unable)?;
                player.handshake(stop)?;
                Ok(Box::new(player))
            }
        }
    }

    /// A player for one board that plays in this process; `None` if it is a program.
    pub fn in_process(&self) -> Option<InProcess> {
        match &self.kind {
            Kind::InProcess(own) => Some(own.player()),
            Kind::Program(_) => None,
        }
    }

    /// Ends programs that have been started for boards that do not exist.
    pub fn drop_spares(&self) {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Starts every program once, all together, to see that it works and takes its options. They become the players
/// of the first boards.
///
/// # Errors
/// If one does not, with its name and what it said.
pub fn start_programs(participants: &mut [Participant], stop: &AtomicBool) -> Result<()> {
    let mut started = Vec::new();
    for participant in participants.iter() {
        let fault = |reason| Error::usage(format!("{}: {reason}", participant.name));
        started.push(match &participant.kind {
            Kind::Program(program) => Some(UciPlayer::launch(program.clone()).map_err(fault)?),
            Kind::InProcess(_) => None,
        });
    }
    for (participant, player) in participants.iter_mut().zip(started) {
        let Some(mut player) = player else { continue };
        match player.handshake(stop) {
            Ok(()) | Err(PlayerError::Stopped) => {}
            Err(PlayerError::Crash(note) | PlayerError::Stall(note) | PlayerError::Unable(note)) => {
                return Err(Error::usage(format!("{}: {note}", participant.name)));
            }
        }
        participant.engine_name = player.name().map(str::to_string);
        participant.spares.get_mut().unwrap_or_else(PoisonError::into_inner).push(player);
    }
    Ok(())
}

/// Gives participants of the same name different ones: more of the path, or a letter behind it.
pub fn make_names_unique(participants: &mut [Participant], specs: &[Spec]) {
    let same = |names: &[String], i: usize| names.iter().filter(|name| **name == names[i]).count() > 1;
    let mut names: Vec<String> = participants.iter().map(|participant| participant.name.clone()).collect();
    let short = names.clone();
    for (i, spec) in specs.iter().enumerate() {
        if same(&short, i) && spec.name.is_none() {
            names[i].clone_from(&spec.cmd);
        }
    }
    let longer = names.clone();
    for (i, letter) in (0..names.len()).zip(('A'..='Z').cycle()) {
        if same(&longer, i) {
            names[i] = format!("{} ({letter})", short[i]);
        }
    }
    for (participant, name) in participants.iter_mut().zip(names) {
        participant.name = name;
    }
}

fn file_name(cmd: &str) -> String {
    Path::new(cmd).file_name().map_or_else(|| cmd.to_string(), |name| name.to_string_lossy().into_owned())
}

/// The file that a command names: as it stands, in the working folder, or among the programs that the shell finds.
fn find(cmd: &str, dir: Option<&Path>) -> Result<PathBuf> {
    if cmd.is_empty() {
        return Err(Error::usage("a player without cmd=; name a .nnue or .hce.toml file or a UCI engine"));
    }
    let plain = Path::new(cmd);
    let mut places = vec![plain.to_path_buf()];
    places.extend(dir.map(|dir| dir.join(plain)));
    if plain.components().count() == 1
        && let Some(path) = std::env::var_os("PATH")
    {
        places.extend(std::env::split_paths(&path).map(|folder| folder.join(plain)));
    }
    let found = places.into_iter().find(|place| place.is_file());
    // Not found: whoever opens it tells why.
    Ok(found.unwrap_or_else(|| plain.to_path_buf()))
}

/// Recognises executables of the usual systems, and scripts.
fn is_program(path: &Path, bytes: &[u8]) -> bool {
    let known = path.extension().is_some_and(|e| e == "nnue" || e == "toml");
    let magic: [&[u8]; 5] = [b"\x7fELF", b"#!", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    !known && magic.iter().any(|magic| bytes.starts_with(magic))
}

fn program(spec: &Spec, path: PathBuf, defaults: &Defaults) -> Result<Program> {
    // The working folder of the program is not ours.
    let path = std::path::absolute(&path).map_err(|e| Error::io(&path, e))?;
    if let Some(dir) = &spec.dir
        && !dir.is_dir()
    {
        return Err(Error::data(dir, "is not a folder for a player to work in"));
    }
    Ok(Program {
        path,
        args: spec.args.clone().unwrap_or_default(),
        dir: spec.dir.clone(),
        options: spec.options.clone(),
        restart: spec.restart.unwrap_or(false),
        short_history: spec.short_history.unwrap_or(false),
        timeouts: defaults.timeouts,
    })
}

/// Takes an embedded evaluation by name, or reads a weights file or network, compressed or not.
///
/// # Errors
/// The file cannot be read, or is neither.
pub fn load_evaluation(path: &Path) -> Result<Evaluation> {
    match path.to_str().and_then(Evaluation::embedded) {
        Some(evaluation) => Ok(evaluation),
        None => patzer_io::parse(path, Evaluation::parse),
    }
}

fn in_process(spec: &Spec, path: &Path, defaults: &Defaults) -> Result<Kind> {
    let refuse = |what: &str| Err(Error::usage(format!("{}: {what} is for programs only", spec.cmd)));
    if spec.args.is_some() {
        return refuse("args=");
    }
    if spec.dir.is_some() {
        return refuse("dir=");
    }
    let (mut hash, mut overhead) = (defaults.hash, defaults.overhead);
    for (name, value) in &spec.options {
        let number = |most: u64| {
            let wrong = || {
                Error::usage(format!(
                    "{}: option {name} takes a number up to {most}, not `{value}`",
                    spec.cmd
                ))
            };
            value.parse().ok().filter(|n: &u64| *n <= most).ok_or_else(wrong)
        };
        match name.to_ascii_lowercase().as_str() {
            "hash" => hash = number(65_536)?.max(1) as usize,
            "threads" => drop(number(1)?),
            "move overhead" => overhead = Duration::from_millis(number(60_000)?),
            _ => {
                return Err(Error::usage(format!(
                    "{}: players in this process have no option `{name}`; they offer: Hash, Threads, Move Overhead",
                    spec.cmd
                )));
            }
        }
    }
    Ok(Kind::InProcess(Own { evaluation: load_evaluation(path)?, hash, overhead }))
}
