//! Visits of moves: how often a search by playouts visited each move of a position, in the field
//! `visits="e2e4:120 d2d4:80"` of a move's comment.

use memchr::{memchr, memmem};
use shakmaty::Position;
use shakmaty::uci::UciMove;

use crate::Record;
use patzer_chess::PackedMove;

/// Moves of a position with at least one visit each; the most visited first, then by their codes.
pub type Visits = Vec<(PackedMove, u32)>;

/// Maximum number of moves of a legal position (N. Petrović's problem of 1964).
pub const MOST_MOVES: usize = 218;

const FIELD: &[u8] = b"visits=\"";

/// Sorts visits, the most visited move first.
pub fn sort(visits: &mut Visits) {
    visits.sort_by_key(|&(m, count)| (std::cmp::Reverse(count), m.0));
}

/// Reason why visits of a position are invalid, if they are: moves have to be legal, each once and with a visit.
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

/// Reads the visits in a comment on a position; `None` without any, an error if they are invalid.
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
