use std::time::Instant;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::live::{Pace, state};
use crate::named::named;
use crate::ui::{LINES, columns};
use crate::{Error, Result, Ui};
use patzer_fastchess::output_format::{MatchStatus, OutputFormat, events};
use patzer_io::number::counted;
use patzer_io::printable_lines;
use patzer_match::openings::Openings;
use patzer_match::record::PairEntry;
use patzer_match::{Observer, Pair, Standings, Tally, TimeSummary, TimeUse};

/// Display of a match.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DisplayArgs {
    /// Print events on stdout, one JSON object a line: start, pair, status, end
    #[arg(long, hide_short_help = true, help_heading = "Output", conflicts_with = "output_format")]
    json_lines: bool,

    /// Write stdout in the format of another runner, for scripts that read it
    #[arg(long, hide_short_help = true, value_name = "FORMAT", default_value = "patzer", help_heading = "Output", value_parser = named::<OutputFormat>())]
    output_format: OutputFormat,

    /// Games between two reports of the standings, with --json-lines or --output-format
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 10, help_heading = "Output", value_parser = clap::value_parser!(u64).range(1..))]
    rating_interval: u64,

    /// Also print the results of each opening
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    by_opening: bool,
}

impl DisplayArgs {
    pub fn shows_openings(&self) -> bool {
        self.by_opening
    }

    pub fn by_opening<'a>(&self, book: &'a Openings) -> Option<&'a Openings> {
        self.by_opening.then_some(book)
    }
}

pub struct MatchInfo {
    pub names: Vec<String>,
    pub conditions: String,
    pub games: usize,
    pub done: u64,
    /// Time limits the moves, so that the result is not reproducible anyway.
    pub timed: bool,
    /// Openings of the book, and the warning where more are needed, unless it has been given.
    pub book_end: Option<(usize, String)>,
}

pub struct MatchDisplay {
    args: DisplayArgs,
    ui: Ui,
    info: MatchInfo,
    bar: ProgressBar,
    begin: Instant,
    last: Instant,
    times: Vec<TimeUse>,
}

impl MatchDisplay {
    pub fn new(args: &DisplayArgs, label: &'static str, info: MatchInfo, ui: &Ui) -> Result<MatchDisplay> {
        let (bar, begin) = (ui.block(label), Instant::now());
        let times = vec![TimeUse::default(); info.names.len()];
        let show = MatchDisplay { args: args.clone(), ui: ui.clone(), info, bar, begin, last: begin, times };
        let MatchInfo { names, conditions, games, done, .. } = &show.info;
        show.event(|| events::start(names, conditions, *games, *done))?;
        Ok(show)
    }

    /// Clears the terminal of the standings, so that what follows stands alone.
    pub fn close(&self) {
        self.bar.finish_and_clear();
    }

    pub fn end<T: Serialize + std::fmt::Display>(self, standings: &dyn Standings, result: &T) -> Result<()> {
        let played = standings.games().saturating_sub(self.info.done);
        let of = match self.info.done {
            0 => String::new(),
            _ => format!(", in the {} of this start", counted(played, "game")),
        };
        for (name, times) in self.info.names.iter().zip(&self.times).filter(|(_, times)| times.reported > 0) {
            self.ui.note(format!("{name}: {times}{of}"));
        }
        let time_use = self.time_use();
        let time_use_games = (self.info.done > 0 && !time_use.is_empty()).then_some(played);
        let result = &TimedResult { result, time_use, time_use_games };
        if self.args.json_lines {
            self.ui.recorder.result(result);
            let result = serde_json::to_value(result).map_err(|e| Error::internal(e.to_string()))?;
            return self.event(|| events::end(result));
        }
        if self.args.output_format == OutputFormat::Patzer || self.ui.json {
            return self.ui.result(result).map(drop);
        }
        self.ui.recorder.result(result);
        self.status([0, 1], standings)?;
        self.say(&self.args.output_format.end(standings.test()))
    }

    /// Time use of players who report times, in the games of this start.
    fn time_use(&self) -> Vec<TimeSummary> {
        if !self.info.timed {
            return Vec::new();
        }
        let players = self.info.names.iter().zip(&self.times);
        players.filter(|(_, times)| times.reported > 0).map(|(name, times)| times.summary(name)).collect()
    }

