//! Lines of a file of settings.

use std::path::Path;

use patzer_io::error::Result;
use patzer_io::{Limit, read_text};

/// Reads lines with their places (`line 3`), without empty ones and comments (`#`).
pub fn read(path: &Path) -> Result<Vec<(String, String)>> {
    let text = read_text(path, Limit::WEIGHTS)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let numbered =
        text.lines().enumerate().map(|(at, line)| (format!("line {}", at + 1), line.trim().to_string()));
    Ok(numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect())
}
