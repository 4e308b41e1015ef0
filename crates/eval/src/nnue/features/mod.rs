//! Feature blocks: the inputs of a network, defined once for the engine and the trainer. A feature is a statement
//! about the board from one perspective, true or false. To add a block, write a function in a file of this folder and
//! a row of [`FEATURE_BLOCKS`].
//!
//! The first blocks follow a thesis on feature sets for efficiently updatable networks: the squares of pieces and their
//! files, ranks and diagonals, neighbours on lines, and where pieces can move. Pawn pairs follow the engine Pawnocchio,
//! threats Stockfish's Full_Threats, the halfmove clock the engine Integral.

pub mod all;
pub(super) mod changes;
mod clock;
mod lines;
mod moves;
mod pairs;
pub mod pawn_pairs;
pub mod square_pairs;
pub mod statistics;
pub mod threats;

use serde::{Deserialize, Serialize};
use shakmaty::{Board, Color};

use super::error::ArchitectureError;
use changes::{BlockRows, BoardChange};

/// A board as one side sees it: itself at the bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Perspective {
    /// Squares of own pawns to king, then of the other side's.
    pub pieces: [u64; 12],
    /// The halfmove clock.
    pub halfmoves: u8,
}

impl Perspective {
    pub fn new(board: &Board, halfmoves: u8, side: Color) -> Perspective {
        let white = Color::White;
        let roles =
            [board.pawns(), board.knights(), board.bishops(), board.rooks(), board.queens(), board.kings()];
        let own = if side == white { board.white() } else { board.black() };
        let turned = |squares: u64| if side == white { squares } else { squares.swap_bytes() };
        let mut pieces = [0; 12];
        for (role, squares) in roles.into_iter().enumerate() {
            pieces[role] = turned((squares & own).0);
            pieces[6 + role] = turned((squares & !own).0);
        }
        Perspective { pieces, halfmoves }
    }

    /// Exchanges left and right.
    pub fn mirrored(&self) -> Perspective {
        Perspective { pieces: self.pieces.map(|squares| squares.reverse_bits().swap_bytes()), ..*self }
    }

    #[inline]
    pub fn king(&self) -> usize {
        self.pieces[5].trailing_zeros() as usize & 63
    }

    #[inline]
    pub fn occupied(&self) -> u64 {
        self.pieces.iter().fold(0, |all, squares| all | squares)
    }
}

/// The bits of a feature block within those of all blocks.
pub struct Bits<'a> {
    words: &'a mut [u64],
    base: usize,
}

impl Bits<'_> {
    #[inline]
    pub fn set(&mut self, feature: usize) {
        let at = self.base + feature;
        self.words[at / 64] |= 1 << (at % 64);
    }
}

