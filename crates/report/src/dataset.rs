//! The report section of a dataset.

use super::axes::Axes;
use super::bars::{Bar, Bars};
use super::figure::{Drawing, Figure, Surface};
use super::histogram::Histogram;
use super::plot::Curves;
use super::section::{OrMissing, Part, Section, SectionKind};
use super::squares::Squares;
use super::stats::{histograms, mobility, mobility_axes};
use super::style::{BLUE, GREEN, ORANGE};
use super::table::{Cell, Table};
use super::wdl::{counted, pawns};
use patzer_chess::score::expected_score;
use patzer_data::Metadata;
use patzer_data::stats::{Bucket, Outcomes, SCORE_BIN, SCORE_REACH, Stats, VisitCounts};
use patzer_fit::wdl::{self, FittedModel, KFit};
use patzer_formats::capabilities::Capabilities;
use patzer_io::number::grouped;

/// A dataset's statistics and fits for its section.
pub struct Dataset {
    /// Counts and histograms.
    pub stats: Stats,
    /// Sources, filters and labelling.
    pub metadata: Metadata,
    /// Fitted K of the sigmoid.
    pub k: OrMissing<KFit>,
    /// Fitted win/draw/loss model, and the table it was fitted to.
    pub model: OrMissing<(FittedModel, wdl::WdlTable)>,
}

/// The section of a dataset.
pub fn section(name: &str, data: &Dataset) -> Section {
    let stats = &data.stats;
    let mut section = Section::new(name, SectionKind::Dataset);
    section.summary = summary(&data.metadata);
    section.measure("positions", "positions", stats.positions);
    let known = |fact| !stats.unknown.contains(fact);
    if known(Capabilities::GAME) {
        section.measure("games", "games", stats.games);
    }
    section.measure("duplicates", "equal to an earlier position", stats.duplicates);
    let share = |count: u64, all: u64| Cell::number(100.0 * count as f64 / all.max(1) as f64, 2);
    if known(Capabilities::GAME) {
        let Outcomes { wins, draws, losses } = stats.game_results;
        section.measure("white_won", "games that White won, %", share(wins, stats.games));
        section.measure("drawn", "games drawn, %", share(draws, stats.games));
        section.measure("black_won", "games that Black won, %", share(losses, stats.games));
    }
    section.measure("in_check", "positions in check, %", share(stats.tally.marks.in_check, stats.positions));
    if known(Capabilities::MOVE) {
        let captures = stats.tally.marks.capture;
        section.measure("captures", "move played captures, %", share(captures, stats.positions));
    }
    let scored = stats.positions - stats.tally.scores.missing.min(stats.positions);
    section.measure("scored", "positions with a score, %", share(scored, stats.positions));
    if let Ok(fit) = &data.k {
        section.measure("k", "K of the scores", Cell::number(fit.k, 4));
    }
    section.part(origin(&data.metadata));
    section.part(results(stats));
    section.part(scores(data));
    section.part(board(stats));
    section
}

fn summary(metadata: &Metadata) -> String {
    let mut said = Vec::new();
    if !metadata.filters.is_empty() {
        said.push(format!("filters {}", metadata.filters.join("; ")));
    }
    if let Some(resolved) = &metadata.resolved {
        said.push(format!("resolved by {resolved}"));
    }
    said.extend(metadata.steps.iter().cloned());
    said.join(" · ")
}

fn origin(metadata: &Metadata) -> Part {
    let mut part = Part::new("Where it comes from");
    if metadata.sources.iter().any(|source| source.games.is_some()) {
        let mut table = Table::new(&["games from", "games", "SHA-256"]);
        for source in &metadata.sources {
            let hash = source.sha256.chars().take(16).collect::<String>();
            table.row([
                Cell::text(&source.name),
                source.games.map_or(Cell::Nothing, Cell::Count),
                Cell::text(hash),
            ]);
        }
        part.table(table);
    }
    match funnel(metadata) {
        Some(figure) => part.add(figure),
        None => part.missing("No filter funnel: the file does not say what was dropped when it was made."),
    }
    part
}

