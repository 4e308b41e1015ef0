//! Move ordering statistics. Quiet moves: butterfly history by colour, squares and whether they are attacked
//! (Schaeffer, "The History Heuristic and Alpha-Beta Search Enhancements in Practice", 1989), continuation
//! history by piece, target and an earlier move, and counter moves (Uiterwijk, 1992). Captures: by piece,
//! target and victim.

use shakmaty::{Bitboard, Color, Move, Role};

use super::history_table::HistoryTable;
use patzer_chess::{MoveParts, PackedMove};

const MAX: i32 = 16_384;
const PIECE_SQUARES: usize = 12 * 64;
const SIDE_PIECE_SQUARES: usize = PIECE_SQUARES / 2;
const FROM_TOS: usize = 4 * 64 * 64;

/// A piece with its target square as an index; [`NO_MOVE`] for none or a null move.
pub(crate) type PieceTo = u16;

pub(crate) const NO_MOVE: PieceTo = PIECE_SQUARES as PieceTo;

#[inline]
pub(crate) fn piece_to(turn: Color, MoveParts { role, to, .. }: MoveParts) -> PieceTo {
    let piece = 6 * usize::from(turn == Color::Black) + role as usize - 1;
    (piece * 64 + to.to_usize()) as PieceTo
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ContinuationContext {
    pub moves: [PieceTo; 3],
    pub attacked: Bitboard,
}

#[cfg(test)]
pub(crate) const NO_CONTEXT: ContinuationContext =
    ContinuationContext { moves: [NO_MOVE; 3], attacked: Bitboard::EMPTY };

/// The table rows that score one side's quiet moves at a node, looked up once for all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistoryRows<'a> {
    butterfly: &'a [i16; FROM_TOS],
    continuation: [&'a [i16; SIDE_PIECE_SQUARES]; 3],
    attacked: Bitboard,
}

impl HistoryRows<'_> {
    /// Sums the histories of a quiet move, within ±4 × 16,384.
    #[inline(always)]
    pub(crate) fn score(&self, parts: MoveParts) -> i32 {
        // A row indexes either side's moves as White's.
        let moved = usize::from(piece_to(Color::White, parts));
        let continuation: i32 = self.continuation.iter().map(|row| i32::from(row[moved])).sum();
        continuation + i32::from(self.butterfly[from_to(Color::White, parts, self.attacked)])
    }
}

#[derive(Debug)]
pub(crate) struct History {
    butterfly: HistoryTable,
    /// A row for each earlier move; the row of [`NO_MOVE`] stays zero, which saves a test.
    continuation: HistoryTable,
    counter: Box<[PackedMove]>,
    capture: HistoryTable,
}

impl History {
    pub(crate) fn new() -> History {
        History {
            butterfly: HistoryTable::new(2 * FROM_TOS),
            continuation: HistoryTable::new((PIECE_SQUARES + 1) * PIECE_SQUARES),
            counter: vec![PackedMove::NONE; PIECE_SQUARES].into_boxed_slice(),
            capture: HistoryTable::new(PIECE_SQUARES * Role::ALL.len()),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.butterfly.clear();
        self.continuation.clear();
        self.counter.fill(PackedMove::NONE);
        self.capture.clear();
    }

    /// Sums the histories of a single quiet move, which is cheaper than finding its rows.
    #[inline(always)]
    pub(crate) fn score(&self, turn: Color, parts: MoveParts, context: &ContinuationContext) -> i32 {
        let moved = piece_to(turn, parts);
        let continuation =
            |earlier: PieceTo| i32::from(self.continuation[continuation_index(earlier, moved)]);
        let [one, two, four] = context.moves;
        let butterfly = self.butterfly[from_to(turn, parts, context.attacked)];
        continuation(one) + continuation(two) + continuation(four) + i32::from(butterfly)
    }

    #[inline]
    pub(crate) fn rows(&self, turn: Color, context: &ContinuationContext) -> HistoryRows<'_> {
        let black = usize::from(turn == Color::Black);
        let continuation = |earlier: PieceTo| {
            self.continuation.row(usize::from(earlier) * PIECE_SQUARES + black * SIDE_PIECE_SQUARES)
        };
        // Not `map`, which stays a call for each move.
        let [one, two, four] = context.moves;
        HistoryRows {
            butterfly: self.butterfly.row(black * FROM_TOS),
            continuation: [continuation(one), continuation(two), continuation(four)],
            attacked: context.attacked,
        }
    }

    #[inline]
    pub(crate) fn update(&mut self, turn: Color, m: Move, context: &ContinuationContext, bonus: i32) {
        let parts = MoveParts::new(m);
        let moved = piece_to(turn, parts);
        self.butterfly.update(from_to(turn, parts, context.attacked), bonus, MAX);
        for earlier in context.moves {
            if earlier != NO_MOVE {
                self.continuation.update(continuation_index(earlier, moved), bonus, MAX);
            }
        }
    }

    #[inline]
    pub(crate) fn update_butterfly(&mut self, turn: Color, m: Move, attacked: Bitboard, bonus: i32) {
        self.butterfly.update(from_to(turn, MoveParts::new(m), attacked), bonus, MAX);
    }

    #[inline]
    pub(crate) fn capture_score(&self, turn: Color, parts: MoveParts) -> i32 {
        i32::from(self.capture[capture_index(turn, parts)])
    }

