//! Which moves have been good before, whatever the position.
//!
//! In: the moves that a node tried, and the one that cut it off. Out: a number for each move that says how early to
//! try it. For quiet moves one table knows a move by its colour and squares, and by whether they are attacked (butterfly
//! history; Schaeffer, "The History Heuristic and Alpha-Beta Search Enhancements in Practice", 1989), another by its piece
//! and target and those of an earlier move that it follows (continuation history); a third holds the reply that cut off
//! after a move (counter moves; Uiterwijk, 1992). Captures are known by piece, target and victim.

use shakmaty::{Bitboard, Color, Move, Role};

use super::history_table::Tallies;
use patzer_chess::{PackedMove, Parts};

/// Entries stay within this.
const MAX: i32 = 16_384;
const PIECE_SQUARES: usize = 12 * 64;
const OF_A_SIDE: usize = PIECE_SQUARES / 2;
/// From-and-to squares of one side, by whether each is attacked.
const FROM_TOS: usize = 4 * 64 * 64;

/// A piece and the square that it went to, as an index; [`NO_MOVE`] for a null move or none.
pub type PieceTo = u16;

/// No move to follow.
pub const NO_MOVE: PieceTo = PIECE_SQUARES as PieceTo;

/// The piece and target of a move of this side.
#[inline]
pub fn piece_to(turn: Color, Parts { role, to, .. }: Parts) -> PieceTo {
    let piece = 6 * usize::from(turn == Color::Black) + role as usize - 1;
    (piece * 64 + to.to_usize()) as PieceTo
}

/// What a move answers.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// The moves of one, two and four plies ago.
    pub moves: [PieceTo; 3],
    /// The squares that the other side attacks.
    pub attacked: Bitboard,
}

/// Nothing to answer.
#[cfg(test)]
pub const NOTHING: Before = Before { moves: [NO_MOVE; 3], attacked: Bitboard::EMPTY };

/// What the quiet moves of one side at one node are scored by, found once for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    butterfly: &'a [i16; FROM_TOS],
    follow: [&'a [i16; OF_A_SIDE]; 3],
    attacked: Bitboard,
}

impl Rows<'_> {
    /// How good a quiet move has been, within ±4 × 16,384.
    #[inline(always)]
    pub fn score(&self, parts: Parts) -> i32 {
        // Within its rows a side's moves are numbered as White's are in the tables.
        let moved = usize::from(piece_to(Color::White, parts));
        let follow: i32 = self.follow.iter().map(|row| i32::from(row[moved])).sum();
        follow + i32::from(self.butterfly[from_to(Color::White, parts, self.attacked)])
    }
}

/// The tables.
#[derive(Debug)]
pub struct History {
    butterfly: Tallies,
    /// A row for each earlier move; that of [`NO_MOVE`] stays zero, so that no look has to ask.
    follow: Tallies,
    counter: Box<[PackedMove]>,
    capture: Tallies,
}

impl History {
    /// Empty tables.
    pub fn new() -> History {
        History {
            butterfly: Tallies::new(2 * FROM_TOS),
            follow: Tallies::new((PIECE_SQUARES + 1) * PIECE_SQUARES),
            counter: vec![PackedMove::NONE; PIECE_SQUARES].into_boxed_slice(),
            capture: Tallies::new(PIECE_SQUARES * Role::ALL.len()),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.butterfly.clear();
        self.follow.clear();
        self.counter.fill(PackedMove::NONE);
        self.capture.clear();
    }

    /// How good a quiet move has been, within ±4 × 16,384. For one move this takes less than to find its rows.
    #[inline(always)]
    pub fn score(&self, turn: Color, parts: Parts, before: &Before) -> i32 {
        let moved = piece_to(turn, parts);
        let follow = |earlier: PieceTo| i32::from(self.follow[follow_index(earlier, moved)]);
        let [one, two, four] = before.moves;
        let butterfly = self.butterfly[from_to(turn, parts, before.attacked)];
        follow(one) + follow(two) + follow(four) + i32::from(butterfly)
    }

    /// What the quiet moves of a side are scored by.
    #[inline]
    pub fn rows(&self, turn: Color, before: &Before) -> Rows<'_> {
        let black = usize::from(turn == Color::Black);
        let follow =
            |earlier: PieceTo| self.follow.row(usize::from(earlier) * PIECE_SQUARES + black * OF_A_SIDE);
        // Not `map`, which stays a call, and one for each move that is judged.
        let [one, two, four] = before.moves;
        Rows {
            butterfly: self.butterfly.row(black * FROM_TOS),
            follow: [follow(one), follow(two), follow(four)],
            attacked: before.attacked,
        }
    }

    /// Raises (`bonus` above 0) or lowers what is thought of a quiet move.
    #[inline]
    pub fn learn(&mut self, turn: Color, m: Move, before: &Before, bonus: i32) {
        let parts = Parts::of(m);
        let moved = piece_to(turn, parts);
        self.butterfly.nudge(from_to(turn, parts, before.attacked), bonus, MAX);
        for earlier in before.moves {
            if earlier != NO_MOVE {
                self.follow.nudge(follow_index(earlier, moved), bonus, MAX);
            }
        }
    }

    /// Raises or lowers what is thought of a quiet move whatever it follows.
    #[inline]
    pub fn learn_alone(&mut self, turn: Color, m: Move, attacked: Bitboard, bonus: i32) {
        self.butterfly.nudge(from_to(turn, Parts::of(m), attacked), bonus, MAX);
    }

    /// How good a capture or promotion has been, within ±16,384.
    #[inline]
    pub fn capture_score(&self, turn: Color, parts: Parts) -> i32 {
        i32::from(self.capture[capture_index(turn, parts)])
    }

