//! Plays a game while it is read, and takes down its samples.
//!
//! In: the tokens of one game, from pgn-reader. Out: its samples, result and fault. shakmaty knows the rules.
//! Because pgn-reader drops what it cannot read without saying so, the moves played are compared at the end with
//! the moves that the text claims to hold ([`super::tokens`]).

use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Color, KnownOutcome, Move, Outcome, Position, PositionError};

use super::annotation::{Annotation, Score};
use super::game::{Fault, Game};
use super::tokens;
use crate::chess::packed::ep_code;
use crate::chess::{PackedBoard, PackedMove};
use crate::positions::{FAR, Sample, flags};

/// What has been seen of the current game.
#[derive(Default)]
pub(super) struct Recorder {
    position: Chess,
    in_check: bool,
    chess960: bool,
    samples: Vec<Sample>,
    /// How many stretches of text between blank lines have begun.
    parts: u32,
    /// Moves were played before the last of them.
    resumed: bool,
    tagged: bool,
    fen: Option<Vec<u8>>,
    other_variant: bool,
    /// The result by the tag and by the movetext, from White's side.
    tag_result: Option<i8>,
    text_result: Option<i8>,
    ended: bool,
    /// The score of the position that comes next, from a comment on the move before it.
    next_score: Option<Score>,
    comment: Vec<u8>,
    fault: Option<String>,
    /// The fault is a move that cannot be played.
    illegal: bool,
}

impl Recorder {
    pub(super) fn reset(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        let comment = std::mem::take(&mut self.comment);
        *self = Recorder { samples, comment, ..Recorder::default() };
        self.samples.clear();
        self.comment.clear();
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.fault.get_or_insert(reason);
    }

    pub(super) fn stopped(&self) -> bool {
        self.fault.is_some() || self.other_variant
    }

    /// Compares what was played with what the movetext claims to hold.
    pub(super) fn check(&mut self, movetext: &[u8]) {
        if self.other_variant {
            return;
        }
        let played = self.samples.len();
        let claimed = tokens::count(movetext);
        let unsure = self.fault.is_some() || claimed.moves != played;
        // A token that was passed over makes a later move illegal or, worse, leaves it legal.
        if unsure
            && let Some((index, token)) = tokens::first_unreadable(movetext)
            && index <= played
        {
            self.samples.truncate(index);
            if self.illegal || self.fault.is_none() {
                self.fault = Some(format!("cannot read `{token}` as a move"));
            }
        } else if self.fault.is_none() {
            self.find_fault(claimed, movetext);
        }
    }

    /// Looks for what the reader does not mind.
    fn find_fault(&mut self, claimed: tokens::Count, movetext: &[u8]) {
        let played = self.samples.len();
        if claimed.unbalanced || claimed.moves != played {
            // Where the mainline was lost is not known, so nothing of the game can be trusted.
            self.samples.clear();
        }
        if claimed.open_comment {
            self.fail("a comment is never closed".into());
        } else if claimed.unbalanced {
            self.fail("the parentheses of its variations do not match".into());
        } else if claimed.moves != played {
            self.fail(format!("holds {} moves, but {played} could be read", claimed.moves));
        } else if movetext.trim_ascii().is_empty() {
            self.fail("has no movetext".into());
        }
    }

