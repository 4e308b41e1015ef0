//! Plays the games of the settings.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Console;
use super::Program;
use super::config::ConfigFile;
use super::display::Display;
use super::engines;
use super::gaps::Gaps;
use super::output_files::{self, OutputFiles};
use super::output_format::OutputFormat;
use super::settings::{Settings, Tournament};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_io::number::counted;
use patzer_match::affinity::{self, CpuShares};
use patzer_match::openings::{BookOptions, Openings, Order};
use patzer_match::participant::Defaults;
use patzer_match::rounds::{RoundSettings, Rounds, RoundsState, System};
use patzer_match::{
    Adjudication, Control, CrossTable, DrawRule, EngineLog, Lineup, Listen, MatchConfig, OpeningChange,
    Pairings, PvCheck, RuleSet, Rules, Schedule, Spec, SprtState, Standings, Syzygy, run_match,
};
use patzer_stats::Sprt;

/// Transposition table of players in this process, MiB.
const HASH: usize = 16;
/// Time reserve of players in this process.
const OVERHEAD: Duration = Duration::from_millis(5);

pub fn play(settings: &Settings, console: &dyn Console) -> Result<()> {
    interrupt::listen()?;
    let stop = interrupt::flag();
    let specs = engines::specs(settings)?;
    let test = sprt(settings, specs.len())?;
    let games = Games::new(settings, test.as_ref(), console)?;
    let concurrency = concurrency(settings)?;
    let seed = seed(settings, console);
    let (openings, rules) = (openings(settings, &games, seed, console)?, rules(settings)?);
    let log = log(settings)?;
    settings.notes.iter().for_each(|note| console.note(note));
    let mut lineup = Lineup::load(&specs, &defaults(settings, seed, log.as_ref()))?;
    lineup.start(stop).inspect_err(|error| startup_failure(&specs, error, console))?;
    let pairings = pairings(settings, &games, specs.len());
    let rounds = rounds(settings, specs.len());
    let done = if settings.keeps_stats { settings.stats.pairs()? } else { Vec::new() };
    let gaps = Gaps::new(done.len(), if settings.keeps_stats { &settings.unplayed } else { &[] })?;
    if !done.is_empty() {
        console.note(&format!("-config: goes on after {}", counted(2 * done.len() as u64, "game")));
    }
    let plan = rounds.as_ref().map(Rounds::plan);
    let pairs = rounds.as_ref().map(|rounds| rounds.settings().most_pairs() as usize);
    let shares = cpu_shares(settings, concurrency, &lineup, console);
    let mut header = lineup.header(&settings.event);
    header.style = settings.style.clone();
    let pairs = done.len()..pairs.unwrap_or(games.pairs * pairings.round());
    let schedule = plan.as_deref().map_or(&pairings as &dyn Schedule, |plan| plan);
    let config = MatchConfig {
        skipped: gaps.indices(),
        concurrency,
        wait: settings.wait,
        // The rounds of a knockout follow from the results of whole ones.
        as_they_finish: rounds.is_none(),
        prepare: &|game| shares.iter().for_each(|shares| shares.bind(game)),
        ..MatchConfig::new(&lineup, &openings, rules, header, schedule, pairs)
    };
    let book = settings.book.file.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    lineup.check_openings(&openings, 2 * config.pairs.end, &book)?;
    let mut files = OutputFiles::open(settings, !done.is_empty(), console)?;
    let conditions = lineup.summary(&book);
    let conditions = conditions.trim_end_matches(", ").to_string();
    let mut display = Display::new(
        settings,
        lineup.names.clone(),
        conditions,
        2 * config.pairs.end,
        games.by_pairs,
        log.clone(),
        console,
    )?;
    display.epd = output_files::open(settings.epd.as_ref(), !done.is_empty())?;
    display.gaps = gaps;
    if settings.program == Program::Fastchess {
        display.config = Some(ConfigFile::new(&specs, seed));
    }
    for warning in lineup.participants.iter().flat_map(|participant| &participant.warnings) {
        display.warn(warning)?;
    }
    let mut standings: Box<dyn Standings> = match (rounds, test) {
        (Some(rounds), _) => Box::new(RoundsState::new(rounds, &lineup.names)),
        (None, Some(test)) if games.by_pairs => Box::new(SprtState::new(test)),
        (None, Some(test)) => Box::new(SprtState::new(test).by_games()),
        (None, None) => Box::new(CrossTable::new(&lineup.names)),
    };
    let players =
        |number: usize, stop: &std::sync::atomic::AtomicBool| lineup.participants[number].player(stop);
    let ended = run_match(&config, &mut *standings, &done, &mut files, &players, stop, &mut display);
    for participant in &lineup.participants {
        participant.drop_spares();
        if let Some(warning) = participant.strays_warning() {
            console.warn(&warning);
        }
    }
    if let Err(error) = ended {
        display.save(&*standings);
        return Err(error);
    }
    display.end(&*standings)?;
    if let (Some(log), Some(path)) = (log, &settings.log.file)
        && let Some(error) = log.error()
    {
        return Err(Error::data(path, format!("the log is cut short: {error}")));
    }
    Ok(())
}

