//! Writes stdout as fastchess and cutechess-cli do.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::Console;
use super::Program;
use super::config::ConfigFile;
use super::gaps::Gaps;
use super::output_format::{MatchStatus, OutputFormat, count_of, started, without};
use super::settings::{LogLevel, Settings};
use patzer_io::date::clock;
use patzer_io::error::{Error, Result};
use patzer_io::number::counted;
use patzer_io::printable;
use patzer_match::pgn::final_epd;
use patzer_match::record::PairEntry;
use patzer_match::{EngineLog, Observer, Pair, PairGame, Reason, Standings, Tally, TimeUse, sign_mismatches};
use patzer_stats::Trinomial;

pub struct Display<'a> {
    settings: &'a Settings,
    names: Vec<String>,
    conditions: String,
    /// All games of the tournament.
    games: usize,
    by_pairs: bool,
    log: Option<Arc<EngineLog>>,
    /// File of final positions, if one is written.
    pub epd: Option<(File, PathBuf)>,
    /// File of settings and results, if one is written.
    pub config: Option<ConfigFile>,
    pub gaps: Gaps,
    console: &'a dyn Console,
    begin: Instant,
    times: Vec<TimeUse>,
    /// Players and half points of the games that are reported before their pair, by the pair's index.
    first_games: BTreeMap<usize, ([usize; 2], u8)>,
    /// Games lost by a crash or without an answer, by player.
    crashes: Vec<u64>,
    timeouts: Vec<u64>,
}

