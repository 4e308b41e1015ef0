//! Notes a run in the book when it ends.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use crate::recorder::{Recorded, Recorder};
use crate::{Result, Status, Ui, VERSION, interrupt};
use patzer_io::date::moment;
use patzer_io::trail;
use patzer_report::lab::{Book, Entry, FILE, FileRecord, Machine, find};

/// Commands whose runs are noted, if they write a file.
const NOTED: [&str; 14] = [
    "extract", "games", "data", "label", "tune", "sprt", "match", "join", "race", "screen", "spsa",
    "selfplay", "net", "book",
];

/// Files of a run that are no results: its folder's, and copies there.
const BESIDE: [&str; 11] = [
    FILE,
    "log.csv",
    "recipe.toml",
    "run.json",
    "result.json",
    "checkpoint.bin",
    "network.nnue",
    "weights.hce.toml",
    "weights.csv",
    "weights.diff",
    "least-loss.nnue",
];
const ENDINGS: [&str; 4] = ["journal", "ahead", "sha256", "lock"];

/// A run that is noted when it ends.
pub struct Session {
    book: PathBuf,
    kind: &'static str,
    begun: SystemTime,
    clock: Instant,
}

/// The book of this process: in the folder that is named, or in the working folder or one above it.
pub fn book(lab: Option<&Path>) -> Result<Option<PathBuf>> {
    match lab {
        Some(folder) => {
            let path = folder.join(FILE);
            let reason = "there is no book here; `patzer lab init FOLDER` begins one";
            if path.is_file() { Ok(Some(path)) } else { Err(crate::Error::data(path, reason)) }
        }
        None => Ok(std::env::current_dir().ok().and_then(|folder| find(&folder))),
    }
}

impl Session {
    /// Begins to note a command, where there is a book for it.
    pub fn begin(kind: &'static str, ui: &mut Ui) -> Result<Option<Session>> {
        let Some(book) = (if NOTED.contains(&kind) { book(ui.lab.as_deref())? } else { None }) else {
            return Ok(None);
        };
        let book = std::path::absolute(&book).unwrap_or(book);
        ui.recorder = Recorder::recording();
        trail::begin();
        Ok(Some(Session { book, kind, begun: SystemTime::now(), clock: Instant::now() }))
    }

    /// Appends the entry of a command that ended, or was interrupted; a book that cannot be written is a warning.
    pub fn end(self, outcome: &Result<Status>, ui: &Ui) {
        let trail = trail::take();
        let exit = match (interrupt::exit_code(), outcome) {
            (Some(code), _) => code,
            (None, Ok(status)) => status.code(),
            (None, Err(_)) => return,
        };
        let written = self.records(trail.written.iter().filter(|path| is_result(path)));
        if written.is_empty() {
            return;
        }
        let read = self.records(trail.read.iter().filter(|path| is_result(path)));
        let entry = self.entry(exit, read, written, ui);
        let new = Book { entries: vec![entry], ..Book::default() };
        if let Err(error) = new.append(&self.book) {
            ui.warn(format!("the run is not in the book: {error}"));
        }
    }

    fn folder(&self) -> &Path {
        self.book.parent().unwrap_or(Path::new(""))
    }

    /// Files that are there, with their digests.
    fn records<'a>(&self, paths: impl Iterator<Item = &'a PathBuf>) -> Vec<FileRecord> {
        paths.filter_map(|path| FileRecord::of(path, self.folder()).ok()).collect()
    }

    fn entry(&self, exit: u8, read: Vec<FileRecord>, written: Vec<FileRecord>, ui: &Ui) -> Entry {
        let command: Vec<String> =
            std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        let current = std::env::current_dir().unwrap_or_default();
        let folder = current.strip_prefix(self.folder()).map_or(current.clone(), Path::to_path_buf);
        let Recorded { results, players } = ui.recorder.take();
        let machine = machine();
        let identity = format!("{:?} {} {} {command:?}", self.begun, std::process::id(), machine.host);
        Entry {
            id: patzer_io::sha256(identity.as_bytes())[..8].to_string(),
            time: moment(self.begun),
            kind: self.kind.to_string(),
            command,
            folder,
            seconds: (self.clock.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            version: VERSION.to_string(),
            machine,
            exit,
            read,
            written,
            players,
            results,
        }
    }
}

fn is_result(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let ending = path.extension().map_or_else(String::new, |ending| ending.to_string_lossy().into_owned());
    !BESIDE.contains(&name.as_str()) && !ENDINGS.contains(&ending.as_str()) && !name.contains("tfevents")
}

fn machine() -> Machine {
    let first_line = |path: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().next().unwrap_or_default().trim().to_string()
    };
    let host = [first_line("/proc/sys/kernel/hostname")]
        .into_iter()
        .chain(["HOSTNAME", "COMPUTERNAME"].into_iter().filter_map(|name| std::env::var(name).ok()));
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    Machine {
        host: host.into_iter().find(|name| !name.is_empty()).unwrap_or_default(),
        processor: model
            .map_or_else(|| std::env::consts::ARCH.to_string(), |(_, name)| name.trim().to_string()),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    }
}