/// Prints in fastchess's words that an engine did not answer `uci`.
fn startup_failure(specs: &[Spec], error: &Error, console: &dyn Console) {
    let error = error.to_string();
    let names = specs.iter().filter_map(|spec| spec.name.as_deref());
    for name in names.filter(|name| error.starts_with(&format!("{name}: ")) && error.contains("`uci`")) {
        let name = patzer_io::printable(name);
        let reason = "Engine didn't respond to uciok after startup";
        let _ = console.line(&format!("Fatal; {name} engine startup failure: \"{reason}\""));
    }
}

/// Number of games and the statistics that they allow.
struct Games {
    /// Pairs of each two players.
    pairs: usize,
    by_pairs: bool,
    change: OpeningChange,
    /// Openings that two players need.
    openings: usize,
}

impl Games {
    fn new(settings: &Settings, test: Option<&Sprt>, console: &dyn Console) -> Result<Games> {
        let Settings { rounds, games, repeat, .. } = *settings;
        let (rounds, games) = match settings.program {
            // As fastchess does for the order of cutechess-cli.
            Program::Fastchess if games > 2 => (games, rounds),
            _ => (rounds, games),
        };
        if settings.program == Program::Fastchess && games > 2 {
            return Err(Error::usage(format!(
                "-games {games}: a round has 1 or 2 games of each two engines"
            )));
        }
        let repeat = if settings.program == Program::Fastchess { games } else { repeat };
        if repeat > 2 {
            return Err(Error::usage(format!("-repeat {repeat}: an opening is played once or twice")));
        }
        let all = rounds.checked_mul(games).filter(|all| (1..=1_000_000_000).contains(all));
        let all = all.ok_or_else(|| Error::usage("-rounds and -games: write 1 to 1,000,000,000 games"))?;
        if all % 2 == 1 {
            console.note(&format!("{} games are played, not {all}: games come in pairs", all + 1));
        }
        let bayesian = test.is_some_and(|test| test.model() == patzer_stats::Model::Bayesian);
        let change = match (repeat, settings.book.by_round) {
            (1, _) => OpeningChange::Game,
            (_, true) => OpeningChange::Round,
            _ => OpeningChange::Pair,
        };
        // Fastchess counts games where it writes in cutechess-cli's words.
        let by_games = settings.output != OutputFormat::Fastchess || bayesian;
        let by_pairs = settings.penta && repeat == 2 && !by_games;
        let pairs = all.div_ceil(2) as usize;
        let openings = if change == OpeningChange::Game { 2 * pairs } else { pairs };
        Ok(Games { pairs, by_pairs, change, openings })
    }
}

fn sprt(settings: &Settings, players: usize) -> Result<Option<Sprt>> {
    let Some(test) = settings.sprt else { return Ok(None) };
    if players != 2 {
        return Err(Error::usage(format!("-sprt compares two engines, not {players}")));
    }
    if test.alpha == 0.0 || test.beta == 0.0 {
        return Err(Error::usage("-sprt: write alpha= and beta=, such as alpha=0.05 beta=0.05"));
    }
    Sprt::new(test.model, test.elo0, test.elo1, test.alpha, test.beta).map(Some)
}

fn concurrency(settings: &Settings) -> Result<usize> {
    let cpus = affinity::cpus() as i64;
    let wanted = match settings.concurrency {
        n if n <= 0 && settings.quick => (cpus + n).max(1),
        n if n <= 0 => cpus + n,
        n => n,
    };
    let limited = settings.program == Program::Fastchess && !settings.force_concurrency;
    if wanted > cpus && limited {
        let reason = format!("there are {cpus} CPUs; -force-concurrency plays more games at once");
        return Err(Error::usage(format!("-concurrency {wanted}: {reason}")));
    }
    let games = usize::try_from(wanted).ok().filter(|games| (1..=4096).contains(games));
    games.ok_or_else(|| Error::usage(format!("-concurrency {}: write 1 to 4096", settings.concurrency)))
}

/// Seeds the order of the openings and what engines draw from books.
fn seed(settings: &Settings, console: &dyn Console) -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = settings.seed.unwrap_or_else(|| now().as_nanos() as u64);
    let draws = settings.engines.iter().flatten().chain(&settings.each).any(|(key, _)| key == "book");
    if (settings.book.random || draws) && settings.seed.is_none() {
        console.note(&format!("-srand {seed} repeats this order of the openings"));
    }
    seed
}

