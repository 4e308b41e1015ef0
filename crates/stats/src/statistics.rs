use std::fmt;

use serde::Serialize;

use super::interval::exact_proportion;
use super::{Adjusted, Estimate, Model, Pentanomial, ResultCounts, Sprt, Trinomial, Verdict, with_error};
use patzer_io::error::{Error, Hint, Result};

/// The largest count of games or pairs; larger ones would not sum exactly.
pub const MOST_GAMES: u64 = 1_000_000_000_000_000;

/// Everything that counts of results say: Elo, LOS, LLR and the verdict of a test.
#[derive(Debug, Serialize)]
pub struct Statistics {
    #[serde(flatten)]
    games: Option<Trinomial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pentanomial: Option<Pentanomial>,
    #[serde(flatten)]
    estimate: Estimate,
    draw_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_ratio: Option<f64>,
    llr: f64,
    lower: f64,
    upper: f64,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    adjusted: Option<Adjusted>,
    /// Exact 95 % interval of the fraction of wins among decided games.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_interval: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    hypotheses: String,
}

impl Statistics {
    /// Computes the statistics of single games or of pairs; an error without either.
    pub fn new(test: &Sprt, games: Option<Trinomial>, pairs: Option<Pentanomial>) -> Result<Statistics> {
        let counts = match (games, pairs) {
            (Some(games), _) => ResultCounts::from(games),
            (None, Some(_)) if test.model() == Model::Bayesian => {
                return Err(Error::usage("the Bayesian model counts single games").hint(Hint::GiveGameCounts));
            }
            (None, Some(pairs)) => ResultCounts::from(pairs),
            (None, None) => return Err(Error::usage("no counts").hint(Hint::GiveCounts)),
        };
        let llr = test.llr(counts);
        Ok(Statistics {
            games,
            pentanomial: pairs,
            estimate: Estimate::new(counts),
            llr,
            lower: test.lower(),
            upper: test.upper(),
            verdict: test.verdict(llr),
            draw_ratio: match counts {
                ResultCounts::Games(games) => {
                    (games.games() > 0).then(|| games.draws as f64 / games.games() as f64)
                }
                ResultCounts::Pairs(pairs) => pairs.even(),
            },
            pair_ratio: pairs.and_then(|pairs| pairs.ratio()),
            adjusted: Adjusted::known(test, counts),
            note: pairs.and_then(|pairs| pairs.remark()),
            decided_interval: games.map(|g| exact_proportion(g.wins, g.wins + g.losses, 0.95)),
            hypotheses: test.to_string(),
        })
    }

    pub fn llr(&self) -> f64 {
        self.llr
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { elo, elo_error, nelo, nelo_error, los } = self.estimate;
        if let Some(games) = self.games {
            let Trinomial { wins, draws, losses } = games;
            writeln!(f, "games       {}: {wins} won, {draws} drawn, {losses} lost", games.games())?;
        }
        if let Some(pairs) = self.pentanomial {
            writeln!(f, "pairs       {}: {:?} (LL, LD, WL+DD, WD, WW)", pairs.pairs(), pairs.0)?;
        }
        writeln!(f, "Elo         {}", with_error(elo, elo_error, 2))?;
        writeln!(f, "normalised  {}", with_error(nelo, nelo_error, 2))?;
        writeln!(f, "LOS         {:.2} %", 100.0 * los)?;
        match (self.draw_ratio, self.pentanomial) {
            (Some(even), Some(_)) => {
                let ratio = self.pair_ratio.map_or("none lost".into(), |ratio| format!("{ratio:.2}"));
                writeln!(f, "pairs even  {:.2} %, won to lost {ratio}", 100.0 * even)?;
            }
            (Some(draws), None) => writeln!(f, "drawn       {:.2} %", 100.0 * draws)?,
            (None, _) => {}
        }
        if let Some((low, high)) = self.decided_interval {
            writeln!(f, "decided     {:.2} to {:.2} % won (exact, 95 %)", 100.0 * low, 100.0 * high)?;
        }
        let Statistics { llr, lower, upper, hypotheses, .. } = self;
        writeln!(f, "LLR         {llr:+.6} ({lower:.3}, {upper:.3}) for {hypotheses}")?;
        match self.verdict {
            Verdict::H1 => write!(f, "verdict     H1 accepted")?,
            Verdict::H0 => write!(f, "verdict     H0 accepted")?,
            Verdict::Undecided => write!(f, "verdict     undecided")?,
        }
        if let Some(Adjusted { elo, low, high, los }) = self.adjusted {
            write!(f, "\nas a test   Elo {elo:+.2} [{low:+.2}, {high:+.2}], LOS {:.2} %", 100.0 * los)?;
            write!(f, " (free of the bias of stopping)")?;
        }
        self.note.as_ref().map_or(Ok(()), |note| write!(f, "\nnote        {note}"))
    }
}
