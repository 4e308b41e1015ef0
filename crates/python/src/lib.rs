//! The Python package `patzer`: datasets as NumPy columns, evaluations and match statistics.

use pyo3::prelude::*;

mod arrow;
mod batch;
mod columns;
mod dataset;
mod emit;
mod error;
mod evaluate;
mod features;
mod interruptible;
mod label;
mod rate;
mod slice;
mod stats;

/// Chess datasets of every format as NumPy arrays, evaluations of positions, and statistics of matches.
#[pymodule]
mod patzer {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::dataset::{Reader, open};
    #[pymodule_export]
    use super::emit::emit;
    #[pymodule_export]
    use super::error::DataError;
    #[pymodule_export]
    use super::evaluate::evaluate;
    #[pymodule_export]
    use super::label::label;
    #[pymodule_export]
    use super::rate::rate;
    #[pymodule_export]
    use super::stats::{elo, llr};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
