//! Visitor that replays a game and appends its records.

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Color, FromSetup, Position, PositionError};

use super::annotation::{Annotation, Score, clock, looks_like_score};
use super::board::Board;
use super::dialect::{BARE, DIALECTS, DialectId};
use super::movetext::{MoveError, TokenSpan, Visitor};
use super::resolve::ParsedMove;
use super::scoring::Scoring;
use super::tally::ScoreTally;
use super::visits::{self, Visits};
use crate::{FAR, Placeholders, Record, flags};
use patzer_chess::PackedMove;
use patzer_chess::fen::castling_mode;

pub(super) struct Recorder<'a> {
    board: Board,
    records: &'a mut Vec<Record>,
    first: usize,
    ply: u32,
    game: u32,
    chess960: bool,
    scoring: &'a Scoring,
    /// Sides whose moves' scores are kept, by `Color as usize`.
    keeps: [bool; 2],
    tally: &'a mut ScoreTally,
    /// Number of scores in the tally before this game.
    before: [u64; DIALECTS.len()],
    /// Address and text of the first comment that looks like a score and cannot be read.
    unread: Option<(usize, String)>,
    pub(super) clocks: Option<&'a mut Vec<f32>>,
    pub(super) visits: Option<&'a mut Vec<Visits>>,
    /// Address of the first comment with invalid visits, and the reason.
    bad_visits: Option<(usize, String)>,
    /// Null moves played.
    pub(super) passes: u32,
    /// The movetext's result from White's side; `Some(None)` for `*`.
    pub(super) result: Option<Option<i8>>,
    ended: bool,
    next_score: Option<(Score, DialectId)>,
    /// Set after a null move, whose comments belong to no record.
    passed: bool,
}

impl Recorder<'_> {
    pub(super) fn new<'a>(
        start: Start,
        records: &'a mut Vec<Record>,
        game: u32,
        scoring: &'a Scoring,
        keeps: [bool; 2],
        tally: &'a mut ScoreTally,
    ) -> Recorder<'a> {
        Recorder {
            board: start.board,
            first: records.len(),
            records,
            ply: 0,
            game,
            chess960: start.chess960,
            scoring,
            keeps,
            before: tally.positions,
            tally,
            unread: None,
            clocks: None,
            visits: None,
            bad_visits: None,
            passes: 0,
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

    /// Completes the records of a game; `sound` if it has no error.
    pub(super) fn finish(self, result: Option<i8>, mate: bool, sound: bool) {
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
        if let Some(visits) = self.visits {
            visits.resize(self.records.len() - self.first, Visits::new());
        }
        let scored = self.tally.positions != self.before;
        if scored && result.is_some_and(|result| result != 0) {
            Placeholders::default().mark(&mut self.records[self.first..]);
        }
        if let Some(result) = result.filter(|_| sound && scored) {
            self.tally.add_game(&self.records[self.first..], result);
        }
    }

    /// The first comment that looks like a score and cannot be read, with its byte in `movetext`.
    pub(super) fn take_unread(&mut self, movetext: &[u8]) -> Option<(usize, String)> {
        let (address, text) = self.unread.take()?;
        Some((address.saturating_sub(movetext.as_ptr() as usize), text))
    }

    /// The byte in `movetext` of the first comment with invalid visits, and the reason.
    pub(super) fn take_bad_visits(&mut self, movetext: &[u8]) -> Option<(usize, String)> {
        let (address, reason) = self.bad_visits.take()?;
        Some((address.saturating_sub(movetext.as_ptr() as usize), reason))
    }

    pub(super) fn count(&self) -> usize {
        self.records.len() - self.first
    }

    pub(super) fn clear(&mut self) {
        self.records.truncate(self.first);
        self.tally.positions = self.before;
    }

    pub(super) fn number(&self) -> String {
        let dots = if self.board.turn() == Color::White { "." } else { "..." };
        format!("{}{dots}", self.board.fullmoves)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Checkmate, with the result from White's side.
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
        let mut score = None;
        if let Some((next, dialect)) = self.next_score.take() {
            self.tally.positions[dialect] += 1;
            self.tally.clamped += u64::from(next.is_clamped());
            bits |= if next.mate { flags::MATE_SCORE } else { 0 };
            score = Some(next);
        }
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
        self.passes += 1;
        self.next_score = None;
        Ok(())
    }

    fn comment(&mut self, text: &[u8]) {
        if self.clocks.is_some() {
            self.clock(text);
        }
        if self.visits.is_some() {
            self.read_visits(text);
        }
        let annotation = Annotation::parse(text);
        match annotation.score {
            Some(score) if self.scoring.conventions.0[score.dialect].read => {
                self.score(&annotation, self.scoring.conventions.0[score.dialect].dialect);
            }
            _ if annotation.book => {
                if let Some(record) = self.records[self.first..].last_mut().filter(|_| !self.passed) {
                    record.flags |= flags::BOOK;
                }
            }
            // A bare number that the file shows to be none is a time.
            score if score.is_some_and(|score| score.dialect != BARE) || looks_like_score(text) => {
                self.not_understood(text);
            }
            _ => {}
        }
    }

    fn result(&mut self, result: Option<i8>) {
        self.ended = true;
        self.result = self.result.or(Some(result));
    }
}