fn openings(settings: &Settings, games: &Games, seed: u64, console: &dyn Console) -> Result<Openings> {
    let book = &settings.book;
    let Some(file) = &book.file else {
        if settings.chess960 {
            return Err(Error::usage(
                "-variant fischerandom: name a book of such positions with -openings file=",
            ));
        }
        console.note("no -openings: every game begins at the start position");
        return Ok(Openings::start_position());
    };
    let order = match (book.random, settings.program) {
        (false, _) => Order::Sequential,
        (true, Program::Fastchess) => Order::Fastchess,
        (true, Program::Cutechess) => Order::Random,
    };
    let openings = Openings::load(BookOptions {
        path: Some(file),
        order,
        seed,
        start: book.start as usize,
        plies: book.plies,
        chess960: settings.chess960,
        as_is: true,
        moves: true,
        // Fastchess drops what one pairing does not need, and the others use the same openings.
        most: (settings.program == Program::Fastchess).then_some(games.openings),
    })?;
    if let Some(warning) = openings.warning() {
        console.warn(&warning);
    }
    Ok(openings)
}

fn rules(settings: &Settings) -> Result<Rules> {
    let never = |rule: &DrawRule| settings.program == Program::Cutechess && rule.after == 0;
    let adjudication = Adjudication {
        draw: settings.draw.filter(|rule| !never(rule)),
        resign: settings.resign,
        loser_resigns: !settings.two_sided,
        max_moves: settings.max_moves,
        rule_set: match settings.program {
            Program::Fastchess => RuleSet::Fastchess,
            Program::Cutechess => RuleSet::Cutechess,
        },
    };
    // Cutechess-cli separates folders by semicolons everywhere.
    let separators: &[char] = if cfg!(windows) { &[';'] } else { &[';', ':'] };
    let load = |paths: &String| {
        let folders: Vec<&Path> =
            paths.split(separators).filter(|path| !path.is_empty()).map(Path::new).collect();
        if folders.is_empty() {
            return Err(Error::usage("-tb: name a folder of Syzygy tables"));
        }
        let mut tables = Syzygy::load_all(&folders, settings.tb_pieces, settings.tb_ignore_50)?;
        tables.results = settings.tb_results;
        Ok(Arc::new(tables))
    };
    Ok(Rules { adjudication, recover: settings.recover, syzygy: settings.tb.as_ref().map(load).transpose()? })
}

fn log(settings: &Settings) -> Result<Option<Arc<EngineLog>>> {
    if settings.log.stdout {
        return Ok(Some(Arc::new(EngineLog::stdout())));
    }
    let create = |path| EngineLog::create(path, settings.log.append).map(Arc::new);
    settings.log.file.as_deref().map(create).transpose()
}

fn defaults(settings: &Settings, seed: u64, log: Option<&Arc<EngineLog>>) -> Defaults {
    let check_pvs = match settings.program {
        Program::Fastchess if settings.check_mate_pvs => Some(PvCheck::Mates),
        Program::Fastchess => Some(PvCheck::Legal),
        Program::Cutechess => None,
    };
    let listen = Listen {
        pv: settings.style.fields.contains(&patzer_match::pgn::MoveField::Pv),
        lines: settings.lines.clone(),
        check_pvs,
        log: log.filter(|_| settings.log.engines || settings.log.stdout).cloned(),
        warn: None,
    };
    Defaults {
        control: Control::default(),
        margin: Duration::ZERO,
        hash: HASH,
        overhead: OVERHEAD,
        timeouts: settings.timeouts,
        lenient: true,
        listen,
        seed: Some(seed),
    }
}

/// A knockout with the games of `-games` an encounter, as cutechess-cli plays it.
fn rounds(settings: &Settings, players: usize) -> Option<Rounds> {
    let pairs = settings.games.div_ceil(2).max(1);
    let knockout = settings.tournament == Tournament::Knockout;
    knockout.then(|| Rounds::new(RoundSettings { system: System::Knockout, players, pairs }))
}

fn pairings(settings: &Settings, games: &Games, players: usize) -> Pairings {
    let seeds = match settings.tournament {
        Tournament::Gauntlet => settings.seeds.max(1),
        _ => players,
    };
    let first = usize::from(settings.reverse);
    let second = if settings.swap { 1 - first } else { first };
    let mut pairings = match settings.tournament {
        Tournament::Pyramid => Pairings::new(players, players),
        _ => Pairings::by_first(players, seeds, games.change),
    };
    pairings.colours = [first, second];
    pairings.change = games.change;
    pairings
}

fn cpu_shares(
    settings: &Settings,
    games: usize,
    lineup: &Lineup,
    console: &dyn Console,
) -> Option<CpuShares> {
    let shares = match settings.affinity.as_ref()? {
        Some(list) => CpuShares::from_list(list, games, lineup.threads()),
        None => CpuShares::new(games, lineup.threads()),
    };
    lineup.pinned(shares, |reason| console.warn(&format!("-use-affinity: {reason}; games share CPUs")))
}
