use std::fs;
use std::path::{Path, PathBuf};

use super::sampler::Temperature;
use super::start::{Rejection, Source, Starts};
use super::*;
use patzer_data::AnyReader;
use patzer_io::Earlier;
use patzer_match::journal::Start;
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Adjudication, Control, Listen, Rules, Spec, TimeSettings, Timeouts};

const CONTROL: Control = Control { time: None, nodes: Some(60), soft_nodes: None, depth: None };
const TIME: TimeSettings = TimeSettings { control: CONTROL, margin: Duration::ZERO };

fn participants() -> Vec<Participant> {
    let timeouts = Timeouts { start: Duration::ZERO, ready: Duration::ZERO, stall: None };
    let (lenient, listen) = (false, Listen::default());
    let (margin, overhead) = (Duration::ZERO, Duration::ZERO);
    let defaults =
        Defaults { control: CONTROL, margin, hash: 1, overhead, timeouts, lenient, listen, seed: None };
    ["default-hce", "untuned-hce"]
        .map(|name| Participant::load(&Spec::command(name), &defaults).unwrap())
        .into()
}

fn open(paths: &[PathBuf], earlier: Earlier, games: usize, replays: bool) -> Result<Outputs> {
    let none = serde_json::json!({});
    let start = Start { command: "selfplay", settings: &none, conditions: &none, key: None };
    Outputs::open(paths, earlier, games, &start, replays)
}

fn run_in(folder: &Path, games: usize, threads: usize, earlier: Earlier, stop_at: u64) -> SelfplaySummary {
    run_on(&["a.pgn.zst", "a.vf"], folder, games, threads, earlier, stop_at, true)
}

fn run_on(
    names: &[&str],
    folder: &Path,
    games: usize,
    concurrency: usize,
    earlier: Earlier,
    stop_at: u64,
    replays: bool,
) -> SelfplaySummary {
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    let participants = participants();
    let config = config(&participants, games, concurrency);
    assert!(config.replays());
    let mut outputs = open(&paths, earlier, games, replays).unwrap();
    let header = header(&participants);
    let stop = AtomicBool::new(false);
    let mut progress = |event: Event| match event {
        Event::Played(counts, _) if counts.positions >= stop_at => {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Event::Played(..) => {}
        Event::Trouble(text) => panic!("{text}"),
    };
    let ended = run(&config, &header, &mut outputs, &stop, &mut progress).unwrap();
    outputs.finish(ended.complete).unwrap();
    ended
}

fn config(participants: &[Participant], games: usize, concurrency: usize) -> SelfplayConfig<'_> {
    let adjudication = Adjudication { max_moves: Some(12), ..Adjudication::NONE };
    SelfplayConfig {
        games,
        concurrency,
        participants,
        engines: 1,
        pool_share: 0.4,
        rules: Rules { adjudication, recover: false, syzygy: None },
        starts: Starts { source: Source::StartPosition, plies: 6, window: Some(-40..=40) },
        temperature: Some(Temperature { plies: 4, centipawns: 30.0, lines: 3 }),
        seed: 11,
    }
}

