//! Properties of the game reader: it agrees with pgn-reader and shakmaty, and damage stays where it is.

use std::ops::ControlFlow;
use std::path::Path;

use patzer_chess::packed::ep_code;
use patzer_chess::rng::Rng;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_data::{FAR, Record, flags};
use patzer_pgn::{GameSplitter, Parser};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};

/// The records of a game as they are defined, from scratch and one by one.
fn plainly(start: &Chess, moves: &[Move], game: u32, result: i8) -> Vec<Record> {
    let mut positions = vec![start.clone()];
    for m in moves {
        positions.push(positions[positions.len() - 1].clone().play(*m).unwrap());
    }
    let mated = positions[moves.len()].is_checkmate();
    let distance = |ply: usize, event: &dyn Fn(usize) -> bool| -> u8 {
        let found = (ply..moves.len()).find(|at| event(*at));
        found.map_or(FAR, |at| u8::try_from(at - ply).unwrap_or(FAR))
    };
    let record = |ply: usize| {
        let (position, m) = (&positions[ply], moves[ply]);
        let bit = |set: bool, flag: u16| if set { flag } else { 0 };
        Record {
            board: PackedBoard::pack(position),
            turn: position.turn(),
            ep: ep_code(position),
            halfmove: position.halfmoves().min(255) as u8,
            fullmove: position.fullmoves().get() as u16,
            ply: ply as u16,
            game,
            result,
            score: None,
            depth: None,
            played: PackedMove::pack(m),
            flags: bit(m.is_capture(), flags::CAPTURE)
                | bit(m.is_promotion(), flags::PROMOTION)
                | bit(position.is_check(), flags::IN_CHECK)
                | bit(positions[ply + 1].is_check(), flags::GIVES_CHECK)
                | bit(mated, flags::MATE_END)
                | bit(start.castles().mode().is_chess960(), flags::CHESS960),
            to_capture: distance(ply, &|at| moves[at].is_capture()),
            to_check: distance(ply, &|at| positions[at + 1].is_check()),
            to_end: distance(ply, &|at| at + 1 == moves.len()),
            leaf: None,
            mean: None,
            best: PackedMove::NONE,
            wdl: None,
        }
    };
    (0..moves.len()).map(record).collect()
}

/// patzer's reading: each game's records, or the reason why it is broken.
fn read(text: &[u8]) -> Vec<Result<Vec<Record>, String>> {
    let mut cutter = GameSplitter::new();
    cutter.text().extend_from_slice(text);
    cutter.scan(true);
    let (text, pieces) = cutter.take();
    let mut parser = Parser::default();
    let games = pieces.iter().enumerate().map(|(number, piece)| {
        let mut records = Vec::new();
        let game = parser.parse(&text, piece, number as u32, &mut records);
        game.error.map_or(Ok(records), |fault| Err(fault.reason))
    });
    games.collect()
}

/// Start and moves of each game, by pgn-reader and shakmaty.
#[derive(Default)]
struct Plain {
    start: Chess,
    moves: Vec<Move>,
    position: Chess,
}

impl Visitor for Plain {
    type Tags = ();
    type Movetext = ();
    type Output = (Chess, Vec<Move>);

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, ()> {
        *self = Plain::default();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, _: &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            let fen = Fen::from_ascii(value.as_bytes()).unwrap();
            self.start = fen.into_position(CastlingMode::Standard).unwrap();
            self.position = self.start.clone();
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, _: ()) -> ControlFlow<Self::Output, ()> {
        ControlFlow::Continue(())
    }

    fn san(&mut self, _: &mut (), san: SanPlus) -> ControlFlow<Self::Output> {
        let m = san.san.to_move(&self.position).unwrap();
        self.position.play_unchecked(m);
        self.moves.push(m);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, _: ()) -> Self::Output {
        (self.start.clone(), std::mem::take(&mut self.moves))
    }
}

