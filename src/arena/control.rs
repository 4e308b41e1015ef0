//! What players get for their moves: nodes, depth, or time.
//!
//! In: a setting such as `nodes 5000` or `10+0.1`. Out: the limits of each move, and whether a player overstepped
//! its time. Nodes and depth make games reproducible; time does not.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::engine::{Clock, Limits};

/// What both players get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// This many nodes a move.
    Nodes(u64),
    /// This many plies a move.
    Depth(i32),
    /// This much time a move.
    MoveTime(Duration),
    /// A clock for the game.
    Clock(TimeControl),
}

/// A clock: time for a number of moves, or for the game, with an increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves until the time is added again; `None` if it is for the whole game.
    pub moves: Option<u32>,
    /// Time at the start and again after `moves` moves.
    pub time: Duration,
    /// Time added after each move.
    pub increment: Duration,
}

impl FromStr for TimeControl {
    type Err = String;

    /// Reads `10+0.1`, `60` or `40/60+0.6`: moves / seconds + seconds a move.
    fn from_str(text: &str) -> std::result::Result<TimeControl, String> {
        let wrong =
            || format!("`{text}` is not a time control; write seconds+increment or moves/seconds+increment");
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => (Some(moves.parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?), rest),
            None => (None, text),
        };
        let seconds = |text: &str| {
            let value: f64 = text.parse().ok()?;
            // A year is beyond every test, and within what a Duration and an Instant can hold.
            (0.0..=31_536_000.0).contains(&value).then(|| Duration::from_secs_f64(value))
        };
        let (time, increment) = rest.split_once('+').unwrap_or((rest, "0"));
        let (time, increment) = (seconds(time).ok_or_else(wrong)?, seconds(increment).ok_or_else(wrong)?);
        if time.is_zero() {
            return Err(wrong());
        }
        Ok(TimeControl { moves, time, increment })
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", self.time.as_secs_f64())?;
        if !self.increment.is_zero() {
            write!(f, "+{}", self.increment.as_secs_f64())?;
        }
        Ok(())
    }
}

impl Control {
    /// Whether the same players in the same position always answer the same.
    pub fn deterministic(&self) -> bool {
        matches!(self, Control::Nodes(_) | Control::Depth(_))
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::Nodes(nodes) => write!(f, "{nodes} nodes a move"),
            Control::Depth(depth) => write!(f, "depth {depth}"),
            Control::MoveTime(time) => write!(f, "{} ms a move", time.as_millis()),
            Control::Clock(clock) => write!(f, "{clock} seconds"),
        }
    }
}

/// One player's side of the clock during one game.
#[derive(Debug, Clone, Copy)]
pub struct Timer {
    control: Control,
    left: Duration,
    moves_to_go: Option<u32>,
}

impl Timer {
    /// The clock at the start of a game.
    pub fn new(control: Control) -> Timer {
        match control {
            Control::Clock(clock) => Timer { control, left: clock.time, moves_to_go: clock.moves },
            _ => Timer { control, left: Duration::ZERO, moves_to_go: None },
        }
    }

    /// The limits of the next move. `overhead` is what the player should keep in reserve.
    pub fn limits(&self, overhead: Duration) -> Limits {
        let none = Limits { overhead, ..Limits::default() };
        match self.control {
            Control::Nodes(nodes) => Limits { nodes: Some(nodes), ..none },
            Control::Depth(depth) => Limits { depth: Some(depth), ..none },
            Control::MoveTime(time) => Limits { movetime: Some(time), ..none },
            Control::Clock(TimeControl { increment, .. }) => {
                let clock = Clock { time: self.left, increment, moves_to_go: self.moves_to_go };
                Limits { clock: Some(clock), ..none }
            }
        }
    }

    /// Takes off the time of a move, and adds what the control grants after it. False if the player had less
    /// than that and `margin` together, and has therefore lost.
    pub fn spend(&mut self, time: Duration, margin: Duration) -> bool {
        match self.control {
            Control::Nodes(_) | Control::Depth(_) => true,
            Control::MoveTime(limit) => time <= limit + margin,
            Control::Clock(clock) => {
                if time > self.left + margin {
                    return false;
                }
                self.left = self.left.saturating_sub(time) + clock.increment;
                if let Some(left) = &mut self.moves_to_go {
                    *left -= 1;
                    if *left == 0 {
                        self.moves_to_go = clock.moves;
                        self.left += clock.time;
                    }
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn time_controls_are_read_as_written() {
        for text in ["10+0.1", "60", "40/60+0.6", "0.5+0.005", "1/2"] {
            assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
        }
        for text in ["", "+1", "0+1", "0/10", "-1+1", "10+-1", "nan", "inf", "1e99", "40/", "ten"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn increments_and_new_periods_are_added() {
        let mut timer = Timer::new(Control::Clock("2/1+0.1".parse().unwrap()));
        assert!(timer.spend(MS(400), MS(0)));
        let clock = timer.limits(MS(5)).clock.unwrap();
        assert_eq!((clock.time, clock.moves_to_go), (MS(700), Some(1)));
        assert!(timer.spend(MS(700), MS(0)));
        let clock = timer.limits(MS(5)).clock.unwrap();
        assert_eq!((clock.time, clock.moves_to_go), (MS(1100), Some(2)));
    }

    #[test]
    fn the_margin_decides_who_oversteps() {
        let mut timer = Timer::new(Control::Clock("1".parse().unwrap()));
        assert!(timer.spend(MS(1020), MS(20)));
        assert!(!timer.spend(MS(21), MS(20)));
        let mut timer = Timer::new(Control::MoveTime(MS(100)));
        assert!(timer.spend(MS(105), MS(5)));
        assert!(!timer.spend(MS(106), MS(5)));
        assert!(Timer::new(Control::Nodes(1)).spend(MS(1_000_000), MS(0)));
    }
}
