//! The file `config.json` of fastchess 1.8.2: settings, engines, results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub resign: Resign,
    pub draw: Draw,
    pub maxmoves: MaxMoves,
    pub tb_adjudication: Tables,
    pub opening: Opening,
    pub pgn: Pgn,
    pub epd: Epd,
    pub sprt: Sprt,
    pub config_name: String,
    /// 0 fastchess, 1 cutechess.
    pub output: u8,
    pub seed: u64,
    /// 0 standard, 1 Chess960.
    pub variant: u8,
    /// 0 round robin, 1 gauntlet.
    pub r#type: u8,
    pub gauntlet_seeds: u64,
    pub ratinginterval: u64,
    pub scoreinterval: u64,
    pub wait: u64,
    pub autosaveinterval: i64,
    pub games: u64,
    pub rounds: u64,
    pub concurrency: i64,
    pub force_concurrency: bool,
    pub recover: bool,
    pub noswap: bool,
    pub reverse: bool,
    pub report_penta: bool,
    pub affinity: bool,
    pub check_mate_pvs: bool,
    pub show_latency: bool,
    pub log: Log,
    pub engines: Vec<Engine>,
    /// Results by `A vs B`, from A's side.
    pub stats: BTreeMap<String, Stats>,
    /// Numbers of pairs that the results lack although later ones were played; fastchess ignores the key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unplayed_pairs: Vec<usize>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Resign {
    pub move_count: u64,
    pub score: i64,
    pub twosided: bool,
    pub enabled: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draw {
    pub move_number: u64,
    pub move_count: u64,
    pub score: i64,
    pub enabled: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxMoves {
    pub move_count: u64,
    pub enabled: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tables {
    pub syzygy_dirs: String,
    pub max_pieces: u64,
    pub ignore_50_move_rule: bool,
    pub enabled: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Opening {
    pub file: String,
    /// 0 EPD, 1 PGN, 2 none.
    pub format: u8,
    /// 0 random, 1 sequential.
    pub order: u8,
    /// Below 0: all.
    pub plies: i64,
    pub start: u64,
}

impl Default for Opening {
    fn default() -> Opening {
        Opening { file: String::new(), format: 0, order: 0, plies: -1, start: 0 }
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pgn {
    pub additional_lines_rgx: Vec<String>,
    pub event_name: String,
    pub site: String,
    pub file: String,
    /// 0 SAN, 1 LAN, 2 UCI.
    pub notation: u8,
    pub append_file: bool,
    pub track_nodes: bool,
    pub track_seldepth: bool,
    pub track_nps: bool,
    pub track_hashfull: bool,
    pub track_tbhits: bool,
    pub track_timeleft: bool,
    pub track_latency: bool,
    pub track_pv: bool,
    pub min: bool,
    pub crc: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Epd {
    pub file: String,
    pub append_file: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sprt {
    pub alpha: f64,
    pub beta: f64,
    pub elo0: f64,
    pub elo1: f64,
    pub model: String,
    pub enabled: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    pub file: String,
    pub append_file: bool,
    /// 0 all, 1 trace, 2 info, 3 warn, 4 err, 5 fatal.
    pub level: u8,
    pub compress: bool,
    pub realtime: bool,
    pub engine_coms: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Engine {
    pub name: String,
    pub dir: String,
    pub cmd: String,
    pub args: String,
    pub restart: bool,
    pub options: Vec<(String, String)>,
    pub limit: Limit,
    pub variant: u8,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limit {
    pub tc: Clock,
    pub nodes: u64,
    pub plies: u64,
}

/// Times in milliseconds; 0: none.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clock {
    pub increment: u64,
    pub fixed_time: u64,
    pub time: u64,
    pub moves: u64,
    pub timemargin: u64,
}

/// Games and pairs of games, from one side; `WL` are pairs in which each won a game.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(non_snake_case)]
pub struct Stats {
    pub wins: u64,
    pub losses: u64,
    pub draws: u64,
    pub penta_WW: u64,
    pub penta_WD: u64,
    pub penta_WL: u64,
    pub penta_DD: u64,
    pub penta_LD: u64,
    pub penta_LL: u64,
}
