//! Checks that a UCI engine keeps the protocol, as far as matches, labels and other programs rely on it.
//!
//! `CHECKS` is the registry: each row asks one question in a game of its own. A program that crashes or hangs in one
//! check is started again for the next.
//!
//! Source: Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface" (2006).

mod behaviour;
mod bench;
mod introduction;
mod limits;
mod outcome;
mod positions;
mod report;
mod reports;
mod session;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

pub use self::outcome::Verdict;
use self::outcome::{CheckOutcome, Checked};
pub use self::report::ComplianceReport;
use self::session::Session;
use crate::{PlayerError, Program};

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    pub verdict: Verdict,
    /// The engine's answer, in words.
    pub value: String,
    /// Uses of an engine that a failure breaks; `None` where the engine passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matters: Option<&'static str>,
}

struct Check {
    name: &'static str,
    run: fn(&mut Session) -> Checked,
    /// Uses of an engine that a failure breaks.
    matters: &'static str,
}

const fn check(name: &'static str, run: fn(&mut Session) -> Checked, matters: &'static str) -> Check {
    Check { name, run, matters }
}

const CHECKS: &[Check] = &[
    check(
        "introduction",
        introduction::names,
        "programs know an engine by `id name` and `id author`, and read them before `uciok`",
    ),
    check(
        "options",
        introduction::options,
        "matches, OpenBench and rating lists set Hash and Threads; programs offer what is declared",
    ),
    check(
        "default values",
        introduction::defaults,
        "many programs set every option before a game, also to its default",
    ),
    check(
        "unknown commands",
        introduction::unknown_command,
        "the protocol asks engines to ignore what they do not know, as new commands come",
    ),
    check(
        "line ends of Windows",
        introduction::carriage_return,
        "programs on Windows end lines with CR and LF",
    ),
    check("moves", positions::legal_moves, "an illegal move, a crash or a hang loses the game"),
    check("long games", positions::long_game, "games of 300 moves happen; histories of fixed size overflow"),
    check(
        "many legal moves",
        positions::many_moves,
        "up to 218 moves are legal; lists of fixed size overflow",
    ),
    check(
        "no legal move",
        positions::no_move,
        "programs for analysis ask in positions of mate and stalemate, too; matches never do",
    ),
    check("Chess960", positions::chess960, "openings of Chess960 cannot be played"),
    check("several lines", positions::several_lines, "analyses of the best moves need MultiPV"),
    check("clocks", limits::clocks, "a move after the end of the clock loses the game"),
    check("movetime", limits::movetime, "matches with st= lose on time by it, labels take longer"),
    check(
        "nodes",
        limits::nodes,
        "matches and labels by nodes are fair only if both engines keep the number",
    ),
    check("depth", limits::depth, "matches, puzzles and labels by depth get another one"),
    check(
        "searchmoves",
        limits::searchmoves,
        "programs for analysis ask for the next best move, `moves predict` for further choices",
    ),
    check(
        "reports",
        reports::fields,
        "datasets, adjudication and reports of time are made of depth, score, nodes and time",
    ),
    check(
        "variations",
        reports::variations,
        "a variation that is illegal or not of the move misleads every reader",
    ),
    check(
        "side of scores",
        reports::side,
        "scores are from the side to move: datasets and adjudication take others with the wrong sign; whitepov=on in \
         the engine's description mends that",
    ),
    check("mate in one", reports::mate, "adjudication, filters and reports know mates by `score mate`"),
    check(
        "same search twice",
        reports::repeatable,
        "games and labels by nodes cannot be repeated; often `ucinewgame` leaves tables of the game before",
    ),
    check("stop", behaviour::stop, "games with pondering and every analysis need `go infinite` and `stop`"),
    check(
        "isready while searching",
        behaviour::ready_while_searching,
        "the protocol demands an answer at once; programs take an engine without one for hanging",
    ),
    check(
        "one answer to `go`",
        behaviour::one_answer,
        "a second `bestmove` is taken for the next move; patzer drops it, other programs lose the game",
    ),
    check(
        "stop without a search",
        behaviour::stop_without_search,
        "a stray `bestmove` is taken for the next move",
    ),
    check("pondering", behaviour::pondering, "without it the engine does not think on the opponent's time"),
    check("Hash and Threads", behaviour::hash_and_threads, "matches and rating lists set both"),
    check("quit", behaviour::quit, "a match waits for the end of its engines, then kills them"),
    check(
        "quit while searching",
        behaviour::quit_while_searching,
        "a stopped match waits for it, then kills it",
    ),
    check(
        "end of input",
        behaviour::end_of_input,
        "if the program that started it is killed, the engine keeps a core busy for ever",
    ),
    check(
        "bench",
        bench::bench,
        "OpenBench knows a build by the nodes of `ENGINE bench`, and `patzer engine bench` compares speeds by it",
    ),
];

/// Number of checks.
pub const COUNT: usize = CHECKS.len();

/// An engine's names and how it did in every check, in the order in which they ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compliance {
    pub name: Option<String>,
    pub findings: Vec<Finding>,
}

impl Compliance {
    /// Runs every check, calling `done` after each.
    ///
    /// # Errors
    /// The program does not start, or says no `uciok`; `stop` was set.
    pub fn check(
        program: Arc<Program>,
        stop: &AtomicBool,
        done: &dyn Fn(),
    ) -> Result<Compliance, PlayerError> {
        let mut session = Session::start(program, stop)?;
        let mut findings = Vec::new();
        for check in CHECKS {
            let outcome = match session.begin_game().and_then(|()| (check.run)(&mut session)) {
                Err(PlayerError::Stopped) => return Err(PlayerError::Stopped),
                Err(error) => CheckOutcome::fault(error.to_string()),
                Ok(outcome) => outcome,
            };
            let CheckOutcome { verdict, value } = outcome;
            let matters = (verdict != Verdict::Good).then_some(check.matters);
            findings.push(Finding { check: check.name, verdict, value, matters });
            done();
        }
        Ok(Compliance { name: session.name().map(str::to_string), findings })
    }
}
