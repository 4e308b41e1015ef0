//! Errors of architectures and of raw bodies.

use std::fmt;

/// A value that no network can have; the message begins with the recipe's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchitectureError {
    key: &'static str,
    reason: String,
}

impl ArchitectureError {
    pub(super) fn new(key: &'static str, reason: impl fmt::Display) -> ArchitectureError {
        ArchitectureError { key, reason: reason.to_string() }
    }

    pub fn key(&self) -> &'static str {
        self.key
    }
}

impl fmt::Display for ArchitectureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.key, self.reason)
    }
}

impl std::error::Error for ArchitectureError {}

/// A raw body whose size fits no network, or not its architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyError(pub(super) String);

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BodyError {}
