//! `why` of two evaluations.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::table::{write_causes, write_errors};
use crate::scored_sample::scored_sample;
use crate::{Error, Result, Status, Ui};
use patzer_eval::Evaluation;
use patzer_experiments::why::{
    BucketErrors, Diagnosis, Errors, InputDifference, MatchFacts, Symmetry, bucket_errors, diagnose, errors,
    evaluated_moves, input_differences, symmetry,
};
use patzer_io::Printable;
use patzer_io::number::{counted, grouped};
use patzer_pgn::Record;
use shakmaty::Chess;

/// Inputs that are listed.
const INPUTS: usize = 5;

#[derive(Serialize)]
struct EvaluationsResult {
    causes: Vec<Diagnosis>,
    evaluations: [String; 2],
    symmetry: [Symmetry; 2],
    /// Pieces on squares with which the evaluations differ most.
    inputs: Vec<InputDifference>,
    /// By bucket of the mover's king, if the first evaluation is a network that has some, or else the second.
    king_buckets: Vec<BucketErrors>,
    errors: Errors,
}

pub fn run(files: &[PathBuf], data: &Path, most: usize, ui: &Ui) -> Result<Status> {
    let [first, second] = files else {
        return Err(Error::usage(
            "--data compares two evaluations, such as `patzer why new.nnue base.nnue --data FILE`",
        ));
    };
    let loaded = [crate::evaluation::load(Some(first), ui)?, crate::evaluation::load(Some(second), ui)?];
    let records = scored_sample(data, most, ui)?;
    let [one, other] = &loaded;
    let moves = evaluated_moves(&records, [one, other]);
    let found = errors(&moves);
    let positions: Vec<Chess> = records.iter().filter_map(Record::position).collect();
    let inputs = input_differences(&positions, &moves, &found, INPUTS);
    let architectures = loaded.iter().filter_map(|evaluation| match evaluation {
        Evaluation::Nnue(network) => Some(network.architecture()),
        _ => None,
    });
    let bucketed = architectures.into_iter().find(|architecture| architecture.king_bucket_count() > 1);
    let king_buckets = bucketed
        .map_or_else(Vec::new, |architecture| bucket_errors(&positions, &moves, &found, architecture));
    let symmetry = loaded.each_ref().map(|evaluation| symmetry(&records, evaluation));
    let evaluations = [first, second].map(|file| file.display().to_string());
    let facts = MatchFacts::of_evaluations(evaluations.clone(), found.clone(), symmetry);
    let causes = diagnose(&facts);
    ui.result(&EvaluationsResult { causes, evaluations, symmetry, inputs, king_buckets, errors: found })
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
        for InputDifference { input, positions, difference } in &self.inputs {
            let [value, error] = [difference.value, difference.standard_error];
            let positions = counted(*positions, "position");
            writeln!(
                f,
                "input    {input}: {value:+.0} ± {error:.0} centipawns apart in {positions}, {first} less {second}"
            )?;
        }
        write_errors(f, &self.errors, &format!("{first} less {second}"))?;
        if !self.king_buckets.is_empty() {
            writeln!(f, "\n{:<16}{:>12}{:>10}{:>10}", "king bucket", "positions", "error, %", "and, %")?;
        }
        for BucketErrors { bucket, positions, errors } in &self.king_buckets {
            let [one, other] = errors.map(|error| 100.0 * error);
            writeln!(f, "{bucket:<16}{:>12}{one:>10.2}{other:>10.2}", grouped(*positions))?;
        }
        Ok(())
    }
}