/// Draws the positions before each filter, and those dropped.
fn funnel(metadata: &Metadata) -> Option<Figure> {
    let account = metadata.account.as_ref().filter(|account| account.positions_read > 0)?;
    let filters = metadata.filters.join(" ");
    // In filter order: other reasons come first, the reasons of the output and of later steps last.
    const LAST: [&str; 5] = ["duplicates", "per_game", "sample", "not_drawn", "left_out"];
    let place = |reason: &str| match LAST.iter().position(|last| *last == reason) {
        Some(at) => usize::MAX - LAST.len() + at,
        None => filters.find(reason).map_or(0, |at| at + 1),
    };
    let mut reasons: Vec<(&String, &u64)> = account.dropped.iter().collect();
    reasons.sort_by_key(|(reason, _)| place(reason));
    let mut left = account.positions_read;
    let row = |label: &str, stays: u64, goes: u64, text: String| Bar {
        label: label.into(),
        parts: vec![stays as f64, goes as f64],
        text,
    };
    let mut rows = vec![row("read", left, 0, grouped(left))];
    let mut data = Table::new(&["reason", "dropped", "left"]);
    data.row([Cell::text("read"), Cell::Count(0), Cell::Count(left)]);
    for (reason, count) in reasons {
        left = left.saturating_sub(*count);
        rows.push(row(reason, left, *count, format!("−{}", grouped(*count))));
        data.row([Cell::text(reason), Cell::Count(*count), Cell::Count(left)]);
    }
    rows.push(row("written", left, 0, grouped(left)));
    data.row([Cell::text("written"), Cell::Count(0), Cell::Count(left)]);
    let bars = Bars::new("reason", &[("stays", BLUE), ("is dropped", ORANGE)], rows);
    let skipped: u64 = account.games_skipped.values().sum();
    let [games, bad, skipped] = [account.games, account.games_bad, skipped].map(grouped);
    let caption = format!("{games} games read, {bad} of them broken, {skipped} skipped.");
    Some(Figure::new("funnel", "Filters", &caption, Drawing::Bars(bars)).with_data(data))
}

fn results(stats: &Stats) -> Part {
    let mut part = Part::new("Games");
    let of_mover = stats.unknown.contains(Capabilities::TURN);
    let [won, lost] =
        if of_mover { ["side to move won", "side to move lost"] } else { ["White won", "Black won"] };
    let mut bars = Bars::new("of", &[(won, BLUE), ("drawn", GREEN), (lost, ORANGE)], Vec::new());
    let mut data = Table::new(&["of", won, "drawn", lost]);
    let games = (!stats.unknown.contains(Capabilities::GAME)).then_some(("games", stats.game_results));
    for (label, outcomes) in games.into_iter().chain([("positions", stats.tally.results)]) {
        let Outcomes { wins, draws, losses } = outcomes;
        let all = outcomes.total().max(1) as f64;
        let parts = [wins, draws, losses].map(|count| count as f64 / all).to_vec();
        let text = format!("{:.1} %", 100.0 * outcomes.mean().unwrap_or(0.5));
        bars.rows.push(Bar { label: label.into(), parts, text });
        data.row([Cell::text(label), wins.into(), draws.into(), losses.into()]);
    }
    let side = if of_mover { "the side to move" } else { "White" };
    let caption = format!("Behind the bars: the share of the points that {side} has.");
    part.add(Figure::new("results", "Results", &caption, Drawing::Bars(bars)).with_data(data));
    let unknown = match stats.game_length_unknown {
        0 => String::new(),
        count => format!("Not in it: {} games whose end is out of sight of their positions.", grouped(count)),
    };
    histogram(&mut part, stats, "game_length", &unknown);
    histogram(&mut part, stats, "ply", "");
    part
}

fn histogram(part: &mut Part, stats: &Stats, wanted: &str, caption: &str) {
    for (name, title, [values, counted], counts) in histograms(stats) {
        if name == wanted && counts.iter().any(|count| *count > 0) {
            let histogram = Histogram::of_values("", values, counted, counts);
            part.add(Figure::new(name, title, caption, Drawing::Histogram(histogram)));
        }
    }
}

fn scores(data: &Dataset) -> Part {
    let mut part = Part::new("Scores");
    let buckets: Vec<Bucket> = data.stats.tally.scores.buckets().collect();
    if buckets.iter().all(|bucket| bucket.outcomes.total() == 0) {
        part.missing("None of the positions has a score that is no mate.");
        return part;
    }
    let by_score = Histogram {
        title: String::new(),
        values: "centipawns for the side to move".into(),
        counted: "positions".into(),
        start: f64::from(-SCORE_REACH - SCORE_BIN),
        width: f64::from(SCORE_BIN),
        bars: buckets.iter().map(|bucket| bucket.outcomes.total()).collect(),
    };
    let mates: u64 = data.stats.tally.scores.mates.iter().map(Outcomes::total).sum();
    let caption = format!("The outermost bars hold all beyond ±{SCORE_REACH}. Mates: {}.", grouped(mates));
    part.add(Figure::new("score-histogram", "Scores", &caption, Drawing::Histogram(by_score)));
    part.add(agreement(&buckets, &data.k));
    histogram(&mut part, &data.stats, "depth", "");
    match &data.model {
        Ok((fitted, table)) => {
            for (outcome, id, title) in
                [(0, "wdl-wins", "Chance of winning"), (1, "wdl-draws", "Chance of a draw")]
            {
                let mut contours = counted(table, outcome);
                contours.axes.y = "material of both sides".into();
                contours.top = pawns(&fitted.model);
                let surface = Surface { contours, model: fitted.model, outcome };
                let caption = "Counted shares; the lines are those of the fitted model. Material is 9Q + 5R + 3(B + N) + P. Bare places have fewer than ten positions.";
                part.add(Figure::new(id, title, caption, Drawing::Surface(surface)));
            }
        }
        Err(reason) => part.missing(format!("No contours of win and draw: {reason}.")),
    }
    part
}