#[derive(Debug)]
pub struct FeatureBlock {
    pub name: &'static str,
    pub count: usize,
    /// Maximum number of features active at once.
    pub most: usize,
    pub about: &'static str,
    /// Set if every king bucket has rows of its own for these features; else all buckets share theirs.
    pub bucketed: bool,
    write: fn(&Perspective, &mut Bits<'_>),
    /// Lists the features that a change of the board adds and removes; without it they follow from `write`.
    pub(super) changes: Option<ListChanges>,
}

pub(super) type ListChanges = fn(&BoardChange, &mut BlockRows<'_>);

impl PartialEq for FeatureBlock {
    fn eq(&self, other: &FeatureBlock) -> bool {
        self.name == other.name
    }
}

impl Eq for FeatureBlock {}

const fn block(
    name: &'static str,
    [count, most]: [usize; 2],
    write: fn(&Perspective, &mut Bits<'_>),
    about: &'static str,
) -> FeatureBlock {
    FeatureBlock { name, count, most, about, bucketed: true, write, changes: None }
}

const fn shared(block: FeatureBlock, changes: ListChanges) -> FeatureBlock {
    FeatureBlock { bucketed: false, changes: Some(changes), ..block }
}

/// All blocks in their order in a feature table: name, number of features, maximum active at once, function,
/// description. Bucketed blocks come first.
pub static FEATURE_BLOCKS: &[FeatureBlock] = &[
    block("all", [768, 32], all::write, "square, role, colour"),
    block("h", [96, 32], lines::file, "file, role, colour"),
    block("v", [96, 32], lines::rank, "rank, role, colour"),
    block("d1", [180, 32], lines::diagonal, "diagonal, role, colour"),
    block("d2", [180, 32], lines::antidiagonal, "antidiagonal, role, colour"),
    block("ph", [1152, 28], pairs::ranks, "neighbours on a rank"),
    block("pv", [1152, 28], pairs::files, "neighbours on a file"),
    block("mb", [768, 592], moves::squares, "square that a role can move to"),
    block("mc", [206, 12], moves::counts, "number of squares that a role can move to"),
    shared(
        block("pp", [pawn_pairs::COUNT, 96], pawn_pairs::write, "two pawns on the same or adjacent files"),
        pawn_pairs::changes,
    ),
    shared(
        block("threats", [threats::COUNT, 160], threats::write, "a piece attacks or defends another"),
        threats::changes,
    ),
    shared(block("clock", [clock::COUNT, 1], clock::write, "halfmove clock, in steps of 12"), clock::changes),
];

/// Feature blocks, concatenated; the default is `all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Features {
    blocks: Vec<&'static FeatureBlock>,
}

impl Default for Features {
    fn default() -> Features {
        Features { blocks: vec![&FEATURE_BLOCKS[0]] }
    }
}

impl Features {
    /// Reads names with `+` between them, such as `all+h+v`; their order does not matter.
    pub fn parse(text: &str) -> Result<Features, ArchitectureError> {
        let names: Vec<&str> = text.split('+').map(str::trim).collect();
        for (i, &name) in names.iter().enumerate() {
            let fault = |reason: String| {
                Err(ArchitectureError::new("features", format!(" = \"{text}\": `{name}` is {reason}")))
            };
            let known: Vec<&str> = FEATURE_BLOCKS.iter().map(|block| block.name).collect();
            if !known.contains(&name) {
                return fault(format!("none of {}", known.join(", ")));
            }
            if names[..i].contains(&name) {
                return fault("there twice".into());
            }
        }
        let named = |block: &&FeatureBlock| names.contains(&block.name);
        Ok(Features { blocks: FEATURE_BLOCKS.iter().filter(named).collect() })
    }

    pub fn blocks(&self) -> &[&'static FeatureBlock] {
        &self.blocks
    }

    pub fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.count).sum()
    }

    /// Features with rows for every king bucket; the other blocks follow them.
    pub fn bucketed(&self) -> usize {
        self.blocks.iter().filter(|block| block.bucketed).map(|block| block.count).sum()
    }

    /// Maximum number of features active at once.
    pub fn most(&self) -> usize {
        self.blocks.iter().map(|block| block.most).sum()
    }

    pub fn is_all(&self) -> bool {
        self.blocks.len() == 1 && self.blocks[0].name == "all"
    }

    pub fn words(&self) -> usize {
        self.count().div_ceil(64)
    }

    pub fn write(&self, perspective: &Perspective, words: &mut [u64]) {
        words.fill(0);
        let mut base = 0;
        for block in &self.blocks {
            (block.write)(perspective, &mut Bits { words, base });
            base += block.count;
        }
    }
}

impl TryFrom<String> for Features {
    type Error = ArchitectureError;
    fn try_from(text: String) -> Result<Features, ArchitectureError> {
        Features::parse(&text)
    }
}

impl From<Features> for String {
    fn from(features: Features) -> String {
        features.to_string()
    }
}

impl std::fmt::Display for Features {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.blocks.iter().map(|block| block.name).collect();
        f.write_str(&names.join("+"))
    }
}