impl Recorder<'_> {
    /// Stores a comment's score with its position.
    fn score(&mut self, annotation: &Annotation, dialect: DialectId) {
        let (turn, conventions) = (self.board.turn(), &self.scoring.conventions);
        if !self.keeps[turn.other() as usize] {
            return;
        }
        if let Some(score) = annotation.after(turn, conventions) {
            self.next_score = Some((score.scaled(self.scoring.scale), dialect));
        }
        if self.passed {
            return;
        }
        let Some(record) = self.records[self.first..].last_mut() else { return };
        if let Some(score) = annotation.before(record.turn, conventions) {
            let score = score.scaled(self.scoring.scale);
            if record.score.is_none() {
                self.tally.positions[dialect] += 1;
            }
            self.tally.clamped += u64::from(score.is_clamped());
            record.score = Some(score.value);
            record.depth = score.depth;
            record.flags &= !flags::MATE_SCORE;
            record.flags |= if score.mate { flags::MATE_SCORE } else { 0 };
        }
    }

    /// Stores a comment's clock with the ply before it.
    #[cold]
    fn clock(&mut self, text: &[u8]) {
        let (Some(clocks), Some(ply)) = (&mut self.clocks, self.ply.checked_sub(1)) else { return };
        if let Some(seconds) = clock(text) {
            clocks.resize(ply as usize, f32::NAN);
            clocks.push(seconds);
        }
    }

    /// Stores the visits of a comment for the record of the move before it.
    #[cold]
    fn read_visits(&mut self, text: &[u8]) {
        let of_game = &self.records[self.first..];
        let (Some(visits), Some(record), false) = (&mut self.visits, of_game.last(), self.passed) else {
            return;
        };
        match visits::read(text, record) {
            None => {}
            Some(Ok(read)) => {
                visits.resize(of_game.len() - 1, Visits::new());
                visits.push(read);
            }
            Some(Err(reason)) => {
                self.bad_visits.get_or_insert((text.as_ptr() as usize, reason));
            }
        }
    }

    #[cold]
    fn not_understood(&mut self, text: &[u8]) {
        // Before the first move there is no position to score.
        if self.ply == 0 {
            return;
        }
        self.tally.unread += 1;
        if self.tally.sample.is_none() && self.unread.is_none() {
            let words = String::from_utf8_lossy(text);
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            self.unread = Some((text.as_ptr() as usize, words.chars().take(40).collect()));
        }
    }

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
        let setup = Fen::from_ascii(text.trim_ascii())?.into_setup();
        // Some Chess960 games lack the Variant tag.
        let chess960 = chess960 || castling_mode(&String::from_utf8_lossy(text), &setup).is_chess960();
        let position = Chess::from_setup(setup, CastlingMode::from_chess960(chess960))
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)?;
        Ok(Start { board: Board::new(&position), chess960 })
    }
}
