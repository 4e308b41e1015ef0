//! Meanings of a dataset's columns. The file's own metadata has them under the key [`KEY`], as JSON, and
//! docs/schema.md in a table.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::native::columns::{COLUMNS, Layout};
use crate::native::kind::ColumnType;
use crate::native::readable::{READABLE, ReadableColumns};
use crate::visits;

pub const KEY: &str = "patzer.columns";

#[derive(Debug, Serialize)]
pub struct Description {
    #[serde(skip)]
    pub name: &'static str,
    pub meaning: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Side that numbers speak for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<&'static str>,
    /// The value that means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<&'static str>,
}

const fn about(name: &'static str, meaning: &'static str) -> Description {
    Description { name, meaning, unit: None, side: None, empty: None }
}

impl Description {
    const fn unit(self, unit: &'static str) -> Description {
        Description { unit: Some(unit), ..self }
    }

    const fn side(self, side: &'static str) -> Description {
        Description { side: Some(side), ..self }
    }

    const fn empty(self, empty: &'static str) -> Description {
        Description { empty: Some(empty), ..self }
    }
}

const MOVER: &str = "side to move";
const LEAF_MOVER: &str = "side to move of the leaf";
const PLIES: &str = "plies";

/// One row for each of [`COLUMNS`], in their order.
pub static DESCRIPTIONS: [Description; COLUMNS.len()] = [
    about(
        "board",
        "pieces and castling rights: occupied squares as 64 bits, little-endian, a1 lowest; then 4 bits a piece in the \
         order of squares, low half of a byte first: 0 pawn, 1 knight, 2 bishop, 3 rook, 4 queen, 5 king, 6 rook that may \
         castle, and 8 more for Black",
    ),
    about("stm", "whether Black is to move"),
    about("ep", "en passant square, where the capture is legal: 0 = a1, 1 = b1 … 63 = h8").empty("255"),
    about("halfmove", "plies since the last capture or pawn move, at most 255").unit(PLIES),
    about("fullmove", "number of the move, as in a FEN").unit("moves"),
    about("ply", "plies since the first move of the game's record").unit(PLIES),
    about("game", "number of the game in the input, from 0, broken games included"),
    about("result", "result of the game: 1 won, 0 drawn, -1 lost").side("White"),
    about("score", "score of the engine; a mate in n plies is 32000 - n, being mated in n plies n - 32000")
        .unit("centipawns")
        .side(MOVER)
        .empty("null"),
    about("depth", "depth of the score").unit(PLIES).empty("null"),
    about(
        "move",
        "the move played: bits 0 to 5 from, 6 to 11 to (a castling king goes to its rook's square), 12 to 14 promotion \
         (1 knight, 2 bishop, 3 rook, 4 queen), 15 castling",
    )
    .empty("0"),
    about(
        "flags",
        "bits: 1 the move captures, 2 it promotes, 4 the side to move is in check, 8 the move gives check, 16 the game ends \
         in mate, 32 the move is from a book, 64 the score is a mate, 128 a game of \
         Chess960, 256 the score is 0 after one beyond 100 centipawns in a decided game, which says that it is none",
    ),
    about("to_capture", "plies until the next capture, 0 if the move captures").unit(PLIES).empty("255 (or later, or never)"),
    about("to_check", "plies until the next check, 0 if the move gives check").unit(PLIES).empty("255 (or later, or never)"),
    about("to_end", "plies until the last move of the game, 0 if the move is the last").unit(PLIES).empty("255 (or later)"),
    about("leaf", "the quiet position that `patzer label` resolved to, as `board`").empty("null"),
    about("leaf_stm", "whether Black is to move in the leaf").empty("null"),
    about("leaf_score", "static evaluation of the leaf, or a mate score")
        .unit("centipawns")
        .side(LEAF_MOVER)
        .empty("null"),
    about("mean_count", "number of equal positions that were merged into this one").unit("positions").empty("null"),
    about("mean_sum", "sum of the results of equal positions: mean_sum / mean_count is the mean result")
        .side("White")
        .empty("null"),
    about("best", "best move of the engine that labelled, as `move`").empty("null"),
    about("wdl_win", "wins that this engine expects in 1000 games").side(MOVER).empty("null"),
    about("wdl_draw", "draws that this engine expects in 1000 games; the rest are losses").empty("null"),
];

