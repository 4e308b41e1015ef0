//! Static evaluations as engines say them, of many positions in one exchange.

use std::io::Write;
use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Position};

use crate::position::engine_fen;
use crate::{Analyst, LinePattern, PlayerError};

/// Known forms of static evaluations: a pattern, and whether the value is White's.
const KNOWN: [(&str, bool); 6] = [
    (r"evaluation (-?\d+) cp from the side to move", false),
    (r"^NNUE evaluation:?\s+([-+]?\d+\.\d+) \(white side\)", true),
    (r"^(?:Total|Final) evaluation:?\s+([-+]?\d+(?:\.\d+)?) \(white side\)", true),
    (
        r"(?i)^(?:info string )?(?:static |final |nnue |raw )*eval(?:uation)?\s*[:=]?\s*(?:cp )?([-+]?\d+(?:\.\d+)?)\s*(?:cp|centipawns)?$",
        false,
    ),
    (r"score cp (-?\d+)", false),
    (r"^([-+]?\d+)$", false),
];

/// Command that lets an engine say its static evaluation, and the forms in which it may.
#[derive(Debug, Clone)]
pub struct StaticEval {
    command: String,
    /// Patterns whose first group is the value, and whether it is White's.
    forms: Vec<(LinePattern, bool)>,
}

/// Lines kept of an answer.
const MOST_LINES: usize = 1000;

/// Positions in one exchange: an engine that writes a page about each does not wait long for a reader.
const AT_ONCE: usize = 64;

impl StaticEval {
    /// `pattern` finds the value in its first group: pawns with a decimal point, else centipawns; without one, the forms
    /// of known engines do. `white_pov` says whether values are White's; without it, the form says so.
    pub fn new(command: &str, pattern: Option<LinePattern>, white_pov: Option<bool>) -> StaticEval {
        let known = |(text, white): (&str, bool)| {
            (text.parse().expect("patterns of this file are valid"), white_pov.unwrap_or(white))
        };
        let forms = match pattern {
            Some(pattern) => vec![(pattern, white_pov == Some(true))],
            None => KNOWN.into_iter().map(known).collect(),
        };
        StaticEval { command: command.to_string(), forms }
    }

    pub fn command(&self) -> &str {
        &self.command
    }

    /// The value of the last line that the first matching form matches, in centipawns for the side to move.
    pub fn value(&self, lines: &[String], white_moves: bool) -> Option<f64> {
        self.forms.iter().find_map(|(pattern, white)| {
            let text = lines.iter().rev().find_map(|line| pattern.first_group(line.trim_end()))?;
            let number: f64 = text.trim_start_matches('+').parse().ok().filter(|n: &f64| n.abs() < 1e6)?;
            let centipawns = if text.contains('.') { 100.0 * number } else { number };
            Some(if *white && !white_moves { -centipawns } else { centipawns })
        })
    }

    /// Keeps the form that matches this answer alone; the line that it matches, if one does.
    pub fn settle(&mut self, lines: &[String]) -> Option<String> {
        let line = |(pattern, _): &(LinePattern, bool)| {
            lines.iter().rev().find(|line| pattern.first_group(line.trim_end()).is_some()).cloned()
        };
        let (form, line) = self.forms.iter().enumerate().find_map(|(at, form)| Some((at, line(form)?)))?;
        self.forms = vec![self.forms.swap_remove(form)];
        Some(line)
    }

    /// Takes the values for White's, or for the side to move's.
    pub fn set_side(&mut self, white: bool) {
        self.forms.iter_mut().for_each(|form| form.1 = white);
    }

    /// A search, which its move ends and which no other command may interrupt.
    fn is_search(&self) -> bool {
        self.command.starts_with("go")
    }
}

impl Analyst {
    /// Static evaluations in centipawns from White's side, under options that are set first; `None` of a position where
    /// no form matches, as in check.
    ///
    /// # Errors
    /// The engine crashes, hangs, or does not take a value of an option.
    pub fn evaluate(
        &mut self,
        eval: &StaticEval,
        options: &[(&str, String)],
        positions: &[Chess],
        stop: &AtomicBool,
    ) -> Result<Vec<Option<f64>>, PlayerError> {
        for (name, value) in options {
            self.set(name, value)?;
        }
        if !options.is_empty() {
            self.commands.extend_from_slice(b"ucinewgame\n");
        }
        let mut values = Vec::with_capacity(positions.len());
        self.answers(eval, positions, stop, &mut |position, lines| {
            let turn = position.turn();
            let value = eval.value(lines, turn.is_white());
            values.push(value.map(|value| turn.fold_wb(value, -value)));
        })?;
        Ok(values)
    }

    /// The lines with which the engine answers at a position.
    pub fn evaluation_lines(
        &mut self,
        eval: &StaticEval,
        position: &Chess,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, PlayerError> {
        let mut said = Vec::new();
        self.answers(eval, std::slice::from_ref(position), stop, &mut |_, lines| said = lines.to_vec())?;
        Ok(said)
    }

    /// Asks about positions and takes the lines of each answer.
    fn answers(
        &mut self,
        eval: &StaticEval,
        positions: &[Chess],
        stop: &AtomicBool,
        take: &mut dyn FnMut(&Chess, &[String]),
    ) -> Result<(), PlayerError> {
        let (command, search) = (eval.command.as_str(), eval.is_search());
        for positions in positions.chunks(if search { 1 } else { AT_ONCE }) {
            for position in positions {
                self.set_castling(position.castles().mode())?;
                let fen = engine_fen(position);
                let end = if search { "" } else { "isready\n" };
                let _ = write!(self.commands, "position fen {fen}\n{command}\n{end}");
            }
            let (timeout, mut lines, mut left) = (self.ready_timeout(), Vec::new(), positions.iter());
            self.converse(command, timeout, stop, |line| {
                let word = line.trim_ascii();
                if !(if search { word.starts_with(b"bestmove") } else { word == b"readyok" }) {
                    // A flood of lines does not fill the memory: the last ones count.
                    if lines.len() == MOST_LINES {
                        lines.remove(0);
                    }
                    lines.push(String::from_utf8_lossy(line).into_owned());
                    return None;
                }
                left.next().iter().for_each(|position| take(position, &lines));
                lines.clear();
                left.as_slice().is_empty().then_some(())
            })?;
        }
        Ok(())
    }

    /// Correlation of an engine's values, taken as White's, with its values of the same boards when the other side is to
    /// move, and the number of boards: near 1 where values are White's, near -1 where they are the side to move's.
    pub fn side_correlation(
        &mut self,
        eval: &StaticEval,
        positions: &[Chess],
        stop: &AtomicBool,
    ) -> Result<(f64, usize), PlayerError> {
        let mut eval = eval.clone();
        let both = |position: &Chess| Some((position.clone(), position.clone().swap_turn().ok()?));
        let (ours, theirs): (Vec<Chess>, Vec<Chess>) = positions.iter().filter_map(both).unzip();
        // As White's, the values are as the engine says them.
        eval.set_side(true);
        let ours = self.evaluate(&eval, &[], &ours, stop)?;
        let theirs = self.evaluate(&eval, &[], &theirs, stop)?;
        let pairs: Vec<[f64; 2]> =
            ours.iter().zip(&theirs).filter_map(|(a, b)| Some([(*a)?, (*b)?])).collect();
        let sum = |of: fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>();
        let (products, squares) = (sum(|[a, b]| a * b), sum(|[a, _]| a * a) * sum(|[_, b]| b * b));
        Ok((if squares > 0.0 { products / squares.sqrt() } else { 0.0 }, pairs.len()))
    }
}
