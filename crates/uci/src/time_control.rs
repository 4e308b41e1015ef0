//! Clocks of a game as they are written: periods, increments, hourglasses.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use patzer_io::message_error;

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
pub(super) const LONGEST: f64 = 31_536_000.0;

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

    pub(super) fn scaled(mut self, scaled: impl Fn(Duration) -> Duration) -> TimeControl {
        for period in &mut self.periods {
            (period.time, period.increment) = (scaled(period.time), scaled(period.increment));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
