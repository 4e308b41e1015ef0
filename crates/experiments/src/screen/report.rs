//! Report of a screen.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::factor::half_width;
use super::{Optimum, Planner, Standing, Term};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_match::{Reason, RunSummary, StopReason, Tally};
use patzer_stats::{Unbiased, Z95, with_error};

/// A switch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectRow {
    pub name: String,
    /// Options without and with the change.
    pub change: String,
    /// Elo of the change, over both levels of the others.
    pub elo: f64,
    /// Half the width of the 95 % interval for a number of games fixed in advance.
    pub error: f64,
    /// Bounds of Elo; all of them hold together, at whatever time the screen ends.
    pub low: f64,
    pub high: f64,
    /// Without the bias of stopping, by the looks up to the decision; `None` while the screen plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbiased: Option<Unbiased>,
    /// Games in which the two players differed in it.
    pub games: u64,
    pub standing: Standing,
    /// Part of the set that the confirming test plays with.
    pub chosen: bool,
}

impl EffectRow {
    /// The standing in words, with an open change that is chosen.
    pub fn standing_text(&self) -> String {
        let open = self.standing == Standing::Open && self.chosen;
        if open { "open, chosen".to_string() } else { self.standing.to_string() }
    }
}

/// A range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RangeRow {
    pub name: String,
    pub option: String,
    /// Values by level: low, middle, high.
    pub values: [f64; 3],
    pub optimum: f64,
    /// 95 % interval of the optimum.
    pub low: f64,
    pub high: f64,
    /// Elo of the optimum over the middle, and half the width of its 95 % interval.
    pub gain: f64,
    pub error: f64,
    pub games: u64,
    pub chosen: bool,
}

/// Elo of two changes together beyond the sum of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InteractionRow {
    pub name: String,
    pub elo: f64,
    pub error: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScreenReport {
    pub games: u64,
    pub confidence: f64,
    pub worth: f64,
    pub effects: Vec<EffectRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<RangeRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<InteractionRow>,
    /// Names of the changes that the confirming test plays with.
    pub chosen: Vec<String>,
    /// Elo of the chosen changes together by the effects, and half the width of the 95 % interval.
    pub together: f64,
    pub together_error: f64,
    pub reasons: BTreeMap<Reason, u64>,
    pub games_per_second: f64,
    pub end: StopReason,
    /// Command that tests the chosen changes in games of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
}

/// The switches in the order of the file, as far as they are known.
pub fn effects(planner: &Planner) -> Vec<EffectRow> {
    let row = |(term, kind): (usize, &Term)| {
        let Term::Switch(factor) = *kind else { return None };
        let (elo, error) = planner.effects().effect(term);
        let [low, high] = planner.bounds(term);
        let standing = planner.standings()[factor];
        let (own, error) = (&planner.design().factors.factors[factor], Z95 * error);
        Some(EffectRow {
            name: own.name.clone(),
            change: own.to_string(),
            elo,
            error,
            low,
            high,
            unbiased: None,
            games: 2 * planner.pairs()[factor],
            standing,
            chosen: match standing {
                Standing::Kept => true,
                Standing::Dropped => false,
                Standing::Open => elo > error,
            },
        })
    };
    planner.terms().iter().enumerate().filter_map(row).collect()
}

fn ranges(planner: &Planner) -> Vec<RangeRow> {
    let row = |(term, kind): (usize, &Term)| {
        let Term::Slope(factor) = *kind else { return None };
        let own = &planner.design().factors.factors[factor];
        let optimum = Optimum::of(own, planner.effects(), term)?;
        Some(RangeRow {
            name: own.name.clone(),
            option: own.settings.first()?.option.clone(),
            values: own.range()?,
            optimum: optimum.value,
            low: optimum.low,
            high: optimum.high,
            gain: optimum.gain,
            error: optimum.error,
            games: 2 * planner.pairs()[factor],
            chosen: optimum.moved,
        })
    };
    planner.terms().iter().enumerate().filter_map(row).collect()
}

fn interactions(planner: &Planner) -> Vec<InteractionRow> {
    let row = |(term, kind): (usize, &Term)| {
        let Term::Interaction(_) = kind else { return None };
        let (elo, error) = planner.effects().effect(term);
        let ([low, high], name) = (planner.bounds(term), planner.design().term_name(*kind));
        Some(InteractionRow { name, elo, error: Z95 * error, low, high })
    };
    planner.terms().iter().enumerate().filter_map(row).collect()
}

impl ScreenReport {
    pub(super) fn new(planner: &Planner, all: &Tally, ended: &RunSummary) -> ScreenReport {
        let (mut effects, ranges) = (effects(planner), ranges(planner));
        let switches =
            (0..planner.terms().len()).filter(|term| matches!(planner.terms()[*term], Term::Switch(_)));
        effects.iter_mut().zip(switches).for_each(|(row, term)| row.unbiased = planner.unbiased(term));
        effects.sort_by(|a, b| b.elo.total_cmp(&a.elo));
        let kept = effects.iter().filter(|row| row.chosen).map(|row| row.name.clone());
        let moved = ranges.iter().filter(|row| row.chosen).map(|row| row.name.clone());
        let chosen: Vec<String> = kept.chain(moved).collect();
        let (together, error) = planner.effects().sum(&weights(planner, &chosen, &ranges));
        ScreenReport {
            games: all.games.games(),
            confidence: planner.design().confidence,
            worth: planner.design().worth,
            interactions: interactions(planner),
            effects,
            ranges,
            chosen,
            // Adding 0 makes a negative zero positive.
            together: together + 0.0,
            together_error: Z95 * error,
            reasons: all.reasons.clone(),
            games_per_second: ended.speed(),
            end: match ended.complete {
                _ if planner.is_decided() => StopReason::Verdict,
                true => StopReason::Games,
                false => StopReason::Interrupted,
            },
            confirm: None,
        }
    }
}

