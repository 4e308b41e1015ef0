//! Time, nodes and depth by move; quantities that are unknown or constant are left out.

use serde::Deserialize;
use serde_json::Value;

use super::games::{LAST_MOVE, MoveSum, MoveTotals};
use super::results::Contest;
use crate::bars::{Bar, Bars};
use crate::figure::{Drawing, Figure};
use crate::plot::Curves;
use crate::section::{Item, Part};
use crate::style::{BLUE, GREEN, ORANGE, PURPLE};

pub(super) fn time(contest: &Contest) -> Part {
    let mut part = Part::new("Use of time");
    let games = match &contest.games {
        Ok(games) => games,
        Err(reason) => {
            part.missing(format!("No lengths of games and no use of time: {reason}."));
            return part;
        }
    };
    type Of = fn(&MoveTotals) -> MoveSum;
    let quantity: [(&str, &str, &str, Of); 3] = [
        ("time", "Time by move", "seconds", |took| took.seconds),
        ("nodes", "Nodes by move", "nodes", |took| took.nodes),
        ("depth", "Depth by move", "plies", |took| took.depth),
    ];
    for (id, title, unit, of) in quantity {
        let line = |(name, player): (_, &Vec<MoveTotals>)| (name, means(player.iter().map(of).collect()));
        let lines = games.by_move.iter().map(line).filter(|(_, line)| !line.is_empty()).collect();
        part.items.extend(by_move(id, title, unit, lines));
    }
    part
}

/// Means by move number from 1, without the numbers that few games reach.
fn means(sums: Vec<MoveSum>) -> Vec<(f64, f64)> {
    let most = sums.iter().map(|sum| sum.moves).max().unwrap_or(0);
    let known = sums.iter().enumerate().filter(|(_, sum)| sum.moves * 20 >= most);
    known.take(LAST_MOVE).filter_map(|(at, sum)| Some((at as f64 + 1.0, sum.mean()?))).collect()
}

/// Draws means by move number; `None` for a fixed limit, which needs no figure.
fn by_move(id: &str, title: &str, unit: &str, lines: Vec<(&String, Vec<(f64, f64)>)>) -> Option<Item> {
    let mut values = lines.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
    let first = values.next().unwrap_or(0.0);
    if values.all(|value| value == first) {
        return None;
    }
    let all = lines.iter().flat_map(|(_, points)| points.iter().copied());
    let curves = Curves::around("move", unit, all).roomy().of_counts();
    let colours = [BLUE, ORANGE, GREEN, PURPLE].into_iter().cycle();
    let curves = lines
        .into_iter()
        .zip(colours)
        .fold(curves, |curves, ((name, points), colour)| curves.line(name, colour, points));
    let caption =
        "Mean of each player's moves of that number, where at least a twentieth of its games got to it.";
    Some(Item::Figure(Box::new(Figure::new(id, title, caption, Drawing::Curves(curves)))))
}

/// Time by move and latency of each player, as `--json` printed them.
pub(super) fn of_result(result: &Value) -> Part {
    let mut part = Part::new("Use of time");
    let players: Vec<Player> = result
        .get("time_use")
        .and_then(|players| serde_json::from_value(players.clone()).ok())
        .unwrap_or_default();
    if players.is_empty() {
        part.missing("No use of time: the result has none.");
        return part;
    }
    let sum = |took: &MoveTime| MoveSum { moves: took.moves, total: took.seconds };
    let line = |player: &Player| means(player.by_move.iter().map(sum).collect());
    let lines = players.iter().map(|player| (&player.player, line(player))).collect();
    part.items.extend(by_move("time", "Time by move", "seconds", lines));
    for (at, player) in players.iter().enumerate() {
        part.items.extend(player.latency.as_ref().map(|latency| latency_figure(at, &player.player, latency)));
    }
    part
}

fn latency_figure(at: usize, player: &str, latency: &Latency) -> Item {
    let label = |class: usize| match (
        class.checked_sub(1).and_then(|last| latency.histogram[last].to_ms),
        latency.histogram[class].to_ms,
    ) {
        (None, Some(to)) => format!("up to {to} ms"),
        (Some(from), Some(to)) => format!("{from} to {to} ms"),
        (from, None) => format!("above {} ms", from.unwrap_or(0)),
    };
    let classes = latency.histogram.iter().enumerate().filter(|(_, class)| class.moves > 0);
    let row = |(at, class): (usize, &LatencyClass)| Bar::counted(&label(at), class.moves, latency.moves);
    let bars = Bars::new("latency", &[("moves", BLUE)], classes.map(row).collect());
    let caption = format!(
        "Time of each move as measured less the time that {player} reported: {:.2} ms on average, {:.1} ms at most.",
        latency.mean_ms, latency.largest_ms
    );
    let id = format!("latency-{}", at + 1);
    Item::Figure(Box::new(Figure::new(&id, &format!("Latency of {player}"), &caption, Drawing::Bars(bars))))
}

#[derive(Deserialize)]
struct Player {
    player: String,
    by_move: Vec<MoveTime>,
    latency: Option<Latency>,
}

#[derive(Deserialize)]
struct MoveTime {
    moves: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct Latency {
    moves: u64,
    mean_ms: f64,
    largest_ms: f64,
    histogram: Vec<LatencyClass>,
}

#[derive(Deserialize)]
struct LatencyClass {
    to_ms: Option<u32>,
    moves: u64,
}
