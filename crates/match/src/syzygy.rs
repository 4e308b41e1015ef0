//! Adjudication by Syzygy endgame tables.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use shakmaty::{Chess, Color, Position};
use shakmaty_syzygy::{AmbiguousWdl, Tablebase, Wdl};

use crate::syzygy_files::TableFiles;
use patzer_io::error::{Error, Result};

/// Syzygy tables, loaded on first use and shared by all games.
#[derive(Debug, Serialize)]
pub struct Syzygy {
    #[serde(skip)]
    tables: Tablebase<Chess>,
    #[serde(skip)]
    table_files: TableFiles,
    files: usize,
    pieces: usize,
    ignore_fifty: bool,
    /// Results that end a game.
    pub results: SyzygyResults,
}

/// Table results that end a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SyzygyResults {
    #[default]
    All,
    Wins,
    Draws,
}

impl fmt::Display for Syzygy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fifty = if self.ignore_fifty { ", without the fifty-move rule" } else { "" };
        write!(f, "{} files, up to {} pieces{fifty}", self.files, self.pieces)
    }
}

impl Syzygy {
    /// Probes positions of at most `pieces` pieces, kings included; with `ignore_fifty`, cursed wins are wins.
    pub fn load(folder: &Path, pieces: Option<u32>, ignore_fifty: bool) -> Result<Syzygy> {
        Syzygy::load_all(&[folder], pieces, ignore_fifty)
    }

    /// Loads the tables of several folders; each has to hold some.
    pub fn load_all(folders: &[&Path], pieces: Option<u32>, ignore_fifty: bool) -> Result<Syzygy> {
        let mut tables = Tablebase::new();
        let mut files = 0;
        for folder in folders {
            let found = tables.add_directory(folder).map_err(|e| Error::io(folder, e))?;
            if found == 0 {
                return Err(Error::data(folder, "holds no Syzygy tables (.rtbw, .rtbz)"));
            }
            files += found;
        }
        let most = tables.max_pieces();
        let pieces = pieces.map_or(most, |pieces| most.min(pieces as usize));
        let table_files = TableFiles::new(folders);
        Ok(Syzygy { tables, table_files, files, pieces, ignore_fifty, results: SyzygyResults::All })
    }

    /// Compares the checksums of the tables that a probe of a position may read, once for each table.
    ///
    /// # Errors
    /// A table is damaged.
    pub fn check(&self, position: &Chess) -> Result<()> {
        self.table_files.check(position)
    }

    pub fn files(&self) -> usize {
        self.files
    }

    /// Most pieces of a position that is probed, kings included.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// The winner, or `Some(None)` for a draw; `None` if the tables do not decide.
    pub fn winner(&self, position: &Chess) -> Option<Option<Color>> {
        if position.board().occupied().count() > self.pieces {
            return None;
        }
        // After a capture or pawn move, WDL tables suffice.
        let value = if self.ignore_fifty || position.halfmoves() == 0 {
            self.tables.probe_wdl_after_zeroing(position).map(AmbiguousWdl::from)
        } else {
            self.tables.probe_wdl(position)
        };
        result(value.ok()?, self.ignore_fifty, position.turn()).filter(|winner| match self.results {
            SyzygyResults::All => true,
            SyzygyResults::Wins => winner.is_some(),
            SyzygyResults::Draws => winner.is_none(),
        })
    }
}

fn result(value: AmbiguousWdl, ignore_fifty: bool, side: Color) -> Option<Option<Color>> {
    Some(match value.unambiguous()? {
        Wdl::Win => Some(side),
        Wdl::CursedWin if ignore_fifty => Some(side),
        Wdl::Loss => Some(!side),
        Wdl::BlessedLoss if ignore_fifty => Some(!side),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use std::path::PathBuf;

    fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/syzygy")
    }

    fn three() -> Syzygy {
        Syzygy::load(&fixtures(), None, false).unwrap()
    }

    #[test]
    fn tables_decide_as_every_textbook_does() {
        let tables = three();
        assert_eq!(tables.to_string(), "5 files, up to 3 pieces");
        let (white, black) = (Some(Some(Color::White)), Some(Some(Color::Black)));
        for (text, winner) in [
            // A king on the sixth rank before its pawn wins, whoever is to move.
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 60", white),
            ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 60", white),
            ("8/8/8/8/4p3/4k3/8/4K3 w - - 0 60", black),
            // A rook's pawn with the defending king in the corner draws.
            ("k7/8/K7/P7/8/8/8/8 w - - 0 60", Some(None)),
            ("4k3/8/8/4K3/4P3/8/8/8 b - - 0 60", Some(None)),
            ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 60", white),
            ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 60", Some(None)),
            ("8/8/8/8/8/3k4/4R3/K7 b - - 0 60", Some(None)),
            ("8/8/8/8/8/3k4/4R3/K7 w - - 0 60", white),
            ("8/8/8/8/8/3k4/4q3/K7 w - - 0 60", black),
            ("8/8/8/8/8/3k4/8/K3B3 w - - 0 60", Some(None)),
        ] {
            assert_eq!(tables.winner(&fen::position(text, false).unwrap()), winner, "{text}");
        }
    }

    #[test]
    fn what_the_tables_do_not_know_is_played_on() {
        let tables = three();
        let winner = |text: &str| tables.winner(&fen::position(text, false).unwrap());
        assert_eq!(winner("4k3/8/8/8/8/8/8/4KBN1 w - - 0 60"), None, "four pieces");
        assert_eq!(winner("4k3/8/8/8/8/8/8/4K2R w K - 0 60"), None, "castling");
        // Only DTZ tables know the distance of a win; WDL tables know that there is none.
        assert_eq!(winner("8/8/8/8/8/3k4/4R3/K7 w - - 5 60"), None);
        assert_eq!(winner("8/8/8/8/8/3k4/4R3/K7 b - - 5 60"), Some(None));
        let without = Syzygy::load(&fixtures(), Some(5), true).unwrap();
        let position = fen::position("8/8/8/8/8/3k4/4R3/K7 w - - 5 60", false).unwrap();
        assert_eq!(without.winner(&position), Some(Some(Color::White)));
        assert_eq!(without.to_string(), "5 files, up to 3 pieces, without the fifty-move rule");
    }

    #[test]
    fn a_damaged_table_is_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let whole = std::fs::read(fixtures().join("KRvK.rtbw")).unwrap();
        let path = folder.path().join("KRvK.rtbw");
        std::fs::write(&path, &whole[..100]).unwrap();
        let error = Syzygy::load(folder.path(), None, false);
        assert!(error.is_err() || error.unwrap().files == 1);
        std::fs::write(&path, vec![7; whole.len()]).unwrap();
        let tables = Syzygy::load(folder.path(), None, false).unwrap();
        let position = fen::position("8/8/8/8/8/3k4/4R3/K7 w - - 0 60", false).unwrap();
        assert_eq!(tables.winner(&position), None);
    }

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
        let error = Syzygy::load(folder.path(), None, false).unwrap_err();
        assert!(error.to_string().contains("holds no Syzygy tables"), "{error}");
        assert!(Syzygy::load(&folder.path().join("none"), None, false).is_err());
    }
}
