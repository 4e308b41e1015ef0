//! The state of a match that another process plays, read from its journal and its games. Starts no program and takes
//! no lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::live::{Pace, clock, state};
use crate::match_run::check_played;
use crate::ui::{LINES, columns};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_experiments::race::{self, RaceState};
use patzer_experiments::screen::{self, Design, ScreenState};
use patzer_experiments::spsa::{Form, SpsaState, Tuner, Tuning};
use patzer_io::number::grouped;
use patzer_io::{Shard, printable_lines};
use patzer_match::journal::{Follower, is_journal};
use patzer_match::record::{PairEntry, check_players, journal_of, players, shard};
use patzer_match::rounds::{Rounds, RoundsState};
use patzer_match::{CrossTable, RunSummary, SprtState, Standings};
use patzer_report::contest::games::{Follow, Games, MoveTotals};
use patzer_stats::Verdict;

/// Show a running test, match, race or tuning by games until it ends
///
/// Starts no program. The result and the exit code are those of the run itself.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Journal of the run, or the file of its games
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer watch sprt.journal             a test that runs in another terminal\n  \
    patzer watch match.pgn --json         its result, when it has ended";

/// Time between two looks at the journal.
const LOOK: Duration = Duration::from_millis(500);

struct Watch {
    journal: Follower<PairEntry>,
    names: Vec<String>,
    /// Games at most.
    games: u64,
    standings: Box<dyn WatchedStandings>,
    counted: usize,
    pgn: Follow,
    begin: Instant,
    /// Games at the first look.
    before: u64,
}

/// Standings with the report that the run itself ends with.
trait WatchedStandings: Standings {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status>;
}

impl WatchedStandings for SprtState {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status> {
        let report = self.report(ended, None);
        ui.result(&report)?;
        Ok(match report.verdict {
            Verdict::H1 => Status::Done,
            Verdict::H0 => Status::H0,
            Verdict::Undecided => Status::Undecided,
        })
    }
}

impl WatchedStandings for RoundsState {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status> {
        ui.result(&self.report(ended, None))
    }
}

impl WatchedStandings for RaceState {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status> {
        ui.result(&self.report(ended))
    }
}

impl WatchedStandings for ScreenState {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status> {
        ui.result(&self.report(ended))
    }
}

impl WatchedStandings for CrossTable {
    fn end(&self, ended: &RunSummary, ui: &Ui) -> Result<Status> {
        ui.result(&self.report(ended, None))
    }
}

impl WatchedStandings for SpsaState {
    fn end(&self, _: &RunSummary, ui: &Ui) -> Result<Status> {
        ui.line(&Form::Setoption.write(&self.now())).map(|()| Status::Done)
    }
}

pub fn run(args: &WatchArgs, ui: &Ui) -> Result<Status> {
    let file = &args.file;
    interrupt::listen()?;
    let pgn = if is_journal(file) { file.with_extension("pgn") } else { file.clone() };
    let mut watch = Watch::open(&journal_of(file), pgn)?;
    let bar = ui.block("watch");
    let mut said = None::<Instant>;
    while !watch.journal.is_complete() {
        if bar.is_hidden() {
            if said.is_none_or(|said| said.elapsed() >= LINES) {
                said = Some(Instant::now());
                ui.note(watch.standings.summary_line());
            }
        } else {
            bar.set_message(printable_lines(&watch.text()).into_owned());
        }
        std::thread::sleep(LOOK);
        interrupt::check()?;
        watch.update()?;
    }
    bar.finish_and_clear();
    let games = watch.standings.games() - watch.before;
    let seconds = if games > 0 { watch.begin.elapsed().as_secs_f64() } else { 0.0 };
    let ended = RunSummary { games, seconds, discarded: 0, single_games: 0, complete: true };
    watch.time_use().iter().for_each(|line| ui.note(line));
    check_played(&*watch.standings, &watch.names, file)?;
    watch.standings.end(&ended, ui)
}

impl Watch {
    fn open(journal: &Path, pgn: PathBuf) -> Result<Watch> {
        let path = journal;
        let journal = Follower::<PairEntry>::open(path)?;
        let names = players(journal.start().conditions());
        check_players(path, journal.entries(), names.len())?;
        let (standings, games) = standings(&journal, &names)?;
        let (pgn, begin) = (Follow::new(pgn), Instant::now());
        let mut watch = Watch { journal, names, games, standings, counted: 0, pgn, begin, before: 0 };
        watch.count()?;
        watch.before = watch.standings.games();
        Ok(watch)
    }

