//! Report of a race.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::RaceSettings;
use patzer_io::{Named, printable};
use patzer_match::{Reason, RunSummary, StopReason, Tally};

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CandidateRow {
    /// Number of the player.
    #[serde(skip)]
    pub player: usize,
    pub name: String,
    pub games: u64,
    pub score: f64,
    /// Over the anchor, or over the winner.
    pub elo: f64,
    /// Bounds of Elo; all of them hold together, at whatever time the race ends.
    pub low: f64,
    pub high: f64,
    /// Elo less the error that choosing and stopping cause at this place; `None` while the race goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbiased: Option<f64>,
    /// Probability to be the best of the candidates.
    pub best: f64,
    /// Loss of an evaluation against scores, where there are some to judge by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaceReport {
    pub winner: String,
    pub probability: f64,
    /// True if the bounds prove the winner, with the confidence asked for.
    pub known: bool,
    pub games: u64,
    pub policy: &'static str,
    pub confidence: f64,
    pub candidates: Vec<CandidateRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    pub games_per_second: f64,
    pub reasons: BTreeMap<Reason, u64>,
    pub end: StopReason,
    /// Command that tests the winner in games of its own.
    pub confirm: Option<String>,
}

impl RaceReport {
    pub(super) fn new(
        settings: &RaceSettings,
        names: &[String],
        candidates: Vec<CandidateRow>,
        all: &Tally,
        known: bool,
        ended: &RunSummary,
    ) -> RaceReport {
        let winner = candidates.first().cloned().unwrap_or_default();
        RaceReport {
            winner: winner.name,
            probability: winner.best,
            known,
            games: all.games.games(),
            policy: settings.policy.name(),
            confidence: settings.confidence,
            candidates,
            anchor: settings.anchor().and_then(|anchor| names.get(anchor).cloned()),
            games_per_second: ended.speed(),
            reasons: all.reasons.clone(),
            end: match ended.complete {
                _ if known => StopReason::Verdict,
                true => StopReason::Games,
                false => StopReason::Interrupted,
            },
            confirm: None,
        }
    }
}

/// Candidates with their Elo, bounds, games and probability of being best.
pub(super) fn table(rows: &[CandidateRow]) -> String {
    let names: Vec<_> = rows.iter().map(|row| printable(&row.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(9);
    // Adding 0 makes a negative zero positive.
    let number = |value: f64| if value.is_finite() { format!("{:+.1}", value + 0.0) } else { "–".into() };
    let head = ["Elo", "from", "to", "games", "score", "best"];
    let [elo, from, to, games, score, best] = head;
    let unbiased = if rows.iter().any(|row| row.unbiased.is_some()) { "unbiased " } else { "" };
    let mut text = format!(
        "{:<width$} {elo:>8} {unbiased}{from:>8} {to:>8} {games:>8} {score:>8} {best:>8}",
        "candidate"
    );
    let judged = rows.iter().any(|row| row.loss.is_some());
    text += if judged { "     loss" } else { "" };
    for (name, row) in names.iter().zip(rows) {
        let [elo, low, high] = [row.elo, row.low, row.high].map(number);
        let unbiased = row.unbiased.map_or(String::new(), |elo| format!("{:>8} ", number(elo)));
        let [score, best] = [row.score, row.best].map(|share| format!("{:.1} %", 100.0 * share));
        text += &format!(
            "\n{name:<width$} {elo:>8} {unbiased}{low:>8} {high:>8} {:>8} {score:>8} {best:>8}",
            row.games
        );
        text += &row.loss.map_or(String::new(), |loss| format!(" {loss:>8.5}"));
    }
    text
}

impl fmt::Display for RaceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", table(&self.candidates))?;
        let (winner, percent) = (printable(&self.winner), 100.0 * self.confidence);
        let over = self.anchor.as_deref().map_or("the winner".into(), printable);
        writeln!(f, "Elo over {over}; all bounds hold together with {percent:.0} %, at any time")?;
        if self.candidates.iter().any(|row| row.unbiased.is_some()) {
            writeln!(
                f,
                "unbiased is Elo less what choosing and stopping add at each place, by simulated races"
            )?;
        }
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        let speed = self.games_per_second;
        writeln!(f, "games       {} by {}, {speed:.1} a second", self.games, self.policy)?;
        write!(f, "winner      {winner}, the best with probability {:.1} %", 100.0 * self.probability)?;
        if self.known {
            write!(f, "; proven with confidence {percent:.0} %")?;
        }
        if let Some(confirm) = &self.confirm {
            write!(f, "\nconfirm     {}", printable(confirm))?;
        }
        Ok(())
    }
}
