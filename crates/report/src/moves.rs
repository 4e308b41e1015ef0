//! The report section of a model of moves: strengths of features, and of pieces on squares.

use super::bars::{Bar, Bars};
use super::figure::{Drawing, Figure, square_name};
use super::section::{Part, Section, SectionKind};
use super::squares::Squares;
use super::style::BLUE;
use super::table::{Cell, Table};
use patzer_fit::moves::features::GROUPS;
use patzer_fit::moves::model::{Fit, Level};
use patzer_fit::moves::terms::Term;

/// Maximum number of bars of a figure; terms of more levels have a table alone.
const MOST_BARS: usize = 40;

const PIECES: [&str; 6] = ["pawn", "knight", "bishop", "rook", "queen", "king"];

/// The section of a fitted model of moves.
pub fn section(name: &str, fit: &Fit) -> Section {
    let mut section = Section::new(name, SectionKind::Moves);
    let choices: f64 = fit.levels[0].iter().map(|level| level.played).sum();
    section.measure("choices", "choices", choices.round() as u64);
    let free: usize = fit.terms.iter().map(|term| term.free_count()).sum();
    section.measure("strengths", "strengths fitted", free as u64);
    let (mut features, mut pairs) = (Part::new("Features"), Part::new("Pairs of features"));
    let mut boards = Part::new("Pieces and squares");
    features.say(
        "A move's strength is the product of its levels' strengths, and its chance is in proportion to it. Beside the bars: \
         the factor of the standard error; 1 is the level that others are measured against.",
    );
    boards.say(
        "Hundredths of the logarithm of the strength, from the mover's side, with the standard error below. Squares to \
         which no such piece could move are empty.",
    );
    for (term, levels) in fit.terms.iter().zip(&fit.levels) {
        match term {
            Term::Group(group) if GROUPS[*group].is_by_place() => add_boards(&mut boards, *term, levels),
            Term::Group(_) => add_bars(&mut features, *term, levels),
            Term::Pair(..) => add_bars(&mut pairs, *term, levels),
        }
    }
    section.part(features);
    if fit.terms.len() > GROUPS.len() {
        section.part(pairs);
    }
    section.part(boards);
    section
}

/// Levels of a term with their names: all of a group, the fitted ones of a pair.
fn shown(term: Term, levels: &[Level]) -> impl Iterator<Item = (String, &Level)> {
    let has_row = move |at: &usize| matches!(term, Term::Group(_)) || term.is_free(*at);
    (0..levels.len()).filter(has_row).map(move |at| (term.level_name(at), &levels[at]))
}

fn numbers(levels: &[(String, &Level)]) -> Table {
    let mut data = Table::new(&["level", "strength", "standard error of its logarithm", "played", "offered"]);
    for (name, Level { gamma, error, played, offered }) in levels {
        let numbers = [gamma, error, played].map(|number| Cell::exact(*number));
        data.row([Cell::text(name)].into_iter().chain(numbers).chain([Cell::Count(*offered)]));
    }
    data
}

fn add_bars(part: &mut Part, term: Term, levels: &[Level]) {
    let levels: Vec<(String, &Level)> = shown(term, levels).collect();
    let title = term.name();
    if levels.len() > MOST_BARS {
        part.say(format!("{title}: {}.", term.doc()));
        part.table(numbers(&levels));
        return;
    }
    let bar = |(name, level): &(String, &Level)| {
        let text = format!("{:.3}  ×÷ {:.2}", level.gamma, level.error.exp());
        Bar { label: name.clone(), parts: vec![level.gamma], text }
    };
    let bars = Bars::new("level", &[("strength", BLUE)], levels.iter().map(bar).collect());
    let id = title.replace(':', "-");
    part.add(
        Figure::new(&id, &title, &format!("{}.", term.doc()), Drawing::Bars(bars))
            .with_data(numbers(&levels)),
    );
}

fn add_boards(part: &mut Part, term: Term, levels: &[Level]) {
    let hundredths = |level: &Level| (level.offered > 0).then_some(100.0 * level.gamma.ln());
    let deepest = levels.iter().filter_map(hundredths).fold(0.0, |most: f64, value| most.max(value.abs()));
    for (piece, (name, levels)) in PIECES.iter().zip(levels.chunks(64)).enumerate() {
        let values = levels.iter().map(hundredths).collect();
        let below = levels.iter().map(|level| (level.error > 0.0).then_some(100.0 * level.error)).collect();
        let squares = Squares { values, below, deepest, root: false };
        let rows: Vec<(String, &Level)> =
            levels.iter().enumerate().map(|(square, level)| (square_name(square), level)).collect();
        let id = format!("{}-{name}", term.name());
        let title = format!("{}{} to", name[..1].to_uppercase(), &name[1..]);
        debug_assert_eq!(term.level_name(64 * piece)[1..], rows[0].0);
        part.add(Figure::new(&id, &title, "", Drawing::Squares(squares)).with_data(numbers(&rows)));
    }
}
