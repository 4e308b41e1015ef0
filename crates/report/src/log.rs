//! The training log of a fit: losses and learning rates by epoch.

use std::path::Path;

use super::csv_table::{CsvRow, CsvTable};
use super::figure::{Drawing, Figure};
use super::plot::Curves;
use super::section::{Part, Section};
use super::style::{BLUE, GREEN, ORANGE};
use super::table::Cell;
use patzer_io::error::Result;

/// A row of `log.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Number of the epoch, from 1.
    pub epoch: f64,
    /// Mean training loss.
    pub train: f64,
    /// Mean validation loss.
    pub validation: Option<f64>,
    /// Learning rate of the last step.
    pub rate: Option<f64>,
}

/// The epoch whose weights a run kept, with its losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// Number of the epoch, from 1; 0 is the start.
    pub epoch: u64,
    /// Mean training loss.
    pub train: f64,
    /// Mean validation loss.
    pub validation: Option<f64>,
}

/// Epochs of a run; empty if unknown.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Epochs in their order.
    pub epochs: Vec<Epoch>,
    /// The epoch kept; `None` for a run that has not ended.
    pub kept: Option<Kept>,
}

/// Reads `log.csv`; unknown columns are ignored.
pub fn read(path: &Path) -> Result<Vec<Epoch>> {
    let table = CsvTable::read(path)?;
    let (epoch, train) = (table.needed("epoch")?, table.needed("train_loss")?);
    let (validation, rate) = (table.column("validation_loss"), table.column("learning_rate"));
    let read = |row: CsvRow<'_>| {
        let may = |column: Option<usize>| column.map_or(Ok(None), |column| row.number(column));
        let (epoch, train) = (row.required(epoch)?, row.required(train)?);
        Ok(Epoch { epoch, train, validation: may(validation)?, rate: may(rate)? })
    };
    table.rows().map(read).collect()
}

/// The epoch with the least validation loss, or training loss without validation.
fn best(epochs: &[Epoch]) -> Option<&Epoch> {
    let value = |epoch: &&Epoch| epoch.validation.unwrap_or(epoch.train);
    epochs.iter().min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// Adds the number of epochs, and the kept or best epoch with its losses, to a section.
pub fn measures(section: &mut Section, log: &Log) {
    let Some(best) = best(&log.epochs) else { return };
    section.measure("epochs", "epochs", log.epochs.len() as u64);
    let (label, epoch, train, validation) = match log.kept {
        Some(Kept { epoch: 0, train, validation }) => {
            ("kept epoch", Cell::text("the start"), train, validation)
        }
        Some(kept) => ("kept epoch", Cell::Count(kept.epoch), kept.train, kept.validation),
        None => ("best epoch", Cell::number(best.epoch, 0), best.train, best.validation),
    };
    section.measure("best_epoch", label, epoch);
    section.measure("train_loss", "training loss of this epoch", Cell::number(train, 7));
    if let Some(loss) = validation {
        section.measure("validation_loss", "validation loss of this epoch", Cell::number(loss, 7));
    }
}

/// Draws losses and learning rates; `None` without epochs.
pub fn part(title: &str, log: &Log) -> Option<Part> {
    let mut part = Part::new(title);
    part.add(losses(log));
    rates(&log.epochs).into_iter().for_each(|figure| part.add(figure));
    (!log.epochs.is_empty()).then_some(part)
}

fn losses(log: &Log) -> Figure {
    let epochs = &log.epochs;
    let train: Vec<(f64, f64)> = epochs.iter().map(|e| (e.epoch, e.train)).collect();
    let validation: Vec<(f64, f64)> = epochs.iter().filter_map(|e| Some((e.epoch, e.validation?))).collect();
    let all = train.iter().chain(&validation).copied();
    let values = all.clone().map(|(_, loss)| loss);
    let curves = Curves::around("epoch", "loss", all).roomy().log(values).of_counts();
    let mut curves = curves.line("training", BLUE, train.clone());
    if !validation.is_empty() {
        curves = curves.line("validation", ORANGE, validation);
    }
    let caption = match (log.kept, best(epochs)) {
        (Some(Kept { epoch: 0, .. }), _) => "The start is kept.".to_string(),
        (Some(kept), _) => format!("Epoch {} is kept.", kept.epoch),
        (None, Some(best)) => format!("The best epoch was {}.", best.epoch),
        (None, None) => String::new(),
    };
    Figure::new("losses", "Losses", &caption, Drawing::Curves(curves))
}

/// Draws the learning rate; `None` if it is unknown or constant.
fn rates(epochs: &[Epoch]) -> Option<Figure> {
    let rates: Vec<(f64, f64)> = epochs.iter().filter_map(|e| Some((e.epoch, e.rate?))).collect();
    if rates.iter().all(|(_, rate)| *rate == rates[0].1) {
        return None;
    }
    let curves =
        Curves::around("epoch", "learning rate", rates.iter().copied()).of_counts().line("", GREEN, rates);
    let caption = "Of the last step of each epoch.";
    Some(Figure::new("learning-rate", "Learning rate", caption, Drawing::Curves(curves)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::ScaleKind;

    #[test]
    fn columns_are_found_by_name_and_errors_have_their_line() {
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

    #[test]
    fn losses_have_a_logarithmic_axis_that_an_infinite_loss_does_not_widen() {
        let epochs = [0.5, f64::INFINITY, 0.05]
            .into_iter()
            .zip(1..)
            .map(|(train, epoch)| Epoch { epoch: f64::from(epoch), train, validation: None, rate: None })
            .collect();
        let log = Log { epochs, kept: None };
        let Drawing::Curves(curves) = losses(&log).drawing else { panic!() };
        assert_eq!(curves.axes.scales, [ScaleKind::Whole, ScaleKind::Log]);
        let y = &curves.axes.y_range;
        assert!(y.start > 0.03 && y.start < 0.05 && y.end > 0.5 && y.end < 2.0, "{y:?}");
        assert_eq!(curves.series[0].points.len(), 3);
        let nothing = Log { epochs: vec![Epoch { train: 0.0, ..log.epochs[0] }], kept: None };
        let Drawing::Curves(curves) = losses(&nothing).drawing else { panic!() };
        assert_eq!(curves.axes.scales[1], ScaleKind::Linear, "0 has no logarithm");
    }

    #[test]
    fn losses_are_of_the_epoch_that_the_run_kept() {
        let epoch = |epoch, train| Epoch { epoch, train, validation: Some(train), rate: None };
        let epochs = vec![epoch(1.0, 0.2), epoch(2.0, 0.1), epoch(3.0, 0.3)];
        let shown = |kept: Option<(u64, f64)>| {
            let kept = kept.map(|(epoch, train)| Kept { epoch, train, validation: Some(train) });
            let log = Log { epochs: epochs.clone(), kept };
            let mut section = Section::new("", crate::section::SectionKind::Network);
            measures(&mut section, &log);
            let values: Vec<String> = section.measures.iter().map(|measure| measure.value.shown()).collect();
            (values.join(" "), losses(&log).caption)
        };
        let words = |values: &str, caption: &str| (values.to_string(), caption.to_string());
        assert_eq!(shown(None), words("3 2 0.1000000 0.1000000", "The best epoch was 2."));
        assert_eq!(shown(Some((3, 0.3))), words("3 3 0.3000000 0.3000000", "Epoch 3 is kept."));
        assert_eq!(shown(Some((0, 0.05))), words("3 the start 0.0500000 0.0500000", "The start is kept."));
    }
}
