//! Terms of the midgame and the endgame that are the halves of one declaration.

use crate::tune::shape::TermKind;
use crate::tune::term::Term;

/// Terms with declarations of their own, each with the term that is the endgame of its midgame, if there is one: of the
/// same name and shape, in another group.
pub(super) fn declared(terms: &[Term]) -> Vec<(usize, Option<usize>)> {
    let twin = |term: &Term, kind: TermKind| {
        let is_twin = |other: &Term| {
            (other.kind, &other.name, other.shape, &other.output)
                == (kind, &term.name, term.shape, &term.output)
        };
        terms.iter().position(is_twin)
    };
    let own = |(at, term): (usize, &Term)| match term.kind {
        TermKind::Midgame => Some((at, twin(term, TermKind::Endgame))),
        TermKind::Endgame if twin(term, TermKind::Midgame).is_some() => None,
        _ => Some((at, None)),
    };
    terms.iter().enumerate().filter_map(own).collect()
}

/// The term of a declaration: of both halves, if they are two terms.
pub(super) fn whole(term: &Term, endgame: Option<&Term>) -> Term {
    match endgame {
        Some(endgame) => Term { kind: TermKind::Pair, fixed: term.fixed && endgame.fixed, ..term.clone() },
        None => term.clone(),
    }
}

/// Declarations with their values.
pub(super) fn joined(tables: Vec<(&Term, Vec<[i64; 2]>)>) -> Vec<(Term, Vec<[i64; 2]>)> {
    let terms: Vec<Term> = tables.iter().map(|(term, _)| (*term).clone()).collect();
    let one = |(own, other): (usize, Option<usize>)| {
        let endgame = other.map_or(&tables[own].1, |other| &tables[other].1);
        let halves = |(midgame, endgame): (&[i64; 2], &[i64; 2])| match other {
            Some(_) => [midgame[0], endgame[1]],
            None => *midgame,
        };
        let pairs = tables[own].1.iter().zip(endgame).map(halves).collect();
        (whole(&terms[own], other.map(|other| &terms[other])), pairs)
    };
    declared(&terms).into_iter().map(one).collect()
}
