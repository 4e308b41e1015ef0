//! Participants of a match: an evaluation played by the bundled engine, or a UCI program.

mod files;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use files::program_path;
use files::{find, is_program, limit_of, with_argument_files};

use super::conditions::{PlayerConditions, PlayerKind};
use crate::{
    BookPlayer, Control, InProcess, Listen, OwnBook, Player, PlayerError, Restarts, Spec, TimeSettings,
    Timeouts,
};
use patzer_engine::{OptionError, Params, PlayerSettings, SearchKind};
use patzer_eval::Evaluation;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::printable;
use patzer_uci_client::compliance::Compliance;
use patzer_uci_client::{Analyst, Benched, CHESS960, Genfens, Program, UciPlayer};

#[derive(Debug, Clone)]
pub struct Defaults {
    pub control: Control,
    pub margin: Duration,
    pub hash: usize,
    pub overhead: Duration,
    pub timeouts: Timeouts,
    /// Warn of options that an engine does not have, instead of refusing it.
    pub lenient: bool,
    pub listen: Listen,
    /// Seeds what players draw from books of their own; `None` where they play no games of a match, and may have
    /// neither a book nor think on the opponent's time.
    pub seed: Option<u64>,
}

impl Defaults {
    /// Defaults of engines that search single positions, outside of games; one that takes longer than `stall` hangs.
    pub fn for_positions(control: Control, stall: Duration) -> Defaults {
        let seconds = Duration::from_secs;
        Defaults {
            control,
            margin: Duration::ZERO,
            hash: 16,
            overhead: Duration::ZERO,
            timeouts: Timeouts { start: seconds(60), ready: seconds(60), stall: Some(stall) },
            lenient: false,
            listen: Listen::default(),
            seed: None,
        }
    }
}

pub struct Participant {
    pub name: String,
    pub time_settings: TimeSettings,
    /// SHA-256 of the file, or the name of a built-in evaluation; identifies the participant in the journal. That of a
    /// program covers the files that its arguments name, such as the script of `python3 engine.py`.
    pub digest: String,
    kind: Kind,
    book: Option<OwnBook>,
    /// Programs started by [`start_programs`], for the first games.
    spares: Mutex<Vec<UciPlayer>>,
    engine_name: Option<String>,
    /// The program's own threads and transposition table, as it declares them.
    declared: [Option<String>; 2],
    /// The program declares `UCI_Chess960`.
    declares_chess960: bool,
    /// Warnings of the program's first start.
    pub warnings: Vec<String>,
    /// Crashes and hangs of an engine asked about single positions.
    pub restarts: Restarts,
}

enum Kind {
    InProcess(Evaluation, PlayerSettings, Box<Params>),
    Program(Arc<Program>),
}

impl Participant {
    pub fn load(spec: &Spec, defaults: &Defaults) -> Result<Participant> {
        let control = if spec.control.is_unlimited() { defaults.control } else { spec.control };
        let time_settings = TimeSettings {
            control: control.scaled(spec.odds.unwrap_or(1.0)),
            margin: spec.margin.unwrap_or(defaults.margin),
        };
        let book = own_book(spec, defaults, &time_settings)?;
        let embedded = Evaluation::EMBEDDED.contains(&spec.cmd.as_str());
        let path = if embedded { PathBuf::from(&spec.cmd) } else { find(&spec.cmd, spec.dir.as_deref())? };
        let bytes = if embedded { Vec::new() } else { io::read_as(&path, limit_of)? };
        let mut digest = if embedded { spec.cmd.clone() } else { io::sha256(&bytes) };
        let kind = if !embedded && is_program(&path, &bytes) {
            digest = with_argument_files(digest, spec)?;
            Kind::Program(Arc::new(program(spec, path, defaults)?))
        } else {
            in_process(spec, &path, defaults)?
        };
        let name = spec.player_name();
        Ok(Participant {
            name,
            time_settings,
            digest,
            kind,
            book,
            spares: Mutex::default(),
            engine_name: None,
            declared: [None, None],
            declares_chess960: false,
            warnings: Vec::new(),
            restarts: Restarts::default(),
        })
    }

