//! Progress of a labelling.

use std::fmt;
use std::time::Instant;

use indicatif::ProgressBar;

use crate::Ui;
use crate::live::clock;
use crate::ui::LINES;
use patzer_io::number::{grouped, per_hour, rate};
use patzer_label::teacher::Event;

/// Positions an hour; of static evaluations, which are many more, positions a second.
pub struct Speed(pub f64, pub bool);

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Speed(per_hour, without_search) = self;
        match without_search {
            true => f.write_str(&rate(per_hour / 3600.0, "positions")),
            false => write!(f, "{} an hour", grouped(per_hour as u64)),
        }
    }
}

/// Troubles shown one by one.
const SHOWN: u64 = 10;

/// Progress with positions an hour and the remaining time, and the first troubles.
pub struct Show<'a> {
    ui: &'a Ui,
    bar: ProgressBar,
    before: u64,
    all: u64,
    start: Instant,
    line: Instant,
    troubles: u64,
    without_search: bool,
}

impl Show<'_> {
    pub fn new(before: u64, all: u64, without_search: bool, ui: &Ui) -> Show<'_> {
        let what = if without_search { "evaluating" } else { "searching" };
        let (bar, now) = (ui.progress(what, all), Instant::now());
        bar.set_position(before);
        bar.reset_eta();
        Show { ui, bar, before, all, start: now, line: now, troubles: 0, without_search }
    }

    pub fn see(&mut self, event: &Event) {
        match event {
            Event::Answered(answered) => self.answered(*answered),
            Event::Trouble(text) => {
                self.troubles += 1;
                if self.troubles <= SHOWN {
                    self.bar.suspend(|| self.ui.warn(text));
                }
            }
        }
    }

    fn answered(&mut self, answered: u64) {
        if self.bar.position() != answered {
            self.bar.set_position(answered);
        }
        if self.line.elapsed() < if self.bar.is_hidden() { LINES } else { LINES / 50 } {
            return;
        }
        self.line = Instant::now();
        let (new, seconds) = (answered - self.before, self.start.elapsed().as_secs_f64());
        let speed = Speed(per_hour(new, seconds), self.without_search);
        if !self.bar.is_hidden() {
            return self.bar.set_message(speed.to_string());
        }
        let left = match new {
            0 => String::new(),
            new => format!(", {} left", clock(seconds / new as f64 * (self.all - answered) as f64)),
        };
        let (answered, all) = (grouped(answered), grouped(self.all));
        self.ui.note(format!("{answered} of {all} positions, {speed}{left}"));
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
        if self.troubles > SHOWN {
            self.ui.warn(format!("{} more such positions", grouped(self.troubles - SHOWN)));
        }
    }
}
