//! Games of the bundled engine, whose digest is the same on all hosts that play alike.

use std::time::Duration;

use patzer_io::error::Result;
use patzer_io::{checked_line, interrupt};
use patzer_match::openings::{BookOptions, Openings};
use patzer_match::participant::Defaults;
use patzer_match::record::{PairEntry, PairSink};
use patzer_match::{
    Adjudication, Control, CrossTable, Lineup, MatchConfig, Observer, OpeningChange, Pair, Pairings, Rules,
    Spec, Standings, run_match,
};

/// Nodes of a move.
const NODES: u64 = 500;

/// Games as they stand in a PGN.
struct Text(Vec<u8>);

impl PairSink for Text {
    fn append(&mut self, _: &PairEntry, games: &[u8]) -> Result<()> {
        self.0.extend_from_slice(games);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Reports each finished pair.
struct Counted<'a>(&'a dyn Fn(u64));

impl Observer for Counted<'_> {
    fn pair(&mut self, _: &Pair, _: &PairEntry, _: &dyn Standings) -> Result<()> {
        (self.0)(2);
        Ok(())
    }
}

/// Checksum of pairs of games of the embedded network against the embedded weights; `None` if interrupted.
pub fn digest(pairs: usize, threads: usize, done: &dyn Fn(u64)) -> Result<Option<String>> {
    let spec = |cmd: &str| Spec { cmd: cmd.into(), ..Spec::default() };
    let defaults = Defaults {
        hash: 1,
        seed: Some(1),
        ..Defaults::for_positions(Control::nodes(NODES), Duration::from_secs(60))
    };
    let lineup = Lineup::load(&[spec("default"), spec("default-hce")], &defaults)?;
    let openings = Openings::load(BookOptions { seed: 1, ..BookOptions::default() })?;
    let rules = Rules { adjudication: Adjudication::NONE, recover: false, syzygy: None };
    let pairings = Pairings::by_first(2, 1, OpeningChange::Pair);
    let header = lineup.header("patzer doctor");
    let config = MatchConfig {
        concurrency: threads,
        ..MatchConfig::new(&lineup, &openings, rules, header, &pairings, 0..pairs)
    };
    let stop = interrupt::flag();
    let players = |number: usize, stop: &_| lineup.participants[number].player(stop);
    let (mut table, mut text) = (CrossTable::new(&lineup.names), Text(Vec::new()));
    let ended = run_match(&config, &mut table, &[], &mut text, &players, stop, &mut Counted(done))?;
    Ok(ended.complete.then(|| checked_line::checksum(&text.0)))
}
