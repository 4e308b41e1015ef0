//! Properties of formats: what the registry says a format carries survives it, and other programs read the same.

use std::fmt::Write;
use std::path::Path;

use patzer_chess::rng::Rng;
use patzer_chess::score::is_mate;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_data::{AnyReader, AnyWriter, FAR, Metadata, Record, Target, flags};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::extra::ExtraRow;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::fen;
use patzer_formats::foreign::bullet;
use patzer_formats::registry::{self, Format};
use patzer_formats::visits::{self, Visits};
use patzer_pgn::{GameSplitter, Parser};
use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Position};

/// Starts of games: castling, en passant, promotions, checks, and boards of Chess960.
const STARTS: [&str; 8] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 7 41",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "rnbqkb1r/ppp1pppp/5n2/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
    "r3k2r/8/8/3pPp2/2Pp4/8/PP4PP/R3K2R b KQkq c3 0 20",
    "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
];
const STANDARD: usize = 6;

/// A game of random moves as PGN; a score stands behind each move with this chance in 16.
fn game_text(start: usize, plies: usize, seed: u64, scored: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut position = fen::parse(STARTS[start]).unwrap();
    let result = ["1-0", "0-1", "1/2-1/2"][rng.below(3)];
    let mut text = format!("[FEN \"{}\"]\n[Result \"{result}\"]\n", STARTS[start]);
    if start >= STANDARD {
        text += "[Variant \"Chess960\"]\n";
    }
    text += "\n";
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        // Castling and promotions are rare among random moves, and most easily got wrong.
        let special: Vec<_> =
            moves.iter().filter(|m| m.is_castle() || m.is_promotion() || m.is_en_passant()).collect();
        let m = if special.is_empty() || rng.below(2) == 0 {
            moves[rng.below(moves.len())]
        } else {
            *special[rng.below(special.len())]
        };
        write!(text, "{} ", SanPlus::from_move_and_play_unchecked(&mut position, m)).unwrap();
        if rng.below(16) < scored {
            let pawns = rng.below(4000) as f64 / 100.0 - 20.0;
            match rng.below(20) {
                0 => write!(text, "{{+M{}/9 0.1s}} ", 1 + 2 * rng.below(9)).unwrap(),
                _ => write!(text, "{{{pawns:+.2}/{} 0.1s}} ", 1 + rng.below(40)).unwrap(),
            }
        }
    }
    text + result + "\n\n"
}

/// The records that `extract` takes of games.
fn extracted(text: &str) -> Vec<Record> {
    let mut cutter = GameSplitter::new();
    *cutter.text() = text.as_bytes().to_vec();
    cutter.scan(true);
    let (text, pieces) = cutter.take();
    let mut parser = Parser::default();
    let mut records = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let game = parser.parse(&text, piece, number as u32, &mut records);
        assert!(game.error.is_none(), "{:?}", game.error);
    }
    records
}

/// Some games, with scores for every move or for most.
fn games(scored: usize) -> impl Strategy<Value = Vec<Record>> {
    let game = (0..STARTS.len(), 1usize..120, any::<u64>());
    prop::collection::vec(game, 1..5).prop_map(move |games| {
        let text = games
            .iter()
            .map(|&(start, plies, seed)| game_text(start, plies, seed, scored))
            .collect::<String>();
        extracted(&text)
    })
}

/// Through a file and back; also how many were left out.
fn through(format: &'static Format, records: &[Record], name: &str) -> (Vec<Record>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let target = Target { format: Some(format), ..Target::default() };
    let mut writer = AnyWriter::create(&path, &target, &Metadata::new(vec![], vec![], 0)).unwrap();
    let (one, two) = records.split_at(records.len() / 3);
    writer.write(one).unwrap();
    writer.write(two).unwrap();
    let written = writer.finish().unwrap();
    let dropped: u64 = written.dropped.values().sum();
    assert_eq!(written.positions + dropped, records.len() as u64, "{}", format.name);
    if written.positions == 0 {
        return (Vec::new(), dropped);
    }
    let known = registry::of_path(&path).is_some() || format.recognise.is_some();
    let read = AnyReader::open(&path, (!known).then_some(format)).unwrap().read_all().unwrap();
    assert_eq!(read.len() as u64, written.positions, "{}", format.name);
    (read, dropped)
}

