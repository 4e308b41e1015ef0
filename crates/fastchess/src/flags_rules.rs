//! Registry, continued: what ends games and tests.

use super::Program::{Cutechess, Fastchess};
use super::flags::{FAST, Flag, Key, Takes, fast, field, flag, key, number, set, truth};
use super::settings::{Settings, SprtSettings};
use patzer_io::error::{Error, Result};
use patzer_match::{DrawRule, ResignRule, SyzygyResults};
use patzer_stats::Model;

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
    value.parse().map_err(|_| Error::usage("write normalized, logistic or bayesian"))
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
        draw(s).after = number(v)?;
        if s.program == Cutechess && draw(s).after == 0 {
            s.note("-draw movenumber=0: no game is drawn by its scores, as with cutechess-cli".into());
        }
        Ok(())
    }),
    key("movecount", "moves of each side in a row", |s, v| set!(draw(s).moves = number(v)?)),
    key("score", "centipawns", |s, v| set!(draw(s).score = centipawns(v)?)),
];

const RESIGN: &[Key] = &[
    key("movecount", "moves in a row", |s, v| set!(resign(s).moves = number(v)?)),
    key("score", "centipawns", |s, v| set!(resign(s).score = centipawns(v)?)),
    key("twosided", "both sides have to agree on the winner", field!(two_sided = truth)),
];

fn tb_results(value: &str) -> Result<SyzygyResults> {
    match value {
        "BOTH" => Ok(SyzygyResults::All),
        "WIN_LOSS" => Ok(SyzygyResults::Wins),
        "DRAW" => Ok(SyzygyResults::Draws),
        _ => Err(Error::usage("write BOTH, WIN_LOSS or DRAW")),
    }
}

pub const RULE_FLAGS: &[Flag] = &[
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
];
