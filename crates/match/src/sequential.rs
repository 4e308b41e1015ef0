//! Standings of a sequential test, and its final report.

use patzer_io::number::counted;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::by_opening::{OpeningResult, OpeningTallies, write_table};
use super::openings::Openings;
use super::record::PairEntry;
use super::tally::{MatchScore, plus_minus};
use crate::{Reason, RunSummary, Standings, StopReason, Tally};
use patzer_stats::{
    Adjusted, Estimate, Model, Pentanomial, ResultCounts, Sprt, Trinomial, Verdict, with_error,
};

/// Tally and verdict of a sequential test.
#[derive(Debug, Clone, PartialEq)]
pub struct SprtState {
    sprt: Sprt,
    openings: OpeningTallies,
    by_games: bool,
    /// From the first player's side.
    pub tally: Tally,
}

impl Standings for SprtState {
    fn add(&mut self, entry: &PairEntry) {
        self.tally.add(entry);
        self.openings.add(entry);
    }

    fn between(&self, _: [usize; 2]) -> Tally {
        self.tally.clone()
    }

    fn player_tally(&self, player: usize) -> Tally {
        if player == 0 { self.tally.clone() } else { self.tally.reversed() }
    }

    fn test(&self) -> Option<(Sprt, f64)> {
        Some((self.sprt, self.llr()))
    }

    fn decided(&self) -> bool {
        self.verdict() != Verdict::Undecided
    }

    fn expected_games(&self) -> Option<f64> {
        let llr = self.llr();
        let bound = if llr < 0.0 { self.sprt.lower() } else { self.sprt.upper() };
        (llr != 0.0).then(|| self.games() as f64 * (bound / llr).max(1.0))
    }

    fn summary_line(&self) -> String {
        let estimate = Estimate::new(self.tally.pairs);
        format!(
            "{}: {}, Elo {}, LLR {:+.2} ({:.2}, {:.2})",
            counted(self.games(), "game"),
            plus_minus(self.tally.games),
            with_error(estimate.elo, estimate.elo_error, 1),
            self.llr(),
            self.sprt.lower(),
            self.sprt.upper(),
        )
    }

    fn games(&self) -> u64 {
        self.tally.games.games()
    }
}

impl SprtState {
    pub fn new(sprt: Sprt) -> SprtState {
        SprtState { sprt, openings: OpeningTallies::default(), by_games: false, tally: Tally::default() }
    }

    /// Counts single games, for games that do not come in pairs of one opening.
    pub fn by_games(self) -> SprtState {
        SprtState { by_games: true, ..self }
    }

    fn counts(&self) -> ResultCounts {
        match self.sprt.model() {
            _ if self.by_games => ResultCounts::Games(self.tally.games),
            Model::Bayesian => ResultCounts::Games(self.tally.games),
            _ => ResultCounts::Pairs(self.tally.pairs),
        }
    }

    pub fn llr(&self) -> f64 {
        self.sprt.llr(self.counts())
    }

    pub fn verdict(&self) -> Verdict {
        self.sprt.verdict(self.llr())
    }

