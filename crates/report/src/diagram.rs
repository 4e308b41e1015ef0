//! Chess diagrams from White's side; the pieces are polygons, so that no font is needed.

use plotters::prelude::*;
use plotters::style::Color as _;
use shakmaty::{Board, Color, Role, Square};

use super::squares::{centred, coordinates};
use super::style::{Canvas, Drawn, Format, INK, drawn};
use patzer_io::error::Result;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagram {
    pub board: Board,
    pub turn: Color,
}

const SQUARE: i32 = 60;
const MARGIN: i32 = 30;

// Colours of squares, for light and dark pages.
const LIGHT: RGBColor = RGBColor(232, 236, 241);
const DARK: RGBColor = RGBColor(150, 168, 188);
const WHITE_PIECE: RGBColor = RGBColor(254, 254, 254);
const BLACK_PIECE: RGBColor = RGBColor(32, 33, 36);

impl Diagram {
    pub(crate) fn drawn(&self, format: Format, title: &str) -> Result<Vec<u8>> {
        let top = if title.is_empty() { 6 } else { 40 };
        let size = (2 * MARGIN + 8 * SQUARE, top + 8 * SQUARE + MARGIN + 4);
        drawn((size.0 as u32, size.1 as u32), format, |canvas| {
            if !title.is_empty() {
                canvas.draw_text(title, &centred(20, INK), (size.0 / 2, 20))?;
            }
            for square in Square::ALL {
                self.square(canvas, square, top)?;
            }
            coordinates(canvas, (MARGIN, top, SQUARE), 26, [17, 15])?;
            let y = if self.turn.is_white() { top + 8 * SQUARE - 14 } else { top + 14 };
            let at = (MARGIN + 8 * SQUARE + 15, y);
            let fill = if self.turn.is_white() { WHITE_PIECE } else { BLACK_PIECE };
            canvas.draw(&Circle::new(at, 9, fill.filled()))?;
            canvas.draw(&Circle::new(at, 9, INK.stroke_width(2)))
        })
    }

    fn square(&self, canvas: &Canvas<'_>, square: Square, top: i32) -> Drawn {
        let (file, rank) = (u32::from(square) as i32 % 8, u32::from(square) as i32 / 8);
        let (x, y) = (MARGIN + file * SQUARE, top + (7 - rank) * SQUARE);
        let ground = if (file + rank) % 2 == 0 { DARK } else { LIGHT };
        canvas.draw(&Rectangle::new([(x, y), (x + SQUARE, y + SQUARE)], ground.filled()))?;
        let Some(piece) = self.board.piece_at(square) else { return Ok(()) };
        let (fill, edge) = match piece.color {
            Color::White => (WHITE_PIECE, BLACK_PIECE),
            Color::Black => (BLACK_PIECE, WHITE_PIECE),
        };
        let place = |(px, py): &(i32, i32)| (x + px * SQUARE / 100, y + py * SQUARE / 100);
        for outline in outlines(piece.role) {
            let mut points: Vec<(i32, i32)> = outline.iter().map(place).collect();
            canvas.draw(&Polygon::new(points.clone(), fill.filled()))?;
            points.extend(points.first().copied());
            // A black piece keeps its dark edge; its inner lines are light.
            canvas.draw(&PathElement::new(points, BLACK_PIECE.stroke_width(2)))?;
        }
        for line in lines(piece.role) {
            let points: Vec<(i32, i32)> = line.iter().map(place).collect();
            canvas.draw(&PathElement::new(points, edge.stroke_width(2)))?;
        }
        Ok(())
    }
}

/// Outlines of a piece as polygons, in hundredths of a square, bottom layer first.
fn outlines(role: Role) -> Vec<Vec<(i32, i32)>> {
    let (polygons, balls): (&[&str], &[(i32, i32, i32)]) = match role {
        Role::Pawn => {
            (&["26,86 74,86 74,77 64,70 57,50 43,50 36,70 26,77", "36,50 64,50 60,43 40,43"], &[(50, 30, 14)])
        }
        Role::Knight => (
            &["28,87 77,87 78,66 74,46 66,31 53,21 49,11 43,20 36,24 27,40 \
               18,55 20,63 28,66 35,60 43,56 50,54 46,63 36,71 30,79"],
            &[],
        ),
        Role::Bishop => (
            &[
                "22,87 78,87 78,80 62,76 58,62 42,62 38,76 22,80",
                "50,18 61,29 68,43 66,54 58,62 42,62 34,54 32,43 39,29",
            ],
            &[(50, 14, 6)],
        ),
        Role::Rook => (
            &[
                "22,87 78,87 78,77 68,72 66,44 34,44 32,72 22,77",
                "27,18 38,18 38,26 45,26 45,18 55,18 55,26 62,26 62,18 73,18 73,36 66,44 34,44 27,36",
            ],
            &[],
        ),
        Role::Queen => (
            &["26,87 74,87 73,76 84,30 67,54 65,22 50,50 35,22 33,54 16,30 27,76"],
            &[(16, 26, 6), (35, 17, 6), (65, 17, 6), (84, 26, 6)],
        ),
        Role::King => (
            &[
                "46,8 54,8 54,15 61,15 61,22 54,22 54,34 46,34 46,22 39,22 39,15 46,15",
                "50,30 59,37 55,58 45,58 41,37",
                "27,87 73,87 73,72 84,57 82,44 72,38 60,42 50,60 40,42 28,38 18,44 16,57 27,72",
            ],
            &[],
        ),
    };
    polygons.iter().map(|text| points(text)).chain(balls.iter().map(|&ball| octagon(ball))).collect()
}

fn lines(role: Role) -> Vec<Vec<(i32, i32)>> {
    let lines: &[&str] = match role {
        Role::Pawn => &[],
        Role::Knight => &["37,34 41,33", "68,40 71,56 71,80"],
        Role::Bishop => &["50,34 50,50", "43,42 57,42", "39,76 61,76"],
        Role::Rook => &["34,48 66,48", "33,70 67,70"],
        Role::Queen => &["28,74 72,74", "28,80 72,80"],
        Role::King => &["28,72 72,72", "28,79 72,79"],
    };
    lines.iter().map(|text| points(text)).collect()
}

fn points(text: &str) -> Vec<(i32, i32)> {
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    text.split_whitespace().filter_map(point).collect()
}

fn octagon((x, y, r): (i32, i32, i32)) -> Vec<(i32, i32)> {
    let s = r * 7 / 10;
    let corners = [(0, -r), (s, -s), (r, 0), (s, s), (0, r), (-s, s), (-r, 0), (-s, -s)];
    corners.map(|(dx, dy)| (x + dx, y + dy)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_of_the_start_is_on_its_square() {
        let svg = Diagram { board: Board::default(), turn: Color::Black }.drawn(Format::Svg, "x").unwrap();
        let svg = String::from_utf8(svg).unwrap();
        // 16 pawns of 3 parts, 4 knights of 1, 4 bishops of 3, 4 rooks of 2, 2 queens of 5, 2 kings of 3.
        assert_eq!(svg.matches("<polygon").count(), 48 + 4 + 12 + 8 + 10 + 6);
        assert_eq!(svg.matches("<rect").count(), 65);
        let mark = svg.lines().rfind(|line| line.contains("<circle")).unwrap();
        assert!(mark.contains(&format!("cy=\"{}\"", 40 + 14)), "Black to move stands above: {mark}");
    }
}
