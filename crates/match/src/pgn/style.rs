//! Style of a game's PGN: tags, notation, comments.

use patzer_io::named;

pub use patzer_pgn::write::Notation;

named! {
    /// A fact about each move, as a field of its comment
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum MoveField {
        Timeleft: "timeleft", "`tl=`: seconds left on the clock";
        Latency: "latency", "`latency=`: measured time less the time that the engine reports";
        Nodes: "nodes", "`n=`: nodes";
        Seldepth: "seldepth", "`sd=`: selective depth";
        Nps: "nps", "`nps=`: nodes a second";
        Hashfull: "hashfull", "`hashfull=`: permille of the transposition table in use";
        Tbhits: "tbhits", "`tbhits=`: tablebase hits";
        Pv: "pv", "`pv=`: principal variation";
        Visits: "visits", "`visits=`: visits of each move, of a search by playouts in this process";
    }
}

patzer_io::serde_as_text!(MoveField);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnStyle {
    pub notation: Notation,
    pub fields: Vec<MoveField>,
    /// Write the seven required tags and bare moves.
    pub minimal: bool,
    /// Number the round of each game, `1.2`; otherwise both games of a pair have the round `1`.
    pub round_by_game: bool,
    /// Write when the game began and ended; two runs then differ.
    pub clock: bool,
    /// Write the tags ECO and Opening.
    pub openings: bool,
    pub site: String,
    /// Write a score of zero as `0.00`, as fastchess does, not as `+0.00`.
    pub unsigned_zero: bool,
}

impl Default for PgnStyle {
    fn default() -> PgnStyle {
        PgnStyle {
            notation: Notation::San,
            fields: vec![MoveField::Nodes, MoveField::Nps],
            minimal: false,
            round_by_game: true,
            clock: false,
            openings: false,
            site: "?".to_string(),
            unsigned_zero: false,
        }
    }
}
