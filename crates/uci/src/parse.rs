//! Parses engine output without allocating.
//!
//! Source: Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface" (2006).

use std::time::Duration;

use shakmaty::{CastlingMode, CastlingSide, File, Move, MoveList, Rank, Role, Square};

use super::player::SearchInfo;
use patzer_chess::score::{MATE, MATE_IN_MAX, Score};

pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// Printable text: invalid UTF-8 replaced, truncated to 200 bytes.
pub fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(200)];
    let text = patzer_io::printable(&String::from_utf8_lossy(cut)).into_owned();
    if cut.len() < bytes.len() { format!("{text}…") } else { text }
}

/// Text of an engine in a warning: whole, so that it can be looked into, and without an ellipsis, since OpenBench's
/// worker reads ASCII alone.
pub fn said(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

pub fn joined<'a>(words: impl Iterator<Item = &'a [u8]>) -> String {
    let words: Vec<String> = words.map(shown).collect();
    words.join(" ")
}

fn square(file: u8, rank: u8) -> Option<Square> {
    Some(Square::from_coords(File::from_char(file as char)?, Rank::from_char(rank as char)?))
}

/// Legal move for `e2e4` or `e7e8q`, or `e7e8Q` as a few engines write it; castling is king takes rook or, in standard chess, the king's two steps.
pub fn find_move(word: &[u8], legal: &MoveList, castling: CastlingMode) -> Option<Move> {
    let (&[a, b, c, d], rest) = word.split_first_chunk::<4>()?;
    let (from, to) = (square(a, b)?, square(c, d)?);
    let promotion = match rest {
        [] => None,
        [b'q' | b'Q'] => Some(Role::Queen),
        [b'r' | b'R'] => Some(Role::Rook),
        [b'b' | b'B'] => Some(Role::Bishop),
        [b'n' | b'N'] => Some(Role::Knight),
        _ => return None,
    };
    legal.iter().copied().find(|m| match *m {
        Move::Castle { king, rook } => {
            let goes = || {
                let file = match CastlingSide::from_king_side(king < rook) {
                    CastlingSide::KingSide => File::G,
                    CastlingSide::QueenSide => File::C,
                };
                Square::from_coords(file, king.rank())
            };
            king == from && promotion.is_none() && (rook == to || castling.is_standard() && goes() == to)
        }
        _ => m.from() == Some(from) && m.to() == to && m.promotion() == promotion,
    })
}

