//! Registry of the options of fastchess 1.8.2 and cutechess-cli: the tournament, its rules, the machine.

use std::time::Duration;

use super::Program::{self, Cutechess, Fastchess};
use super::engines::ENGINE_KEYS;
use super::parse::pair;
use super::settings::{Settings, SprtSettings};
use crate::{Error, Result};
use patzer_match::stats::Model;
use patzer_match::{DrawRule, ResignRule, SyzygyResults};

/// An option of one or both programs.
pub struct Flag {
    /// Without its hyphen.
    pub name: &'static str,
    pub programs: &'static [Program],
    /// Its values, as help shows them.
    pub values: &'static str,
    pub means: Means,
    pub takes: Takes,
}

/// What patzer makes of an option or key.
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

const fn key(name: &'static str, does: &'static str, set: fn(&mut Settings, &str) -> Result<()>) -> Key {
    Key { name, programs: BOTH, means: Means::Does(does), set }
}

fn sprt(settings: &mut Settings) -> &mut SprtSettings {
    // Cutechess-cli's hypotheses are logistic Elo.
    let model = if settings.program == Fastchess { Model::Normalized } else { Model::Logistic };
    settings.sprt.get_or_insert(SprtSettings { elo0: 0.0, elo1: 0.0, alpha: 0.0, beta: 0.0, model })
}

fn draw(settings: &mut Settings) -> &mut DrawRule {
    settings.draw.get_or_insert(DrawRule { after: 0, moves: 1, score: 0 })
}

fn resign(settings: &mut Settings) -> &mut ResignRule {
    settings.resign.get_or_insert(ResignRule { moves: 1, score: 0 })
}

fn centipawns(value: &str) -> Result<i32> {
    let score: u16 = number(value)?;
    if score < 30_000 { Ok(score.into()) } else { Err(Error::usage("write centipawns below 30,000")) }
}

fn model(value: &str) -> Result<Model> {
    <Model as clap::ValueEnum>::from_str(value, false)
        .map_err(|_| Error::usage("write normalized, logistic or bayesian"))
}

const SPRT: &[Key] = &[
    key("elo0", "difference under H0", |s, v| set!(sprt(s).elo0 = number(v)?)),
    key("elo1", "difference under H1", |s, v| set!(sprt(s).elo1 = number(v)?)),
    key("alpha", "chance to accept H1 where H0 holds", |s, v| set!(sprt(s).alpha = number(v)?)),
    key("beta", "chance to accept H0 where H1 holds", |s, v| set!(sprt(s).beta = number(v)?)),
    Key { programs: FAST, ..key("model", "scale of the hypotheses", |s, v| set!(sprt(s).model = model(v)?)) },
];

const DRAW: &[Key] = &[
    key("movenumber", "full moves before the rule applies, the book's counted", |s, v| {
        set!(draw(s).after = number(v)?)
    }),
    key("movecount", "moves of each side in a row", |s, v| set!(draw(s).moves = number(v)?)),
    key("score", "centipawns", |s, v| set!(draw(s).score = centipawns(v)?)),
];

const RESIGN: &[Key] = &[
    key("movecount", "moves in a row", |s, v| set!(resign(s).moves = number(v)?)),
    key("score", "centipawns", |s, v| set!(resign(s).score = centipawns(v)?)),
    key("twosided", "both sides have to agree on the winner", field!(two_sided = truth)),
];

/// `-quick cmd=A cmd=B book=FILE` of fastchess.
fn quick(settings: &mut Settings, words: &[String]) -> Result<()> {
    for word in words {
        match pair(word)? {
            (key, cmd) if key == "cmd" => {
                let clock = ("tc".to_string(), "10+0.1".to_string());
                settings.engines.push(vec![clock, ("cmd".into(), cmd)]);
            }
            (key, book) if key == "book" => {
                (settings.book.file, settings.book.random) = (Some(book.into()), true);
            }
            (key, _) => return Err(Error::usage(format!("there is no key `{key}`"))),
        }
    }
    if settings.book.file.is_none() || settings.engines.len() != 2 {
        return Err(Error::usage("write cmd=A cmd=B book=FILE"));
    }
    (settings.games, settings.rounds, settings.concurrency) = (2, 25_000, -2);
    (settings.recover, settings.quick) = (true, true);
    settings.draw = Some(DrawRule { after: 30, moves: 8, score: 8 });
    settings.output = patzer_match::output_format::OutputFormat::Cutechess;
    Ok(())
}

fn milliseconds(value: &str) -> Result<Duration> {
    Ok(Duration::from_millis(number(value)?))
}

