//! Filters of games by their names: players, event, site, date, round, ECO code; and of positions by who is to move and by
//! the clock. All work at `extract` alone: a dataset stores no names.

use serde::Deserialize;

use super::games::game;
use super::registry::{
    Build, Filter, InGameFilter, Param, ParamValues, Row, Unknown, choice, filter, params, real, text,
};
use super::{GameTags, Record};
use patzer_io::error::Result;
use patzer_pgn::Pattern;

pub(super) const ROWS: &[Row] = &[
    game(
        "players",
        "no player's name matches name, or the opponent's does not match opponent",
        &[
            text("name", "the name of one player, ignoring case; * is any text", "*"),
            text("opponent", "the name of the other", "*"),
        ],
        players,
    ),
    game("event", "the tag Event does not match name", &[NAME], |v| named(v, |tags| &tags.names.event)),
    game("site", "the tag Site does not match name", &[NAME], |v| named(v, |tags| &tags.names.site)),
    game(
        "tag",
        "a tag of the game does not match name",
        &[text("tag", "the tag, such as Opening; a missing one is empty text", "Event"), NAME],
        any_tag,
    ),
    game("round", "the tag Round does not match name", &[NAME], |v| named(v, |tags| &tags.names.round)),
    game(
        "eco",
        "the ECO code lies before min or after max",
        &[
            text("min", "the first code kept", "A00"),
            text("max", "the last code kept", "E99"),
            choice("unknown", "what becomes of games without a code", &["drop", "keep"]),
        ],
        |v| filter(v, Eco::keeps),
    ),
    game(
        "date",
        "the game was played before min or after max",
        &[
            text("min", "the first day kept, such as 2020, 2020.06 or 2020.06.30", "0000"),
            text("max", "the last day kept; 2020 is the whole year", "9999"),
            choice("unknown", "what becomes of games without a year", &["drop", "keep"]),
        ],
        |v| filter(v, Date::keeps),
    ),
    Row {
        name: "to_move",
        about: "the player to move does not match name",
        params: &[NAME],
        build: Build::InGame { build: to_move, clocks: false },
    },
    Row {
        name: "clock",
        about: "its move leaves the player fewer than min or more than max seconds ([%clk])",
        params: &[
            real("min", "the fewest seconds left", (0.0, 1e9), &[0.0]),
            real("max", "the most seconds left", (0.0, 1e9), &[1e9]),
            choice("unknown", "what becomes of positions without a clock", &["drop", "keep"]),
        ],
        build: Build::InGame { build: clock, clocks: true },
    },
];

const NAME: Param = text("name", "the pattern, ignoring case; * is any text", "*");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Name {
    name: String,
}

fn named(values: ParamValues, of: fn(&GameTags) -> &String) -> Result<Filter<GameTags>> {
    let params: Name = params(values)?;
    let pattern = Pattern::new(&params.name);
    Ok(Box::new(move |tags| pattern.matches(of(tags))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyTag {
    tag: String,
    name: String,
}

fn any_tag(values: ParamValues) -> Result<Filter<GameTags>> {
    let AnyTag { tag, name } = params(values)?;
    let pattern = Pattern::new(&name);
    Ok(Box::new(move |tags| pattern.matches(&tags.value(&tag))))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Players {
    name: String,
    opponent: String,
}

fn players(values: ParamValues) -> Result<Filter<GameTags>> {
    let params: Players = params(values)?;
    let [name, opponent] = [&params.name, &params.opponent].map(|text| Pattern::new(text));
    Ok(Box::new(move |tags| {
        let (white, black) = (&tags.names.white, &tags.names.black);
        (name.matches(white) && opponent.matches(black)) || (name.matches(black) && opponent.matches(white))
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Eco {
    min: String,
    max: String,
    unknown: Unknown,
}

impl Eco {
    /// Codes such as `B90`; longer ones (`B90/03`) count by their beginning.
    fn keeps(&self, tags: &GameTags) -> bool {
        let code = tags.names.eco.trim();
        if !code.starts_with(|c: char| ('A'..='E').contains(&c)) {
            return self.unknown == Unknown::Keep;
        }
        let beginning = |limit: &str| code.get(..limit.len()).unwrap_or(code).to_string();
        beginning(&self.min) >= self.min && beginning(&self.max) <= self.max
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Date {
    min: String,
    max: String,
    unknown: Unknown,
}

impl Date {
    /// A game whose month or day is unknown (`2020.??.??`) stays if it may lie within.
    fn keeps(&self, tags: &GameTags) -> bool {
        let date = tags.names.date.trim();
        let known = date.split(['.', '-', '/']).take_while(|part| part.parse::<u16>().is_ok()).count();
        if known == 0 {
            return self.unknown == Unknown::Keep;
        }
        let numbers = |text: &str| -> Vec<u16> {
            text.split(['.', '-', '/']).map_while(|part| part.parse().ok()).take(3).collect()
        };
        let (day, min, max) = (numbers(date), numbers(&self.min), numbers(&self.max));
        let parts = |limit: &[u16]| day.len().min(limit.len());
        day[..parts(&min)] >= min[..parts(&min)] && day[..parts(&max)] <= max[..parts(&max)]
    }
}

fn to_move(values: ParamValues) -> Result<InGameFilter> {
    let params: Name = params(values)?;
    let pattern = Pattern::new(&params.name);
    Ok(Box::new(move |tags| {
        let moves = [&tags.names.black, &tags.names.white].map(|name| pattern.matches(name));
        Box::new(move |record: &Record| moves[record.turn as usize])
    }))
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Clock {
    min: f32,
    max: f32,
    unknown: Unknown,
}

fn clock(values: ParamValues) -> Result<InGameFilter> {
    let params: Clock = params(values)?;
    Ok(Box::new(move |tags| {
        let clocks = tags.clocks.clone();
        Box::new(move |record: &Record| match clocks.get(usize::from(record.ply)) {
            Some(seconds) if !seconds.is_nan() => (params.min..=params.max).contains(seconds),
            _ => params.unknown == Unknown::Keep,
        })
    }))
}
