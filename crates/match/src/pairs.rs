//! Plays pairs of games in order; a pair's games depend on its index alone, whatever the threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::openings::Openings;
use super::ordered_map::{self, Jobs, Receiver};
use super::pgn::Header;
use super::record::{AheadPair, AheadPairs};
use crate::{
    Game, GameError, Lineup, Pair, PairGame, Pairing, Player, PlayerError, Rules, Schedule, TimeSettings,
    play,
};
use patzer_io::error::{Error, Result};

/// Creates a player, by its index, for the games of one thread.
pub type PlayerFactory<'a> =
    &'a (dyn Fn(usize, &AtomicBool) -> std::result::Result<Box<dyn Player>, PlayerError> + Sync);

/// Options of both players in a pair of games, by its index; `None` if halted.
pub type PairOptions<'a> = &'a (dyn Fn(usize, &AtomicBool) -> Option<[Vec<(String, String)>; 2]> + Sync);

/// Match configuration: pairs, openings, limits, tags.
pub struct MatchConfig<'a> {
    pub pairs: Range<usize>,
    /// Pairs, in ascending order, that are played before the others of `pairs`, in the place of as many.
    pub skipped: Vec<usize>,
    pub concurrency: usize,
    pub pairings: &'a dyn Schedule,
    pub time_settings: &'a [TimeSettings],
    pub names: &'a [String],
    pub openings: &'a Openings,
    pub rules: Rules,
    pub header: Header,
    /// Pause before each game.
    pub wait: Duration,
    /// Called by each thread, with its number, before it plays.
    pub prepare: &'a (dyn Fn(usize) + Sync),
    pub pair_options: Option<PairOptions<'a>>,
    /// Games are written and pairs counted as they finish, and not in their order.
    pub as_they_finish: bool,
}

impl<'a> MatchConfig<'a> {
    /// One game after the other, without a pause.
    pub fn new(
        lineup: &'a Lineup,
        openings: &'a Openings,
        rules: Rules,
        header: Header,
        pairings: &'a dyn Schedule,
        pairs: Range<usize>,
    ) -> MatchConfig<'a> {
        MatchConfig {
            pairs,
            skipped: Vec::new(),
            concurrency: 1,
            pairings,
            time_settings: &lineup.time_settings,
            names: &lineup.names,
            openings,
            rules,
            header,
            wait: Duration::ZERO,
            prepare: &|_| {},
            pair_options: None,
            as_they_finish: false,
        }
    }

    fn deterministic(&self) -> bool {
        self.time_settings.iter().all(|time_settings| time_settings.control.deterministic())
    }

    /// The pair that is played as the one with this number.
    fn index(&self, number: usize) -> usize {
        self.skipped.get(number - self.pairs.start).copied().unwrap_or(number)
    }
}

/// A pair of games that is over.
pub enum FinishedPair {
    Played(Box<Pair>),
    /// Played by an earlier run.
    Kept(AheadPair),
}

/// First games of the pairs whose second game is not finished, by the pair's index.
#[derive(Default)]
pub struct FirstGames(Mutex<BTreeMap<usize, (Pairing, Game)>>);

impl FirstGames {
    fn insert(&self, index: usize, pairing: Pairing, game: Game) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(index, (pairing, game));
    }

    fn remove(&self, index: usize) -> Option<Game> {
        let removed = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&index);
        removed.map(|(_, game)| game)
    }

    /// Passes on each game; meanwhile no pair of theirs finishes.
    pub fn each<E>(
        &self,
        mut take: impl FnMut(PairGame) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let games = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut games = games.iter();
        games
            .try_for_each(|(&index, &(pairing, ref game))| take(PairGame { index, pairing, number: 0, game }))
    }
}

