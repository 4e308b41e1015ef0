use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::Reason;
use crate::record::{MatchRecord, PairEntry, journal_path};
use patzer_chess::rng::mix;

/// First line of a run with a seed.
fn start<'a>(settings: &'a Value, conditions: &'a Value, key: Option<&'a Key>) -> Start<'a> {
    Start { command: "match", settings, conditions, key }
}

pub(super) fn entry(pair: usize) -> PairEntry {
    let reasons = [Reason::Checkmate, Reason::Repetition];
    let (players, half_points, colours) = ([0, 1], [2, 1], crate::SWAPPED);
    PairEntry { pair, players, opening: pair - 1, half_points, reasons, mirrored: false, colours }
}

pub(super) fn open(path: &Path, earlier: Earlier) -> Result<Opened<PairEntry>> {
    MatchRecord::open(path, earlier, &start(&json!({}), &json!({ "seed": 1 }), None))
}

pub(super) fn refused(path: &Path, earlier: Earlier) -> String {
    let error = open(path, earlier).err().expect("it is refused");
    assert_eq!(error.exit_code(), 1);
    format!("{error} {error:?}")
}

pub(super) fn text(pair: usize) -> String {
    format!("games of pair {pair}\n").repeat(pair)
}

/// A record of `pairs` pairs in a new folder.
pub(super) fn written(pairs: usize, complete: bool) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pgn");
    let mut record = open(&path, Earlier::Protect).unwrap().record;
    for pair in 1..=pairs {
        record.append(&entry(pair), text(pair).as_bytes()).unwrap();
    }
    record.finish(complete).unwrap();
    (folder, path)
}

pub(super) fn files(path: &Path) -> [Option<Vec<u8>>; 2] {
    [fs::read(path).ok(), fs::read(journal_path(path)).ok()]
}

pub(super) fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_record_goes_on_where_it_ended_to_the_bytes_of_an_uninterrupted_one() {
    for complete in [false, true] {
        let (_folder, path) = written(3, complete);
        let mut opened = open(&path, Earlier::Resume).unwrap();
        assert_eq!(opened.entries, [entry(1), entry(2), entry(3)]);
        opened.record.append(&entry(4), text(4).as_bytes()).unwrap();
        opened.record.finish(true).unwrap();
        let (_whole_folder, whole) = written(4, true);
        assert_eq!(files(&path), files(&whole));
    }
}

#[test]
fn games_added_to_a_finished_record_are_never_cut_off_and_those_after_an_unfinished_one_are_noted() {
    for (complete, says) in [(true, "text after the last game"), (false, "t.pgn: cuts off 18 bytes after")] {
        let (_folder, path) = written(3, complete);
        assert_eq!(open(&path, Earlier::Resume).unwrap().notes, [""; 0]);
        let mine = [&fs::read(&path).unwrap()[..], b"a game of my own\n\n"].concat();
        fs::write(&path, &mine).unwrap();
        let said = match complete {
            true => refused(&path, Earlier::Resume),
            false => open(&path, Earlier::Resume).unwrap().notes.concat(),
        };
        assert!(said.contains(says), "{said}");
        assert_eq!(fs::read(&path).unwrap(), mine);
    }
}

/// Files after a kill or a power cut: games are synced before the journal counts them.
#[test]
fn files_cut_anywhere_after_what_was_synced_give_whole_pairs_that_agree() {
    let (_folder, path) = written(3, false);
    let [pgn, journal] = files(&path).map(Option::unwrap);
    let ends: Vec<usize> = (0..=3).map(|pairs| (1..=pairs).map(|pair| text(pair).len()).sum()).collect();
    for journal_length in 0..=journal.len() {
        let counted = journal[..journal_length].iter().filter(|&&byte| byte == b'\n').count();
        let durable = ends[counted.saturating_sub(1)];
        for pgn_length in (durable..=pgn.len()).step_by(7) {
            fs::write(&path, &pgn[..pgn_length]).unwrap();
            fs::write(journal_path(&path), &journal[..journal_length]).unwrap();
            if counted == 0 && pgn_length > 0 {
                // Games of which nothing is known are not cut away.
                assert!(refused(&path, Earlier::Resume).contains("line 1: is cut off"));
                continue;
            }
            let before = files(&path);
            let Opened { mut record, entries, .. } = open(&path, Earlier::Resume).unwrap();
            assert!(counted == 0 || files(&path) == before, "nothing is cut before there is more to write");
            record.finish(false).unwrap();
            assert_eq!(entries.len(), counted.saturating_sub(1));
            let text: String = (1..=entries.len()).map(text).collect();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            let journal = fs::read_to_string(journal_path(&path)).unwrap();
            assert_eq!(journal.lines().count(), entries.len() + 1);
        }
    }
}

