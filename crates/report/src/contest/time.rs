//! Time, nodes and depth by move; quantities that are unknown or constant are left out.

use super::Contest;
use super::games::{LAST_MOVE, Took};
use crate::figure::{Drawing, Figure};
use crate::plot::Curves;
use crate::section::Part;
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
    type Sum = fn(&Took) -> f64;
    let quantity: [(&str, &str, &str, Sum); 3] = [
        ("time", "Time by move", "seconds", |took| took.seconds),
        ("nodes", "Nodes by move", "nodes", |took| took.nodes as f64),
        ("depth", "Depth by move", "plies", |took| took.depth as f64),
    ];
    for (id, title, unit, of) in quantity {
        // Move numbers that few games reach say little.
        let enough = (games.games.len() as u64 / 20).max(1);
        let mean = |player: &Vec<Took>| -> Vec<(f64, f64)> {
            let known = player.iter().enumerate().filter(|(_, took)| took.moves >= enough);
            known.take(LAST_MOVE).map(|(at, took)| (at as f64 + 1.0, of(took) / took.moves as f64)).collect()
        };
        let lines: Vec<(&String, Vec<(f64, f64)>)> =
            games.took.iter().map(|(name, player)| (name, mean(player))).collect();
        // A fixed limit needs no figure.
        let mut values = lines.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
        let first = values.next().unwrap_or(0.0);
        if values.all(|value| value == first) {
            continue;
        }
        let all = lines.iter().flat_map(|(_, points)| points.iter().copied());
        let curves = Curves::around("move", unit, all).roomy();
        let colours = [BLUE, ORANGE, GREEN, PURPLE].into_iter().cycle();
        let curves = lines
            .into_iter()
            .zip(colours)
            .fold(curves, |curves, ((name, points), colour)| curves.line(name, colour, points));
        let caption =
            "Mean of each player's moves of that number, where at least a twentieth of the games got to it.";
        part.add(Figure::new(id, title, caption, Drawing::Curves(curves)));
    }
    part
}