#[inline]
pub fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors((word != 0).then_some(word), |left| {
            let left = left & (left - 1);
            (left != 0).then_some(left)
        })
        .map(move |left| 64 * i + left.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use patzer_chess::testing::along_random_games;
    use shakmaty::Position;

    fn seen(name: &str, text: &str, side: Color) -> Vec<usize> {
        let features = Features::parse(name).unwrap();
        let mut words = vec![0; features.words()];
        features.write(&Perspective::new(fen::position(text, false).unwrap().board(), 0, side), &mut words);
        ones(&words).collect()
    }

    #[test]
    fn the_twelve_combinations_have_the_sizes_of_the_thesis() {
        for (text, count) in [
            ("all", 768),
            ("h+v", 192),
            ("d1+d2", 360),
            ("h+v+d1+d2", 552),
            ("all+h+v", 960),
            ("all+d1+d2", 1128),
            ("all+h+v+d1+d2", 1320),
            ("all+ph", 1920),
            ("all+pv", 1920),
            ("all+ph+pv", 3072),
            ("all+mb", 1536),
            ("all+mc", 974),
        ] {
            let features = Features::parse(text).unwrap();
            assert_eq!((features.count(), features.to_string()), (count, text.to_string()));
        }
        assert!(Features::parse("all+x").unwrap_err().to_string().contains("`x` is none of all, h"));
        assert!(Features::parse("all+all").unwrap_err().to_string().contains("twice"));
    }

    #[test]
    fn bits_of_all_are_its_indices() {
        let text = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let board = fen::position(text, false).unwrap().board().clone();
        for side in Color::ALL {
            let feature = |(square, piece)| all::both(piece, square)[usize::from(side.is_black())];
            let mut expected: Vec<usize> = board.clone().into_iter().map(feature).collect();
            expected.sort_unstable();
            assert_eq!(seen("all", text, side), expected);
        }
    }

    #[test]
    fn lines_neighbours_and_moves_have_their_indices() {
        // White pawns a2, a4 and b3, White king e1, Black king e8.
        let text = "4k3/8/8/8/P7/1P6/P7/4K3 w - - 0 1";
        // 16 for each role: own pawns 0, own king 40, their king 88.
        assert_eq!(seen("h", text, Color::White), [0, 1, 44, 92]);
        assert_eq!(seen("v", text, Color::White), [1, 2, 3, 40, 95]);
        assert_eq!(seen("h", text, Color::Black), [44, 48, 49, 92]);
        assert_eq!(seen("v", text, Color::Black), [40, 52, 53, 54, 95]);
        // file − rank + 7, and file + rank.
        assert_eq!(seen("d1", text, Color::White), [4, 6, 75 + 11, 165 + 4]);
        assert_eq!(seen("d2", text, Color::White), [1, 3, 75 + 4, 165 + 11]);
        // First rank: rook a1, king e1; eighth: king e8, queen h8. Nothing shares a file but the kings.
        let text = "4k2q/8/8/8/8/8/8/R3K3 w - - 0 1";
        // rank · 144 + left · 12 + right; rook 3, king 5, their queen 10, their king 11.
        assert_eq!(seen("ph", text, Color::White), [3 * 12 + 5, 7 * 144 + 11 * 12 + 10]);
        assert_eq!(seen("pv", text, Color::White), [4 * 144 + 5 * 12 + 11]);
        assert_eq!(seen("pv", text, Color::Black), [4 * 144 + 5 * 12 + 11]);
        // Pawn e2: e3, e4; captures only what is there: d3. King a1: a2, b1, b2. Their king h8, pawn d3: d2, e2.
        let text = "7k/8/8/8/8/3p4/4P3/K7 w - - 0 1";
        let of =
            |role: usize, squares: &[usize]| squares.iter().map(move |s| role * 64 + s).collect::<Vec<_>>();
        let expected =
            [of(0, &[19, 20, 28]), of(5, &[1, 8, 9]), of(6, &[11, 12]), of(11, &[54, 55, 62])].concat();
        assert_eq!(seen("mb", text, Color::White), expected);
        // pawn 9 counts, knight 16, bishop 17, rook 26, queen 26, king 9: 103 for each side.
        let none = [9, 9 + 16, 9 + 16 + 17, 9 + 16 + 17 + 26];
        let mut counts = vec![3, none[0], none[1], none[2], none[3], 94 + 3];
        counts.extend([103 + 2, 103 + none[0], 103 + none[1], 103 + none[2], 103 + none[3], 103 + 94 + 3]);
        assert_eq!(seen("mc", text, Color::White), counts);
    }

    #[test]
    fn no_position_has_more_than_the_most() {
        along_random_games(4, 20, 200, |position| {
            for block in FEATURE_BLOCKS {
                let features = Features { blocks: vec![block] };
                let mut words = vec![0; features.words()];
                let perspective =
                    Perspective::new(position.board(), position.halfmoves() as u8, position.turn())
                        .mirrored();
                features.write(&perspective, &mut words);
                let active: Vec<usize> = ones(&words).collect();
                let fits = active.len() <= block.most && active.iter().all(|f| *f < block.count);
                assert!(fits, "{}", block.name);
            }
        });
    }
}
