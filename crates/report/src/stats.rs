//! The figures of `patzer data stats`.

use std::path::{Path, PathBuf};

use super::axes::Axes;
use super::heatmap::{self, Board};
use super::histogram::Histogram;
use super::plot::{self, Mark, Series};
use super::style::BLUE;
use patzer_data::stats::{Bucket, SCORE_BIN, SCORE_REACH, Stats};
use patzer_io::error::Result;

/// Name, title, labels of the axes and counts of a histogram.
pub(crate) type Counted<'a> = (&'static str, &'static str, [&'static str; 2], &'a [u64]);

pub(crate) fn histograms(stats: &Stats) -> [Counted<'_>; 7] {
    let tally = &stats.tally;
    let pieces = "pieces, kings and pawns included";
    [
        ("game_length", "Length of games", ["plies", "games"], &stats.game_length),
        ("ply", "Plies before the position", ["plies", "positions"], &tally.ply),
        ("piece_count", "Pieces on the board", [pieces, "positions"], &tally.piece_count),
        ("material", "Material on the board", ["pawns (3, 3, 5, 9)", "positions"], &tally.material),
        ("halfmove", "Since the last capture or pawn move", ["plies", "positions"], &tally.halfmove),
        ("legal_moves", "Mobility", ["legal moves of the side to move", "positions"], &tally.legal_moves),
        ("depth", "Depth of the scores", ["plies", "positions"], &tally.depth),
    ]
}

/// Fewest positions of a move number in [`mobility`].
const FEWEST: u64 = 30;

/// Move numbers with their mean number of legal moves and their positions; `None` if no number has positions enough.
pub(crate) fn mobility(stats: &Stats) -> Option<Vec<(f64, f64, u64)>> {
    let numbers = stats.tally.legal_moves_by_number.iter().enumerate();
    let enough = numbers.filter(|(_, [positions, _])| *positions >= FEWEST);
    let mean = |(number, &[positions, moves]): (usize, &[u64; 2])| {
        (number as f64, moves as f64 / positions as f64, positions)
    };
    let points: Vec<_> = enough.map(mean).collect();
    (!points.is_empty()).then_some(points)
}

/// Axes of [`mobility`], without a title.
pub(crate) fn mobility_axes(points: &[(f64, f64, u64)]) -> Axes {
    let last = points.last().map_or(1.0, |point| point.0) + 1.0;
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    Axes::new("", "move number", "mean number of legal moves", 0.0..last, 0.0..1.05 * most)
}

/// Draws every figure that has data into a folder, and returns the paths. An error if a file cannot be written.
pub fn draw(folder: &Path, stats: &Stats) -> Result<Vec<PathBuf>> {
    let tally = &stats.tally;
    let mut drawn = Vec::new();
    for (name, title, [values, counted], counts) in histograms(stats) {
        if counts.iter().any(|count| *count > 0) {
            let path = folder.join(format!("{name}.svg"));
            Histogram::of_values(title, values, counted, counts).draw(&path)?;
            drawn.push(path);
        }
    }
    let buckets: Vec<Bucket> = tally.scores.buckets().collect();
    if buckets.iter().any(|bucket| bucket.outcomes.total() > 0) {
        drawn.push(scores(folder, &buckets)?);
        drawn.push(agreement(folder, &buckets)?);
    }
    if let Some(points) = mobility(stats) {
        let path = folder.join("mobility.svg");
        let axes = Axes { title: "Mean mobility by move number".into(), ..mobility_axes(&points) };
        let series = Series {
            label: String::new(),
            colour: BLUE,
            mark: Mark::Line,
            points: points.into_iter().map(|(x, y, _)| (x, y)).collect(),
            counts: Vec::new(),
        };
        plot::curves(&path, &axes, &[series], None)?;
        drawn.push(path);
    }
    let path = folder.join("kings.svg");
    let white = Board { title: "White's king, % of positions", counts: &tally.white_king };
    let black = Board { title: "Black's king, % of positions", counts: &tally.black_king };
    heatmap::boards(&path, &[white, black])?;
    drawn.push(path);
    Ok(drawn)
}

fn scores(folder: &Path, buckets: &[Bucket]) -> Result<PathBuf> {
    let path = folder.join("scores.svg");
    let histogram = Histogram {
        title: "Scores for the side to move".into(),
        values: format!("centipawns, the outermost bars beyond ±{SCORE_REACH}; no mates"),
        counted: "positions".into(),
        start: f64::from(-SCORE_REACH - SCORE_BIN),
        width: f64::from(SCORE_BIN),
        bars: buckets.iter().map(|bucket| bucket.outcomes.total()).collect(),
    };
    histogram.draw(&path)?;
    Ok(path)
}

fn agreement(folder: &Path, buckets: &[Bucket]) -> Result<PathBuf> {
    let path = folder.join("agreement.svg");
    let point = |bucket: &Bucket| {
        let middle = f64::from(bucket.from? + bucket.to?) / 2.0;
        Some((middle, bucket.mean_result?))
    };
    let reach = f64::from(SCORE_REACH);
    let axes = Axes::new(
        "How games ended, by score",
        "score for the side to move, centipawns",
        "mean result of the side to move",
        -reach..reach,
        0.0..1.0,
    );
    let points = buckets.iter().filter_map(point).collect();
    let series = Series {
        label: format!("buckets of {SCORE_BIN} centipawns"),
        colour: BLUE,
        mark: Mark::Dots,
        points,
        counts: Vec::new(),
    };
    plot::curves(&path, &axes, &[series], None)?;
    Ok(path)
}