/// Records after a format that carries these facts alone, with scores as its row says.
fn carried(format: &Format, records: &[Record], facts: Capabilities) -> Vec<Record> {
    let lacks = |fact| !facts.contains(fact);
    let mut games: Vec<u32> = Vec::new();
    let strip = |record: &Record| {
        let mut s = *record;
        if lacks(Capabilities::CASTLING) {
            s.board = without_castling(&s);
        }
        if lacks(Capabilities::EP) {
            s.ep = 255;
        }
        if lacks(Capabilities::TURN) && s.turn == Color::Black {
            s = turned(&s);
        }
        s.halfmove = if lacks(Capabilities::HALFMOVE) { 0 } else { s.halfmove };
        s.fullmove = if lacks(Capabilities::FULLMOVE) { 1 } else { s.fullmove };
        s.ply = if lacks(Capabilities::PLY) { s.game_ply() as u16 } else { s.ply };
        let mut gone = 0;
        s.score = s.score.zip(format.score).map(|(score, form)| form.read_back(score));
        s.flags &= !flags::MATE_SCORE;
        s.flags |= if s.score.is_some_and(|score| is_mate(score.into())) { flags::MATE_SCORE } else { 0 };
        // Placeholders are found by scores.
        if format.score.is_none_or(|form| form.rounded.is_some()) {
            gone |= flags::PLACEHOLDER;
        }
        s.depth = s.depth.filter(|_| !lacks(Capabilities::DEPTH));
        if lacks(Capabilities::MOVE) {
            s.played = PackedMove::NONE;
            gone |= flags::CAPTURE | flags::PROMOTION | flags::GIVES_CHECK;
        }
        if lacks(Capabilities::DISTANCES) {
            (s.to_capture, s.to_check, s.to_end) = (FAR, FAR, FAR);
            gone |= flags::MATE_END | flags::PLACEHOLDER;
        }
        if lacks(Capabilities::MARKS) {
            gone |= flags::BOOK | flags::CHESS960;
        }
        s.flags &= !gone;
        if lacks(Capabilities::GAME) {
            s.game = 0;
        } else {
            games.push(s.game);
            games.dedup();
            s.game = games.len() as u32;
        }
        s
    };
    records.iter().map(strip).collect()
}

fn without_castling(record: &Record) -> PackedBoard {
    let mut setup = record.position().unwrap().to_setup(EnPassantMode::Legal);
    setup.castling_rights = Bitboard::EMPTY;
    PackedBoard::pack(&Chess::from_setup(setup, CastlingMode::Standard).unwrap())
}

/// The position with the colours exchanged, as seen by the other side.
fn turned(record: &Record) -> Record {
    let position = record.position().unwrap();
    let mut setup = position.to_setup(EnPassantMode::Legal);
    setup.ep_square = None;
    setup.castling_rights = Bitboard::EMPTY;
    let setup = setup.into_mirrored();
    let position = Chess::from_setup(setup, CastlingMode::Standard).unwrap();
    Record { board: PackedBoard::pack(&position), turn: Color::White, result: -record.result, ..*record }
}

