//! Pairs of games: one opening, played twice with colours exchanged.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use memchr::{memchr, memchr2};

use super::annotation::Annotation;
use super::outline::{Token, outline};
use super::tags::Tags;

/// Pairs games wherever they stand among the others: `P` names a player, `K` what the games of a pair share.
#[derive(Debug)]
pub struct PairFinder<P, K, T>(HashMap<(P, P, K), VecDeque<T>>);

impl<P, K, T> Default for PairFinder<P, K, T> {
    fn default() -> Self {
        PairFinder(HashMap::new())
    }
}

impl<P: Eq + Hash, K: Eq + Hash, T> PairFinder<P, K, T> {
    /// Takes the first game that waits for this one, or lets this one wait.
    pub fn partner(&mut self, [white, black]: [P; 2], shared: K, game: T) -> Option<T> {
        let swapped = (black, white, shared);
        if let Some(waiting) = self.0.get_mut(&swapped) {
            let partner = waiting.pop_front();
            if waiting.is_empty() {
                self.0.remove(&swapped);
            }
            return partner;
        }
        let (black, white, shared) = swapped;
        self.0.entry((white, black, shared)).or_default().push_back(game);
        None
    }

    /// Games without a partner, in no order.
    pub fn unpaired(self) -> impl Iterator<Item = T> {
        self.0.into_values().flatten()
    }
}

/// Opening and round that the games of a pair share: the FEN, or the moves up to the last with a comment `book`; and
/// the round up to its dot. Either may be empty.
pub fn opening_and_round(tags: &Tags<'_>, movetext: &[u8]) -> [String; 2] {
    let mut opening = tags.text("FEN").trim().to_string();
    if opening.is_empty() && begins_in_book(movetext) {
        opening = book_moves(movetext);
    }
    let round = tags.text("Round");
    [opening, round.trim().split('.').next().unwrap_or_default().to_string()]
}

/// Tests whether the first comment may be one of a book.
fn begins_in_book(movetext: &[u8]) -> bool {
    let Some(at) = memchr2(b'{', b';', movetext) else { return false };
    let text = &movetext[at + 1..];
    movetext[at] == b';' || Annotation::parse(&text[..memchr(b'}', text).unwrap_or(text.len())]).book
}

/// The moves before the first comment of another kind, up to the last from a book.
fn book_moves(movetext: &[u8]) -> String {
    let (mut line, mut book, mut in_book) = (String::new(), 0, true);
    outline(movetext, |token| match token {
        Token::Ply(text) if in_book => line.extend([" ", &String::from_utf8_lossy(text)]),
        Token::Comment(text) if in_book && Annotation::parse(text).book => book = line.len(),
        Token::Comment(_) => in_book = false,
        Token::Ply(_) => {}
    });
    line[..book].trim_start().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_paired_in_their_order_whoever_begins() {
        let mut finder = PairFinder::default();
        let games = [["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"], ["b", "a"], ["a", "b"], ["b", "c"]];
        let found: Vec<_> =
            games.into_iter().enumerate().map(|(at, players)| finder.partner(players, 1, at)).collect();
        assert_eq!(found, [None, None, Some(0), Some(1), None, Some(4), None]);
        assert_eq!(finder.partner(["c", "b"], 2, 7), None, "another opening");
        let mut rest: Vec<usize> = finder.unpaired().collect();
        rest.sort_unstable();
        assert_eq!(rest, [6, 7]);
    }

    #[test]
    fn an_opening_is_the_fen_or_the_moves_of_a_book() {
        let of = |tags: &str, moves: &str| opening_and_round(&Tags::new(tags.as_bytes()), moves.as_bytes());
        assert_eq!(of("[FEN \" x w - \"]\n[Round \"3.2\"]\n", "1. e4 {book} 1-0"), ["x w -", "3"]);
        assert_eq!(of("", "1. e4 {book} e5 {Book} 2. Nf3 {+0.1/9 1s} Nc6 {book} 1-0"), ["e4 e5", ""]);
        assert_eq!(of("[Round \"?\"]", "1. e4 {+0.1/9 1s} e5 {book} 1-0"), ["", "?"]);
        assert_eq!(of("", "1. e4 ; book\n e5 1-0"), ["e4", ""]);
    }
}
