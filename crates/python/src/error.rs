//! patzer's errors as Python exceptions, with the same one line.

use std::io::ErrorKind;

use patzer_io::error::Error;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError, PyRuntimeError, PyUserWarning,
    PyValueError,
};
use pyo3::prelude::*;

create_exception!(
    patzer,
    DataError,
    PyValueError,
    "A file whose content is wrong; the message says where and why."
);

/// Translates an error.
pub fn python(error: Error) -> PyErr {
    let line = error.to_string();
    match error {
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(line),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(line),
            _ => PyOSError::new_err(line),
        },
        Error::Data { .. } => DataError::new_err(line),
        Error::Usage(_) | Error::Input(_) | Error::Setting { .. } => PyValueError::new_err(line),
        Error::Interrupted(_) => PyKeyboardInterrupt::new_err(line),
        Error::Internal(_) => PyRuntimeError::new_err(line),
        Error::Hinted(error, _) => python(*error),
    }
}

/// Issues a Python warning of one line.
pub fn warn(py: Python<'_>, line: &str) -> PyResult<()> {
    let warn = py.import("warnings")?.getattr("warn")?;
    warn.call1((line, py.get_type::<PyUserWarning>())).map(drop)
}