#[test]
fn every_fixture_is_read_as_pgn_reader_and_shakmaty_read_it() {
    for name in ["games.pgn.zst", "engine.pgn.zst"] {
        let text = patzer_io::read(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name),
            patzer_io::Limit::BOOK,
        )
        .unwrap();
        let mut reader = Reader::new(&text[..]);
        let ours = read(&text);
        let mut number = 0;
        while let Some((start, moves)) = reader.read_game(&mut Plain::default()).unwrap() {
            // Results, scores and books are not the business of this test.
            let plain = plainly(&start, &moves, number, 0);
            let ours: Vec<Record> = ours[number as usize]
                .as_ref()
                .unwrap()
                .iter()
                .map(|s| Record {
                    result: 0,
                    score: None,
                    depth: None,
                    flags: s.flags & !(flags::BOOK | flags::MATE_SCORE | flags::PLACEHOLDER),
                    ..*s
                })
                .collect();
            assert!(ours == plain, "{name}: game {}", number + 1);
            number += 1;
        }
        assert_eq!(number as usize, ours.len());
    }
}

/// A random game: its start, and its moves.
fn random_game(seed: u64, chess960: bool, plies: usize) -> (Chess, Vec<Move>) {
    let mut rng = Rng::new(seed);
    let fens: &[&str] = match chess960 {
        true => &[
            "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1",
            "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w BGbg - 0 1",
            "rk5r/8/8/8/8/8/8/RK5R w AHah - 0 1",
        ],
        false => &[
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ],
    };
    let fen: Fen = fens[rng.next_u64() as usize % fens.len()].parse().unwrap();
    let start: Chess = fen.into_position(CastlingMode::from_chess960(chess960)).unwrap();
    let (mut position, mut moves) = (start.clone(), Vec::new());
    while moves.len() < plies {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        // Rare moves often, so that castling, promotions and en passant come up.
        let rare: Vec<Move> = legal
            .iter()
            .copied()
            .filter(|m| m.is_castle() || m.is_promotion() || m.is_en_passant())
            .collect();
        let from = if !rare.is_empty() && rng.next_u64().is_multiple_of(3) { &rare[..] } else { &legal[..] };
        let m = from[rng.next_u64() as usize % from.len()];
        position.play_unchecked(m);
        moves.push(m);
    }
    (start, moves)
}

/// Writes a game with its moves in a random notation and random things between them.
fn write(start: &Chess, moves: &[Move], seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let chess960 = start.castles().mode().is_chess960();
    let fen = Fen::from_position(start, EnPassantMode::Legal);
    let variant = if chess960 { "[Variant \"Chess960\"]\n" } else { "" };
    let mut text = format!("[Event \"x\"]\n{variant}[SetUp \"1\"]\n[FEN \"{fen}\"]\n[Result \"*\"]\n\n");
    let mut position = start.clone();
    for (ply, m) in moves.iter().enumerate() {
        if rng.next_u64().is_multiple_of(2) {
            text += &format!("{}.{}", ply / 2 + 1, [" ", ".. ", "\n", ""][rng.next_u64() as usize % 4]);
        }
        let san = SanPlus::from_move(position.clone(), *m).to_string();
        text += &match rng.next_u64() % 4 {
            0 => m.to_uci(CastlingMode::from_chess960(chess960)).to_string(),
            1 if !m.is_castle() => {
                let letter = Some(m.role())
                    .filter(|r| *r != shakmaty::Role::Pawn)
                    .map_or(String::new(), |r| r.upper_char().to_string());
                let mark = if m.is_capture() { "x" } else { "-" };
                let promotion = m.promotion().map_or(String::new(), |r| format!("={}", r.upper_char()));
                format!("{letter}{}{mark}{}{promotion}", m.from().unwrap(), m.to())
            }
            _ => san,
        };
        text += ["", "!", "?!", " $14", " {a (b) c}", " (1. e4 {x)} (2. d4) e5)", " ; note {", " ±"]
            [rng.next_u64() as usize % 8];
        text += if rng.next_u64().is_multiple_of(6) {
            "\n%(\n"
        } else if text.ends_with("note {") {
            "\n"
        } else {
            " "
        };
        position.play_unchecked(*m);
    }
    text + "*\n\n"
}