fn agreement(buckets: &[Bucket], k: &OrMissing<KFit>) -> Figure {
    const REACH: i32 = 1_000;
    let inner = |b: &&Bucket| b.from.is_some_and(|from| from >= -REACH) && b.to.is_some_and(|to| to <= REACH);
    let middle = |b: &Bucket| b.from.zip(b.to).map(|(from, to)| f64::from(from + to) / 2.0);
    let point = |b: &Bucket| Some((middle(b)?, b.mean_result?));
    let dots: Vec<(f64, f64)> = buckets.iter().filter(inner).filter_map(point).collect();
    let reach = f64::from(REACH);
    let axes =
        Axes::new("", "score, centipawns for the side to move", "mean result", -reach..reach, 0.0..1.0);
    let mut curves = Curves::within(axes);
    let caption = match k {
        Ok(fit) => {
            let scores = (-100..=100).map(|i| f64::from(i) * reach / 100.0);
            let line = scores.map(|cp| (cp, expected_score(cp, fit.k))).collect();
            curves = curves.line("sigmoid", ORANGE, line);
            let (k, error, loss) = (fit.k, fit.k_error, fit.loss);
            format!(
                "Sigmoid 1 / (1 + exp(−K·cp/400)) with K = {k:.4} ± {error:.4}; mean squared error {loss:.6}."
            )
        }
        Err(reason) => format!("No sigmoid: {reason}."),
    };
    curves = curves.dots("mean result", BLUE, dots);
    let mut data = Table::new(&["from", "to", "won", "drawn", "lost", "mean result", "expected"]);
    for bucket in buckets.iter().filter(inner) {
        let end = |end: Option<i32>| end.map_or(Cell::Nothing, |cp| Cell::exact(f64::from(cp)));
        let Outcomes { wins, draws, losses } = bucket.outcomes;
        let expected = k.as_ref().ok().and_then(|fit| Some(expected_score(middle(bucket)?, fit.k)));
        let counts = [wins, draws, losses].map(Cell::Count);
        let means = [Cell::known(bucket.mean_result), Cell::known(expected)];
        data.row([end(bucket.from), end(bucket.to)].into_iter().chain(counts).chain(means));
    }
    Figure::new("agreement", "Score against result", &caption, Drawing::Curves(curves)).with_data(data)
}

fn board(stats: &Stats) -> Part {
    let mut part = Part::new("Positions");
    let tally = &stats.tally;
    for name in ["piece_count", "material", "halfmove", "legal_moves"] {
        histogram(&mut part, stats, name, "");
    }
    if let Some(points) = mobility(stats) {
        let mut data = Table::new(&["move", "mean number of legal moves", "positions"]);
        for (number, mean, positions) in &points {
            data.row([Cell::exact(*number), Cell::number(*mean, 3), Cell::Count(*positions)]);
        }
        let line = points.iter().map(|(number, mean, _)| (*number, *mean)).collect();
        let curves = Curves::within(mobility_axes(&points)).line("", BLUE, line);
        let caption =
            "Legal moves of the side to move; without move numbers that fewer than 30 positions have.";
        let title = "Mean mobility by move number";
        part.add(Figure::new("mobility", title, caption, Drawing::Curves(curves)).with_data(data));
    }
    if stats.visits.positions > 0 {
        let VisitCounts { positions, moves, visits } = stats.visits;
        let mean = |count: u64| count as f64 / positions as f64;
        part.say(format!(
            "{} positions have visits of a search by playouts: {:.1} moves visited and {:.0} visits on average.",
            grouped(positions),
            mean(moves),
            mean(visits)
        ));
    }
    let share = 100.0 * stats.duplicates as f64 / stats.positions.max(1) as f64;
    let same = "equal to an earlier one: board, side to move, castling and en passant";
    part.say(format!("{} positions ({share:.2} %) are {same}.", grouped(stats.duplicates)));
    for (id, title, counts) in
        [("white-king", "White's king", &tally.white_king), ("black-king", "Black's king", &tally.black_king)]
    {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        let values = counts.iter().map(|count| Some(100.0 * *count as f64 / all)).collect();
        let deepest = counts.iter().copied().max().unwrap_or(0) as f64 / all * 100.0;
        let squares = Squares { values, below: Vec::new(), deepest, root: true };
        let mut data = Table::new(&["square", "positions"]);
        for (square, count) in counts.iter().enumerate() {
            data.row([Cell::text(super::figure::square_name(square)), Cell::Count(*count)]);
        }
        part.add(Figure::new(id, title, "Percent of positions.", Drawing::Squares(squares)).with_data(data));
    }
    part
}
