//! Imbalance: a polynomial of the second degree in the numbers of pieces, as Kaufman's "The Evaluation of Material
//! Imbalances" (1999) suggested and Tord Romstad wrote it for Stockfish.

use shakmaty::{ByColor, Color};

use crate::hce::scale::Counts;
use crate::hce::sink::Sink;

term! {
    "imbalance", "products of numbers of pieces; order of pieces: pawn, knight, bishop, rook, queen";
    OWN = list("own", 15, "own pieces: pp, np, nn, bp, bn, bb, rp, rn, rb, rr, qp, qn, qb, qr, qq");
    ENEMY = list("enemy", 10, "own by enemy: n·p, b·p, b·n, r·p, r·n, r·b, q·p, q·n, q·b, q·r");
}

#[inline(always)]
pub fn material<S: Sink>(counts: &ByColor<Counts>, us: Color, sink: &mut S) {
    let (ours, theirs) = (&counts[us], &counts[us.other()]);
    let (mut own, mut enemy) = (OWN, ENEMY);
    for first in 0..5 {
        for second in 0..=first {
            sink.add(us, own, ours[first] * ours[second]);
            own += 1;
            if second < first {
                sink.add(us, enemy, ours[first] * theirs[second]);
                enemy += 1;
            }
        }
    }
}
