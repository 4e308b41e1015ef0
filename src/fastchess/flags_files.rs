//! Registry, continued: openings, games, logs, and what is printed.

use super::Program::Fastchess;
use super::flags::{BOTH, CUTE, FAST, Flag, Key, Means, Takes, field, number, refused, set, truth};
use super::settings::{LogLevel, OutputFile, Settings};
use crate::{Error, Result};
use patzer_match::output_format::OutputFormat;
use patzer_match::pgn::{MoveField, Notation};

const fn key(name: &'static str, does: &'static str, set: fn(&mut Settings, &str) -> Result<()>) -> Key {
    Key { name, programs: BOTH, means: Means::Does(does), set }
}

fn ignored(_: &mut Settings, _: &str) -> Result<()> {
    Ok(())
}

const OPENINGS: &[Key] = &[
    key("file", "the book; .gz, .bz2, .zst and .zip too", |s, v| set!(s.book.file = Some(v.into()))),
    key("format", "epd or pgn; the file itself decides", |_, v| match v {
        "epd" | "pgn" => Ok(()),
        _ => Err(Error::usage("write epd or pgn")),
    }),
    key("order", "sequential or random", |s, v| {
        s.book.random = match v {
            "random" => true,
            "sequential" => false,
            _ => return Err(Error::usage("write sequential or random")),
        };
        Ok(())
    }),
    key("plies", "plies of a PGN game", |s, v| set!(s.book.plies = Some(number(v)?).filter(|n| *n > 0))),
    key("start", "first opening, in that order", |s, v| {
        s.book.start = number(v)?;
        if s.book.start == 0 { Err(Error::usage("openings are counted from 1")) } else { Ok(()) }
    }),
    key("policy", "when the next opening is due", |s, v| match (s.program, v) {
        (Fastchess, "round") | (_, "default" | "encounter") => Ok(()),
        (_, "round") => set!(s.book.by_round = true),
        _ => Err(Error::usage("write default, encounter or round")),
    }),
];

fn dated(settings: &Settings, extension: &str) -> OutputFile {
    let date = patzer_match::pgn::today().replace('.', "");
    OutputFile { path: format!("{}_{date}.{extension}", settings.program.name()).into(), append: true }
}

fn pgn(settings: &mut Settings) -> &mut OutputFile {
    let file = dated(settings, "pgn");
    settings.pgn.get_or_insert(file)
}

fn epd(settings: &mut Settings) -> &mut OutputFile {
    let file = dated(settings, "epd");
    settings.epd.get_or_insert(file)
}

/// Switches a field of the moves' comments on or off.
fn comment(settings: &mut Settings, field: MoveField, value: &str) -> Result<()> {
    let fields = &mut settings.style.fields;
    fields.retain(|other| *other != field);
    if truth(value)? {
        fields.push(field);
        fields.sort_unstable();
    }
    Ok(())
}

const PGN: &[Key] = &[
    key("file", "the file; by default fastchess_DATE.pgn", |s, v| set!(pgn(s).path = v.into())),
    key("append", "false: replace the file", |s, v| set!(pgn(s).append = truth(v)?)),
    key("notation", "san, lan or uci", |s, v| {
        s.style.notation = match v {
            "san" => Notation::San,
            "lan" => Notation::Lan,
            "uci" => Notation::Uci,
            _ => return Err(Error::usage("write san, lan or uci")),
        };
        Ok(())
    }),
    key("nodes", "`n=` in comments", |s, v| comment(s, MoveField::Nodes, v)),
    key("seldepth", "`sd=` in comments", |s, v| comment(s, MoveField::Seldepth, v)),
    key("nps", "`nps=` in comments", |s, v| comment(s, MoveField::Nps, v)),
    key("hashfull", "`hashfull=` in comments", |s, v| comment(s, MoveField::Hashfull, v)),
    key("tbhits", "`tbhits=` in comments", |s, v| comment(s, MoveField::Tbhits, v)),
    key("pv", "`pv=` in comments", |s, v| comment(s, MoveField::Pv, v)),
    key("timeleft", "`tl=` in comments", |s, v| comment(s, MoveField::Timeleft, v)),
    key("latency", "`latency=` in comments", |s, v| comment(s, MoveField::Latency, v)),
    key("min", "the seven tags and bare moves", field!(style.minimal = truth)),
    key("match_line", "the last line of the engine that matches, as `line=` in comments", |s, v| {
        let pattern = v.parse().map_err(|e: patzer_match::PatternError| Error::usage(e.to_string()))?;
        s.lines.push(pattern);
        Ok(())
    }),
];

const EPD: &[Key] = &[
    key("file", "the file; by default fastchess_DATE.epd", |s, v| set!(epd(s).path = v.into())),
    key("append", "false: replace the file", |s, v| set!(epd(s).append = truth(v)?)),
];

/// `-pgnout FILE [min] [fi]` of cutechess-cli.
fn pgn_of_cutechess(settings: &mut Settings, words: &[String]) -> Result<()> {
    let (file, rest) = words.split_first().ok_or_else(|| Error::usage("name a file"))?;
    pgn(settings).path = file.into();
    for word in rest {
        match word.as_str() {
            "min" => settings.style.minimal = true,
            // Unfinished games are never written.
            "fi" => {}
            _ => return Err(Error::usage(format!("`{word}` is neither min nor fi"))),
        }
    }
    Ok(())
}

