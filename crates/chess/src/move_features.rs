//! Move features of the choice model: each move has one level of every group. The groups follow Coulom, "Computing Elo
//! ratings of move patterns in the game of Go" (2007), carried over to chess.

use shakmaty::{Bitboard, Chess, Color, Move, MoveList, Position, Role, Square, attacks};

use crate::see::{see_ge, value};
use crate::{played, sliders};

pub struct FeatureGroup {
    pub name: &'static str,
    pub doc: &'static str,
    levels: LevelNames,
    /// Reference level, of strength 1.
    pub reference: usize,
}

enum LevelNames {
    Named(&'static [&'static str]),
    /// Piece and target square from the mover's side: 6 × 64.
    PieceSquare,
}

pub const GROUPS: [FeatureGroup; COUNT] = [
    group("capture", "what is taken", &["nothing", "pawn", "knight", "bishop", "rook", "queen"]),
    group("promotion", "what a pawn becomes", &["none", "queen", "less"]),
    FeatureGroup {
        reference: 2,
        ..group(
            "exchange",
            "what the exchange on the target square brings, in centipawns",
            &["below -250", "-250 to -1", "0 to 99", "100 to 249", "250 and more"],
        )
    },
    group("check", "whether it gives check, and loses material by it", &["none", "sound", "losing"]),
    group(
        "recapture",
        "whether it takes what has just moved",
        &["none", "after a capture", "after another move"],
    ),
    FeatureGroup {
        // More steps, or no move before.
        reference: 4,
        ..group(
            "distance",
            "steps of a king from its target to that of the opponent's last move",
            &["at most 1", "2", "3", "4", "more"],
        )
    },
    group(
        "escape",
        "whether its piece stood in danger",
        &["no", "attacked by a lesser piece", "attacked and undefended"],
    ),
    group(
        "threat",
        "the most valuable greater or undefended piece that it newly attacks",
        &["none", "pawn", "knight", "bishop", "rook", "queen"],
    ),
    group("again", "whether the player's last move was of the same piece", &["no", "goes on", "goes back"]),
    group("castling", "whether it castles", &["no", "king's side", "queen's side"]),
    FeatureGroup {
        name: "place",
        doc: "piece and target square, from the mover's side",
        levels: LevelNames::PieceSquare,
        // A pawn's move to e4, which nearly every game has.
        reference: 28,
    },
];

pub const COUNT: usize = 11;

pub type FeatureLevels = [u16; COUNT];

const fn group(name: &'static str, doc: &'static str, levels: &'static [&'static str]) -> FeatureGroup {
    FeatureGroup { name, doc, levels: LevelNames::Named(levels), reference: 0 }
}

impl FeatureGroup {
    pub const fn level_count(&self) -> usize {
        match self.levels {
            LevelNames::Named(names) => names.len(),
            LevelNames::PieceSquare => 6 * 64,
        }
    }

    /// Tests whether its levels are pieces and squares, 64 for each of pawn to king.
    pub const fn is_by_place(&self) -> bool {
        matches!(self.levels, LevelNames::PieceSquare)
    }