    fn event(&self, value: impl FnOnce() -> serde_json::Value) -> Result<()> {
        if self.args.json_lines { self.ui.json_line(&value().to_string()) } else { Ok(()) }
    }

    fn say(&self, text: &str) -> Result<()> {
        if text.is_empty() { Ok(()) } else { self.bar.suspend(|| self.ui.line(text.trim_end())) }
    }

    fn status(&self, players: [usize; 2], standings: &dyn Standings) -> Result<()> {
        let tally = standings.between(players);
        let standing = MatchStatus {
            names: players.map(|player| self.info.names[player].as_str()),
            conditions: &self.info.conditions,
            tally: &tally,
            test: standings.test(),
            by_pairs: true,
        };
        self.event(|| events::status(&standing))?;
        let dialect = self.args.output_format;
        self.say(&if self.two() {
            dialect.standing(&standing)
        } else {
            dialect.ranking(&self.ranked(standings))
        })
    }

    fn two(&self) -> bool {
        self.info.names.len() == 2
    }

    fn ranked(&self, standings: &dyn Standings) -> Vec<(&str, Tally)> {
        let names = &self.info.names;
        let players = standings.ranking(names.len()).into_iter();
        players.map(|(player, tally)| (names[player].as_str(), tally)).collect()
    }

    fn live(&self, standings: &dyn Standings) -> String {
        let played = standings.games().saturating_sub(self.info.done);
        let seconds = self.begin.elapsed().as_secs_f64();
        let pace = Pace { played, seconds, games: self.info.games as u64 };
        state(standings, &self.info.names, &pace, columns())
    }
}

/// A result with the time use of the players.
#[derive(Serialize)]
struct TimedResult<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    time_use: Vec<TimeSummary>,
    /// Games of this start, where the match has others.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_use_games: Option<u64>,
}

impl<T: std::fmt::Display> std::fmt::Display for TimedResult<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.result.fmt(f)
    }
}

/// Lines of a warning that may hold text of an engine, each cut to 2,000 characters.
fn short_lines(text: &str) -> String {
    const LONGEST: usize = 2000;
    let short = |line: &str| match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (cut)", patzer_io::printable(&line[..end])),
        None => patzer_io::printable(line).into_owned(),
    };
    text.lines().map(short).collect::<Vec<_>>().join("\n")
}

impl Observer for MatchDisplay {
    fn pair(&mut self, pair: &Pair, entry: &PairEntry, standings: &dyn Standings) -> Result<()> {
        let beyond = |(count, _): &mut (usize, String)| pair.pairing.openings.iter().any(|at| at >= count);
        if let Some((_, text)) = self.info.book_end.take_if(beyond) {
            self.bar.suspend(|| self.ui.warn(text));
        }
        for (game, seats) in pair.seated() {
            TimeUse::add(&mut self.times, game, seats);
            for warning in game.warnings() {
                self.bar.suspend(|| self.ui.warn(short_lines(warning)));
            }
        }
        let MatchInfo { names, games, .. } = &self.info;
        self.event(|| events::pair(pair, entry, names))?;
        let now = standings.between(entry.players).games;
        if self.args.output_format != OutputFormat::Patzer {
            self.say(&self.args.output_format.games(pair, names, *games, self.two().then_some(now)))?;
        }
        let tally = now.games();
        if tally / self.args.rating_interval != (tally - 2) / self.args.rating_interval {
            self.status(entry.players, standings)?;
        }
        Ok(())
    }

    fn reports_pairs(&self) -> bool {
        self.args.json_lines || self.args.output_format != OutputFormat::Patzer
    }

    fn incident(&mut self, text: &str) {
        self.bar.suspend(|| self.ui.warn(text));
    }

    fn tick(&mut self, standings: &dyn Standings) {
        if !self.bar.is_hidden() {
            self.bar.set_message(printable_lines(&self.live(standings)).into_owned());
        } else if self.last.elapsed() >= LINES {
            self.last = Instant::now();
            self.ui.note(standings.summary_line());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_keep_their_lines_and_long_ones_are_cut() {
        assert_eq!(short_lines("Warning; a\u{7}\nMoves; e2e4\n"), "Warning; a\\u{7}\nMoves; e2e4");
        let cut = short_lines(&format!("Info; {}\nMoves; e2e4", "ä".repeat(250_000)));
        assert!(cut.chars().count() < 2100 && cut.ends_with("ä… (cut)\nMoves; e2e4"), "{cut}");
    }
}
