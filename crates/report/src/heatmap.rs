use std::path::Path;

use plotters::prelude::*;

use super::squares::{centred, coordinates};
use super::style::{Canvas, Drawn, INK, on, picture, shade};
use patzer_io::error::Result;

#[derive(Debug, Clone)]
pub(crate) struct Board<'a> {
    pub title: &'a str,
    /// Counts by square, a1 to h8; missing ones are 0.
    pub counts: &'a [u64],
}

const SQUARE: i32 = 44;
const MARGIN: i32 = 34;
const TOP: i32 = 52;

/// Draws boards side by side, with the share of each square in percent.
pub(crate) fn boards(path: &Path, boards: &[Board<'_>]) -> Result<()> {
    let width = MARGIN + boards.len() as i32 * (8 * SQUARE + MARGIN);
    let height = TOP + 8 * SQUARE + MARGIN;
    picture(path, (width as u32, height as u32), |canvas| {
        for (index, board) in boards.iter().enumerate() {
            draw(canvas, board, MARGIN + index as i32 * (8 * SQUARE + MARGIN))?;
        }
        Ok(())
    })
}

fn draw(canvas: &Canvas<'_>, board: &Board<'_>, left: i32) -> Drawn {
    let (all, most) = (board.counts.iter().sum::<u64>(), board.counts.iter().copied().max().unwrap_or(0));
    canvas.draw_text(board.title, &centred(16, INK), (left + 4 * SQUARE, 24))?;
    for square in 0..64 {
        let (file, rank) = (square % 8, square / 8);
        let (x, y) = (left + file * SQUARE, TOP + (7 - rank) * SQUARE);
        let count = board.counts.get(square as usize).copied().unwrap_or(0);
        // Square root, since kings are on a few squares most of the time.
        let share = (count as f64 / most.max(1) as f64).sqrt();
        let tile = Rectangle::new([(x, y), (x + SQUARE, y + SQUARE)], shade(share).filled());
        canvas.draw(&tile)?;
        if count > 0 {
            let middle = (x + SQUARE / 2, y + SQUARE / 2);
            canvas.draw_text(&percent(count, all), &centred(12, on(share)), middle)?;
        }
    }
    coordinates(canvas, (left, TOP, SQUARE), 12, [14, 12])
}

fn percent(count: u64, all: u64) -> String {
    let share = 100.0 * count as f64 / all.max(1) as f64;
    match share {
        10.0.. => format!("{share:.0}"),
        0.05.. => format!("{share:.1}"),
        _ => "<0.1".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_square_with_a_count_shows_its_percentage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.svg");
        let mut counts = vec![0; 64];
        counts[4] = 75;
        counts[6] = 25;
        boards(&path, &[Board { title: "White's king", counts: &counts }]).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert_eq!(svg.matches("<rect").count(), 3, "the ground, and the squares that are not bare");
        assert!(svg.contains("75") && svg.contains("25") && svg.contains("White"), "{svg}");
    }
}
