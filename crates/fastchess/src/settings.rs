//! Settings of a run, with the defaults of the program whose command line is spoken.

use std::path::PathBuf;
use std::time::Duration;

use super::Program;
use super::config::Stats;
use super::output_format::OutputFormat;
use patzer_match::affinity::CpuList;
use patzer_match::pgn::PgnStyle;
use patzer_match::{DrawRule, LinePattern, ResignRule, SyzygyResults, Timeouts};
use patzer_stats::Model;

/// A word `key=value`.
pub type KeyValue = (String, String);

#[derive(Debug)]
pub struct Settings {
    pub program: Program,
    pub engines: Vec<Vec<KeyValue>>,
    /// For each engine, after its own.
    pub each: Vec<KeyValue>,
    /// Games at once; 0 or less: CPUs less so many.
    pub concurrency: i64,
    pub force_concurrency: bool,
    pub rounds: u64,
    pub games: u64,
    /// Games from one opening.
    pub repeat: u64,
    pub sprt: Option<SprtSettings>,
    pub tournament: Tournament,
    pub seeds: usize,
    pub swap: bool,
    pub reverse: bool,
    pub wait: Duration,
    pub chess960: bool,
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
    pub two_sided: bool,
    pub max_moves: Option<u32>,
    /// Folders of tables, separated as in a search path.
    pub tb: Option<String>,
    pub tb_pieces: Option<u32>,
    pub tb_ignore_50: bool,
    pub tb_results: SyzygyResults,
    pub book: Book,
    pub seed: Option<u64>,
    pub output: OutputFormat,
    pub penta: bool,
    /// Pairs, or games without pentanomial statistics; 0: at the end alone.
    pub rating_interval: u64,
    pub score_interval: u64,
    pub event: String,
    pub style: PgnStyle,
    pub lines: Vec<LinePattern>,
    pub pgn: Option<OutputFile>,
    pub crc: bool,
    pub epd: Option<OutputFile>,
    pub recover: bool,
    /// CPUs; an empty option takes all.
    pub affinity: Option<Option<CpuList>>,
    pub check_mate_pvs: bool,
    pub show_latency: bool,
    /// Write each warning as one line.
    pub test_env: bool,
    pub strict: bool,
    pub log: LogSettings,
    pub timeouts: Timeouts,
    pub quick: bool,
    /// File of fastchess's settings and results; empty for cutechess-cli.
    pub config_name: String,
    /// Games between two writings of that file; 0 or less: at the end alone.
    pub autosave: i64,
    /// Results of the file that was read, and whether they count.
    pub stats: Stats,
    /// Numbers of pairs that the results lack although later ones were played.
    pub unplayed: Vec<usize>,
    pub keeps_stats: bool,
    /// Settings that a file replaced.
    pub replaced: Option<Box<Settings>>,
    /// Notes on options accepted without effect, shown once.
    pub notes: Vec<String>,
}

/// Pairings of the players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tournament {
    RoundRobin,
    Gauntlet,
    Knockout,
    /// Each engine against those before it, so that new ones come last.
    Pyramid,
}

#[derive(Debug, Clone, Copy)]
pub struct SprtSettings {
    pub elo0: f64,
    pub elo1: f64,
    pub alpha: f64,
    pub beta: f64,
    pub model: Model,
}

#[derive(Debug, Default)]
pub struct Book {
    pub file: Option<PathBuf>,
    pub random: bool,
    pub plies: Option<u32>,
    pub start: u32,
    /// Shift to the next opening with each round, not with each encounter.
    pub by_round: bool,
}

#[derive(Debug, Clone)]
pub struct OutputFile {
    pub path: PathBuf,
    pub append: bool,
}

#[derive(Debug, Default)]
pub struct LogSettings {
    pub file: Option<PathBuf>,
    pub append: bool,
    /// Log the runner's messages from this level on.
    pub level: LogLevel,
    /// Log the commands and answers of engines.
    pub engines: bool,
    /// Print the commands and answers of engines.
    pub stdout: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    Trace,
    Info,
    #[default]
    Warn,
    Err,
    Fatal,
}

impl Settings {
    /// Notes what is accepted without effect, once.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub fn new(program: Program) -> Settings {
        let fastchess = program == Program::Fastchess;
        let pick = |ours: u64, cutechess: u64| if fastchess { ours } else { cutechess };
        let event = if fastchess { "Fastchess Tournament" } else { "?" };
        let style = PgnStyle {
            fields: Vec::new(),
            round_by_game: false,
            clock: true,
            openings: true,
            unsigned_zero: true,
            ..PgnStyle::default()
        };
        Settings {
            program,
            engines: Vec::new(),
            each: Vec::new(),
            concurrency: 1,
            force_concurrency: false,
            rounds: pick(2, 1),
            games: pick(2, 1),
            repeat: pick(2, 1),
            sprt: None,
            tournament: Tournament::RoundRobin,
            seeds: 1,
            swap: true,
            reverse: false,
            wait: Duration::ZERO,
            chess960: false,
            draw: None,
            resign: None,
            two_sided: false,
            max_moves: None,
            tb: None,
            tb_pieces: None,
            tb_ignore_50: false,
            tb_results: SyzygyResults::All,
            book: Book { start: 1, ..Book::default() },
            seed: None,
            output: if fastchess { OutputFormat::Fastchess } else { OutputFormat::Cutechess },
            penta: fastchess,
            rating_interval: pick(10, 0),
            score_interval: 1,
            event: event.to_string(),
            style,
            lines: Vec::new(),
            pgn: None,
            crc: false,
            epd: None,
            recover: false,
            affinity: None,
            check_mate_pvs: false,
            show_latency: false,
            test_env: false,
            strict: false,
            log: LogSettings { append: true, ..LogSettings::default() },
            timeouts: Timeouts {
                start: Duration::from_secs(10),
                ready: Duration::from_secs(60),
                // Fastchess finds a hanging engine by a ping before its next move.
                stall: Some(Duration::from_secs(600)),
            },
            quick: false,
            config_name: if fastchess { "config.json".to_string() } else { String::new() },
            autosave: 20,
            stats: Stats::default(),
            unplayed: Vec::new(),
            keeps_stats: true,
            replaced: None,
            notes: Vec::new(),
        }
    }
}
