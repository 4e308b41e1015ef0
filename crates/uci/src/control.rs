//! Limits on a player's moves; games under nodes or depth alone are reproducible.

use std::fmt;
use std::time::Duration;

use patzer_engine::{Clock, Limits};
use serde::{Serialize, Serializer};

use super::time_control::{LONGEST, Period, TimeControl};

/// Limits of one player; the first limit reached ends a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Control {
    pub time: Option<Time>,
    pub nodes: Option<u64>,
    /// Nodes after which the present iteration is the last.
    pub soft_nodes: Option<u64>,
    pub depth: Option<i32>,
}

/// Hard limit of a search with a soft one alone, in multiples of it.
const HARD_NODES: u64 = 10;

/// Time a move, or a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Time {
    Move(#[serde(serialize_with = "as_seconds")] Duration),
    Clock(TimeControl),
}

fn as_seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl Control {
    pub fn nodes(nodes: u64) -> Control {
        Control { nodes: Some(nodes), ..Control::default() }
    }

    pub fn depth(depth: i32) -> Control {
        Control { depth: Some(depth), ..Control::default() }
    }

    pub fn movetime(time: Duration) -> Control {
        Control { time: Some(Time::Move(time)), ..Control::default() }
    }

    pub fn clock(clock: TimeControl) -> Control {
        Control { time: Some(Time::Clock(clock)), ..Control::default() }
    }

    pub fn is_unlimited(&self) -> bool {
        *self == Control::default()
    }

    /// Nodes that a search never exceeds: a soft limit has a hard one.
    pub fn most_nodes(&self) -> Option<u64> {
        self.nodes.or(self.soft_nodes.map(|nodes| nodes.saturating_mul(HARD_NODES)))
    }

    /// Tests whether a player in the same position always plays the same move.
    pub fn deterministic(&self) -> bool {
        self.time.is_none()
    }

    pub fn scaled(self, factor: f64) -> Control {
        let scaled = |time: Duration| Duration::from_secs_f64((time.as_secs_f64() * factor).min(LONGEST));
        let time = self.time.map(|time| match time {
            Time::Move(time) => Time::Move(scaled(time)),
            Time::Clock(clock) => Time::Clock(clock.scaled(scaled)),
        });
        let multiple = |nodes| ((nodes as f64 * factor).round() as u64).max(1);
        let (nodes, soft_nodes) = (self.nodes.map(multiple), self.soft_nodes.map(multiple));
        Control { time, nodes, soft_nodes, depth: self.depth }
    }

    /// Value of PGN's `TimeControl` tag as fastchess writes it: `40/60+0.6`, `0.1/move`, or `-`.
    pub fn tag(&self) -> String {
        match self.time {
            Some(Time::Move(time)) => format!("{}/move", time.as_secs_f64()),
            // PGN has other signs for the rest of a game and for an hourglass.
            Some(Time::Clock(clock)) => clock.to_string().replace("G/", "").replace("hg", "*"),
            None => "-".to_string(),
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time.map(|time| match time {
            Time::Move(time) => format!("{} ms a move", time.as_secs_f64() * 1000.0),
            Time::Clock(clock) => format!("{clock} seconds"),
        });
        let soft = self.soft_nodes.map(|nodes| format!("{nodes} soft nodes a move"));
        let most = if soft.is_some() { "at most " } else { "" };
        let nodes = self.most_nodes().map(|nodes| format!("{most}{nodes} nodes a move"));
        let depth = self.depth.map(|depth| format!("depth {depth}"));
        let parts: Vec<String> = [time, soft, nodes, depth].into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "no limit" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

/// Limits and margin of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSettings {
    pub control: Control,
    /// Time by which the player may overstep its limit.
    pub margin: Duration,
}

/// One player's clock during one game: whole milliseconds count, and the first move has its increment too, as in
/// fastchess and cutechess-cli.
#[derive(Debug, Clone, Copy)]
pub struct Timer {
    control: Control,
    margin: Duration,
    left: Duration,
    moves_to_go: Option<u32>,
    /// Index of the period.
    period: usize,
}

/// The longest part of a millisecond.
const PART: Duration = Duration::from_nanos(999_999);

/// The whole milliseconds of a time.
fn whole(time: Duration) -> Duration {
    time - Duration::from_nanos(u64::from(time.subsec_nanos()) % 1_000_000)
}

impl Timer {
    /// `margin` is how far the player may overstep its time.
    pub fn new(control: Control, margin: Duration) -> Timer {
        let first = match &control.time {
            Some(Time::Clock(clock)) => clock.periods()[0],
            _ => Period::default(),
        };
        let left = first.time + first.increment;
        Timer { control, margin, left, moves_to_go: first.moves, period: 0 }
    }

    fn time_control(&self) -> Option<TimeControl> {
        match self.control.time {
            Some(Time::Clock(clock)) => Some(clock),
            _ => None,
        }
    }

    /// Search limits of the next move. `overhead` is the reserve the player keeps.
    pub fn limits(&self, overhead: Duration) -> Limits {
        let Control { soft_nodes, depth, .. } = self.control;
        let nodes = self.control.most_nodes();
        let movetime = match self.control.time {
            Some(Time::Move(time)) => Some(time),
            _ => None,
        };
        Limits { nodes, soft_nodes, depth, movetime, clock: self.clock(), overhead, ..Limits::default() }
    }

    pub fn control(&self) -> Control {
        self.control
    }

    pub fn clock(&self) -> Option<Clock> {
        let increment = self.time_control()?.periods()[self.period].increment;
        Some(Clock { time: self.left, increment, moves_to_go: self.moves_to_go })
    }

    fn limit(&self) -> Option<Duration> {
        match self.control.time? {
            Time::Move(limit) => Some(limit),
            Time::Clock(_) => Some(self.left),
        }
    }

    /// Longest time for the next move that does not lose the game; `None` without time limits.
    pub fn allowed(&self) -> Option<Duration> {
        Some(self.limit()? + self.margin + PART)
    }

    /// Time beyond the limit, the margin not counted; `None` without time limits.
    pub fn overrun(&self, time: Duration) -> Option<Duration> {
        Some(time.saturating_sub(self.limit()?))
    }

    /// Subtracts the time of a move and adds the increment. Returns false if the player has lost on time.
    pub fn spend(&mut self, time: Duration) -> bool {
        let Some(allowed) = self.allowed() else { return true };
        if time > allowed {
            return false;
        }
        if let Some(clock) = self.time_control() {
            self.left = self.left.saturating_sub(whole(time)) + clock.periods()[self.period].increment;
            if let Some(left) = &mut self.moves_to_go {
                *left -= 1;
                if *left == 0 {
                    self.period = (self.period + 1).min(clock.periods().len() - 1);
                    let next = clock.periods()[self.period];
                    (self.moves_to_go, self.left) = (next.moves, self.left + next.time);
                }
            }
        }
        true
    }

    /// Takes the time of the opponent's move, in an hourglass.
    pub fn turn_over(&mut self, time: Duration) {
        if self.time_control().is_some_and(|clock| clock.hourglass) {
            self.left += whole(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn clock(text: &str) -> Control {
        Control::clock(text.parse().unwrap())
    }

    #[test]
    fn increments_and_new_periods_are_added() {
        let mut timer = Timer::new(clock("2/1+0.1"), MS(0));
        assert!(timer.spend(MS(400)));
        let clock = timer.limits(MS(5)).clock.unwrap();
        assert_eq!((clock.time, clock.moves_to_go), (MS(800), Some(1)));
        assert!(timer.spend(MS(800) + Duration::from_micros(999)));
        let clock = timer.limits(MS(5)).clock.unwrap();
        assert_eq!((clock.time, clock.moves_to_go), (MS(1100), Some(2)));
    }

    #[test]
    fn periods_follow_one_another_and_an_hourglass_gives_the_time_on() {
        let mut timer = Timer::new(clock("2/1:1/0.5+0.1:G/0.2+0.05"), MS(0));
        let mut left = vec![(timer.left, timer.moves_to_go)];
        for _ in 0..4 {
            assert!(timer.spend(MS(100)));
            left.push((timer.left, timer.moves_to_go));
        }
        // 1, 0.9, 0.8 + 0.5, 1.2 + 0.1 + 0.2, 1.4 + 0.05
        let expected = [1000, 900, 1300, 1500, 1450].map(MS);
        assert_eq!(left.iter().map(|(left, _)| *left).collect::<Vec<_>>(), expected);
        assert_eq!(
            left.iter().map(|(_, moves)| *moves).collect::<Vec<_>>(),
            [Some(2), Some(1), Some(1), None, None]
        );
        assert_eq!(clock("2/1:1/0.5+0.1:G/0.2+0.05").tag(), "2/1:1/0.5+0.1:0.2+0.05");
        assert_eq!(clock("hg60").tag(), "*60");
        let mut again = Timer::new(clock("1/1"), MS(0));
        assert!(again.spend(MS(300)) && again.spend(MS(1700)) && !again.spend(MS(1001)));
        let [mut white, mut black] = [Timer::new(clock("hg1"), MS(0)); 2];
        assert!(white.spend(MS(400)));
        black.turn_over(MS(400));
        assert_eq!([white.left, black.left], [600, 1400].map(MS));
        black.turn_over(Duration::from_micros(500));
        assert_eq!(black.left, MS(1400), "whole milliseconds count");
        let mut usual = Timer::new(clock("1"), MS(0));
        usual.turn_over(MS(400));
        assert_eq!(usual.left, MS(1000));
    }

    #[test]
    fn the_margin_decides_who_oversteps() {
        let mut timer = Timer::new(clock("1"), MS(20));
        assert!(timer.spend(MS(1020)));
        assert!(!timer.spend(MS(21)));
        assert_eq!(timer.overrun(MS(21)), Some(MS(21)));
        let mut timer = Timer::new(Control::movetime(MS(100)), MS(5));
        assert!(timer.spend(MS(105) + Duration::from_micros(999)));
        assert!(!timer.spend(MS(106)));
        assert!(Timer::new(Control::nodes(1), MS(0)).spend(MS(1_000_000)));
    }

    #[test]
    fn odds_multiply_times_and_nodes_but_not_depth_and_limits_combine() {
        let odds = Control { nodes: Some(500), depth: Some(9), ..clock("40/10+0.1") }.scaled(0.5);
        assert_eq!(odds, Control { nodes: Some(250), depth: Some(9), ..clock("40/5+0.05") });
        assert_eq!(Control::movetime(MS(100)).scaled(2.0), Control::movetime(MS(200)));
        assert_eq!(Control::nodes(1).scaled(0.1), Control::nodes(1), "never none");

        let both = Control { depth: Some(9), ..clock("10") };
        let limits = Timer::new(both, MS(0)).limits(MS(5));
        assert_eq!((limits.depth, limits.nodes, limits.clock.is_some()), (Some(9), None, true));
        assert_eq!(both.to_string(), "10 seconds, depth 9");
    }

    #[test]
    fn a_soft_limit_has_a_hard_one() {
        let soft = Control { soft_nodes: Some(500), ..Control::default() };
        assert_eq!(soft.to_string(), "500 soft nodes a move, at most 5000 nodes a move");
        let limits = Timer::new(Control { nodes: Some(700), ..soft }, MS(0)).limits(MS(0));
        assert_eq!((limits.soft_nodes, limits.nodes), (Some(500), Some(700)));
        assert_eq!(soft.scaled(2.0).most_nodes(), Some(10_000));
    }
}
