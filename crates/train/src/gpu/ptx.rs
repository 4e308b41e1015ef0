//! The PTX against the kernel sources, and kernel signatures read from it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cuda::PTX;
use super::driver::Kernel;
use patzer_eval::nnue::file;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/kernels")
}

/// Hash of the kernel sources, as in the PTX's `Sources` line: names and contents, in the order of names.
pub(crate) fn digest() -> String {
    let mut sources = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "cu" || end == "cuh") {
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            sources.insert(name, std::fs::read(&path).unwrap());
        }
    }
    let mut hash = Sha256::new();
    for (name, text) in sources {
        for part in [name.as_bytes(), &[0], &text, &[0]] {
            hash.update(part);
        }
    }
    file::hex(&hash.finalize())
}

/// Parameter sizes in bytes, as the PTX declares them.
pub(crate) fn sizes(kernel: Kernel) -> Vec<usize> {
    let start = format!(".visible .entry {}(", kernel.name());
    let (_, rest) = PTX.split_once(&start).unwrap_or_else(|| panic!("{} is in the PTX", kernel.name()));
    let (declared, _) = rest.split_once(')').unwrap();
    let size = |line: &str| match line.rsplit_once('[') {
        Some((_, count)) => count.trim_end_matches([']', ',']).parse().unwrap(),
        None if line.contains("64 ") => 8,
        None => 4,
    };
    declared.lines().map(str::trim).filter(|line| line.starts_with(".param")).map(size).collect()
}

#[test]
fn the_ptx_is_that_of_the_sources() {
    let said = PTX.lines().find_map(|line| line.strip_prefix("// Sources: ")).unwrap();
    assert_eq!(said, digest(), "the kernels changed: run tools/ptx.py");
    assert!(PTX.contains("\n.target sm_70\n"));
    assert!(PTX.contains("\n.version 8.4\n"), "drivers of CUDA 12.4 read no later version: see tools/ptx.py");
}

#[test]
fn every_kernel_is_in_the_ptx_and_the_ptx_has_no_other() {
    for kernel in Kernel::ALL {
        assert!(!sizes(*kernel).is_empty());
    }
    assert_eq!(PTX.matches(".visible .entry").count(), Kernel::ALL.len());
}

#[test]
#[cfg_attr(
    not(has_nvrtc),
    ignore = "needs the environment variable NVRTC, the path of NVIDIA's compiler library"
)]
fn compiling_again_gives_the_same_ptx() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/ptx.py");
    let command = &mut std::process::Command::new("python3");
    let output = command.arg(script).arg(folder()).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