impl<'a> Display<'a> {
    pub fn new(
        settings: &'a Settings,
        names: Vec<String>,
        conditions: String,
        games: usize,
        by_pairs: bool,
        log: Option<Arc<EngineLog>>,
        console: &'a dyn Console,
    ) -> Result<Display<'a>> {
        let players = names.len();
        Ok(Display {
            settings,
            names,
            conditions,
            games,
            by_pairs,
            log,
            epd: None,
            config: None,
            gaps: Gaps::default(),
            console,
            begin: Instant::now(),
            times: vec![TimeUse::default(); players],
            first_games: BTreeMap::new(),
            crashes: vec![0; players],
            timeouts: vec![0; players],
        })
    }

    fn say(&self, text: &str) -> Result<()> {
        if text.is_empty() { Ok(()) } else { self.console.line(text.trim_end_matches('\n')) }
    }

    /// Prints a warning, and stops the match if it may not have any.
    pub fn warn(&mut self, text: &str) -> Result<()> {
        let separator = if self.settings.test_env { " :: " } else { "\n" };
        let text: Vec<String> = text.lines().map(|line| printable(line).to_string()).collect();
        // OpenBench's worker ends where a line is not ASCII.
        let text = text.join(separator).replace('…', "...");
        self.say(&text)?;
        self.note(LogLevel::Warn, &text);
        match self.settings.strict {
            true => Err(Error::input(format!("-strict: {}", text.lines().next().unwrap_or_default()))),
            false => Ok(()),
        }
    }

    fn note(&self, level: LogLevel, text: &str) {
        let due = level >= self.settings.log.level && !self.settings.log.stdout;
        if let Some(log) = self.log.as_ref().filter(|_| due) {
            log.note(if level == LogLevel::Warn { "WARN" } else { "INFO" }, text);
        }
    }

    fn status(&self, players: [usize; 2], standings: &dyn Standings) -> Result<()> {
        let tally = standings.between(players);
        let status = MatchStatus {
            names: players.map(|player| self.names[player].as_str()),
            conditions: &self.conditions,
            tally: &tally,
            test: standings.test(),
            by_pairs: self.by_pairs,
        };
        let format = self.settings.output;
        self.say(&if self.names.len() == 2 {
            format.standing(&status)
        } else {
            let ranked: Vec<(&str, Tally)> = standings
                .ranking(self.names.len())
                .into_iter()
                .map(|(player, tally)| (self.names[player].as_str(), tally))
                .collect();
            format.ranking(&ranked)
        })
    }

    /// Tests whether a report is due after the last of these games, of a finished pair.
    fn rating_due(&self, done: u64) -> bool {
        // Pairs with pentanomial statistics, games without.
        let (unit, every) = (if self.by_pairs { 2 } else { 1 }, self.settings.rating_interval);
        every > 0 && done / (unit * every) != (done - 2) / (unit * every)
    }

    /// Score of two players with the games that are reported before their pair.
    fn score(&self, players: [usize; 2], standings: &dyn Standings) -> Trinomial {
        let mut games = standings.between(players).games;
        for (_, half_points) in self.first_games.values().filter(|(of, _)| *of == players) {
            *count_of(&mut games, *half_points) += 1;
        }
        games
    }

    /// Lines of a game with its warnings, and counts what ended it badly; `now` is the score after it.
    fn game(&mut self, game: &PairGame, now: Trinomial) -> Result<()> {
        let (played, [white, black]) = (game.game, game.seats());
        TimeUse::add(&mut self.times, played, [white, black]);
        self.append_epd(game)?;
        self.say(&started(game, &self.names, self.games))?;
        let mismatches = match self.settings.program {
            Program::Fastchess => {
                sign_mismatches(played, [white, black].map(|player| self.names[player].as_str()))
            }
            Program::Cutechess => Vec::new(),
        };
        for warning in played.warnings().map(String::from).chain(mismatches) {
            self.warn(&warning)?;
        }
        let loser = played.winner.map(|winner| winner.fold_wb(black, white));
        match (played.reason, loser) {
            (Reason::TimeForfeit, Some(loser)) => self.timeouts[loser] += 1,
            (Reason::Disconnect | Reason::Stall, Some(loser)) => self.crashes[loser] += 1,
            (Reason::IllegalMove, Some(loser)) => {
                let said = played.note.as_deref().unwrap_or("<none>");
                let name = self.names[loser].clone();
                self.warn(&format!("Warning; Illegal move {said} played by {name}"))?;
            }
            _ => {}
        }
        let number = 2 * game.index + game.number + 1;
        let interval = self.settings.score_interval;
        let due = interval > 0 && (number as u64).is_multiple_of(interval) || number == self.games;
        let two = self.names.len() == 2 || self.settings.program == Program::Fastchess;
        let now = (due && two).then_some(now);
        let lines = self.settings.output.finished(game, &self.names, now);
        self.note(LogLevel::Info, &lines);
        self.say(&lines)
    }

    fn append_epd(&mut self, game: &PairGame) -> Result<()> {
        let Some((file, path)) = &mut self.epd else { return Ok(()) };
        let line = final_epd(game.game) + "\n";
        file.write_all(line.as_bytes()).map_err(|e| Error::io(&*path, e))
    }

    /// Writes the file by which a run goes on.
    pub fn save(&mut self, standings: &dyn Standings) {
        // The games stay, even if this file cannot be written.
        if let Some(Err(error)) =
            self.config.as_mut().map(|file| file.write(self.settings, standings, &self.gaps))
        {
            self.console.warn(&error.to_string());
        }
        if self.gaps.out_of_order() > 0 {
            let pairs = counted(self.gaps.out_of_order(), "pair");
            self.console.note(&format!("finished after an unfinished pair, counted and written: {pairs}"));
        }
        if !self.first_games.is_empty() {
            let games = counted(self.first_games.len() as u64, "game");
            self.console
                .note(&format!("finished games of unfinished pairs, written and not counted: {games}"));
        }
    }

    pub fn end(mut self, standings: &dyn Standings) -> Result<()> {
        let fastchess = self.settings.output == OutputFormat::Fastchess;
        let due = match self.settings.program {
            Program::Fastchess => standings.decided(),
            // Unless the last report was of these games.
            Program::Cutechess => standings.games() > 0 && !self.rating_due(standings.games()),
        };
        if due {
            self.status([0, 1], standings)?;
        }
        let players = || self.names.iter().zip(self.timeouts.iter().zip(&self.crashes));
        let marked: Vec<_> = players().filter(|(_, (timeouts, crashes))| *timeouts + *crashes > 0).collect();
        if fastchess && !marked.is_empty() {
            let lines = marked.iter().map(|(name, (timeouts, crashes))| {
                format!("Player: {name}\n  Timeouts: {timeouts}\n  Crashed: {crashes}\n")
            });
            self.say(&lines.collect::<String>())?;
        }
        if self.settings.show_latency {
            for (name, times) in self.names.iter().zip(&self.times) {
                self.say(&format!("{name}: {times}"))?;
            }
        }
        self.say(&self.settings.output.end(standings.test()))?;
        self.save(standings);
        if self.settings.program == Program::Fastchess {
            self.say(&format!("Total Time: {} (hours:minutes:seconds)", clock(self.begin.elapsed())))?;
        }
        Ok(())
    }
}

impl Observer for Display<'_> {
    fn first_game(&mut self, game: &PairGame, standings: &dyn Standings) -> Result<()> {
        let players = game.pairing.players;
        self.first_games.insert(game.index, (players, game.half_points()));
        self.game(game, self.score(players, standings))
    }

    fn pair(&mut self, pair: &Pair, entry: &PairEntry, standings: &dyn Standings) -> Result<()> {
        let reported = self.first_games.remove(&pair.index).is_some();
        self.gaps.count(pair.index);
        if let Some(Err(error)) =
            self.config.as_mut().map(|file| file.follow(self.settings, standings, &self.gaps))
        {
            self.console.warn(&error.to_string());
        }
        let now = self.score(entry.players, standings);
        if !reported {
            self.game(&pair.game(0), without(now, entry.half_points[1]))?;
        }
        self.game(&pair.game(1), now)?;
        let done = standings.games();
        let last = done == self.games as u64 && self.settings.program == Program::Fastchess;
        if self.rating_due(done) || last { self.status(entry.players, standings) } else { Ok(()) }
    }

    fn incident(&mut self, text: &str) {
        self.console.warn(&printable(text));
    }
}