    /// Raises (`bonus` above 0) or lowers what is thought of a capture or promotion.
    #[inline]
    pub fn learn_capture(&mut self, turn: Color, m: Move, bonus: i32) {
        self.capture.nudge(capture_index(turn, Parts::of(m)), bonus, MAX);
    }

    /// The quiet reply that last cut off after a move.
    #[inline]
    pub fn counter(&self, earlier: PieceTo) -> PackedMove {
        self.counter.get(usize::from(earlier)).copied().unwrap_or(PackedMove::NONE)
    }

    /// Remembers a quiet reply that cut off.
    #[inline]
    pub fn learn_counter(&mut self, earlier: PieceTo, m: Move) {
        if let Some(counter) = self.counter.get_mut(usize::from(earlier)) {
            *counter = PackedMove::pack(m);
        }
    }
}

/// A piece that flees and one that walks into an attack are told from others by what is attacked.
#[inline]
fn from_to(turn: Color, Parts { from, to, .. }: Parts, attacked: Bitboard) -> usize {
    let kind = 4 * usize::from(turn == Color::Black)
        + 2 * usize::from(attacked.contains(from))
        + usize::from(attacked.contains(to));
    (kind * 64 + from.to_usize()) * 64 + to.to_usize()
}

#[inline]
fn follow_index(earlier: PieceTo, moved: PieceTo) -> usize {
    usize::from(earlier) * PIECE_SQUARES + usize::from(moved)
}

/// A promotion without a capture counts as one of a king, which nothing else captures.
#[inline]
fn capture_index(turn: Color, parts: Parts) -> usize {
    let victim = parts.capture.unwrap_or(Role::King) as usize - 1;
    usize::from(piece_to(turn, parts)) * Role::ALL.len() + victim
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::attacks::attacked;
    use patzer_chess::fen;
    use patzer_chess::rng::Rng;
    use patzer_chess::testing::along_random_games;
    use shakmaty::{Chess, Position};

    #[test]
    fn moves_that_cut_off_rise_and_never_overflow() {
        let mut history = History::new();
        let moves = Chess::default().legal_moves();
        let parts = [Parts::of(moves[0]), Parts::of(moves[1])];
        let before = Before { moves: [3, NO_MOVE, NO_MOVE], ..NOTHING };
        for _ in 0..10_000 {
            history.learn(Color::White, moves[0], &before, 1500);
            history.learn(Color::White, moves[1], &before, -1500);
        }
        let good = history.score(Color::White, parts[0], &before);
        let bad = history.score(Color::White, parts[1], &before);
        assert!((MAX..=2 * MAX).contains(&good), "{good}");
        assert!((-2 * MAX..-MAX).contains(&bad), "{bad}");
        assert_eq!(history.score(Color::Black, parts[0], &NOTHING), 0);
        history.clear();
        assert_eq!(history.score(Color::White, parts[0], &before), 0);
    }

    #[test]
    fn a_move_alone_is_scored_as_it_is_by_the_rows_of_its_node() {
        let (mut history, mut rng) = (History::new(), Rng::new(12));
        along_random_games(12, 20, 100, |position| {
            let turn = position.turn();
            let moves = [(); 3].map(|()| rng.below(usize::from(NO_MOVE) + 1) as PieceTo);
            let before = Before { moves, attacked: attacked(position.board(), !turn) };
            for m in position.legal_moves() {
                let parts = Parts::of(m);
                history.learn(turn, m, &before, 1 + rng.below(1000) as i32);
                let score = history.score(turn, parts, &before);
                assert!(score > 0);
                assert_eq!(score, history.rows(turn, &before).score(parts));
            }
        });
    }

    #[test]
    fn a_move_out_of_an_attack_is_not_one_that_had_nothing_to_flee_from() {
        let mut history = History::new();
        let m = Chess::default().legal_moves()[3];
        let [from, to] = [m.from().unwrap(), m.to()].map(Bitboard::from);
        history.learn(Color::White, m, &Before { attacked: from, ..NOTHING }, 900);
        assert!(history.score(Color::White, Parts::of(m), &Before { attacked: from, ..NOTHING }) > 0);
        for attacked in [Bitboard::EMPTY, to, from | to] {
            assert_eq!(history.score(Color::White, Parts::of(m), &Before { attacked, ..NOTHING }), 0);
        }
    }

    #[test]
    fn captures_are_known_by_piece_target_and_victim() {
        let mut history = History::new();
        let position = fen::position("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1", false).unwrap();
        let moves = position.legal_moves();
        let takes: Vec<Move> = moves.iter().copied().filter(|m| m.is_capture()).collect();
        let pushes: Vec<Move> =
            moves.iter().copied().filter(|m| m.is_promotion() && !m.is_capture()).collect();
        history.learn_capture(Color::White, takes[0], 900);
        assert!(history.capture_score(Color::White, Parts::of(takes[0])) > 0);
        assert_eq!(history.capture_score(Color::Black, Parts::of(takes[0])), 0);
        assert!(pushes.iter().all(|&m| history.capture_score(Color::White, Parts::of(m)) == 0));
    }

    #[test]
    fn a_reply_is_remembered_for_the_move_that_it_answers() {
        let mut history = History::new();
        let m = Chess::default().legal_moves()[4];
        history.learn_counter(7, m);
        assert_eq!(history.counter(7), PackedMove::pack(m));
        assert_eq!(history.counter(8), PackedMove::NONE);
        history.learn_counter(NO_MOVE, m);
        assert_eq!(history.counter(NO_MOVE), PackedMove::NONE);
    }
}