/// Weights of the terms in the strength of the chosen changes, over none.
fn weights(planner: &Planner, chosen: &[String], ranges: &[RangeRow]) -> Vec<(usize, f64)> {
    let design = planner.design();
    let is_chosen = |factor: usize| chosen.contains(&design.factors.factors[factor].name);
    let at = |factor: usize| {
        let row = ranges.iter().find(|row| row.name == design.factors.factors[factor].name)?;
        Some((row.optimum - row.values[1]) / half_width(row.values))
    };
    let code = |factor: usize| if is_chosen(factor) { 0.5 } else { -0.5 };
    let weight = |term: &Term| match *term {
        Term::Switch(factor) => f64::from(u8::from(is_chosen(factor))),
        Term::Slope(factor) if is_chosen(factor) => at(factor).unwrap_or(0.0),
        Term::Curvature(factor) if is_chosen(factor) => at(factor).unwrap_or(0.0).powi(2),
        Term::Slope(_) | Term::Curvature(_) => 0.0,
        Term::Interaction([a, b]) => code(a) * code(b) - 0.25,
    };
    planner.terms().iter().map(weight).enumerate().filter(|(_, weight)| *weight != 0.0).collect()
}

/// Switches with their Elo, bounds, games and standing.
pub(super) fn table(rows: &[EffectRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = width(rows.iter().map(|row| &row.name));
    let unbiased = if rows[0].unbiased.is_some() { "unbiased " } else { "" };
    let mut text = format!(
        "{:<width$} {:>15} {unbiased}{:>8} {:>8} {:>8}  standing",
        "change", "Elo", "from", "to", "games"
    );
    for row in rows {
        let number = |value: f64| format!("{:+.1}", value + 0.0);
        let [low, high] = [row.low, row.high].map(number);
        let unbiased = row.unbiased.map_or(String::new(), |unbiased| format!("{:>8} ", number(unbiased.elo)));
        let (name, elo) = (printable(&row.name), with_error(row.elo + 0.0, row.error, 1));
        let standing = row.standing_text();
        text += &format!(
            "\n{name:<width$} {elo:>15} {unbiased}{low:>8} {high:>8} {:>8}  {standing}",
            grouped(row.games)
        );
    }
    text
}

fn width<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| printable(name).chars().count()).max().unwrap_or(0).max(9)
}

impl ScreenReport {
    fn write_ranges(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = width(self.ranges.iter().map(|row| &row.name));
        writeln!(
            f,
            "{:<width$} {:>9} {:>9} {:>9} {:>9}  {:>15} {:>8}",
            "range", "middle", "optimum", "from", "to", "Elo", "games"
        )?;
        for row in &self.ranges {
            let number = |value: f64| format!("{}", (value * 1e3).round() / 1e3);
            let [middle, optimum, low, high] = [row.values[1], row.optimum, row.low, row.high].map(number);
            let (name, gain) = (printable(&row.name), with_error(row.gain + 0.0, row.error, 1));
            let chosen = if row.chosen { "  chosen" } else { "" };
            writeln!(
                f,
                "{name:<width$} {middle:>9} {optimum:>9} {low:>9} {high:>9}  {gain:>15} {:>8}{chosen}",
                grouped(row.games)
            )?;
        }
        writeln!(f, "Elo of the optimum over the middle; its interval is of 95 %\n")
    }
}

impl fmt::Display for ScreenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.confidence;
        if !self.effects.is_empty() {
            writeln!(f, "{}", table(&self.effects))?;
            writeln!(f, "± 95 % of each; from and to hold together with {percent:.0} %, at any time")?;
            writeln!(f, "unbiased is free of the bias of leaving when an effect looks large\n")?;
        }
        if !self.ranges.is_empty() {
            self.write_ranges(f)?;
        }
        for row in &self.interactions {
            let (elo, name) = (with_error(row.elo + 0.0, row.error, 1), printable(&row.name));
            writeln!(
                f,
                "{name}  {elo} beyond the sum of both, {:+.1} to {:+.1} at any time",
                row.low, row.high
            )?;
        }
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        writeln!(f, "games       {}, {:.1} a second", grouped(self.games), self.games_per_second)?;
        let names: Vec<_> = self.chosen.iter().map(|name| printable(name)).collect();
        if names.is_empty() {
            return write!(f, "chosen      none: no change is known to gain");
        }
        let together = with_error(self.together, self.together_error, 1);
        write!(
            f,
            "chosen      {}: {together} together by these games, the luck of the choice included",
            names.join(", ")
        )?;
        if let Some(confirm) = &self.confirm {
            write!(f, "\nconfirm     {}", printable(confirm))?;
        }
        Ok(())
    }
}
