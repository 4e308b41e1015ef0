//! `patzer net check`: an engine's static evaluation beside a network's.

use std::path::Path;

use patzer_eval::nnue::{Architecture, KingBuckets};

use crate::net_emit::random;
use crate::{done, mock, program};

/// Exit code, standard output and standard error of a check of the mock engine that reads the network with a fault.
fn check(dir: &Path, reading: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let engine = mock::command(&format!("option.EvalFile=net.nnue 'option.Reading={reading}'"));
    let mut command = program();
    command.env(mock::VARIABLE, "eval").current_dir(dir);
    command.args(["net", "check", "net.nnue", &engine, "--count", "300"]).args(args);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// A folder with a network that has king buckets, mirroring and output buckets.
fn folder_with_network() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let shape = Architecture {
        mirror: true,
        king_buckets: KingBuckets::parse("five").unwrap(),
        output_buckets: 4,
        ..Architecture::plain(16)
    };
    std::fs::write(folder.path().join("net.nnue"), random(&shape, 3, 90).to_bytes()).unwrap();
    folder
}

#[test]
fn an_engine_with_the_network_agrees_in_every_known_form() {
    let folder = folder_with_network();
    for (reading, args) in
        [("right", &[][..]), ("pawns", &[]), ("right", &["--pattern", "evaluation (\\S+) cp"])]
    {
        let (code, text, errors) = check(folder.path(), reading, args);
        assert_eq!(code, Some(0), "{reading}: {text}{errors}");
        assert!(text.contains("300 of 300 positions are equal"), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn a_difference_is_named_with_what_explains_it() {
    let folder = folder_with_network();
    for (reading, expected) in [
        ("white", "perspective: the engine's values are White's"),
        ("swapped", "perspective: the other side's accumulator comes first (300 of 300"),
        ("unmirrored", "mirroring: no perspective is mirrored (300 of 300"),
        ("one king bucket", "bucket: the king bucket is always 0 (300 of 300"),
        ("reversed", "bucket: output buckets count in the reverse order (300 of 300"),
        (
            "tempo",
            "constant: values are +15 centipawns from the network's, such as a tempo bonus (300 of 300",
        ),
        ("other scale", "scale: values are 1.5"),
        ("clock", "clock: values fall with the halfmove clock: the network's times about (19"),
        ("material", "none: neither perspective"),
        ("noise", "none: neither perspective"),
    ] {
        let (code, text, errors) = check(folder.path(), reading, &[]);
        assert_eq!(code, Some(1), "{reading}: {text}{errors}");
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap_or_default();
        assert!(line("explanation").contains(expected), "{reading}: {text}");
        assert!(line("first difference").contains(": the network "), "{text}");
    }
    // The noise is below 1000 centipawns.
    assert_eq!(check(folder.path(), "noise", &["--tolerance", "1000"]).0, Some(0));
    // The engine's key says that its values are White's.
    let engine = mock::command("option.EvalFile=net.nnue option.Reading=white whitepov=on");
    let mut command = program();
    command.env(mock::VARIABLE, "eval").current_dir(folder.path());
    let output = command.args(["net", "check", "net.nnue", &engine, "--count", "50", "--json"]).output();
    let json: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!((&json["equal"], &json["explanation"]), (&50.into(), &serde_json::Value::Null));
}

#[test]
fn weights_rounded_to_other_units_are_explained_and_agree_in_the_units_of_their_layout() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let shape = Architecture { hidden: 64, ..Architecture::plain(1) };
    std::fs::write(dir.join("whole.nnue"), random(&shape, 3, 60).to_bytes()).unwrap();
    done(dir, "net convert whole.nnue -o net.bin");
    let engine = |network: &str| mock::command(&format!("option.EvalFile={network} option.Reading=right"));
    let explanation = |network: &str, engine: &str, more: &str| {
        let mut command = program();
        command.env(mock::VARIABLE, "eval").current_dir(dir);
        command.args(["net", "check", network, engine, "--count", "300"]).args(more.split_whitespace());
        let output = command.output().unwrap();
        assert!(more.contains("--recipe") || output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // Half the weights, rounded.
    done(dir, "net convert net.bin -o net.nnue --from patzer --output-scale 200");
    let text = explanation("net.nnue", &engine("whole.nnue"), "");
    assert!(text.contains("scale: values are 1.9") || text.contains("scale: values are 2.0"), "{text}");
    assert!(text.contains("up to rounding of the weights"), "{text}");
    // Feature weights in 1/181.
    done(dir, "net convert whole.nnue -o 181.bin --to akimbo-0.8");
    done(dir, "net convert 181.bin -o net.nnue --from akimbo-0.8");
    let text = explanation("net.nnue", &engine("whole.nnue"), "");
    assert!(
        text.contains("rounding: values are 1.00") || text.contains("rounding: values are 0.99"),
        "{text}"
    );
}

#[test]
fn raw_weights_are_read_by_recipe_layout_and_units() {
    let folder = folder_with_network();
    done(folder.path(), "net convert net.nnue -o net.bin --to bullet");
    let shape = "--set mirror=true --set king_buckets=five --set output_buckets=4 --hidden 16";
    let (recipe, engine) =
        (format!("--recipe default {shape}"), mock::command("option.EvalFile=net.nnue option.Reading=right"));
    let run = |more: &str| {
        let mut command = program();
        command.env(mock::VARIABLE, "eval").current_dir(folder.path());
        command.args(["net", "check", "net.bin", &engine, "--count", "100"]).args(more.split_whitespace());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    let (text, _) = run(&recipe);
    assert!(text.contains("100 of 100 positions are equal"), "{text}");
    // In units of the file: larger ones make an activation smaller.
    let (text, errors) = run(&format!("{recipe} --from bullet --qa 510"));
    assert!(!text.contains("100 of 100 positions are equal") && errors.is_empty(), "{text}{errors}");
    assert!(run(&format!("{recipe} --dtype f32")).1.contains("floats, as of"));
}

#[test]
fn what_cannot_be_compared_gets_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    std::fs::write(dir.join("net.nnue"), random(&Architecture::plain(4), 1, 90).to_bytes()).unwrap();
    for (reading, args, expected) in [
        ("words", &[][..], "no pattern matches its answer to `eval`, which ends with `I think that White"),
        ("nothing", &[], "it answers nothing to `eval`"),
        ("right", &["--pattern", "evaluation"], "--pattern: has no group"),
        ("right", &["--pattern", "White (.*)"], "no pattern matches"),
    ] {
        let (code, text, errors) = check(dir, reading, args);
        assert_eq!((code, text.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.contains(expected) && errors.lines().count() == 1, "{errors}");
    }
    let mut command = program();
    let output = command.args(["net", "check", "net.nnue", "default"]).current_dir(dir).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("default: is an evaluation, not a UCI engine"), "{errors}");
}
