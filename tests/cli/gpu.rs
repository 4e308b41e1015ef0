//! `patzer tune --device gpu` on an emulated NVIDIA driver that runs the kernels on the CPU: operations, their order
//! and waits. No GPU takes part.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::done;

/// A folder with the emulated driver library.
fn driver() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(make_driver)
}

fn make_driver() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = root.join("crates/train/src/gpu/kernels");
    let mut entries = String::new();
    for file in fs::read_dir(&sources).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|end| end == "cu") {
            let text = fs::read_to_string(path).unwrap();
            for kernel in text.split("\nKERNEL ").skip(1) {
                let bounds = kernel.strip_prefix("__launch_bounds__").and_then(|rest| rest.split_once(')'));
                let (name, _) = bounds.map_or(kernel, |(_, rest)| rest.trim_start()).split_once('(').unwrap();
                entries += &format!("ENTRY({name}) ");
            }
        }
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver");
    fs::create_dir_all(&folder).unwrap();
    let made = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()))
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-strict-aliasing"])
        .args(["-U_FORTIFY_SOURCE", &format!("-DENTRIES={entries}"), "-I"])
        .arg(root.join("crates/train/src/gpu"))
        .arg("-I")
        .arg(&sources)
        .arg(root.join("tests/cli/gpu/driver.cpp"))
        .arg("-o")
        .arg(folder.join("libcuda.so"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
}

/// The emulated driver, and a folder with positions to train on.
struct Scene {
    driver: &'static Path,
    folder: TempDir,
}

const TUNE: &str = "tune labelled.parquet --json --hidden 16 --batch 300 --k 1";

impl Scene {
    fn new() -> Scene {
        let (driver, folder) = (driver(), tempfile::tempdir().unwrap());
        let games = format!("{}/fixtures/engine.pgn.zst", env!("CARGO_MANIFEST_DIR"));
        done(folder.path(), &format!("extract {games} --sample 2000"));
        done(folder.path(), "label");
        Scene { driver, folder }
    }

    /// Trains two epochs unless the line says otherwise.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_patzer"));
        let epochs = if line.contains("--epochs") { "" } else { "--epochs 2" };
        command.args(format!("{TUNE} {epochs} {line}").split_whitespace()).current_dir(&self.folder);
        command.env("LD_LIBRARY_PATH", self.driver);
        command
    }

    /// Trains with environment variables for the emulation; returns output and messages.
    fn run(&self, line: &str, variables: &[(&str, &str)]) -> (Output, String) {
        let output = self.command(line).envs(variables.iter().copied()).output().unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        (output, said)
    }

    fn tuned(&self, line: &str) -> (Value, String) {
        let (output, said) = self.run(line, &[]);
        assert!(output.status.success(), "{said}");
        (serde_json::from_slice(&output.stdout).unwrap(), said)
    }

    /// Trains until a new checkpoint appears, and kills by SIGKILL. False if the run ended before.
    fn killed(&self, line: &str, run: &str) -> bool {
        let checkpoint = self.folder.path().join(run).join("checkpoint.bin");
        let state = || fs::read(&checkpoint).unwrap_or_default();
        let before = state();
        let mut command = self.command(line);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while state() == before && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        crate::kill(&mut child)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).unwrap()
    }
}

