//! Selects games of a chunk, on any thread.

use std::sync::Arc;

use super::settings::{POSITIONS, Settings, Unique};
use crate::Record;
use crate::extract::{BAD_GAME, NO_RESULT, ReasonCounts, is_game};
use crate::filter::{FilterSet, GameTags};
use crate::rejects;
use patzer_chess::rng::mix;
use patzer_pgn::{
    Chunk, Event, Game, GameError, GameSpan, Parser, ScoreTally, Scoring, Survey, Surveyed, result_text,
};

pub(super) enum SelectedEvent {
    Chunk(Box<SelectedChunk>),
    Other(Event),
}

#[derive(Default)]
pub(super) struct SelectedChunk {
    pub(super) file: usize,
    pub(super) games: u64,
    /// Broken games, their numbers counted in the file.
    pub(super) bad: Vec<(u64, GameError)>,
    pub(super) dropped: ReasonCounts,
    pub(super) conflicts: ReasonCounts,
    pub(super) variations_unread: u64,
    /// Text of the games that stay, one after the other.
    pub(super) text: Vec<u8>,
    pub(super) kept: Vec<Kept>,
    /// Text of the dropped games, if a file wants it.
    pub(super) rejects: Vec<u8>,
    pub(super) plausible: bool,
    pub(super) survey: Option<Survey>,
    pub(super) scores: ScoreTally,
}

/// A game that the filters keep.
pub(super) struct Kept {
    /// End of its text in that of the chunk.
    pub(super) end: usize,
    pub(super) tagged: bool,
    /// Key of start and moves, if games are compared; games without a move are not.
    pub(super) key: Option<u128>,
    /// Values of the tags to count; of `Result` the one that counts.
    pub(super) values: Vec<String>,
}

pub(super) struct Selector<'a> {
    pub(super) filters: &'a FilterSet,
    pub(super) settings: &'a Settings,
}

impl Selector<'_> {
    pub(super) fn select(&self, surveyed: Surveyed) -> SelectedEvent {
        match surveyed.event {
            Event::Chunk(chunk) => {
                let mut selected = self.select_from(&chunk, surveyed.scoring);
                selected.survey = surveyed.survey;
                SelectedEvent::Chunk(Box::new(selected))
            }
            other => SelectedEvent::Other(other),
        }
    }

    fn select_from(&self, chunk: &Chunk, scoring: Arc<Scoring>) -> SelectedChunk {
        let mut selected = SelectedChunk { file: chunk.file, ..SelectedChunk::default() };
        let mut parser = Parser::new(scoring);
        parser.clocks = self.filters.reads_clocks().then(Vec::new);
        let mut records = Vec::new();
        let mut rewritten = String::new();
        for (index, span) in chunk.games.iter().enumerate() {
            let number = chunk.number + index as u64;
            if self.settings.shard.is_some_and(|shard| !shard.has(number)) {
                selected.plausible = selected.plausible || is_game(chunk, span);
                continue;
            }
            selected.games += 1;
            records.clear();
            let game = parser.parse(&chunk.text, span, number as u32, &mut records);
            selected.plausible |= game.plausible;
            let tagged = span.movetext > span.start;
            let text = &chunk.text[span.start..span.end];
            let fault = chunk.cut(index).or(game.error.clone());
            let kept = match &fault {
                Some(_) => Err(BAD_GAME),
                None => self.keep(&game, chunk, span, &records, parser.clocks.as_deref()),
            };
            if let Err(reason) = kept {
                selected.dropped.add(reason, 1);
                if self.settings.rejects.is_some() {
                    let reason = fault.as_ref().map_or(reason, |fault| &fault.reason);
                    rejects::push(&mut selected.rejects, text, reason, tagged);
                }
                selected.bad.extend(fault.map(|fault| (chunk.first + index as u64, fault)));
                continue;
            }
            if let Some(conflict) = game.conflict {
                selected.conflicts.add(conflict.name(), 1);
            }
            match &self.settings.rewrite {
                None => rejects::push_game(&mut selected.text, text),
                Some(rewrite) => {
                    rewritten.clear();
                    selected.variations_unread +=
                        rewrite.write(&mut rewritten, &chunk.text, span, game.result);
                    selected.text.extend_from_slice(rewritten.as_bytes());
                }
            }
            selected.kept.push(Kept {
                end: selected.text.len(),
                tagged: tagged || self.settings.rewrite.is_some(),
                key: self.settings.unique.and_then(|unique| unique.key(&records)),
                values: self.values(&game),
            });
        }
        selected.scores = parser.tally;
        selected
    }

    /// Tests whether a sound game stays; an error has the reason.
    fn keep(
        &self,
        game: &Game<'_>,
        chunk: &Chunk,
        span: &GameSpan,
        records: &[Record],
        clocks: Option<&[f32]>,
    ) -> Result<(), &'static str> {
        if game.other_variant {
            return Err("variant");
        }
        if game.result.is_none() && !self.settings.unfinished {
            return Err(NO_RESULT);
        }
        let mut tags = GameTags::default();
        if self.filters.reads_tags() {
            let (head, movetext) = (span.start..span.movetext, span.movetext..span.end);
            tags = GameTags::of(&chunk.text[head], &chunk.text[movetext]);
            tags.clocks = clocks.unwrap_or_default().to_vec();
        }
        self.filters.keep_game(&tags)?;
        if !self.filters.judges_positions() && self.settings.positions == 1 {
            return Ok(());
        }
        let in_game = self.filters.in_game(&tags);
        let passes = |record: &&Record| {
            in_game.iter().all(|(_, keeps)| keeps(record)) && self.filters.keep(record).is_ok()
        };
        let enough = self.settings.positions as usize;
        let passed = records.iter().filter(passes).take(enough).count();
        if passed < enough { Err(POSITIONS) } else { Ok(()) }
    }

    fn values(&self, game: &Game<'_>) -> Vec<String> {
        let value = |name: &String| {
            if name == "Result" {
                return result_text(game.result).to_string();
            }
            game.tags.text(name)
        };
        self.settings.count.iter().map(value).collect()
    }
}

impl Unique {
    /// A 128-bit key of a game's start and of its moves, or of the first of them; `None` without moves.
    fn key(self, records: &[Record]) -> Option<u128> {
        let plies = match self {
            Unique::All => records.len(),
            Unique::First(plies) => records.len().min(plies as usize),
        };
        let start = records.first()?.key();
        let (mut high, mut low) = ((start >> 64) as u64, start as u64);
        for record in &records[..plies] {
            // Null moves leave no record, but count as a ply.
            let step = u64::from(record.ply) << 16 | u64::from(record.played.0);
            (high, low) = (mix(high, step), mix(low, step));
        }
        Some(u128::from(high) << 64 | u128::from(low))
    }
}
