//! Match events as JSON objects, for `--json-lines`.

use serde_json::{Value, json};
use shakmaty::Color;

use super::MatchStatus;
use patzer_match::pgn;
use patzer_match::record::PairEntry;
use patzer_match::{Pair, Tally};
use patzer_stats::Estimate;

pub fn start(names: &[String], conditions: &str, games: usize, done: u64) -> Value {
    json!({ "event": "start", "players": names, "conditions": conditions, "games": games, "done": done })
}

pub fn pair(pair: &Pair, entry: &PairEntry, names: &[String]) -> Value {
    let [a, b] = pair.pairing.players;
    let games = pair.seated().into_iter().enumerate().map(|(i, (game, [white, black]))| {
        let points = [Color::White, Color::Black].map(|side| f64::from(game.half_points(side)) / 2.0);
        json!({
            "game": 2 * pair.index + i + 1,
            "white": names[white],
            "black": names[black],
            "result": game.result(),
            "points": points,
            "reason": game.reason,
            "how": pgn::how_it_ended(game),
            "plies": game.moves.len(),
        })
    });
    json!({
        "event": "pair",
        "pair": entry.pair,
        "players": [names[a], names[b]],
        "opening": entry.opening + 1,
        "identical": entry.mirrored,
        "games": games.collect::<Vec<_>>(),
    })
}

pub fn status(standing: &MatchStatus) -> Value {
    let Tally { games, pairs, .. } = standing.tally;
    let mut value = json!({
        "event": "status",
        "players": standing.names,
        "games": games.games(),
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "pentanomial": pairs,
    });
    if let Value::Object(fields) = &mut value {
        if let Ok(Value::Object(estimate)) = serde_json::to_value(Estimate::new(*pairs)) {
            fields.extend(estimate);
        }
        if let Some((sprt, llr)) = standing.test {
            fields.insert("llr".into(), json!(llr));
            fields.insert("lower".into(), json!(sprt.lower()));
            fields.insert("upper".into(), json!(sprt.upper()));
        }
    }
    value
}

pub fn end(result: Value) -> Value {
    json!({ "event": "end", "result": result })
}
