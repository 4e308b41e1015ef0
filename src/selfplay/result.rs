use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use patzer_io::number::{counted, grouped, per_hour};
use patzer_label::selfplay::SelfplaySummary;
use patzer_label::selfplay::batch::GameTotals;
use patzer_label::selfplay::start::Rejection;

#[derive(Serialize)]
pub struct SelfplayResult {
    games: u64,
    positions: u64,
    white_wins: u64,
    draws: u64,
    black_wins: u64,
    reasons: BTreeMap<patzer_match::Reason, u64>,
    /// Games that a player's failure ended, which are not written.
    games_left_out: u64,
    positions_without_score: u64,
    /// Plies a game.
    mean_length: f64,
    shortest: u64,
    longest: u64,
    starts: u64,
    starts_rejected: BTreeMap<Rejection, u64>,
    seconds: f64,
    positions_per_hour: f64,
    complete: bool,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: Vec<PathBuf>,
}

impl SelfplayResult {
    pub fn new(ended: SelfplaySummary, output: Vec<PathBuf>) -> SelfplayResult {
        let SelfplaySummary { counts, positions: new, seconds, complete } = ended;
        let GameTotals { games, positions, white, draws, black, reasons, rejected, .. } = counts;
        let [shortest, longest] = counts.lengths;
        SelfplayResult {
            games,
            positions,
            white_wins: white,
            draws,
            black_wins: black,
            reasons,
            games_left_out: counts.left_out,
            positions_without_score: counts.unscored,
            mean_length: positions as f64 / (white + draws + black).max(1) as f64,
            shortest,
            longest,
            starts: games + rejected.values().sum::<u64>(),
            starts_rejected: rejected,
            seconds,
            positions_per_hour: per_hour(new, seconds),
            complete,
            output,
        }
    }
}

fn words(reason: Rejection) -> &'static str {
    match reason {
        Rejection::Unbalanced => "given up as unbalanced",
        Rejection::GameOver => "as over",
        Rejection::EngineFailed => "because the engine failed on them",
        Rejection::NoScore => "because the engine said no score",
        Rejection::Illegal => "as illegal",
    }
}

impl fmt::Display for SelfplayResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SelfplayResult { games, white_wins, draws, black_wins, .. } = self;
        let sound = (white_wins + draws + black_wins).max(1);
        let share = 100.0 * *draws as f64 / sound as f64;
        writeln!(f, "games       {}: +{white_wins} ={draws} -{black_wins} for White", grouped(*games))?;
        writeln!(
            f,
            "lengths     {:.1} plies, {} to {}; {share:.1} % drawn",
            self.mean_length, self.shortest, self.longest
        )?;
        let (positions, speed) = (grouped(self.positions), grouped(self.positions_per_hour as u64));
        writeln!(f, "positions   {positions}, {speed} an hour")?;
        if self.positions_without_score > 0 {
            writeln!(f, "            {} without a score", grouped(self.positions_without_score))?;
        }
        let rejected: Vec<String> = self
            .starts_rejected
            .iter()
            .map(|(reason, count)| format!("{} {}", grouped(*count), words(*reason)))
            .collect();
        let rejected = if rejected.is_empty() { "none given up".into() } else { rejected.join(", ") };
        writeln!(f, "starts      {}: {rejected}", grouped(self.starts))?;
        let reasons: Vec<String> = self
            .reasons
            .iter()
            .map(|(reason, count)| format!("{} {}", reason.name(), grouped(*count)))
            .collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        if self.games_left_out > 0 {
            writeln!(
                f,
                "left out    {} that an engine's failure ended",
                counted(self.games_left_out, "game")
            )?;
        }
        let files: Vec<String> =
            self.output.iter().map(|path| patzer_io::Printable(path.display()).to_string()).collect();
        write!(f, "written     {}", files.join(", "))?;
        if !self.complete {
            write!(f, "\ninterrupted after {}; --resume goes on", counted(self.games, "game"))?;
        }
        Ok(())
    }
}
