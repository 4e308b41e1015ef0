//! Parameters to tune, in OpenBench's lines: `name, int|float, value, min, max, c_end, r_end`; fishtest's have no type,
//! which is int.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::lines;
use patzer_io::error::{Error, Result};
use patzer_io::message_error;

/// A parameter with its range and the end of its schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: String,
    /// Passed as a decimal number instead of a whole one.
    pub float: bool,
    pub start: f64,
    pub min: f64,
    pub max: f64,
    /// Perturbation at the end of the schedule.
    pub c_end: f64,
    /// Learning rate at the end of the schedule, in units of `c_end` squared.
    pub r_end: f64,
}

message_error!(ParamError);

impl FromStr for Param {
    type Err = ParamError;

    fn from_str(line: &str) -> std::result::Result<Param, ParamError> {
        let wrong = |reason: String| Err(ParamError(reason));
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let (name, kind, numbers) = match &fields[..] {
            // A line of fishtest.
            [name, numbers @ ..] if numbers.len() == 5 && numbers[0].parse::<f64>().is_ok() => {
                (name, &"int", numbers)
            }
            [name, kind, numbers @ ..] => (name, kind, numbers),
            _ => return wrong("write: name, int|float, value, min, max, c_end, r_end".into()),
        };
        if numbers.len() != 5 {
            let count = fields.len();
            return wrong(format!(
                "has {count} fields, not 7: name, int|float, value, min, max, c_end, r_end"
            ));
        }
        let mut values = [0.0; 5];
        for (value, text) in values.iter_mut().zip(numbers) {
            match text.parse::<f64>().ok().filter(|number| number.is_finite()) {
                Some(number) => *value = number,
                None => return wrong(format!("`{text}` is not a number")),
            }
        }
        let [start, min, max, c_end, r_end] = values;
        let float = match *kind {
            "int" => false,
            "float" => true,
            other => return wrong(format!("`{other}` is neither int nor float")),
        };
        let param = Param { name: (*name).to_string(), float, start, min, max, c_end, r_end };
        match () {
            () if name.is_empty() => wrong("has no name".into()),
            () if min >= max => wrong(format!("{name}: the range {min} to {max} is empty")),
            () if !(min..=max).contains(&start) => {
                wrong(format!("{name}: {start} is not from {min} to {max}"))
            }
            () if c_end <= 0.0 => wrong(format!("{name}: c_end has to be above 0")),
            () if r_end <= 0.0 => wrong(format!("{name}: r_end has to be above 0")),
            // The schedule multiplies it by powers of the iterations.
            () if !(r_end * c_end.powi(2) * 1e30).is_finite() => {
                wrong(format!("{name}: r_end {r_end} is too large"))
            }
            () if !float && [min, max].iter().any(|end| end.fract() != 0.0) => {
                wrong(format!("{name}: the range of an int has whole ends"))
            }
            () => Ok(param),
        }
    }
}

/// Writes the line again.
impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Param { name, float, start, min, max, c_end, r_end } = self;
        let kind = if *float { "float" } else { "int" };
        write!(f, "{name}, {kind}, {start}, {min}, {max}, {c_end}, {r_end}")
    }
}

impl Param {
    /// A value within the range that is not whole.
    pub fn inside(&self) -> f64 {
        // The golden section of a whole range is not whole.
        self.min + 0.381_966_011 * (self.max - self.min)
    }

    /// Writes a value as a UCI option takes it.
    pub fn text(&self, value: f64) -> String {
        if self.float {
            format!("{}", (value * 1e6).round() / 1e6)
        } else {
            format!("{}", value.round() as i64)
        }
    }
}

/// Reads a file of parameters; empty lines and lines that begin with `#` are skipped.
pub fn read(path: &Path) -> Result<Vec<Param>> {
    let mut params = Vec::<Param>::new();
    for (at, line) in lines::read(path)? {
        let fault = |reason: String| Error::at(path, &at, reason);
        let param: Param = line.parse().map_err(|error: ParamError| fault(error.to_string()))?;
        if params.iter().any(|other| other.name.eq_ignore_ascii_case(&param.name)) {
            return Err(fault(format!("`{}` comes a second time", param.name)));
        }
        params.push(param);
    }
    if params.is_empty() { Err(Error::data(path, "holds no parameter")) } else { Ok(params) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_survives_the_round_trip_and_wrong_ones_are_explained() {
        for line in ["rfp_margin, int, 74, 30, 150, 6, 0.002", "lmr, float, 0.75, 0.1, 2, 0.05, 0.002"] {
            assert_eq!(line.parse::<Param>().unwrap().to_string(), line);
        }
        let of_fishtest: Param = "rfp_margin,74,30,150,6,0.002".parse().unwrap();
        assert_eq!(of_fishtest.to_string(), "rfp_margin, int, 74, 30, 150, 6, 0.002");
        for (line, says) in [
            ("a, int, 1, 0, 2, 1", "has 6 fields"),
            ("a", "write: name"),
            ("a, integer, 1, 0, 2, 1, 0.002", "neither int nor float"),
            ("a, int, x, 0, 2, 1, 0.002", "`x` is not a number"),
            ("a, int, 3, 0, 2, 1, 0.002", "3 is not from 0 to 2"),
            ("a, int, 1, 2, 2, 1, 0.002", "is empty"),
            ("a, int, 1, 0, 2.5, 1, 0.002", "whole ends"),
            ("a, int, 1, 0, 2, 0, 0.002", "c_end"),
            ("a, int, 1, 0, 2, 1, inf", "`inf` is not a number"),
            ("a, int, 1, 0, 2, 1, 1e308", "is too large"),
            (", int, 1, 0, 2, 1, 0.002", "no name"),
        ] {
            let error = line.parse::<Param>().unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("params.txt");
        std::fs::write(&path, "\u{feff}X, int, 1, 0, 2, 1, 0.002\n").unwrap();
        assert_eq!(read(&path).unwrap()[0].name, "X");
    }

    #[test]
    fn values_are_written_as_options_take_them() {
        let int: Param = "a, int, 1, -9, 9, 1, 0.002".parse().unwrap();
        assert_eq!((int.text(2.5), int.text(-0.2)), ("3".into(), "0".into()));
        let float = Param { float: true, ..int };
        assert_eq!((float.text(0.1 + 0.2), float.text(2.0)), ("0.3".into(), "2".into()));
        for (min, max) in [(0.0, 1.0), (-50.0, 50.0), (0.0, 100_000.0)] {
            assert!(float.text(Param { min, max, ..float.clone() }.inside()).contains('.'), "{min} to {max}");
        }
    }
}
