//! Figures: a drawing with title, caption and its numbers as a table.

use shakmaty::Square;

use super::bars::Bars;
use super::contours::Contours;
use super::diagram::Diagram;
use super::histogram::Histogram;
use super::plot::{Curves, Series};
use super::squares::{BoardHeatmaps, Squares};
use super::style::{Format, Look};
use super::table::{Cell, Table};
use patzer_fit::wdl::WdlModel;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone)]
pub(crate) enum Drawing {
    Curves(Curves),
    Histogram(Histogram),
    Bars(Bars),
    Surface(Surface),
    Squares(Squares),
    BoardHeatmaps(BoardHeatmaps),
    Diagram(Diagram),
}

/// A probability of a win/draw/loss model, by score and material.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    pub contours: Contours,
    pub model: WdlModel,
    /// Outcome: 0 for wins, 1 for draws.
    pub outcome: usize,
}

/// A picture of a report with its numbers.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Name for files and links, unique within its run.
    pub id: String,
    /// Title above the picture.
    pub title: String,
    pub(crate) caption: String,
    pub(crate) drawing: Drawing,
    pub(crate) data: Table,
}

impl Figure {
    pub(crate) fn new(id: &str, title: &str, caption: &str, drawing: Drawing) -> Figure {
        let data = drawing.table();
        Figure { id: id.into(), title: title.into(), caption: caption.into(), drawing, data }
    }

    #[must_use]
    pub(crate) fn with_data(self, data: Table) -> Figure {
        Figure { data, ..self }
    }

    pub(crate) fn svg_on_page(&self) -> Result<String> {
        let svg = self.drawing.drawn(Format::Svg, "")?;
        String::from_utf8(svg).map_err(|e| Error::internal(format!("a picture is no text: {e}")))
    }

    /// The picture's file. An error if it cannot be drawn.
    pub fn drawn(&self, format: Format) -> Result<Vec<u8>> {
        self.drawing.drawn(format, &self.title)
    }

    pub(crate) fn is_small(&self) -> bool {
        matches!(self.drawing, Drawing::Squares(_) | Drawing::BoardHeatmaps(_) | Drawing::Diagram(_))
    }
}

impl Drawing {
    fn drawn(&self, format: Format, title: &str) -> Result<Vec<u8>> {
        let look = Look::PAGE;
        let titled = Look { size: (look.size.0, look.size.1 + 30), ..look };
        let look = if title.is_empty() { look } else { titled };
        match self {
            Drawing::Curves(curves) => {
                let mut curves = curves.clone();
                curves.axes.title = title.into();
                curves.drawn(format, look)
            }
            Drawing::Histogram(histogram) => {
                Histogram { title: title.into(), ..histogram.clone() }.drawn(format, look)
            }
            Drawing::Bars(bars) => bars.drawn(format, look, title),
            Drawing::Surface(surface) => {
                let mut contours = surface.contours.clone();
                contours.axes.title = title.into();
                contours.drawn(format, |score, row| surface.model.chances(row, score)[surface.outcome], look)
            }
            Drawing::Squares(squares) => squares.drawn(format, title),
            Drawing::BoardHeatmaps(heatmaps) => heatmaps.drawn(format, title),
            Drawing::Diagram(diagram) => diagram.drawn(format, title),
        }
    }

    fn table(&self) -> Table {
        match self {
            Drawing::Curves(curves) => of_series(&curves.axes.x, &curves.series),
            Drawing::Histogram(histogram) => of_histogram(histogram),
            Drawing::Bars(bars) => {
                let mut table = Table::new(&[bars.rows_are.as_str()]);
                table.head.extend(bars.parts.iter().map(|(name, _)| name.clone()));
                for row in &bars.rows {
                    let parts = row.parts.iter().map(|part| Cell::exact(*part));
                    table.rows.push(std::iter::once(Cell::text(&row.label)).chain(parts).collect());
                }
                table
            }
            Drawing::Surface(surface) => {
                let mut table =
                    Table::new(&["score from", "score to", "material from", "material to", "share"]);
                for tile in &surface.contours.tiles {
                    let numbers = [tile.x.start, tile.x.end, tile.y.start, tile.y.end, tile.value];
                    table.rows.push(numbers.map(Cell::exact).to_vec());
                }
                table
            }
            Drawing::Squares(squares) => of_squares(squares),
            Drawing::BoardHeatmaps(heatmaps) => {
                let mut table = Table::new(&["square"]);
                table.head.extend(heatmaps.boards.iter().map(|(name, _)| name.clone()));
                for square in 0..64 {
                    let values = heatmaps.boards.iter().map(|(_, values)| {
                        values.get(square).map_or(Cell::Nothing, |value| Cell::exact(*value))
                    });
                    table.rows.push(std::iter::once(Cell::text(square_name(square))).chain(values).collect());
                }
                table
            }
            Drawing::Diagram(_) => Table::default(),
        }
    }
}

/// A table with one column per series if all have the same x, else with one row per point.
fn of_series(x: &str, series: &[Series]) -> Table {
    let Some(first) = series.first() else { return Table::default() };
    let same = |one: &Series| {
        one.points.len() == first.points.len()
            && one.points.iter().zip(&first.points).all(|(a, b)| a.0.to_bits() == b.0.to_bits())
    };
    let name = |one: &Series| if one.label.is_empty() { "value".to_string() } else { one.label.clone() };
    let mut table = Table::new(&[x]);
    if series.iter().all(same) {
        table.head.extend(series.iter().map(name));
        for (at, (x, _)) in first.points.iter().enumerate() {
            let row = std::iter::once(*x).chain(series.iter().map(|one| one.points[at].1));
            table.rows.push(row.map(Cell::exact).collect());
        }
        return table;
    }
    table.head = vec!["series".into(), x.into(), "value".into()];
    for one in series {
        let label = name(one);
        let rows = one.points.iter().map(|(x, y)| vec![Cell::text(&label), Cell::exact(*x), Cell::exact(*y)]);
        table.rows.extend(rows);
    }
    table
}

fn of_histogram(histogram: &Histogram) -> Table {
    let single = histogram.width == 1.0 && histogram.start.fract() != 0.0;
    let mut table = Table::new(&["from", "to", histogram.counted.as_str()]);
    if single {
        table.head = vec![histogram.values.clone(), histogram.counted.clone()];
    }
    for (index, count) in histogram.bars.iter().enumerate() {
        let from = histogram.start + index as f64 * histogram.width;
        let places = if single { vec![from + 0.5] } else { vec![from, from + histogram.width] };
        let places = places.into_iter().map(Cell::exact);
        table.rows.push(places.chain([Cell::Count(*count)]).collect());
    }
    table
}

fn of_squares(squares: &Squares) -> Table {
    let mut table = Table::new(&["square", "value"]);
    let errors = squares.below.iter().any(Option::is_some);
    if errors {
        table.head.push("standard error".into());
    }
    for (square, value) in squares.values.iter().enumerate() {
        let mut row = vec![Cell::text(square_name(square)), Cell::known(*value)];
        if errors {
            row.push(Cell::known(squares.below.get(square).copied().flatten()));
        }
        table.rows.push(row);
    }
    table
}

/// Name of a square: `a1` for 0, `h8` for 63.
pub(crate) fn square_name(square: usize) -> String {
    Square::new(square as u32).to_string()
}
