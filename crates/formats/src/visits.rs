//! The column `visits`: how often a search by playouts visited each move of a position, a list of moves with their
//! visits.
//!
//! Records have a fixed size, so the lists travel beside them, as the cells of an [`ExtraRow`].

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

use crate::Record;
use crate::bytes::{field, varint};
use crate::extra::{ExtraColumn, ExtraRow};
use crate::native::foreign_column::BadValue;
use patzer_chess::PackedMove;
pub use patzer_pgn::visits::{MOST_MOVES, Visits, fault, sort};

/// Name of the column.
pub const NAME: &str = "visits";

/// Meaning of the column, for its file and docs/schema.md.
pub const MEANING: &str = "how often the search by playouts visited each move: a list of moves, as `move`, and their visits, \
                           at least 1; the most visited first";

const SCHEMA: &str =
    "message positions { OPTIONAL GROUP visits (LIST) { REPEATED GROUP list { REQUIRED GROUP element {
    REQUIRED INT32 move (UINT_16); REQUIRED INT32 visits (UINT_32); } } } }";

/// Bytes of a move with its visits in a cell.
const ENTRY: usize = 6;

/// The column as it is written.
pub fn column() -> ExtraColumn {
    let field =
        parse_message_type(SCHEMA).ok().and_then(|schema| schema.get_fields().first().map(Arc::clone));
    ExtraColumn { field: field.unwrap_or_else(|| unreachable!("the schema is a constant")) }
}

/// Tests whether a column of a file is this one, and not one of the name that another program made.
pub fn is(column: &ExtraColumn) -> bool {
    column.name() == NAME && !column.field.is_primitive()
}

/// Tests whether a column of a file is the moves of the lists, with their visits in the column after it. Other
/// programs may make elements optional and numbers wider.
pub(crate) fn starts(columns: &[ColumnDescPtr], place: usize) -> bool {
    let part = |place: usize, name: &str| {
        columns.get(place).is_some_and(|column| {
            let parts = column.path().parts();
            let number = matches!(column.physical_type(), PhysicalType::INT32 | PhysicalType::INT64);
            number && column.max_rep_level() == 1 && parts[0] == NAME && column.name() == name
        })
    };
    part(place, "move") && part(place + 1, NAME)
}

impl ExtraRow {
    /// A row whose only column is this one.
    pub fn of_visits(visits: &[(PackedMove, u32)]) -> ExtraRow {
        ExtraRow(vec![cell(visits)])
    }

    /// The visits in the column of this number; empty if there are none.
    pub fn visits(&self, nth: usize) -> Visits {
        let bytes = self.0.get(nth).and_then(Option::as_deref).unwrap_or_default();
        let entry = |bytes: &[u8]| {
            (PackedMove(u16::from_le_bytes(field(bytes, 0))), u32::from_le_bytes(field(bytes, 2)))
        };
        bytes.chunks_exact(ENTRY).map(entry).collect()
    }
}

/// The visits of a row in bytes; none without visits.
pub(crate) type Cell = Option<Box<[u8]>>;

pub(crate) fn cell(visits: &[(PackedMove, u32)]) -> Cell {
    let mut bytes = Vec::with_capacity(ENTRY * visits.len());
    for (m, count) in visits {
        bytes.extend(m.0.to_le_bytes());
        bytes.extend(count.to_le_bytes());
    }
    (!bytes.is_empty()).then(|| bytes.into())
}

/// The pages of some rows, of the moves and of their visits: the numbers of their levels, and plain data pages.
pub(crate) fn pages(rows: &[ExtraRow], nth: usize) -> [(usize, Vec<u8>); 2] {
    let (mut repeats, mut defined) = (Vec::new(), Vec::new());
    let mut bodies = [Vec::new(), Vec::new()];
    for row in rows {
        let visits = row.visits(nth);
        if visits.is_empty() {
            repeats.push(0);
            defined.push(0);
        }
        for (at, (m, count)) in visits.into_iter().enumerate() {
            repeats.push(u8::from(at > 0));
            defined.push(2);
            bodies[0].extend(i32::from(m.0).to_le_bytes());
            bodies[1].extend(count.to_le_bytes());
        }
    }
    let levels = [packed(&repeats, 1), packed(&defined, 2)].concat();
    bodies.map(|body| (repeats.len(), [levels.as_slice(), &body].concat()))
}