    /// Fills in what is known only at the end of a game.
    pub(super) fn finish(&mut self, line: u64) -> Game<'_> {
        let fault = self.fault.take().map(|reason| Fault { line, reason });
        let result = self.tag_result.or(self.text_result);
        let mate = self.in_check && fault.is_none() && self.position.legal_moves().is_empty();
        let (mut to_capture, mut to_check, mut to_end) = (FAR, FAR, FAR);
        for (back, sample) in self.samples.iter_mut().rev().enumerate() {
            to_capture = if sample.has(flags::CAPTURE) { 0 } else { further(to_capture) };
            to_check = if sample.has(flags::GIVES_CHECK) { 0 } else { further(to_check) };
            to_end = if back == 0 { 0 } else { further(to_end) };
            sample.to_capture = to_capture;
            sample.to_check = to_check;
            sample.to_end = to_end;
            sample.result = result.unwrap_or(0);
            sample.flags |= if mate { flags::MATE_END } else { 0 };
        }
        let plausible = self.tagged || !self.samples.is_empty();
        Game { samples: &self.samples, result, fault, other_variant: self.other_variant, plausible }
    }

    /// Sets up the position of a FEN tag.
    fn set_up(&mut self, fen: &[u8]) -> Result<(), String> {
        let fen = Fen::from_ascii(fen.trim_ascii()).map_err(|e| format!("FEN tag: {e}"))?;
        let set_up = |mode| -> Result<Chess, String> {
            let position: Result<Chess, _> = fen.clone().into_position(mode);
            position.or_else(PositionError::ignore_invalid_ep_square).map_err(|e| format!("FEN tag: {e}"))
        };
        let by_tag = set_up(CastlingMode::from_chess960(self.chess960));
        // Chess960 games are not always tagged as such.
        self.position = by_tag.or_else(|reason| {
            let position = set_up(CastlingMode::Chess960).map_err(|_| reason)?;
            self.chess960 = true;
            Ok::<_, String>(position)
        })?;
        self.in_check = self.position.is_check();
        Ok(())
    }

    /// Adds the sample of the current position and plays the move.
    fn play(&mut self, m: Move) {
        let position = &self.position;
        let score = self.next_score.take();
        let mut bits = 0;
        bits |= if m.is_capture() { flags::CAPTURE } else { 0 };
        bits |= if m.is_promotion() { flags::PROMOTION } else { 0 };
        bits |= if self.in_check { flags::IN_CHECK } else { 0 };
        bits |= if self.chess960 { flags::CHESS960 } else { 0 };
        bits |= if score.is_some_and(|s| s.mate) { flags::MATE_SCORE } else { 0 };
        let mut sample = Sample {
            board: PackedBoard::pack(position),
            turn: position.turn(),
            ep: ep_code(position),
            halfmove: position.halfmoves().min(255) as u8,
            fullmove: position.fullmoves().get().min(u32::from(u16::MAX)) as u16,
            ply: self.samples.len() as u16,
            game: 0,
            result: 0,
            score: score.map(|s| s.value),
            depth: score.and_then(|s| s.depth),
            played: PackedMove::pack(m),
            flags: bits,
            to_capture: FAR,
            to_check: FAR,
            to_end: FAR,
            leaf: None,
            mean: None,
        };
        self.position.play_unchecked(m);
        self.in_check = self.position.is_check();
        sample.flags |= if self.in_check { flags::GIVES_CHECK } else { 0 };
        self.samples.push(sample);
    }

    /// Takes in a whole comment.
    fn annotate(&mut self, comment: &[u8]) {
        let annotation = Annotation::parse(comment);
        if annotation == Annotation::default() {
            return;
        }
        if let Some(score) = annotation.after(self.position.turn()) {
            self.next_score = Some(score);
        }
        let Some(sample) = self.samples.last_mut() else { return };
        sample.flags |= if annotation.book { flags::BOOK } else { 0 };
        if let Some(score) = annotation.before(sample.turn) {
            sample.score = Some(score.value);
            sample.depth = score.depth;
            sample.flags &= !flags::MATE_SCORE;
            sample.flags |= if score.mate { flags::MATE_SCORE } else { 0 };
        }
    }

    /// A message that names a move as people do.
    fn name(&self, san: SanPlus) -> String {
        let dots = if self.position.turn() == Color::White { "." } else { "..." };
        format!("{}{dots} {san}", self.position.fullmoves())
    }
}

/// One ply further away than `distance`.
fn further(distance: u8) -> u8 {
    distance.saturating_add(1)
}