#[test]
#[cfg(not(has_cxx))]
fn the_tests_of_kernels_are_skipped() {
    crate::skip::skip("the kernels of the GPU", "there is no C++ compiler");
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_gpu_trains_by_way_of_the_driver_and_takes_over_from_the_cpu() {
    let scene = Scene::new();
    let (cpu, _) = scene.tuned("--device cpu -o cpu.nnue");
    let (gpu, said) = scene.tuned("--device gpu -o gpu.nnue");
    assert!(said.contains("training on Emulation (GPU 0)"), "{said}");
    assert_eq!((&cpu["device"], &gpu["device"]), (&Value::from("cpu"), &Value::from("Emulation (GPU 0)")));
    for key in ["train_loss_before", "train_loss", "validation_loss"] {
        let (expected, found) = (cpu[key].as_f64().unwrap(), gpu[key].as_f64().unwrap());
        assert!((expected - found).abs() < 1e-4 * expected, "{key}: {found} is not {expected}");
    }
    // The default device is the GPU, with the same bytes again.
    scene.tuned("-o auto.nnue");
    assert!(scene.bytes("auto.nnue") == scene.bytes("gpu.nnue"));

    let (_, said) = scene.tuned("--device gpu --resume --run runs/cpu -o taken.nnue");
    assert!(said.contains("warning: the checkpoint is one of cpu; on Emulation (GPU 0)"), "{said}");
    let (output, said) = scene.run("--device gpu:1", &[]);
    assert_eq!(
        (output.status.code(), said.as_str()),
        (Some(1), "error: --device gpu:1: there is no GPU 1: the last is 0\n")
    );
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_run_that_is_killed_goes_on_on_the_other_device_and_back() {
    let scene = Scene::new();
    let (whole, _) = scene.tuned("--epochs 6 --device cpu -o whole.nnue");
    let on = |device: &str| format!("--epochs 6 --device {device} --resume --run runs/moved -o moved.nnue");
    assert!(scene.killed(&on("gpu"), "runs/moved"));
    // If the CPU ends before it is killed, it starts again from the GPU's checkpoint.
    let checkpoint = scene.folder.path().join("runs/moved/checkpoint.bin");
    let of_gpu = fs::read(&checkpoint).unwrap();
    while !scene.killed(&on("cpu"), "runs/moved") {
        fs::write(&checkpoint, &of_gpu).unwrap();
    }
    let (moved, said) = scene.tuned(&on("gpu"));
    assert!(said.contains("warning: the checkpoint is one of cpu; on Emulation (GPU 0)"), "{said}");
    assert_eq!((&moved["epochs"], &moved["device"]), (&Value::from(6), &Value::from("Emulation (GPU 0)")));
    for key in ["train_loss_before", "train_loss", "validation_loss"] {
        let (expected, found) = (whole[key].as_f64().unwrap(), moved[key].as_f64().unwrap());
        assert!((expected - found).abs() < 1e-4 * expected, "{key}: {found} is not {expected}");
    }

    // On the same device the bytes are those of an uninterrupted run.
    let on_gpu = |name: &str| format!("--epochs 4 --device gpu --resume --run runs/{name} -o {name}.nnue");
    scene.tuned(&on_gpu("unkilled"));
    while scene.killed(&on_gpu("killed"), "runs/killed") {}
    scene.tuned(&on_gpu("killed"));
    assert!(scene.bytes("killed.nnue") == scene.bytes("unkilled.nnue"));
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_step_is_one_graph_and_without_graphs_the_same_kernels_one_by_one() {
    let scene = Scene::new();
    let counted = |name: &str, told: &[(&str, &str)]| {
        let told = [&[("EMULATION_TELLS", "1")], told].concat();
        let (output, said) = scene.run(&format!("--device gpu -o {name}"), &told);
        assert!(output.status.success(), "{said}");
        let last = said.lines().last().unwrap().split(|c: char| !c.is_ascii_digit());
        let numbers: Vec<usize> = last.filter_map(|text| text.parse().ok()).collect();
        <[usize; 2]>::try_from(numbers).unwrap()
    };
    let [nodes, alone] = counted("graphs.nnue", &[]);
    let [none, all] = counted("single.nnue", &[("EMULATION_NO_GRAPHS", "1")]);
    // Outside of steps only validation launches kernels. Clears are nodes but no kernels.
    assert!(nodes > 10 * alone && none == 0 && all > alone && all < nodes + alone, "{nodes} {alone} {all}");
    assert!(scene.bytes("graphs.nnue") == scene.bytes("single.nnue"));
}

#[test]
#[cfg_attr(not(has_cxx), ignore = "needs a C++ compiler")]
fn a_gpu_that_computes_something_else_is_not_taken() {
    let scene = Scene::new();
    scene.tuned("--device cpu -o cpu.nnue");
    let told = [("EMULATION_WITHOUT", "adam")];
    let reason = "internal fault: Emulation (GPU 0) computes steps that are off by 1.0e0 of the CPU's: a fault of patzer \
                  or of the driver, please report it";
    let (instead, said) = scene.run("--device auto -o instead.nnue", &told);
    assert!(
        instead.status.success() && said.contains(&format!("warning: the CPU trains: {reason}")),
        "{said}"
    );
    assert!(scene.bytes("instead.nnue") == scene.bytes("cpu.nnue"));
    let (refused, said) = scene.run("--device gpu -o refused.nnue", &told);
    assert_eq!(refused.status.code(), Some(2));
    let told = format!("error: {reason}; --device cpu trains without it\n");
    assert!(said.ends_with(&told), "{said}");
    assert!(!scene.folder.path().join("refused.nnue").exists());
}