/// Plays until all pairs are played, the receiver breaks, or `stop` is set; returns the number of pairs not received.
/// Pairs that an earlier run has `kept` are not played again.
pub fn run(
    config: &MatchConfig,
    players: PlayerFactory,
    kept: &AheadPairs,
    first_games: &FirstGames,
    stop: &AtomicBool,
    receiver: &mut dyn Receiver<FinishedPair>,
) -> Result<usize> {
    let jobs = Jobs { numbers: config.pairs.clone(), threads: config.concurrency };
    let begin = |thread| -> Vec<Option<Box<dyn Player>>> {
        (config.prepare)(thread);
        config.time_settings.iter().map(|_| None).collect()
    };
    let work = |seats: &mut Vec<_>, number, halt: &AtomicBool| {
        let index = config.index(number);
        let Some(pairing) = config.pairings.pairing(index, halt) else { return Ok(None) };
        if let Some(ahead) = kept.get(&(index + 1)).filter(|ahead| ahead.entry.is_of(&pairing)) {
            return Ok(Some(FinishedPair::Kept(ahead.clone())));
        }
        let pair = play_number(config, players, seats, (index, pairing), first_games, halt)?;
        Ok(pair.map(|pair| FinishedPair::Played(Box::new(pair))))
    };
    ordered_map::run_into(&jobs, &begin, &work, stop, receiver)
}

fn play_number(
    config: &MatchConfig,
    make: PlayerFactory,
    seats: &mut [Option<Box<dyn Player>>],
    (index, pairing): (usize, Pairing),
    first_games: &FirstGames,
    halt: &AtomicBool,
) -> Result<Option<Pair>> {
    for number in pairing.players {
        if seats[number].is_none() {
            match make(number, halt) {
                Ok(player) => seats[number] = Some(player),
                Err(PlayerError::Stopped) => return Ok(None),
                Err(e) => return Err(Error::input(format!("{}: {e}", config.names[number]))),
            }
        }
    }
    let Ok([Some(first), Some(second)]) = seats.get_disjoint_mut(pairing.players) else {
        return Err(Error::internal("a player was to meet itself"));
    };
    if let Some(options) = config.pair_options {
        let Some(options) = options(index, halt) else { return Ok(None) };
        for ((player, number), options) in
            [&mut *first, second].into_iter().zip(pairing.players).zip(&options)
        {
            let set = player.set_options(options);
            set.map_err(|error| Error::input(format!("{}: {error}", config.names[number])))?;
        }
    }
    let mut play = |number| {
        let players = [&mut **first, &mut **second].map(|player| player as &mut dyn Player);
        play_one(config, index, pairing, number, players, halt)
    };
    let games = play(0).and_then(|game| {
        first_games.insert(index, pairing, game);
        play(1)
    });
    match games {
        Ok(second) => {
            let first = first_games.remove(index).ok_or_else(|| Error::internal("a first game is lost"))?;
            Ok(Some(Pair { index, pairing, games: [first, second] }))
        }
        Err(error) => error.map_or(Ok(None), Err),
    }
}

