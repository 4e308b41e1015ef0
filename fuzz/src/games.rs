//! Games: PGN, the comments of moves, lines of moves, and what an interrupted extraction left.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use patzer_chess::{Line, PackedBoard, PackedMove, key, legal, packed};
use patzer_data::{AnyReader, Metadata, extract, filter};
use patzer_io::Earlier;
use patzer_io::checked_line;
use patzer_pgn::dialect::{DIALECTS, Reading, Side};
use patzer_pgn::write::Notation;
use patzer_pgn::{GameSpan, GameSplitter, Parser, Part, Record, Rewrite, Scoring};
use serde_json::{Value, json};
use shakmaty::{Chess, Position};

use super::files::in_folder;

/// All games, with `step` bytes arriving at a time.
fn split(text: &[u8], step: usize) -> (Vec<u8>, Vec<GameSpan>) {
    let mut splitter = GameSplitter::new();
    for bytes in text.chunks(step) {
        splitter.text().extend_from_slice(bytes);
        splitter.scan(false);
    }
    splitter.scan(true);
    splitter.take()
}

/// A record holds a legal position, and the move played there is legal.
pub fn check(record: &Record) {
    let position = record.position().expect("a record holds a legal position");
    assert!((-1..=1).contains(&record.result));
    if record.played != PackedMove::NONE {
        let played = record.played.unpack(&position).expect("a record holds a move");
        assert!(position.is_legal(played));
    }
}

/// Splitting does not depend on how the bytes arrive, and every record is legal.
pub fn pgn(text: &[u8]) {
    let whole = split(text, usize::MAX);
    assert_eq!(split(text, 7), whole);
    let (text, spans) = whole;
    let mut parser = Parser::default();
    let mut records = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        let game = parser.parse(&text, span, number as u32, &mut records);
        assert_eq!(game.records.end, records.len());
        game.tags.iter().for_each(|(name, value)| {
            assert!(!name.is_empty());
            patzer_pgn::tags::plain(value);
        });
    }
    for record in &records {
        assert_ne!(record.played, PackedMove::NONE);
        check(record);
    }
    spans.iter().enumerate().for_each(|(number, span)| rewritten(&text, span, number));
}

/// A sound game is sound in every layout, with the same moves and result.
fn rewritten(text: &[u8], span: &GameSpan, number: usize) {
    let (mut before, mut parser) = (Vec::new(), Parser::default());
    let game = parser.parse(text, span, 0, &mut before);
    if game.error.is_some() || game.other_variant {
        return;
    }
    let notation = [None, Some(Notation::San), Some(Notation::Lan), Some(Notation::Uci)][number % 4];
    let parts = [Part::Comments, Part::Glyphs, Part::Variations];
    let without = parts.into_iter().enumerate().filter(|(at, _)| text.len() >> at & 1 == 1);
    let tags = text.len().is_multiple_of(3).then(Vec::new);
    let how = Rewrite { notation, without: without.map(|(_, part)| part).collect(), tags };
    let mut out = String::new();
    how.write(&mut out, text, span, game.result);
    let (out, spans) = split(out.as_bytes(), usize::MAX);
    assert_eq!(spans.len(), 1, "{}", String::from_utf8_lossy(&out));
    let mut after = Vec::new();
    let again = parser.parse(&out, &spans[0], 0, &mut after);
    assert_eq!(again.error, None, "{}", String::from_utf8_lossy(&out));
    assert_eq!((again.result, again.null_moves), (game.result, game.null_moves));
    let moves = |records: &[Record]| -> Vec<_> {
        records.iter().map(|r| (r.board, r.turn, r.ep, r.halfmove, r.fullmove, r.ply, r.played)).collect()
    };
    assert_eq!(moves(&after), moves(&before));
}

/// A comment changes the score and depth of its own move at most, never the moves.
pub fn comments(comment: &[u8]) {
    // An `[Event` in a comment begins a game, unless `}` comes before the next `{`.
    let comment: Vec<u8> =
        comment.iter().copied().filter(|byte| !matches!(byte, b'{' | b'}' | b'\n' | b'\r')).collect();
    let text = [b"1. e4 {", &comment[..], b"} e5 {", &comment[..], b"} 2. Nf3 *\n"].concat();
    let (text, spans) = split(&text, usize::MAX);
    assert_eq!(spans.len(), 1);
    for side in [None, Some(Side::White), Some(Side::Mover)] {
        let mut scoring = Scoring::default();
        for (id, reading) in scoring.conventions.0.iter_mut().enumerate() {
            *reading = Reading::of(id, side.unwrap_or(reading.side), DIALECTS[id].unit.value());
        }
        let mut records = Vec::new();
        let game = Parser::new(scoring.into()).parse(&text, &spans[0], 0, &mut records);
        assert!(game.error.is_none() && records.len() == 3);
        for record in &records {
            check(record);
            let score = record.score.map_or(0, i32::from);
            assert!(score.abs() <= patzer_chess::score::MATE);
        }
    }
}

