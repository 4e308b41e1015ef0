//! An opening, and the entry of a book that it is from.

use shakmaty::{Chess, Move};

use patzer_chess::{Line, ending, epd};
use patzer_io::message_error;

/// An opening: moves from a start, or a position alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    pub start: Chess,
    pub moves: Vec<Move>,
    pub position: Chess,
}

/// A line or a game of a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `line 7`, `game 3, line 31` or `entry 12`.
    pub place: String,
    /// The error says why it cannot be played.
    pub opening: Result<Opening, String>,
    /// Plies from the start of the game, if the entry says.
    pub plies: Option<u32>,
}

impl Opening {
    pub fn from_position(position: Chess) -> Opening {
        Opening { start: position.clone(), moves: Vec::new(), position }
    }
}

message_error!(OpeningError);

/// Parses a line of EPD or FEN.
pub(super) fn parse_line(line: &str, chess960: bool) -> Result<Chess, OpeningError> {
    epd::position(line, chess960).map_err(OpeningError).and_then(playable)
}

/// Refuses a position in which the game is over.
pub(super) fn playable(position: Chess) -> Result<Chess, OpeningError> {
    match ending(&Line::new(position.clone())) {
        None => Ok(position),
        Some(_) => Err(OpeningError("the game is over in this position".into())),
    }
}
