//! The training log of a fit: losses and learning rates by epoch.

use std::path::Path;

use super::csv_table::{CsvTable, Row};
use super::figure::{Drawing, Figure};
use super::plot::Curves;
use super::section::{Part, Section};
use super::style::{BLUE, GREEN, ORANGE};
use super::table::Cell;
use patzer_io::error::Result;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    pub epoch: f64,
    pub train: f64,
    pub validation: Option<f64>,
    pub rate: Option<f64>,
}

/// Reads `log.csv`; unknown columns are ignored.
pub fn read(path: &Path) -> Result<Vec<Epoch>> {
    let table = CsvTable::read(path)?;
    let (epoch, train) = (table.needed("epoch")?, table.needed("train_loss")?);
    let (validation, rate) = (table.column("validation_loss"), table.column("learning_rate"));
    let read = |row: Row<'_>| {
        let may = |column: Option<usize>| column.map_or(Ok(None), |column| row.number(column));
        let (epoch, train) = (row.required(epoch)?, row.required(train)?);
        Ok(Epoch { epoch, train, validation: may(validation)?, rate: may(rate)? })
    };
    table.rows().map(read).collect()
}

/// The epoch with the least validation loss, or training loss without validation.
pub fn best(epochs: &[Epoch]) -> Option<&Epoch> {
    let value = |epoch: &&Epoch| epoch.validation.unwrap_or(epoch.train);
    epochs.iter().min_by(|a, b| value(a).total_cmp(&value(b)))
}

pub fn measures(section: &mut Section, epochs: &[Epoch]) {
    let Some(best) = best(epochs) else { return };
    section.measure("epochs", "epochs", epochs.len() as u64);
    section.measure("best_epoch", "best epoch", Cell::number(best.epoch, 0));
    section.measure("train_loss", "training loss of the best epoch", Cell::number(best.train, 7));
    if let Some(loss) = best.validation {
        section.measure("validation_loss", "validation loss of the best epoch", Cell::number(loss, 7));
    }
}

/// Draws losses and learning rates; `None` without epochs.
pub fn part(title: &str, epochs: &[Epoch]) -> Option<Part> {
    let mut part = Part::new(title);
    part.add(losses(epochs));
    rates(epochs).into_iter().for_each(|figure| part.add(figure));
    (!epochs.is_empty()).then_some(part)
}

pub fn losses(epochs: &[Epoch]) -> Figure {
    let train: Vec<(f64, f64)> = epochs.iter().map(|e| (e.epoch, e.train)).collect();
    let validation: Vec<(f64, f64)> = epochs.iter().filter_map(|e| Some((e.epoch, e.validation?))).collect();
    let all = train.iter().chain(&validation).copied();
    let values = all.clone().map(|(_, loss)| loss);
    let curves = Curves::around("epoch", "loss", all).roomy().log(values).of_counts();
    let mut curves = curves.line("training", BLUE, train.clone());
    if !validation.is_empty() {
        curves = curves.line("validation", ORANGE, validation);
    }
    let caption = best(epochs).map_or(String::new(), |best| format!("The best epoch was {}.", best.epoch));
    Figure::new("losses", "Losses", &caption, Drawing::Curves(curves))
}

/// Draws the learning rate; `None` if it is unknown or constant.
pub fn rates(epochs: &[Epoch]) -> Option<Figure> {
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
    use crate::scale::Kind;

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
        let epochs: Vec<Epoch> = [0.5, f64::INFINITY, 0.05]
            .into_iter()
            .zip(1..)
            .map(|(train, epoch)| Epoch { epoch: f64::from(epoch), train, validation: None, rate: None })
            .collect();
        let Drawing::Curves(curves) = losses(&epochs).drawing else { panic!() };
        assert_eq!(curves.axes.scales, [Kind::Whole, Kind::Log]);
        let y = &curves.axes.y_range;
        assert!(y.start > 0.03 && y.start < 0.05 && y.end > 0.5 && y.end < 2.0, "{y:?}");
        assert_eq!(curves.series[0].points.len(), 3);
        let nothing = [Epoch { train: 0.0, ..epochs[0] }];
        let Drawing::Curves(curves) = losses(&nothing).drawing else { panic!() };
        assert_eq!(curves.axes.scales[1], Kind::Linear, "0 has no logarithm");
    }
}