    pub fn is_program(&self) -> bool {
        matches!(self.kind, Kind::Program(_))
    }

    /// Tests whether it plays Chess960, as far as it has been started.
    pub fn plays_chess960(&self) -> bool {
        !self.is_program() || self.declares_chess960
    }

    /// Warning of lines `bestmove` that answered no question, if there were any.
    pub fn strays_warning(&self) -> Option<String> {
        let Kind::Program(program) = &self.kind else { return None };
        let strays = program.strays.load(Ordering::Relaxed);
        let name = printable(&self.name);
        (strays > 0).then(|| format!("{name}: dropped answers without a question, {strays} in all"))
    }

    /// Terms that the weights file of an in-process player lacks; see [`Evaluation::missing`].
    pub fn missing(&self) -> &[String] {
        match &self.kind {
            Kind::InProcess(evaluation, ..) => evaluation.missing(),
            Kind::Program(_) => &[],
        }
    }

    /// Tests whether it searches by playouts in this process, and so says how often it visited each move.
    pub fn plays_by_playouts(&self) -> bool {
        matches!(&self.kind, Kind::InProcess(_, settings, _) if settings.search != SearchKind::AlphaBeta)
    }

    /// Tests whether it thinks on the opponent's time.
    pub fn ponders(&self) -> bool {
        matches!(&self.kind, Kind::Program(program) if program.ponder)
    }

    pub fn threads(&self) -> usize {
        self.option("Threads").and_then(|value| value.parse().ok()).unwrap_or(1).max(1)
    }

    /// Threads in fastchess's format: `NULL` for a program without the option.
    pub(crate) fn shown_threads(&self) -> String {
        match self.option("Threads").or(self.declared[0].as_deref()) {
            None if self.is_program() => "NULL".into(),
            _ => format!("{}t", self.threads()),
        }
    }

    /// Transposition table in MiB; `None` if the program does not say.
    pub fn hash(&self) -> Option<usize> {
        match &self.kind {
            Kind::InProcess(_, settings, _) => Some(settings.hash_mb),
            Kind::Program(_) => {
                let value = self.option("Hash").or(self.declared[1].as_deref());
                value.and_then(|value| value.parse().ok())
            }
        }
    }

    fn option(&self, name: &str) -> Option<&str> {
        let Kind::Program(program) = &self.kind else { return None };
        let option = program.options.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        option.map(|(_, value)| value.as_str())
    }

    pub fn engine_name(&self) -> Option<&str> {
        self.engine_name.as_deref()
    }

