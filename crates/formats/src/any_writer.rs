//! Writer of positions in any format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Record;
use crate::capabilities::{CAPABILITIES, Capabilities};
use crate::codec::PositionWriter;
use crate::extra::{ExtraColumn, ExtraRow};
use crate::foreign::epd::Dialect;
use crate::metadata::Metadata;
use crate::native::parquet;
use crate::native::readable::ReadableColumns;
use crate::notices::Notices;
use crate::registry::{self, Format, Read, Write};
use crate::stream::{CompressedOutput, packing};
use crate::visits;
use patzer_io::did_you_mean;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::number::{counted, grouped};

impl PositionWriter for parquet::Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        parquet::Writer::write(self, records).map(|()| 0)
    }

    fn write_with(&mut self, records: &[Record], extra: Vec<ExtraRow>) -> Result<u64> {
        parquet::Writer::write_with(self, records, extra).map(|()| 0)
    }

    fn metadata(&mut self) -> Option<&mut Metadata> {
        Some(parquet::Writer::metadata(self))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        parquet::Writer::finish(*self).map(|_| ())
    }
}

/// Output options.
#[derive(Debug, Clone, Default)]
pub struct Target {
    pub format: Option<&'static Format>,
    pub dialect: Option<Dialect>,
    /// Score of unscored positions in formats that need one, centipawns from the side to move; by default they are
    /// dropped.
    pub no_score: Option<i16>,
    /// Level of zstd, 1 to 22, for a dataset or a name that ends in `.zst`.
    pub level: Option<i32>,
    /// Columns of a dataset for other programs to read.
    pub with: ReadableColumns,
    pub notices: Notices,
}

impl Target {
    /// Returns the format of a file: that of its ending unless another is given. A name without an ending, a pipe and
    /// standard output get a dataset; an unknown ending is an error, and so is an option that the format lacks.
    pub fn format(&self, path: &Path) -> Result<&'static Format> {
        let format = match self.format.or_else(|| registry::of_path(path)) {
            Some(format) => format,
            None if path == Path::new("-") || patzer_io::is_stream(path) || !registry::has_ending(path) => {
                registry::native()
            }
            None => {
                let (known, ending) =
                    (registry::endings(), path.extension().unwrap_or_default().to_string_lossy());
                let nearest = did_you_mean(&format!(".{ending}"), known.split(' '));
                let reason = format!("its ending names no format; known are {known}{nearest}");
                return Err(Error::data(path, reason).hint(Hint::Format));
            }
        };
        if format.write.is_none() {
            let reason = format!("{} is read only; known are {}", format.name, registry::endings());
            return Err(Error::data(path, reason));
        }
        let packed = packing(path);
        if let (Read::Dataset, Some(packed)) = (format.read, packed) {
            let reason =
                format!("{} compresses its own pages; leave `.{packed}` out of the name", format.name);
            return Err(Error::data(path, reason));
        }
        if self.level.is_some() && packed != Some("zst") && !matches!(format.read, Read::Dataset) {
            let (name, ending) = (format.name, format.endings[0]);
            let reason = format!("{name} is not compressed; a name that ends in .{ending}.zst is");
            return Err(Error::setting("compress", "", reason));
        }
        if self.with != ReadableColumns::default() && !matches!(format.read, Read::Dataset) {
            return Err(Error::setting(
                "with",
                "",
                format!("{} has no such columns; parquet does", format.name),
            ));
        }
        match self.dialect {
            None => Ok(format),
            Some(_) if format.dialect.is_none() => {
                let reason = format!("{} has no dialects; epd, fen and text do", format.name);
                Err(Error::setting("dialect", "", reason))
            }
            Some(dialect) => Ok(registry::of_dialect(dialect).unwrap_or(format)),
        }
    }
}

/// Creates the writer of a format; `None` if it is read only.
fn writer(
    format: &Format,
    path: &Path,
    target: &Target,
    metadata: &Metadata,
) -> Result<Option<Box<dyn PositionWriter>>> {
    Ok(match format.write {
        None => None,
        Some(Write::Dataset) => {
            let level = target.level.unwrap_or(parquet::LEVEL);
            Some(Box::new(parquet::Writer::with_columns(path, metadata.clone(), level, target.with)?))
        }
        Some(Write::Stream(write)) => {
            let out = CompressedOutput::create(path, target.level, format.companion)?;
            Some(write(out, target.dialect, metadata)?)
        }
    })
}

