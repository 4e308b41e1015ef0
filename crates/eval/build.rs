//! Copies the network to embed to where the crate includes it from: `src/default.nnue`, or the file that the environment
//! variable `EVALFILE` names, as OpenBench sets it.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=EVALFILE");
    let folder = |name: &str| PathBuf::from(std::env::var_os(name).unwrap_or_default());
    let here = folder("CARGO_MANIFEST_DIR");
    let chosen = std::env::var_os("EVALFILE").filter(|name| !name.is_empty());
    // A relative path starts at the workspace, where OpenBench runs cargo.
    let file = chosen.map_or_else(|| here.join("src/default.nnue"), |name| here.join("../..").join(name));
    println!("cargo::rerun-if-changed={}", file.display());
    if let Err(error) = std::fs::copy(&file, folder("OUT_DIR").join("embedded.nnue")) {
        println!("cargo::error=EVALFILE: {}: {error}", file.display());
    }
}
