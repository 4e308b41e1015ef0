//! Says which network the program carries in itself: `src/default.nnue`, or the file that the environment
//! variable `EVALFILE` names, as OpenBench does it.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let chosen = std::env::var_os("EVALFILE").filter(|name| !name.is_empty());
    // A relative path starts at the workspace, where OpenBench runs cargo.
    let file = chosen.map_or_else(|| here.join("src/default.nnue"), |name| here.join("../..").join(name));
    if !file.is_file() {
        println!("cargo:error=EVALFILE: {}: no such file", file.display());
    }
    println!("cargo:rustc-env=PATZER_EVALFILE={}", file.display());
}
