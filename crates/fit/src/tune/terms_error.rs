use std::fmt;

use super::terms::{MOST, VERSION};

#[derive(Debug, PartialEq)]
pub(super) enum TermsError<'a> {
    Format,
    FullPhase,
    SafetyDivisors,
    TooMany(usize),
    Empty,
    Name(&'a str),
    Duplicate(&'a str),
    Shape(&'a str),
    Bounds(&'a str),
    Initial(&'a str, InitialError),
    SameAs { name: &'a str, other: &'a str },
}

#[derive(Debug, PartialEq)]
pub(super) enum InitialError {
    Length { found: usize, needed: usize, width: usize },
    NotANumber(toml::Value),
}

impl fmt::Display for TermsError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermsError::Format => write!(f, "`format` has to be {VERSION}"),
            TermsError::FullPhase => f.write_str("`full_phase` has to be above 0"),
            TermsError::SafetyDivisors => f.write_str("`safety_divisors` have to be above 0"),
            TermsError::TooMany(count) => {
                write!(f, "{count} entries are more than the {MOST} that traces can number")
            }
            TermsError::Empty => f.write_str("names no term"),
            TermsError::Name(name) => write!(f, "`{name}`: names are of letters, digits, `_` and `.`"),
            TermsError::Duplicate(name) => write!(f, "two terms are called `{name}`"),
            TermsError::Shape(name) => write!(f, "`{name}` needs a shape of 1 to {MOST} entries"),
            TermsError::Bounds(name) => write!(f, "`{name}`: the lower bound is above the upper one"),
            TermsError::Initial(name, error) => write!(f, "`{name}`: {error}"),
            TermsError::SameAs { name, other } => {
                write!(f, "`{name}`: no earlier term `{other}` of the same shape and kind")
            }
        }
    }
}

impl fmt::Display for InitialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InitialError::Length { found, needed, width } => {
                write!(f, "`initial` has {found} numbers; it needs {needed}, {width} or 1")
            }
            InitialError::NotANumber(value) => write!(f, "`initial` has {value}, which is not a number"),
        }
    }
}
