//! `patzer net`: making, showing and converting networks, and what it says of files that are none.

use std::path::Path;

use crate::patzer;

fn json(folder: &Path, args: &[&str]) -> serde_json::Value {
    let output = patzer(folder, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The one line that a failed command prints; nothing may be written.
fn fault(folder: &Path, args: &[&str]) -> String {
    let before = std::fs::read_dir(folder).unwrap().count();
    let output = patzer(folder, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), before, "{args:?} left a file");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn init_makes_base_nnue_and_info_tells_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let made = json(folder.path(), &["net", "init"]);
    let shown = json(folder.path(), &["net", "info", "base.nnue"]);
    assert_eq!(made, shown);
    assert_eq!(shown["architecture"], "(768->16)x2->1 screlu");
    // 768·16 feature weights, 16 biases, 2·16 output weights, 1 bias.
    assert_eq!(shown["parameters"], 12_337);
    assert_eq!((&shown["qa"], &shown["qb"], &shown["scale"]), (&255.into(), &64.into(), &400.into()));
    let text = String::from_utf8(patzer(folder.path(), &["net", "info", "base.nnue"]).stdout).unwrap();
    assert!(text.contains("material only"), "{text}");
}

#[test]
fn a_seed_makes_one_network() {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed) in [("a", "5"), ("b", "5"), ("c", "6")] {
        let args = ["net", "init", "--random", "--hidden", "24", "--seed", seed, "-o", name];
        assert!(patzer(folder.path(), &args).status.success());
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("a"), read("b"));
    assert_ne!(read("a"), read("c"));
}

#[test]
fn weights_survive_the_way_to_the_raw_layout_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    patzer(dir, &["net", "init", "--random", "--hidden", "20", "-o", "a.nnue"]);
    let raw = json(dir, &["net", "convert", "a.nnue", "-o", "a.bin"]);
    // 2·(768·20 + 3·20 + 1) bytes, padded to 64.
    assert_eq!((&raw["format"], &raw["bytes"]), (&"raw".into(), &30_848.into()));
    let back = json(dir, &["net", "convert", "a.bin", "-o", "b.nnue", "--hidden", "20"]);
    assert_eq!(back["description"], "converted from a.bin");
    json(dir, &["net", "convert", "b.nnue", "-o", "b.bin", "--to", "raw"]);
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap();
    assert_eq!(read("a.bin"), read("b.bin"));
    // The format goes by the flag before the name.
    json(dir, &["net", "convert", "a.nnue", "-o", "c.nnue", "--to", "raw"]);
    assert_eq!(read("c.nnue"), read("a.bin"));
}

#[test]
fn raw_weights_have_their_checksum_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    patzer(dir, &["net", "init", "--random", "--hidden", "1", "-o", "a.nnue"]);
    let info = |name: &str| json(dir, &["net", "info", name])["checksum"].clone();
    assert_eq!(json(dir, &["net", "convert", "a.nnue", "-o", "a.bin"])["checksum"], "companion");
    assert_eq!((info("a.nnue"), info("a.bin")), ("header".into(), "companion".into()));
    // The format of sha256sum, whose own tool agrees.
    let line = std::fs::read_to_string(dir.join("a.bin.sha256")).unwrap();
    assert!(line.len() == 64 + 2 + "a.bin\n".len() && line.ends_with("  a.bin\n"), "{line}");
    if let Ok(checked) =
        std::process::Command::new("sha256sum").args(["-c", "a.bin.sha256"]).current_dir(dir).output()
    {
        assert!(checked.status.success(), "{checked:?}");
    }
    let whole = std::fs::read(dir.join("a.bin")).unwrap();
    for bit in (0..8 * whole.len()).step_by(997) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(dir.join("a.bin"), &damaged).unwrap();
        for args in [&["net", "info", "a.bin"][..], &["net", "convert", "a.bin", "-o", "b.nnue"]] {
            assert!(
                fault(dir, args).contains("a.bin: is damaged, or is not the file that a.bin.sha256"),
                "bit {bit}"
            );
        }
    }
    std::fs::write(dir.join("a.bin.sha256"), "no digest\n").unwrap();
    assert!(fault(dir, &["net", "info", "a.bin"]).contains("a.bin.sha256: has no line of sha256sum"));
    // Raw weights of others have no companion, and any bits of the right number are a network.
    std::fs::remove_file(dir.join("a.bin.sha256")).unwrap();
    assert_eq!(info("a.bin"), "unchecked");
    let text = String::from_utf8(patzer(dir, &["net", "info", "a.bin"]).stdout).unwrap();
    assert!(text.contains("unchecked"), "{text}");
    // A file that replaces raw weights removes their companion.
    json(dir, &["net", "convert", "a.bin", "-o", "c.bin"]);
    json(dir, &["net", "convert", "a.bin", "-o", "c.bin", "--to", "nnue"]);
    assert!(!dir.join("c.bin.sha256").exists());
    assert_eq!(info("c.bin"), "header");
}

