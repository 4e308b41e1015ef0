//! Settings and results as a file that `-config file=` reads.

use std::path::{Path, PathBuf};

use super::Stats;
use super::schema::{
    Clock, Config, Draw, Engine, Epd, Limit, Log, MaxMoves, Opening, Pgn, Resign, Sprt, Tables,
};
use crate::gaps::Gaps;
use crate::output_format::OutputFormat;
use crate::settings::{OutputFile, Settings, Tournament};
use patzer_io::error::{Error, Result};
use patzer_match::pgn::{MoveField, Notation};
use patzer_match::{Spec, Standings, Tally, Time};

/// The file as it is written while games are played and at their end.
pub struct ConfigFile {
    specs: Vec<Spec>,
    seed: u64,
    /// Games at the last writing.
    games: u64,
}

impl ConfigFile {
    pub fn new(specs: &[Spec], seed: u64) -> ConfigFile {
        ConfigFile { specs: specs.to_vec(), seed, games: 0 }
    }

    /// Writes the file if as many games were played since the last time as `-autosaveinterval` says.
    pub fn follow(&mut self, settings: &Settings, standings: &dyn Standings, gaps: &Gaps) -> Result<()> {
        let games = standings.games();
        let due =
            u64::try_from(settings.autosave).is_ok_and(|every| every > 0 && games - self.games >= every);
        if due { self.write(settings, standings, gaps) } else { Ok(()) }
    }

    pub fn write(&mut self, settings: &Settings, standings: &dyn Standings, gaps: &Gaps) -> Result<()> {
        self.games = standings.games();
        let mut config = config(settings, &self.specs, self.seed, &standings.between([0, 1]));
        if let [_, _] = self.specs[..] {
            config.unplayed_pairs = gaps.numbers();
        }
        save(Path::new(&settings.config_name), &config)
    }
}

/// Replaces the file; one that is not of fastchess or patzer stays, which is an error.
fn save(path: &Path, config: &Config) -> Result<()> {
    let is_ours = |text: &str| {
        let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
        value.is_some_and(|value| value.get("engines").is_some() && value.get("stats").is_some())
    };
    match patzer_io::read_text(path, patzer_io::Limit::WEIGHTS) {
        Ok(text) if !is_ours(&text) => {
            let reason = "is no file of fastchess, and stays; -config outname= names another";
            return Err(Error::data(path, reason));
        }
        _ => {}
    }
    let text = serde_json::to_string_pretty(config).map_err(|e| Error::internal(e.to_string()))?;
    patzer_io::write(path, (text + "\n").as_bytes())
}

fn config(settings: &Settings, specs: &[Spec], seed: u64, tally: &Tally) -> Config {
    let engines: Vec<Engine> = specs.iter().map(|spec| engine(spec, settings.chess960)).collect();
    let mut stats = std::collections::BTreeMap::new();
    if let [a, b] = &engines[..] {
        stats.insert(format!("{} vs {}", a.name, b.name), results(tally));
    }
    let number = |flag: bool| u8::from(flag);
    Config {
        resign: settings.resign.map_or_else(Resign::default, |rule| Resign {
            move_count: rule.moves.into(),
            score: rule.score.into(),
            twosided: settings.two_sided,
            enabled: true,
        }),
        draw: settings.draw.map_or_else(Draw::default, |rule| Draw {
            move_number: rule.after.into(),
            move_count: rule.moves.into(),
            score: rule.score.into(),
            enabled: true,
        }),
        maxmoves: MaxMoves {
            move_count: settings.max_moves.unwrap_or(1).into(),
            enabled: settings.max_moves.is_some(),
        },
        tb_adjudication: Tables {
            syzygy_dirs: settings.tb.clone().unwrap_or_default(),
            max_pieces: settings.tb_pieces.unwrap_or(0).into(),
            ignore_50_move_rule: settings.tb_ignore_50,
            enabled: settings.tb.is_some(),
        },
        opening: Opening {
            file: text(settings.book.file.as_ref()),
            format: opening_format(settings),
            order: number(!settings.book.random),
            plies: settings.book.plies.map_or(-1, i64::from),
            start: settings.book.start.into(),
        },
        pgn: pgn(settings),
        epd: Epd { file: file(settings.epd.as_ref()), append_file: appends(settings.epd.as_ref()) },
        sprt: settings.sprt.map_or_else(Sprt::default, |test| Sprt {
            alpha: test.alpha,
            beta: test.beta,
            elo0: test.elo0,
            elo1: test.elo1,
            model: test.model.to_string(),
            enabled: true,
        }),
        config_name: settings.config_name.clone(),
        output: number(settings.output == OutputFormat::FastchessAsCutechess),
        seed,
        variant: number(settings.chess960),
        r#type: number(settings.tournament == Tournament::Gauntlet),
        gauntlet_seeds: settings.seeds as u64,
        ratinginterval: settings.rating_interval,
        scoreinterval: settings.score_interval,
        wait: settings.wait.as_millis() as u64,
        autosaveinterval: settings.autosave,
        games: settings.games,
        rounds: settings.rounds,
        concurrency: settings.concurrency,
        force_concurrency: settings.force_concurrency,
        recover: settings.recover,
        noswap: !settings.swap,
        reverse: settings.reverse,
        report_penta: settings.penta,
        affinity: settings.affinity.is_some(),
        check_mate_pvs: settings.check_mate_pvs,
        show_latency: settings.show_latency,
        log: Log {
            file: text(settings.log.file.as_ref()),
            append_file: settings.log.append,
            level: 1 + settings.log.level as u8,
            compress: false,
            realtime: true,
            engine_coms: settings.log.engines,
        },
        engines,
        stats,
        unplayed_pairs: Vec::new(),
    }
}

