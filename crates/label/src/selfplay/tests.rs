use std::fs;
use std::path::Path;

use super::*;
use patzer_data::AnyReader;
use patzer_match::participant::Defaults;
use patzer_match::{Adjudication, Control, Listen, Spec, Timeouts};

const CONTROL: Control = Control { time: None, nodes: Some(60), depth: None };
const TIME: TimeSettings = TimeSettings { control: CONTROL, margin: Duration::ZERO };

fn participants() -> Vec<Participant> {
    let timeouts = Timeouts { start: Duration::ZERO, ready: Duration::ZERO, stall: None };
    let (lenient, listen) = (false, Listen::default());
    let (margin, overhead) = (Duration::ZERO, Duration::ZERO);
    let defaults = Defaults { control: CONTROL, margin, hash: 1, overhead, timeouts, lenient, listen };
    ["default-hce", "untuned-hce"]
        .map(|name| Participant::load(&Spec::command(name), &defaults).unwrap())
        .into()
}

fn run_in(folder: &Path, games: usize, threads: usize, earlier: Earlier, stop_at: u64) -> SelfplaySummary {
    let participants = participants();
    let names: Vec<String> = participants.iter().map(|participant| participant.name.clone()).collect();
    let adjudication = Adjudication { max_moves: Some(12), ..Adjudication::NONE };
    let config = SelfplayConfig {
        games,
        threads,
        participants: &participants,
        pool_share: 0.4,
        time_settings: TIME,
        rules: Rules { adjudication, recover: false, syzygy: None },
        starts: Starts { openings: None, plies: 6, balance: Some(40), chess960: false },
        temperature: Some(Temperature { plies: 4, centipawns: 30.0, lines: 3 }),
        seed: 11,
    };
    let paths = ["a.pgn.zst", "a.vf"].map(|name| folder.join(name));
    let none = Arguments::new();
    let mut outputs = Outputs::open(&paths, earlier, games, &none, &Options::new()).unwrap();
    let header = Header::new("selfplay", &names, &[TIME; 2]);
    let stop = AtomicBool::new(false);
    let mut progress = |counts: &GameTotals, _| {
        if counts.positions >= stop_at {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let ended = run(&config, &header, &mut outputs, &stop, &mut progress).unwrap();
    outputs.finish(ended.complete).unwrap();
    ended
}

fn files(folder: &Path) -> [Vec<u8>; 4] {
    ["a.pgn.zst", "a.vf", "a.pgn.zst.journal", "a.vf.journal"]
        .map(|name| fs::read(folder.join(name)).unwrap())
}

#[test]
fn threads_stops_and_torn_files_change_no_byte_and_all_games_are_accounted_for() {
    let [one, three, cut] = [0; 3].map(|_| tempfile::tempdir().unwrap());
    let alone = run_in(one.path(), 40, 1, Earlier::Protect, u64::MAX);
    let counts = &alone.counts;
    assert!(alone.complete && alone.discarded == 0);
    assert_eq!((counts.games, counts.white + counts.draws + counts.black), (40, 40));
    assert_eq!(counts.reasons.values().sum::<u64>(), 40);
    assert!(counts.rejected[&Rejection::Unbalanced] > 0, "{counts:?}");
    let threaded = run_in(three.path(), 40, 3, Earlier::Protect, u64::MAX);
    assert_eq!(threaded.counts, *counts);
    assert!(files(three.path()) == files(one.path()));

    // A run that ends in an incomplete batch, files that disagree, then the whole.
    assert_eq!(run_in(cut.path(), 20, 2, Earlier::Protect, u64::MAX).counts.games, 20);
    let torn = cut.path().join("a.vf");
    let length = fs::metadata(&torn).unwrap().len();
    fs::OpenOptions::new().write(true).open(&torn).unwrap().set_len(length - 1).unwrap();
    let open = |earlier| {
        let paths = ["a.pgn.zst", "a.vf"].map(|name| cut.path().join(name));
        Outputs::open(&paths, earlier, 40, &Arguments::new(), &Options::new())
    };
    let before = files(cut.path());
    let error = open(Earlier::Resume).err().unwrap().to_string();
    assert!(
        error.contains("games 17 to 20 (batch 2)") && error.contains("--repair keeps 1 batch"),
        "{error}"
    );
    assert!(files(cut.path()) == before);
    run_in(cut.path(), 40, 2, Earlier::Repair, 1);
    assert!(fs::read(cut.path().join("a.1.vf")).unwrap() == before[1]);
    let resumed = run_in(cut.path(), 40, 2, Earlier::Resume, u64::MAX);
    assert_eq!(resumed.counts, *counts);
    assert!(files(cut.path()) == files(one.path()));
}

#[test]
fn both_formats_hold_the_same_games_with_scores_and_the_pool_plays() {
    let folder = tempfile::tempdir().unwrap();
    let counts = run_in(folder.path(), 16, 2, Earlier::Protect, u64::MAX).counts;
    let text =
        String::from_utf8(patzer_io::read(&folder.path().join("a.pgn.zst"), patzer_io::Limit::BOOK).unwrap())
            .unwrap();
    let met = text.matches("\"untuned-hce\"").count();
    assert!((1..16).contains(&met), "{met} of 16 games against the pool");
    let mut records = Vec::new();
    let mut parser = patzer_pgn::Parser::default();
    for (number, game) in (0..).zip(text.split_inclusive("\n\n").collect::<Vec<_>>().chunks(2)) {
        let game = game.concat();
        let movetext = game.find("\n\n").unwrap() + 2;
        let span = patzer_pgn::GameSpan { start: 0, movetext, end: game.len(), line: 1 };
        let read = parser.parse(game.as_bytes(), &span, number, &mut records);
        assert_eq!(read.error, None);
    }
    let viri = AnyReader::open(&folder.path().join("a.vf"), None).unwrap().read_all().unwrap();
    assert_eq!((viri.len() as u64, records.len() as u64), (counts.positions, counts.positions));
    for (a, b) in viri.iter().zip(&records) {
        assert_eq!((a.board, a.turn, a.result, a.played), (b.board, b.turn, b.result, b.played));
        assert_eq!(a.score, b.score);
        assert!(a.score.is_some());
    }
}
