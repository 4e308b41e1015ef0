//! Parses SAN, long algebraic and UCI moves, without a board.
//!
//! [`read`] knows every notation; [`quick`] only the commonest forms, eight bytes at a time, and agrees with `read`.

use super::resolve::{ParsedMove, Target};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    Move(ParsedMove),
    /// `--`, `Z0`, `0000`, `null`.
    Null,
}

const FILE_A: u64 = 0x0101_0101_0101_0101;
const RANK_1: u64 = 0xff;

/// Role + 1 by letter (pawn 0 to king 5); 0 for other bytes.
const ROLES: [u8; 256] = {
    let mut table = [0; 256];
    let names = b"PNBRQK";
    let mut role = 0;
    while role < 6 {
        table[names[role] as usize] = role as u8 + 1;
        role += 1;
    }
    table
};

const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Parses `e4`, `exd5`, `Nf3`, `Nxf3`, `Nbd7`, `N1d2` or `Nbxd7` at the start of eight bytes, with an optional `+` or
/// `#`, before a space or line end. Returns the length including the sign; `None` for any other text.
#[inline(always)]
pub(super) fn quick(bytes: [u8; 8]) -> Option<(usize, Target)> {
    let word = u64::from_le_bytes(bytes);
    // The high bit of each byte below b'0', which includes all bytes that end a move.
    let below = !((word | each(0x80)) - each(b'0')) & each(0x80);
    let length = (below.trailing_zeros() / 8) as usize;
    if !(2..=5).contains(&length) {
        return None;
    }
    let sign = matches!(bytes[length], b'+' | b'#');
    let total = length + usize::from(sign);
    if !matches!(bytes[total], b' ' | b'\n' | b'\r') {
        return None;
    }
    let (file, rank) = (bytes[length - 2].wrapping_sub(b'a'), bytes[length - 1].wrapping_sub(b'1'));
    if (file | rank) > 7 {
        return None;
    }
    let to = 8 * rank + file;
    let role = ROLES[usize::from(bytes[0])];
    if role <= 1 {
        return match length {
            2 => Some((total, Target { role: 0, from: u64::MAX, to, promotion: 0, captures: false })),
            4 if bytes[1] == b'x' => {
                let from = FILE_A << file_of(bytes[0])?;
                Some((total, Target { role: 0, from, to, promotion: 0, captures: true }))
            }
            _ => None,
        };
    }
    let captures = bytes[length - 3] == b'x';
    let from = match length - usize::from(captures) {
        3 => u64::MAX,
        4 => named(bytes[1])?,
        _ => return None,
    };
    Some((total, Target { role: role - 1, from, to, promotion: 0, captures }))
}

pub(super) fn read(token: &[u8]) -> Option<Notation> {
    let end = token.iter().rposition(|b| !matches!(b, b'+' | b'#')).map_or(0, |last| last + 1);
    if matches!(&token[..end.max(token.len().min(2))], b"--" | b"Z0" | b"0000" | b"null" | b"@@@@") {
        return Some(Notation::Null);
    }
    let text = &token[..end];
    if token.len() - end > 2 {
        return None;
    }
    // `exd6ep`, and the start of `exd6e.p.`.
    let text = match text {
        [before @ .., b'e', b'p'] | [before @ .., b'e'] if matches!(before, [.., b'3' | b'6']) => before,
        _ => text,
    };
    let parsed = match text {
        b"O-O" | b"0-0" | b"o-o" => ParsedMove::Castle(true),
        b"O-O-O" | b"0-0-0" | b"o-o-o" => ParsedMove::Castle(false),
        _ => piece(text)?,
    };
    Some(Notation::Move(parsed))
}

