//! Causes and errors as text.

use std::fmt;

use patzer_experiments::why::{Diagnosis, Errors, InCircumstance, centipawns};
use patzer_io::Printable;

/// The causes, the first first.
pub fn write_causes(f: &mut fmt::Formatter<'_>, causes: &[Diagnosis]) -> fmt::Result {
    let Some((first, further)) = causes.split_first() else {
        return writeln!(f, "cause    nothing stands out");
    };
    writeln!(f, "cause    {}: {}", first.cause, Printable(&first.sentence))?;
    further
        .iter()
        .try_for_each(|cause| writeln!(f, "         {}: {}", cause.cause, Printable(&cause.sentence)))
}

/// The table of errors by circumstance, below its title.
pub fn write_errors(f: &mut fmt::Formatter<'_>, errors: &Errors, title: &str) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    writeln!(f, "{:<46}{:>10}{:>10}{:>9}{:>9}", "with", "error, %", "bias, cp", "loss, %", "of it")?;
    let all = [
        errors.squared_error.map(|_| root_difference(errors.mean_squared_error)),
        errors.bias.map(|bias| centipawns(bias.value)),
        errors.loss.map(|loss| 100.0 * loss.value),
    ];
    write_row(f, "all positions", all, None)?;
    for InCircumstance { name, squared_error, bias, loss, loss_share, .. } in &errors.circumstances {
        let values = [
            squared_error.map(|found| root_difference(found.means)),
            bias.map(|found| centipawns(found.inside.value)),
            loss.map(|found| 100.0 * found.inside.value),
        ];
        if values.iter().any(Option::is_some) {
            write_row(f, name, values, *loss_share)?;
        }
    }
    Ok(())
}

/// Difference of two root mean squares, in per cent.
fn root_difference(means: [f64; 2]) -> f64 {
    100.0 * (means[0].sqrt() - means[1].sqrt())
}

fn write_row(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    values: [Option<f64>; 3],
    share: Option<f64>,
) -> fmt::Result {
    let [error, bias, loss] =
        values.map(|value| value.map_or_else(|| "–".to_string(), |value| format!("{value:+.2}")));
    let share = share.map_or_else(String::new, |share| format!("{:.0} %", 100.0 * share));
    let line = format!("{name:<46}{error:>10}{bias:>10}{loss:>9}{share:>9}");
    writeln!(f, "{}", line.trim_end())
}
