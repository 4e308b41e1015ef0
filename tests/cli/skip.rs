//! Tests that lack a program: one list of them closes `make test`.

use std::fs;
use std::io::Write;
use std::path::Path;

/// Adds a test, or a part of one, to the list of those that were skipped.
pub fn skip(test: &str, reason: &str) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skipped");
    let mut list = fs::File::options().create(true).append(true).open(path).unwrap();
    list.write_all(format!("{test}: {reason}\n").as_bytes()).unwrap();
}
