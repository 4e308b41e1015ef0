//! `-config`: reads and writes the file by which fastchess goes on after an end or an interruption.
//!
//! A file becomes the words of a command line, which the registry checks. Its results become finished pairs; their
//! order and their reasons are not in the file, so that games go on after as many pairs.

mod save;
mod schema;

use std::path::Path;

use super::Program;
use super::parse;
use super::settings::Settings;
use patzer_io::error::{Error, Result};
use patzer_match::record::PairEntry;
use patzer_match::{Reason, SWAPPED};
pub use save::ConfigFile;
pub use schema::Stats;
use schema::{Clock, Config, Engine, Log, Pgn};

/// Reads a file; its settings replace all given before.
pub fn load(path: &Path) -> Result<Settings> {
    let text = patzer_io::read_text(path, patzer_io::Limit::WEIGHTS)?;
    let config: Config = serde_json::from_str(&text).map_err(|e| Error::data(path, e.to_string()))?;
    let wrong = |error: Error| Error::data(path, error.to_string());
    let mut settings = parse::parse(Program::Fastchess, &words(&config)).map_err(wrong)?;
    if let [a, b] = &config.engines[..] {
        let key = |a: &Engine, b: &Engine| format!("{} vs {}", a.name, b.name);
        let ours = config.stats.get(&key(a, b)).copied().unwrap_or_default();
        let theirs = config.stats.get(&key(b, a)).copied().unwrap_or_default();
        settings.stats = ours.plus(theirs.reversed());
        settings.unplayed.clone_from(&config.unplayed_pairs);
    } else if config.stats.values().any(|stats| *stats != Stats::default()) {
        settings
            .notes
            .push("-config: results of more than two engines are dropped, as with fastchess".into());
    }
    Ok(settings)
}

/// Pairs of earlier results that are taken over; each takes memory, and the counts come from a file.
const MOST_PAIRS: u64 = 1 << 22;

impl Stats {
    fn plus(self, other: Stats) -> Stats {
        Stats {
            wins: self.wins.saturating_add(other.wins),
            losses: self.losses.saturating_add(other.losses),
            draws: self.draws.saturating_add(other.draws),
            penta_WW: self.penta_WW.saturating_add(other.penta_WW),
            penta_WD: self.penta_WD.saturating_add(other.penta_WD),
            penta_WL: self.penta_WL.saturating_add(other.penta_WL),
            penta_DD: self.penta_DD.saturating_add(other.penta_DD),
            penta_LD: self.penta_LD.saturating_add(other.penta_LD),
            penta_LL: self.penta_LL.saturating_add(other.penta_LL),
        }
    }

    fn reversed(self) -> Stats {
        Stats {
            wins: self.losses,
            losses: self.wins,
            penta_WW: self.penta_LL,
            penta_WD: self.penta_LD,
            penta_LD: self.penta_WD,
            penta_LL: self.penta_WW,
            ..self
        }
    }

    /// Finished pairs with these results.
    pub fn pairs(self) -> Result<Vec<PairEntry>> {
        let counts = [
            (self.penta_LL, [0, 0]),
            (self.penta_LD, [0, 1]),
            (self.penta_WL, [2, 0]),
            (self.penta_DD, [1, 1]),
            (self.penta_WD, [2, 1]),
            (self.penta_WW, [2, 2]),
        ];
        let all = counts.iter().fold(0_u64, |sum, (count, _)| sum.saturating_add(*count));
        if all > MOST_PAIRS {
            return Err(Error::usage(format!("-config: the results are of more than {MOST_PAIRS} pairs")));
        }
        let results: Vec<[u8; 2]> =
            counts.iter().flat_map(|&(count, result)| (0..count).map(move |_| result)).collect();
        let sum = |points: u8| results.iter().flatten().filter(|half| **half == points).count() as u64;
        if [sum(2), sum(0), sum(1)] != [self.wins, self.losses, self.draws] {
            return Err(Error::usage(
                "-config: the results are not of whole pairs of games; stats=false begins again without them",
            ));
        }
        let entry = |(index, half_points): (usize, [u8; 2])| PairEntry {
            pair: index + 1,
            players: [0, 1],
            opening: index,
            half_points,
            reasons: [Reason::MoveLimit; 2],
            mirrored: false,
            colours: SWAPPED,
        };
        Ok(results.into_iter().enumerate().map(entry).collect())
    }
}

/// A command line of options with their values.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn option(&mut self, name: &str) -> &mut Words {
        self.0.push(format!("-{name}"));
        self
    }

    fn one(&mut self, name: &str, value: impl ToString) {
        self.0.extend([format!("-{name}"), value.to_string()]);
    }

    fn when(&mut self, given: bool, name: &str) {
        if given {
            self.0.push(format!("-{name}"));
        }
    }

    fn key(&mut self, name: &str, value: impl ToString) -> &mut Words {
        self.0.push(format!("{name}={}", value.to_string()));
        self
    }

    fn key_if(&mut self, given: bool, name: &str, value: impl ToString) -> &mut Words {
        if given { self.key(name, value) } else { self }
    }
}

/// Name of a numbered choice; an unknown number stays one, which the registry refuses.
fn name_of(number: u8, names: &[&str]) -> String {
    names.get(usize::from(number)).map_or_else(|| number.to_string(), |name| name.to_string())
}

