//! Copies the network to embed to where the crate includes it from: `src/default.nnue`, or the file that the
//! environment variable `EVALFILE` names, as OpenBench sets it.

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
    let embedded = std::fs::read(&file).and_then(|bytes| match bytes.starts_with(b"PATZNNUE") {
        true => std::fs::write(folder("OUT_DIR").join("embedded.nnue"), bytes),
        false => Err(std::io::Error::other("not a network of patzer; `patzer net convert` makes one")),
    });
    if let Err(error) = embedded {
        println!("cargo::error=EVALFILE: {}: {error}", file.display());
    }
}