impl Visitor for Recorder {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), ()> {
        self.parts += 1;
        self.resumed = !self.samples.is_empty();
        ControlFlow::Continue(())
    }

    fn tag(&mut self, _: &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        self.tagged = true;
        match name {
            b"Result" => self.tag_result = result(value.as_bytes()),
            b"FEN" => self.fen = Some(value.decode().into_owned()),
            b"Variant" => match variant(value.as_bytes()) {
                Some(chess960) => self.chess960 = chess960,
                None => self.other_variant = true,
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, _: ()) -> ControlFlow<(), ()> {
        if self.other_variant {
            return ControlFlow::Break(());
        }
        if self.parts == 1
            && let Some(fen) = self.fen.take()
            && let Err(reason) = self.set_up(&fen)
        {
            self.fail(reason);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, _: &mut (), san: SanPlus) -> ControlFlow<()> {
        let fault = if self.ended {
            format!("move {} comes after the result", self.name(san))
        } else if self.resumed {
            format!("a blank line in the movetext, before {}", self.name(san))
        } else if self.samples.len() > usize::from(u16::MAX) {
            "is longer than 65,536 plies".into()
        } else {
            match san.san.to_move(&self.position).ok().or_else(|| unmarked_capture(san.san, &self.position)) {
                Some(m) => {
                    self.play(m);
                    return ControlFlow::Continue(());
                }
                None => {
                    self.illegal = true;
                    format!("illegal or ambiguous move {}", self.name(san))
                }
            }
        };
        self.fail(fault);
        ControlFlow::Break(())
    }

    fn partial_comment(&mut self, _: &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        self.comment.extend_from_slice(comment.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, _: &mut (), comment: RawComment<'_>) -> ControlFlow<()> {
        if self.comment.is_empty() {
            self.annotate(comment.as_bytes());
        } else {
            let mut whole = std::mem::take(&mut self.comment);
            whole.extend_from_slice(comment.as_bytes());
            self.annotate(&whole);
            whole.clear();
            self.comment = whole;
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, _: &mut (), outcome: Outcome) -> ControlFlow<()> {
        self.ended = true;
        self.text_result = self.text_result.or(outcome.known().map(sign));
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, _: ()) {}
}

/// A move whose capture is written without `x`, or the other way round, if only one fits.
fn unmarked_capture(san: San, position: &Chess) -> Option<Move> {
    let San::Normal { role, file, rank, to, promotion, .. } = san else { return None };
    let candidates = position.san_candidates(role, to);
    let mut fitting = candidates.iter().filter(|m| {
        m.promotion() == promotion
            && m.from().is_some_and(|from| {
                file.is_none_or(|f| f == from.file()) && rank.is_none_or(|r| r == from.rank())
            })
    });
    // A pawn named by its square alone does not capture: `d5` is never `exd5`.
    let first = fitting
        .next()
        .copied()
        .filter(|m| !(role == shakmaty::Role::Pawn && file.is_none() && m.is_capture()));
    first.filter(|_| fitting.next().is_none())
}

/// A result from White's side.
fn result(text: &[u8]) -> Option<i8> {
    match Outcome::from_ascii(text.trim_ascii()) {
        Ok(outcome) => outcome.known().map(sign),
        Err(_) => None,
    }
}

fn sign(outcome: KnownOutcome) -> i8 {
    match outcome.winner() {
        Some(Color::White) => 1,
        Some(Color::Black) => -1,
        None => 0,
    }
}

/// Whether a Variant tag means Chess960 (`Some(true)`), standard chess (`Some(false)`) or something else.
fn variant(name: &[u8]) -> Option<bool> {
    let letters: Vec<u8> =
        name.iter().filter(|b| b.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect();
    match &letters[..] {
        b"" | b"standard" | b"chess" | b"normal" | b"fromposition" => Some(false),
        b"chess960"
        | b"fischerandom"
        | b"fischerrandom"
        | b"fischerrandomchess"
        | b"freestyle"
        | b"frc"
        | b"dfrc"
        | b"doublefischerrandom"
        | b"960" => Some(true),
        _ => None,
    }
}