fn tournament(settings: &mut Settings, value: &str) -> Result<()> {
    settings.gauntlet = match value {
        "gauntlet" => true,
        "roundrobin" | "round-robin" => false,
        "knockout" | "pyramid" => {
            return Err(Error::usage("patzer plays gauntlets and round robins"));
        }
        _ => return Err(Error::usage("write roundrobin or gauntlet")),
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

fn tb_results(value: &str) -> Result<SyzygyResults> {
    match value {
        "BOTH" => Ok(SyzygyResults::All),
        "WIN_LOSS" => Ok(SyzygyResults::Wins),
        "DRAW" => Ok(SyzygyResults::Draws),
        _ => Err(Error::usage("write BOTH, WIN_LOSS or DRAW")),
    }
}

const fn flag(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { name, programs: BOTH, values, means: Means::Does(does), takes }
}

const fn fast(name: &'static str, values: &'static str, does: &'static str, takes: Takes) -> Flag {
    Flag { programs: FAST, ..flag(name, values, does, takes) }
}

pub const FLAGS: &[Flag] = &[
    flag(
        "engine",
        "KEY=VALUE…",
        "an engine; keys below",
        Takes::Words(|s, words| {
            let keys =
                words.iter().map(|word| super::engines::key_value(s.program, word)).collect::<Result<_>>()?;
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
                let pair = super::engines::key_value(s.program, word)?;
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
        "sprt",
        "KEY=VALUE…",
        "stop by a sequential test",
        Takes::Keys(
            |s| {
                sprt(s);
            },
            SPRT,
        ),
    ),
    flag("tournament", "roundrobin|gauntlet", "who meets whom", Takes::One(tournament)),
    flag("seeds", "N", "engines that play a gauntlet", Takes::One(field!(seeds = number))),
    flag("variant", "standard|fischerandom", "castling by the rules of Chess960", Takes::One(variant)),
    flag("noswap", "", "the first engine has White in every game", Takes::Nothing(|s| s.swap = false)),
    flag("reverse", "", "the second engine begins with White", Takes::Nothing(|s| s.reverse = true)),
    flag("wait", "MS", "pause before each game", Takes::One(field!(wait = milliseconds))),
    flag(
        "draw",
        "KEY=VALUE…",
        "draw by score",
        Takes::Keys(
            |s| {
                draw(s);
            },
            DRAW,
        ),
    ),
    flag(
        "resign",
        "KEY=VALUE…",
        "loss by score",
        Takes::Keys(
            |s| {
                resign(s);
            },
            RESIGN,
        ),
    ),
    flag(
        "maxmoves",
        "N",
        "draw after N full moves; 0: never",
        Takes::One(|s, value| set!(s.max_moves = Some(number(value)?).filter(|moves| *moves > 0))),
    ),
    flag(
        "tb",
        "PATHS",
        "Syzygy tables end games",
        Takes::One(|s, value| set!(s.tb = Some(value.to_string()))),
    ),
    flag(
        "tbpieces",
        "N",
        "tables of at most N pieces",
        Takes::One(|s, value| set!(s.tb_pieces = Some(number(value)?).filter(|pieces| *pieces > 0))),
    ),
    flag("tbignore50", "", "without the fifty-move rule", Takes::Nothing(|s| s.tb_ignore_50 = true)),
    fast(
        "tbadjudicate",
        "BOTH|WIN_LOSS|DRAW",
        "results that end games",
        Takes::One(field!(tb_results = tb_results)),
    ),
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
    fast(
        "startup-ms",
        "N",
        "time for `uciok` and the first `readyok`",
        Takes::One(field!(timeouts.start = milliseconds)),
    ),
    fast(
        "ucinewgame-ms",
        "N",
        "time for `readyok` before a game",
        Takes::One(field!(timeouts.ready = milliseconds)),
    ),
    fast(
        "ping-ms",
        "N",
        "same as -ucinewgame-ms: patzer asks `isready` before games alone",
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
            "",
            "print what engines are told and say, with time stamps",
            Takes::Nothing(|s| s.log.stdout = true),
        )
    },
    Flag {
        programs: FAST,
        means: Means::Refused("use -log file= engine=true, as fastchess says too"),
        ..flag("debug", "", "", Takes::Words(refused))
    },
    Flag {
        programs: FAST,
        means: Means::Refused(
            "run `fastchess --compliance` itself; patzer names what an engine does wrong as it plays",
        ),
        ..flag("compliance", "ENGINE", "", Takes::Words(refused))
    },
    Flag {
        programs: CUTE,
        means: Means::Refused("there is no list of configured engines"),
        ..flag("engines", "", "", Takes::Words(refused))
    },
    Flag {
        programs: CUTE,
        means: Means::Refused("Polyglot books are not read; use -openings with EPD or PGN"),
        ..flag("bookmode", "MODE", "", Takes::Words(refused))
    },
];

/// The keys of `-engine` and `-each`, for the table.
pub fn engine_keys() -> &'static [(&'static str, &'static [Program], Means)] {
    ENGINE_KEYS
}
