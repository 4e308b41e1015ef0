//! The report section of a match result alone, without its games.

use super::{Contest, colours, endings, measure_numbers, pentanomial, time};
use crate::section::{Missing, Part, Section, SectionKind};
use crate::table::Cell;
use patzer_stats::Trinomial;
use serde_json::Value;

/// Bound on the games of a result: more than any match has, and sums stay below 64 bits.
const MOST: u64 = 1 << 48;

/// Reads the JSON object of `patzer sprt --json` or of a two-player `patzer match --json`.
pub fn of_result(name: &str, result: &Value) -> Option<Section> {
    let count_of = |value: &Value| value.as_u64().filter(|count| *count < MOST);
    let pairs: Option<Vec<u64>> = result.get("pentanomial")?.as_array()?.iter().map(count_of).collect();
    let pairs: [u64; 5] = pairs?.try_into().ok()?;
    let count = |key: &str| result.get(key).and_then(count_of);
    let number = |key: &str| result.get(key).and_then(Value::as_f64);
    let mut section = Section::new(name, SectionKind::Match);
    let (wins, draws, losses) = (count("wins")?, count("draws")?, count("losses")?);
    section.measure("games", "games", wins + draws + losses);
    section.measure("wins", "won", wins);
    section.measure("draws", "drawn", draws);
    section.measure("losses", "lost", losses);
    measure_numbers(&mut section, |key| match key.split_once('.') {
        Some((object, key)) => result.get(object)?.get(key)?.as_f64(),
        None => number(key),
    });
    if let Some(verdict) = result.get("verdict").and_then(Value::as_str) {
        section.measure("verdict", "verdict", Cell::text(verdict));
    }
    let mut part = Part::new("Result");
    part.missing("The result alone, without its progress: name the journal or the PGN to see more.");
    part.add(pentanomial(pairs));
    let colour = |key: &str| -> Option<Trinomial> {
        let counts = |name: &str| result.get(key)?.get(name).and_then(count_of);
        Some(Trinomial { wins: counts("wins")?, draws: counts("draws")?, losses: counts("losses")? })
    };
    if let (Some(white), Some(black)) = (colour("white"), colour("black")) {
        part.add(colours("the first player", [white, black]));
    }
    section.part(part);
    let reasons = result.get("reasons").and_then(Value::as_object).into_iter().flatten();
    let contest = Contest {
        reasons: reasons.filter_map(|(reason, count)| Some((reason.clone(), count_of(count)?))).collect(),
        games: Err(Missing(String::new())),
        ..Contest::default()
    };
    section.part(endings(&contest));
    section.part(time::of_result(result));
    Some(section)
}
