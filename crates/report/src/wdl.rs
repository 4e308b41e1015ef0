//! Figures of the score scale: K's sigmoid, and the win/draw/loss model against counted results.

use std::path::{Path, PathBuf};

use super::axes::Axes;
use super::contours::{Contours, contours};
use super::plot::{Mark, Series, Tile, curves};
use super::style::{BLUE, GREEN, ORANGE, PURPLE};
use patzer_chess::score::expected_score;
use patzer_fit::wdl::{By, FittedModel, WdlModel, WdlRow, WdlTable};
use patzer_io::error::Result;

/// Draws `k.svg`: the sigmoid over mean results. Pairs are a score in centipawns and a result from 0 to 1, both from
/// White's side.
pub fn draw_k(folder: &Path, k: f64, pairs: &[(f32, f32)]) -> Result<PathBuf> {
    const WIDTH: f64 = 25.0;
    const REACH: usize = 40;
    let mut sums = vec![(0u32, 0.0, 0.0); 2 * REACH + 1];
    for &(cp, result) in pairs {
        let place = (f64::from(cp) / WIDTH).round() + REACH as f64;
        if place >= 0.0
            && let Some(sum) = sums.get_mut(place as usize)
        {
            *sum = (sum.0 + 1, sum.1 + f64::from(cp), sum.2 + f64::from(result));
        }
    }
    let reach = WIDTH * REACH as f64;
    let mean = |(n, cp, result): &(u32, f64, f64)| (cp / f64::from(*n), result / f64::from(*n));
    let expected = (-200..=200).map(|i| f64::from(i) * reach / 200.0).map(|cp| (cp, expected_score(cp, k)));
    let enough = || sums.iter().filter(|sum| sum.0 >= 10);
    let seen: Vec<(f64, f64)> = enough().map(mean).collect();
    let (least, most) = (seen.first().map_or(0.0, |p| p.0), seen.last().map_or(0.0, |p| p.0));
    let expected = expected.filter(|(cp, _)| (least..=most).contains(cp));
    let counts = enough().map(|sum| sum.0.into()).collect();
    let series =
        [line(&format!("K = {k:.4}"), ORANGE, expected.collect()), dots("mean result", BLUE, seen, counts)];
    let axes = Axes::new(
        &format!("1 / (1 + exp(-{k:.4} cp / 400))"),
        "score, centipawns from White's side",
        "result",
        -reach..reach,
        0.0..1.0,
    );
    let path = folder.join("k.svg");
    curves(&path, &axes, &series, None).map(|()| path)
}

/// Draws a model against its table: a and b by row, probabilities at the target, contours of win and draw.
pub fn draw_model(folder: &Path, fitted: &FittedModel, table: &WdlTable) -> Result<Vec<PathBuf>> {
    let paths =
        ["wdl-parameters.svg", "wdl-curves.svg", "wdl-win.svg", "wdl-draw.svg"].map(|f| folder.join(f));
    parameters(&paths[0], fitted, table)?;
    at_target(&paths[1], &fitted.model, table)?;
    surface(&paths[2], &fitted.model, table, 0)?;
    surface(&paths[3], &fitted.model, table, 1)?;
    Ok(paths.to_vec())
}

fn line(label: &str, colour: plotters::style::RGBColor, points: Vec<(f64, f64)>) -> Series {
    Series { label: label.into(), colour, mark: Mark::Line, points, counts: Vec::new() }
}

fn dots(label: &str, colour: plotters::style::RGBColor, points: Vec<(f64, f64)>, counts: Vec<u64>) -> Series {
    Series { mark: Mark::Dots, counts, ..line(label, colour, points) }
}

fn reach(table: &WdlTable) -> f64 {
    f64::from(table.largest_score().max(1))
}

fn row_name(table: &WdlTable) -> &'static str {
    match table.bounds.by {
        By::Material => "material (9Q + 5R + 3(B + N) + P, both sides)",
        By::Move => "move number",
    }
}

fn parameters(path: &Path, fitted: &FittedModel, table: &WdlTable) -> Result<()> {
    let rows = table.seen_rows();
    let model = &fitted.model;
    let curve = |part: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
        rows.clone().map(|row| (f64::from(row), part(model.at(f64::from(row))))).collect()
    };
    let (a, b) = (curve(|ab| ab.0), curve(|ab| ab.1));
    let local = |part: fn(&(u16, f64, f64)) -> f64| -> Vec<(f64, f64)> {
        fitted.local.iter().map(|row| (f64::from(row.0), part(row))).collect()
    };
    let top = a.iter().chain(&b).map(|p| p.1).fold(1.0, f64::max) * 1.25;
    let count = |at: f64| {
        let row = table.rows.iter().find(|row| f64::from(row.at) == at);
        row.map_or(0, |row| row.counts().iter().sum())
    };
    let alone = |name: &str, colour, points: Vec<(f64, f64)>| {
        let points: Vec<(f64, f64)> = points.into_iter().filter(|p| p.1 < top).collect();
        let counts = points.iter().map(|p| count(p.0)).collect();
        dots(name, colour, points, counts)
    };
    let series = [
        line("a", BLUE, a),
        alone("a of a row alone", BLUE, local(|row| row.1)),
        line("b", ORANGE, b),
        alone("b of a row alone", ORANGE, local(|row| row.2)),
    ];
    let (low, high) = (f64::from(*rows.start()), f64::from(*rows.end()));
    let axes = Axes::new(
        "a, the score that wins half of the games, and b, the spread",
        row_name(table),
        "centipawns",
        low..high + 0.5,
        0.0..top,
    );
    curves(path, &axes, &series, None)
}

