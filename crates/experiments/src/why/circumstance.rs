//! Circumstances of a move, by which its player's errors are compared.

use shakmaty::{Bitboard, Board, Chess, Color, File, Position, Rank, Role};

use patzer_pgn::flags;

use super::games::MatchMove;

/// A position with the move played, seen by its mover.
pub struct View<'a> {
    pub position: &'a Chess,
    pub played: &'a MatchMove,
    /// Score by the reference before the move, centipawns from the mover.
    pub reference: i32,
}

/// A property of positions. Positions of one group share out what the group parts.
pub struct Circumstance {
    /// Group of circumstances that part all positions, such as `phase`.
    pub group: &'static str,
    /// Completes "positions with …" or stands alone, such as `endgames (12 pieces or fewer)`.
    pub name: &'static str,
    pub holds: fn(&View<'_>) -> bool,
}

const fn row(group: &'static str, name: &'static str, holds: fn(&View<'_>) -> bool) -> Circumstance {
    Circumstance { group, name, holds }
}

/// All circumstances; to add one, add a row.
pub const CIRCUMSTANCES: &[Circumstance] = &[
    row("phase", "openings (25 pieces or more)", |view| view.pieces() >= 25),
    row("phase", "middlegames (13 to 24 pieces)", |view| (13..25).contains(&view.pieces())),
    row("phase", "endgames (12 pieces or fewer)", |view| view.pieces() <= 12),
    row("colour", "White to move", |view| view.turn().is_white()),
    row("colour", "Black to move", |view| view.turn().is_black()),
    row("own king", "the own king on files a to d", |view| view.king(view.turn()) <= File::D),
    row("own king", "the own king on files e to h", |view| view.king(view.turn()) >= File::E),
    row("kings", "a king on files a to d", |view| Color::ALL.iter().any(|&c| view.king(c) <= File::D)),
    row("kings", "kings on opposite wings", |view| {
        let [white, black] = [Color::White, Color::Black].map(|color| view.king(color) <= File::D);
        white != black
    }),
    row("castling", "the own king castled", |view| view.castled(view.turn())),
    row("castling", "a king castled", |view| Color::ALL.iter().any(|&c| view.castled(c))),
    row("castling", "castling still allowed", |view| view.position.castles().any()),
    row("queens", "queens on the board", |view| view.board().queens().any()),
    row("queens", "no queens", |view| view.board().queens().is_empty()),
    row("queens", "more than one queen of a side", |view| {
        Color::ALL.iter().any(|&c| (view.board().queens() & view.board().by_color(c)).count() > 1)
    }),
    row("material", "pawn endings", |view| view.only(&[])),
    row("material", "rook endings", |view| view.only(&[Role::Rook])),
    row("material", "minor-piece endings", |view| view.only(&[Role::Knight, Role::Bishop])),
    row("material", "opposite-coloured bishops", |view| view.opposite_bishops()),
    row("pawns", "a pawn one or two steps from promotion", |view| {
        let board = view.board();
        let near = |color: Color, rank: Rank| {
            board.pawns()
                & board.by_color(color)
                & (Bitboard::from(rank) | Bitboard::from(before(color, rank)))
        };
        (near(Color::White, Rank::Seventh) | near(Color::Black, Rank::Second)).any()
    }),
    row("pawns", "no pawns", |view| view.board().pawns().is_empty()),
    row("tension", "a check to answer", |view| view.played.record.has(flags::IN_CHECK)),
    row("tension", "a capture played", |view| view.played.record.has(flags::CAPTURE)),
    row("tension", "a quiet move played", |view| {
        view.played.record.flags & (flags::CAPTURE | flags::PROMOTION | flags::IN_CHECK | flags::GIVES_CHECK)
            == 0
    }),
    row("halfmoves", "20 plies or more without capture or pawn move", |view| {
        view.played.record.halfmove >= 20
    }),
    row("depth", "an odd depth reached", |view| view.played.info.depth.is_some_and(|depth| depth % 2 == 1)),
    row("balance", "the mover ahead (a pawn or more)", |view| view.reference >= 100),
    row("balance", "a level game (within a pawn)", |view| view.reference.abs() < 100),
    row("balance", "the mover behind (a pawn or more)", |view| view.reference <= -100),
];

/// The rank a pawn comes from on its way to `rank`.
fn before(color: Color, rank: Rank) -> Rank {
    let back = color.fold_wb(-1, 1);
    rank.offset(back).unwrap_or(rank)
}

impl View<'_> {
    fn board(&self) -> &Board {
        self.position.board()
    }

    fn turn(&self) -> Color {
        self.position.turn()
    }

    fn pieces(&self) -> usize {
        self.board().occupied().count()
    }

    fn king(&self, color: Color) -> File {
        self.board().king_of(color).map_or(File::E, |square| square.file())
    }

    /// The king stands where castling puts it, or in the corner beside, and may not castle. A king that walked there
    /// counts, too.
    fn castled(&self, color: Color) -> bool {
        let Some(king) = self.board().king_of(color) else { return false };
        let home = color.fold_wb(Rank::First, Rank::Eighth);
        let away = king.file() >= File::G || king.file() <= File::C;
        king.rank() == home && away && !self.position.castles().has_color(color)
    }

    /// Each side has a piece of these roles and pawns, or the kings and pawns alone for none.
    fn only(&self, roles: &[Role]) -> bool {
        let board = self.board();
        let allowed =
            roles.iter().fold(board.kings() | board.pawns(), |all, &role| all | board.by_role(role));
        let pieces = board.occupied() & !(board.kings() | board.pawns());
        (board.occupied() & !allowed).is_empty() && (roles.is_empty() || pieces.any())
    }

    fn opposite_bishops(&self) -> bool {
        let board = self.board();
        let [white, black] =
            [Color::White, Color::Black].map(|color| board.bishops() & board.by_color(color));
        let only_bishops = (board.knights() | board.rooks() | board.queens()).is_empty();
        let single = white.count() == 1 && black.count() == 1;
        only_bishops
            && single
            && (white & Bitboard::LIGHT_SQUARES).any() != (black & Bitboard::LIGHT_SQUARES).any()
    }
}
