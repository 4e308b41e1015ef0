//! A sequential test: counts, and the moment when there are enough.
//!
//! In: pairs in order. Out: the state after each, its verdict, and the report of how it ended. A test runs over
//! a [`Record`], so it can be interrupted and resumed, and its games are on disk before they count.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::game::Reason;
use super::pgn::{self, Header};
use super::record::{Entry, Record};
use super::schedule::{self, MakePlayer, Pair, Plan};
use crate::error::Result;
use crate::stats::{Counts, Estimate, Model, Pentanomial, Sprt, Trinomial, Verdict};

/// The counts of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    sprt: Sprt,
    /// Single games, from the first player's side.
    pub games: Trinomial,
    /// Pairs, from the first player's side.
    pub pairs: Pentanomial,
    /// How many games ended for which reason.
    pub reasons: BTreeMap<Reason, u64>,
    /// Pairs whose games have the same moves.
    pub mirrored: u64,
    /// What happened to players that crashed or stalled, for people; whoever tells it takes it out.
    pub incidents: Vec<String>,
}

impl State {
    /// No games yet.
    pub fn new(sprt: Sprt) -> State {
        State {
            sprt,
            games: Trinomial::default(),
            pairs: Pentanomial::default(),
            reasons: BTreeMap::new(),
            mirrored: 0,
            incidents: Vec::new(),
        }
    }

    /// Counts a pair.
    pub fn add(&mut self, entry: &Entry) {
        for half_points in entry.half_points {
            match half_points {
                0 => self.games.losses += 1,
                1 => self.games.draws += 1,
                _ => self.games.wins += 1,
            }
        }
        self.pairs.add(entry.half_points);
        for reason in entry.reasons {
            *self.reasons.entry(reason).or_default() += 1;
        }
        self.mirrored += u64::from(entry.mirrored);
    }

    /// The logarithm of the likelihood ratio: of pairs, or of single games for the Bayesian model.
    pub fn llr(&self) -> f64 {
        self.sprt.llr(match self.sprt.model() {
            Model::Bayesian => Counts::Games(self.games),
            _ => Counts::Pairs(self.pairs),
        })
    }

    /// The verdict so far.
    pub fn verdict(&self) -> Verdict {
        self.sprt.verdict(self.llr())
    }

    /// One line for a progress display.
    pub fn line(&self) -> String {
        let Trinomial { wins, draws, losses } = self.games;
        let estimate = Estimate::new(self.pairs);
        format!(
            "{} games: +{wins} ={draws} -{losses}, Elo {:+.1} ± {:.1}, LLR {:+.2} ({:.2}, {:.2})",
            self.games.games(),
            estimate.elo,
            estimate.elo_error,
            self.llr(),
            self.sprt.lower(),
            self.sprt.upper(),
        )
    }

    /// The report of the counts as they are.
    pub fn report(&self, end: End, seconds: f64, games_played: u64) -> Report {
        let Trinomial { wins, draws, losses } = self.games;
        Report {
            wins,
            draws,
            losses,
            pentanomial: self.pairs,
            estimate: Estimate::new(self.pairs),
            llr: self.llr(),
            lower: self.sprt.lower(),
            upper: self.sprt.upper(),
            verdict: self.verdict(),
            games_per_second: if seconds > 0.0 { games_played as f64 / seconds } else { 0.0 },
            reasons: self.reasons.clone(),
            mirrored_pairs: self.mirrored,
            end,
            test: self.sprt,
        }
    }
}

/// Why no more pairs were played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The verdict was reached.
    Verdict,
    /// As many games as allowed were played.
    Games,
    /// The user stopped the test.
    Interrupted,
}

