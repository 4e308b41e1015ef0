//! Files beside an output, which have its name with other endings.

use std::path::{Path, PathBuf};

use patzer_io::error::{Error, Result};
use patzer_io::same_file;

/// The exports beside `output`.
///
/// # Errors
/// One of them is the output or another one, or the output is standard output.
pub fn beside(output: &Path, endings: impl IntoIterator<Item = &'static str>) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for ending in endings {
        if output == Path::new("-") {
            let reason = "writes beside the output, and standard output has no place beside it";
            return Err(Error::setting("export", "", reason));
        }
        let file = output.with_extension(ending);
        if same_file(&file, output) {
            let reason = "an export would write over the output; give it another name or ending";
            return Err(Error::data(&file, reason));
        }
        if files.iter().any(|other| same_file(other, &file)) {
            return Err(Error::data(&file, "the exports would write it twice"));
        }
        files.push(file);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_export_takes_the_place_of_another_file() {
        let fault = |output: &str, endings: &[&'static str]| {
            beside(Path::new(output), endings.iter().copied()).unwrap_err().to_string()
        };
        let files = beside(Path::new("new.hce.toml"), ["h", "csv"]).unwrap();
        assert_eq!(files, [PathBuf::from("new.hce.h"), PathBuf::from("new.hce.csv")]);
        assert!(fault("new.hce.toml", &["csv", "toml"]).contains("write over the output"));
        assert!(fault("new.toml", &["csv", "csv"]).starts_with("new.csv: the exports would write it twice"));
        assert!(fault("-", &["csv"]).contains("no place beside"));
        assert!(beside(Path::new("-"), []).unwrap().is_empty());
    }
}