#[test]
fn what_is_no_network_gets_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    patzer(dir, &["net", "init"]);
    let whole = std::fs::read(dir.join("base.nnue")).unwrap();
    std::fs::write(dir.join("empty.nnue"), b"").unwrap();
    std::fs::write(dir.join("junk.nnue"), [7u8; 1000]).unwrap();
    std::fs::write(dir.join("games.pgn"), "[Event \"?\"]\n[Result \"*\"]\n\n1. e4 e5 *\n").unwrap();
    std::fs::write(dir.join("cut.nnue"), &whole[..whole.len() - 64]).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(dir.join("damaged.nnue"), damaged).unwrap();
    for (args, expected) in [
        (&["info", "none.nnue"][..], "none.nnue: no such file"),
        (&["info", "empty.nnue"], "empty.nnue: is empty"),
        (&["info", "junk.nnue"], "junk.nnue: is not a network: its 1000 bytes are not the size"),
        (&["info", "games.pgn"], "games.pgn: is text, not a network"),
        (&["info", "cut.nnue"], "cut.nnue: the file is truncated: 16 neurons take 24704 bytes, it has 24640"),
        (&["info", "damaged.nnue"], "damaged.nnue: its weights do not match their checksum"),
        (&["convert", "junk.nnue", "-o", "out.bin"], "junk.nnue: is not a network: its 1000 bytes"),
        (
            &["convert", "base.nnue", "-o", "out.bin", "--hidden", "32"],
            "has 16 neurons, not the 32 of --hidden",
        ),
        (&["init", "--hidden", "0", "-o", "x"], "--hidden 0: 1 to 4096"),
        (&["init", "--hidden", "8", "-o", "x"], "--hidden 8: counting material takes at least 12"),
        (&["init", "-o", "no/such/folder/x"], "no/such/folder/x: there is no such folder"),
    ] {
        let line = fault(dir, &[&["net"], args].concat());
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn features_are_counted_for_both_sides_of_every_move() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    // Moves without a capture, but the last, which has no position after it.
    let game = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 1-0\n";
    std::fs::write(dir.join("games.pgn"), game).unwrap();
    crate::done(dir, "extract games.pgn");
    let table = json(dir, &["net", "features"]);
    let block = |name: &str| {
        let blocks = table["blocks"].as_array().unwrap().iter();
        blocks.clone().find(|block| block["block"] == name).unwrap().clone()
    };
    let all = block("all");
    assert_eq!((&all["features"], &all["active"]), (&768.into(), &32.0.into()));
    assert_eq!((&all["added"], &all["removed"]), (&1.0.into(), &1.0.into()));
    assert_eq!(block("mc")["active"], 12.0);
    assert_eq!(block("ph")["features"], 1152);
    assert!(table["moves"].as_u64().unwrap() >= 7 && table["moves"] == table["positions"]);
    let few = json(dir, &["net", "features", "positions.parquet", "--count", "3"]);
    assert_eq!(few["positions"], 3);
}

#[test]
fn a_recipe_with_other_neurons_is_obeyed_and_a_guess_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    json(dir, &["net", "init", "--random", "--hidden", "128", "-o", "a.nnue"]);
    json(dir, &["net", "convert", "a.nnue", "-o", "a.bin"]);
    let args = ["net", "convert", "a.bin", "-o", "b.nnue", "--recipe", "mirrored", "--hidden", "128"];
    assert_eq!(json(dir, &args)["architecture"], "(768hm->128)x2->1 screlu");
    let said = |args: &[&str]| String::from_utf8(patzer(dir, args).stderr).unwrap();
    assert!(!said(&args).contains("taken as"));
    let guessed = said(&["net", "convert", "a.bin", "-o", "c.nnue"]);
    assert!(guessed.contains("a.bin: taken as (768->128)x2->1 screlu by its size"), "{guessed}");
}

#[test]
fn commands_name_an_evaluation_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    assert_eq!(json(dir, &["net", "info", "default"])["format"], "nnue");
    json(dir, &["net", "convert", "default", "-o", "default.nnue"]);
    assert!(fault(dir, &["net", "info", "default-hce"]).contains("is no network"));
    let nodes = |args: &[&str]| json(dir, &[&["bench", "--depth", "1"], args].concat())["nodes"].clone();
    let by_file = nodes(&["--eval", "default.nnue"]);
    for args in [&["--eval", "default"] as &[&str], &[]] {
        assert_eq!(nodes(args), by_file, "{args:?}");
    }
}