#[test]
fn the_journal_never_counts_games_that_may_not_be_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pgn");
    let mut record = open(&path, Earlier::Protect).unwrap().record;
    let counted = || fs::read_to_string(journal_path(&path)).unwrap().lines().count() - 1;
    for pair in 1..=5 {
        record.append(&entry(pair), text(pair).as_bytes()).unwrap();
        // The first is synced at once; the others come within the same second.
        assert_eq!(counted(), 1);
    }
    record.sync().unwrap();
    assert_eq!(counted(), 5);
}

#[test]
fn games_shorter_than_the_journal_counts_are_damage_and_stay() {
    let (_folder, path) = written(3, false);
    let [pgn, _] = files(&path).map(Option::unwrap);
    for length in 0..pgn.len() {
        fs::write(&path, &pgn[..length]).unwrap();
        let before = files(&path);
        let error = refused(&path, Earlier::Resume);
        assert!(
            error.contains(&format!("ends at byte {length}")) && error.contains("OverwriteOrOtherFile"),
            "{error}"
        );
        assert_eq!(files(&path), before);
    }
}

#[test]
fn every_flipped_bit_is_an_error_that_leaves_every_byte_or_changes_nothing() {
    let (_folder, path) = written(3, true);
    let whole = files(&path).map(Option::unwrap);
    let paths = [path.clone(), journal_path(&path)];
    for file in [0, 1] {
        for byte in 0..whole[file].len() {
            let bit = mix(file as u64, byte as u64) % 8;
            let mut damaged = whole[file].clone();
            damaged[byte] ^= 1 << bit;
            fs::write(&paths[file], &damaged).unwrap();
            let before = files(&path);
            let error = refused(&path, Earlier::Resume);
            assert!(error.contains(paths[file].to_str().unwrap()), "byte {byte}: {error}");
            assert_eq!(files(&path), before);
            // A damaged end is no reason to take the run for finished.
            if file == 1 {
                refused(&path, Earlier::Protect);
                assert_eq!(files(&path), before);
            }
        }
        fs::write(&paths[file], &whole[file]).unwrap();
    }
    assert_eq!(open(&path, Earlier::Resume).unwrap().entries.len(), 3);
}

#[test]
fn a_difference_is_named_by_game_and_line_and_leaves_every_byte() {
    type Damage = fn(&Path);
    let crlf: Damage = |path| {
        let text = fs::read_to_string(path).unwrap().replace('\n', "\r\n");
        fs::write(path, text).unwrap();
    };
    let flip: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[text(1).len() + 3] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let insert: Damage = |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.insert(text(1).len() + 3, b'?');
        fs::write(path, bytes).unwrap();
    };
    let remove: Damage = |path| fs::remove_file(path).unwrap();
    let line: Damage = |path| {
        let journal = fs::read_to_string(journal_path(path)).unwrap();
        fs::write(journal_path(path), journal.replacen("\"pair\":2", "\"pair\":7", 1)).unwrap();
    };
    for (damage, says) in [
        (crlf, "line 1: games 1 and 2 (pair 1): the games differ"),
        (flip, "line 2: games 3 and 4 (pair 2): the games differ"),
        (insert, "line 2: games 3 and 4 (pair 2): the games differ"),
        (remove, "games 1 and 2 (pair 1): the file is gone"),
        (line, "t.journal: line 3: is damaged"),
    ] {
        let (_folder, path) = written(3, false);
        damage(&path);
        let before = files(&path);
        let error = refused(&path, Earlier::Resume);
        assert!(error.contains(says) && error.contains("OverwriteOrOtherFile"), "{error}");
        assert_eq!(files(&path), before);
    }
}

