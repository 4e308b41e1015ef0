//! Output of an engine beside its moves: variation, matching lines, warnings, a log.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use regex::bytes::Regex;

use super::patterns::pattern;
use super::player::{NoMove, Remarks, Turn};
use super::pv_check::{self, PvCheck};
use super::score_check;
use patzer_io::error::{Error, Result};
use patzer_io::message_error;
use shakmaty::Move;

/// Selection of an engine's output to keep beside its moves.
#[derive(Debug, Clone, Default)]
pub struct Listen {
    pub pv: bool,
    /// Patterns; the last line of a search that matches each is kept.
    pub lines: Vec<LinePattern>,
    pub check_pvs: Option<PvCheck>,
    pub log: Option<Arc<EngineLog>>,
    /// Receives warnings of a node limit that the engine does not keep.
    pub warn: Option<fn(&str)>,
}

message_error!(PatternError);

/// A regular expression for lines of an engine.
#[derive(Debug, Clone)]
pub struct LinePattern(Regex);

impl std::fmt::Display for LinePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl std::str::FromStr for LinePattern {
    type Err = PatternError;

    fn from_str(text: &str) -> std::result::Result<LinePattern, PatternError> {
        let unreadable = |error: regex::Error| {
            let reason = error.to_string();
            PatternError(reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string())
        };
        Regex::new(text).map(LinePattern).map_err(unreadable)
    }
}

impl LinePattern {
    /// The text of the pattern's first group where it matches a line.
    pub fn first_group<'a>(&self, line: &'a str) -> Option<&'a str> {
        let group = self.0.captures(line.as_bytes())?.get(1)?;
        line.get(group.range())
    }

    /// Tests whether the pattern has a group in parentheses.
    pub fn has_group(&self) -> bool {
        self.0.captures_len() > 1
    }
}

/// Output of one search, as far as [`Listen`] asks for it.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    infos: Vec<Vec<u8>>,
    matched: Vec<String>,
    /// Lines, with the last one, which answers.
    lines: usize,
}

impl Listen {
    pub(crate) fn is_idle(&self) -> bool {
        !self.pv && self.lines.is_empty() && self.check_pvs.is_none()
    }

    pub(crate) fn hear(&self, line: &[u8], heard: &mut Heard) {
        heard.lines += 1;
        if (self.pv || self.check_pvs.is_some()) && line.starts_with(b"info ") {
            heard.infos.push(line.to_vec());
        }
        heard.matched.resize(self.lines.len(), String::new());
        for (pattern, last) in self.lines.iter().zip(&mut heard.matched) {
            if pattern.0.is_match(line) {
                *last = String::from_utf8_lossy(line).into_owned();
            }
        }
    }

    /// `best` is the move of the answer, `word` its text.
    pub(crate) fn remarks(
        &self,
        heard: Heard,
        turn: &Turn,
        best: &std::result::Result<Move, NoMove>,
        word: &[u8],
        name: &str,
    ) -> Remarks {
        let Heard { infos, matched, lines } = heard;
        let mut warnings = Vec::new();
        if let Some(check) = self.check_pvs {
            warnings.extend(score_check::warning(&infos, name).filter(|_| lines > 1));
            warnings.extend(pv_check::warnings(&infos, turn, best.as_ref().ok().copied(), check, name));
            warnings.extend(score_check::notation(word, name));
        }
        let pv = match self.pv {
            true => infos.iter().rev().find_map(|info| pv_check::main_line(info)).unwrap_or_default(),
            false => String::new(),
        };
        let lines = matched.into_iter().filter(|line| !line.is_empty()).collect();
        Remarks { pv, lines, warnings, ..Remarks::default() }
    }
}

/// All commands to engines and all lines from them, with time stamps.
pub struct EngineLog(Mutex<(Box<dyn Write + Send>, Option<std::io::Error>)>);

impl std::fmt::Debug for EngineLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EngineLog")
    }
}

impl EngineLog {
    /// Creates a log, or appends to one.
    ///
    /// # Errors
    /// The file holds anything else than a log, or cannot be written.
    pub fn create(path: &Path, append: bool) -> Result<EngineLog> {
        if !patzer_io::is_stream(path) && !is_log(path) {
            return Err(Error::data(
                path,
                "is not empty and no log of engines; name another file for the log",
            ));
        }
        let mut options = File::options();
        options.create(true).write(true).append(append).truncate(!append);
        let file = options.open(path).map_err(|e| Error::create(path, e))?;
        Ok(EngineLog(Mutex::new((Box::new(file), None))))
    }

    pub fn stdout() -> EngineLog {
        EngineLog(Mutex::new((Box::new(std::io::stdout()), None)))
    }

    /// Writes a line of the runner itself.
    pub fn note(&self, label: &str, text: &str) {
        self.write(label, text.lines(), |line| format!("patzer --- {line}"));
    }

    pub(crate) fn sent(&self, name: &str, bytes: &[u8]) {
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        self.write("Engine", lines, |line| format!("{name} <--- {}", String::from_utf8_lossy(line)));
    }

    pub(crate) fn received(&self, name: &str, line: &[u8]) {
        self.write("Engine", [line].into_iter(), |line| {
            format!("{name} ---> {}", String::from_utf8_lossy(line).trim_end())
        });
    }

    fn write<T>(&self, label: &str, lines: impl Iterator<Item = T>, text: impl Fn(T) -> String) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (clock, micros) = (patzer_io::date::clock(time), time.subsec_micros());
        // Hours of the day, in UTC.
        let day = clock.split_once(':').map(|(hours, rest)| (hours.parse::<u64>().unwrap_or(0) % 24, rest));
        let (hour, rest) = day.unwrap_or_default();
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("main");
        let lines: String = lines
            .map(|line| format!("[{label:<6}] [{hour:02}:{rest}.{micros:06}] <{thread}> {}\n", text(line)))
            .collect();
        let (file, failed) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_none() {
            *failed = file.write_all(lines.as_bytes()).err();
        }
    }

    /// The first error in writing, if any.
    pub fn error(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.as_ref().map(ToString::to_string)
    }
}

/// True for a log such as fastchess and patzer write, and for no file or an empty one.
fn is_log(path: &Path) -> bool {
    let mut head = Vec::new();
    match File::open(path).map(|file| file.take(32).read_to_end(&mut head)) {
        Ok(_) => head.is_empty() || LOG_LINE.is_match(&head),
        // Creating the file names the fault.
        Err(_) => true,
    }
}

/// Beginning of a line: `[Engine] [12:30:00.123456] <main>`.
static LOG_LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[[A-Za-z]+ *\] \[\d\d:\d\d:\d\d\."));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_takes_the_place_of_a_log_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let create = |append| EngineLog::create(&path, append);
        create(false).unwrap().note("INFO", "starts");
        for append in [true, false] {
            create(append).unwrap().sent("a", b"isready\n");
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert_eq!(lines, if append { 2 } else { 1 });
        }
        std::fs::write(&path, "[INFO  ] [17:03:51.123456] <  8> fastchess --- Starting tournament...\n")
            .unwrap();
        assert!(create(true).is_ok());
        for other in ["[Event \"x\"]\n[Site \"?\"]\n", "{\"patzer_journal\":2}\n", "\0\0"] {
            std::fs::write(&path, other).unwrap();
            assert!(create(false).is_err() && create(true).is_err(), "{other}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
        }
    }
}
