//! Each filter on a game that shows what it drops.

use super::*;
use crate::AnyReader;
use patzer_formats::any_writer::{AnyWriter, Target};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::metadata::Metadata;
use patzer_formats::registry::{FORMATS, Format};
use patzer_pgn::{GameSplitter, Parser};

fn pipeline(filters: &[&str], overrides: &[&str]) -> Pipeline {
    let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    Pipeline::for_games(&owned(filters), &owned(overrides)).unwrap()
}

fn parsed(game: &str) -> (GameTags, Vec<Record>) {
    let mut cutter = GameSplitter::new();
    cutter.text().extend_from_slice(game.as_bytes());
    cutter.scan(true);
    let (text, pieces) = cutter.take();
    let piece = &pieces[0];
    let mut tags = GameTags::of(&text[piece.start..piece.movetext], &text[piece.movetext..piece.end]);
    let mut records = Vec::new();
    let mut parser = Parser::default();
    parser.clocks = Some(Vec::new());
    let game = parser.parse(&text, piece, 0, &mut records);
    tags.clocks = parser.clocks.clone().unwrap();
    assert_eq!(game.error, None);
    (tags, records)
}

fn left(game: &str, filters: &[&str], overrides: &[&str]) -> Vec<u16> {
    let (tags, records) = parsed(game);
    let mut pipeline = pipeline(filters, overrides);
    if pipeline.halves().0.keep_game(&tags).is_err() {
        return Vec::new();
    }
    let in_game = pipeline.halves().0.in_game(&tags);
    let kept = records.iter().filter(|s| in_game.iter().all(|(_, keeps)| keeps(s)));
    kept.filter(|s| pipeline.keep(s).is_ok()).map(|s| s.ply).collect()
}

// Plies:               0  1    2  3    4  5     6  7     8  9    10 11   12
const QUIET_START: &str = "1. a3 a6 2. b3 b6 3. c3 c6 4. d4 d5 5. e4 dxe4 6. h3 h6 7. g3 1/2-1/2";

// The check is ply 6; at ply 7 the king is in check, at ply 8 no more.
const CHECK: &str = "1. e4 d6 2. d4 Nc6 3. Bb5 a6 4. Bxc6+ bxc6 5. h3 h6 1-0";

const MATE: &str = "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0";

// Scores for the side to move: 30, −20, none (book), mate, 1500, none. Depths: 10, 12, none, 20, 8, none.
const SCORED: &str =
    "1. e4 {+0.30/10 1s} e5 {-0.20/12 1s} 2. Nf3 {book} Nc6 {+M5/20 1s} 3. Bb5 {+15.00/8 1s} a6 1-0";

// Scores for the side to move: 30, −120, 120, 0, 50, 0.
const PLACEHOLDERS: &str = "1. e4 {+0.30/10 1s} e5 {-1.20/12 1s} 2. Nf3 {+1.20/9 1s} Nc6 {0.00/8 1s} 3. Bb5 {+0.50/8 1s} \
    a6 {0.00/9 1s} 1-0";

const EN_PASSANT: &str = "1. e4 a6 2. e5 d5 3. exd6 cxd6 1/2-1/2";

const SHUFFLE: &str = "1. Nf3 Nf6 2. Ng1 Ng8 1-0";

const CASTLING: &str = "1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. O-O O-O 1-0";

const PROMOTION: &str = "[FEN \"8/P3k3/8/8/8/8/4K3/8 w - - 0 60\"]\n\n1. Kd3 Kd7 2. a8=Q Ke6 1-0";

const LATE: &str = "[FEN \"4k3/7p/8/8/8/8/P7/4K3 b - - 3 40\"]\n\n40... h6 41. a3 1-0";

const CHESS960: &str = "[Variant \"Chess960\"]\n[FEN \"nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w GBgb - 0 1\"]\n\n\
    1. e4 e5 1-0";

const ENDING: &str = "[FEN \"4k3/p7/8/8/8/8/PP5R/RN2K3 w - - 0 1\"]\n\n1. a3 a6 2. b3 a5 1-0";

const RATED: &str = "[WhiteElo \"2400\"]\n[BlackElo \"2150\"]\n[TimeControl \"60+1\"]\n[Termination \"Time forfeit\"]\n\n\
    1. e4 e5 1-0";

const ODDS: &str = "[WhiteTimeControl \"60+1\"]\n[BlackTimeControl \"160+1\"]\n\n1. e4 e5 1-0";