/// Draws the probabilities at the target's row, or the nearest row with data.
fn at_target(path: &Path, model: &WdlModel, table: &WdlTable) -> Result<()> {
    let distance = |row: &&WdlRow| (f64::from(row.at) - model.target).abs();
    let Some(row) = table.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Ok(());
    };
    let at = f64::from(row.at);
    let reach = f64::from(row.cells.iter().map(|c| c.score.abs()).max().unwrap_or(1).max(1));
    let counts: Vec<u64> = row.cells.iter().map(|c| c.wins + c.draws + c.losses).collect();
    let share = |outcome: usize| -> Vec<(f64, f64)> {
        let share = |counts: [u64; 3]| counts[outcome] as f64 / counts.iter().sum::<u64>().max(1) as f64;
        row.cells.iter().map(|c| (f64::from(c.score), share([c.wins, c.draws, c.losses]))).collect()
    };
    let (least, most) = row.cells.iter().fold((0, 0), |(a, b), c| (c.score.min(a), c.score.max(b)));
    let counted = move |cp: &f64| (f64::from(least)..=f64::from(most)).contains(cp);
    let scores = || (-200..=200).map(|i| f64::from(i) * reach / 200.0).filter(counted);
    let curve = |outcome: usize| -> Vec<(f64, f64)> {
        scores().map(|cp| (cp, model.chances(at, cp)[outcome])).collect()
    };
    let mut series = Vec::new();
    for (outcome, (name, colour)) in
        [("win", BLUE), ("draw", GREEN), ("loss", ORANGE)].into_iter().enumerate()
    {
        series.push(dots(&format!("{name}, counted"), colour, share(outcome), counts.clone()));
        series.push(line("", colour, curve(outcome)));
    }
    let expected = |cp| {
        let [win, draw, _] = model.chances(at, cp);
        win + draw / 2.0
    };
    series.push(line("expected result", PURPLE, scores().map(|cp| (cp, expected(cp))).collect()));
    let name = if table.bounds.by == By::Material { "material" } else { "move" };
    let axes = Axes::new(
        &format!("Chances at {name} {at}: counted, and the model's lines"),
        "score, centipawns from the side to move",
        "share of positions",
        -reach..reach,
        0.0..1.0,
    );
    curves(path, &axes, &series, pawns(model))
}

/// Unit of scores in which 1 wins half of the games at the target: its name, and its length in centipawns.
pub(crate) fn pawns(model: &WdlModel) -> Option<(String, f64)> {
    let pawn = model.normalize_to_pawn_value();
    (pawn > 0.0).then(|| ("normalised pawns".to_string(), pawn))
}

/// Draws contours of the win (`outcome` 0) or draw (1) probability over score and row.
fn surface(path: &Path, model: &WdlModel, table: &WdlTable, outcome: usize) -> Result<()> {
    let measured = Contours { top: pawns(model), ..counted(table, outcome) };
    contours(path, &measured, |cp, row| model.chances(row, cp)[outcome])
}

/// Counted shares of wins (`outcome` 0) or draws (1) over score and row, with contour levels.
pub(crate) fn counted(table: &WdlTable, outcome: usize) -> Contours {
    const LEVELS: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
    let rows = table.seen_rows();
    let reach = reach(table);
    let axes = Axes::new(
        if outcome == 0 { "Wins" } else { "Draws" },
        "score, centipawns from the side to move",
        row_name(table),
        -reach..reach,
        f64::from(*rows.start()) - 0.5..f64::from(*rows.end()) + 0.5,
    );
    Contours { axes, tiles: tiles(table, reach, outcome), levels: LEVELS.to_vec(), top: None }
}

/// Counted shares in 40 by about 30 tiles; tiles of few positions stay empty.
fn tiles(table: &WdlTable, reach: f64, outcome: usize) -> Vec<Tile> {
    const ACROSS: usize = 40;
    const LEAST: u64 = 10;
    let (low, high) = table.seen_rows().into_inner();
    let height = (high - low) / 30 + 1;
    let width = 2.0 * reach / ACROSS as f64;
    let mut sums = std::collections::BTreeMap::<(u16, usize), [u64; 3]>::new();
    for row in &table.rows {
        for c in &row.cells {
            let column = (((f64::from(c.score) + reach) / width) as usize).min(ACROSS - 1);
            let sum = sums.entry(((row.at - low) / height, column)).or_default();
            *sum = [sum[0] + c.wins, sum[1] + c.draws, sum[2] + c.losses];
        }
    }
    let tile = |((row, column), counts): ((u16, usize), [u64; 3])| {
        let (x, y) = (column as f64 * width - reach, f64::from(low + row * height) - 0.5);
        let top = (y + f64::from(height)).min(f64::from(high) + 0.5);
        let value = counts[outcome] as f64 / counts.iter().sum::<u64>() as f64;
        Tile { x: x..x + width, y: y..top, value }
    };
    sums.into_iter().filter(|(_, counts)| counts.iter().sum::<u64>() >= LEAST).map(tile).collect()
}
