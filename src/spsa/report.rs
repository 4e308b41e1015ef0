//! Report of a tuning.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use patzer_experiments::spsa::{Form, SpsaState, Value};
use patzer_io::number::{counted, grouped};
use patzer_io::{Printable, printable};
use patzer_match::RunSummary;
use patzer_stats::Pentanomial;

/// Values of a tuning.
#[derive(Serialize)]
pub struct SpsaReport {
    games: u64,
    iterations: usize,
    /// Iterations of the whole schedule.
    planned: usize,
    /// LL, LD, WL + DD, WD, WW of the first perturbation of each pair.
    pentanomial: Pentanomial,
    params: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "patzer_io::path_text")]
    output: Option<PathBuf>,
    /// Command that tests the values of a whole tuning against those of the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<String>,
    games_per_second: f64,
    complete: bool,
    #[serde(skip)]
    form: Option<Form>,
}

impl SpsaReport {
    pub fn new(
        state: &SpsaState,
        ended: &RunSummary,
        output: Option<PathBuf>,
        test: Option<String>,
        form: Option<Form>,
    ) -> SpsaReport {
        SpsaReport {
            games: state.tally().games.games(),
            iterations: state.iterations(),
            planned: state.planned(),
            pentanomial: state.tally().pairs,
            params: state.now(),
            output,
            test,
            games_per_second: ended.speed(),
            complete: ended.complete,
            form,
        }
    }
}

impl fmt::Display for SpsaReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(form) = self.form {
            return f.write_str(&form.write(&self.params));
        }
        let [games, iterations, planned] =
            [self.games, self.iterations as u64, self.planned as u64].map(grouped);
        writeln!(f, "games       {games}, {iterations} iterations of {planned}")?;
        let width = self.params.iter().map(|now| now.param.name.chars().count()).max().unwrap_or(0).max(9);
        writeln!(f, "\n{:<width$} {:>10} {:>12} {:>10}  range", "parameter", "start", "value", "± chance")?;
        let mut moved = false;
        for Value { param, value, noise, .. } in &self.params {
            let places = if param.float { 4 } else { 1 };
            let beyond = (value - param.start).abs() > *noise;
            moved |= beyond;
            writeln!(
                f,
                "{:<width$} {:>10} {value:>12.places$} {noise:>10.places$}  {} to {}{}",
                printable(&param.name),
                param.start,
                param.min,
                param.max,
                if beyond { " *" } else { "" }
            )?;
        }
        let star = if moved { "; * marks values farther from their start" } else { "" };
        writeln!(f, "\n± chance: 95 % of how far results that say nothing would have moved the value{star}")?;
        if let Some(output) = &self.output {
            writeln!(f, "written     {}", Printable(output.display()))?;
        } else if self.complete {
            write!(f, "\n{}", Form::Setoption.write(&self.params))?;
        }
        writeln!(f, "\nspeed       {:.1} games/s", self.games_per_second)?;
        if !self.complete {
            writeln!(f, "interrupted after {}; --resume goes on", counted(self.games, "game"))?;
        }
        let Some(test) = &self.test else { return Ok(()) };
        write!(f, "\nNow test the values against those of the start:\n  {}", printable(test))
    }
}