#[test]
fn unfinished_runs_stop_a_new_one_and_finished_ones_are_moved_aside() {
    let (folder, path) = written(2, false);
    let before = files(&path);
    let error = refused(&path, Earlier::Protect);
    assert!(
        ["unfinished match of 2 pairs", "ResumeOrOtherFile"].iter().all(|part| error.contains(part)),
        "{error}"
    );
    assert_eq!(files(&path), before);
    let opened = open(&path, Earlier::Overwrite).unwrap();
    assert!(opened.entries.is_empty() && names(&folder) == ["t.journal", "t.pgn"]);
    drop(opened);
    // A run without one pair is nothing to keep.
    open(&path, Earlier::Protect).unwrap();
    assert_eq!(names(&folder), ["t.journal", "t.pgn"]);

    let (folder, path) = written(2, true);
    let before = files(&path);
    for aside in ["t.1.pgn", "t.2.pgn"] {
        let mut opened = open(&path, Earlier::Protect).unwrap();
        assert!(opened.notes[0].contains(aside), "{:?}", opened.notes);
        opened.record.append(&entry(1), text(1).as_bytes()).unwrap();
        opened.record.finish(true).unwrap();
    }
    assert_eq!(files(&folder.path().join("t.1.pgn")), before);
    assert_eq!(open(&folder.path().join("t.1.pgn"), Earlier::Resume).unwrap().entries.len(), 2);
}

#[test]
fn a_journal_of_another_format_is_refused_in_one_line_and_stays() {
    let (_folder, path) = written(2, false);
    let journal = fs::read_to_string(journal_path(&path)).unwrap().replace("journal\":4", "journal\":3");
    let plain = |line: &str| format!("{}}}\n", line.rsplit_once(",\"check\"").unwrap().0);
    fs::write(journal_path(&path), journal.lines().map(plain).collect::<String>()).unwrap();
    let before = files(&path);
    for earlier in [Earlier::Protect, Earlier::Resume] {
        refused(&path, earlier);
    }
    assert!(refused(&path, Earlier::Resume).contains("another version of patzer"));
    assert!(read::<PairEntry>(&journal_path(&path)).is_err());
    assert_eq!(files(&path), before);
}

#[test]
fn only_the_key_of_the_writer_verifies_a_journal_and_every_change_of_its_header_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.pgn");
    let [own, other] = [[1; 32], [2; 32]].map(Key::of_bytes);
    // Readers may not find the last digit of such a number.
    let settings = json!({ "engine": ["cmd=/bin/sh"], "alpha": 0.1 + 0.2, "beta": 123_456_789.123_456_78 });
    let conditions = json!({ "seed": 1 });
    drop(MatchRecord::open(&path, Earlier::Protect, &start(&settings, &conditions, Some(&own))).unwrap());
    let header = stored::<PairEntry>(&path).unwrap().unwrap();
    assert_eq!(header.settings::<Value>().unwrap()["engine"], settings["engine"]);
    assert!(header.is_signed_by(&own) && !header.is_signed_by(&other));
    // A forger can make the checksum right, but not the signature.
    let forged = Header { settings: json!({}), ..header.0.clone() };
    fs::write(journal_path(&path), patzer_io::checked_line::write(&forged).unwrap()).unwrap();
    assert!(!stored::<PairEntry>(&path).unwrap().unwrap().is_signed_by(&own));
    let unsigned = Header { signature: None, ..header.0 };
    fs::write(journal_path(&path), patzer_io::checked_line::write(&unsigned).unwrap()).unwrap();
    assert!(!stored::<PairEntry>(&path).unwrap().unwrap().is_signed_by(&own));
    fs::write(journal_path(&path), "{\"patzer_journal\":1,\"options\":{}}\n").unwrap();
    assert!(stored::<PairEntry>(&path).err().unwrap().to_string().contains("another version"));
    fs::write(journal_path(&path), "{\"patzer_jou").unwrap();
    assert!(stored::<PairEntry>(&path).unwrap().is_none());
}

