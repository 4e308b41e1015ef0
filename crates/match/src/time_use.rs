//! Time use of a player: its moves, and the latency between its own clock and the runner's.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use shakmaty::{Color, Position};

use super::game::Game;

/// Time use of one player over some games.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeUse {
    pub moves: u64,
    pub seconds: f64,
    /// Times by move number from 0; the last entry has the moves from `LAST_MOVE` on.
    pub by_move: Vec<MoveTime>,
    /// Moves whose time the player reported.
    pub reported: u64,
    /// Sum of measured less reported times, in milliseconds.
    pub latency_ms: f64,
    pub largest_latency_ms: f64,
    /// Moves by latency: up to each of `LATENCIES`, and above the last.
    pub latencies: [u64; LATENCIES.len() + 1],
}

/// Upper ends of the classes of latencies, in milliseconds. Engines report whole milliseconds.
pub const LATENCIES: [u32; 11] = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/// Moves from this number on (from 0) share one entry.
pub const LAST_MOVE: usize = 120;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MoveTime {
    pub moves: u64,
    pub seconds: f64,
}

/// Time use of a player in a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimeSummary {
    pub player: String,
    pub moves: u64,
    pub seconds: f64,
    pub by_move: Vec<MoveTime>,
    /// `None` if the engine reports no times.
    pub latency: Option<Latency>,
}

/// Time that a player's moves took beyond what it reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Latency {
    /// Moves with a reported time.
    pub moves: u64,
    pub mean_ms: f64,
    pub largest_ms: f64,
    pub histogram: Vec<LatencyClass>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyClass {
    /// Upper end; `None` for the last class.
    pub to_ms: Option<u32>,
    pub moves: u64,
}

impl TimeUse {
    /// Adds a game to the players of White and Black.
    pub fn add(players: &mut [TimeUse], game: &Game, seats: [usize; 2]) {
        let first = game.start.turn();
        for (ply, played) in game.moves.iter().enumerate().filter(|(_, played)| !played.info.book) {
            let mover = if ply % 2 == 0 { first } else { !first };
            let player = &mut players[seats[usize::from(mover == Color::Black)]];
            let seconds = played.time.as_secs_f64();
            player.moves += 1;
            player.seconds += seconds;
            let number = ((ply + usize::from(first == Color::Black)) / 2).min(LAST_MOVE);
            if player.by_move.len() <= number {
                player.by_move.resize(number + 1, MoveTime::default());
            }
            let sum = &mut player.by_move[number];
            (sum.moves, sum.seconds) = (sum.moves + 1, sum.seconds + seconds);
            if let Some(reported) = played.info.time {
                player.add_latency(played.time, reported);
            }
        }
    }

    fn add_latency(&mut self, measured: Duration, reported: Duration) {
        let latency = 1000.0 * (measured.as_secs_f64() - reported.as_secs_f64());
        let first = self.reported == 0;
        self.largest_latency_ms = if first { latency } else { self.largest_latency_ms.max(latency) };
        self.latency_ms += latency;
        self.reported += 1;
        self.latencies[LATENCIES.iter().take_while(|&&end| latency > f64::from(end)).count()] += 1;
    }

    pub fn summary(&self, player: &str) -> TimeSummary {
        let ends = LATENCIES.iter().map(|end| Some(*end)).chain([None]);
        let classes = ends.zip(self.latencies).map(|(to_ms, moves)| LatencyClass { to_ms, moves });
        let latency = (self.reported > 0).then(|| Latency {
            moves: self.reported,
            mean_ms: self.latency_ms / self.reported as f64,
            largest_ms: self.largest_latency_ms,
            histogram: classes.collect(),
        });
        let (player, by_move) = (player.to_string(), self.by_move.clone());
        TimeSummary { player, moves: self.moves, seconds: self.seconds, by_move, latency }
    }

    /// Latency that 99 % of the moves do not exceed: the end of a class, or the largest of all. `None` in the last
    /// class.
    fn usual_latency(&self) -> Option<f64> {
        let mut count = 0;
        let enough = |moves: &u64| {
            count += moves;
            100 * count >= 99 * self.reported
        };
        let end = self.latencies.iter().position(enough).and_then(|class| LATENCIES.get(class));
        end.map(|&end| f64::from(end).min(self.largest_latency_ms))
    }
}

impl fmt::Display for TimeUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = 1000.0 * self.seconds / self.moves.max(1) as f64;
        write!(f, "{} moves of {mean:.1} ms", self.moves)?;
        if self.reported == 0 {
            return f.write_str(", latency unknown: the engine reports no times");
        }
        let latency = self.latency_ms / self.reported as f64;
        write!(f, ", latency {latency:.2} ms on average")?;
        if let Some(end) = self.usual_latency() {
            write!(f, ", for 99 % up to {end:.1} ms")?;
        }
        write!(f, ", {:.1} ms at most", self.largest_latency_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlayedMove, Reason, SearchInfo};
    use patzer_chess::fen;

    #[test]
    fn moves_count_for_their_player_and_latency_where_a_time_is_reported() {
        let start = fen::position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", false).unwrap();
        let m = start.legal_moves()[0];
        let played = |ms, reported: Option<u64>| {
            let info = SearchInfo { time: reported.map(Duration::from_millis), ..SearchInfo::default() };
            PlayedMove { m, info, time: Duration::from_millis(ms), left: None }
        };
        let moves = vec![played(10, Some(8)), played(30, None), played(10, Some(11))];
        let (winner, reason, note) = (None, Reason::MoveLimit, None);
        let game = Game { start, moves, winner, reason, note, remarks: Vec::new(), clock: None };
        let mut players = vec![TimeUse::default(); 3];
        TimeUse::add(&mut players, &game, [2, 0]);
        let text: Vec<String> = players.iter().map(TimeUse::to_string).collect();
        assert_eq!(
            text[0],
            "2 moves of 10.0 ms, latency 0.50 ms on average, for 99 % up to 2.0 ms, 2.0 ms at most"
        );
        let mut slow = TimeUse::default();
        slow.add_latency(Duration::from_micros(220_800), Duration::ZERO);
        assert!(slow.to_string().ends_with("for 99 % up to 220.8 ms, 220.8 ms at most"), "{slow}");
        assert_eq!(text[2], "1 moves of 30.0 ms, latency unknown: the engine reports no times");
        assert_eq!(players[1], TimeUse::default());
        let summary = players[0].summary("a");
        let each: Vec<u64> = summary.by_move.iter().map(|each| each.moves).collect();
        assert_eq!(each, [1, 1], "Black began: its moves are of the first number and the second");
        let latency = summary.latency.unwrap();
        let classes = latency.histogram.iter().filter(|class| class.moves > 0);
        let classes: Vec<_> = classes.map(|class| (class.to_ms, class.moves)).collect();
        assert_eq!((latency.moves, classes), (2, vec![(Some(0), 1), (Some(2), 1)]));
        assert_eq!(players[2].summary("c").latency, None);
    }
}
