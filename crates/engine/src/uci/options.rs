//! The UCI options, one row each: for `uci`, `setoption` and the players in this process.

use std::path::Path;
use std::time::Duration;

use super::session::Session;
use crate::strength::{STRONGEST, WEAKEST};
use crate::{OptionError, SearchKind, tables};
use patzer_eval::Evaluation;

pub(super) struct UciOption {
    name: &'static str,
    kind: Kind,
    in_process: Option<InProcess>,
}

/// Handling of an option by players in this process.
#[derive(Clone, Copy)]
enum InProcess {
    Number { max: u64, set: fn(&mut PlayerSettings, u64) },
    Search { set: fn(&mut PlayerSettings, SearchKind) },
}

enum Kind {
    Spin {
        default: u64,
        min: u64,
        max: u64,
        set: fn(&mut Session, u64) -> Result<(), OptionError>,
    },
    Check {
        default: bool,
        set: fn(&mut Session, bool),
    },
    /// A combo of the searches' names.
    Search {
        set: fn(&mut Session, SearchKind),
    },
    Text {
        default: fn(&Session) -> &str,
        set: fn(&mut Session, &str) -> Result<(), OptionError>,
    },
    Button {
        set: fn(&mut Session),
    },
}

/// The name of the embedded evaluation.
pub(super) const EMBEDDED: &str = "<embedded>";
/// Value for no file or folder, as other engines write it.
const EMPTY: &str = "<empty>";

pub(super) const HASH_MB: usize = 16;
const MAX_HASH_MB: u64 = 65_536;
/// Default time reserved for each move, in milliseconds.
pub(super) const OVERHEAD_MS: u64 = 10;

pub(super) const OPTIONS: &[UciOption] = &[
    UciOption::spin("Hash", HASH_MB as u64, 1, MAX_HASH_MB, |session, mb| session.set_hash(mb as usize))
        .in_process(InProcess::Number {
            max: MAX_HASH_MB,
            set: |player, mb| player.hash_mb = mb.max(1) as usize,
        }),
    UciOption::spin("Threads", 1, 1, 1024, |session, threads| {
        session.set_threads(threads as usize);
        Ok(())
    })
    .in_process(InProcess::Number { max: 1, set: |_, _| () }),
    UciOption::new("Search", Kind::Search { set: Session::set_search })
        .in_process(InProcess::Search { set: |player, search| player.search = search }),
    UciOption::new("Clear Hash", Kind::Button { set: |session| session.engine().new_game() }),
    // The GUI decides whether to ponder; the declaration says that the engine can.
    UciOption::new("Ponder", Kind::Check { default: false, set: |_, _| () }),
    UciOption::spin("MultiPV", 1, 1, 256, |session, lines| {
        session.lines = lines as usize;
        Ok(())
    }),
    UciOption::new("EvalFile", Kind::Text { default: |session| &session.initial.name, set: load }),
    UciOption::new("SyzygyPath", Kind::Text { default: |_| EMPTY, set: open_tables }),
    UciOption::spin("SyzygyProbeDepth", 1, 1, 100, |session, depth| {
        session.probing.depth = depth as i32;
        session.probe();
        Ok(())
    }),
    UciOption::spin("SyzygyProbeLimit", 7, 0, 7, |session, pieces| {
        session.probing.limit = pieces as usize;
        session.probe();
        Ok(())
    }),
    UciOption::new("UCI_Chess960", Kind::Check { default: false, set: |session, on| session.chess960 = on }),
    UciOption::new("UCI_ShowWDL", Kind::Check { default: false, set: |session, on| session.show_wdl = on }),
    UciOption::new(
        "UCI_AnalyseMode",
        Kind::Check { default: false, set: |session, on| session.analyse = on },
    ),
    UciOption::new("UCI_LimitStrength", Kind::Check { default: false, set: Session::set_limited }),
    UciOption::spin("UCI_Elo", STRONGEST, WEAKEST, STRONGEST, |session, elo| {
        session.elo = elo;
        Ok(())
    }),
    UciOption::spin("Seed", 0, 0, u32::MAX as u64, |session, seed| {
        session.seed = seed;
        Ok(())
    }),
    UciOption::spin("Move Overhead", OVERHEAD_MS, 0, 5_000, |session, ms| {
        session.overhead = Duration::from_millis(ms);
        Ok(())
    })
    .in_process(InProcess::Number {
        max: 60_000,
        set: |player, ms| player.overhead = Duration::from_millis(ms),
    }),
];

fn load(session: &mut Session, file: &str) -> Result<(), OptionError> {
    let evaluation = if file.is_empty() || file == session.initial.name {
        session.initial.evaluation.clone()
    } else if file == EMBEDDED {
        Evaluation::default()
    } else {
        Evaluation::load(Path::new(file)).map_err(|error| OptionError::EvalFile(file.to_owned(), error))?
    };
    for name in evaluation.missing() {
        session.out.explain(format_args!("{file} lacks {name}, which counts as 0"));
    }
    session.evaluation = evaluation;
    session.engine = None;
    Ok(())
}

fn open_tables(session: &mut Session, folders: &str) -> Result<(), OptionError> {
    let none = folders.is_empty() || folders == EMPTY;
    session.probing.base =
        if none { None } else { Some(tables::open(folders).map_err(OptionError::Tables)?) };
    session.probe();
    if let Some(base) = &session.probing.base {
        session.out.explain(format_args!("SyzygyPath: tables of up to {} pieces", base.max_pieces()));
    }
    Ok(())
}

fn searches(separator: &str) -> String {
    SearchKind::ALL.map(|(_, name)| name).join(separator)
}

