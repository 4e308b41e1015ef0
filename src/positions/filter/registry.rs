//! The table of filters: what a preset may name, with which parameters.
//!
//! In: a name and numbers, from a preset or `--filter-set`. Out: a filter, or what is wrong with them. The same
//! table makes the list in `patzer extract --help`, so that the two cannot drift.

use super::Filter;
use super::before_capture::BeforeCapture;
use super::before_check::BeforeCheck;
use super::before_mate::BeforeMate;
use super::capture::Capture;
use super::draws::Draws;
use super::in_check::InCheck;
use super::non_pawn_pieces::NonPawnPieces;
use super::piece_count::PieceCount;
use super::promotion::Promotion;

/// A whole number that a filter takes.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in a preset.
    pub name: &'static str,
    /// What it means, with its unit.
    pub doc: &'static str,
    /// The smallest value that makes sense.
    pub min: u8,
    /// The largest value that makes sense.
    pub max: u8,
    /// Its value where a preset is silent.
    pub default: u8,
}

/// How a row decides.
pub enum Make {
    /// By one sample alone; made from the values of the row's parameters, in their order.
    Stateless(fn(&[u8]) -> Box<dyn Filter>),
    /// By what came before: only the first of equal positions stays.
    Duplicates,
}

/// One filter that presets may use.
pub struct Row {
    /// Its name in a preset, and the reason under which it counts what it drops.
    pub name: &'static str,
    /// What it drops.
    pub doc: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// How it is made.
    pub make: Make,
}

const WINDOW: &[Parameter] =
    &[Parameter { name: "plies", doc: "length of the window, in plies", min: 1, max: 255, default: 5 }];

const RANGE: &[Parameter] = &[
    Parameter { name: "min", doc: "the fewest pieces kept", min: 0, max: 32, default: 0 },
    Parameter { name: "max", doc: "the most pieces kept", min: 0, max: 32, default: 32 },
];

/// Every filter.
pub static ROWS: &[Row] = &[
    Row {
        name: "in_check",
        doc: "the side to move is in check",
        parameters: &[],
        make: Make::Stateless(|_| Box::new(InCheck)),
    },
    Row {
        name: "before_check",
        doc: "a check is given within a window of plies",
        parameters: WINDOW,
        make: Make::Stateless(|v| Box::new(BeforeCheck { plies: v[0] })),
    },
    Row {
        name: "before_capture",
        doc: "a capture is played within a window of plies",
        parameters: WINDOW,
        make: Make::Stateless(|v| Box::new(BeforeCapture { plies: v[0] })),
    },
    Row {
        name: "before_mate",
        doc: "checkmate is given within a window of plies",
        parameters: WINDOW,
        make: Make::Stateless(|v| Box::new(BeforeMate { plies: v[0] })),
    },
    Row {
        name: "capture",
        doc: "the move played captures",
        parameters: &[],
        make: Make::Stateless(|_| Box::new(Capture)),
    },
    Row {
        name: "promotion",
        doc: "the move played promotes",
        parameters: &[],
        make: Make::Stateless(|_| Box::new(Promotion)),
    },
    Row {
        name: "draws",
        doc: "the game was drawn",
        parameters: &[],
        make: Make::Stateless(|_| Box::new(Draws)),
    },
    Row {
        name: "piece_count",
        doc: "it has fewer than min or more than max pieces, kings and pawns counted",
        parameters: RANGE,
        make: Make::Stateless(|v| Box::new(PieceCount { min: v[0], max: v[1] })),
    },
    Row {
        name: "non_pawn_pieces",
        doc: "it has fewer than min or more than max pieces other than pawns, kings counted",
        parameters: RANGE,
        make: Make::Stateless(|v| Box::new(NonPawnPieces { min: v[0], max: v[1] })),
    },
    Row {
        name: "duplicates",
        doc: "the position has come before (board, side to move, castling, en passant)",
        parameters: &[],
        make: Make::Duplicates,
    },
];

/// The row of a name, or what to say if there is none.
///
/// # Errors
/// If no filter has that name; the text lists those there are.
pub fn row(name: &str) -> Result<&'static Row, String> {
    ROWS.iter().find(|row| row.name == name).ok_or_else(|| {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        format!("unknown filter `{name}`; there are {}", names.join(", "))
    })
}

impl Row {
    /// Where a parameter stands among the row's, or what to say if it has none of that name.
    ///
    /// # Errors
    /// If the row has no such parameter; the text lists those it has.
    pub fn parameter(&self, name: &str) -> Result<usize, String> {
        self.parameters.iter().position(|p| p.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            match names.is_empty() {
                true => format!("`{}` takes no parameter, so no `{name}`", self.name),
                false => format!("`{}` has no parameter `{name}`; it has {}", self.name, names.join(", ")),
            }
        })
    }

    /// Checks a value for a parameter.
    ///
    /// # Errors
    /// If the value makes no sense there; the text names the range that does.
    pub fn value(&self, parameter: usize, value: i64) -> Result<u8, String> {
        let Parameter { name, min, max, .. } = self.parameters[parameter];
        u8::try_from(value).ok().filter(|v| (min..=max).contains(v)).ok_or_else(|| {
            format!("`{}.{name}` is {value}; it has to be a whole number from {min} to {max}", self.name)
        })
    }

    /// The values of a row that a preset does not set.
    pub fn defaults(&self) -> Vec<u8> {
        self.parameters.iter().map(|p| p.default).collect()
    }
}

/// The list of filters for a help text: what each drops, and what it takes.
pub fn listing() -> String {
    let mut text = String::new();
    for row in ROWS {
        text += &format!("  {:<16} {}", row.name, row.doc);
        for p in row.parameters {
            text +=
                &format!("\n{:19}{}: {} ({} to {}, default {})", "", p.name, p.doc, p.min, p.max, p.default);
        }
        text.push('\n');
    }
    text
}
