//! Limits on a player's moves; games under nodes or depth alone are reproducible.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use patzer_engine::{Clock, Limits};
use patzer_io::message_error;
use serde::{Serialize, Serializer};

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

/// A clock for the game: periods of moves, the last one for the rest of the game or again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeControl {
    periods: [Period; MOST_PERIODS],
    count: usize,
    /// The time that a player takes is given to the other.
    pub hourglass: bool,
}

/// Moves with a time of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// `None` for the rest of the game.
    pub moves: Option<u32>,
    /// Time added when the period begins.
    pub time: Duration,
    /// Time added with every move.
    pub increment: Duration,
}

const MOST_PERIODS: usize = 3;

/// One year, in seconds: within the range of `Duration` and `Instant`.
const LONGEST: f64 = 31_536_000.0;

fn as_seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

patzer_io::serde_as_text!(TimeControl);

/// Seconds, with or without their unit: `0.1`, `0.1s`.
pub fn seconds(text: &str) -> Option<Duration> {
    let value: f64 = text.strip_suffix('s').unwrap_or(text).parse().ok()?;
    (0.0..=LONGEST).contains(&value).then(|| Duration::from_secs_f64(value))
}

message_error!(TimeControlError);

impl FromStr for TimeControl {
    type Err = TimeControlError;

    /// Parses `10+0.1`, `10s+0.1s`, `0+0.5`, `60`, `40/60+0.6` or `40/1:00+0.6`: moves / seconds (or minutes:seconds) +
    /// increment; several periods as `40/60:20/30:G/10+0.1`, where `G/` may be left out behind two others; an hourglass
    /// as `hg60`.
    fn from_str(text: &str) -> Result<TimeControl, TimeControlError> {
        let wrong = || {
            let form = "write seconds+increment, moves/seconds+increment, 40/60:20/30:G/10+0.1 or hg60";
            TimeControlError(format!("`{text}` is not a time control; {form}"))
        };
        let (hourglass, rest) = match text.strip_prefix("hg").or(text.strip_suffix("hg")) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        // One colon is that of minutes and seconds, as the other runners read it.
        let parts: Vec<&str> = match rest.matches('/').count() {
            0 | 1 => vec![rest],
            _ => rest.split(':').collect(),
        };
        let periods: Vec<Period> =
            parts.iter().map(|part| part.parse()).collect::<Result<_, _>>().map_err(|()| wrong())?;
        let endless = periods.iter().position(|period| period.moves.is_none());
        if periods.len() > MOST_PERIODS || endless.is_some_and(|at| at + 1 < periods.len()) {
            return Err(wrong());
        }
        if hourglass && (periods.len() > 1 || endless.is_none()) {
            return Err(wrong());
        }
        let mut control = TimeControl { periods: Default::default(), count: periods.len(), hourglass };
        control.periods[..periods.len()].copy_from_slice(&periods);
        Ok(control)
    }
}

impl FromStr for Period {
    type Err = ();

    /// Parses a period that has time for a move.
    fn from_str(text: &str) -> Result<Period, ()> {
        let (moves, rest) = match text.split_once('/') {
            Some(("G" | "g", rest)) => (None, rest),
            Some((moves, rest)) => (Some(moves.parse().ok().filter(|&n| n > 0).ok_or(())?), rest),
            None => (None, text),
        };
        let (time, increment) = rest.split_once('+').unwrap_or((rest, "0"));
        let time = match time.split_once(':') {
            Some((minutes, rest)) => {
                let minutes = minutes.parse::<u32>().ok().map(|n| Duration::from_secs(60 * u64::from(n)));
                minutes.zip(seconds(rest)).map(|(minutes, rest)| minutes + rest)
            }
            None => seconds(time),
        };
        let (time, increment) = time.zip(seconds(increment)).ok_or(())?;
        let most = time.max(increment);
        let sound = !most.is_zero() && most.as_secs_f64() <= LONGEST;
        sound.then_some(Period { moves, time, increment }).ok_or(())
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.hourglass { "hg" } else { "" })?;
        for (at, period) in self.periods().iter().enumerate() {
            f.write_str(if at > 0 { ":" } else { "" })?;
            match period.moves {
                Some(moves) => write!(f, "{moves}/")?,
                // Without it one colon would be that of minutes.
                None if at > 0 => f.write_str("G/")?,
                None => {}
            }
            write!(f, "{}", period.time.as_secs_f64())?;
            if !period.increment.is_zero() {
                write!(f, "+{}", period.increment.as_secs_f64())?;
            }
        }
        Ok(())
    }
}

impl TimeControl {
    /// The periods in order, one at least.
    pub fn periods(&self) -> &[Period] {
        &self.periods[..self.count]
    }

    fn scaled(mut self, scaled: impl Fn(Duration) -> Duration) -> TimeControl {
        for period in &mut self.periods {
            (period.time, period.increment) = (scaled(period.time), scaled(period.increment));
        }
        self
    }
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
                    self.period = (self.period + 1).min(clock.count - 1);
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
    fn time_controls_are_read_as_written() {
        for text in [
            "10+0.1",
            "60",
            "40/60+0.6",
            "0.5+0.005",
            "1/2",
            "0+0.5",
            "40/60:20/30:G/10+0.1",
            "40/60+1:20/30",
            "40/60:G/10",
            "hg60",
        ] {
            assert_eq!(text.parse::<TimeControl>().unwrap().to_string(), text);
        }
        assert_eq!("40/1:30+0.5".parse::<TimeControl>().unwrap().to_string(), "40/90+0.5");
        assert_eq!("0.3s+0.01s".parse::<TimeControl>().unwrap().to_string(), "0.3+0.01");
        assert_eq!("40/60:20/30:10+0.1".parse::<TimeControl>().unwrap().to_string(), "40/60:20/30:G/10+0.1");
        assert_eq!("0.3hg".parse::<TimeControl>().unwrap().to_string(), "hg0.3");
        for text in ["40/60:20/30:10/5:G/1", "G/10:40/60", "hg40/60", "hg", "0", "0+0", "40/60:20/30:"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
        for text in ["", "+1", "0/10", "-1+1", "10+-1", "nan", "inf", "1e99", "40/", "ten", "1:", ":5", "s"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
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