/// Levels of `width` bits as a bit-packed run, with its length before it.
fn packed(levels: &[u8], width: usize) -> Vec<u8> {
    let groups = levels.len().div_ceil(8);
    let mut run = Vec::new();
    varint((groups << 1 | 1) as u64, &mut run);
    let start = run.len();
    run.resize(start + groups * width, 0);
    for (nth, level) in levels.iter().enumerate() {
        let bit = nth * width;
        run[start + bit / 8] |= level << (bit % 8);
    }
    [&(run.len() as u32).to_le_bytes()[..], &run].concat()
}

/// Reads the cells of a row group from the columns of its moves and of their visits, and checks them for its positions.
pub(crate) fn read(columns: [(ColumnReader, ColumnDescPtr); 2], records: &[Record]) -> Result<Vec<Cell>> {
    let [moves, counts] = columns.map(|(reader, column)| lists(reader, &column, records.len()));
    let (moves, counts) = (moves?, counts?);
    let rows = moves.iter().zip(&counts).zip(records).enumerate();
    rows.map(|(row, ((moves, counts), record))| {
        cell_of(moves, counts, record).map_err(|reason| {
            let row = row as u64;
            ParquetError::External(Box::new(BadValue { row, reason }))
        })
    })
    .collect()
}

/// The cell of a position, or why it cannot be its.
fn cell_of(moves: &[i64], counts: &[i64], record: &Record) -> std::result::Result<Cell, String> {
    if moves.len() != counts.len() {
        return Err(format!("visits has {} moves and {} numbers", moves.len(), counts.len()));
    }
    let entry = |(&m, &count): (&i64, &i64)| {
        let m = u16::try_from(m).map_err(|_| format!("visits has the move {m}"))?;
        let count = u32::try_from(count).map_err(|_| format!("visits is {count}, not from 1 to 2^32"))?;
        Ok((PackedMove(m), count))
    };
    let visits = moves.iter().zip(counts).map(entry).collect::<std::result::Result<Visits, String>>()?;
    match fault(record, &visits).filter(|_| !visits.is_empty()) {
        Some(reason) => Err(reason),
        None => Ok(cell(&visits)),
    }
}

/// The numbers of each row's list.
fn lists(reader: ColumnReader, column: &ColumnDescriptor, rows: usize) -> Result<Vec<Vec<i64>>> {
    let lists = match reader {
        ColumnReader::Int32ColumnReader(reader) if is_unsigned(column) => {
            numbers(reader, column, rows, |number| i64::from(*number as u32))
        }
        ColumnReader::Int32ColumnReader(reader) => numbers(reader, column, rows, |number| i64::from(*number)),
        ColumnReader::Int64ColumnReader(reader) => numbers(reader, column, rows, |number| *number),
        _ => Err(ParquetError::NYI("visits of another type".into())),
    }?;
    if lists.len() == rows { Ok(lists) } else { Err(ParquetError::EOF("a column ends early".into())) }
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    let logical = matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed);
    logical || column.converted_type() == ConvertedType::UINT_32
}

