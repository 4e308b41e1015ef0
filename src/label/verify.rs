//! `patzer label --verify`: a sample of a labelled dataset beside new answers of its teacher.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::LabelArgs;
use super::any_teacher::AnyTeacher;
use crate::{Error, Result, Status, Ui};
use patzer_data::DataFile;
use patzer_io::Printable;
use patzer_io::number::{counted, grouped};
use patzer_label::teacher::{self, Cut, Verified};

/// Positions of a block of static labels, which do not depend on blocks: small ones see more of the file.
const BLOCK: usize = 64;

#[derive(Serialize)]
struct Outcome {
    #[serde(serialize_with = "patzer_io::path_text")]
    data: PathBuf,
    teacher: String,
    #[serde(flatten)]
    verified: Verified,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verified { of, positions, differing, examples } = &self.verified;
        let sampled = format!("{} of {}", grouped(*positions), counted(*of, "position"));
        let (data, teacher) = (Printable(self.data.display()), Printable(&self.teacher));
        if *differing == 0 {
            return writeln!(f, "{data}: {sampled} asked again, all as labelled by {teacher}");
        }
        writeln!(f, "{data}: {sampled} asked again, {} not as {teacher} says", grouped(*differing))?;
        let text = |score: &Option<i16>| score.map_or("none".to_string(), |score| score.to_string());
        for difference in examples {
            let (score, teacher) = (text(&difference.score), text(&difference.teacher));
            writeln!(f, "  row {}: {score}, the teacher {teacher}: {}", difference.row, difference.fen)?;
        }
        Ok(())
    }
}

/// Checks a sample of the labels; [`Status::Unsound`] if one differs.
pub fn run(args: &LabelArgs, share: f64, ui: &Ui) -> Result<Status> {
    let given = &args.teacher;
    let options = args.options(ui);
    let data = DataFile { path: &args.labelled(), options: &options };
    let teacher = AnyTeacher::load(args, ui)?;
    let described = teacher.describe(given);
    let metadata = data.open()?.metadata().clone();
    let reason = match metadata.teacher {
        None => "names no teacher of its scores".to_string(),
        Some(teacher) if teacher != described => {
            format!("was labelled by {teacher}, not by {described}")
        }
        Some(_) => String::new(),
    };
    if !reason.is_empty() {
        return Err(Error::data(data.path, reason));
    }
    let size = if teacher.searches() { teacher.block(given) } else { BLOCK };
    let cut = Cut::new(teacher::rows(data)?, size, None);
    let sample = teacher::sample(&cut, share, given.seed);
    let verified = ui.with_progress("verify", cut.positions, |bar| {
        teacher.verify(given, data, (&cut, &sample), &mut |positions| bar.inc(positions))
    })?;
    let sound = verified.differing == 0;
    ui.result(&Outcome { data: data.path.to_path_buf(), teacher: described, verified })?;
    Ok(if sound { Status::Done } else { Status::Unsound })
}

/// A share, as a number or in per cent.
pub fn share(text: &str) -> std::result::Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().map(|number| number / unit);
    share
        .ok()
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "write it as a share of the positions, for example 0.1% or 0.001".to_string())
}