const NAMED: &str = "[Event \"TCEC 28\"]\n[Site \"lichess.org\"]\n[Date \"2020.06.??\"]\n[Round \"2.1\"]\n[White \"Stockfish 17\"]\n\
    [Black \"Lc0\"]\n[ECO \"B90\"]\n\n1. e4 {[%clk 0:01:30]} e5 {[%clk 0:00:09.5]} 2. d4 1-0";

const ALL: &[u16] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

type Case = (&'static str, &'static [&'static str], &'static str, &'static [u16]);

const CASES: &[Case] = &[
    ("elo", &["elo.min=2100"], RATED, &[0, 1]),
    ("elo", &["elo.min=2200"], RATED, &[]),
    ("elo", &["elo.max=2300"], RATED, &[]),
    ("elo", &["elo.difference=249"], RATED, &[]),
    ("elo", &[], SHUFFLE, &[]),
    ("elo", &["elo.unknown=keep"], SHUFFLE, &[0, 1, 2, 3]),
    ("time_control", &["time_control.min=100", "time_control.max=100"], RATED, &[0, 1]),
    ("time_control", &["time_control.min=101"], RATED, &[]),
    ("time_control", &["time_control.min=100", "time_control.max=200"], ODDS, &[0, 1]),
    ("time_control", &["time_control.max=199"], ODDS, &[]),
    ("time_control", &["time_control.min=101"], ODDS, &[]),
    ("termination", &[], RATED, &[]),
    ("termination", &["termination.time_forfeit=false"], RATED, &[0, 1]),
    ("termination", &[], SHUFFLE, &[0, 1, 2, 3]),
    ("termination", &["termination.unknown=true"], SHUFFLE, &[]),
    ("players", &["players.name=stockfish*"], NAMED, &[0, 1, 2]),
    ("players", &["players.name=lc0", "players.opponent=*17"], NAMED, &[0, 1, 2]),
    ("players", &["players.name=Stockfish"], NAMED, &[]),
    ("players", &["players.name=lc0", "players.opponent=lc0"], NAMED, &[]),
    ("event", &["event.name=tcec*"], NAMED, &[0, 1, 2]),
    ("event", &["event.name=CCC*"], NAMED, &[]),
    ("site", &["site.name=*chess.org"], NAMED, &[0, 1, 2]),
    ("site", &["site.name=chess.org"], NAMED, &[]),
    ("round", &["round.name=2.*"], NAMED, &[0, 1, 2]),
    ("round", &["round.name=1.*"], NAMED, &[]),
    ("eco", &["eco.min=B20", "eco.max=B9"], NAMED, &[0, 1, 2]),
    ("eco", &["eco.min=b20", "eco.max=b90/03"], NAMED, &[0, 1, 2]),
    ("eco", &["eco.min=B91"], NAMED, &[]),
    ("eco", &["eco.max=B8"], NAMED, &[]),
    ("eco", &[], SHUFFLE, &[]),
    ("eco", &["eco.unknown=keep"], SHUFFLE, &[0, 1, 2, 3]),
    ("date", &["date.min=2020", "date.max=2020.06"], NAMED, &[0, 1, 2]),
    ("date", &["date.min=2020.06.15", "date.max=2020.06.20"], NAMED, &[0, 1, 2]),
    ("date", &["date.min=2020.07"], NAMED, &[]),
    ("date", &["date.max=2019"], NAMED, &[]),
    ("date", &[], SHUFFLE, &[]),
    ("to_move", &["to_move.name=Stock*"], NAMED, &[0, 2]),
    ("to_move", &["to_move.name=LC0"], NAMED, &[1]),
    ("clock", &["clock.min=10"], NAMED, &[0]),
    ("clock", &["clock.max=10"], NAMED, &[1]),
    ("clock", &["clock.unknown=keep"], NAMED, &[0, 1, 2]),
    ("variant", &[], CHESS960, &[]),
    ("variant", &["variant.chess960=true"], CHESS960, &[0, 1]),
    ("variant", &["variant.standard=false"], SHUFFLE, &[]),
    ("in_check", &[], CHECK, &[0, 1, 2, 3, 4, 5, 6, 8, 9]),
    // The check is ply 6, so the window is plies 2 to 6.
    ("before_check", &[], CHECK, &[0, 1, 7, 8, 9]),
    // The capture is ply 9, so the window of 5 is plies 5 to 9.
    ("before_capture", &[], QUIET_START, &[0, 1, 2, 3, 4, 10, 11, 12]),
    ("before_capture", &["before_capture.plies=1"], QUIET_START, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12]),
    ("before_mate", &["before_mate.plies=3"], MATE, &[0, 1, 2, 3]),
    ("before_mate", &[], CHECK, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ("before_end", &["before_end.plies=3"], CHECK, &[0, 1, 2, 3, 4, 5, 6]),
    ("capture", &[], MATE, &[0, 1, 2, 3, 4, 5]),
    ("capture", &[], EN_PASSANT, &[0, 1, 2, 3]),
    ("capture", &["capture.en_passant=false"], EN_PASSANT, &[0, 1, 2, 3, 4]),
    ("promotion", &[], PROMOTION, &[0, 1, 3]),
    ("gives_check", &[], CHECK, &[0, 1, 2, 3, 4, 5, 7, 8, 9]),
    ("castling", &[], CASTLING, &[0, 1, 2, 3, 4, 5]),
    ("tactical", &[], CHECK, &[0, 1, 2, 3, 4, 5, 8, 9]),
    ("tactical", &["tactical.captures=false", "tactical.checks=false"], CHECK, &[0, 1, 2, 3, 4, 5, 6, 8, 9]),
    ("book", &[], SCORED, &[0, 1, 3, 4, 5]),
    ("no_score", &[], SCORED, &[0, 1, 3, 4]),
    ("placeholder", &[], PLACEHOLDERS, &[0, 1, 2, 4, 5]),
    ("mate_score", &[], SCORED, &[0, 1, 2, 4, 5]),
    ("score_limit", &["score_limit.max=100"], SCORED, &[0, 1, 2, 5]),
    ("score_limit", &["score_limit.min=25"], SCORED, &[0, 2, 4, 5]),
    ("score_range", &["score_range.min=0"], SCORED, &[0, 2, 3, 4, 5]),
    ("score_range", &["score_range.min=0", "score_range.side=white"], SCORED, &[0, 1, 2, 4, 5]),
    ("score_conflict", &["score_conflict.max=100"], SCORED, &[0, 1, 2, 4, 5]),
    ("equal_decisive", &["equal_decisive.plies=5"], SCORED, &[0, 2, 3, 4, 5]),
    ("equal_decisive", &["equal_decisive.plies=4"], SCORED, &[0, 1, 2, 3, 4, 5]),
    ("depth", &["depth.min=11"], SCORED, &[1, 3]),
    ("depth", &["depth.max=11", "depth.unknown=keep"], SCORED, &[0, 2, 4, 5]),
    ("ply", &["ply.min=2", "ply.max=4"], SCORED, &[2, 3, 4]),
    ("ply", &["ply.max=0"], LATE, &[0]),
    ("ply", &["ply.max=79", "ply.from=move1"], LATE, &[0]),
    ("ply", &["ply.min=80", "ply.from=move1"], LATE, &[1]),
    ("move_number", &["move_number.min=2", "move_number.max=2"], SCORED, &[2, 3]),
    ("move_number", &["move_number.max=40"], LATE, &[0]),
    ("halfmove", &["halfmove.min=1", "halfmove.max=2"], SHUFFLE, &[1, 2]),
    ("short_game", &["short_game.plies=5"], SHUFFLE, &[]),
    ("short_game", &["short_game.plies=4"], SHUFFLE, &[0, 1, 2, 3]),
    // Before ply 9 there are 32 pieces, after it 31: White lacks a pawn.
    ("piece_count", &["piece_count.max=31"], QUIET_START, &[10, 11, 12]),
    ("non_pawn_pieces", &["non_pawn_pieces.min=5"], ENDING, &[0, 1, 2, 3]),
    ("non_pawn_pieces", &["non_pawn_pieces.min=6"], ENDING, &[]),
    ("side_pieces", &["side_pieces.white_max=15"], QUIET_START, &[10, 11, 12]),
    ("side_pieces", &["side_pieces.black_max=15"], QUIET_START, &[]),
    ("imbalance", &["imbalance.min=1"], QUIET_START, &[10, 11, 12]),
    ("imbalance", &["imbalance.max=13"], ENDING, &[]),
    ("imbalance", &["imbalance.max=14"], ENDING, &[0, 1, 2, 3]),
    ("material", &["material.signatures=KRPvKR,KPvKP"], ENDING, &[]),
    ("material", &["material.signatures=KRPvKR,KP+vKRRNP*"], ENDING, &[0, 1, 2, 3]),
    ("material", &["material.signatures=KPvK,*vKP", "material.keep=others"], ENDING, &[]),
    ("draws", &[], QUIET_START, &[]),
    ("result", &["result.drawn=false"], QUIET_START, &[]),
    ("result", &["result.black_wins=false"], SHUFFLE, &[0, 1, 2, 3]),
    ("winner", &[], SCORED, &[0, 2, 4]),
    ("winner", &["winner.keep=loser"], SCORED, &[1, 3, 5]),
    ("winner", &["winner.drawn=true"], QUIET_START, ALL),
    ("every_nth", &["every_nth.n=5", "every_nth.offset=1"], QUIET_START, &[1, 6, 11]),
    ("random_skip", &["random_skip.probability=0"], QUIET_START, ALL),
    ("random_skip", &["random_skip.probability=1"], QUIET_START, &[]),
    ("early_skip", &["early_skip.plies=0,1,2,3,4", "early_skip.keep=0,0,0,0,0"], SCORED, &[4, 5]),
    // With almost no spread a score below a means a draw: only the 1500 for the winner makes the result likely.
    ("wdl_skip", &["wdl_skip.widen=0.01"], SCORED, &[2, 4, 5]),
    (
        "piece_target",
        &["piece_target.curve=1,1,1,1,0", "piece_target.max_skip=0"],
        QUIET_START,
        &[10, 11, 12],
    ),
    ("tag", &["tag.tag=WhiteElo", "tag.name=25*"], RATED, &[]),
    ("tag", &["tag.tag=WhiteElo", "tag.name=24*"], RATED, &[0, 1]),
    ("listed", &["listed.file=../../fixtures/perft.epd"], SHUFFLE, &[1, 2, 3]),
    ("listed", &["listed.file=../../fixtures/perft.epd", "listed.keep=listed"], SHUFFLE, &[0]),
    ("duplicates", &[], "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 1-0", &[0, 1, 2, 3]),
];

#[test]
fn every_filter_has_a_game_that_shows_what_it_drops() {
    for (filter, overrides, game, expected) in CASES {
        assert_eq!(left(game, &[filter], overrides), *expected, "{filter} {overrides:?}");
    }
    for row in rows() {
        let drops = |case: &&Case| case.0 == row.name && case.3.len() < left(case.2, &[], &[]).len();
        assert!(CASES.iter().any(|case| drops(&case)), "no game shows what `{}` drops", row.name);
    }
}

/// The positions of a game as a format keeps them, and what the format lacks; `None` if it takes only some.
fn copied(records: &[Record], format: &'static Format) -> Option<(Vec<Record>, Capabilities)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let target = Target { format: Some(format), no_score: Some(0), ..Target::default() };
    let mut writer = AnyWriter::create(&path, &target, &Metadata::default()).unwrap();
    writer.write(records).unwrap();
    if writer.finish().unwrap().positions < records.len() as u64 {
        return None;
    }
    let reader = AnyReader::open(&path, Some(format)).unwrap();
    let lacks = reader.metadata().lacks;
    Some((reader.read_all().unwrap(), lacks))
}

/// A filter that judges a copy otherwise is named, unless the copy has other scores or rights, on which its writer has
/// a notice.
#[test]
fn filters_are_named_that_do_not_see_in_a_copy_what_they_judge_by() {
    let verdicts = |records: &[Record], pipeline: &mut Pipeline| {
        records.iter().map(|record| pipeline.keep(record).is_ok()).collect::<Vec<_>>()
    };
    for (filter, overrides, game, _) in CASES {
        if table::row(filter).unwrap().is_at_extract_only() {
            continue;
        }
        let (_, records) = parsed(game);
        let judged = verdicts(&records, &mut pipeline(&[filter], overrides));
        for format in FORMATS.iter().filter(|format| format.write.is_some()) {
            let Some((read, lacks)) = copied(&records, format) else { continue };
            let mut pipeline = pipeline(&[filter], overrides);
            let differs = judged != verdicts(&read, &mut pipeline);
            let scored = |records: &[Record]| records.iter().map(|r| (r.score, r.depth)).collect::<Vec<_>>();
            let named = pipeline
                .blind(&Metadata { lacks, ..Metadata::default() })
                .is_some_and(|text| text.contains(filter));
            let said = scored(&records) != scored(&read) || *filter == DUPLICATES;
            assert!(!differs || named || said, "{filter} {overrides:?} of {}", format.name);
        }
    }
}

#[test]
fn limits_that_are_no_date_or_code_are_refused() {
    let error = |name: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
        Pipeline::for_games(&[name.to_string()], &overrides).err().map(|error| error.to_string())
    };
    for limit in ["20200630", "June2020", "2020,06,30", "2020.13", "2020.06.32", "2020.June", "", "????"] {
        let error = error("date", &[&format!("date.min={limit}")]).unwrap_or_else(|| panic!("{limit}"));
        assert!(error.contains("write a day such as"), "{limit}: {error}");
    }
    for limit in ["F00", "B2x", "20", ""] {
        let error = error("eco", &[&format!("eco.max={limit}")]).unwrap_or_else(|| panic!("{limit}"));
        assert!(error.contains("write a code such as"), "{limit}: {error}");
    }
    for limits in [["date.min=2021", "date.max=2020.12"], ["eco.min=E00", "eco.max=a00"]] {
        let error = error(&limits[0][..limits[0].find('.').unwrap()], &limits).unwrap();
        assert!(error.contains("nothing is left"), "{error}");
    }
    for limits in [["date.min=2020-06-30", "date.max=2020"], ["date.min=2020.??.??", "date.max=2021/1/2"]] {
        assert_eq!(error("date", &limits), None);
    }
}

#[test]
fn the_first_of_equal_positions_stays() {
    let shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 1/2-1/2";
    assert_eq!(left(shuffle, &["capt"], &[]).len(), 9);
    assert_eq!(left(shuffle, &["unique"], &[]), [0, 1, 2, 3]);
    assert_eq!(left(shuffle, &["nodraw"], &[]), [0u16; 0]);
}

#[test]
fn presets_leave_what_their_source_says() {
    assert_eq!(left(CHECK, &["capt"], &[]), [0, 1, 8, 9]);
    assert_eq!(left(MATE, &["capt"], &[]), [0, 1]);
    assert_eq!(left(QUIET_START, &["drop30"], &[]), [0u16; 0]);
    assert_eq!(left(ENDING, &["drop4"], &[]), [0, 1, 2, 3]);
    assert_eq!(left(SCORED, &["texel"], &[]), [0, 1, 4, 5]);
    assert_eq!(left(CHECK, &["smart-fen-skipping"], &[]), [0, 1, 2, 3, 4, 5, 8, 9]);
    // Move 30 is ply 58; move 9 is ply 16.
    let scored = LATE.replace("h6", "h6 {+0.30/10 1s}").replace("a3", "a3 {-0.20/12 1s}");
    assert_eq!(left(&scored, &["bullet"], &[]), [0, 1]);
    assert_eq!(left(LATE, &["bullet"], &[]), [0u16; 0], "no score is 32002 to bullet");
    assert_eq!(left(SCORED, &["viriformat"], &[]), [0u16; 0]);
    assert_eq!(left(LATE, &["stockfish"], &[]), [0u16; 0], "without scores nothing stays");
}

#[test]
fn several_presets_leave_what_each_of_them_leaves() {
    assert_eq!(left(QUIET_START, &["quiet", "drop30"], &["piece_count.max=31"]), [10, 11, 12]);
    assert_eq!(left(QUIET_START, &["quiet", "draws"], &[]), [0u16; 0]);
}

#[test]
fn a_filter_of_games_is_refused_on_a_dataset() {
    let error = Pipeline::new(&["elo".into()], &[]).err().unwrap().to_string();
    assert!(error.contains("`elo`") && error.contains("patzer extract"), "{error}");
    let error = Pipeline::new(&["to_move".into()], &[]).err().unwrap().to_string();
    assert!(error.contains("`to_move`"), "{error}");
}

#[test]
fn every_preset_loads_and_describes_itself() {
    for (name, _) in PRESETS {
        let preset = Preset::load(name).unwrap();
        assert_eq!(preset.name, *name);
        assert!(preset.description.len() > 40, "{name}");
        let pipeline = Pipeline::new(&[name.to_string()], &[]).unwrap();
        assert!(pipeline.describe()[0].starts_with(&format!("{name}: ")));
    }
    let pipeline = Pipeline::new(&["capt".into()], &[]).unwrap();
    assert_eq!(pipeline.describe(), ["capt: in_check, before_mate plies=5, before_check plies=5"]);
    let pipeline = Pipeline::new(&["before_check".into()], &["before_check.plies=7".into()]).unwrap();
    assert_eq!(pipeline.describe(), ["before_check plies=7"]);
}
