//! Finds the C++ compiler that tests of the GPU trainer need, and names commit and target for `--version`.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rustc-check-cfg=cfg(has_cxx)");
    println!("cargo:rerun-if-env-changed=CXX");
    println!("cargo:rerun-if-changed=build.rs");
    let cxx = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if Command::new(cxx).arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("cargo:rustc-cfg=has_cxx");
    }
    let build: Vec<String> = commit().into_iter().chain(env::var("TARGET")).collect();
    println!("cargo:rustc-env=PATZER_BUILD={}", build.join(", "));
}

/// The commit of a release build; `None` without a repository. Other builds do without, since they would start from the
/// beginning after each commit.
fn commit() -> Option<String> {
    // A package unpacked within another project's repository has none of its own.
    if env::var("PROFILE").ok()? != "release" || !std::path::Path::new(".git").exists() {
        return None;
    }
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["describe", "--always", "--dirty", "--exclude=*"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_string();
    Some(line).filter(|line| output.status.success() && !line.is_empty())
}
