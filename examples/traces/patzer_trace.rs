//! Reads positions in the dialects of EPD, FEN and text that patzer writes, collects counts and writes traces. No
//! crate is needed, and no copyright is claimed for this file: copy it into your engine. `examples/write_traces.rs`
//! uses it.

use std::collections::BTreeMap;

/// A position and its result, as text, from White's side.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// A FEN of six fields.
    pub fen: String,
    pub result: String,
    /// Centipawns from White's side.
    pub score: Option<String>,
    /// Number of the game.
    pub game: Option<String>,
}

impl Position {
    /// Reads `FEN [0.5]`, `FEN "1-0"`, `FEN c9 "1-0";`, `FEN | 35 | 0.5` and `FEN | 35 | 0.5 | 17`; `None` of an empty
    /// line or a comment.
    pub fn read(line: &str) -> Result<Option<Position>, &'static str> {
        let mut rest = line.trim();
        if rest.is_empty() || rest.starts_with('#') {
            return Ok(None);
        }
        let mut fields = Vec::new();
        while fields.len() < 6 && !rest.is_empty() {
            let (field, behind) = rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()));
            if fields.len() > 3 && !field.bytes().all(|byte| byte.is_ascii_digit()) {
                break;
            }
            fields.push(field);
            rest = behind.trim_start();
        }
        if fields.len() < 4 {
            return Err("no position");
        }
        fields.extend(["0", "1"].iter().skip(fields.len() - 4));
        let from = rest.find(['[', '"', '|']).ok_or(NO_RESULT)?;
        let (score, rest) = match rest[from..].strip_prefix('|') {
            Some(text) => {
                text.split_once('|').map(|(score, rest)| (Some(score.trim()), rest)).ok_or(NO_RESULT)?
            }
            None => (None, &rest[from + 1..]),
        };
        let result = rest.trim_start();
        let end = result.find(|c: char| !c.is_ascii_digit() && !"-/.".contains(c)).unwrap_or(result.len());
        if end == 0 {
            return Err(NO_RESULT);
        }
        let game = result.split_once('|').filter(|_| score.is_some()).map(|(_, game)| game.trim().into());
        let score = score.filter(|score| !score.is_empty()).map(str::to_string);
        Ok(Some(Position { fen: fields.join(" "), result: result[..end].into(), score, game }))
    }
}

const NO_RESULT: &str = "no result, such as [0.5], \"1-0\" or | 35 | 0.5";

/// Counts of White and of Black by entry of the terms file.
#[derive(Debug, Clone, Default)]
pub struct Trace(pub BTreeMap<usize, [f32; 2]>);

impl Trace {
    /// A line of traces; `facts` are its further fields, such as `scale=0.5 eval=31`, and `both` says of which entries
    /// it has `white/black`, as terms of safety need.
    pub fn line(&self, position: &Position, phase: f32, facts: &str, both: impl Fn(usize) -> bool) -> String {
        let mut line = format!("{} {phase}", position.result);
        line.extend(position.game.as_ref().map(|game| format!(" game={game}")));
        line.extend(position.score.as_ref().map(|score| format!(" score={score}")));
        line.extend((!facts.is_empty()).then(|| format!(" {facts}")));
        for (&index, &[white, black]) in &self.0 {
            line += &match both(index) {
                true => format!(" {index}:{white}/{black}"),
                false if white == black => continue,
                false => format!(" {index}:{}", white - black),
            };
        }
        line
    }
}
