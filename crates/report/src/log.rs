//! The log of a fit in a report: the losses of its epochs.
//!
//! In: `log.csv` of a run's folder. Out: figures and measures.

use std::path::Path;

use super::figure::{Drawing, Figure};
use super::plot::Curves;
use super::section::{Part, Section};
use super::sheet::{Row, Sheet};
use super::style::{BLUE, GREEN, ORANGE};
use super::table::Cell;
use patzer_io::error::Result;

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
    let sheet = Sheet::read(path)?;
    let (epoch, train) = (sheet.needed("epoch")?, sheet.needed("train_loss")?);
    let (validation, rate) = (sheet.column("validation_loss"), sheet.column("learning_rate"));
    let read = |row: Row<'_>| {
        let may = |column: Option<usize>| column.map_or(Ok(None), |column| row.number(column));
        let (epoch, train) = (row.must(epoch)?, row.must(train)?);
        Ok(Epoch { epoch, train, validation: may(validation)?, rate: may(rate)? })
    };
    sheet.rows().map(read).collect()
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

/// The part of a report that shows how a fit went; nothing if there is no log.
pub fn part(title: &str, epochs: &[Epoch]) -> Option<Part> {
    let mut part = Part::new(title);
    part.add(losses(epochs));
    rates(epochs).into_iter().for_each(|figure| part.add(figure));
    (!epochs.is_empty()).then_some(part)
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