/// How a test stands at its end: the result of `patzer sprt`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Games won by the first player.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the first player.
    pub losses: u64,
    /// Pairs: LL, LD, WL + DD, WD, WW.
    pub pentanomial: Pentanomial,
    /// Elo and normalised Elo with errors, likelihood of superiority, from the pairs.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Logarithm of the likelihood ratio.
    pub llr: f64,
    /// The LLR at which H0 is accepted.
    pub lower: f64,
    /// The LLR at which H1 is accepted.
    pub upper: f64,
    /// How it ended.
    pub verdict: Verdict,
    /// Games a second of wall-clock time in this run.
    pub games_per_second: f64,
    /// How many games ended for which reason.
    pub reasons: BTreeMap<Reason, u64>,
    /// Pairs whose two games have the same moves.
    pub mirrored_pairs: u64,
    /// Why no more were played.
    pub end: End,
    #[serde(skip)]
    test: Sprt,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { elo, elo_error, nelo, nelo_error, los } = self.estimate;
        let games = self.wins + self.draws + self.losses;
        let pairs = self.pentanomial.0;
        writeln!(f, "games       {games}: {} won, {} drawn, {} lost", self.wins, self.draws, self.losses)?;
        writeln!(f, "pairs       {pairs:?} (LL, LD, WL+DD, WD, WW)")?;
        writeln!(f, "Elo         {elo:+.2} ± {elo_error:.2}")?;
        writeln!(f, "normalised  {nelo:+.2} ± {nelo_error:.2}")?;
        writeln!(f, "LOS         {:.2} %", 100.0 * los)?;
        let [llr, lower, upper] = [self.llr, self.lower, self.upper];
        writeln!(f, "LLR         {llr:+.3} ({lower:.3}, {upper:.3}) for {}", self.test)?;
        writeln!(f, "speed       {:.1} games/s", self.games_per_second)?;
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        write!(f, "verdict     ")?;
        match (self.verdict, self.end) {
            (Verdict::H1, _) => write!(f, "H1 accepted: the first player is stronger"),
            (Verdict::H0, _) => write!(f, "H0 accepted: the first player is not stronger as asked"),
            (_, End::Interrupted) => write!(f, "undecided: interrupted; --resume goes on"),
            (_, _) => {
                write!(f, "undecided: the games allowed have been played; --resume with more --games goes on")
            }
        }
    }
}

/// What a test needs but players and a record.
pub struct Test<'a> {
    /// The hypotheses.
    pub sprt: Sprt,
    /// The games; its pairs begin behind those that a resumed record holds.
    pub plan: Plan<'a>,
    /// The tags of the games.
    pub header: Header,
}

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_millis(200);

/// Runs a test to its verdict, or until the pairs of the plan are played or `stop` is set.
///
/// `done` are the pairs of a resumed record. `progress` sees the state now and then. Gives the report, and how many finished pairs were discarded because they lie beyond the end.
///
/// # Errors
/// If the record cannot be written, or a player fails and the rules end the match then.
pub fn run(
    Test { sprt, plan, header }: &Test,
    done: &[Entry],
    record: &mut Record,
    players: MakePlayer,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&mut State),
) -> Result<(Report, usize)> {
    let mut state = State::new(*sprt);
    done.iter().for_each(|entry| state.add(entry));
    let begin = Instant::now();
    let before = state.games.games();
    let mut discarded = 0;
    if state.verdict() == Verdict::Undecided && !plan.pairs.is_empty() {
        let shared = std::cell::RefCell::new((&mut state, record, &mut *progress, begin));
        let mut receive = |pair: Pair| {
            let (state, record, ..) = &mut *shared.borrow_mut();
            let entry = Entry::new(&pair);
            record.append(&entry, &pgn::pair(&pair, header))?;
            state.add(&entry);
            state.incidents.extend(incidents(&pair, plan.names));
            Ok(match state.verdict() {
                Verdict::Undecided => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            })
        };
        let mut idle = || {
            let (state, record, progress, last) = &mut *shared.borrow_mut();
            if last.elapsed() >= PROGRESS {
                *last = Instant::now();
                progress(state);
            }
            record.sync_now_and_then()
        };
        discarded = schedule::run(plan, players, stop, &mut receive, &mut idle)?.discarded;
    }
    progress(&mut state);
    let played = state.pairs.pairs() as usize;
    let end = if state.verdict() != Verdict::Undecided {
        End::Verdict
    } else if played >= plan.pairs.end {
        End::Games
    } else {
        End::Interrupted
    };
    let games = state.games.games() - before;
    Ok((state.report(end, begin.elapsed().as_secs_f64(), games), discarded))
}

