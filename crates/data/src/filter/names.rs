//! Filters of games by their names: players, event, site, date, round, ECO code; and of positions by who is to move
//! and by the clock. All work at `extract` alone: a dataset stores no names.

use std::cmp::Ordering;

use serde::Deserialize;

use super::games::game;
use super::registry::{
    Build, Filter, FilterError, FilterRow, InGameFilter, Param, ParamValues, Unknown, choice, params, real,
    text,
};
use super::{GameTags, Record};
use patzer_io::error::{Error, Result};
use patzer_pgn::Pattern;

pub(super) const ROWS: &[FilterRow] = &[
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
        eco,
    ),
    game(
        "date",
        "the game was played before min or after max",
        &[
            text("min", "the first day kept, such as 2020, 2020.06 or 2020.06.30", "0000"),
            text("max", "the last day kept; 2020 is the whole year", "9999"),
            choice("unknown", "what becomes of games without a year", &["drop", "keep"]),
        ],
        date,
    ),
    FilterRow::new(
        "to_move",
        "the player to move does not match name",
        &[NAME],
        Build::InGame { build: to_move, clocks: false },
    ),
    FilterRow::new(
        "clock",
        "its move leaves the player fewer than min or more than max seconds ([%clk])",
        &[
            real("min", "the fewest seconds left", (0.0, 1e9), &[0.0]),
            real("max", "the most seconds left", (0.0, 1e9), &[1e9]),
            choice("unknown", "what becomes of positions without a clock", &["drop", "keep"]),
        ],
        Build::InGame { build: clock, clocks: true },
    ),
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

/// The first and the last kept, as the user writes them; a short one stands for all that begin so.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    min: String,
    max: String,
    unknown: Unknown,
}

/// Keeps games by a tag that is read as a list, such as year, month and day; lists are compared as far as both go.
/// `asked` reads a limit, and `example` says how one is written.
fn within<T: Ord + Send + Sync + 'static>(
    values: ParamValues,
    (name, example): (&str, &str),
    asked: fn(&str) -> Option<Vec<T>>,
    of_game: impl Fn(&GameTags) -> Option<Vec<T>> + Send + Sync + 'static,
) -> Result<Filter<GameTags>> {
    let Limits { min, max, unknown } = params(values)?;
    let limit = |param: &str, text: &str| {
        let unreadable = || Error::usage(format!("`{name}.{param}` is {text}; write {example}"));
        asked(text).ok_or_else(unreadable)
    };
    let (least, most) = (limit("min", &min)?, limit("max", &max)?);
    if as_far(&least, &most).is_gt() {
        let [low, high] = ["min", "max"].map(|param| format!("{name}.{param}"));
        return Err(Error::usage(FilterError::NothingLeft(low, min, high, max).to_string()));
    }
    Ok(Box::new(move |tags| match of_game(tags) {
        Some(value) => as_far(&value, &least).is_ge() && as_far(&value, &most).is_le(),
        None => unknown == Unknown::Keep,
    }))
}

/// Compares two lists up to the end of the shorter one.
fn as_far<T: Ord>(a: &[T], b: &[T]) -> Ordering {
    let both = a.len().min(b.len());
    a[..both].cmp(&b[..both])
}

fn eco(values: ParamValues) -> Result<Filter<GameTags>> {
    within(values, ("eco", "a code such as B, B2 or B20"), eco_code, |tags| eco_code(&tags.names.eco))
}

/// The letters of a code such as `B90`, or of its beginning. What follows, as in `B90/03`, is left out.
fn eco_code(text: &str) -> Option<Vec<u8>> {
    let code = text.trim().to_ascii_uppercase().into_bytes();
    let length = 1 + code.iter().skip(1).take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let known = matches!(code.first(), Some(b'A'..=b'E'));
    let whole = length == 3 || length == code.len();
    (known && whole).then(|| code[..length].to_vec())
}

fn date(values: ParamValues) -> Result<Filter<GameTags>> {
    let example = "a day such as 2020, 2020.06 or 2020.06.30";
    within(values, ("date", example), day, |tags| {
        Some(numbers(&tags.names.date)).filter(|day| !day.is_empty())
    })
}

/// A day that is written as one, or a whole month or year.
fn day(text: &str) -> Option<Vec<u16>> {
    let day = numbers(text);
    let known = text.trim().split(DAY_PARTS).take_while(|part| !part.starts_with('?')).count();
    let fits = day.iter().zip([9999, 12, 31]).all(|(number, most)| *number <= most);
    (fits && known == day.len() && known > 0).then_some(day)
}

const DAY_PARTS: [char; 3] = ['.', '-', '/'];

/// Year, month and day as far as they are known; of `2020.??.??` the year.
fn numbers(text: &str) -> Vec<u16> {
    text.trim().split(DAY_PARTS).map_while(|part| part.parse().ok()).take(3).collect()
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