    /// Conditions that decide its moves, as a journal keeps it.
    pub fn conditions(&self) -> PlayerConditions<'_> {
        let TimeSettings { control, margin } = self.time_settings;
        let settings = match &self.kind {
            Kind::InProcess(_, settings, params) => {
                let PlayerSettings { hash_mb, overhead, search } = *settings;
                let (overhead_ms, params) = (overhead.as_millis() as u64, params.changed().collect());
                PlayerKind::InProcess { hash: hash_mb, overhead_ms, search: search.name(), params }
            }
            Kind::Program(program) => PlayerKind::Program(program),
        };
        PlayerConditions {
            name: &self.name,
            file: &self.digest,
            limit: control,
            margin_ms: margin.as_millis() as u64,
            settings,
            book: self.book.as_ref(),
        }
    }

    pub fn player(&self, stop: &AtomicBool) -> std::result::Result<Box<dyn Player>, PlayerError> {
        let player = self.searcher(stop)?;
        Ok(match &self.book {
            Some(book) => Box::new(BookPlayer::new(player, book.clone())),
            None => player,
        })
    }

    /// The player without its book.
    fn searcher(&self, stop: &AtomicBool) -> std::result::Result<Box<dyn Player>, PlayerError> {
        let program = match &self.kind {
            Kind::Program(program) => program,
            Kind::InProcess(evaluation, settings, params) => {
                return Ok(Box::new(InProcess::new(evaluation, *settings, params)?));
            }
        };
        let spare = self.spares.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(spare) = spare {
            return Ok(Box::new(spare));
        }
        let mut player = UciPlayer::launch(program.clone())?;
        player.handshake(stop)?;
        Ok(Box::new(player))
    }

    /// Starts the program to search single positions; `None` for an evaluation in this process.
    pub fn analyst(&self, stop: &AtomicBool) -> Option<std::result::Result<Analyst, PlayerError>> {
        match &self.kind {
            Kind::Program(program) => Some(Analyst::start(program.clone(), stop)),
            Kind::InProcess(..) => None,
        }
    }

    /// Checks that the program keeps the protocol, calling `done` after each check; `None` for an evaluation in this
    /// process.
    pub fn compliance(
        &self,
        stop: &AtomicBool,
        done: &dyn Fn(),
    ) -> Option<std::result::Result<Compliance, PlayerError>> {
        match &self.kind {
            Kind::Program(program) => Some(Compliance::check(program.clone(), stop, done)),
            Kind::InProcess(..) => None,
        }
    }

    /// Runs the program's own benchmark; `None` for an evaluation in this process.
    pub fn bench(
        &self,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Option<std::result::Result<Benched, PlayerError>> {
        match &self.kind {
            Kind::Program(program) => Some(program.bench(timeout, stop)),
            Kind::InProcess(..) => None,
        }
    }

    /// Lets the program make openings; `None` for an evaluation in this process.
    pub fn genfens(
        &self,
        request: &Genfens,
        stop: &AtomicBool,
    ) -> Option<std::result::Result<Vec<String>, PlayerError>> {
        match &self.kind {
            Kind::Program(program) => Some(request.run(program, stop)),
            Kind::InProcess(..) => None,
        }
    }

    /// A player of an evaluation in this process; `None` for a program.
    pub fn in_process(&self) -> Option<std::result::Result<InProcess, PlayerError>> {
        match &self.kind {
            Kind::InProcess(evaluation, settings, params) => {
                Some(InProcess::new(evaluation, *settings, params))
            }
            Kind::Program(_) => None,
        }
    }

    /// Values with which a player begins: as its description sets the options, else as it declares them; `None` for an
    /// option without a value. Starts a program.
    pub fn option_values(
        &self,
        names: &[&str],
        stop: &AtomicBool,
    ) -> std::result::Result<Vec<Option<String>>, PlayerError> {
        let program = match &self.kind {
            Kind::Program(program) => program,
            Kind::InProcess(_, _, params) => {
                let value = |name: &&str| params.get(name).map(|value| value.to_string());
                return Ok(names.iter().map(value).collect());
            }
        };
        let mut player = UciPlayer::launch(program.clone())?;
        player.handshake(stop)?;
        let value = |name: &&str| self.option(name).or_else(|| player.default_of(name)).map(str::to_string);
        Ok(names.iter().map(value).collect())
    }

    pub fn drop_spares(&self) {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The player's book; refuses what its games cannot have.
fn own_book(spec: &Spec, defaults: &Defaults, time_settings: &TimeSettings) -> Result<Option<OwnBook>> {
    let refused = |reason: &str| Err(Error::usage(format!("{}: {reason}", spec.cmd)));
    let ponder = spec.ponder == Some(true);
    match (defaults.seed, &spec.book) {
        (None, _) if ponder => refused("ponder= is for games of matches"),
        (_, _) if ponder && time_settings.control.deterministic() => {
            refused("ponder= needs a time limit: tc= or st=")
        }
        (_, None) if spec.book_moves.is_some() => refused("bookdepth= needs book="),
        (None, Some(_)) => refused("book= is for games of matches"),
        (Some(seed), Some(path)) => OwnBook::load(path, spec.book_moves, seed).map(Some),
        (_, None) => Ok(None),
    }
}

pub fn load_all(specs: &[Spec], defaults: &Defaults) -> Result<Vec<Participant>> {
    let loaded = specs.iter().map(|spec| Participant::load(spec, defaults));
    let mut participants = loaded.collect::<Result<Vec<Participant>>>()?;
    make_names_unique(&mut participants, specs);
    Ok(participants)
}

/// Starts every program once, in parallel, and sets its options; they become the players of the first games.
pub(crate) fn start_programs(participants: &mut [Participant], stop: &AtomicBool) -> Result<()> {
    let mut started = Vec::new();
    for participant in participants.iter() {
        started.push(match &participant.kind {
            Kind::Program(program) => {
                let player = UciPlayer::launch(program.clone());
                Some(player.map_err(|e| Error::input(format!("{}: {e}", participant.name)))?)
            }
            Kind::InProcess(..) => None,
        });
    }
    for (participant, player) in participants.iter_mut().zip(started) {
        let Some(mut player) = player else { continue };
        match player.handshake(stop) {
            Ok(()) | Err(PlayerError::Stopped) => {}
            Err(e) => return Err(Error::input(format!("{}: {e}", participant.name))),
        }
        participant.engine_name = player.name().map(str::to_string);
        participant.warnings = player.take_warnings();
        participant.declares_chess960 = player.declares(CHESS960);
        participant.declared = ["Threads", "Hash"].map(|name| player.default_of(name).map(str::to_string));
        participant.spares.get_mut().unwrap_or_else(PoisonError::into_inner).push(player);
    }
    Ok(())
}

fn make_names_unique(participants: &mut [Participant], specs: &[Spec]) {
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

fn program(spec: &Spec, path: PathBuf, defaults: &Defaults) -> Result<Program> {
    // The program runs in another working folder.
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
        stderr: spec.stderr.clone(),
        options: spec.options.clone(),
        restart: spec.restart.unwrap_or(false),
        short_history: spec.short_history.unwrap_or(false),
        ponder: spec.ponder.unwrap_or(false),
        white_pov: spec.white_pov.unwrap_or(false),
        timeouts: defaults.timeouts,
        name: spec.player_name(),
        lenient: defaults.lenient,
        listen: defaults.listen.clone(),
        strays: Arc::default(),
        node_limit: Arc::default(),
    })
}

pub fn load_evaluation(path: &Path) -> Result<Evaluation> {
    Ok(load_with_digest(path)?.0)
}

/// Loads an evaluation with the SHA-256 of its file, or the name of a built-in one.
pub fn load_with_digest(path: &Path) -> Result<(Evaluation, String)> {
    match path.to_str().and_then(|name| Some((Evaluation::embedded(name)?, name.to_string()))) {
        Some(embedded) => Ok(embedded),
        None => patzer_io::parse(path, limit_of, |bytes| {
            Evaluation::parse(bytes).map(|evaluation| (evaluation, io::sha256(bytes)))
        }),
    }
}

fn in_process(spec: &Spec, path: &Path, defaults: &Defaults) -> Result<Kind> {
    let ponder = spec.ponder == Some(true);
    for (key, given) in [
        ("args=", spec.args.is_some()),
        ("dir=", spec.dir.is_some()),
        ("stderr=", spec.stderr.is_some()),
        ("ponder=", ponder),
    ] {
        if given {
            return Err(Error::usage(format!("{}: {key} is for programs only", spec.cmd)));
        }
    }
    let (hash_mb, overhead, search) = (defaults.hash, defaults.overhead, SearchKind::default());
    let mut settings = PlayerSettings { hash_mb, overhead, search };
    let mut params = Params::default();
    for (name, value) in &spec.options {
        let set = settings.set(name, value).or_else(|refused| match params.set(name, value) {
            Err(OptionError::Unknown(_)) => Err(refused),
            set => set,
        });
        set.map_err(|error| Error::usage(format!("{}: {error}", spec.cmd)))?;
    }
    Ok(Kind::InProcess(load_evaluation(path)?, settings, Box::new(params)))
}