    #[inline]
    pub(crate) fn update_capture(&mut self, turn: Color, m: Move, bonus: i32) {
        self.capture.update(capture_index(turn, MoveParts::new(m)), bonus, MAX);
    }

    #[inline]
    pub(crate) fn counter_move(&self, earlier: PieceTo) -> PackedMove {
        self.counter.get(usize::from(earlier)).copied().unwrap_or(PackedMove::NONE)
    }

    #[inline]
    pub(crate) fn set_counter_move(&mut self, earlier: PieceTo, m: Move) {
        if let Some(counter) = self.counter.get_mut(usize::from(earlier)) {
            *counter = PackedMove::pack(m);
        }
    }
}

/// Splits moves by whether they leave or enter attacked squares.
#[inline]
fn from_to(turn: Color, MoveParts { from, to, .. }: MoveParts, attacked: Bitboard) -> usize {
    let kind = 4 * usize::from(turn == Color::Black)
        + 2 * usize::from(attacked.contains(from))
        + usize::from(attacked.contains(to));
    (kind * 64 + from.to_usize()) * 64 + to.to_usize()
}

#[inline]
fn continuation_index(earlier: PieceTo, moved: PieceTo) -> usize {
    usize::from(earlier) * PIECE_SQUARES + usize::from(moved)
}

/// A promotion without capture uses the king as its victim.
#[inline]
fn capture_index(turn: Color, parts: MoveParts) -> usize {
    let victim = parts.capture.unwrap_or(Role::King) as usize - 1;
    usize::from(piece_to(turn, parts)) * Role::ALL.len() + victim
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::attacks::attacked;
    use patzer_chess::rng::Rng;
    use patzer_chess::testing::{along_random_games, from_fen};
    use shakmaty::{Chess, Position};

    #[test]
    fn moves_that_cut_off_rise_and_never_overflow() {
        let mut history = History::new();
        let moves = Chess::default().legal_moves();
        let parts = [MoveParts::new(moves[0]), MoveParts::new(moves[1])];
        let context = ContinuationContext { moves: [3, NO_MOVE, NO_MOVE], ..NO_CONTEXT };
        for _ in 0..10_000 {
            history.update(Color::White, moves[0], &context, 1500);
            history.update(Color::White, moves[1], &context, -1500);
        }
        let good = history.score(Color::White, parts[0], &context);
        let bad = history.score(Color::White, parts[1], &context);
        assert!((MAX..=2 * MAX).contains(&good), "{good}");
        assert!((-2 * MAX..-MAX).contains(&bad), "{bad}");
        assert_eq!(history.score(Color::Black, parts[0], &NO_CONTEXT), 0);
        history.clear();
        assert_eq!(history.score(Color::White, parts[0], &context), 0);
    }

    #[test]
    fn a_move_alone_is_scored_as_it_is_by_the_rows_of_its_node() {
        let (mut history, mut rng) = (History::new(), Rng::new(12));
        along_random_games(12, 20, 100, |position| {
            let turn = position.turn();
            let moves = [(); 3].map(|()| rng.below(usize::from(NO_MOVE) + 1) as PieceTo);
            let context = ContinuationContext { moves, attacked: attacked(position.board(), !turn) };
            for m in position.legal_moves() {
                let parts = MoveParts::new(m);
                history.update(turn, m, &context, 1 + rng.below(1000) as i32);
                let score = history.score(turn, parts, &context);
                assert!(score > 0);
                assert_eq!(score, history.rows(turn, &context).score(parts));
            }
        });
    }

    #[test]
    fn a_move_out_of_an_attack_is_not_one_that_had_nothing_to_flee_from() {
        let mut history = History::new();
        let m = Chess::default().legal_moves()[3];
        let [from, to] = [m.from().unwrap(), m.to()].map(Bitboard::from);
        history.update(Color::White, m, &ContinuationContext { attacked: from, ..NO_CONTEXT }, 900);
        for attacked in [from, Bitboard::EMPTY, to, from | to] {
            let context = ContinuationContext { attacked, ..NO_CONTEXT };
            let score = history.score(Color::White, MoveParts::new(m), &context);
            assert!(if attacked == from { score > 0 } else { score == 0 }, "{attacked:?}");
        }
    }

    #[test]
    fn captures_are_known_by_piece_target_and_victim() {
        let mut history = History::new();
        let position = from_fen("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1");
        let moves = position.legal_moves();
        let takes = *moves.iter().find(|m| m.is_capture()).unwrap();
        let mut pushes = moves.iter().filter(|m| m.is_promotion() && !m.is_capture());
        history.update_capture(Color::White, takes, 900);
        assert!(history.capture_score(Color::White, MoveParts::new(takes)) > 0);
        assert_eq!(history.capture_score(Color::Black, MoveParts::new(takes)), 0);
        assert!(pushes.all(|&m| history.capture_score(Color::White, MoveParts::new(m)) == 0));
    }

    #[test]
    fn a_reply_is_remembered_for_the_move_that_it_answers() {
        let mut history = History::new();
        let m = Chess::default().legal_moves()[4];
        history.set_counter_move(7, m);
        assert_eq!(history.counter_move(7), PackedMove::pack(m));
        assert_eq!(history.counter_move(8), PackedMove::NONE);
        history.set_counter_move(NO_MOVE, m);
        assert_eq!(history.counter_move(NO_MOVE), PackedMove::NONE);
    }
}
