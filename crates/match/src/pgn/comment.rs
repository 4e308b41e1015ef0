//! Comments of moves: score, depth, time, then the fields of the style; `book` for a move from a book.

use shakmaty::CastlingMode;

use super::Header;
use super::style::MoveField;
use crate::{PlayedMove, Remarks};
use patzer_pgn::write::{push_fraction, push_number, push_score};

/// Appends a comment without its closing brace.
pub(super) fn comment(
    out: &mut String,
    played: &PlayedMove,
    remarks: Option<&Remarks>,
    header: &Header,
    mode: CastlingMode,
) {
    let (info, times) = (&played.info, header.times);
    let milliseconds = if times { played.time.as_millis() as u64 } else { 0 };
    out.push('{');
    if info.book {
        out.push_str("book");
        return;
    }
    // A zero in place of a missing score would read as a draw.
    if let Some(value) = info.score {
        push_score(out, value, header.style.unsigned_zero);
    }
    out.push('/');
    push_number(out, info.depth.max(0) as u64);
    out.push(' ');
    push_fraction(out, milliseconds, 1000);
    out.push('s');
    for field in &header.style.fields {
        match (field, remarks) {
            (MoveField::Visits, Some(remarks)) => push_visits(out, remarks, mode),
            _ => push_field(out, *field, played, remarks, times),
        }
    }
    for line in remarks.into_iter().flat_map(|remarks| &remarks.lines) {
        quoted(out, "line", line);
    }
}

fn push_field(
    out: &mut String,
    field: MoveField,
    played: &PlayedMove,
    remarks: Option<&Remarks>,
    times: bool,
) {
    let info = &played.info;
    let mut number = |name: &str, value: u64| {
        out.push_str(", ");
        out.push_str(name);
        out.push('=');
        push_number(out, value);
    };
    match field {
        MoveField::Nodes => number("n", info.nodes),
        MoveField::Seldepth => number("sd", info.seldepth.max(0) as u64),
        MoveField::Nps if times && info.nps > 0 => number("nps", info.nps),
        MoveField::Hashfull => number("hashfull", info.hashfull.into()),
        MoveField::Tbhits => number("tbhits", info.tbhits),
        MoveField::Timeleft => {
            if let Some(left) = played.left {
                out.push_str(", tl=");
                push_fraction(out, left.as_millis() as u64, 1000);
                out.push('s');
            }
        }
        MoveField::Latency if times => {
            if let Some(reported) = info.time {
                let latency = played.time.as_millis() as i64 - reported.as_millis() as i64;
                out.push_str(if latency < 0 { ", latency=-" } else { ", latency=" });
                push_fraction(out, latency.unsigned_abs(), 1000);
                out.push('s');
            }
        }
        MoveField::Pv => quoted(out, "pv", remarks.map_or("", |remarks| &remarks.pv)),
        MoveField::Nps | MoveField::Latency | MoveField::Visits => {}
    }
}

/// Appends `, visits="e2e4:120 d2d4:80"`, if there are any.
fn push_visits(out: &mut String, remarks: &Remarks, mode: CastlingMode) {
    let visits = remarks.visits.iter().map(|(m, visits)| format!("{}:{visits}", m.to_uci(mode)));
    let visits: Vec<String> = visits.collect();
    if !visits.is_empty() {
        quoted(out, "visits", &visits.join(" "));
    }
}

/// Appends `, name="text"`; nothing in the text may end the comment or the quotation.
fn quoted(out: &mut String, name: &str, text: &str) {
    out.push_str(", ");
    out.push_str(name);
    out.push_str("=\"");
    out.extend(text.chars().map(|c| match c {
        '{' | '}' => '?',
        '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    }));
    out.push('"');
}
