//! Visitor that replays a game and appends its records.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, Position, PositionError};

use super::annotation::{Annotation, EvalSide, Score};
use super::board::Board;
use super::movetext::{MoveError, TokenSpan, Visitor};
use super::resolve::ParsedMove;
use crate::{FAR, Record, flags};
use patzer_chess::PackedMove;

pub(super) struct Recorder<'a> {
    board: Board,
    records: &'a mut Vec<Record>,
    first: usize,
    ply: u32,
    game: u32,
    chess960: bool,
    eval_side: EvalSide,
    /// The movetext's result from White's side.
    pub(super) result: Option<i8>,
    ended: bool,
    next_score: Option<Score>,
    /// The last move was a null move, whose comments belong to no record.
    passed: bool,
}

impl Recorder<'_> {
    pub(super) fn new<'a>(
        start: Start,
        records: &'a mut Vec<Record>,
        game: u32,
        eval_side: EvalSide,
    ) -> Recorder<'a> {
        Recorder {
            board: start.board,
            first: records.len(),
            records,
            ply: 0,
            game,
            chess960: start.chess960,
            eval_side,
            result: None,
            ended: false,
            next_score: None,
            passed: false,
        }
    }

    pub(super) fn end_on_board(&self, claimed: Option<i8>) -> Option<Ending> {
        let board = &self.board;
        // Stalemate would not change a drawn game.
        if (!board.in_check && claimed == Some(0)) || board.king_can_move() {
            return None;
        }
        if !board.position().is_some_and(|position| position.legal_moves().is_empty()) {
            return None;
        }
        let mates = if board.us == 0 { -1 } else { 1 };
        Some(if board.in_check { Ending::Checkmate(mates) } else { Ending::Stalemate })
    }

    pub(super) fn finish(self, result: Option<i8>, mate: bool) {
        let (mut to_capture, mut to_check, mut to_end) = (FAR, FAR, FAR);
        let mate = if mate { flags::MATE_END } else { 0 };
        let mut next = self.ply;
        // Null moves are plies without records, so a step may be longer than one ply.
        let mut last = true;
        for record in self.records[self.first..].iter_mut().rev() {
            let plies = next.saturating_sub(u32::from(record.ply)).min(255) as u8;
            next = u32::from(record.ply);
            to_capture = if record.has(flags::CAPTURE) { 0 } else { to_capture.saturating_add(plies) };
            to_check = if record.has(flags::GIVES_CHECK) { 0 } else { to_check.saturating_add(plies) };
            to_end = if last { plies - 1 } else { to_end.saturating_add(plies) };
            last = false;
            record.to_capture = to_capture;
            record.to_check = to_check;
            record.to_end = to_end;
            record.result = result.unwrap_or(0);
            record.flags |= mate;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.records.len() - self.first
    }

    pub(super) fn clear(&mut self) {
        self.records.truncate(self.first);
    }

    pub(super) fn number(&self) -> String {
        let dots = if self.board.turn() == Color::White { "." } else { "..." };
        format!("{}{dots}", self.board.fullmoves)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the result from White's side.
    Checkmate(i8),
    Stalemate,
}

impl Visitor for Recorder<'_> {
    #[inline(always)]
    fn play(&mut self, parsed: ParsedMove, span: TokenSpan) -> Result<(), MoveError> {
        let Some(step) = self.board.find(parsed) else {
            return Err(if self.ended { MoveError::AfterResult(span) } else { MoveError::Illegal(span) });
        };
        self.check_continues(span)?;
        let board = &self.board;
        let mut bits = 0;
        bits |= if board.captures(step) { flags::CAPTURE } else { 0 };
        bits |= if step.promotion != 0 { flags::PROMOTION } else { 0 };
        bits |= if board.in_check { flags::IN_CHECK } else { 0 };
        bits |= if self.chess960 { flags::CHESS960 } else { 0 };
        let score = self.next_score.take();
        bits |= if score.is_some_and(|s| s.mate) { flags::MATE_SCORE } else { 0 };
        self.records.push(Record {
            board: board.packed(),
            turn: board.turn(),
            ep: board.ep,
            halfmove: board.halfmoves.min(255) as u8,
            fullmove: board.fullmoves.min(u32::from(u16::MAX)) as u16,
            ply: self.ply as u16,
            game: self.game,
            result: 0,
            score: score.map(|s| s.value),
            depth: score.and_then(|s| s.depth),
            played: PackedMove(step.packed()),
            flags: bits,
            to_capture: FAR,
            to_check: FAR,
            to_end: FAR,
            leaf: None,
            mean: None,
            best: PackedMove::NONE,
            wdl: None,
        });
        self.board.play(step);
        if self.board.in_check
            && let Some(record) = self.records.last_mut()
        {
            record.flags |= flags::GIVES_CHECK;
        }
        self.ply += 1;
        self.passed = false;
        Ok(())
    }

    fn pass(&mut self, span: TokenSpan) -> Result<(), MoveError> {
        self.check_continues(span)?;
        if self.board.in_check {
            return Err(MoveError::PassInCheck(span));
        }
        self.board.pass();
        self.ply += 1;
        self.passed = true;
        self.next_score = None;
        Ok(())
    }

    fn comment(&mut self, text: &[u8]) {
        let annotation = Annotation::parse(text);
        if annotation == Annotation::default() {
            return;
        }
        if let Some(score) = annotation.after(self.board.turn(), self.eval_side) {
            self.next_score = Some(score);
        }
        if self.passed {
            return;
        }
        let Some(record) = self.records[self.first..].last_mut() else { return };
        record.flags |= if annotation.book { flags::BOOK } else { 0 };
        if let Some(score) = annotation.before(record.turn, self.eval_side) {
            record.score = Some(score.value);
            record.depth = score.depth;
            record.flags &= !flags::MATE_SCORE;
            record.flags |= if score.mate { flags::MATE_SCORE } else { 0 };
        }
    }

    fn result(&mut self, result: Option<i8>) {
        self.ended = true;
        self.result = self.result.or(result);
    }
}

impl Recorder<'_> {
    #[inline(always)]
    fn check_continues(&self, span: TokenSpan) -> Result<(), MoveError> {
        match () {
            () if self.ended => Err(MoveError::AfterResult(span)),
            () if span.after_blank => Err(MoveError::AfterBlank(span)),
            () if self.ply > u32::from(u16::MAX) => Err(MoveError::TooLong),
            () => Ok(()),
        }
    }
}

#[derive(Clone)]
pub(super) struct Start {
    board: Board,
    chess960: bool,
}

impl Start {
    pub(super) fn standard(chess960: bool) -> Start {
        Start { board: Board::new(&Chess::default()), chess960 }
    }

    pub(super) fn from_fen_tag(text: &[u8], chess960: bool) -> Result<Start, Box<dyn std::error::Error>> {
        let fen = Fen::from_ascii(text.trim_ascii())?;
        let set_up = |mode| {
            let position: Result<Chess, _> = fen.clone().into_position(mode);
            position.or_else(PositionError::ignore_invalid_ep_square).map_err(Box::new)
        };
        let by_tag = set_up(CastlingMode::from_chess960(chess960)).map(|position| (position, chess960));
        // Some Chess960 games lack the Variant tag.
        let (position, chess960) =
            by_tag.or_else(|reason| set_up(CastlingMode::Chess960).map(|p| (p, true)).map_err(|_| reason))?;
        Ok(Start { board: Board::new(&position), chess960 })
    }
}