    pub fn report(&self, ended: &RunSummary, book: Option<&Openings>) -> SprtReport {
        let end = match self.verdict() {
            Verdict::Undecided if ended.complete => StopReason::Games,
            Verdict::Undecided => StopReason::Interrupted,
            _ => StopReason::Verdict,
        };
        SprtReport {
            score: MatchScore::from(&self.tally),
            draw_ratio: self.tally.pairs.even(),
            pair_ratio: self.tally.pairs.ratio(),
            white: self.tally.colours[0],
            black: self.tally.colours[1],
            adjusted: Adjusted::known(&self.sprt, self.counts()),
            llr: self.llr(),
            lower: self.sprt.lower(),
            upper: self.sprt.upper(),
            verdict: self.verdict(),
            games_per_second: ended.speed(),
            reasons: self.tally.reasons.clone(),
            mirrored_pairs: self.tally.mirrored,
            openings: book.map(|book| self.openings.rows(book)),
            end,
            test: self.sprt,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SprtReport {
    #[serde(flatten)]
    pub score: MatchScore,
    pub draw_ratio: Option<f64>,
    /// Pairs won over pairs lost; `None` if none was lost.
    pub pair_ratio: Option<f64>,
    pub white: Trinomial,
    pub black: Trinomial,
    pub adjusted: Option<Adjusted>,
    pub llr: f64,
    /// LLR that accepts H0.
    pub lower: f64,
    /// LLR that accepts H1.
    pub upper: f64,
    pub verdict: Verdict,
    pub games_per_second: f64,
    pub reasons: BTreeMap<Reason, u64>,
    /// Pairs whose games have the same moves.
    pub mirrored_pairs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openings: Option<Vec<OpeningResult>>,
    pub end: StopReason,
    #[serde(skip)]
    test: Sprt,
}

impl fmt::Display for SprtReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatchScore { wins, draws, losses, pentanomial: Pentanomial(pairs), ref estimate } = self.score;
        let &Estimate { elo, elo_error, nelo, nelo_error, los } = estimate;
        let games = wins + draws + losses;
        writeln!(f, "games       {games}: {wins} won, {draws} drawn, {losses} lost")?;
        let [white, black] = [self.white, self.black].map(plus_minus);
        writeln!(f, "colours     {white} with White, {black} with Black")?;
        writeln!(f, "pairs       {pairs:?} (LL, LD, WL+DD, WD, WW)")?;
        let ratio = self.pair_ratio.map_or("none lost".into(), |ratio| format!("{ratio:.2}"));
        writeln!(f, "pairs even  {:.2} %, won to lost {ratio}", 100.0 * self.draw_ratio.unwrap_or(0.0))?;
        writeln!(f, "Elo         {}", with_error(elo, elo_error, 2))?;
        writeln!(f, "normalised  {}", with_error(nelo, nelo_error, 2))?;
        writeln!(f, "LOS         {:.2} %", 100.0 * los)?;
        let [llr, lower, upper] = [self.llr, self.lower, self.upper];
        writeln!(f, "LLR         {llr:+.3} ({lower:.3}, {upper:.3}) for {}", self.test)?;
        if let Some(Adjusted { elo, low, high, los }) = self.adjusted {
            write!(f, "as a test   Elo {elo:+.2} [{low:+.2}, {high:+.2}], LOS {:.2} %", 100.0 * los)?;
            writeln!(f, " (free of the bias of stopping)")?;
        }
        if self.games_per_second > 0.0 {
            writeln!(f, "speed       {:.1} games/s", self.games_per_second)?;
        }
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        write!(f, "verdict     ")?;
        match (self.verdict, self.end) {
            (Verdict::H1, _) => write!(f, "H1 accepted: the first player is stronger"),
            (Verdict::H0, _) => write!(f, "H0 accepted: the first player is not stronger as asked"),
            (_, StopReason::Interrupted) => write!(f, "undecided: interrupted"),
            (_, _) => write!(f, "undecided: the games allowed have been played"),
        }?;
        self.openings.as_ref().map_or(Ok(()), |openings| write_table(f, openings))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::journal::{self, Contents, Opened, Start};
    use crate::mock::Hashing;
    use crate::pairs::PlayerFactory;
    use crate::pairs::tests::{hashing, plan};
    use crate::record::{AheadPairs, MatchRecord, PairSink, journal_path};
    use crate::runner;
    use crate::{Adjudication, MatchConfig, MoveReply, Player, PlayerError, Rules, Turn};
    use patzer_io::Earlier;
    use patzer_io::error::Result;

    fn run_test(folder: &Path, concurrency: usize, resume: bool, stopped: bool) -> SprtReport {
        let adjudication = Adjudication {
            resign: Some("2,500".parse().unwrap()),
            max_moves: Some(30),
            ..Adjudication::NONE
        };
        let rules = Rules { adjudication, recover: false, syzygy: None };
        let sprt = Sprt::new(Model::Logistic, 0.0, 50.0, 0.05, 0.05).unwrap();
        let (path, none) = (folder.join("t.pgn"), serde_json::json!({}));
        let earlier = if resume { Earlier::Resume } else { Earlier::Protect };
        let start = Start { command: "sprt", settings: &none, conditions: &none, key: None };
        let Opened { mut record, entries: done, .. } = MatchRecord::open(&path, earlier, &start).unwrap();
        let config = MatchConfig { rules, ..plan(done.len()..1000, concurrency, 2, 30) };
        let stop = AtomicBool::new(stopped);
        let mut state = SprtState::new(sprt);
        let ended =
            runner::run_match(&config, &mut state, &done, &mut record, &hashing, &stop, &mut ()).unwrap();
        record.finish(ended.complete || state.decided()).unwrap();
        state.report(&ended, None)
    }

    fn files(folder: &Path) -> [Vec<u8>; 2] {
        let pgn = folder.join("t.pgn");
        [std::fs::read(&pgn).unwrap(), std::fs::read(journal_path(&pgn)).unwrap()]
    }

    #[test]
    fn verdict_counts_and_files_do_not_depend_on_threads_or_interruptions() {
        let [one, three, cut] = [0; 3].map(|_| tempfile::tempdir().unwrap());
        let alone = run_test(one.path(), 1, false, false);
        assert_eq!((alone.verdict, alone.end), (Verdict::H1, StopReason::Verdict));
        let timeless = |report: SprtReport| SprtReport { games_per_second: 0.0, ..report };
        let alone = timeless(alone);
        assert_eq!(timeless(run_test(three.path(), 3, false, false)), alone);
        assert_eq!(files(three.path()), files(one.path()));

        run_test(cut.path(), 2, false, true);
        let [mut pgn, _] = files(cut.path());
        let journal = journal::read::<PairEntry>(&cut.path().join("t.journal")).unwrap();
        // Games of unfinished pairs follow.
        let begins = memchr::memmem::find_iter(&pgn, b"[Event ").nth(2 * journal.entries.len());
        pgn.truncate(begins.unwrap_or(pgn.len()));
        assert!(files(one.path())[0].starts_with(&pgn), "the first games of the whole");
        assert_eq!(timeless(run_test(cut.path(), 2, true, false)), alone);
        assert_eq!(files(cut.path()), files(one.path()));
    }

    /// Stops the match in its fourth game.
    struct Stopping<'a>(Hashing, usize, &'a AtomicBool);

    impl Player for Stopping<'_> {
        fn new_game(&mut self, _: &shakmaty::Chess, _: &AtomicBool) -> std::result::Result<(), PlayerError> {
            self.1 += 1;
            self.2.fetch_or(self.1 == 4, Ordering::Relaxed);
            Ok(())
        }

        fn choose(&mut self, turn: &Turn) -> std::result::Result<MoveReply, PlayerError> {
            while self.1 == 4 && !turn.stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            self.0.choose(turn)
        }
    }

