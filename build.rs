//! Finds the C++ compiler that tests of the GPU trainer need.

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
}
