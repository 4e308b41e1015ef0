//! Registry, continued: openings, games, logs, and what is printed.

use super::Program::{Cutechess, Fastchess};
use super::config;
use super::flags::{CUTE, FAST, Flag, Key, Means, Takes, fast, field, flag, key, number, set, truth};
use super::output_format::OutputFormat;
use super::settings::{LogLevel, OutputFile, Settings};
use patzer_io::error::{Error, Result};
use patzer_match::pgn::{MoveField, Notation};

const OPENINGS: &[Key] = &[
    key("file", "the book, EPD, PGN or Polyglot (.bin); .gz, .bz2, .zst and .zip too", |s, v| {
        set!(s.book.file = Some(v.into()))
    }),
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
    key("plies", "plies of a PGN game; 0, of fastchess alone: none", |s, v| {
        s.book.plies = Some(number(v)?);
        let none = s.book.plies == Some(0) && s.program == Cutechess;
        if none { Err(Error::usage("write 1 or more")) } else { Ok(()) }
    }),
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
    let date = patzer_io::date::today().replace('.', "");
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
    key("engine", "log what engines receive and send", field!(log.engines = truth)),
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

/// Reads settings and results from a file, which replace all given before.
fn read_config(settings: &mut Settings, path: &str) -> Result<()> {
    let read = config::load(path.as_ref())?;
    let replaced = std::mem::replace(settings, read);
    settings.keeps_stats = replaced.keeps_stats;
    settings.replaced = Some(Box::new(replaced));
    Ok(())
}

fn discard_config(settings: &mut Settings, value: &str) -> Result<()> {
    if truth(value)?
        && let Some(replaced) = settings.replaced.take()
    {
        *settings = *replaced;
    }
    Ok(())
}

fn config_stats(settings: &mut Settings, value: &str) -> Result<()> {
    if !truth(value)? {
        settings.keeps_stats = false;
    }
    Ok(())
}

const fn config_key(
    name: &'static str,
    does: &'static str,
    set: fn(&mut Settings, &str) -> Result<()>,
) -> Key {
    Key { programs: FAST, ..key(name, does, set) }
}

const CONFIG: &[Key] = &[
    config_key(
        "file",
        "settings, engines and results of an earlier run of two engines, to go on with",
        read_config,
    ),
    config_key("outname", "the file to write; by default config.json", |s, v| set!(s.config_name = v.into())),
    config_key("discard", "true: forget the file that was read", discard_config),
    config_key("stats", "false: begin without the results of the file", config_stats),
];

const OUTPUT: &[Key] = &[key("format", "fastchess or cutechess", |s, v| {
    s.output = match v {
        "fastchess" => OutputFormat::Fastchess,
        "cutechess" => OutputFormat::FastchessAsCutechess,
        _ => return Err(Error::usage("write fastchess or cutechess")),
    };
    Ok(())
})];

const REPORT: &[Key] = &[key("penta", "statistics of pairs; false: of games", field!(penta = truth))];

const CRC: &[Key] = &[key("pgn", "print the checksum of the PGN after each pair", field!(crc = truth))];

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
        means: Means::Nothing("patzer prints no table of outcomes; `Score of` comes after every game"),
        ..flag("outcomeinterval", "N", "", Takes::One(|_, v| number::<u64>(v).map(drop)))
    },
    fast("report", "penta=true|false", "statistics of pairs or of games", Takes::Keys(|_| {}, REPORT)),
    fast("output", "format=fastchess|cutechess", "lines of stdout", Takes::Keys(|_| {}, OUTPUT)),
    fast("crc32", "pgn=true|false", "checksum of the PGN", Takes::Keys(|_| {}, CRC)),
    fast("log", "KEY=VALUE…", "a log with time stamps, in UTC", Takes::Keys(|_| {}, LOG)),
    fast(
        "config",
        "KEY=VALUE…",
        "file by which a run goes on; one is written as it ends",
        Takes::Keys(|_| {}, CONFIG),
    ),
    fast(
        "autosaveinterval",
        "N",
        "games between two writings of config.json; 0: at the end alone",
        Takes::One(field!(autosave = number)),
    ),
    Flag {
        programs: CUTE,
        means: Means::Nothing("the table of results has one form"),
        ..flag("resultformat", "FORMAT", "", Takes::One(|_, _| Ok(())))
    },
];