proptest! {
    #[test]
    fn random_games_in_any_notation_are_read_as_they_are_played(seed in any::<u64>(), chess960 in any::<bool>(), plies in 1usize..120) {
        let (start, moves) = random_game(seed, chess960, plies);
        let text = write(&start, &moves, seed ^ 1);
        let games = read(text.as_bytes());
        prop_assert_eq!(games.len(), 1);
        let ours = games[0].as_ref().map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        let result = ours.first().map_or(0, |s| s.result);
        prop_assert_eq!(ours, &plainly(&start, &moves, 0, result), "{}", text);
    }

    #[test]
    fn no_move_is_played_that_is_not_legal(seed in any::<u64>(), tokens in prop::collection::vec("[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O|O-O-O|[a-h][1-8][a-h][1-8]|[a-h]x?[a-h]?[18]=?[QN]", 1..4)) {
        let (start, moves) = random_game(seed, seed.is_multiple_of(2), 40);
        let mut text = write(&start, &moves, seed);
        text.truncate(text.len() - 3);
        let mut position = start.clone();
        for m in &moves {
            position.play_unchecked(*m);
        }
        // The first token that is no legal move by shakmaty breaks the game.
        let ours = read(format!("{text}{} *\n", tokens.join(" ")).as_bytes()).remove(0);
        let mut played = 0;
        for token in &tokens {
            let san = SanPlus::from_ascii(token.as_bytes()).ok().and_then(|san| san.san.to_move(&position).ok());
            let Some(m) = san else { break };
            position.play_unchecked(m);
            played += 1;
        }
        if played == tokens.len() {
            prop_assert_eq!(ours.map(|records| records.len()), Ok(moves.len() + played));
        } else if let Ok(records) = ours {
            // Read by a form that SAN does not have: legal all the same.
            let mut position = start.clone();
            for record in records {
                prop_assert_eq!(record.board, PackedBoard::pack(&position));
                let m = record.played.unpack(&position).unwrap();
                prop_assert!(position.is_legal(m), "{} {:?}", text, tokens);
                position.play_unchecked(m);
            }
        }
    }
}

const GOOD: &str = "[Event \"good\"]\n[Site \"a\"]\n[Result \"1-0\"]\n\n1. e4 {+0.20/9 1s} e5 {-0.20/9\n1s} 2. Nf3 Nc6 (2... d6) 1-0\n\n";

/// Whatever happens to the game in the middle, those around it are read as if nothing had happened.
fn unharmed(middle: &[u8], what: &str) {
    let text = [GOOD.as_bytes(), middle, GOOD.as_bytes()].concat();
    let expected = read(GOOD.as_bytes()).remove(0).unwrap();
    let same = |game: &Result<Vec<Record>, String>| {
        game.as_ref().is_ok_and(|records| {
            records.iter().map(|s| Record { game: 0, ..*s }).eq(expected.iter().copied())
        })
    };
    let games = read(&text);
    let shown = String::from_utf8_lossy(middle);
    assert!(games.len() >= 2, "{what}: {shown}");
    assert!(same(&games[0]), "{what} harms the game before: {shown}\n{:?}", games[0]);
    assert!(
        same(&games[games.len() - 1]),
        "{what} harms the game after: {shown}\n{:?}",
        games[games.len() - 1]
    );
}

#[test]
fn damage_to_a_game_never_harms_its_neighbours() {
    let game = GOOD.as_bytes();
    for at in 0..game.len() {
        unharmed(&game[..at], "breaking off");
        unharmed(&[&game[..at], b"\n"].concat(), "breaking off with its line");
        unharmed(&[&game[..at], &game[at + 1..]].concat(), "a lost byte");
        for byte in *b"{}()[];%\"\\*\n\0\xff" {
            unharmed(&[&game[..at], &[byte], &game[at..]].concat(), "a byte too many");
        }
        unharmed(&[&game[..at], &[0xff; 40], &game[at..]].concat(), "rubbish");
    }
    let lines: Vec<&str> = GOOD.split_inclusive('\n').collect();
    for at in 0..lines.len() {
        unharmed([&lines[..at], &lines[at + 1..]].concat().concat().as_bytes(), "a lost line");
        unharmed(
            [&lines[..at], &["Sent from a telephone\n"], &lines[at..]].concat().concat().as_bytes(),
            "a foreign line",
        );
        unharmed([&lines[..at], &lines[at..=at], &lines[at..]].concat().concat().as_bytes(), "a line twice");
    }
}