/// Waits, until the match is halted.
fn pause(time: Duration, halt: &AtomicBool) {
    let end = Instant::now() + time;
    while !halt.load(Ordering::Relaxed)
        && let left = end.saturating_duration_since(Instant::now())
        && !left.is_zero()
    {
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// Plays one game of a pair, `game` being 0 or 1.
fn play_one(
    config: &MatchConfig,
    index: usize,
    pairing: Pairing,
    game: usize,
    mut players: [&mut dyn Player; 2],
    halt: &AtomicBool,
) -> std::result::Result<Game, Option<Error>> {
    let mut seats = pairing.players;
    if pairing.colours[game] == 1 {
        players.reverse();
        seats.reverse();
    }
    let settings = seats.map(|player| &config.time_settings[player]);
    let start = config.openings.get(pairing.openings[game], config.deterministic());
    players.iter_mut().for_each(|player| player.set_opening(pairing.openings[game]));
    if game > 0 || index > config.pairs.start {
        pause(config.wait, halt);
    }
    let begin = SystemTime::now();
    let book = config.openings.moves_to(pairing.openings[game]).map_or(0, |opening| opening.moves.len());
    let mut played =
        play(&start, book, players, settings, &config.rules, halt).map_err(|error| match error {
            GameError::Stopped => None,
            GameError::Failed { player, error, position } => {
                let hint =
                    if matches!(error, PlayerError::Unable(_)) { "" } else { "; no recover option set" };
                let name = &config.names[player.fold_wb(seats[0], seats[1])];
                Some(Error::input(format!(
                    "{name} failed in game {}.{}: {error}{hint}; game so far: {position}",
                    index + 1,
                    game + 1
                )))
            }
        })?;
    played.clock = config.header.style.clock.then(|| [begin, SystemTime::now()]);
    Ok(played)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::Adjudication;
    use crate::Pairings;
    use crate::mock::{Hashing, TIME};
    use crate::openings::BookOptions;
    use std::ops::ControlFlow;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    pub fn plan(
        pairs: Range<usize>,
        concurrency: usize,
        players: usize,
        max_moves: u32,
    ) -> MatchConfig<'static> {
        static NAMES: LazyLock<[String; 4]> = LazyLock::new(|| ["a", "b", "c", "d"].map(String::from));
        static OPENINGS: LazyLock<Openings> =
            LazyLock::new(|| Openings::load(BookOptions { seed: 1, ..BookOptions::default() }).unwrap());
        let adjudication = Adjudication { max_moves: Some(max_moves), ..Adjudication::NONE };
        MatchConfig {
            pairs,
            skipped: Vec::new(),
            concurrency,
            pairings: Box::leak(Box::new(Pairings::new(players, players))),
            time_settings: &[TIME; 4],
            names: &*NAMES,
            openings: &OPENINGS,
            rules: Rules { adjudication, recover: false, syzygy: None },
            header: Header::new("", &*NAMES, &[TIME; 4]),
            wait: Duration::ZERO,
            prepare: &|_| {},
            pair_options: None,
            as_they_finish: false,
        }
    }

    type NewPlayer = std::result::Result<Box<dyn Player>, PlayerError>;

    pub fn hashing(number: usize, _: &AtomicBool) -> NewPlayer {
        Ok(Box::new(Hashing([100, 7, 8, 9][number])))
    }

    struct Played<'a>(&'a mut dyn FnMut(Pair) -> Result<ControlFlow<()>>);

    impl Receiver<FinishedPair> for Played<'_> {
        fn receive(&mut self, _: usize, pair: FinishedPair) -> Result<ControlFlow<()>> {
            let FinishedPair::Played(pair) = pair else { panic!("no pair was kept") };
            (self.0)(*pair)
        }

        fn idle(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn run_all(
        config: &MatchConfig,
        players: PlayerFactory,
        receive: &mut dyn FnMut(Pair) -> Result<ControlFlow<()>>,
    ) -> Result<usize> {
        let (kept, first_games, stop) = (AheadPairs::new(), FirstGames::default(), AtomicBool::new(false));
        run(config, players, &kept, &first_games, &stop, &mut Played(receive))
    }

    fn pairs(concurrency: usize, range: Range<usize>, enough: usize) -> Vec<Pair> {
        let plan = plan(range, concurrency, 2, 40);
        let mut got = Vec::new();
        let mut receive = |pair| {
            got.push(pair);
            Ok(if got.len() == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        run_all(&plan, &hashing, &mut receive).unwrap();
        got
    }

    #[test]
    fn any_number_of_threads_plays_the_same_games_in_the_same_order() {
        let alone = pairs(1, 0..12, usize::MAX);
        assert_eq!(alone.len(), 12);
        assert!(alone.iter().enumerate().all(|(i, pair)| pair.index == i));
        assert_eq!(alone, pairs(2, 0..12, usize::MAX));
        assert_eq!(alone, pairs(5, 0..12, usize::MAX));
        assert_eq!(alone[5..], pairs(3, 5..12, usize::MAX));
    }

    #[test]
    fn the_receiver_ends_the_run() {
        let alone = pairs(1, 0..1000, 4);
        assert_eq!(alone.len(), 4);
        assert_eq!(alone, pairs(3, 0..1000, 4));
    }

    #[test]
    fn both_games_of_a_pair_begin_from_its_opening_with_colours_swapped() {
        for pair in pairs(2, 0..6, usize::MAX) {
            let [first, second] = &pair.games;
            assert_eq!(first.start, second.start);
            assert!(!pair.mirrored());
        }
    }

    #[test]
    fn colours_and_openings_are_those_of_the_schedule() {
        let mut config = plan(0..2, 1, 2, 2);
        let mut pairings = Pairings::by_first(2, 2, crate::OpeningChange::Game);
        pairings.colours = [1, 1];
        config.pairings = &pairings;
        let mut got = Vec::new();
        let mut receive = |pair: Pair| {
            got.push(pair);
            Ok(ControlFlow::Continue(()))
        };
        run_all(&config, &hashing, &mut receive).unwrap();
        let starts: Vec<_> =
            got.iter().flat_map(|pair| pair.games.iter().map(|game| game.start.clone())).collect();
        assert!((0..4).all(|i| starts[i] == config.openings.get(i, false)));
        assert!(
            got.iter()
                .all(|pair| pair.seated().iter().all(|(_, seats)| *seats == [1, 0]) && !pair.mirrored())
        );
    }

    #[test]
    fn several_players_meet_as_scheduled_from_the_opening_of_their_round() {
        let mut got = Vec::new();
        let mut receive = |pair: Pair| {
            got.push((pair.pairing.players, pair.games[0].start.clone()));
            Ok(ControlFlow::Continue(()))
        };
        let plan = plan(0..12, 3, 4, 2);
        run_all(&plan, &hashing, &mut receive).unwrap();
        assert_eq!(got.len(), 12);
        assert!(got[..6].iter().all(|(_, start)| *start == got[0].1));
        assert!(got[6..].iter().all(|(_, start)| *start == got[6].1) && got[6].1 != got[0].1);
        assert_eq!((got[5].0, got[6].0), ([2, 3], [0, 1]));
    }

    #[test]
    fn a_player_that_panics_ends_the_run() {
        let plan = plan(0..usize::MAX, 2, 2, 5);
        let first = AtomicBool::new(true);
        let players = |number: usize, stop: &AtomicBool| {
            assert!(!first.swap(false, Ordering::Relaxed), "for the test");
            hashing(number, stop)
        };
        let run = std::panic::AssertUnwindSafe(|| {
            let mut receive = |_| Ok(ControlFlow::Continue(()));
            run_all(&plan, &players, &mut receive)
        });
        assert!(std::panic::catch_unwind(run).is_err(), "and is not hidden");
    }

    struct Mortal<'a>(Hashing, &'a AtomicUsize);

    impl Player for Mortal<'_> {
        fn new_game(&mut self, _: &shakmaty::Chess, _: &AtomicBool) -> std::result::Result<(), PlayerError> {
            let dies = self.1.fetch_add(1, Ordering::Relaxed) == 13;
            if dies { Err(PlayerError::Crash("exit status: 3".into())) } else { Ok(()) }
        }

        fn choose(&mut self, turn: &crate::Turn) -> std::result::Result<crate::MoveReply, PlayerError> {
            self.0.choose(turn)
        }
    }

    #[test]
    fn a_player_that_fails_ends_the_run_after_the_pairs_before_it() {
        static GAMES: AtomicUsize = AtomicUsize::new(0);
        let plan = plan(0..1000, 1, 2, 5);
        let players = |number: usize, _: &AtomicBool| -> NewPlayer {
            Ok(Box::new(Mortal(Hashing(number as u64), &GAMES)))
        };
        let mut pairs = 0;
        let mut receive = |_| {
            pairs += 1;
            Ok(ControlFlow::Continue(()))
        };
        let ended = run_all(&plan, &players, &mut receive);
        // Four calls a pair: the fourteenth is the second player's in the fourth pair.
        let error = ended.unwrap_err().to_string();
        let says = "b failed in game 4.1: exit status: 3; no recover option set; game so far: position fen ";
        assert!(error.starts_with(says), "{error}");
        assert_eq!(pairs, 3);
    }

    struct Unable(Hashing);

    impl Player for Unable {
        fn new_game(&mut self, _: &shakmaty::Chess, _: &AtomicBool) -> std::result::Result<(), PlayerError> {
            Err(PlayerError::Unable("has no option".into()))
        }

        fn choose(&mut self, turn: &crate::Turn) -> std::result::Result<crate::MoveReply, PlayerError> {
            self.0.choose(turn)
        }
    }

    #[test]
    fn recovery_is_named_only_where_it_would_help() {
        let players = |_: usize, _: &AtomicBool| -> NewPlayer { Ok(Box::new(Unable(Hashing(1)))) };
        let mut receive = |_| Ok(ControlFlow::Continue(()));
        let error = run_all(&plan(0..9, 1, 2, 5), &players, &mut receive).unwrap_err().to_string();
        assert!(
            error.starts_with("a failed in game 1.1: has no option; game so far: position fen "),
            "{error}"
        );
    }

    #[test]
    fn a_fault_of_the_receiver_ends_the_run() {
        let plan = plan(0..1000, 2, 2, 5);
        let mut receive = |_| Err(Error::usage("full"));
        let ended = run_all(&plan, &hashing, &mut receive);
        assert_eq!(ended.unwrap_err().to_string(), "full");
    }
}