/// Writes a file of any format.
pub struct AnyWriter {
    path: PathBuf,
    format: &'static Format,
    /// Score of unscored positions, where the format needs one.
    no_score: Option<i16>,
    needs: Capabilities,
    /// Facts left as they are: the format carries them, or the inputs lack them.
    keeps: Capabilities,
    writer: Box<dyn PositionWriter>,
    extra: Vec<ExtraColumn>,
    written: Written,
    kept: Vec<Record>,
}

/// Counts of written and dropped positions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    pub positions: u64,
    pub dropped: BTreeMap<&'static str, u64>,
    /// Positions written without a property that the format does not carry, by property.
    pub lost: BTreeMap<&'static str, u64>,
    /// Games interrupted by missing positions, in formats of whole games.
    pub gaps: u64,
}

impl AnyWriter {
    pub fn create(path: &Path, target: &Target, metadata: &Metadata) -> Result<AnyWriter> {
        let format = target.format(path)?;
        let mut carried = metadata.clone();
        if !matches!(format.read, Read::Dataset) {
            let visits = format.carries.contains(Capabilities::VISITS);
            let keeps = if visits { visits::is } else { |_: &ExtraColumn| false };
            let left = carried.leave_extra_but(&format!("{} does not carry", format.name), keeps);
            left.into_iter().for_each(|text| target.notices.add(path, text));
        } else if let left @ [_, ..] = &metadata.readable.without(target.with)[..] {
            let left = left.join(",");
            target.notices.add(
                path,
                format!(
                    "without the columns {left} of the input, which are written where they are asked for"
                ),
            );
        }
        let of_dialect = match target.dialect {
            Some(Dialect::Leaf) => Capabilities::LEAF.and(Capabilities::GAME).and(Capabilities::NO_SCORE),
            _ => Capabilities::NONE,
        };
        let needs = if of_dialect.is_none() { format.needs } else { Capabilities::NONE };
        let units = &metadata.score_units;
        if units.len() > 1 {
            let text =
                format!("scores of several units are mixed: {}; bring them to one first", units.join(", "));
            target.notices.add(path, text);
        } else if let ([unit], Some(form)) = (&units[..], format.score)
            && form.unit != unit
        {
            let text = format!(
                "scores stay in their unit, {unit}; a factor such as 100 / 208 makes centipawns of Stockfish's"
            );
            target.notices.add(path, text);
        }
        let writer = writer(format, path, target, metadata)?;
        let writer = writer.ok_or_else(|| Error::internal(format!("{} is not written", format.name)))?;
        Ok(AnyWriter {
            path: path.to_path_buf(),
            format,
            no_score: target.no_score.filter(|_| needs.contains(Capabilities::SCORE)),
            needs,
            keeps: format.carries.and(metadata.lacks).and(of_dialect),
            writer,
            extra: carried.extra,
            written: Written::default(),
            kept: Vec::new(),
        })
    }

    pub fn metadata(&mut self) -> Option<&mut Metadata> {
        self.writer.metadata()
    }

    /// Takes over the digests of inputs that have been read to their end since this file was created.
    pub fn add_digests(&mut self, read: &Metadata) {
        self.writer.metadata().into_iter().for_each(|own| own.add_digests(read));
    }

    pub fn write(&mut self, records: &[Record]) -> Result<()> {
        self.write_with(records, None)
    }

    /// Columns that [`AnyWriter::write_with`] takes.
    pub fn extra(&self) -> Vec<ExtraColumn> {
        self.extra.clone()
    }

    /// Writes records with the values of the columns of [`extra`](AnyWriter::extra); without any, as empty cells.
    pub fn write_with(&mut self, records: &[Record], extra: Option<Vec<ExtraRow>>) -> Result<()> {
        let empty = || vec![ExtraRow::default(); records.len()];
        let extra = (!self.extra.is_empty()).then(|| extra.unwrap_or_else(empty));
        if self.format.carries == Capabilities::ALL && self.needs == Capabilities::NONE {
            self.written.positions += records.len() as u64;
            return match extra {
                Some(rows) => self.writer.write_with(records, rows).map(drop),
                None => self.writer.write(records).map(drop),
            };
        }
        self.kept.clear();
        let (mut lost, mut rows) = ([0u64; 32], Vec::new());
        for (nth, record) in records.iter().enumerate() {
            let mut record = *record;
            record.score = record.score.or(self.no_score);
            let holds = Capabilities::of(&record);
            if let Some(reason) = self.refusal(&record, holds) {
                *self.written.dropped.entry(reason).or_default() += 1;
                continue;
            }
            let missing = holds.without(self.keeps);
            missing.bits().for_each(|bit| lost[bit] += 1);
            self.kept.push(record);
            rows.extend(extra.as_ref().map(|extra| extra[nth].clone()));
        }
        let illegal = match extra {
            Some(_) => self.writer.write_with(&self.kept, rows)?,
            None => self.writer.write(&self.kept)?,
        };
        if illegal > 0 {
            *self.written.dropped.entry("illegal_move").or_default() += illegal;
        }
        self.written.positions += self.kept.len() as u64 - illegal;
        for row in CAPABILITIES {
            let count: u64 = row.set.bits().map(|bit| lost[bit]).sum();
            if count > 0 {
                *self.written.lost.entry(row.name).or_default() += count;
            }
        }
        Ok(())
    }

