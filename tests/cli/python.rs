//! The Python package's own tests, where `make python` has built it. Building a wheel takes minutes, so this does not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The virtual environment that `make python` makes, in the target folder.
fn environment() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join(if cfg!(windows) { "python/Scripts/python.exe" } else { "python/bin/python" })
}

#[test]
fn the_python_package_agrees_with_the_commands() {
    let python = environment();
    let imports = Command::new(&python).args(["-c", "import patzer, pytest, pyarrow, chess"]).output();
    if !imports.is_ok_and(|output| output.status.success()) {
        // Written past the capture of the test harness, so that the skip is seen.
        let line = "skipped: the Python package is not built; `make python` builds and tests it\n";
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return;
    }
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/python");
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", tests]);
    let output = pytest.env("PATZER_BIN", env!("CARGO_BIN_EXE_patzer")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