fn check(format: &'static Format, records: &[Record], facts: Capabilities, name: &str) {
    let kept: Vec<Record> = records
        .iter()
        .filter(|s| {
            let holds = Capabilities::of(s);
            let needed = [Capabilities::SCORE, Capabilities::MOVE]
                .iter()
                .all(|f| !format.needs.contains(*f) || holds.contains(*f));
            needed
                && !(format.refuses.contains(Capabilities::CHESS960)
                    && holds.contains(Capabilities::CHESS960))
        })
        .copied()
        .collect();
    let (read, dropped) = through(format, records, name);
    assert_eq!(read.len(), kept.len(), "{}", format.name);
    assert_eq!(dropped as usize, records.len() - kept.len(), "{}", format.name);
    for (a, b) in carried(format, &read, facts).iter().zip(carried(format, &kept, facts)) {
        assert_eq!(*a, b, "{}", format.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whole games in which every position has a score: all that the registry promises.
    #[test]
    fn games_survive_every_format(records in games(16)) {
        let complete: Vec<Record> = records.into_iter().filter(|s| s.score.is_some()).collect();
        for format in registry::written() {
            // Where castling rights are refused, games are cut short.
            let cut = if format.refuses == Capabilities::NONE { Capabilities::NONE } else { Capabilities::GAME.and(Capabilities::DISTANCES) };
            check(format, &complete, format.carries.without(cut), "games");
        }
    }

    /// Positions of which some have no score: games are cut, the rest survives.
    #[test]
    fn positions_survive_every_format(records in games(12), packed in prop::sample::select(vec!["x", "x.zst", "x.gz"])) {
        for format in registry::written() {
            let whole = format.needs.contains(Capabilities::SCORE) || format.refuses != Capabilities::NONE;
            let cut = if whole { Capabilities::GAME.and(Capabilities::DISTANCES) } else { Capabilities::NONE };
            // A dataset compresses its own pages.
            let name = if matches!(format.read, registry::Read::Dataset) { "x" } else { packed };
            check(format, &records, format.carries.without(cut), name);
        }
    }

    /// A damaged file is an error or other positions, never a panic.
    #[test]
    fn damage_never_panics(records in games(16), seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Rng::new(seed);
        for format in registry::written() {
            let path = folder.path().join(format.name);
            let target = Target { format: Some(format), ..Target::default() };
            let mut writer = AnyWriter::create(&path, &target, &Metadata::new(vec![], vec![], 0)).unwrap();
            writer.write(&records).unwrap();
            writer.finish().unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            for _ in 0..1 + rng.below(4) {
                if !bytes.is_empty() {
                    let at = rng.below(bytes.len());
                    bytes[at] = rng.next_u64() as u8;
                }
            }
            bytes.truncate(bytes.len() - rng.below(1 + bytes.len() / 8));
            std::fs::write(&path, &bytes).unwrap();
            match AnyReader::open(&path, Some(format)).and_then(AnyReader::read_all) {
                Err(error) => prop_assert_eq!(error.exit_code(), 1, "{}: {}", format.name, error),
                Ok(read) => prop_assert!(read.iter().all(|s| s.board.count() <= 32)),
            }
        }
    }

    /// Datasets keep visits as they are, montyformat in 255ths of the most; rewritten, both are the same bytes.
    #[test]
    fn visits_survive_as_their_format_keeps_them(records in games(16), seed in any::<u64>()) {
        let records: Vec<Record> = records.into_iter().filter(|record| record.score.is_some()).collect();
        prop_assume!(!records.is_empty());
        let rows = random_visits(&records, seed);
        let folder = tempfile::tempdir().unwrap();
        for (format, scale) in [("parquet", None), ("monty", Some(255))] {
            let path = folder.path().join(format!("x.{format}"));
            write_visits(&path, &records, rows.iter().map(|visits| ExtraRow::of_visits(visits)).collect());
            let (again, read) = read_visits(&path);
            prop_assert_eq!(again.len(), records.len(), "{}", format);
            for (visits, read) in rows.iter().zip(&read) {
                prop_assert_eq!(&scaled(visits, scale), &read.visits(0), "{}", format);
            }
            let copy = folder.path().join(format!("y.{format}"));
            write_visits(&copy, &again, read);
            prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap(), "{}", format);
        }
    }

    /// The trainer's own crate makes the same records from text.
    #[test]
    fn bullet_records_are_those_of_bulletformat(records in games(16)) {
        for record in records.iter().filter(|s| s.score.is_some()) {
            let score = record.score.unwrap();
            let white = if record.turn == Color::White { score } else { -score };
            let position = record.position().unwrap();
            let fen = Fen::from_position(&position, EnPassantMode::Legal);
            let result = ["0.0", "0.5", "1.0"][(record.result + 1) as usize];
            let theirs: bulletformat::ChessBoard = format!("{fen} | {white} | {result}").parse().unwrap();
            let bytes = <bulletformat::ChessBoard as bulletformat::BulletFormat>::as_bytes_slice(&[theirs]).to_vec();
            prop_assert_eq!(&bullet::encode(record)[..], &bytes[..], "{}", fen);
        }
    }

    /// The crate of Viridithas's format reads what we write, and writes what we do.
    #[test]
    fn viri_games_are_those_of_viriformat(records in games(16)) {
        let records: Vec<Record> = records.into_iter().filter(|s| s.score.is_some()).collect();
        let bytes = bytes_of("viri", &records);
        let (mut rest, mut at, mut again) = (&bytes[..], 0, Vec::new());
        while !rest.is_empty() {
            let game = viriformat::dataformat::Game::deserialise_from(&mut rest, Vec::new()).unwrap();
            game.serialise_into(&mut again).unwrap();
            game.visit_positions(|board, eval| {
                let record = &records[at];
                let white = i32::from(record.score.unwrap());
                let position = record.position().unwrap();
                assert_eq!(eval, if record.turn == Color::White { white } else { -white });
                let chess960 = position.castles().mode() == CastlingMode::Chess960;
                if !chess960 {
                    let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
                    let theirs: Fen = board.to_string().parse().unwrap();
                    let theirs: Chess = theirs.into_position(CastlingMode::Standard).unwrap();
                    assert_eq!(Fen::from_position(&theirs, EnPassantMode::Legal).to_string(), fen);
                }
                at += 1;
            });
        }
        prop_assert_eq!(at, records.len());
        prop_assert_eq!(again, bytes);
    }

    /// The crate of Stockfish's binpack reads what we write, and writes the same bytes.
    #[test]
    fn binpacks_are_those_of_sfbinpack(records in games(14)) {
        let records: Vec<Record> = records.into_iter().filter(|s| !Capabilities::of(s).contains(Capabilities::CHESS960)).collect();
        prop_assume!(!records.is_empty());
        let bytes = bytes_of("binpack", &records);
        let mut reader = sfbinpack::CompressedTrainingDataEntryReader::from_slice(&bytes).unwrap();
        let mut writer = sfbinpack::CompressedTrainingDataEntryWriter::new_in_memory().unwrap();
        for record in &records {
            let entry = reader.next();
            let fen = Fen::from_position(&record.position().unwrap(), EnPassantMode::Legal);
            let chess960 = record.has(flags::CHESS960);
            prop_assert!(chess960 || entry.pos.fen().unwrap() == fen.to_string(), "{} {}", entry.pos.fen().unwrap(), fen);
            prop_assert_eq!(entry.score, record.score.unwrap_or(32_002));
            prop_assert_eq!(entry.result, i16::from(if record.turn == Color::White { record.result } else { -record.result }));
            prop_assert_eq!(u32::from(entry.ply), record.game_ply());
            writer.write_entry(&entry).unwrap();
        }
        prop_assert!(!reader.has_next());
        prop_assert_eq!(writer.into_bytes().unwrap(), bytes);
    }
}

fn bytes_of(format: &str, records: &[Record]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let target = Target { format: Some(registry::named(format).unwrap()), ..Target::default() };
    let mut writer = AnyWriter::create(&path, &target, &Metadata::new(vec![], vec![], 0)).unwrap();
    writer.write(records).unwrap();
    writer.finish().unwrap();
    std::fs::read(Path::new(&path)).unwrap()
}

/// Visits of some moves of each position, of none in some.
fn random_visits(records: &[Record], seed: u64) -> Vec<Visits> {
    let mut rng = Rng::new(seed);
    let of = |record: &Record| {
        let legal = record.position().unwrap().legal_moves();
        let most = [0, legal.len()][usize::from(rng.below(4) > 0)];
        let visited = legal.iter().take(most).filter(|_| rng.below(3) > 0).map(|&m| PackedMove::pack(m));
        let visited: Vec<PackedMove> = visited.collect();
        let mut visits: Visits = visited.into_iter().map(|m| (m, 1 + rng.below(900) as u32)).collect();
        visits::sort(&mut visits);
        visits
    };
    records.iter().map(of).collect()
}

/// Visits as a format keeps them, in this number of parts of the most, or exactly.
fn scaled(visits: &Visits, parts: Option<u32>) -> Visits {
    let (Some(parts), Some((_, most))) = (parts, visits.first()) else { return visits.clone() };
    let share = |count: u32| (f64::from(parts) * f64::from(count) / f64::from(*most)).round() as u32;
    let mut scaled: Visits =
        visits.iter().map(|&(m, count)| (m, share(count))).filter(|(_, count)| *count > 0).collect();
    visits::sort(&mut scaled);
    scaled
}

fn write_visits(path: &Path, records: &[Record], rows: Vec<ExtraRow>) {
    let metadata = Metadata { extra: vec![visits::column()], ..Metadata::new(vec![], vec![], 0) };
    let mut writer = AnyWriter::create(path, &Target::default(), &metadata).unwrap();
    writer.write_with(records, Some(rows)).unwrap();
    assert_eq!(writer.finish().unwrap().positions, records.len() as u64);
}

/// Positions with their visits; where the first position has none, montyformat says nothing of them before it is read.
fn read_visits(path: &Path) -> (Vec<Record>, Vec<ExtraRow>) {
    let reader = AnyReader::open(path, None).unwrap();
    let metadata = Metadata { extra: vec![visits::column()], ..Metadata::default() };
    let mut rows = ExtraRows::of(path, &metadata, &[visits::column()], reader.notices()).unwrap().unwrap();
    let records = reader.read_all().unwrap();
    (records.clone(), rows.take(records.len()).unwrap())
}
