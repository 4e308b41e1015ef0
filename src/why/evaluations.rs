//! `why` of two evaluations.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::table::{write_causes, write_errors};
use crate::{Error, Result, Status, Ui};
use patzer_data::DataFile;
use patzer_experiments::why::{
    Diagnosis, Errors, MatchFacts, Symmetry, diagnose, errors, evaluated_moves, is_comparable, symmetry,
};
use patzer_io::Printable;
use patzer_io::number::counted;
use patzer_pgn::Record;

#[derive(Serialize)]
struct EvaluationsResult {
    causes: Vec<Diagnosis>,
    evaluations: [String; 2],
    symmetry: [Symmetry; 2],
    errors: Errors,
}

pub fn run(files: &[PathBuf], data: &Path, most: usize, ui: &Ui) -> Result<Status> {
    let [first, second] = files else {
        return Err(Error::usage(
            "--data compares two evaluations, such as `patzer why new.nnue base.nnue --data FILE`",
        ));
    };
    let loaded = [crate::evaluation::load(Some(first), ui)?, crate::evaluation::load(Some(second), ui)?];
    let records = sample(data, most, ui)?;
    let [one, other] = &loaded;
    let found = errors(&evaluated_moves(&records, [one, other]));
    let symmetry = loaded.each_ref().map(|evaluation| symmetry(&records, evaluation));
    let evaluations = [first, second].map(|file| file.display().to_string());
    let facts = MatchFacts::of_evaluations(evaluations.clone(), found.clone(), symmetry);
    ui.result(&EvaluationsResult { causes: diagnose(&facts), evaluations, symmetry, errors: found })
}

/// Comparable records, at even distances in the dataset.
fn sample(data: &Path, most: usize, ui: &Ui) -> Result<Vec<Record>> {
    let options = ui.read_options(None);
    let mut source = DataFile { path: data, options: &options }.open()?;
    let (mut records, mut batch) = (Vec::new(), Vec::new());
    let mut seen = 0_u64;
    let mut step = 1;
    while source.next_batch(&mut batch)? {
        for record in batch.drain(..).filter(is_comparable) {
            if seen.is_multiple_of(step) {
                records.push(record);
            }
            seen += 1;
            if records.len() > 2 * most.max(1) {
                let mut index = 0_u64;
                records.retain(|_| (index.is_multiple_of(2), index += 1).0);
                step *= 2;
            }
        }
    }
    if records.is_empty() {
        return Err(Error::data(data, "has no quiet position with a score"));
    }
    Ok(records)
}

impl fmt::Display for EvaluationsResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.evaluations.each_ref().map(Printable);
        let positions = counted(self.errors.positions as u64 / 2, "position");
        writeln!(f, "compared {first} and {second} on {positions}")?;
        write_causes(f, &self.causes)?;
        let [one, other] = self.errors.mean_squared_error.map(|square| 100.0 * square.sqrt());
        writeln!(f, "error    {one:.2} % and {other:.2} % of a point, against the scores of the data")?;
        for (what, of) in [
            ("colours", (|symmetry| symmetry.colours) as fn(&Symmetry) -> f64),
            ("mirror", |symmetry| symmetry.mirror),
        ] {
            let [one, other] = self.symmetry.each_ref().map(of);
            writeln!(
                f,
                "{what:<8} {one:.1} and {other:.1} centipawns between a position and the one exchanged so"
            )?;
        }
        write_errors(f, &self.errors, &format!("{first} less {second}"))
    }
}