    pub fn level(&self, index: usize) -> String {
        match self.levels {
            LevelNames::Named(names) => names[index].to_string(),
            LevelNames::PieceSquare => {
                const PIECES: [char; 6] = ['P', 'N', 'B', 'R', 'Q', 'K'];
                format!("{}{}", PIECES[index / 64], Square::new(index as u32 % 64))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct PreviousMoves {
    pub last: Option<Move>,
    pub own: Option<Move>,
}

impl PreviousMoves {
    /// The last two moves played.
    pub fn of(played: &[Move]) -> PreviousMoves {
        let back = |plies| played.len().checked_sub(plies).map(|at| played[at]);
        PreviousMoves { last: back(1), own: back(2) }
    }
}

pub fn describe(position: &Chess, legal: &MoveList, before: PreviousMoves) -> Vec<FeatureLevels> {
    let danger = Danger::new(position);
    legal.iter().map(|&m| levels_of(position, m, before, &danger)).collect()
}

fn levels_of(position: &Chess, m: Move, before: PreviousMoves, danger: &Danger) -> FeatureLevels {
    let after = played(position, m);
    let to = target(m);
    let exchange = [250, 100, 0, -250].iter().position(|&least| see_ge(position, m, least));
    let exchange = exchange.map_or(0, |index| 4 - index);
    let check = match (after.is_check(), exchange >= 2) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 2,
    };
    let promotion = match m.promotion() {
        None => 0,
        Some(Role::Queen) => 1,
        Some(_) => 2,
    };
    let castling = match m {
        Move::Castle { king, rook } if rook > king => 1,
        Move::Castle { .. } => 2,
        _ => 0,
    };
    let levels = [
        m.capture().map_or(0, |role| role as usize),
        promotion,
        exchange,
        check,
        recapture(m, before.last),
        before.last.map_or(4, |last| distance(to, target(last))),
        danger.of(m),
        threat(position, &after, m),
        again(m, before.own),
        castling,
        (m.role() as usize - 1) * 64 + usize::from(from_side(to, position.turn())),
    ];
    levels.map(|level| level as u16)
}

/// Destination of the moving piece; the king's if it castles.
fn target(m: Move) -> Square {
    match m {
        Move::Castle { king, rook } => {
            let file = if rook > king { shakmaty::File::G } else { shakmaty::File::C };
            Square::from_coords(file, king.rank())
        }
        _ => m.to(),
    }
}

fn from_side(square: Square, turn: Color) -> u8 {
    u8::from(square) ^ turn.fold_wb(0, 56)
}

fn recapture(m: Move, last: Option<Move>) -> usize {
    match last {
        Some(last) if m.is_capture() && !matches!(last, Move::Castle { .. }) && m.to() == last.to() => {
            if last.is_capture() { 1 } else { 2 }
        }
        _ => 0,
    }
}

fn distance(a: Square, b: Square) -> usize {
    // Zero steps are a recapture, which has its own group.
    (a.distance(b).clamp(1, 5) - 1) as usize
}

/// The opponent's attacks before the move.
struct Danger {
    pawns: Bitboard,
    minors: Bitboard,
    rooks: Bitboard,
    /// Own pieces that are attacked and undefended.
    loose: Bitboard,
}

impl Danger {
    fn new(position: &Chess) -> Danger {
        let (board, them) = (position.board(), !position.turn());
        let occupied = board.occupied();
        let mut by_role = [Bitboard::EMPTY; 7];
        for square in board.by_color(them) {
            if let Some(piece) = board.piece_at(square) {
                by_role[piece.role as usize] |= attacks::attacks(square, piece, occupied);
            }
        }
        let [_, pawn, knight, bishop, rook, queen, king] = by_role;
        let minors = pawn | knight | bishop;
        let attacked = (minors | rook | queen | king) & position.us();
        let defended = |&square: &Square| (sliders::attackers(board, square, occupied) & position.us()).any();
        let loose = attacked.into_iter().filter(|square| !defended(square)).collect();
        Danger { pawns: pawn, minors, rooks: minors | rook, loose }
    }

    fn of(&self, m: Move) -> usize {
        let Some(from) = m.from() else { return 0 };
        let lesser = match m.role() {
            Role::Knight | Role::Bishop => self.pawns,
            Role::Rook => self.minors,
            Role::Queen => self.rooks,
            Role::Pawn | Role::King => Bitboard::EMPTY,
        };
        if lesser.contains(from) {
            1
        } else if m.role() != Role::King && self.loose.contains(from) {
            2
        } else {
            0
        }
    }
}

/// Role of the most valuable piece newly attacked by the move, undefended or worth more than the mover.
fn threat(position: &Chess, after: &Chess, m: Move) -> usize {
    let (Some(from), false) = (m.from(), matches!(m, Move::Castle { .. })) else { return 0 };
    let (board, us) = (after.board(), position.turn());
    let Some(piece) = board.piece_at(m.to()) else { return 0 };
    let before = attacks::attacks(from, m.role().of(us), position.board().occupied());
    let fresh = attacks::attacks(m.to(), piece, board.occupied()) & board.by_color(!us) & !before;
    let counts = |&square: &Square| {
        board.role_at(square).is_some_and(|role| {
            role != Role::King
                && (value(role) > value(piece.role)
                    || (sliders::attackers(board, square, board.occupied()) & board.by_color(!us)).is_empty())
        })
    };
    fresh
        .into_iter()
        .filter(counts)
        .filter_map(|square| board.role_at(square))
        .map(|role| role as usize)
        .max()
        .unwrap_or(0)
}

fn again(m: Move, own: Option<Move>) -> usize {
    match own {
        Some(own) if !matches!(own, Move::Castle { .. }) && m.from() == Some(own.to()) => {
            if own.from() == Some(m.to()) { 2 } else { 1 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fen;
    use shakmaty::san::San;

    fn parsed(position: &Chess, san: &str) -> Move {
        san.parse::<San>().unwrap().to_move(position).unwrap()
    }

    fn about(text: &str, before: &str, san: &str) -> Vec<String> {
        let mut position = fen::position(text, false).unwrap();
        let played: Vec<Move> = before
            .split_whitespace()
            .map(|san| {
                let m = parsed(&position, san);
                position.play_unchecked(m);
                m
            })
            .collect();
        let before = PreviousMoves::of(&played);
        let legal = position.legal_moves();
        let at = legal.iter().position(|m| *m == parsed(&position, san)).unwrap();
        let features = describe(&position, &legal, before)[at];
        let special =
            GROUPS.iter().zip(features).filter(|(group, level)| usize::from(*level) != group.reference);
        special.map(|(group, level)| format!("{}: {}", group.name, group.level(level.into()))).collect()
    }

    #[test]
    fn the_levels_of_known_moves() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert!(about(start, "", "e4").is_empty());
        assert_eq!(about(start, "e4", "e5"), ["distance: at most 1"], "the same square from Black's side");
        assert_eq!(
            about(start, "e4 d5 exd5", "Qxd5"),
            [
                "capture: pawn",
                "exchange: 100 to 249",
                "recapture: after a capture",
                "distance: at most 1",
                "place: Qd4"
            ]
        );
        assert_eq!(
            about(start, "Nf3 e5 Ng1 e4", "Nf3")[..2],
            ["exchange: -250 to -1", "distance: at most 1"]
        );
        assert!(about(start, "Nf3 e5", "Ng1").contains(&"again: goes back".to_string()));
        assert!(about(start, "Nf3 e5", "Nxe5").contains(&"recapture: after another move".to_string()));
    }

    #[test]
    fn danger_threats_checks_castling_and_promotion() {
        // The rook is attacked by a bishop, the queen by nothing.
        let text = "4k3/1P6/8/8/3b4/8/8/R3K2R w KQ - 0 1";
        assert!(about(text, "", "Ra2").contains(&"escape: attacked by a lesser piece".to_string()));
        assert!(about(text, "", "b8=Q+").contains(&"check: sound".to_string()));
        assert!(about(text, "", "b8=N").contains(&"promotion: less".to_string()));
        let castles = about(text, "", "O-O-O");
        assert!(castles.contains(&"castling: queen's side".into()) && castles.contains(&"place: Kc1".into()));
        let fork = about("4k3/8/2q1n3/8/3P4/8/8/4K3 w - - 0 1", "", "d5");
        assert!(fork.contains(&"threat: queen".to_string()), "{fork:?}");
        let loose = about("4k3/8/8/8/1b6/8/3N4/6K1 w - - 0 1", "", "Nf3");
        assert!(loose.contains(&"escape: attacked and undefended".to_string()), "{loose:?}");
    }

    #[test]
    fn every_group_has_its_reference() {
        for group in &GROUPS {
            assert!(group.reference < group.level_count(), "{}", group.name);
        }
        assert_eq!(GROUPS[COUNT - 1].level(GROUPS[COUNT - 1].reference), "Pe4");
    }
}
