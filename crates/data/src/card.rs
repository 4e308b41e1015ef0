//! The card of a dataset: where it comes from, in Markdown that can be published beside it.

use std::fmt::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::{RowGroups, Source};
use patzer_formats::metadata::{Account, Metadata};
use patzer_formats::native::description::{self, ColumnRow};
use patzer_io::error::{Error, Result};
use patzer_io::number::grouped;
use patzer_io::{Digest, printable};
use patzer_pgn::dialect::{Side, Unit};
use patzer_pgn::{Basis, Decision};

/// Card of a file of positions: its format, its origin, its processing.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    pub name: String,
    pub format: &'static str,
    pub positions: u64,
    pub bytes: u64,
    pub sha256: String,
    /// Agreement of the companion beside the file with this digest; `None` without a companion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub companion_matches: Option<bool>,
    /// True if the file itself says where it comes from.
    pub has_provenance: bool,
    #[serde(flatten)]
    pub metadata: Metadata,
    /// Columns of a dataset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnRow>,
    #[serde(skip)]
    pub front_matter: bool,
}

impl Card {
    /// Reads a whole file: for its digest, and to count the positions of formats that do not say their number.
    /// `progress` gets the number of positions read.
    pub fn of(mut data: RowGroups, mut progress: impl FnMut(u64)) -> Result<Card> {
        let path = data.path().to_path_buf();
        let mut counted = 0;
        if data.rows().is_none() {
            data.for_each(|records| {
                patzer_io::interrupt::check()?;
                counted += records.len() as u64;
                progress(records.len() as u64);
                Ok(())
            })?;
        }
        let positions = data.rows().unwrap_or(counted);
        let metadata = data.metadata().clone();
        let (columns, has_provenance) = match &data {
            RowGroups::Dataset(dataset) => {
                (description::rows(metadata.layout()).collect(), dataset.has_provenance())
            }
            RowGroups::Stream(_) => (Vec::new(), false),
        };
        let known = metadata.sources.first().filter(|own| !has_provenance && !own.sha256.is_empty());
        let (sha256, bytes) = match known {
            Some(own) => (own.sha256.clone(), own.bytes.unwrap_or(0)),
            None => digest(&path)?,
        };
        Ok(Card {
            name: Source::of(&path).name,
            format: data.format().name,
            positions,
            bytes,
            companion_matches: patzer_io::companion(&path)?.map(|recorded| recorded == sha256),
            sha256,
            has_provenance,
            metadata,
            columns,
            front_matter: false,
        })
    }
}

fn digest(path: &Path) -> Result<(String, u64)> {
    let digest = Digest::new(Arc::default(), true);
    std::io::copy(&mut digest.reader(patzer_io::raw(path)?), &mut std::io::sink())
        .map_err(|e| Error::io(path, e))?;
    Ok(digest.so_far())
}

/// A cell of a table: one line without the characters that end a cell or start a tag.
fn cell(text: &str) -> String {
    printable(text).replace('|', "\\|").replace('<', "&lt;")
}

fn table(f: &mut fmt::Formatter<'_>, title: &str, header: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n## {title}\n\n| {} |\n|{}", header.join(" | "), "---|".repeat(header.len()))?;
    rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, items: &[String]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(f, "\n## {title}\n")?;
    items.iter().try_for_each(|item| writeln!(f, "- {}", cell(item)))
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = &self.metadata;
        if self.front_matter {
            front_matter(f, self)?;
        }
        writeln!(f, "# {}\n", cell(&self.name))?;
        writeln!(f, "{} positions of chess.\n\n| | |\n|---|---|", grouped(self.positions))?;
        let mut fact = |name: &str, value: String| writeln!(f, "| {name} | {} |", cell(&value));
        fact("format", self.format.into())?;
        fact("size", format!("{} bytes", grouped(self.bytes)))?;
        fact("SHA-256", self.sha256.clone())?;
        if self.has_provenance {
            fact("made by", format!("patzer {}", metadata.version))?;
            fact("seed", metadata.seed.to_string())?;
        }
        let agrees = |matches| if matches { "records the same SHA-256" } else { "records another SHA-256" };
        let optional = [
            ("companion", self.companion_matches.map(|matches| agrees(matches).to_string())),
            ("licence", Some(licences(metadata).join("; ")).filter(|all| !all.is_empty())),
            ("teacher of the scores", metadata.teacher.clone()),
            ("unit of the scores", Some(metadata.score_units.join(", ")).filter(|units| !units.is_empty())),
            ("leaves resolved by", metadata.resolved.clone()),
            ("duplicates", metadata.dedupe.map(|how| how.to_string())),
            ("shard of the games", metadata.shard.map(|shard| shard.to_string())),
            ("piece of the labelling", metadata.piece.map(|piece| piece.to_string())),
        ];
        for (name, value) in optional {
            value.map_or(Ok(()), |value| fact(name, value))?;
        }
        if !self.has_provenance {
            return writeln!(
                f,
                "\nThe file does not say where its positions come from: sources, filters and teacher are unknown."
            );
        }
        sources(f, metadata)?;
        list(f, "Filters", &metadata.filters)?;
        metadata.account.as_ref().map_or(Ok(()), |account| counts(f, account))?;
        list(f, "Steps", &metadata.steps)?;
        let rows: Vec<Vec<String>> = self.columns.iter().map(ColumnRow::cells).collect();
        table(f, "Columns", &ColumnRow::HEADER, &rows)
    }
}