#[test]
fn other_conditions_are_not_mixed_in() {
    let (_folder, path) = written(1, false);
    let (settings, conditions) = (json!({}), json!({ "seed": 2 }));
    let start = start(&settings, &conditions, None);
    let error = MatchRecord::open(&path, Earlier::Resume, &start).err().unwrap().to_string();
    assert!(error.contains("seed was 1 and is now 2"), "{error}");
}

#[test]
fn foreign_files_are_never_overwritten_and_folders_are_refused() {
    let folder = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.pgn");
        (folder, path)
    };
    let (_folder, path) = folder();
    fs::write(&path, "[Event \"precious\"]\n").unwrap();
    for earlier in [Earlier::Protect, Earlier::Overwrite, Earlier::Resume] {
        refused(&path, earlier);
    }
    assert_eq!(files(&path), [Some(b"[Event \"precious\"]\n".to_vec()), None]);

    let (_folder, path) = folder();
    fs::write(journal_path(&path), "Dear diary").unwrap();
    for earlier in [Earlier::Protect, Earlier::Overwrite, Earlier::Resume] {
        assert!(refused(&path, earlier).contains("not a journal of patzer"));
    }
    assert_eq!(files(&path), [None, Some(b"Dear diary".to_vec())]);

    let (_folder, path) = folder();
    fs::create_dir(&path).unwrap();
    assert!(refused(&path, Earlier::Protect).contains("not a regular file"));
    assert!(!journal_path(&path).exists());
}

#[test]
fn two_runs_do_not_share_a_record_and_the_second_names_the_first() {
    let (_folder, path) = written(2, true);
    let first = open(&path, Earlier::Resume).unwrap();
    for earlier in [Earlier::Protect, Earlier::Overwrite, Earlier::Resume] {
        let error = refused(&path, earlier);
        assert!(error.contains("in use by"), "{error}");
        if cfg!(target_os = "linux") {
            assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
        }
    }
    drop(first);
    assert!(open(&path, Earlier::Resume).is_ok());
}

#[cfg(unix)]
#[test]
fn files_removed_or_replaced_during_the_run_are_an_error_and_the_games_are_saved() {
    type Damage = fn(&Path);
    let remove: Damage = |path| fs::remove_file(path).unwrap();
    let remove_journal: Damage = |path| fs::remove_file(journal_path(path)).unwrap();
    let replace: Damage = |path| {
        fs::rename(path, path.with_extension("old")).unwrap();
        fs::write(path, "another").unwrap();
    };
    let remove_folder: Damage = |path| fs::remove_dir_all(path.parent().unwrap()).unwrap();
    for damage in [remove, remove_journal, replace, remove_folder] {
        let (folder, path) = written(2, false);
        let mut opened = open(&path, Earlier::Resume).unwrap();
        damage(&path);
        let appended = opened.record.append(&entry(3), text(3).as_bytes());
        let error = appended.and_then(|()| opened.record.finish(true)).unwrap_err().to_string();
        assert!(error.contains("was removed, replaced or changed"), "{error}");
        assert!(!opened.record.is_in_place());
        let saved = error.split("are in ").nth(1).unwrap().split(',').next().unwrap();
        let saved = Path::new(saved);
        assert_eq!(fs::read_to_string(saved).unwrap(), (1..=3).map(text).collect::<String>());
        assert_eq!(open(saved, Earlier::Resume).unwrap().entries.len(), 3);
        if !saved.starts_with(folder.path()) {
            fs::remove_file(saved).unwrap();
            fs::remove_file(journal_path(saved)).unwrap();
        }
    }
}
