//! The log of a fit in a report: the losses of its epochs.
//!
//! In: `log.csv` of a run's folder. Out: figures and measures.

use std::path::Path;

use super::figure::{Drawing, Figure};
use super::plot::Curves;
use super::section::Section;
use super::style::{BLUE, GREEN, ORANGE};
use super::table::Cell;
use crate::error::{Error, Result};

/// One epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number.
    pub epoch: f64,
    /// Mean loss of the training positions.
    pub train: f64,
    /// Mean loss of the positions held out.
    pub validation: Option<f64>,
    /// Learning rate of its last step.
    pub rate: Option<f64>,
}

/// Reads a log. Columns are found by their names; others are left alone.
///
/// # Errors
/// If it cannot be read, lacks a column, or holds something else than numbers.
pub fn read(path: &Path) -> Result<Vec<Epoch>> {
    let text = crate::io::read_text(path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let fault = |line: usize, reason: String| Error::at(path, format!("line {line}"), reason);
    let head = reader.headers().map_err(|e| fault(1, e.to_string()))?.clone();
    let column = |name: &str| head.iter().position(|head| head == name);
    let needed = |name: &str| column(name).ok_or_else(|| fault(1, format!("has no column `{name}`")));
    let (epoch, train) = (needed("epoch")?, needed("train_loss")?);
    let (validation, rate) = (column("validation_loss"), column("learning_rate"));
    let mut epochs = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let line = at + 2;
        let record = record.map_err(|e| fault(line, e.to_string()))?;
        let number = |column: usize| -> Result<Option<f64>> {
            match record.get(column).unwrap_or_default().trim() {
                "" => Ok(None),
                text => text.parse().map(Some).map_err(|_| fault(line, format!("`{text}` is not a number"))),
            }
        };
        let must = |column: usize| number(column)?.ok_or_else(|| fault(line, "a number is missing".into()));
        let may = |column: Option<usize>| column.map_or(Ok(None), number);
        let (epoch, train) = (must(epoch)?, must(train)?);
        epochs.push(Epoch { epoch, train, validation: may(validation)?, rate: may(rate)? });
    }
    Ok(epochs)
}

/// The epoch of least validation loss, or of least training loss where nothing is held out.
pub fn best(epochs: &[Epoch]) -> Option<&Epoch> {
    let value = |epoch: &&Epoch| epoch.validation.unwrap_or(epoch.train);
    epochs.iter().min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// Adds the measures of a log to a section.
pub fn measures(section: &mut Section, epochs: &[Epoch]) {
    let Some(best) = best(epochs) else { return };
    section.measure("epochs", "epochs", epochs.len() as u64);
    section.measure("best_epoch", "best epoch", Cell::number(best.epoch, 0));
    section.measure("train_loss", "training loss of the best epoch", Cell::number(best.train, 7));
    if let Some(loss) = best.validation {
        section.measure("validation_loss", "validation loss of the best epoch", Cell::number(loss, 7));
    }
}

/// The losses by epoch.
pub fn losses(epochs: &[Epoch]) -> Figure {
    let train: Vec<(f64, f64)> = epochs.iter().map(|e| (e.epoch, e.train)).collect();
    let validation: Vec<(f64, f64)> = epochs.iter().filter_map(|e| Some((e.epoch, e.validation?))).collect();
    let all = train.iter().chain(&validation).copied();
    let mut curves = Curves::around("epoch", "loss", all).roomy().line("training", BLUE, train);
    if !validation.is_empty() {
        curves = curves.line("validation", ORANGE, validation);
    }
    let caption = best(epochs).map_or(String::new(), |best| format!("The best epoch was {}.", best.epoch));
    Figure::new("losses", "Losses", &caption, Drawing::Curves(curves))
}

/// The learning rate by epoch; `None` if the log does not tell, or it never changes.
pub fn rates(epochs: &[Epoch]) -> Option<Figure> {
    let rates: Vec<(f64, f64)> = epochs.iter().filter_map(|e| Some((e.epoch, e.rate?))).collect();
    if rates.iter().all(|(_, rate)| *rate == rates[0].1) {
        return None;
    }
    let curves = Curves::around("epoch", "learning rate", rates.iter().copied()).line("", GREEN, rates);
    Some(Figure::new(
        "learning-rate",
        "Learning rate",
        "Of the last step of each epoch.",
        Drawing::Curves(curves),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_by_its_heads_and_faults_have_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            super::read(&path).map_err(|e| e.to_string())
        };
        let epochs = read("extra,epoch,train_loss,validation_loss\nx,1,0.5,0.6\nx,2,0.4,\n").unwrap();
        assert_eq!(epochs[0], Epoch { epoch: 1.0, train: 0.5, validation: Some(0.6), rate: None });
        assert_eq!(best(&epochs).unwrap().epoch, 2.0);
        assert!(read("epoch\n1\n").unwrap_err().ends_with("line 1: has no column `train_loss`"));
        assert!(read("epoch,train_loss\n1,x\n").unwrap_err().ends_with("line 2: `x` is not a number"));
        assert!(read("epoch,train_loss\n1,\n").unwrap_err().ends_with("line 2: a number is missing"));
    }
}