    fn refusal(&self, record: &Record, holds: Capabilities) -> Option<&'static str> {
        let lacks = |fact| self.needs.contains(fact) && !holds.contains(fact);
        let refused = |fact| self.format.refuses.contains(fact) && holds.contains(fact);
        match () {
            () if record.board.count() > 32 => Some("more_than_32_pieces"),
            () if lacks(Capabilities::SCORE) => Some("no_score"),
            () if lacks(Capabilities::MOVE) => Some("no_move"),
            () if refused(Capabilities::CHESS960) => Some("chess960_castling"),
            () => None,
        }
    }

    /// Positions given to it so far.
    pub fn received(&self) -> u64 {
        self.written.positions + self.written.all_dropped()
    }

    pub fn finish(mut self) -> Result<Written> {
        self.written.gaps = self.writer.gaps();
        self.writer.finish()?;
        Ok(self.written)
    }

    pub fn format(&self) -> &'static Format {
        self.format
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Written {
    pub fn all_dropped(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// Describes in one line what was dropped or lost; `None` if nothing was.
    pub fn warning(&self, path: &Path, format: &Format) -> Option<String> {
        let mut parts = Vec::new();
        let list = |counts: &BTreeMap<&'static str, u64>| {
            let texts =
                counts.iter().map(|(name, count)| format!("{name} ({})", counted(*count, "position")));
            texts.collect::<Vec<_>>().join(", ")
        };
        if !self.dropped.is_empty() {
            parts.push(format!("left out: {}", list(&self.dropped)));
        }
        if !self.lost.is_empty() {
            parts.push(format!("{} does not carry: {}", format.name, list(&self.lost)));
        }
        if self.gaps > 0 {
            parts.push(format!(
                "{} gaps split games, since {} stores games",
                grouped(self.gaps),
                format.name
            ));
        }
        (!parts.is_empty()).then(|| format!("{}: {}", path.display(), parts.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::game_records;
    use shakmaty::Chess;
    use shakmaty::uci::UciMove;

    fn opening() -> Vec<Record> {
        let mut position = Chess::default();
        let played = ["e2e4", "e7e5", "g1f3", "b8c6"].map(|text| {
            let m = text.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position = patzer_chess::played(&position, m);
            (m, Some(10))
        });
        game_records(&Chess::default(), 0, 1, played.into_iter())
    }

    fn written(name: &str, records: &[Record], metadata: &Metadata) -> Written {
        let folder = tempfile::tempdir().unwrap();
        let target = Target { format: registry::named(name).ok(), ..Target::default() };
        let mut writer = AnyWriter::create(&folder.path().join("x"), &target, metadata).unwrap();
        writer.write(records).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn a_missing_position_is_a_gap_in_every_format_of_games() {
        let whole = opening();
        let gap = [&whole[..1], &whole[2..]].concat();
        // Tables know games by their numbers.
        let of_games = |format: &&Format| {
            format.carries.contains(Capabilities::GAME) && !format.carries.contains(Capabilities::PLY)
        };
        for Format { name, .. } in registry::written().filter(of_games) {
            let gaps = [&whole, &gap].map(|records| written(name, records, &Metadata::default()).gaps);
            assert_eq!(gaps, [0, 1], "{name}");
        }
    }

    #[test]
    fn games_that_no_input_had_are_not_lost() {
        let lost = |lacks| {
            let metadata = Metadata { lacks, ..Metadata::default() };
            written("bullet", &opening(), &metadata).lost.get("game").copied()
        };
        assert_eq!((lost(Capabilities::NONE), lost(Capabilities::GAME)), (Some(4), None));
    }

    #[test]
    fn counts_in_the_warning_are_grouped() {
        let written =
            Written { dropped: BTreeMap::from([("no_score", 1628)]), gaps: 2000, ..Written::default() };
        let warning = written.warning(Path::new("x.vf"), registry::native()).unwrap();
        assert!(warning.starts_with("x.vf: left out: no_score (1,628 positions); 2,000 gaps"), "{warning}");
    }
}