/// Parses a piece's move, such as `Nf3`, `exd8=Q`, `Ng1-f3`, `e2-e4` or `e7e8q`.
fn piece(text: &[u8]) -> Option<ParsedMove> {
    let (named_role, text) = match text {
        [first, rest @ ..] if ROLES[usize::from(*first)] != 0 => (Some(ROLES[usize::from(*first)] - 1), rest),
        _ => (None, text),
    };
    let (promotion, text) = promotion(text);
    let (before, [file, rank]) = text.split_last_chunk()?;
    let to = square(*file, *rank)?;
    let (before, mark) = match before {
        [before @ .., mark @ (b'x' | b'-' | b':')] => (before, Some(*mark)),
        _ => (before, None),
    };
    let from = match before {
        // `Nxf3`, and `xb4` where only one pawn can; `-e4` is no move.
        [] if mark == Some(b'-') => return None,
        [] => u64::MAX,
        [one] => named(*one)?,
        [file, rank] => {
            let from = square(*file, *rank)?;
            if named_role.is_none() && mark.is_none() {
                return Some(ParsedMove::Squares(from, to, promotion));
            }
            1 << from
        }
        _ => return None,
    };
    let captures = matches!(mark, Some(b'x' | b':'));
    Some(ParsedMove::Piece(Target { role: named_role.unwrap_or(0), from, to, promotion, captures }))
}

fn promotion(text: &[u8]) -> (u8, &[u8]) {
    if let [before @ .., last] = text
        && let role @ 1..=4 = ROLES[usize::from(last.to_ascii_uppercase())].wrapping_sub(1)
        // A `b` may be a file: a promotion needs a square or `=` before it.
        && matches!(before, [.., b'1' | b'8'] | [.., b'=' | b'/'])
    {
        return (role, before.strip_suffix(b"=").or(before.strip_suffix(b"/")).unwrap_or(before));
    }
    (0, text)
}

#[inline(always)]
fn named(byte: u8) -> Option<u64> {
    match byte {
        b'a'..=b'h' => Some(FILE_A << (byte - b'a')),
        b'1'..=b'8' => Some(RANK_1 << (8 * (byte - b'1'))),
        _ => None,
    }
}

#[inline(always)]
fn file_of(byte: u8) -> Option<u8> {
    matches!(byte, b'a'..=b'h').then(|| byte - b'a')
}

fn square(file: u8, rank: u8) -> Option<u8> {
    let file = file_of(file)?;
    matches!(rank, b'1'..=b'8').then(|| 8 * (rank - b'1') + file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    fn quickly(token: &[u8]) -> Option<(usize, Target)> {
        let mut bytes = [b' '; 8];
        bytes[..token.len()].copy_from_slice(token);
        quick(bytes)
    }

    #[test]
    fn quick_reads_common_moves_as_read_does() {
        let squares = (0..64u8).map(|s| [b'a' + s % 8, b'1' + s / 8]);
        let befores = ["", "a", "h", "1", "8"];
        for square in squares {
            for role in ["", "N", "B", "R", "Q", "K", "P"] {
                for before in befores {
                    for mark in ["", "x"] {
                        for sign in ["", "+", "#"] {
                            let token = [
                                role.as_bytes(),
                                before.as_bytes(),
                                mark.as_bytes(),
                                &square,
                                sign.as_bytes(),
                            ];
                            let token = token.concat();
                            let slowly = read(&token);
                            if let Some((length, target)) = quickly(&token) {
                                assert_eq!(length, token.len());
                                assert_eq!(slowly, Some(Notation::Move(ParsedMove::Piece(target))));
                            } else if !role.is_empty() && role != "P" {
                                panic!("{}", String::from_utf8_lossy(&token));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn quick_accepts_nothing_that_read_refuses() {
        let mut rng = Rng::new(5);
        let letters = b"abchNBKPQx123578+#=-O0 .{!?\n\r\xc2";
        let mut read_quickly = 0;
        for _ in 0..300_000 {
            let bytes: [u8; 8] = std::array::from_fn(|_| letters[rng.next_u64() as usize % letters.len()]);
            if let Some((length, target)) = quick(bytes) {
                read_quickly += 1;
                assert!(matches!(bytes[length], b' ' | b'\n' | b'\r'));
                assert_eq!(
                    read(&bytes[..length]),
                    Some(Notation::Move(ParsedMove::Piece(target))),
                    "{bytes:?}"
                );
            }
        }
        assert!(read_quickly > 100);
    }

    #[test]
    fn text_that_is_no_move_is_refused() {
        for token in [
            "", "e", "e9", "Xf3", "Nf", "e5Nf3", "O-O-O-O", "-e4", "N-f3", "e2--e4", "1-0", "+", "ab", "e8=K",
        ] {
            assert_eq!(read(token.as_bytes()), None, "{token}");
        }
        for token in ["--", "Z0", "0000", "null"] {
            assert_eq!(read(token.as_bytes()), Some(Notation::Null), "{token}");
        }
    }
}