fn numbers<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    column: &ColumnDescriptor,
    rows: usize,
    number: fn(&T::T) -> i64,
) -> Result<Vec<Vec<i64>>> {
    const AT_ONCE: usize = 1 << 12;
    let (full, entry) = (column.max_def_level(), column.repeated_ancestor_def_level());
    let mut lists: Vec<Vec<i64>> = Vec::new();
    let (mut values, mut defined, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
    while lists.len() < rows {
        values.clear();
        defined.clear();
        repeats.clear();
        let most = AT_ONCE.min(rows - lists.len());
        let (read, ..) = reader.read_records(most, Some(&mut defined), Some(&mut repeats), &mut values)?;
        if read == 0 {
            break;
        }
        let mut values = values.iter();
        for (level, repeat) in defined.iter().zip(&repeats) {
            if *repeat == 0 || lists.is_empty() {
                lists.push(Vec::new());
            }
            let row = lists.len() - 1;
            if *level == full {
                lists[row].extend(values.next().map(number));
            } else if *level >= entry {
                let reason = "visits has an empty entry".into();
                return Err(ParquetError::External(Box::new(BadValue { row: row as u64, reason })));
            }
        }
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EMPTY;
    use crate::notices::Notices;
    use crate::{Dataset, Metadata, Writer};
    use patzer_chess::PackedBoard;
    use patzer_chess::rng::Rng;
    use shakmaty::{Chess, Position};

    /// Positions of random games with random visits, some with none.
    fn visited(count: usize) -> (Vec<Record>, Vec<ExtraRow>) {
        let (mut rng, mut position) = (Rng::new(9), Chess::default());
        let one = |_| {
            let mut legal = position.legal_moves();
            if legal.is_empty() || position.fullmoves().get() > 60 {
                position = Chess::default();
                legal = position.legal_moves();
            }
            let record = Record { board: PackedBoard::pack(&position), turn: position.turn(), ..EMPTY };
            let ep = patzer_chess::packed::ep_code(&position);
            let most = if rng.below(4) == 0 { 0 } else { 1 + rng.below(legal.len()) };
            let mut visits: Visits = legal.iter().take(most).map(|&m| (PackedMove::pack(m), 1)).collect();
            visits
                .iter_mut()
                .for_each(|(_, count)| *count += [rng.below(9) as u32, u32::MAX - 1][rng.below(50) / 49]);
            sort(&mut visits);
            position.play_unchecked(legal[rng.below(legal.len())]);
            (Record { ep, ..record }, ExtraRow::of_visits(&visits))
        };
        (0..count).map(one).unzip()
    }

    #[test]
    fn lists_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.parquet");
        let (records, rows) = visited(40_000);
        let metadata = Metadata { extra: vec![column()], ..Metadata::default() };
        let mut writer = Writer::create(&path, metadata).unwrap();
        writer.pages_per_group = 1;
        writer.write_with(&records, rows.clone()).unwrap();
        writer.finish().unwrap();
        let dataset = Dataset::open(&path).unwrap();
        assert_eq!((dataset.metadata().extra.as_slice(), dataset.groups()), (&[column()][..], 3));
        let mut read =
            crate::extra_rows::ExtraRows::of(&path, dataset.metadata(), &[column()], dataset.notices())
                .unwrap()
                .unwrap();
        assert!(read.take(rows.len() + 1).unwrap() == rows);
        let entries: usize = rows.iter().map(|row| row.visits(0).len()).sum();
        assert!(entries > 8 * rows.len() && rows.iter().any(|row| row.visits(0).is_empty()), "{entries}");
    }

    #[test]
    fn visits_that_make_no_sense_are_an_error_with_their_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.parquet");
        let (records, rows) = visited(20_000);
        let at = (17_000..).find(|at| rows[*at].visits(0).len() > 2).unwrap();
        let entry = rows[at].visits(0)[1];
        for (bad, reason) in [
            (vec![(PackedMove(0o7777), 3)], "visits of an illegal move from h8 to h8"),
            (vec![(entry.0, 0)], "no visit of the move"),
            (vec![entry, entry], "visits twice of the move"),
            (vec![entry; 219], "visits of 219 moves"),
        ] {
            let mut rows = rows.clone();
            rows[at] = ExtraRow::of_visits(&bad);
            let metadata = Metadata { extra: vec![column()], ..Metadata::default() };
            let mut writer = Writer::create(&path, metadata.clone()).unwrap();
            writer.write_with(&records, rows).unwrap();
            writer.finish().unwrap();
            let mut read =
                crate::extra_rows::ExtraRows::of(&path, &metadata, &[column()], &Notices::default())
                    .unwrap()
                    .unwrap();
            let error = read.take(1).unwrap_err().to_string();
            assert!(error.contains(&format!("v.parquet: row {at}: {reason}")), "{error}");
        }
    }
}
