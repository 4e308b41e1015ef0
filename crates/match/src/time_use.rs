//! Time use of a player: its moves, and the latency between its own clock and the runner's.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use shakmaty::{Color, Position};

use super::game::Game;

/// Time use of one player over some games.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TimeUse {
    pub moves: u64,
    pub seconds: f64,
    /// Moves whose time the player reported.
    pub reported: u64,
    /// Sum of measured less reported times, in milliseconds.
    pub latency_ms: f64,
    pub largest_latency_ms: f64,
}

impl TimeUse {
    /// Adds a game to the players of White and Black.
    pub fn add(players: &mut [TimeUse], game: &Game, seats: [usize; 2]) {
        let first = game.start.turn();
        for (ply, played) in game.moves.iter().enumerate() {
            let mover = if ply % 2 == 0 { first } else { !first };
            let player = &mut players[seats[usize::from(mover == Color::Black)]];
            player.moves += 1;
            player.seconds += played.time.as_secs_f64();
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
        write!(f, ", latency {latency:.2} ms on average, {:.1} ms at most", self.largest_latency_ms)
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
        assert_eq!(text[0], "2 moves of 10.0 ms, latency 0.50 ms on average, 2.0 ms at most");
        assert_eq!(text[2], "1 moves of 30.0 ms, latency unknown: the engine reports no times");
        assert_eq!(players[1], TimeUse::default());
    }
}