impl UciOption {
    const fn new(name: &'static str, kind: Kind) -> UciOption {
        UciOption { name, kind, in_process: None }
    }

    const fn spin(
        name: &'static str,
        default: u64,
        min: u64,
        max: u64,
        set: fn(&mut Session, u64) -> Result<(), OptionError>,
    ) -> UciOption {
        UciOption::new(name, Kind::Spin { default, min, max, set })
    }

    const fn in_process(self, in_process: InProcess) -> UciOption {
        UciOption { in_process: Some(in_process), ..self }
    }

    pub(super) fn declaration(&self, session: &Session) -> String {
        let kind = match self.kind {
            Kind::Spin { default, min, max, .. } => format!("spin default {default} min {min} max {max}"),
            Kind::Check { default, .. } => format!("check default {default}"),
            Kind::Search { .. } => {
                let default = SearchKind::default().name();
                format!("combo default {default} var {}", searches(" var "))
            }
            Kind::Text { default, .. } => format!("string default {}", default(session)),
            Kind::Button { .. } => "button".to_owned(),
        };
        format!("option name {} type {kind}", self.name)
    }

    fn set(&self, session: &mut Session, value: &str) -> Result<(), OptionError> {
        let refuse = |takes: String| Err(OptionError::Value(self.name.to_owned(), takes, value.to_owned()));
        match self.kind {
            Kind::Spin { min, max, set, .. } => match value.parse() {
                Ok(number) if (min..=max).contains(&number) => set(session, number)?,
                _ => return refuse(format!("a number from {min} to {max}")),
            },
            Kind::Check { set, .. } => match value.to_ascii_lowercase().parse() {
                Ok(on) => set(session, on),
                Err(_) => return refuse("true or false".to_owned()),
            },
            Kind::Search { set } => match SearchKind::by_name(value) {
                Some(search) => set(session, search),
                None => return refuse(format!("one of {}", searches(", "))),
            },
            Kind::Text { set, .. } => set(session, value)?,
            Kind::Button { set } => set(session),
        }
        Ok(())
    }
}

/// Options of a player in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayerSettings {
    /// Size of the transposition table, in MiB.
    pub hash_mb: usize,
    /// Time reserved for each move.
    pub overhead: Duration,
    /// The kind of search.
    pub search: SearchKind,
}

impl PlayerSettings {
    /// Sets an option by its UCI name, if in-process players have it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let option = OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name));
        let Some(in_process) = option.and_then(|option| option.in_process) else {
            let offered = OPTIONS.iter().filter(|option| option.in_process.is_some());
            let offered = offered.map(|option| option.name).collect::<Vec<_>>().join(", ");
            return Err(OptionError::NotInProcess(name.to_owned(), offered));
        };
        let refuse = |takes| Err(OptionError::Value(format!("option {name}"), takes, value.to_owned()));
        match in_process {
            InProcess::Number { max, set } => match value.parse() {
                Ok(number) if number <= max => set(self, number),
                _ => return refuse(format!("a number up to {max}")),
            },
            InProcess::Search { set } => match SearchKind::by_name(value) {
                Some(search) => set(self, search),
                None => return refuse(format!("one of {}", searches(", "))),
            },
        }
        Ok(())
    }
}

/// Runs `setoption` with its arguments. Names ignore case and repeated spaces.
pub(super) fn set(session: &mut Session, arguments: &str) -> Result<(), OptionError> {
    let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    if !first.eq_ignore_ascii_case("name") {
        return Err(OptionError::Syntax);
    }
    let (name, value) = name_and_value(rest);
    match OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(&name)) {
        Some(option) => option.set(session, value),
        None => session.set_param(&name, value),
    }
}

/// Splits at `value`: the name with single spaces, and the rest verbatim, since a path may hold anything.
fn name_and_value(text: &str) -> (String, &str) {
    let mut name = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim();
        if word.eq_ignore_ascii_case("value") {
            break;
        }
        name.push(word);
    }
    (name.join(" "), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_spaces() {
        let (name, value) = name_and_value("  Eval   file value /a  b/value c.nnue ");
        assert_eq!((name.as_str(), value), ("Eval file", "/a  b/value c.nnue"));
        assert_eq!(name_and_value("Clear Hash"), ("Clear Hash".to_owned(), ""));
        assert_eq!(name_and_value("Hash VALUE"), ("Hash".to_owned(), ""));
    }

    #[test]
    fn players_in_this_process_take_four_of_the_options() {
        let mut player =
            PlayerSettings { hash_mb: 8, overhead: Duration::ZERO, search: SearchKind::AlphaBeta };
        for (name, value) in [("hash", "0"), ("THREADS", "1"), ("Move Overhead", "60000"), ("search", "MCTS")]
        {
            player.set(name, value).unwrap();
        }
        assert_eq!(
            player,
            PlayerSettings { hash_mb: 1, overhead: Duration::from_secs(60), search: SearchKind::Mcts }
        );
        let refused =
            |name: &str, value: &str| PlayerSettings::set(&mut player.clone(), name, value).unwrap_err();
        for (name, most) in [("Hash", 65_536), ("Threads", 1), ("Move Overhead", 60_000)] {
            let expected = format!("option {name} takes a number up to {most}, not `{}`", most + 1);
            assert_eq!(refused(name, &(most + 1).to_string()).to_string(), expected);
        }
        let expected = "players in this process have no option `Ponder`; they offer: Hash, Threads, Search, Move Overhead";
        assert_eq!(refused("Ponder", "true").to_string(), expected);
    }
}