const LOG: &[Key] = &[
    key("file", "the file", |s, v| set!(s.log.file = Some(v.into()))),
    key("append", "false: replace the file", field!(log.append = truth)),
    key("engine", "log what engines are told and say", field!(log.engines = truth)),
    key("level", "messages of the runner: trace, info, warn, err or fatal", |s, v| {
        s.log.level = match v {
            "trace" => LogLevel::Trace,
            "info" => LogLevel::Info,
            "warn" => LogLevel::Warn,
            "err" => LogLevel::Err,
            "fatal" => LogLevel::Fatal,
            _ => return Err(Error::usage("write trace, info, warn, err or fatal")),
        };
        Ok(())
    }),
    key("realtime", "true: lines are always logged as they come", |_, v| truth(v).map(drop)),
    key("compress", "false; a compressed log is refused", |_, v| match truth(v)? {
        true => Err(Error::usage("the log is written plain; compress it when it is complete")),
        false => Ok(()),
    }),
];

const NO_CONFIG: &str =
    "patzer writes and reads no config.json; `patzer match --resume` goes on from its own journal";

const CONFIG: &[Key] = &[
    Key { programs: FAST, means: Means::Refused(NO_CONFIG), ..key("file", "", ignored) },
    Key { programs: FAST, means: Means::Nothing("no config.json is written"), ..key("outname", "", ignored) },
    Key { programs: FAST, means: Means::Nothing("no config.json is read"), ..key("discard", "", ignored) },
    Key { programs: FAST, means: Means::Nothing("no config.json is read"), ..key("stats", "", ignored) },
];

const OUTPUT: &[Key] = &[key("format", "fastchess or cutechess", |s, v| {
    s.output = match v {
        "fastchess" => OutputFormat::Fastchess,
        "cutechess" => OutputFormat::Cutechess,
        _ => return Err(Error::usage("write fastchess or cutechess")),
    };
    Ok(())
})];

const REPORT: &[Key] = &[key("penta", "statistics of pairs; false: of games", field!(penta = truth))];

const CRC: &[Key] = &[key("pgn", "print the checksum of the PGN after each pair", field!(crc = truth))];

const fn flag(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { name, programs: BOTH, values, means: Means::Does(does), takes }
}

const fn fast(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { programs: FAST, ..flag(name, values, does, takes) }
}

pub const FILE_FLAGS: &[Flag] = &[
    flag(
        "openings",
        "KEY=VALUE…",
        "the book; without one every game begins at the start position",
        Takes::Keys(|_| {}, OPENINGS),
    ),
    fast(
        "pgnout",
        "KEY=VALUE…",
        "append games to a PGN",
        Takes::Keys(
            |s| {
                pgn(s);
            },
            PGN,
        ),
    ),
    Flag {
        programs: CUTE,
        ..flag("pgnout", "FILE [min] [fi]", "append games to a PGN", Takes::Words(pgn_of_cutechess))
    },
    fast(
        "epdout",
        "KEY=VALUE…",
        "append final positions to an EPD",
        Takes::Keys(
            |s| {
                epd(s);
            },
            EPD,
        ),
    ),
    Flag {
        programs: CUTE,
        ..flag(
            "epdout",
            "FILE",
            "append final positions to an EPD",
            Takes::One(|s, v| set!(epd(s).path = v.into())),
        )
    },
    flag("event", "NAME", "tag Event", Takes::Words(|s, words| set!(s.event = words.concat()))),
    flag("site", "NAME", "tag Site", Takes::Words(|s, words| set!(s.style.site = words.concat()))),
    flag(
        "ratinginterval",
        "N",
        "pairs, or games without pairs, between two reports; 0: at the end alone",
        Takes::One(field!(rating_interval = number)),
    ),
    fast(
        "scoreinterval",
        "N",
        "games between two lines `Score of`, with format=cutechess",
        Takes::One(field!(score_interval = number)),
    ),
    Flag {
        programs: CUTE,
        ..flag(
            "outcomeinterval",
            "N",
            "games between two lines `Score of`",
            Takes::One(field!(score_interval = number)),
        )
    },
    fast("report", "penta=true|false", "statistics of pairs or of games", Takes::Keys(|_| {}, REPORT)),
    fast("output", "format=fastchess|cutechess", "lines of stdout", Takes::Keys(|_| {}, OUTPUT)),
    fast("crc32", "pgn=true|false", "checksum of the PGN", Takes::Keys(|_| {}, CRC)),
    fast("log", "KEY=VALUE…", "a log with time stamps, in UTC", Takes::Keys(|_| {}, LOG)),
    fast("config", "KEY=VALUE…", "keys below", Takes::Keys(|_| {}, CONFIG)),
    fast(
        "autosaveinterval",
        "N",
        "0; other values have no effect: no config.json is written",
        Takes::One(|s, value| {
            if number::<i64>(value)? > 0 {
                s.notes.push("-autosaveinterval: no config.json is written".into());
            }
            Ok(())
        }),
    ),
    Flag {
        programs: CUTE,
        means: Means::Refused("the table of results has one form"),
        ..flag("resultformat", "FORMAT", "", Takes::Words(refused))
    },
];
