//! `patzer tune --device gpu` with a stand-in for NVIDIA's driver, which runs the kernels on the CPU: what is asked of the
//! driver, in which order, and what is waited for. No GPU takes part.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::done;

/// A folder with the stand-in as the driver's library; `None`, with a line that says so, where it cannot be compiled.
fn driver() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = root.join("src/train/gpu/kernels");
    let mut entries = String::new();
    for file in fs::read_dir(&sources).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|end| end == "cu") {
            let text = fs::read_to_string(path).unwrap();
            let names = text.lines().filter_map(|line| line.strip_prefix("KERNEL ")?.split_once('('));
            names.for_each(|(name, _)| entries += &format!("ENTRY({name}) "));
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver");
    fs::create_dir_all(&folder).unwrap();
    let made = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-strict-aliasing"])
        .args(["-U_FORTIFY_SOURCE", &format!("-DENTRIES={entries}"), "-I"])
        .arg(root.join("src/train/gpu"))
        .arg("-I")
        .arg(&sources)
        .arg(root.join("tests/cli/gpu/driver.cpp"))
        .arg("-o")
        .arg(folder.join("libcuda.so"))
        .output();
    match made {
        Ok(output) if output.status.success() => Some(folder),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "skipped: the GPU's driver (no C++ compiler: {error})");
            None
        }
    }
}

fn patzer(driver: &Path, folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
    command.args(line.split_whitespace()).current_dir(folder).env("LD_LIBRARY_PATH", driver).output().unwrap()
}

#[test]
fn a_gpu_trains_by_way_of_the_driver_and_takes_over_from_the_cpu() {
    let Some(driver) = driver() else { return };
    let folder: TempDir = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
    done(folder, &format!("extract {games} --sample 2000"));
    done(folder, "label");
    let tune = "tune labelled.parquet --json --hidden 16 --batch 300 --epochs 2 --k 1";
    let tuned = |line: &str| -> (Value, String) {
        let output = patzer(&driver, folder, &format!("{tune} {line}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        (serde_json::from_slice(&output.stdout).unwrap(), stderr)
    };
    let (cpu, _) = tuned("--device cpu -o cpu.nnue");
    let (gpu, said) = tuned("--device gpu -o gpu.nnue");
    assert!(said.contains("training on Emulation (GPU 0)"), "{said}");
    assert_eq!((&cpu["device"], &gpu["device"]), (&Value::from("cpu"), &Value::from("Emulation (GPU 0)")));
    for key in ["train_loss_before", "train_loss", "validation_loss"] {
        let (expected, found) = (cpu[key].as_f64().unwrap(), gpu[key].as_f64().unwrap());
        assert!((expected - found).abs() < 1e-4 * expected, "{key}: {found} is not {expected}");
    }
    // What is chosen where any device will do, and the same bytes again.
    tuned("--device auto -o auto.nnue");
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(bytes("auto.nnue") == bytes("gpu.nnue"));

    let (_, said) = tuned("--device gpu --resume --run runs/cpu -o taken.nnue");
    assert!(said.contains("warning: the checkpoint is one of cpu; on Emulation (GPU 0)"), "{said}");
    let output = patzer(&driver, folder, &format!("{tune} --device gpu:1"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.as_str()),
        (Some(1), "error: --device gpu:1: there is no GPU 1: the last is 0\n")
    );
}