/// What is to be told about games that a player lost by a crash or a stall.
fn incidents(pair: &Pair, names: &[String]) -> Vec<String> {
    let [a, b] = pair.meeting.players;
    let games = pair.games.iter().zip([[a, b], [b, a]]).enumerate();
    games
        .filter(|(_, (game, _))| matches!(game.reason, Reason::Disconnect | Reason::Stall))
        .map(|(number, (game, [white, black]))| {
            let loser = game.winner.map_or(white, |winner| winner.fold_wb(black, white));
            let note = game.note.as_deref().unwrap_or_default();
            format!("game {}.{}: {} {note}", pair.index + 1, number + 1, names[loser])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::adjudication::Adjudication;
    use super::super::control::Control;
    use super::super::game::{Rules, Terms};
    use super::super::meetings::Schedule;
    use super::super::mock::Hashing;
    use super::super::openings::{Choice, Openings};
    use super::super::player::{Fault, Player};
    use super::super::record::{Arguments, Options, journal_path};
    use super::*;

    const TERMS: Terms =
        Terms { control: Control { time: None, nodes: Some(1), depth: None }, margin: Duration::ZERO };

    /// A test of a player that takes what it can against one that moves at random.
    fn run_test(folder: &Path, concurrency: usize, resume: bool, stopped: bool) -> Report {
        let openings = Openings::load(Choice { seed: 1, ..Choice::default() }).unwrap();
        let adjudication = Adjudication {
            resign: Some("2,500".parse().unwrap()),
            max_moves: Some(30),
            ..Adjudication::NONE
        };
        let rules = Rules { adjudication, recover: false };
        let sprt = Sprt::new(Model::Logistic, 0.0, 50.0, 0.05, 0.05).unwrap();
        let (names, terms) = (["a".to_string(), "b".to_string()], [TERMS; 2]);
        let header = Header::new("patzer sprt", &names, &terms);
        let players = |number: usize, _: &AtomicBool| -> std::result::Result<Box<dyn Player>, Fault> {
            Ok(Box::new(Hashing::new([100, 7][number])))
        };
        let (path, none) = (folder.join("t.pgn"), Arguments::new());
        let (mut record, done) = if resume {
            Record::resume(&path, &none, &Options::new()).unwrap()
        } else {
            (Record::create(&path, &none, &Options::new()).unwrap(), Vec::new())
        };
        let plan = Plan {
            pairs: done.len()..1000,
            concurrency,
            schedule: &Schedule::new(2, 1),
            terms: &terms,
            names: &names,
            openings: &openings,
            rules,
            prepare: &|_| {},
        };
        let stop = AtomicBool::new(stopped);
        let test = Test { sprt, plan, header };
        let (report, _) = run(&test, &done, &mut record, &players, &stop, &mut |_| {}).unwrap();
        record.finish().unwrap();
        report
    }

    fn files(folder: &Path) -> [Vec<u8>; 2] {
        let pgn = folder.join("t.pgn");
        [std::fs::read(&pgn).unwrap(), std::fs::read(journal_path(&pgn)).unwrap()]
    }

    #[test]
    fn verdict_counts_and_files_do_not_depend_on_threads_or_interruptions() {
        let [one, three, cut] = [0; 3].map(|_| tempfile::tempdir().unwrap());
        let alone = run_test(one.path(), 1, false, false);
        assert_eq!((alone.verdict, alone.end), (Verdict::H1, End::Verdict));
        let timeless = |report: Report| Report { games_per_second: 0.0, ..report };
        let alone = timeless(alone);
        assert_eq!(timeless(run_test(three.path(), 3, false, false)), alone);
        assert_eq!(files(three.path()), files(one.path()));

        run_test(cut.path(), 2, false, true);
        let [pgn, _] = files(cut.path());
        assert!(
            files(one.path())[0].starts_with(&pgn),
            "an interrupted test holds the first games of the whole"
        );
        assert_eq!(timeless(run_test(cut.path(), 2, true, false)), alone);
        assert_eq!(files(cut.path()), files(one.path()));
    }

    #[test]
    fn the_test_stops_at_the_first_pair_that_decides_it() {
        let folder = tempfile::tempdir().unwrap();
        let report = run_test(folder.path(), 2, false, false);
        let (_, entries) =
            Record::resume(&folder.path().join("t.pgn"), &Arguments::new(), &Options::new()).unwrap();
        let (last, before) = entries.split_last().unwrap();
        let mut state = State::new(report.test);
        for entry in before {
            state.add(entry);
            assert_eq!(state.verdict(), Verdict::Undecided);
        }
        state.add(last);
        assert_eq!(state.verdict(), Verdict::H1);
        assert_eq!(report.pentanomial, state.pairs);
    }
}
