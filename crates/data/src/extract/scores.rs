//! Report of an extraction on the scores in comments: their reading, the evidence for it, and their agreement with the
//! results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use patzer_io::number::{counted, grouped};
use patzer_io::printable;
use patzer_pgn::dialect::{DIALECTS, Dialect};
use patzer_pgn::{Decision, ScoreTally, Survey, misread};

/// Factor from which a source's scores count as of another scale.
const OTHER_SCALE: f64 = 1.5;

/// Scores of one source while it is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SourceScores {
    pub(super) file: usize,
    pub(super) survey: Survey,
    pub(super) tally: ScoreTally,
}

/// Scores of all sources, in their order; sources without any have no entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScoreCounts(Vec<SourceScores>);

impl ScoreCounts {
    pub(crate) fn add(&mut self, file: usize, survey: Option<Survey>, tally: &ScoreTally) {
        let survey = survey.filter(|survey| !survey.decisions.is_empty());
        if survey.is_none() && tally.scored() == 0 && tally.unread == 0 {
            return;
        }
        if self.0.last().is_none_or(|last| last.file < file) {
            self.0.push(SourceScores { file, ..SourceScores::default() });
        }
        let Some(source) = self.0.iter_mut().rev().find(|source| source.file == file) else { return };
        source.tally.merge(tally);
        if let Some(survey) = survey {
            source.survey = survey;
        }
    }

    /// Tests whether the counts can be of a run with these numbers of files, games and positions.
    pub(super) fn is_of(&self, files: usize, games: u64, positions: u64) -> bool {
        let sound = |source: &SourceScores| source.file < files && source.tally.is_of(games, positions);
        self.0.iter().all(sound)
    }

    /// Survey of a file's scores; `None` if it has none.
    pub(super) fn survey(&self, file: usize) -> Option<&Survey> {
        self.0.iter().find(|source| source.file == file).map(|source| &source.survey)
    }

    /// Summary of all sources; `name` gives the path of a file by its number.
    pub(crate) fn summary(&self, name: impl Fn(usize) -> String) -> ScoreSummary {
        let (mut all, mut short) = (ScoreTally::default(), ScoreTally::default());
        let mut summary = ScoreSummary::default();
        for source in &self.0 {
            let name = name(source.file);
            if summary.not_understood_sample.is_none() {
                summary.not_understood_sample = source.tally.sample.as_ref().map(|sample| UnreadSample {
                    file: name.clone(),
                    line: sample.line,
                    text: sample.text.clone(),
                });
            }
            all.merge(&source.tally);
            if source.tally.senses().is_none() {
                short.merge(&source.tally);
            }
            summary.warnings.extend(contradiction(&name, &source.tally));
            summary.warnings.extend(late(&name, source));
            let [black, white] = &source.tally.by_turn;
            summary.sources.push(SourceSummary {
                source: name,
                by_dialect: by_dialect(&source.tally),
                not_understood: source.tally.unread,
                decisions: source.survey.decisions.clone(),
                white_to_move: white.correlation(),
                black_to_move: black.correlation(),
                slope: source.tally.slope(),
            });
        }
        summary.warnings.extend(contradiction("files of few games", &short));
        summary.positions = all.scored();
        summary.by_dialect = by_dialect(&all);
        summary.not_understood = all.unread;
        summary.clamped = all.clamped;
        summary.warnings.extend(unread(&summary));
        summary.warnings.extend(clamped(&summary));
        summary.warnings.extend(other_scales(&summary.sources));
        summary
    }
}