pub fn push_move(out: &mut Vec<u8>, m: Move, castling: CastlingMode) {
    let (from, to) = match m {
        Move::Castle { king, rook } if castling.is_standard() => {
            let file = if king < rook { File::G } else { File::C };
            (king, Square::from_coords(file, king.rank()))
        }
        Move::Castle { king, rook } => (king, rook),
        _ => (m.from().unwrap_or(m.to()), m.to()),
    };
    for square in [from, to] {
        out.extend([square.file().char() as u8, square.rank().char() as u8]);
    }
    out.extend(m.promotion().map(|role| role.char() as u8));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InfoKind {
    NoScore,
    Bound,
    Exact,
}

pub fn info(line: &[u8]) -> (InfoKind, SearchInfo) {
    let mut info = SearchInfo::default();
    let mut worth = InfoKind::Exact;
    let mut words = words(line);
    while let Some(word) = words.next() {
        match word {
            b"depth" => info.depth = number(words.next()).clamp(0, 1_000_000) as i32,
            b"seldepth" => info.seldepth = number(words.next()).clamp(0, 1_000_000) as i32,
            b"nodes" => info.nodes = number(words.next()).max(0) as u64,
            b"nps" => info.nps = number(words.next()).max(0) as u64,
            b"hashfull" => info.hashfull = number(words.next()).clamp(0, 1000) as u32,
            b"tbhits" => info.tbhits = number(words.next()).max(0) as u64,
            b"time" => info.time = Some(Duration::from_millis(number(words.next()).max(0) as u64)),
            b"score" => info.score = score(words.next(), words.next()),
            b"wdl" => info.wdl = wdl([words.next(), words.next(), words.next()]),
            b"lowerbound" | b"upperbound" => worth = InfoKind::Bound,
            b"multipv" if words.next() != Some(b"1") => return (InfoKind::NoScore, info),
            b"string" => break,
            _ => {}
        }
    }
    (if info.score.is_some() { worth } else { InfoKind::NoScore }, info)
}

fn score(kind: Option<&[u8]>, value: Option<&[u8]>) -> Option<Score> {
    let value = number_of(value?)?;
    let most = i64::from(MATE_IN_MAX) - 1;
    match kind? {
        b"cp" => Some(value.clamp(-most, most) as Score),
        // Whole moves, negative when being mated; the mated side says `mate 0`.
        b"mate" => {
            let plies = if value > 0 { 2 * value - 1 } else { -2 * value };
            let plies = plies.min(i64::from(MATE - MATE_IN_MAX)) as Score;
            Some(if value > 0 { MATE - plies } else { plies - MATE })
        }
        _ => None,
    }
}

/// Wins, draws and losses that sum to 1000.
fn wdl(words: [Option<&[u8]>; 3]) -> Option<[u16; 3]> {
    let mut shares = [0; 3];
    for (share, word) in shares.iter_mut().zip(words) {
        *share = number_of(word?)?.try_into().ok()?;
    }
    (shares.iter().map(|&share| u32::from(share)).sum::<u32>() == 1000).then_some(shares)
}

fn number(word: Option<&[u8]>) -> i64 {
    word.and_then(number_of).unwrap_or(0)
}

/// Integer with optional sign, saturated at ±2^56; `None` for anything else.
fn number_of(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |n, d| (n * 10 + i64::from(d - b'0')).min(1 << 56));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use shakmaty::{Chess, Position};

    #[test]
    fn every_legal_move_is_read_as_it_is_written() {
        for (text, chess960) in [
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false),
            ("1r2k1r1/8/8/8/8/8/8/1R2KR2 w FBgb - 0 1", true),
            ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", false),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", false),
        ] {
            let position = fen::position(text, chess960).unwrap();
            let (legal, castling) = (position.legal_moves(), position.castles().mode());
            for &m in &legal {
                let mut out = Vec::new();
                push_move(&mut out, m, castling);
                assert_eq!(String::from_utf8(out.clone()).unwrap(), m.to_uci(castling).to_string());
                assert_eq!(find_move(&out, &legal, castling), Some(m));
            }
        }
    }

    #[test]
    fn promotions_may_have_a_capital_letter() {
        let position = fen::position("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", false).unwrap();
        let legal = position.legal_moves();
        let find = |word: &[u8]| find_move(word, &legal, CastlingMode::Standard);
        assert!(find(b"g2g1N").is_some_and(|m| m.promotion() == Some(Role::Knight)));
        assert_eq!(
            [b"g2g1Q", b"g2h1R", b"g2f1B"].map(|m| find(m)),
            [b"g2g1q", b"g2h1r", b"g2f1b"].map(|m| find(m))
        );
        assert_eq!([b"g2g1K", b"g2g1P", b"g2g1="].map(|m| find(m)), [None; 3]);
    }

    #[test]
    fn castling_may_be_king_takes_rook_and_what_is_no_legal_move_is_none() {
        let position = fen::position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", false).unwrap();
        let legal = position.legal_moves();
        let find = |word: &[u8]| find_move(word, &legal, CastlingMode::Standard);
        assert_eq!(find(b"e1g1"), find(b"e1h1"));
        assert_eq!(find(b"e1c1"), find(b"e1a1"));
        assert!(find(b"e1c1").unwrap().is_castle());
        // In Chess960, e1g1 may be a king move to g1.
        assert_eq!(find_move(b"e1g1", &legal, CastlingMode::Chess960), None);

        let legal = Chess::default().legal_moves();
        for word in
            ["", "e2", "e2e5", "0000", "(none)", "NULL", "e2e4q", "e2e4x", "e2e4qq", "E2E4", "i2i4", "e7e5"]
        {
            assert_eq!(find_move(word.as_bytes(), &legal, CastlingMode::Standard), None, "{word}");
        }
    }

    #[test]
    fn info_lines_are_read() {
        let line = b" depth 12 seldepth 19 multipv 1 score cp -34 nodes 12345 nps 1000000 hashfull 3 time 12 pv e2e4";
        let (score, time) = (Some(-34), Some(Duration::from_millis(12)));
        let (hashfull, tbhits) = (3, 0);
        let read = SearchInfo {
            score,
            depth: 12,
            seldepth: 19,
            nodes: 12345,
            nps: 1_000_000,
            hashfull,
            tbhits,
            time,
            wdl: None,
            book: false,
        };
        assert_eq!(info(line), (InfoKind::Exact, read));
        for line in ["pv e2e4 e7e5 nodes 5 score cp 7", "score cp 7 pv e2e4 e7e5 nodes 5 string nodes 9"] {
            let read = info(line.as_bytes()).1;
            assert_eq!((read.score, read.nodes), (Some(7), 5), "{line}");
        }
        let wdl = |text: &str| info(format!("depth 9 score cp 5 wdl {text} nodes 5").as_bytes()).1.wdl;
        assert_eq!(wdl("30 950 20"), Some([30, 950, 20]));
        for wrong in ["30 950 21", "-1 1000 1", "a b c", "500 500", "70000 -69000 0"] {
            assert_eq!(wdl(wrong), None, "{wrong}");
        }
        let score = |text: &str| info(format!("depth 1 score {text} nodes 5").as_bytes()).1.score;
        assert_eq!(score("mate 1"), Some(31_999));
        assert_eq!(score("mate 3"), Some(31_995));
        assert_eq!(score("mate -1"), Some(-31_998));
        assert_eq!(score("mate 0"), Some(-32_000));
        assert_eq!(score("cp 99999999999999999999"), Some(30_999));
        assert_eq!(score("mate 99999999999999999999"), Some(31_000));
        assert_eq!(score("cp"), None);
        assert_eq!(score("wdl 1"), None);
    }

    #[test]
    fn lines_about_something_else_are_worth_nothing() {
        for (line, is) in [
            ("depth 3 currmove e2e4 currmovenumber 1", InfoKind::NoScore),
            ("string the score is 5", InfoKind::NoScore),
            ("string score cp 5", InfoKind::NoScore),
            ("depth 3 multipv 2 score cp 10 pv e2e4", InfoKind::NoScore),
            ("depth 3 score cp 10 lowerbound nodes 5", InfoKind::Bound),
            ("depth 3 score cp 10 upperbound nodes 5 pv e2e4", InfoKind::Bound),
            ("score cp 10", InfoKind::Exact),
            ("", InfoKind::NoScore),
        ] {
            assert_eq!(info(line.as_bytes()).0, is, "{line}");
        }
    }
}