fn text(path: Option<&PathBuf>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

fn file(output: Option<&OutputFile>) -> String {
    text(output.map(|output| &output.path))
}

fn appends(output: Option<&OutputFile>) -> bool {
    output.is_none_or(|output| output.append)
}

fn opening_format(settings: &Settings) -> u8 {
    let Some(file) = &settings.book.file else { return 2 };
    u8::from(file.to_string_lossy().contains(".pgn"))
}

fn pgn(settings: &Settings) -> Pgn {
    let has = |field| settings.style.fields.contains(&field);
    Pgn {
        additional_lines_rgx: settings.lines.iter().map(ToString::to_string).collect(),
        event_name: settings.event.clone(),
        site: settings.style.site.clone(),
        file: file(settings.pgn.as_ref()),
        notation: match settings.style.notation {
            Notation::San => 0,
            Notation::Lan => 1,
            Notation::Uci => 2,
        },
        append_file: appends(settings.pgn.as_ref()),
        track_nodes: has(MoveField::Nodes),
        track_seldepth: has(MoveField::Seldepth),
        track_nps: has(MoveField::Nps),
        track_hashfull: has(MoveField::Hashfull),
        track_tbhits: has(MoveField::Tbhits),
        track_timeleft: has(MoveField::Timeleft),
        track_latency: has(MoveField::Latency),
        track_pv: has(MoveField::Pv),
        min: settings.style.minimal,
        crc: settings.crc,
    }
}

fn engine(spec: &Spec, chess960: bool) -> Engine {
    let ms = |time: std::time::Duration| time.as_millis() as u64;
    let mut clock = Clock { timemargin: spec.margin.map_or(0, ms), ..Clock::default() };
    match spec.control.time {
        Some(Time::Move(time)) => clock.fixed_time = ms(time),
        Some(Time::Clock(control)) => {
            let first = control.periods()[0];
            (clock.time, clock.increment) = (ms(first.time), ms(first.increment));
            clock.moves = first.moves.unwrap_or(0).into();
        }
        None => {}
    }
    Engine {
        name: spec.name.clone().unwrap_or_default(),
        dir: text(spec.dir.as_ref()),
        // The command's path begins with its folder, which is put before it again.
        cmd: spec
            .dir
            .as_ref()
            .and_then(|dir| Path::new(&spec.cmd).strip_prefix(dir).ok())
            .map_or_else(|| spec.cmd.clone(), |inside| inside.display().to_string()),
        args: spec.args.iter().flatten().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" "),
        restart: spec.restart.unwrap_or(false),
        options: spec.options.clone(),
        limit: Limit {
            tc: clock,
            nodes: spec.control.nodes.unwrap_or(0),
            plies: spec.control.depth.unwrap_or(0).max(0) as u64,
        },
        variant: chess960.into(),
    }
}

/// An argument as the key `args=` reads it.
fn quoted(arg: &str) -> String {
    if arg.is_empty() || arg.contains(|c: char| c.is_whitespace() || c == '\'') {
        format!("\"{arg}\"")
    } else {
        arg.into()
    }
}

#[allow(non_snake_case)]
fn results(tally: &Tally) -> Stats {
    let [penta_LL, penta_LD, middle, penta_WD, penta_WW] = tally.pairs.0;
    let penta_WL = tally.traded;
    Stats {
        wins: tally.games.wins,
        losses: tally.games.losses,
        draws: tally.games.draws,
        penta_WW,
        penta_WD,
        penta_WL,
        penta_DD: middle.saturating_sub(penta_WL),
        penta_LD,
        penta_LL,
    }
}
