//! JSON lines with a FEN each: tables of positions, and Lichess's evaluations (`lichess_db_eval.jsonl`), of which the
//! deepest counts: its first line's score, from White's side, and first move.
//!
//! The keys of the first object say whether there are leaves and mean results. The first score or mate decides the side
//! of all.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::Record;
use crate::capabilities::Capabilities;
use crate::codec::PositionReader;
use crate::fen::LineError;
use crate::foreign::columns::{Columns, FEN, LEAF, MATE_IN, MEAN, MOVE, RESULT, ROLES, SCORE};
use crate::foreign::table::{self, Table};
use crate::stream::Input;
use patzer_io as io;
use patzer_io::error::Result;

pub fn recognise(head: &[u8]) -> bool {
    let head = io::without_byte_order_mark(head).trim_ascii_start();
    head.starts_with(b"{") && memchr::memmem::find(head, b"\"fen\"").is_some()
}

pub struct Reader {
    input: Input,
    line: Vec<u8>,
    columns: Columns,
    table: Table,
    /// True if the first line waits in `line`.
    waits: bool,
    leaves: bool,
    means: bool,
    lacks: Capabilities,
    /// True if scores speak for White, once a line has said it.
    white: Option<bool>,
    announced: bool,
}

impl Reader {
    pub fn new(mut input: Input) -> Result<Reader> {
        let (columns, mut line, mut waits) = (input.columns.clone(), Vec::new(), true);
        while waits && line.is_empty() {
            waits = input.line(&mut line)?;
        }
        let first: Map<String, Value> = serde_json::from_slice(&line).unwrap_or_default();
        let has = |role| columns.names(role).any(|name| first.contains_key(name));
        let (leaves, means) = (has(LEAF), has(MEAN));
        // The move of Lichess's evaluations is in their lines.
        let fen = columns.names(FEN).find_map(|name| first.get(name)?.as_str());
        let lacks = table::lacks(|role| has(role) || (role == MOVE && first.contains_key("evals")), fen);
        let (table, white, announced) = (Table::new(&columns, has), None, false);
        Ok(Reader { input, line, columns, table, waits, leaves, means, lacks, white, announced })
    }

    fn take(&mut self, records: &mut Vec<Record>) -> std::result::Result<(), LineError> {
        let object: Map<String, Value> = serde_json::from_slice(&self.line)
            .map_err(|e| LineError::Fen(format!("is not a JSON object: {e}")))?;
        let evaluation = object.get("evals").map(deepest).transpose()?;
        let cell = |role: usize| -> Option<(&str, &Value)> {
            let cell = |name| Some((name, object.get(name).or_else(|| evaluation.as_ref()?.get(name))?));
            self.columns.names(role).find_map(cell)
        };
        let value = |role: usize| cell(role).filter(|(_, value)| !value.is_null());
        let score = cell(SCORE).map(|(name, _)| name);
        self.white = side(&self.columns, self.white, score, value(MATE_IN).is_some())?;
        let white = self.white.unwrap_or(false);
        if !std::mem::replace(&mut self.announced, true) {
            let known =
                |key: &str| (0..ROLES.len()).any(|role| self.columns.names(role).any(|name| name == key));
            let unread = object.keys().map(String::as_str).filter(|key| *key != "evals" && !known(key));
            let has = [score.is_some() || cell(MATE_IN).is_some(), value(RESULT).is_some()];
            let (path, notices) = (self.input.path(), &self.input.notices);
            table::announce(path, notices, white, has, &unread.collect::<Vec<_>>());
        }
        let text = |role: usize| match value(role)?.1 {
            Value::String(text) => Some(Cow::Borrowed(text.as_str())).filter(|text| !text.is_empty()),
            other => Some(Cow::Owned(other.to_string())),
        };
        if text(FEN).is_none() {
            return Err(LineError::Structure("no fen; a mapping such as fen=NAME names its key"));
        }
        const LATE: &str = "comes after lines without this key; add it to the first line, where null will do";
        match () {
            () if !self.leaves && value(LEAF).is_some() => Err(LineError::Column("leaf", LATE)),
            () if !self.means && value(MEAN).is_some() => Err(LineError::Column("mean_count", LATE)),
            () => self.table.take(text, white, records),
        }
    }
}