/// Scores in the comments of all sources. Positions are those read, before the filters.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScoreSummary {
    pub positions: u64,
    pub by_dialect: BTreeMap<&'static str, u64>,
    /// Comments that look like a score and cannot be read.
    pub not_understood: u64,
    pub not_understood_sample: Option<UnreadSample>,
    /// Scores beyond ±30,999 centipawns that are no mate.
    pub clamped: u64,
    /// Sources with scores.
    pub sources: Vec<SourceSummary>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnreadSample {
    pub file: String,
    pub line: u64,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceSummary {
    pub source: String,
    pub by_dialect: BTreeMap<&'static str, u64>,
    pub not_understood: u64,
    pub decisions: Vec<Decision>,
    /// Correlations of result and stored score, both from the side to move.
    pub white_to_move: Option<f64>,
    pub black_to_move: Option<f64>,
    /// Change of the result, from −1 to 1, for a centipawn near 0.
    pub slope: Option<f64>,
}

impl ScoreSummary {
    /// A line for every decision that a dialect left to the data, the default or the user.
    pub fn notes(&self) -> Vec<String> {
        let mut lines: Vec<(&Decision, &str, u64)> = Vec::new();
        for source in &self.sources {
            for decision in source.decisions.iter().filter(|decision| !decision.is_by_dialect()) {
                match lines.iter_mut().rev().find(|(said, ..)| *said == decision) {
                    Some((.., others)) => *others += 1,
                    None => lines.push((decision, &source.source, 0)),
                }
            }
        }
        let line = |(decision, source, others): (&Decision, &str, u64)| match others {
            0 => format!("{source}: {decision}"),
            _ => format!("{source} and {} more: {decision}", counted(others, "file")),
        };
        lines.into_iter().map(line).collect()
    }
}

fn by_dialect(tally: &ScoreTally) -> BTreeMap<&'static str, u64> {
    let counted = DIALECTS.iter().zip(tally.positions).filter(|(_, count)| *count > 0);
    counted.map(|(dialect, count)| (dialect.name, count)).collect()
}

fn contradiction(name: &str, tally: &ScoreTally) -> Option<String> {
    let (white, black) = tally.senses()?;
    if tally.is_contradictory() {
        return Some(format!("{name}: {}", misread(white, black)));
    }
    let correlation = format!("correlation {white:+.2} with White to move, {black:+.2} with Black to move");
    tally.is_mixed().then(|| {
        format!(
            "{name}: the scores agree with the results far better for one side: {correlation}; if it holds games of \
             several programs, some write the mover's scores and others White's: extract each program's games by themselves"
        )
    })
}

/// Dialects that come first after the part of a file that decides.
fn late(name: &str, source: &SourceScores) -> Vec<String> {
    let known = |dialect: &Dialect| source.survey.decisions.iter().any(|d| d.dialect == dialect.name);
    let open = |dialect: &Dialect| dialect.side.is_open() || dialect.unit.is_open();
    let counted = DIALECTS.iter().zip(source.tally.positions).filter(|(_, count)| *count > 0);
    counted
        .filter(|(dialect, _)| open(dialect) && !known(dialect))
        .map(|(dialect, count)| {
            format!(
                "{name}: {} scores like `{}` ({}) come first after the games that decide how to read them; they are \
                 read as that dialect usually is",
                grouped(count),
                dialect.sample,
                dialect.name
            )
        })
        .collect()
}

fn unread(summary: &ScoreSummary) -> Option<String> {
    let sample = summary.not_understood_sample.as_ref()?;
    let (count, text) = (grouped(summary.not_understood), printable(&sample.text));
    Some(match summary.not_understood {
        1 => format!(
            "{}:{}: a comment looks like a score and is not understood: {{{text}}}",
            sample.file, sample.line
        ),
        _ => format!(
            "{count} comments look like a score and are not understood, the first at {}:{}: {{{text}}}",
            sample.file, sample.line
        ),
    })
}

fn clamped(summary: &ScoreSummary) -> Option<String> {
    (summary.clamped > 0).then(|| {
        format!(
            "{} beyond ±309.99 pawns are no mates that are known, and are stored as ±30,999 centipawns",
            counted(summary.clamped, "score")
        )
    })
}

fn other_scales(sources: &[SourceSummary]) -> Vec<String> {
    let mut slopes: Vec<f64> = sources.iter().filter_map(|source| source.slope).collect();
    slopes.sort_by(f64::total_cmp);
    if slopes.len() < 2 {
        return Vec::new();
    }
    // With two sources the first is the measure.
    let measure = match slopes.len() {
        2 => sources.iter().find_map(|source| source.slope).unwrap_or(slopes[0]),
        n => slopes[n / 2],
    };
    let differing = sources.iter().filter_map(|source| Some((source, measure / source.slope?)));
    differing
        .filter(|(_, factor)| *factor >= OTHER_SCALE || *factor <= 1.0 / OTHER_SCALE)
        .map(|(source, factor)| {
            format!(
                "{}: by the results, its scores are {factor:.2} times as large as the other sources'; \
                 a score scale of {}={:.2} would match them",
                source.source,
                source.source,
                1.0 / factor
            )
        })
        .collect()
}