/// Metadata of a dataset's card as Hugging Face reads it.
fn front_matter(f: &mut fmt::Formatter<'_>, card: &Card) -> fmt::Result {
    let licences = licences(&card.metadata);
    writeln!(f, "---")?;
    if let [licence] = &licences[..] {
        writeln!(f, "license: {}", quoted(licence))?;
    }
    const SIZES: [(u64, &str); 7] = [
        (1_000, "n<1K"),
        (10_000, "1K<n<10K"),
        (100_000, "10K<n<100K"),
        (1_000_000, "100K<n<1M"),
        (10_000_000, "1M<n<10M"),
        (100_000_000, "10M<n<100M"),
        (1_000_000_000, "100M<n<1B"),
    ];
    let size = SIZES.iter().find(|(below, _)| card.positions < *below).map_or("n>1B", |(_, name)| name);
    writeln!(f, "pretty_name: {}\nsize_categories:\n- {size}", quoted(&card.name))?;
    writeln!(f, "tags:\n- chess\n- patzer\n---\n")
}

/// A string of YAML, quoted as in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(printable(text).to_string()).to_string()
}

fn licences(metadata: &Metadata) -> Vec<&str> {
    let mut all: Vec<&str> = metadata.sources.iter().filter_map(|source| source.licence.as_deref()).collect();
    all.dedup();
    all
}

fn sources(f: &mut fmt::Formatter<'_>, metadata: &Metadata) -> fmt::Result {
    let count = |count: Option<u64>| count.map(grouped).unwrap_or_default();
    let row = |source: &Source| {
        let licence = source.licence.as_deref().map(cell).unwrap_or_default();
        vec![cell(&source.name), count(source.games), count(source.bytes), cell(&source.sha256), licence]
    };
    let rows: Vec<Vec<String>> = metadata.sources.iter().map(row).collect();
    table(f, "Sources", &["file", "games", "bytes", "SHA-256", "licence"], &rows)?;
    let mut rows = Vec::new();
    for source in &metadata.sources {
        let survey = source.scores.iter();
        for (survey, decision) in survey.flat_map(|survey| survey.decisions.iter().map(move |d| (survey, d)))
        {
            let mut reading = cell(&decision.to_string());
            survey.scale.map_or(Ok(()), |scale| write!(reading, ", times {scale}"))?;
            if !survey.of.is_empty() {
                write!(reading, ", of {} only", cell(&survey.of.join(", ")))?;
            }
            let (side, unit) = words(decision);
            rows.push(vec![cell(&source.name), cell(&decision.dialect), side, unit, reading]);
        }
    }
    table(f, "Scores in comments", &["file", "dialect", "side", "unit", "how they were read"], &rows)
}

fn words(decision: &Decision) -> (String, String) {
    let by = |basis| match basis {
        Basis::Dialect => "by dialect",
        Basis::Data => "by the data",
        Basis::Default => "by default",
        Basis::Option => "as asked",
    };
    let side = if decision.side == Side::White { "White" } else { "side to move" };
    let unit = if decision.unit == Unit::Cp { "centipawns" } else { "pawns" };
    (format!("{side} ({})", by(decision.side_by)), format!("{unit} ({})", by(decision.unit_by)))
}

fn counts(f: &mut fmt::Formatter<'_>, account: &Account) -> fmt::Result {
    let row = |name: String, count: u64| vec![cell(&name), grouped(count)];
    let mut rows = vec![row("games".into(), account.games), row("broken games".into(), account.games_bad)];
    let named = |label: &'static str, counts: &std::collections::BTreeMap<String, u64>| {
        counts.iter().map(|(name, count)| row(format!("{label}: {name}"), *count)).collect::<Vec<_>>()
    };
    rows.extend(named("games skipped", &account.games_skipped));
    rows.extend(named("conflicting results, believed", &account.results_conflicting));
    rows.push(row("positions read".into(), account.positions_read));
    rows.extend(named("positions dropped", &account.dropped));
    rows.extend(named("positions read with a score", &account.scored));
    if account.not_understood > 0 {
        rows.push(row("comments like a score, not understood".into(), account.not_understood));
    }
    table(f, "Counts", &["what", "number"], &rows)
}