fn words(config: &Config) -> Vec<String> {
    let mut out = Words::default();
    config.engines.iter().for_each(|engine| engine_words(engine, &mut out));
    let Config { resign, draw, maxmoves, tb_adjudication: tables, opening, sprt, .. } = config;
    if resign.enabled {
        let words = out.option("resign").key("movecount", resign.move_count).key("score", resign.score);
        words.key("twosided", resign.twosided);
    }
    if draw.enabled {
        let words = out.option("draw").key("movenumber", draw.move_number);
        words.key("movecount", draw.move_count).key("score", draw.score);
    }
    if maxmoves.enabled {
        out.one("maxmoves", maxmoves.move_count);
    }
    if tables.enabled {
        out.one("tb", &tables.syzygy_dirs);
        out.one("tbpieces", tables.max_pieces);
        out.when(tables.ignore_50_move_rule, "tbignore50");
    }
    if !opening.file.is_empty() {
        let words = out.option("openings").key("file", &opening.file);
        words.key("order", name_of(opening.order, &["random", "sequential"]));
        words.key_if(opening.plies >= 0, "plies", opening.plies).key("start", opening.start.max(1));
    }
    if sprt.enabled {
        let words = out.option("sprt").key("elo0", sprt.elo0).key("elo1", sprt.elo1);
        words.key("alpha", sprt.alpha).key("beta", sprt.beta).key("model", &sprt.model);
    }
    file_words(config, &mut out);
    out.option("output").key("format", name_of(config.output, &["fastchess", "cutechess"]));
    out.one("srand", config.seed);
    out.one("variant", name_of(config.variant, &["standard", "fischerandom"]));
    out.one("tournament", name_of(config.r#type, &["roundrobin", "gauntlet"]));
    for (name, number) in [
        ("seeds", config.gauntlet_seeds),
        ("ratinginterval", config.ratinginterval),
        ("scoreinterval", config.scoreinterval),
        ("wait", config.wait),
        ("games", config.games),
        ("rounds", config.rounds),
    ] {
        out.one(name, number);
    }
    out.one("concurrency", config.concurrency);
    out.one("autosaveinterval", config.autosaveinterval);
    for (name, given) in [
        ("force-concurrency", config.force_concurrency),
        ("recover", config.recover),
        ("noswap", config.noswap),
        ("reverse", config.reverse),
        ("use-affinity", config.affinity),
        ("check-mate-pvs", config.check_mate_pvs),
        ("show-latency", config.show_latency),
    ] {
        out.when(given, name);
    }
    out.option("report").key("penta", config.report_penta);
    if !config.config_name.is_empty() {
        out.option("config").key("outname", &config.config_name);
    }
    out.0
}

fn file_words(config: &Config, out: &mut Words) {
    let Pgn { file, notation, append_file, min, .. } = &config.pgn;
    out.one("event", &config.pgn.event_name);
    out.one("site", &config.pgn.site);
    if !file.is_empty() {
        let words = out.option("pgnout").key("file", file).key("append", append_file).key("min", min);
        words.key("notation", name_of(*notation, &["san", "lan", "uci"]));
        for (name, given) in [
            ("nodes", config.pgn.track_nodes),
            ("seldepth", config.pgn.track_seldepth),
            ("nps", config.pgn.track_nps),
            ("hashfull", config.pgn.track_hashfull),
            ("tbhits", config.pgn.track_tbhits),
            ("timeleft", config.pgn.track_timeleft),
            ("latency", config.pgn.track_latency),
            ("pv", config.pgn.track_pv),
        ] {
            words.key_if(given, name, true);
        }
        for pattern in &config.pgn.additional_lines_rgx {
            words.key("match_line", pattern);
        }
    }
    out.option("crc32").key("pgn", config.pgn.crc);
    if !config.epd.file.is_empty() {
        out.option("epdout").key("file", &config.epd.file).key("append", config.epd.append_file);
    }
    let Log { file, append_file, level, compress, engine_coms, .. } = &config.log;
    if !file.is_empty() {
        let words = out.option("log").key("file", file).key("append", append_file).key("compress", compress);
        let level = name_of(*level, &["trace", "trace", "info", "warn", "err", "fatal"]);
        words.key("level", level).key("engine", engine_coms);
    }
}

fn engine_words(engine: &Engine, out: &mut Words) {
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    let words = out
        .option("engine")
        .key("cmd", &engine.cmd)
        .key("restart", if engine.restart { "on" } else { "off" });
    for (name, text) in [("name", &engine.name), ("dir", &engine.dir), ("args", &engine.args)] {
        words.key_if(!text.is_empty(), name, text);
    }
    let Clock { increment, fixed_time, time, moves, timemargin } = engine.limit.tc;
    let period = if moves > 0 { format!("{moves}/") } else { String::new() };
    words
        .key_if(fixed_time > 0, "st", seconds(fixed_time))
        .key_if(time > 0, "tc", format!("{period}{}+{}", seconds(time), seconds(increment)))
        .key_if(timemargin > 0, "timemargin", timemargin)
        .key_if(engine.limit.nodes > 0, "nodes", engine.limit.nodes)
        .key_if(engine.limit.plies > 0, "plies", engine.limit.plies);
    for (name, value) in &engine.options {
        words.key(&format!("option.{name}"), value);
    }
}
