//! Registry of the options of fastchess 1.8.2 and cutechess-cli: the tournament and the machine.

use std::time::Duration;

use super::Program::{self, Cutechess, Fastchess};
use super::engines::ENGINE_KEYS;
use super::output_format::OutputFormat;
use super::parse::pair;
use super::settings::{Settings, Tournament};
use patzer_io::error::{Error, Result};
use patzer_match::DrawRule;

/// An option of one or both programs.
pub struct Flag {
    /// Without its hyphen.
    pub name: &'static str,
    pub programs: &'static [Program],
    /// Values, as help shows them.
    pub values: &'static str,
    pub means: Means,
    pub takes: Takes,
}

/// Meaning of an option or key in patzer.
#[derive(Clone, Copy)]
pub enum Means {
    Does(&'static str),
    /// Accepted without effect, for this reason.
    Nothing(&'static str),
    /// Refused, for this reason.
    Refused(&'static str),
}

/// Values of an option, and the function that stores them.
#[derive(Clone, Copy)]
pub enum Takes {
    Nothing(fn(&mut Settings)),
    One(fn(&mut Settings, &str) -> Result<()>),
    Words(fn(&mut Settings, &[String]) -> Result<()>),
    /// `key=value` words; the function is called first.
    Keys(fn(&mut Settings), &'static [Key]),
}

/// A key of an option that takes `key=value`.
pub struct Key {
    pub name: &'static str,
    pub programs: &'static [Program],
    pub means: Means,
    pub set: fn(&mut Settings, &str) -> Result<()>,
}

pub const BOTH: &[Program] = &[Fastchess, Cutechess];
pub const FAST: &[Program] = &[Fastchess];
pub const CUTE: &[Program] = &[Cutechess];

pub fn refused(_: &mut Settings, _: &[String]) -> Result<()> {
    Err(Error::usage("is refused"))
}

pub fn number<T: std::str::FromStr>(value: &str) -> Result<T> {
    value.parse().map_err(|_| Error::usage(format!("`{value}` is not a number that fits")))
}

pub fn truth(value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::usage("write true or false")),
    }
}

/// An assignment as a [`Result`].
macro_rules! set {
    ($($assignment:tt)*) => {{
        $($assignment)*;
        Ok(())
    }};
}
pub(super) use set;

/// Stores a parsed value in a field.
macro_rules! field {
    ($($place:ident).+ = $parse:expr) => {
        |settings, value| {
            settings.$($place).+ = $parse(value)?;
            Ok(())
        }
    };
}
pub(super) use field;

/// `-quick cmd=A cmd=B book=FILE` of fastchess.
fn quick(settings: &mut Settings, words: &[String]) -> Result<()> {
    for word in words {
        match pair(word)? {
            (key, cmd) if key == "cmd" => {
                let clock = ("tc".to_string(), "10+0.1".to_string());
                settings.engines.push(vec![clock, ("name".into(), cmd.clone()), ("cmd".into(), cmd)]);
            }
            (key, book) if key == "book" => {
                (settings.book.file, settings.book.random) = (Some(book.into()), true);
            }
            (key, _) => return Err(Error::usage(format!("there is no key `{key}`"))),
        }
    }
    let (Some(_), [a, b]) = (&settings.book.file, &mut settings.engines[..]) else {
        return Err(Error::usage("write cmd=A cmd=B book=FILE"));
    };
    if a == b {
        a[1].1 += "1";
        b[1].1 += "2";
    }
    (settings.games, settings.rounds, settings.concurrency) = (2, 25_000, -2);
    (settings.recover, settings.quick) = (true, true);
    settings.draw = Some(DrawRule { after: 30, moves: 8, score: 8 });
    settings.output = OutputFormat::FastchessAsCutechess;
    Ok(())
}

fn milliseconds(value: &str) -> Result<Duration> {
    Ok(Duration::from_millis(number(value)?))
}

fn tournament(settings: &mut Settings, value: &str) -> Result<()> {
    settings.tournament = match (settings.program, value) {
        (_, "gauntlet") => Tournament::Gauntlet,
        (_, "roundrobin" | "round-robin") => Tournament::RoundRobin,
        (Cutechess, "knockout") => Tournament::Knockout,
        (Cutechess, "pyramid") => Tournament::Pyramid,
        (Cutechess, _) => return Err(Error::usage("write round-robin, gauntlet, knockout or pyramid")),
        (Fastchess, _) => return Err(Error::usage("write roundrobin or gauntlet")),
    };
    Ok(())
}

fn variant(settings: &mut Settings, value: &str) -> Result<()> {
    settings.chess960 = match value {
        "standard" => false,
        "fischerandom" => true,
        _ => return Err(Error::usage("patzer plays standard and fischerandom")),
    };
    Ok(())
}

fn debug(settings: &mut Settings, words: &[String]) -> Result<()> {
    settings.log.stdout = true;
    match words {
        [] => Ok(()),
        [all] if all == "all" => set!(settings.note("-debug all: patzer sends no `debug on`".into())),
        _ => Err(Error::usage("write nothing more, or all")),
    }
}

fn book_mode(_: &mut Settings, mode: &str) -> Result<()> {
    if matches!(mode, "ram" | "disk") { Ok(()) } else { Err(Error::usage("write ram or disk")) }
}

pub const fn key(name: &'static str, does: &'static str, set: fn(&mut Settings, &str) -> Result<()>) -> Key {
    Key { name, programs: BOTH, means: Means::Does(does), set }
}

pub const fn flag(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { name, programs: BOTH, values, means: Means::Does(does), takes }
}

pub const fn fast(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { programs: FAST, ..flag(name, values, does, takes) }
}

pub const FLAGS: &[Flag] = &[
    flag(
        "engine",
        "KEY=VALUE…",
        "an engine; keys below",
        Takes::Words(|s, words| {
            let keys = words.iter().map(|word| super::engines::key_value(s, word)).collect::<Result<_>>()?;
            s.engines.push(keys);
            Ok(())
        }),
    ),
    flag(
        "each",
        "KEY=VALUE…",
        "keys for every engine, over its own",
        Takes::Words(|s, words| {
            for word in words {
                let pair = super::engines::key_value(s, word)?;
                s.each.push(pair);
            }
            Ok(())
        }),
    ),
    fast(
        "quick",
        "cmd=A cmd=B book=FILE",
        "10+0.1, 25,000 rounds, -draw 30/8/8, -recover, CPUs less 2 at once",
        Takes::Words(quick),
    ),
    flag(
        "concurrency",
        "N",
        "games at once; 0 or less: CPUs less N",
        Takes::One(field!(concurrency = number)),
    ),
    fast(
        "force-concurrency",
        "",
        "more games at once than CPUs",
        Takes::Nothing(|s| s.force_concurrency = true),
    ),
    flag(
        "rounds",
        "N",
        "rounds; an odd number of single games is rounded up",
        Takes::One(field!(rounds = number)),
    ),
    flag("games", "N", "games of a round for each two engines", Takes::One(field!(games = number))),
    flag(
        "repeat",
        "[N]",
        "games from each opening: 2",
        Takes::Words(|s, words| match words {
            [] if s.program == Fastchess => set!(s.games = 2),
            [] => set!(s.repeat = 2),
            [n] if s.program == Fastchess => set!(s.games = number(n)?),
            [n] => set!(s.repeat = number(n)?),
            _ => Err(Error::usage("takes one number")),
        }),
    ),
    flag(
        "tournament",
        "KIND",
        "who meets whom: roundrobin, gauntlet; of cutechess-cli also knockout, pyramid",
        Takes::One(tournament),
    ),
    flag("seeds", "N", "engines that play a gauntlet", Takes::One(field!(seeds = number))),
    flag("variant", "standard|fischerandom", "castling by the rules of Chess960", Takes::One(variant)),
    flag("noswap", "", "the first engine has White in every game", Takes::Nothing(|s| s.swap = false)),
    flag("reverse", "", "the second engine begins with White", Takes::Nothing(|s| s.reverse = true)),
    flag("wait", "MS", "pause before each game", Takes::One(field!(wait = milliseconds))),
    flag(
        "recover",
        "",
        "restart engines that crash or hang; the game is lost",
        Takes::Nothing(|s| s.recover = true),
    ),
    fast(
        "use-affinity",
        "[CPUS]",
        "each game on CPUs of its own, from a list such as 3,5,7-11",
        Takes::Words(|s, words| {
            s.affinity = Some(match words {
                [] => None,
                [list] => Some(
                    list.parse()
                        .map_err(|e: patzer_match::affinity::AffinityError| Error::usage(e.to_string()))?,
                ),
                _ => return Err(Error::usage("takes one list")),
            });
            Ok(())
        }),
    ),
    fast(
        "check-mate-pvs",
        "",
        "warn of variations of mate scores that do not end in mate",
        Takes::Nothing(|s| s.check_mate_pvs = true),
    ),
    fast("show-latency", "", "latency of each engine, at the end", Takes::Nothing(|s| s.show_latency = true)),
    fast("testEnv", "", "each warning on one line", Takes::Nothing(|s| s.test_env = true)),
    fast("strict", "", "stop at the first warning, with exit code 1", Takes::Nothing(|s| s.strict = true)),
    fast("startup-ms", "N", "time for `uciok`", Takes::One(field!(timeouts.start = milliseconds))),
    fast("ucinewgame-ms", "N", "time for `readyok`", Takes::One(field!(timeouts.ready = milliseconds))),
    fast(
        "ping-ms",
        "N",
        "same as -ucinewgame-ms: patzer asks `isready` at the start and before games alone",
        Takes::One(field!(timeouts.ready = milliseconds)),
    ),
    flag(
        "srand",
        "SEED",
        "order of the openings; with fastchess the same as there",
        Takes::One(|s, value| set!(s.seed = Some(number(value)?))),
    ),
    Flag {
        programs: CUTE,
        ..flag(
            "debug",
            "[all]",
            "print what engines receive and send, with time stamps; all: as without, since patzer sends no `debug on`",
            Takes::Words(debug),
        )
    },
    Flag {
        programs: FAST,
        means: Means::Nothing("the order is another one each time unless -srand names one"),
        ..flag("randomseed", "", "", Takes::Nothing(|_| {}))
    },
    Flag {
        programs: FAST,
        means: Means::Refused("use -log file= engine=true, as fastchess says too"),
        ..flag("debug", "", "", Takes::Words(refused))
    },
    Flag {
        programs: FAST,
        ..flag(
            "compliance",
            "ENGINE [ARGUMENT …]",
            "check that an engine keeps the protocol, as `patzer engine check` does; the only option",
            Takes::Words(|_, _| Err(Error::usage("comes before all other options, and without them"))),
        )
    },
    Flag {
        programs: CUTE,
        means: Means::Refused("there is no list of configured engines"),
        ..flag("engines", "", "", Takes::Words(refused))
    },
    Flag {
        programs: CUTE,
        means: Means::Nothing("books are read into memory"),
        ..flag("bookmode", "ram|disk", "", Takes::One(book_mode))
    },
];

/// The keys of `-engine` and `-each`, for the table.
pub fn engine_keys() -> &'static [(&'static str, &'static [Program], Means)] {
    ENGINE_KEYS
}
