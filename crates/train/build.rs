//! Lists the recipes, and finds the compilers that some tests need.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("recipes.rs"), recipes()).expect("OUT_DIR is writable");

    // Tests are ignored by name where their compiler is missing.
    println!("cargo:rustc-check-cfg=cfg(has_cxx, has_nvrtc)");
    println!("cargo:rerun-if-env-changed=CXX");
    println!("cargo:rerun-if-env-changed=NVRTC");
    let cxx = env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if Command::new(cxx).arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("cargo:rustc-cfg=has_cxx");
    }
    if env::var_os("NVRTC").is_some() {
        println!("cargo:rustc-cfg=has_nvrtc");
    }
}

/// Names and texts of the files in `recipes`, as the source of a slice.
fn recipes() -> String {
    // Not when this file was compiled: checkouts can share a target folder.
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&package).join("recipes");
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the package has recipes");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let mut list = String::from("&[\n");
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let name = path.file_stem().expect("a file has a name");
        writeln!(list, "({name:?}, include_str!({path:?})),").expect("strings take any text");
    }
    list + "]"
}
