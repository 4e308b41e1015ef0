//! The participants of a match, by index.

use std::sync::atomic::AtomicBool;

use super::affinity::CpuShares;
use super::conditions::PlayerConditions;
use super::openings::Openings;
use super::participant::{self, Defaults, Participant};
use super::pgn::Header;
use crate::{Control, Spec, TimeSettings};
use patzer_io::error::{Error, Result};
use patzer_uci_client::CHESS960;

/// All participants of a match, by index.
pub struct Lineup {
    pub participants: Vec<Participant>,
    pub names: Vec<String>,
    pub time_settings: Vec<TimeSettings>,
}

impl Lineup {
    /// Reads the files of the participants; programs are not started yet.
    pub fn load(specs: &[Spec], defaults: &Defaults) -> Result<Lineup> {
        let participants = participant::load_all(specs, defaults)?;
        Ok(Lineup {
            names: participants.iter().map(|participant| participant.name.clone()).collect(),
            time_settings: participants.iter().map(|participant| participant.time_settings).collect(),
            participants,
        })
    }

    /// Starts every program once; they become the players of the first games.
    pub fn start(&mut self, stop: &AtomicBool) -> Result<()> {
        participant::start_programs(&mut self.participants, stop)
    }

    /// Checks that all participants can play the first `count` openings, as far as they are parsed.
    ///
    /// # Errors
    /// A program lacks the option of Chess960.
    pub fn check_openings(&self, openings: &Openings, count: usize, book: &str) -> Result<()> {
        let unable = self.participants.iter().find(|participant| !participant.plays_chess960());
        match unable.filter(|_| openings.need_chess960(count)) {
            None => Ok(()),
            Some(Participant { name, .. }) => {
                Err(Error::input(format!("{name}: has no option {CHESS960}, which openings of {book} need")))
            }
        }
    }

    /// Makes programs start pinned to the CPUs of `shares`; reports why they cannot be.
    pub fn pinned<E>(
        &self,
        shares: std::result::Result<CpuShares, E>,
        refused: impl FnOnce(E),
    ) -> Option<CpuShares> {
        let shares = shares.map_err(refused).ok()?;
        // Programs that run already are not pinned.
        self.participants.iter().for_each(Participant::drop_spares);
        Some(shares)
    }

    /// Threads that think at once on one board.
    pub fn threads(&self) -> usize {
        let most = self.participants.iter().map(Participant::threads).max().unwrap_or(1);
        if self.participants.iter().any(Participant::ponders) { 2 * most } else { most }
    }

    pub fn deterministic(&self) -> bool {
        self.time_settings.iter().all(|settings| settings.control.deterministic())
    }

    /// Tests whether there are two participants with the same evaluation or program, limits and settings.
    pub fn identical(&self) -> bool {
        let key = |p: &Participant| {
            let nameless = PlayerConditions { name: "", ..p.conditions() };
            serde_json::to_value(nameless).ok()
        };
        matches!(&self.participants[..], [a, b] if key(a) == key(b))
    }

    pub fn header(&self, event: &str) -> Header {
        let mut header = Header::new(event, &self.names, &self.time_settings);
        for (engine, participant) in header.engines.iter_mut().zip(&self.participants) {
            *engine = participant.engine_name().map(str::to_string);
        }
        header.times |= self.participants.iter().any(Participant::is_program);
        // A date would make reproducible games differ from day to day.
        header.date = header.times.then(patzer_io::date::today);
        header
    }

    pub fn limits(&self) -> String {
        let limits: Vec<String> =
            self.time_settings.iter().map(|settings| settings.control.to_string()).collect();
        match limits.split_first() {
            Some((first, rest)) if rest.iter().all(|limit| limit == first) => first.clone(),
            _ => limits.join(" against "),
        }
    }

    /// Limit, threads, hash and book in fastchess's format.
    pub fn summary(&self, book: &str) -> String {
        let all = |of: fn(&Participant) -> String| {
            let mut values: Vec<String> = self.participants.iter().map(of).collect();
            values.dedup();
            values.join(" - ")
        };
        let limit = all(|participant| {
            let Control { time, nodes, depth, .. } = participant.time_settings.control;
            match (time, depth, nodes) {
                (None, Some(depth), _) => format!("{depth} plies"),
                (None, None, Some(nodes)) => format!("{nodes} nodes"),
                _ => participant.time_settings.control.tag(),
            }
        });
        let threads = all(Participant::shown_threads);
        let hash =
            all(|participant| participant.hash().map_or_else(|| "NULL".into(), |hash| format!("{hash}MB")));
        format!("{limit}, {threads}, {hash}, {book}")
    }

    /// Conditions that decide the moves of each participant, as a journal keeps it.
    pub fn conditions(&self) -> Vec<PlayerConditions<'_>> {
        self.participants.iter().map(Participant::conditions).collect()
    }
}
