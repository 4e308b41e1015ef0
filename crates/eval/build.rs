//! Says which network the program carries in itself: `src/eval/default.nnue`, or the file that the environment
//! variable `EVALFILE` names, as OpenBench does it.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=EVALFILE");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let chosen = std::env::var_os("EVALFILE").filter(|name| !name.is_empty());
    // A relative path is one from where cargo was started, which for OpenBench is this folder.
    let file = root.join(chosen.map_or_else(|| PathBuf::from("src/eval/default.nnue"), PathBuf::from));
    if !file.is_file() {
        println!("cargo:error=EVALFILE: {}: no such file", file.display());
    }
    println!("cargo:rustc-env=PATZER_EVALFILE={}", file.display());
}