/// Decides whether scores speak for White, by the name of a line's score or by its mate; the lines before must agree.
fn side(
    columns: &Columns,
    before: Option<bool>,
    score: Option<&str>,
    mate: bool,
) -> std::result::Result<Option<bool>, LineError> {
    if score.is_none() && (before.is_some() || !mate) {
        return Ok(before);
    }
    let white = columns.white(score).map_err(LineError::Fen)?;
    match before {
        Some(before) if before != white => Err(LineError::Fen(format!(
            "its `{}` takes another side than the scores before; say it by a mapping, side=white or side=mover",
            score.unwrap_or(ROLES[MATE_IN].name)
        ))),
        _ => Ok(Some(white)),
    }
}

/// The deepest of Lichess's evaluations with its first line.
fn deepest(evaluations: &Value) -> std::result::Result<Map<String, Value>, LineError> {
    let invalid = || LineError::Structure("its evals are not Lichess's");
    let depth = |evaluation: &&Value| {
        let number = |name: &str| evaluation.get(name).and_then(Value::as_u64).unwrap_or(0);
        (number("depth"), number("knodes"))
    };
    let best = evaluations.as_array().and_then(|all| all.iter().max_by_key(depth)).ok_or_else(invalid)?;
    let first =
        best.get("pvs").and_then(|lines| lines.get(0)).and_then(Value::as_object).ok_or_else(invalid)?;
    let mut first = first.clone();
    first.insert("depth".into(), best.get("depth").cloned().unwrap_or(Value::Null));
    Ok(first)
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        if !std::mem::take(&mut self.waits) && !self.input.line(&mut self.line)? {
            self.table.end(self.input.path(), &self.input.notices, records);
            return Ok(false);
        }
        if !self.line.is_empty() {
            let taken = self.take(records);
            self.input.pass(taken)?;
        }
        Ok(true)
    }

    fn resolved(&self) -> Option<String> {
        self.leaves.then(|| "as the file says".into())
    }

    fn lacks(&self) -> Capabilities {
        self.lacks
    }

    fn reads_scores(&self) -> bool {
        true
    }

    fn means(&self) -> bool {
        self.means
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use std::path::Path;

    fn read(text: &str) -> Result<Vec<Record>> {
        let text = std::io::Cursor::new(text.as_bytes().to_vec());
        let mut reader = Reader::new(Input::of(Path::new("x"), Box::new(text))?)?;
        let mut records = Vec::new();
        while reader.next_batch(&mut records)? {}
        Ok(records)
    }

    /// The example of database.lichess.org, shortened.
    #[test]
    fn the_deepest_evaluation_of_lichess_counts() {
        let line = r#"{"fen":"2bq1rk1/pr3ppn/1p2p3/7P/2pP1B1P/2P5/PPQ2PB1/R3R1K1 w - -","evals":[
            {"pvs":[{"cp":311,"line":"g2e4 f7f5 e4b7"}],"knodes":206765,"depth":36},
            {"pvs":[{"cp":292,"line":"g2e4 f7f5"},{"cp":277,"line":"f4g3"}],"knodes":92958,"depth":34}]}"#;
        let line = line.replace('\n', "");
        assert_eq!(registry::of_content(line.as_bytes()).unwrap().name, "jsonl");
        let records = read(&(line + "\n\n")).unwrap();
        assert_eq!(records.len(), 1);
        let record = &records[0];
        assert_eq!((record.score, record.depth, record.result), (Some(311), Some(36), 0));
        assert_eq!(record.played.from().to_string() + &record.played.to().to_string(), "g2e4");
        let mate = r#"{"fen":"6k1/6p1/8/4K3/4NN2/8/8/8 b - -","evals":[{"pvs":[{"mate":15,"line":"g8f8"}],"depth":40}]}"#;
        assert_eq!(read(mate).unwrap()[0].score, Some(-31_970));
    }

    #[test]
    fn of_rows_that_are_lines_of_evaluations_the_deepests_first_counts() {
        let fens = ["4k3/8/8/8/8/8/4P3/4K3 w - -", "4k3/8/8/8/8/8/4P3/4K3 b - -"];
        let rows = [(0, 20, 9, -18), (0, 30, 5, -35), (0, 30, 5, -410), (0, 30, 8, -25), (0, 22, 99, 7)];
        let rows = rows.into_iter().chain([(1, 12, 1, 60), (1, 12, 1, 50), (0, 11, 1, 3)]);
        let line = |(fen, depth, knodes, cp): (usize, u8, u64, i16)| {
            let (fen, line) = (fens[fen], ["e2e4", "e8d8"][fen]);
            format!(
                "{{\"fen\":\"{fen}\",\"line\":\"{line}\",\"depth\":{depth},\"knodes\":{knodes},\"cp\":{cp}}}\n"
            )
        };
        let text: String = rows.map(line).collect();
        let records = read(&text).unwrap();
        let facts: Vec<_> = records.iter().map(|r| (r.game, r.score, r.depth)).collect();
        assert_eq!(facts, [(0, Some(-25), Some(30)), (1, Some(-60), Some(12)), (2, Some(3), Some(11))]);
        let games = text.replace("\"knodes\"", "\"game\":7,\"knodes\"");
        assert_eq!(read(&games).unwrap().len(), 8);
    }

    #[test]
    fn objects_are_rows_and_faults_have_their_line() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let records = read(&format!(
            "{{\"fen\":\"{start}\",\"score\":-12,\"result\":0.5}}\n{{\"fen\":\"{start}\",\"mate\":2}}"
        ))
        .unwrap();
        assert_eq!((records[0].score, records[0].result, records[1].score), (Some(-12), 0, Some(31_997)));
        for bad in ["[]", "{}", "{\"fen\":1}", "{\"fen\":\"x\",\"evals\":[]}", "{\"fen\":[]}"] {
            let error = read(&format!("{{\"fen\":\"{start}\"}}\n{bad}")).unwrap_err().to_string();
            assert!(error.starts_with("x: line 2: "), "{error}");
        }
    }

    #[test]
    fn the_first_score_or_mate_decides_the_side_of_all() {
        let start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let scores = |lines: &[&str]| {
            let lines = lines.iter().map(|line| format!("{{\"fen\":\"{start}\",{line}}}\n"));
            let records = read(&lines.collect::<String>());
            records.map(|records| records.iter().filter_map(|record| record.score).collect::<Vec<_>>())
        };
        assert_eq!(scores(&["\"score\":30", "\"mate\":3"]).unwrap(), [30, 31_995]);
        assert_eq!(scores(&["\"score\":null,\"mate\":3", "\"score\":30"]).unwrap(), [31_995, 30]);
        assert_eq!(scores(&["\"mate\":3", "\"cp\":30"]).unwrap(), [-31_994, -30]);
        for mixed in [["\"mate\":3", "\"score\":30"], ["\"score\":30", "\"cp\":30"]] {
            let error = scores(&mixed).unwrap_err().to_string();
            assert!(error.starts_with("x: line 2: its `") && error.contains("another side"), "{error}");
        }
    }

    #[test]
    fn the_first_line_says_whether_there_are_leaves_and_mean_results() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K -";
        let [plain, leaf, mean, none] = [
            String::new(),
            format!(",\"leaf\":\"{fen}\",\"leaf_score\":5"),
            ",\"mean_count\":3,\"mean_sum\":-1".into(),
            ",\"leaf\":null,\"mean_count\":null".into(),
        ]
        .map(|rest| format!("{{\"fen\":\"{fen}\"{rest}}}\n"));
        let facts = |text: &str| {
            let text = std::io::Cursor::new(text.as_bytes().to_vec());
            let reader = Reader::new(Input::of(Path::new("x"), Box::new(text)).unwrap()).unwrap();
            (reader.resolved().is_some(), reader.means())
        };
        assert_eq!(facts(&plain), (false, false));
        assert_eq!(facts(&format!("\n \n{leaf}")), (true, false));
        assert_eq!(facts(&mean), (false, true));
        assert_eq!(facts(&none), (true, true));
        let records = read(&format!("{none}{leaf}{mean}")).unwrap();
        assert_eq!((records.len(), records[1].leaf.map(|leaf| leaf.score)), (3, Some(5)));
        assert_eq!(records[2].mean.map(|mean| (mean.count, mean.sum)), Some((3, -1)));
        for late in [leaf, mean] {
            let error = read(&format!("{plain}{late}")).unwrap_err().to_string();
            assert!(
                error.starts_with("x: line 2: ") && error.contains("add it to the first line"),
                "{error}"
            );
        }
    }
}