/// The metadata of a file with these columns, and perhaps [`visits`], as JSON.
pub fn json(layout: Layout, readable: ReadableColumns, with_visits: bool) -> String {
    let own = layout.columns().filter_map(|column| {
        let row = DESCRIPTIONS.iter().find(|row| row.name == column.name)?;
        Some((row.name.to_string(), serde_json::to_value(row).unwrap_or_default()))
    });
    let readable = readable.iter().map(|column| (column.name, column.doc));
    let visits = with_visits.then_some((visits::NAME, visits::MEANING));
    let readable = readable.chain(visits).map(|(name, meaning)| {
        let object = Map::from_iter([("meaning".to_string(), Value::from(meaning))]);
        (name.to_string(), Value::Object(object))
    });
    Value::Object(own.chain(readable).collect()).to_string()
}

/// A column as a table of columns shows it.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnRow {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    about: Option<&'static Description>,
}

impl ColumnRow {
    pub const HEADER: [&'static str; 6] = ["column", "type", "meaning", "unit", "side", "none is"];

    pub fn cells(&self) -> Vec<String> {
        let fact = |get: fn(&Description) -> Option<&'static str>| {
            self.about.and_then(get).unwrap_or_default().to_string()
        };
        let about = [fact(|d| Some(d.meaning)), fact(|d| d.unit), fact(|d| d.side), fact(|d| d.empty)];
        [format!("`{}`", self.name), self.kind.clone()].into_iter().chain(about).collect()
    }
}

/// The columns of a dataset in file order.
pub fn rows(layout: Layout) -> impl Iterator<Item = ColumnRow> {
    layout.columns().map(|column| {
        let kind = match column.kind {
            ColumnType::Board => "24 bytes".into(),
            ColumnType::Bool => "boolean".into(),
            ColumnType::Int(logical) => logical.to_lowercase().replace('_', ""),
        };
        let about = DESCRIPTIONS.iter().find(|row| row.name == column.name);
        ColumnRow { name: column.name.into(), kind, about }
    })
}

/// The table of docs/schema.md.
pub fn markdown() -> String {
    let mut text = format!("| {} |\n|{}\n", ColumnRow::HEADER.join(" | "), "---|".repeat(6));
    let all = Layout { resolved: true, means: true, taught: true };
    rows(all).for_each(|row| text += &format!("| {} |\n", row.cells().join(" | ")));
    let list = "list of (move uint16, visits uint32)";
    text += &format!("| `{}` | {list} | {} | | | null |\n", visits::NAME, visits::MEANING);
    for column in &READABLE {
        text += &format!("| `{}` | text | if asked for: {} | | | |\n", column.name, column.doc);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_described() {
        let names = |rows: &mut dyn Iterator<Item = &'static str>| rows.collect::<Vec<_>>();
        let described = names(&mut DESCRIPTIONS.iter().map(|row| row.name));
        assert_eq!(described, names(&mut COLUMNS.iter().map(|column| column.name)));
        for (column, row) in COLUMNS.iter().zip(&DESCRIPTIONS) {
            assert_eq!(row.empty == Some("null"), column.optional, "{}", row.name);
        }
        let json: Value =
            serde_json::from_str(&json(Layout::default(), "fen".parse().unwrap(), true)).unwrap();
        assert_eq!(json["score"]["unit"], "centipawns");
        assert!(json["fen"]["meaning"].is_string() && json["visits"]["meaning"].is_string());
        assert!(json["leaf"].is_null() && json["uci"].is_null());
    }
}
