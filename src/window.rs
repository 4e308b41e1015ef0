//! Value of `--window`: the scores that openings may have.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Scores from White's side, in centipawns; `all` accepts every score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Window(pub RangeInclusive<i32>);

const ALL: RangeInclusive<i32> = i32::MIN..=i32::MAX;

impl Window {
    /// The window, or `None` where it accepts all scores.
    pub fn limits(self) -> Option<RangeInclusive<i32>> {
        (self.0 != ALL).then_some(self.0)
    }
}

impl FromStr for Window {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Window, &'static str> {
        let number = |text: &str| text.trim().parse::<i32>().ok();
        let window = match text.split_once(',') {
            _ if text == "all" => Some(ALL),
            Some((low, high)) => number(low).zip(number(high)).map(|(low, high)| low..=high),
            None => number(text).map(|most| -most..=most),
        };
        window
            .filter(|window| !window.is_empty())
            .map(Window)
            .ok_or("write LOW,HIGH such as -50,50, CP or all")
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.0.start(), self.0.end());
        if self.0 == ALL { f.write_str("all") } else { write!(f, "{low},{high}") }
    }
}

impl From<Window> for String {
    fn from(window: Window) -> String {
        window.to_string()
    }
}

impl TryFrom<String> for Window {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Window, &'static str> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_one_number_two_or_all() {
        for (text, window) in [("50", -50..=50), ("-20,30", -20..=30), ("90,140", 90..=140), ("all", ALL)] {
            let read: Window = text.parse().unwrap();
            assert_eq!(read.0, window);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
        for text in ["", "-5", "5,1", "1,2,3", "some"] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }
}
