//! Conditions of a match, on which its games depend, as its journal keeps them: a resumed run has the same.
//!
//! The types say every field, so that a new one is part of the conditions unless it is left out by name.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::openings::{BookOptions, Openings, Order};
use crate::{Adjudication, Colours, Control, OwnBook, Rules, Syzygy};
use patzer_io::Shard;
use patzer_uci_client::Program;

#[derive(Debug, Serialize)]
pub struct MatchConditions<'a> {
    /// Version of the program.
    pub patzer: &'static str,
    pub player: Vec<PlayerConditions<'a>>,
    pub openings: BookConditions<'a>,
    pub colours: Colours,
    pub rules: RuleConditions<'a>,
    /// Kind of the contest with its settings.
    pub contest: &'a Value,
    /// Pairs that are played, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl<'a> MatchConditions<'a> {
    pub fn new(
        player: Vec<PlayerConditions<'a>>,
        openings: BookConditions<'a>,
        colours: Colours,
        rules: &'a Rules,
        contest: &'a Value,
    ) -> MatchConditions<'a> {
        let (patzer, rules) = (env!("CARGO_PKG_VERSION"), RuleConditions::of(rules));
        MatchConditions { patzer, player, openings, colours, rules, contest, shard: None }
    }
}

/// A player, its file by content.
#[derive(Debug, Serialize)]
pub struct PlayerConditions<'a> {
    pub name: &'a str,
    /// SHA-256 of the file, or the name of a built-in evaluation.
    pub file: &'a str,
    pub limit: Control,
    pub margin_ms: u64,
    pub settings: PlayerKind<'a>,
    pub book: Option<&'a OwnBook>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlayerKind<'a> {
    InProcess { hash: usize, overhead_ms: u64, search: &'static str, params: BTreeMap<&'static str, i32> },
    Program(&'a Program),
}

/// Openings, the book by content.
#[derive(Debug, Serialize)]
pub struct BookConditions<'a> {
    pub book: &'a str,
    pub order: Order,
    pub repeats: bool,
    pub start: usize,
    pub plies: Option<u32>,
    pub chess960: bool,
    pub seed: u64,
}

impl<'a> BookConditions<'a> {
    pub fn new(openings: &'a Openings, options: &BookOptions) -> BookConditions<'a> {
        let BookOptions { path: _, order, seed, start, plies, chess960, as_is: _, moves: _, most: _ } =
            *options;
        let (book, repeats) = (openings.digest(), openings.repeats());
        BookConditions { book, order, repeats, start, plies, chess960, seed }
    }
}

#[derive(Debug, Serialize)]
pub struct RuleConditions<'a> {
    #[serde(flatten)]
    pub adjudication: Adjudication,
    pub tablebases: Option<&'a Syzygy>,
}

impl RuleConditions<'_> {
    pub fn of(rules: &Rules) -> RuleConditions<'_> {
        let Rules { adjudication, recover: _, syzygy } = rules;
        RuleConditions { adjudication: *adjudication, tablebases: syzygy.as_deref() }
    }
}
