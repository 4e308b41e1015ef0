//! The layout of the weights: the index of each term's parts in one flat list.
//!
//! The terms' declarations alone drive the weight file, the exports and the selection of terms to tune. Indices are
//! constants, so a misspelt part does not compile.

use super::terms::TERMS;

#[derive(Debug)]
pub struct Term {
    pub name: &'static str,
    pub about: &'static str,
    pub parts: &'static [Part],
}

#[derive(Debug)]
pub struct Part {
    pub name: &'static str,
    pub about: &'static str,
    pub shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Single,
    List(usize),
    Grid {
        rows: usize,
        columns: usize,
    },
    /// 64 pairs by square, a1, b1, … h8 from the piece's own side; files show rank 8 on top.
    Board,
}

#[allow(clippy::len_without_is_empty)]
impl Shape {
    pub const fn len(self) -> usize {
        match self {
            Shape::Single => 1,
            Shape::List(length) => length,
            Shape::Grid { rows, columns } => rows * columns,
            Shape::Board => 64,
        }
    }

    pub fn lines(self) -> Vec<Vec<usize>> {
        match self {
            Shape::Single | Shape::List(_) => vec![(0..self.len()).collect()],
            Shape::Grid { rows, columns } => {
                (0..rows).map(|row| (row * columns..(row + 1) * columns).collect()).collect()
            }
            Shape::Board => (0..8).rev().map(|rank| (rank * 8..rank * 8 + 8).collect()).collect(),
        }
    }
}

impl Part {
    pub const fn single(name: &'static str, about: &'static str) -> Part {
        Part { name, about, shape: Shape::Single }
    }

    pub const fn list(name: &'static str, length: usize, about: &'static str) -> Part {
        Part { name, about, shape: Shape::List(length) }
    }

    pub const fn grid(name: &'static str, rows: usize, columns: usize, about: &'static str) -> Part {
        Part { name, about, shape: Shape::Grid { rows, columns } }
    }

    pub const fn board(name: &'static str, about: &'static str) -> Part {
        Part { name, about, shape: Shape::Board }
    }
}

#[allow(clippy::len_without_is_empty)]
impl Term {
    pub const fn len(&self) -> usize {
        let (mut length, mut i) = (0, 0);
        while i < self.parts.len() {
            length += self.parts[i].shape.len();
            i += 1;
        }
        length
    }

    pub fn named(name: &str) -> Option<&'static Term> {
        TERMS.iter().copied().find(|term| term.name == name)
    }

    pub fn range(&self) -> std::ops::Range<usize> {
        let start = TERMS.iter().take_while(|term| term.name != self.name).map(|term| term.len()).sum();
        start..start + self.len()
    }
}

pub const COUNT: usize = {
    let (mut length, mut i) = (0, 0);
    while i < TERMS.len() {
        length += TERMS[i].len();
        i += 1;
    }
    length
};

/// Every part with its term and its indices in the flat list, in order.
pub fn parts() -> impl Iterator<Item = (&'static Term, &'static Part, std::ops::Range<usize>)> {
    let mut at = 0;
    TERMS.iter().flat_map(|term| term.parts.iter().map(move |part| (*term, part))).map(move |(term, part)| {
        let start = at;
        at += part.shape.len();
        (term, part, start..at)
    })
}

/// The first index of a part in the flat list; for constants, so that a wrong name does not compile.
pub(super) const fn at(term: &str, part: &str) -> usize {
    let (mut index, mut i) = (0, 0);
    while i < TERMS.len() {
        let (parts, mut j) = (TERMS[i].parts, 0);
        while j < parts.len() {
            if same(TERMS[i].name, term) && same(parts[j].name, part) {
                return index;
            }
            index += parts[j].shape.len();
            j += 1;
        }
        i += 1;
    }
    panic!("no such part of the evaluation")
}

/// Compares strings, for which `==` is not `const`.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_agree_with_the_constants() {
        let mut end = 0;
        for (term, part, range) in parts() {
            assert_eq!(range.start, end, "{}.{}", term.name, part.name);
            assert_eq!(range.start, at(term.name, part.name));
            assert!(term.range().contains(&range.start) && term.range().end >= range.end);
            end = range.end;
        }
        assert_eq!(end, COUNT);
        assert!(COUNT <= usize::from(u16::MAX), "traces hold indices in 16 bits");
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<_> =
            parts().map(|(term, part, _)| (term.name, part.name)).collect();
        assert_eq!(names.len(), parts().count());
    }

    #[test]
    fn a_board_is_printed_with_rank_8_on_top() {
        assert_eq!(Shape::Board.lines()[0], (56..64).collect::<Vec<_>>());
        assert_eq!(Shape::Board.lines()[7], (0..8).collect::<Vec<_>>());
    }
}
