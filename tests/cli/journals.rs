//! Journals: damage leaves every byte, unfinished runs stay, and only trusted journals start programs.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{mock, patzer, program};

fn run(folder: &Path, line: &str) -> Output {
    patzer(folder, &line.split_whitespace().collect::<Vec<_>>())
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn refused(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{line}: {text}");
    assert!(text.lines().last().unwrap().starts_with("error: "), "{line}: {text}");
    text
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

const PLAYERS: &str = "untuned-hce default-hce --hash 1 --nodes 50 --max-moves 4 --games 6";

#[test]
fn damage_is_an_error_that_leaves_every_byte_and_overwrite_starts_over() {
    let flip = |path: &Path, at: usize| {
        let mut bytes = fs::read(path).unwrap();
        bytes[at] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    for (command, first, games, journal) in [
        ("sprt", format!("sprt {PLAYERS}"), "sprt.pgn", "sprt.journal"),
        ("match", format!("match {PLAYERS}"), "match.pgn", "match.journal"),
        (
            "selfplay",
            "selfplay default-hce --hash 1 --nodes 50 --max-moves 4 --games 40".to_string(),
            "selfplay.pgn.zst",
            "selfplay.pgn.zst.journal",
        ),
    ] {
        let selfplay = command == "selfplay";
        for (damage, says) in [
            ("games", if selfplay { "games 17 to 32 (batch 2)" } else { "games 3 and 4 (pair 2)" }),
            ("crlf", "games 1"),
            ("missing", "the file is gone"),
            ("journal", "line 3: is damaged"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            run(folder, &format!("{first} -q"));
            let [games, journal] = [games, journal].map(|name| folder.join(name));
            let text = fs::read_to_string(&journal).unwrap();
            let first_bytes = |line: usize| -> usize {
                let line: serde_json::Value = serde_json::from_str(text.lines().nth(line).unwrap()).unwrap();
                line["bytes"].as_u64().unwrap() as usize
            };
            match damage {
                "games" => flip(&games, first_bytes(1) + 30),
                "crlf" if selfplay => flip(&games, 9),
                "crlf" => {
                    let pgn = fs::read_to_string(&games).unwrap().replace('\n', "\r\n");
                    fs::write(&games, pgn).unwrap();
                }
                "missing" => fs::remove_file(&games).unwrap(),
                _ => flip(&journal, text.lines().take(2).map(|line| line.len() + 1).sum::<usize>() + 12),
            }
            let before = files(folder);
            for quiet in ["", " -q"] {
                let error = refused(folder, &format!("{command} --resume{quiet}"));
                assert!(
                    error.contains(says) && error.contains("--overwrite starts over"),
                    "{damage}: {error}"
                );
                assert!(files(folder) == before, "{command} {damage}");
            }
            let again = run(folder, &format!("{first} --overwrite -q --json"));
            let result: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
            let all = if selfplay { &result["games"] } else { &result["pentanomial"] };
            let count = all.as_u64().unwrap_or_else(|| {
                all.as_array().unwrap().iter().map(|pairs| 2 * pairs.as_u64().unwrap()).sum()
            });
            assert_eq!(count, if selfplay { 40 } else { 6 }, "{command} {damage}");
        }
    }
}

#[test]
fn an_unfinished_run_stops_a_new_one_that_was_not_asked_to_overwrite_it() {
    for (command, line, journal) in [
        ("sprt", format!("sprt {PLAYERS}"), "sprt.journal"),
        ("match", format!("match {PLAYERS}"), "match.journal"),
        (
            "selfplay",
            "selfplay default-hce --hash 1 --nodes 50 --games 20".into(),
            "selfplay.pgn.zst.journal",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        run(folder, &line);
        let text = fs::read_to_string(folder.join(journal)).unwrap();
        let cut = text.lines().count() - 1;
        let unfinished: String = text.split_inclusive('\n').take(cut).collect();
        fs::write(folder.join(journal), unfinished).unwrap();
        let before = files(folder);
        let error = refused(folder, &line);
        assert!(error.contains("--resume") && error.contains("--overwrite"), "{error}");
        assert!(files(folder) == before, "{command}");
        let status = run(folder, &format!("{line} --overwrite")).status.code();
        assert_eq!(status, Some(if command == "sprt" { 11 } else { 0 }));
        assert_eq!(files(folder).len(), 2, "nothing is moved aside");
        assert!(fs::read_to_string(folder.join(journal)).unwrap() == text, "{command}");
    }
}

/// A folder with a foreign journal whose player leaves a file behind when it is started, and some games.
#[cfg(unix)]
fn hostile() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &format!("match {PLAYERS} -o evil.pgn -q"));
    let journal = fs::read_to_string(folder.path().join("evil.journal")).unwrap();
    let (first, pairs) = journal.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(first).unwrap();
    header["settings"]["players"] = serde_json::json!([]);
    let engine = "cmd=/bin/sh args=\"-c 'touch started\u{1b}[31m'\"";
    header["settings"]["engine"] = serde_json::json!([engine, "cmd=default-hce"]);
    let members = header.as_object_mut().unwrap();
    members.retain(|name, _| name != "check" && name != "signature");
    // The magic is the beginning of the line.
    let version = members.remove("patzer_journal").unwrap();
    let rest = header.to_string();
    let header = format!("{{\"patzer_journal\":{version},{}", &rest[1..rest.len() - 1]);
    let pairs: String = pairs.split_inclusive('\n').filter(|line| line.contains("\"pair\"")).collect();
    let journal = [patzer_io::checked_line::seal(header.into_bytes()), pairs.into_bytes()].concat();
    fs::write(folder.path().join("evil.journal"), journal).unwrap();
    folder
}

#[cfg(unix)]
fn started(folder: &Path) -> bool {
    fs::read_dir(folder)
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("started"))
}

#[cfg(unix)]
#[test]
fn no_command_starts_the_programs_of_a_foreign_journal_unless_it_is_trusted() {
    let folder = hostile();
    let folder = folder.path();
    for line in [
        "report evil.journal -o page.html",
        "report evil.pgn -o page.html",
        "extract evil.pgn -o games.parquet",
        "extract evil.journal -o no.parquet",
        "rate evil.pgn",
        "data validate evil.journal",
        "data show evil.journal",
        "elo evil.journal",
        "puzzles evil.journal",
        "sprt -o evil.pgn",
        "sprt --resume -o evil.pgn",
        "match --resume -o evil.pgn",
        "match --resume -o evil.pgn --nodes 5",
    ] {
        run(folder, line);
        assert!(!started(folder), "{line}");
    }
    let error = refused(folder, "match --resume -o evil.pgn");
    assert!(error.contains("/bin/sh -c \"touch started\\") && error.contains("--trust"), "{error}");
    assert!(!error.contains('\u{1b}') && error.lines().count() == 1, "{error:?}");
    let output = run(folder, "match --resume --trust -o evil.pgn -q");
    let text = stderr(&output);
    assert!(text.find("/bin/sh -c").unwrap() < text.find("error: ").unwrap(), "{text}");
    // Its games are not of that program.
    assert!(text.contains("with other settings: player 1 ") && !started(folder), "{text}");
}

/// A copy of a journal, with its signature, in a folder where another program has the engine's name.
#[cfg(unix)]
#[test]
fn a_journal_does_not_start_another_program_in_the_place_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let program = |folder: &Path, text: &str| {
        fs::write(folder.join("eng"), format!("#!/bin/sh\n{text}")).unwrap();
        fs::set_permissions(folder.join("eng"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let play = format!("exec {} uci", env!("CARGO_BIN_EXE_patzer"));
    for (line, games) in [
        ("match ./eng default-hce --games 2", "match.pgn"),
        ("sprt ./eng default-hce --games 2", "sprt.pgn"),
        ("race ./eng default-hce --games 4", "race.pgn"),
        ("spsa ./eng params.txt --games 2", "spsa.pgn"),
        ("selfplay ./eng --games 2 -o selfplay.pgn", "selfplay.pgn"),
    ] {
        let [own, other] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        program(own.path(), &play);
        for folder in [&own, &other] {
            fs::write(folder.path().join("params.txt"), "Hash, int, 2, 1, 4, 1, 0.002\n").unwrap();
        }
        let output = run(own.path(), &format!("{line} --nodes 20 --max-moves 4 -q"));
        assert!([Some(0), Some(11)].contains(&output.status.code()), "{line}: {output:?}");
        for (name, bytes) in files(own.path()).into_iter().filter(|(name, _)| name.starts_with(&games[..4])) {
            fs::write(other.path().join(name), bytes).unwrap();
        }
        program(other.path(), &format!("touch started\n{play}"));
        let command = line.split(' ').next().unwrap();
        let error = refused(other.path(), &format!("{command} --resume -o {games}"));
        assert!(error.contains("with other settings: player 1 file was "), "{line}: {error}");
        assert!(!started(other.path()), "{line}");
    }
}

#[test]
fn a_run_without_a_journal_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["sprt", "match", "race", "spsa", "selfplay"] {
        let error = refused(folder.path(), &format!("{command} --resume"));
        assert!(error.contains("there is no journal of a run to resume"), "{command}: {error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_journal_is_resumed_by_the_user_who_wrote_it_and_by_others_with_trust() {
    let folder = tempfile::tempdir().unwrap();
    let states = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let play = |state: Option<&Path>, line: &str, engines: bool| {
        let mut command = program();
        command.current_dir(folder.path()).args(line.split_whitespace()).env(mock::VARIABLE, "");
        match state {
            Some(state) => command.env("XDG_STATE_HOME", state),
            None => command.env_remove("XDG_STATE_HOME").env_remove("HOME").env_remove("LOCALAPPDATA"),
        };
        for engine in ["name=one option.Seed=1", "name=two option.Seed=2"].iter().filter(|_| engines) {
            command.args(["--engine", &mock::command(engine)]);
        }
        command.output().unwrap()
    };
    let [own, other] = [0, 1].map(|at| Some(states[at].path()));
    for command in ["match", "selfplay"] {
        let line = format!("{command} --nodes 5 --max-moves 3 --games 2");
        assert_eq!(play(own, &line, true).status.code(), Some(0));
        let output = play(own, &format!("{command} --resume --games 4"), false);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        for state in [other, None] {
            let output = play(state, &format!("{command} --resume --games 6"), false);
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert!(stderr(&output).contains("--trust"), "{output:?}");
        }
        let output = play(other, &format!("{command} --resume --trust --games 6"), false);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stderr(&output).contains("option Seed=1"), "{output:?}");
    }

    let line = "match --nodes 5 --max-moves 3";
    let output = play(None, &format!("{line} --games 2 -o unsigned.pgn"), true);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("not signed"), "{output:?}");
    assert_eq!(play(own, "match --resume -o unsigned.pgn", false).status.code(), Some(1));
    // The bundled engine plays without trust.
    assert_eq!(play(own, &format!("match {PLAYERS} -o plain.pgn"), false).status.code(), Some(0));
    assert_eq!(play(None, "match --resume -o plain.pgn", false).status.code(), Some(0));
}

/// System calls of a program by strace, a line a call, with the path of each descriptor; `None` without strace.
#[cfg(target_os = "linux")]
fn trace(folder: &Path, line: &str) -> Option<Vec<String>> {
    let calls = "trace=write,fsync,fdatasync,rename,renameat,renameat2";
    let mut command = std::process::Command::new("strace");
    command.current_dir(folder).args(["-f", "-y", "-s", "64", "-o", "trace", "-e", calls]);
    command.arg(env!("CARGO_BIN_EXE_patzer")).args(line.split_whitespace());
    let output = command.output().ok()?;
    let text = fs::read_to_string(folder.join("trace")).ok()?;
    // A container may forbid tracing.
    text.contains("+++ exited").then(|| {
        assert!([Some(0), Some(11)].contains(&output.status.code()), "{output:?}");
        text.lines().map(String::from).collect()
    })
}

/// A power cut at any moment would leave all that was shown as done: the journal counts only games that were synced,
/// and a pair is reported only when its line in the journal was.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_counted_or_reported_before_it_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        "untuned-hce default-hce --hash 1 --nodes 50 --max-moves 4 --games 12 --concurrency 1 --json-lines";
    let Some(calls) = trace(folder.path(), &format!("match {args}")) else { return };
    let [mut games, mut journal] = [false; 2];
    let (mut counted, mut reported) = (0, 0);
    for call in &calls {
        let (writes, syncs) =
            (call.contains("write("), call.contains("fdatasync(") || call.contains("fsync("));
        match (call.contains("match.pgn>"), call.contains("match.journal>")) {
            (true, _) if writes => games = true,
            (true, _) if syncs => games = false,
            (_, true) if writes => {
                assert!(!games, "counted before the games were synced: {call}");
                journal = true;
                counted += 1;
            }
            (_, true) if syncs => journal = false,
            _ if writes && call.contains("\\\"event\\\":\\\"pair") => {
                assert!(!games && !journal, "reported before it was synced: {call}");
                reported += 1;
            }
            _ => {}
        }
    }
    assert!(counted >= 6 && reported == 6, "{counted} {reported}");
}

/// Files that appear whole are synced, renamed, and their folder synced.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_appears_has_been_synced_and_so_is_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let Some(calls) = trace(folder.path(), "net init -o new.nnue") else { return };
    let at = |what: &str, from: usize| {
        calls[from..]
            .iter()
            .position(|call| call.contains(what))
            .map(|at| from + at)
            .unwrap_or_else(|| panic!("{what}"))
    };
    let synced = at("fdatasync(", 0);
    let renamed = at("rename", synced);
    assert!(calls[renamed].contains("new.nnue"), "{}", calls[renamed]);
    at("fsync(", renamed);
}
