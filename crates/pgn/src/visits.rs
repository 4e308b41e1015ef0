//! Visits of moves: how often a search by playouts visited each move of a position, in the field
//! `visits="e2e4:120 d2d4:80"` of a move's comment.

use memchr::{memchr, memmem};
use shakmaty::Position;
use shakmaty::uci::UciMove;

use crate::Record;
use patzer_chess::PackedMove;

/// Moves of a position with their visits, at least one each; the most visited first, then by their codes.
pub type Visits = Vec<(PackedMove, u32)>;

/// No legal position has more moves: N. Petrović's problem of 1964 has as many.
pub const MOST_MOVES: usize = 218;

const FIELD: &[u8] = b"visits=\"";

/// Brings visits into their order.
pub fn sort(visits: &mut Visits) {
    visits.sort_by_key(|&(m, count)| (std::cmp::Reverse(count), m.0));
}

/// What is wrong with the visits of a position, if anything: moves have to be legal, each once and with a visit.
pub fn fault(record: &Record, visits: &[(PackedMove, u32)]) -> Option<String> {
    if visits.len() > MOST_MOVES {
        return Some(format!(
            "visits of {} moves, where no position has more than {MOST_MOVES}",
            visits.len()
        ));
    }
    let Some(position) = record.position() else { return Some("visits of an illegal position".into()) };
    let legal: Vec<PackedMove> = position.legal_moves().iter().map(|&m| PackedMove::pack(m)).collect();
    visits.iter().enumerate().find_map(|(nth, (m, count))| {
        let named = |what: &str| Some(format!("{what} from {} to {}", m.from(), m.to()));
        match () {
            () if !legal.contains(m) => named("visits of an illegal move"),
            () if *count == 0 => named("no visit of the move"),
            () if visits[..nth].iter().any(|(other, _)| other == m) => named("visits twice of the move"),
            () => None,
        }
    })
}

/// Reads the visits that a comment has of a position; `None` if it has none, an error if they make no sense.
pub(crate) fn read(comment: &[u8], record: &Record) -> Option<Result<Visits, String>> {
    let start = memmem::find(comment, FIELD)? + FIELD.len();
    let rest = &comment[start..];
    let Some(end) = memchr(b'"', rest) else {
        return Some(Err("visits without a closing quotation mark".into()));
    };
    let text = String::from_utf8_lossy(&rest[..end]);
    let Some(position) = record.position() else { return Some(Err("visits of an illegal position".into())) };
    let one = |word: &str| {
        let (m, count) = word.split_once(':')?;
        let m = m.parse::<UciMove>().ok()?.to_move(&position).ok()?;
        Some((PackedMove::pack(m), count.parse().ok()?))
    };
    let read: Result<Visits, String> = text
        .split_ascii_whitespace()
        .map(|word| one(word).ok_or_else(|| format!("visits that are none: `{}`", shown(word))))
        .take(MOST_MOVES + 1)
        .collect();
    Some(read.and_then(|mut visits| {
        sort(&mut visits);
        fault(record, &visits).map_or(Ok(visits), Err)
    }))
}

fn shown(word: &str) -> String {
    patzer_io::printable(&word.chars().take(20).collect::<String>()).into_owned()
}