/// Moves by number, one byte each: keys, repetitions, packed boards and the legality test agree with their definitions.
pub fn lines(choices: &[u8]) {
    let Some((&start, choices)) = choices.split_first() else { return };
    let start = if start == 0 { Chess::default() } else { patzer_chess::chess960(u32::from(start)) };
    let mut line = Line::new(start);
    let mut positions = vec![line.position().clone()];
    for &choice in choices.iter().take(300) {
        let position = line.position().clone();
        let moves = position.legal_moves();
        let Some(&m) = moves.get(usize::from(choice) % moves.len().max(1)) else { break };
        assert!(legal::is_legal(&position, m, legal::in_check(&position)));
        assert_eq!(PackedMove::pack(m).unpack(&position), Some(m));
        line.play(m);
        let after = line.position();
        assert_eq!(line.key(), key::of(after));
        let packed = PackedBoard::pack(after);
        let (halfmoves, fullmoves) = (after.halfmoves(), u32::from(after.fullmoves()));
        let unpacked = packed.unpack(after.turn(), packed::ep_code(after), halfmoves, fullmoves);
        assert_eq!(unpacked.as_ref(), Some(after));
        assert_eq!(line.repetitions(), positions.iter().filter(|earlier| *earlier == after).count());
        positions.push(after.clone());
    }
}

const GAME: &str = "[Event \"?\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n";

fn stamp(path: &Path) -> (&Path, u64, u64) {
    let about = fs::metadata(path).expect("a file");
    let changed = about.modified().expect("a time").duration_since(UNIX_EPOCH).expect("a time of now");
    (path, about.len(), changed.as_nanos() as u64)
}

/// The folder of an interrupted `extract`, as checkpoints without checksums, a zero, a line end and positions:
/// going on is an error or gives legal positions.
pub fn partial(bytes: &[u8]) {
    let split = bytes.windows(2).position(|window| window == b"\0\n").unwrap_or(bytes.len());
    let (checkpoints, positions) = (&bytes[..split], bytes.get(split + 2..).unwrap_or_default());
    in_folder(|folder| {
        let [games, no_games, output] =
            ["games.pgn", "none.pgn", "out.parquet"].map(|name| folder.join(name));
        fs::write(&games, GAME).expect("a file");
        fs::write(&no_games, "no games").expect("a file");
        let files = [games, no_games];
        let journaling = extract::Journaling { earlier: Earlier::Resume, arguments: Value::Null };
        let settings = extract::Settings { journal: Some(journaling), ..extract::Settings::default() };
        let identity = json!({
            "metadata": Metadata::new(Vec::new(), Vec::new(), settings.seed),
            "keep_partial": settings.keep_partial,
            "scores": settings.scores,
            "files": files.each_ref().map(|path| stamp(path)),
        });
        let header = json!({ "arguments": null, "identity": identity });
        let partial = folder.join("out.parquet.partial");
        fs::create_dir(&partial).expect("a folder");
        let mut journal = checked_line::write(&header).expect("a line");
        for line in checkpoints.split(|&byte| byte == b'\n') {
            let Ok(checkpoint) = serde_json::from_slice::<serde_json::Map<_, _>>(line) else { continue };
            journal.extend(checked_line::write(&checkpoint).expect("a line"));
        }
        fs::write(partial.join("journal"), journal).expect("a file");
        fs::write(partial.join("positions"), positions).expect("a file");
        let pipeline = filter::Pipeline::new(&[], &[]).expect("no filters");
        if extract::extract(&files, Some(&output), pipeline, &settings, &mut |_| {}).is_ok() {
            let (mut dataset, mut records) = (AnyReader::open(&output, None).expect("a dataset"), Vec::new());
            while dataset.next_batch(&mut records).expect("positions") {}
            records.iter().for_each(check);
        }
    });
}