    fn update(&mut self) -> Result<()> {
        if self.journal.update()? {
            self.standings = standings(&self.journal, &self.names)?.0;
            self.counted = 0;
            self.pgn.restart();
            self.count()?;
            (self.begin, self.before) = (Instant::now(), self.standings.games());
            return Ok(());
        }
        self.count()
    }

    fn count(&mut self) -> Result<()> {
        for entry in &self.journal.entries()[self.counted..] {
            if entry.players.iter().any(|player| *player >= self.names.len()) {
                return Err(Error::input(format!("pair {} is not of the journal's players", entry.pair)));
            }
            self.standings.add(entry);
        }
        self.counted = self.journal.entries().len();
        self.pgn.update(self.journal.games());
        Ok(())
    }

    fn text(&self) -> String {
        let pace = Pace {
            played: self.standings.games() - self.before,
            seconds: self.begin.elapsed().as_secs_f64(),
            games: self.games,
        };
        let mut text = state(&*self.standings, &self.names, &pace, columns());
        let reasons = self.reasons();
        if !reasons.is_empty() {
            text += &format!("\n  endings: {reasons}");
        }
        for line in self.time_use() {
            text += &format!("\n  {line}");
        }
        let age = self.journal.changed().and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if let Some(age) = age.filter(|age| age.as_secs() >= 10) {
            text += &format!("\n  last pair {} ago", clock(age.as_secs_f64()));
        }
        text
    }

    fn reasons(&self) -> String {
        let mut all = std::collections::BTreeMap::<String, u64>::new();
        for reason in self.journal.entries().iter().flat_map(|entry| &entry.reasons) {
            *all.entry(reason.name()).or_default() += 1;
        }
        let words: Vec<String> =
            all.iter().map(|(reason, count)| format!("{reason} {}", grouped(*count))).collect();
        words.join(", ")
    }

    /// Time, depth and speed of each player, from the comments of its moves.
    fn time_use(&self) -> Vec<String> {
        let Games { by_move, .. } = self.pgn.games();
        let line = |(name, moves): (&String, &Vec<MoveTotals>)| {
            let sum = moves.iter().fold(MoveTotals::default(), |sum, took| sum.plus(took));
            // A match by nodes has no times: all are 0.
            let seconds = sum.seconds.mean().filter(|seconds| *seconds > 0.0);
            let time = seconds.map(|seconds| format!("{:.1} ms a move", 1000.0 * seconds));
            let depth = sum.depth.mean().map(|depth| format!("depth {depth:.1}"));
            let speed = sum.nodes.total / sum.seconds.total / 1000.0;
            let speed = (speed.is_finite() && speed > 0.0).then(|| format!("{speed:.0} knps"));
            let words: Vec<String> = [time, depth, speed].into_iter().flatten().collect();
            (!words.is_empty()).then(|| format!("{name}: {}", words.join(", ")))
        };
        by_move.iter().filter_map(line).collect()
    }
}

/// Empty standings of a journal's run, and its games at most.
fn standings(journal: &Follower<PairEntry>, names: &[String]) -> Result<(Box<dyn WatchedStandings>, u64)> {
    let start = journal.start();
    if let Some(tuning) = Tuning::of(start.conditions()) {
        let state = SpsaState::new(Arc::new(Tuner::new(tuning)));
        return Ok((Box::new(state), crate::spsa::games_of(start)?));
    }
    if let Some(design) = Design::of(start.conditions()) {
        let shard = shard(start.conditions()).unwrap_or(Shard::WHOLE);
        let state = ScreenState::new(screen::Planner::new(design, shard), names);
        return Ok((Box::new(state), crate::screen::games_of(start)?));
    }
    Ok(match start.command() {
        "sprt" => {
            let (sprt, games) = crate::sprt::test_of(start)?;
            (Box::new(SprtState::new(sprt)), games)
        }
        "race" => {
            let settings = crate::race::settings_of(start, names.len())?;
            (Box::new(RaceState::new(settings, race::Planner::new(settings), names)), 2 * settings.budget)
        }
        _ => match crate::match_::rounds_of(start, names.len())? {
            Some(rounds) => (Box::new(RoundsState::new(Rounds::new(rounds), names)), 2 * rounds.most_pairs()),
            None => {
                let (table, games) = crate::match_::table_of(start, names)?;
                (Box::new(table), games)
            }
        },
    })
}