    #[test]
    fn the_finished_game_of_a_pair_that_is_stopped_is_kept_and_played_again() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let folder = tempfile::tempdir().unwrap();
        let (path, none) = (folder.path().join("t.pgn"), serde_json::json!({}));
        let start = Start { command: "match", settings: &none, conditions: &none, key: None };
        let run = |earlier, players: PlayerFactory| {
            let Opened { mut record, entries: done, .. } = MatchRecord::open(&path, earlier, &start).unwrap();
            let config = plan(done.len()..3, 1, 2, 5);
            let mut state = SprtState::new(Sprt::new(Model::Logistic, 0.0, 1.0, 0.05, 0.05).unwrap());
            let stop = if earlier == Earlier::Resume { &AtomicBool::new(false) } else { &STOP };
            let ended =
                runner::run_match(&config, &mut state, &done, &mut record, players, stop, &mut ()).unwrap();
            record.finish(ended.complete).unwrap();
            let games = std::fs::read_to_string(&path).unwrap();
            (state.games(), ended.single_games, games.matches("[Event ").count())
        };
        let stopping = |number: usize, _: &AtomicBool| -> std::result::Result<Box<dyn Player>, PlayerError> {
            let seed = Hashing([100, 7][number]);
            Ok(if number == 0 { Box::new(Stopping(seed, 0, &STOP)) } else { Box::new(seed) })
        };
        assert_eq!(run(Earlier::Protect, &stopping), (2, 1, 3));
        let stopped = std::fs::read(&path).unwrap();
        assert_eq!(run(Earlier::Resume, &hashing), (6, 0, 6));
        assert!(std::fs::read(&path).unwrap().starts_with(&stopped));
    }

    #[test]
    fn the_test_stops_at_the_first_pair_that_decides_it() {
        let folder = tempfile::tempdir().unwrap();
        let report = run_test(folder.path(), 2, false, false);
        let Contents { entries, complete, .. } =
            journal::read::<PairEntry>(&folder.path().join("t.journal")).unwrap();
        assert!(complete);
        let (last, before) = entries.split_last().unwrap();
        let mut state = SprtState::new(report.test);
        for entry in before {
            state.add(entry);
            assert_eq!(state.verdict(), Verdict::Undecided);
        }
        state.add(last);
        assert_eq!(state.verdict(), Verdict::H1);
        assert_eq!(report.score.pentanomial, state.tally.pairs);
    }

    /// Pairs with their games in the order in which they are appended.
    #[derive(Default)]
    struct Pairs {
        appended: Vec<(PairEntry, String)>,
        ahead: AheadPairs,
        arrived: Vec<usize>,
    }

    impl PairSink for Pairs {
        fn append(&mut self, entry: &PairEntry, games: &[u8]) -> Result<()> {
            self.appended.push((entry.clone(), String::from_utf8(games.to_vec()).unwrap()));
            Ok(())
        }

        fn append_ahead(&mut self, entry: &PairEntry, _: &dyn Fn() -> String) -> Result<bool> {
            self.arrived.push(entry.pair);
            Ok(true)
        }

        fn ahead(&self) -> AheadPairs {
            self.ahead.clone()
        }

        fn sync(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pairs_kept_ahead_are_counted_in_their_turn_and_not_played_again() {
        let run = |ahead: AheadPairs| {
            let mut pairs = Pairs { ahead, ..Pairs::default() };
            let mut state = SprtState::new(Sprt::new(Model::Logistic, 0.0, 1.0, 0.05, 0.05).unwrap());
            let (config, stop) = (plan(0..8, 2, 2, 5), AtomicBool::new(false));
            let ended = runner::run_match(&config, &mut state, &[], &mut pairs, &hashing, &stop, &mut ());
            (pairs, state.tally, ended.unwrap())
        };
        let (whole, tally, _) = run(AheadPairs::new());
        let kept = |pair: usize, swap: bool| {
            let mut entry = whole.appended[pair - 1].0.clone();
            if swap {
                entry.players.reverse();
            }
            let games = format!("the games of {pair}");
            let value = serde_json::json!({ "after": 0, "games": games });
            let mut line = serde_json::to_value(&entry).unwrap();
            line.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
            (pair, serde_json::from_value(line).unwrap())
        };
        // Of pair 6 the pairing is another one by now.
        let (pairs, again, ended) = run([kept(3, false), kept(5, false), kept(6, true)].into());
        assert_eq!((again, ended.games, ended.complete), (tally, 12, true));
        for ((now, games), (then, whole)) in pairs.appended.iter().zip(&whole.appended) {
            assert_eq!(now, then);
            let kept = [3, 5].contains(&now.pair).then(|| format!("the games of {}", now.pair));
            assert_eq!(games, &kept.unwrap_or_else(|| whole.clone()));
        }
        assert!(pairs.arrived.iter().all(|pair| ![3, 5].contains(pair)), "{:?}", pairs.arrived);
    }
}
