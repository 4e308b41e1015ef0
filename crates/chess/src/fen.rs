//! Lenient FEN parsing: drops castling rights and en passant squares that the board does not support, which
//! GUIs and old collections write. A board without legal sense (no king, side not to move in check) is an error.

use shakmaty::fen::Fen;
use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Position, PositionError, Setup,
};

/// Error of a text that is no position: the reason, and the beginning of the text.
#[derive(Debug)]
pub struct FenError(pub(crate) String);

impl std::fmt::Display for FenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FenError {}

/// Parses a FEN. `chess960` forces Chess960 castling; otherwise it is used only if standard castling cannot
/// express the rights.
pub fn position(text: &str, chess960: bool) -> Result<Chess, FenError> {
    let setup =
        text.trim().parse::<Fen>().map_err(|error| FenError(format!("{error}: `{text:.120}`")))?.into_setup();
    let mode = if chess960 { CastlingMode::Chess960 } else { castling_mode(text, &setup) };
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .map_err(|error| FenError(format!("{error}: `{text:.120}`")))
}

/// The rules by which castling rights are read. `KQkq` of kings and rooks on other files are Chess960's if there is a rook
/// for each letter; otherwise a standard game kept letters that no longer hold.
pub fn castling_mode(text: &str, setup: &Setup) -> CastlingMode {
    let letters = text.split_whitespace().nth(2).unwrap_or_default();
    let has_rook = |letter: char| {
        let color = Color::from_white(letter.is_ascii_uppercase());
        let rooks = setup.board.rooks() & setup.board.by_color(color) & Bitboard::from_rank(color.backrank());
        let Some(king) = setup.board.king_of(color) else { return false };
        rooks.into_iter().any(|rook| (rook > king) == letter.eq_ignore_ascii_case(&'k'))
    };
    match letters.chars().filter(|letter| "KQkq".contains(*letter)).all(has_rook) {
        true => CastlingMode::detect(setup),
        false => CastlingMode::Standard,
    }
}

/// The FEN of a position, with an en passant square only where the capture is legal.
pub fn text(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// The FEN of a position with the files of the rooks as castling rights (Shredder-FEN).
pub fn shredder(position: &Chess) -> String {
    let text = text(position);
    let rights = position.castles().castling_rights();
    let files = Color::ALL.into_iter().flat_map(|color| {
        let rooks = (rights & color.backrank()).into_iter().rev();
        rooks.map(move |rook| color.fold_wb(rook.file().upper_char(), rook.file().char()))
    });
    let files: String = files.collect();
    let mut fields: Vec<&str> = text.split(' ').collect();
    if let Some(field) = fields.get_mut(2).filter(|_| !files.is_empty()) {
        *field = &files;
    }
    fields.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_that_the_board_does_not_support_are_dropped() {
        let p = position("4k3/8/8/8/8/8/8/4K2R w KQkq e6 0 1", false).unwrap();
        assert_eq!(p.castles().castling_rights(), shakmaty::Square::H1.into());
        assert_eq!(p.maybe_ep_square(), None);
    }

    #[test]
    fn letters_that_no_rook_stands_for_are_a_standard_games() {
        for (fen, rights) in [
            ("rnbqk2r/pppp1ppp/5n2/2b1p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b KQkq - 0 1", "kq"),
            ("r4rk1/ppp2ppp/8/8/8/8/PPP2PPP/R4RK1 w KQkq - 0 1", "-"),
            ("r1bq1rk1/ppp2ppp/8/8/8/8/PPP2PPP/R3K2R w KQkq - 0 20", "KQ"),
            ("4k2r/8/8/8/8/8/8/R3K3 w KQkq - 0 20", "Qk"),
            ("rkrnnbbq/pppppppp/8/8/8/8/PPPPPPPP/RKRNNBBQ w KQkq - 0 1", "KQkq"),
        ] {
            let read = text(&position(fen, false).unwrap());
            assert_eq!(read.split(' ').nth(2), Some(rights), "{fen}");
        }
    }

    #[test]
    fn a_board_without_sense_is_refused() {
        for text in ["", "junk", "8/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/K3R3 w - - 0 1"] {
            assert!(position(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn chess960_is_recognised_by_its_rights() {
        let p = position("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", false).unwrap();
        assert!(p.castles().mode().is_chess960());
        let p = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", false).unwrap();
        assert!(p.castles().mode().is_standard());
    }
}
