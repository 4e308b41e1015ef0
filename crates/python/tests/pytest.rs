//! The package's tests in Python, with the module that this build made and the program beside it.

#[path = "../../../tests/cli/skip.rs"]
mod skip;

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_package_agrees_with_the_program() {
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.args(arguments);
        command
    };
    let imports = python(&["-c", "import chess, numpy, pyarrow, pytest"]).output();
    if !imports.is_ok_and(|output| output.status.success()) {
        return skip::skip("the Python package", "python3 lacks chess, numpy, pyarrow or pytest");
    }
    // A test's program is in the folder where libraries are built.
    let program = std::env::current_exe().unwrap();
    let built = program.parent().unwrap();
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let module = built.join(format!("{prefix}patzer{suffix}"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(module, folder.join("patzer.abi3.so")).unwrap();
    let mut pytest = python(&["-m", "pytest", "-q", "-p", "no:cacheprovider", env!("CARGO_MANIFEST_DIR")]);
    pytest.env("PYTHONPATH", folder).env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.env("PATZER_BIN", built.with_file_name(format!("patzer{}", std::env::consts::EXE_SUFFIX)));
    let output = pytest.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
