//! Endgame tables in the Syzygy format, for adjudication.
//!
//! In: a folder of tables, a position. Out: who wins it with best play, the fifty-move rule respected. Tables are
//! read when they are first needed, by whichever game needs them, and shared by all.

use std::fmt;
use std::path::Path;

use shakmaty::{Chess, Color, Position};
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};

use crate::error::{Error, Result};

/// Syzygy tables with the rules of their use.
pub struct Endgames {
    tables: Tablebase<Chess>,
    files: usize,
    pieces: usize,
    ignore_fifty: bool,
}

impl fmt::Debug for Endgames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endgames({self})")
    }
}

impl fmt::Display for Endgames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fifty = if self.ignore_fifty { ", without the fifty-move rule" } else { "" };
        write!(f, "{} files, up to {} pieces{fifty}", self.files, self.pieces)
    }
}

impl Endgames {
    /// The tables of a folder, used for positions of up to `pieces` pieces, kings counted (`None` = as many as the
    /// tables have). With `ignore_fifty` a win is a win even if it takes more than fifty moves.
    ///
    /// # Errors
    /// If the folder cannot be read, holds no table, or one whose size shows that it is damaged.
    pub fn load(folder: &Path, pieces: Option<u32>, ignore_fifty: bool) -> Result<Endgames> {
        let mut tables = Tablebase::new();
        let files = tables.add_directory(folder).map_err(|e| Error::io(folder, e))?;
        if files == 0 {
            return Err(Error::data(folder, "holds no Syzygy tables (.rtbw, .rtbz)"));
        }
        let most = tables.max_pieces();
        let pieces = pieces.map_or(most, |pieces| most.min(pieces as usize));
        Ok(Endgames { tables, files, pieces, ignore_fifty })
    }

    /// Who wins, or `Some(None)` for a draw. `None` where the tables do not say: too many pieces, castling rights,
    /// a table that is not there, or a win on the edge of the fifty-move rule; such a game is played on.
    pub fn winner(&self, position: &Chess) -> Option<Option<Color>> {
        if position.board().occupied().count() > self.pieces {
            return None;
        }
        // Right after a capture or a pawn move the smaller tables are enough.
        let value = if self.ignore_fifty || position.halfmoves() == 0 {
            self.tables.probe_wdl_after_zeroing(position).map(AmbiguousWdl::from)
        } else {
            self.tables.probe_wdl(position)
        };
        result(value.ok()?, self.ignore_fifty, position.turn())
    }
}

/// What a value of the side to move says about the winner.
fn result(value: AmbiguousWdl, ignore_fifty: bool, side: Color) -> Option<Option<Color>> {
    let sign = match value.unambiguous()? {
        Wdl::Win => 1,
        Wdl::Loss => -1,
        other if ignore_fifty => other.signum(),
        _ => 0,
    };
    Some(match sign {
        0 => None,
        1 => Some(side),
        _ => Some(!side),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_beyond_the_fifty_move_rule_is_a_draw_unless_told_otherwise() {
        let (white, black) = (Color::White, Color::Black);
        for (value, by_the_rules, without) in [
            (AmbiguousWdl::Win, Some(Some(white)), Some(Some(white))),
            (AmbiguousWdl::CursedWin, Some(None), Some(Some(white))),
            (AmbiguousWdl::MaybeWin, None, None),
            (AmbiguousWdl::Draw, Some(None), Some(None)),
            (AmbiguousWdl::MaybeLoss, None, None),
            (AmbiguousWdl::BlessedLoss, Some(None), Some(Some(black))),
            (AmbiguousWdl::Loss, Some(Some(black)), Some(Some(black))),
        ] {
            assert_eq!(result(value, false, white), by_the_rules, "{value:?}");
            assert_eq!(result(value, true, white), without, "{value:?}");
        }
    }

    #[test]
    fn a_folder_without_tables_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Endgames::load(folder.path(), None, false).unwrap_err();
        assert!(error.to_string().contains("holds no Syzygy tables"), "{error}");
        assert!(Endgames::load(&folder.path().join("none"), None, false).is_err());
    }
}
