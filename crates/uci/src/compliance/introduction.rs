//! Checks of the answer to `uci`, of options, and of commands outside of searches.

use super::outcome::{CheckOutcome, Checked};
use super::session::{Session, best_of, line_of, ms};
use crate::option::UciOption;
use crate::parse::{joined, shown, words};

pub fn names(session: &mut Session) -> Checked {
    let lines = session.ask("uci\n", b"uciok")?;
    let id = |key: &[u8]| {
        let found = lines.iter().find_map(|line| {
            let mut words = words(line);
            (words.next() == Some(b"id") && words.next() == Some(key)).then(|| joined(words))
        });
        found.filter(|text| !text.is_empty())
    };
    let ready = format!("ready {} ms after its start", ms(session.started));
    Ok(match (id(b"name"), id(b"author")) {
        (Some(name), Some(author)) => CheckOutcome::good(format!("{name} by {author}, {ready}")),
        (None, _) => CheckOutcome::warning(format!("no `id name`; {ready}")),
        (_, None) => CheckOutcome::warning(format!("no `id author`; {ready}")),
    })
}

/// Options that other programs set everywhere.
const NEEDED: [&str; 2] = ["Hash", "Threads"];

/// Options that other programs set where they are declared.
const KNOWN: [&str; 4] = ["Ponder", "MultiPV", "UCI_Chess960", "UCI_ShowWDL"];

pub fn options(session: &mut Session) -> Checked {
    let lines = session.ask("uci\n", b"uciok")?;
    let mut declared: Vec<UciOption> = Vec::new();
    for line in lines.iter().filter(|line| words(line).next() == Some(b"option")) {
        let named = words(line).nth(1) == Some(b"name");
        let Some(option) =
            UciOption::parse(words(line).skip(2)).filter(|option| named && !option.name.is_empty())
        else {
            return Ok(CheckOutcome::fault(format!("`{}` has no name or no type", shown(line))));
        };
        if let Err(error) = option.set_to_default(&mut Vec::new()) {
            return Ok(CheckOutcome::fault(format!("{error}, which is its default")));
        }
        if declared.iter().any(|other| other.name.eq_ignore_ascii_case(&option.name)) {
            return Ok(CheckOutcome::fault(format!("option `{}` is declared twice", option.name)));
        }
        declared.push(option);
    }
    let has = |name: &&str| declared.iter().any(|option| option.name.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = NEEDED.into_iter().filter(|name| !has(name)).collect();
    let known: Vec<&str> = NEEDED.into_iter().chain(KNOWN).filter(has).collect();
    let count = declared.len();
    Ok(match missing.as_slice() {
        [] => CheckOutcome::good(format!("{count}, among them {}", known.join(", "))),
        missing => CheckOutcome::warning(format!("{count}, without {}", missing.join(" and "))),
    })
}

pub fn defaults(session: &mut Session) -> Checked {
    let (mut commands, mut count) = (Vec::new(), 0);
    for option in session.declared().iter().filter(|option| session.chosen(&option.name).is_none()) {
        let before = commands.len();
        // A default that is none was found above.
        let _ = option.set_to_default(&mut commands);
        count += usize::from(commands.len() > before);
    }
    session.ask(&format!("{}isready\n", String::from_utf8_lossy(&commands)), b"readyok")?;
    Ok(CheckOutcome::good(format!("{count} set")))
}

pub fn unknown_command(session: &mut Session) -> Checked {
    session.ask("xyzzy\n\nisready\n", b"readyok")?;
    Ok(CheckOutcome::good("ignored, as is an empty line"))
}

pub fn carriage_return(session: &mut Session) -> Checked {
    let lines = session.ask("position startpos moves e2e4\r\ngo movetime 50\r\n", b"bestmove")?;
    let best = line_of(&lines, b"bestmove").map(best_of).unwrap_or_default();
    // White moves if the position was not read.
    let black = best.as_bytes().get(1).is_some_and(|rank| matches!(rank, b'7' | b'8'));
    Ok(if black { CheckOutcome::good("read") } else { CheckOutcome::fault(format!("`{best}` after 1. e4")) })
}