fn header(participants: &[Participant]) -> Header {
    let names: Vec<String> = participants.iter().map(|participant| participant.name.clone()).collect();
    Header::new("selfplay", &names, &[TIME; 2])
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
    assert!(alone.complete && counts.lengths[0] > 0 && counts.lengths[1] == 24);
    assert_eq!((counts.games, counts.white + counts.draws + counts.black), (40, 40));
    assert_eq!(counts.reasons.values().sum::<u64>(), 40);
    assert!(counts.rejected[&Rejection::Unbalanced] > 0, "{counts:?}");
    let threaded = run_in(three.path(), 40, 3, Earlier::Protect, u64::MAX);
    assert_eq!(threaded.counts, *counts);
    assert!(files(three.path()) == files(one.path()));

    // A run that ends in an incomplete batch, files that disagree, then the whole.
    assert_eq!(run_in(cut.path(), 20, 2, Earlier::Protect, u64::MAX).counts.games, 20);
    let torn = cut.path().join("a.vf");
    let whole = fs::read(&torn).unwrap();
    fs::write(&torn, &whole[..whole.len() - 1]).unwrap();
    let before = files(cut.path());
    let paths = ["a.pgn.zst", "a.vf"].map(|name| cut.path().join(name));
    let error = open(&paths, Earlier::Resume, 40, true).err().unwrap();
    let error = format!("{error:?}");
    assert!(error.contains("games 17 to 20 (batch 2)") && error.contains("OverwriteOrOtherFile"), "{error}");
    assert!(files(cut.path()) == before);
    fs::write(&torn, whole).unwrap();
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

/// The games of a PGN by their number.
fn rounds(text: &str) -> BTreeMap<u32, &str> {
    let round = |game: &str| game.split("[Round \"").nth(1)?.split('"').next()?.parse().ok();
    let games = text.split("[Event ").skip(1);
    let rounds: Vec<_> = games.map(|game| (round(game).unwrap(), game.trim_end())).collect();
    let by_number: BTreeMap<u32, &str> = rounds.iter().copied().collect();
    assert_eq!(by_number.len(), rounds.len(), "no game twice");
    by_number
}

#[test]
fn games_finished_at_an_interruption_are_kept_and_never_played_again() {
    let [whole, cut] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    run_on(&["a.pgn"], whole.path(), 40, 2, Earlier::Protect, u64::MAX, false);
    let read = |folder: &Path| fs::read_to_string(folder.join("a.pgn")).unwrap();
    let (mut kept, mut runs) = (String::new(), 0);
    loop {
        let ended = run_on(&["a.pgn"], cut.path(), 40, 4, Earlier::Resume, 1, false);
        let text = read(cut.path());
        assert!(text.starts_with(&kept), "games are only added");
        assert_eq!(rounds(&text).len() as u64, ended.counts.games);
        (kept, runs) = (text, runs + 1);
        if ended.complete {
            break;
        }
    }
    assert!(runs > 1, "was interrupted");
    assert_eq!(rounds(&kept), rounds(&read(whole.path())));
}

#[test]
fn games_ahead_of_a_missing_one_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut outputs = open(&[folder.path().join("a.pgn")], Earlier::Protect, 40, false).unwrap();
    let batch = |games, ahead: &[usize]| {
        let counts = GameTotals { games, ..GameTotals::default() };
        batch::Batch { batch: 1, ahead: ahead.into(), counts }
    };
    outputs.done = vec![batch(5, &[3, 5, 9])];
    assert_eq!(outputs.played(), (2, [3, 5, 9].into()));
    outputs.done.push(batch(2, &[]));
    assert_eq!(outputs.played(), (6, [9].into()), "2 and 4 were missing");
    outputs.done.push(batch(4, &[12]));
    assert_eq!(outputs.played(), (10, [12].into()));
}

#[test]
fn binpack_holds_the_same_positions() {
    let folder = tempfile::tempdir().unwrap();
    run_on(&["a.binpack", "a.vf"], folder.path(), 20, 2, Earlier::Protect, u64::MAX, true);
    let read = |name: &str| AnyReader::open(&folder.path().join(name), None).unwrap().read_all().unwrap();
    let (binpack, viri) = (read("a.binpack"), read("a.vf"));
    assert!(binpack.len() > 100 && binpack.len() == viri.len());
    for (a, b) in binpack.iter().zip(&viri) {
        assert_eq!(
            (a.board, a.turn, a.result, a.score, a.played),
            (b.board, b.turn, b.result, b.score, b.played)
        );
    }
}

#[test]
fn an_error_in_one_file_writes_no_game_twice_into_another() {
    let participants = participants();
    let fails = |folder: &Path, name: &str, starts: Starts, break_it: &dyn Fn(&Path)| {
        let paths = ["a.pgn", name].map(|name| folder.join(name));
        let mut outputs = open(&paths, Earlier::Protect, 20, true).unwrap();
        break_it(&paths[1]);
        let config = SelfplayConfig { starts, ..config(&participants, 20, 1) };
        let never = AtomicBool::new(false);
        let ended = run(&config, &header(&participants), &mut outputs, &never, &mut |_| {});
        let error = ended.unwrap_err().to_string();
        let _ = outputs.finish(false);
        assert!(error.contains(if name == "a.binpack" { "Chess960" } else { name }), "{error}");
        rounds(&fs::read_to_string(&paths[0]).unwrap()).len()
    };
    let [removed, binpack] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let plain = Starts { source: Source::StartPosition, plies: 6, window: Some(-40..=40) };
    assert_eq!(fails(removed.path(), "a.vf", plain.clone(), &|path| fs::remove_file(path).unwrap()), 16);
    let chess960 = Starts { source: Source::Chess960, ..plain };
    assert_eq!(fails(binpack.path(), "a.binpack", chess960, &|_| {}), 0);
    run_on(&["a.pgn", "a.binpack"], binpack.path(), 20, 1, Earlier::Resume, u64::MAX, true);
}
