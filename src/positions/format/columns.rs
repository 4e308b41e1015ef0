//! The columns of a dataset's row group.
//!
//! In and out: samples on one side, typed Parquet columns in the order of the schema on the other. A column is one
//! line of [`SCHEMA`], of [`write`] and of [`read`], in the same place of each.

use bytes::Bytes;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type,
};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::SerializedRowGroupWriter;
use shakmaty::Color;

use crate::chess::{PackedBoard, PackedMove};
use crate::io::Output;
use crate::positions::{Leaf, Sample};

const SCHEMA: &str = "message positions {
    REQUIRED FIXED_LEN_BYTE_ARRAY(24) board;
    REQUIRED BOOLEAN stm;
    REQUIRED INT32 ep (UINT_8);
    REQUIRED INT32 halfmove (UINT_8);
    REQUIRED INT32 fullmove (UINT_16);
    REQUIRED INT32 ply (UINT_16);
    REQUIRED INT32 game (UINT_32);
    REQUIRED INT32 result (INT_8);
    OPTIONAL INT32 score (INT_16);
    OPTIONAL INT32 depth (UINT_8);
    REQUIRED INT32 move (UINT_16);
    REQUIRED INT32 flags (UINT_16);
    REQUIRED INT32 to_capture (UINT_8);
    REQUIRED INT32 to_check (UINT_8);
    REQUIRED INT32 to_end (UINT_8);";

const LEAF_COLUMNS: &str = "
    OPTIONAL FIXED_LEN_BYTE_ARRAY(24) leaf;
    OPTIONAL BOOLEAN leaf_stm;
    OPTIONAL INT32 leaf_score (INT_16);";

/// The schema of a dataset, with the columns of the leaves if it is resolved.
pub fn schema(resolved: bool) -> String {
    format!("{SCHEMA}{}\n}}", if resolved { LEAF_COLUMNS } else { "" })
}

type Group<'a> = SerializedRowGroupWriter<'a, Output>;
type Parquet<T> = parquet::errors::Result<T>;

/// Writes samples as the columns of a row group, in the order of the schema.
pub fn write(group: &mut Group<'_>, samples: &[Sample], resolved: bool) -> Parquet<()> {
    boards(group, samples.iter().map(|s| Some(&s.board)), false)?;
    required::<BoolType>(group, samples.iter().map(|s| s.turn.is_black()))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.ep)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.halfmove)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.fullmove)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.ply)))?;
    required::<Int32Type>(group, samples.iter().map(|s| s.game as i32))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.result)))?;
    optional::<Int32Type>(group, samples.iter().map(|s| s.score.map(i32::from)))?;
    optional::<Int32Type>(group, samples.iter().map(|s| s.depth.map(i32::from)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.played.0)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.flags)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_capture)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_check)))?;
    required::<Int32Type>(group, samples.iter().map(|s| i32::from(s.to_end)))?;
    if resolved {
        boards(group, samples.iter().map(|s| s.leaf.as_ref().map(|l| &l.board)), true)?;
        optional::<BoolType>(group, samples.iter().map(|s| s.leaf.map(|l| l.turn.is_black())))?;
        optional::<Int32Type>(group, samples.iter().map(|s| s.leaf.map(|l| i32::from(l.score))))?;
    }
    Ok(())
}

fn required<T: DataType>(group: &mut Group<'_>, values: impl Iterator<Item = T::T>) -> Parquet<()> {
    column::<T>(group, &values.collect::<Vec<_>>(), None)
}

fn optional<T: DataType>(group: &mut Group<'_>, values: impl Iterator<Item = Option<T::T>>) -> Parquet<()> {
    let mut present = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| {
            value.map_or(0, |v| {
                present.push(v);
                1
            })
        })
        .collect();
    column::<T>(group, &present, Some(&levels))
}

/// All boards lie in one allocation, of which each value is a slice.
fn boards<'a>(
    group: &mut Group<'_>,
    values: impl Iterator<Item = Option<&'a PackedBoard>>,
    nullable: bool,
) -> Parquet<()> {
    let mut all = Vec::new();
    let levels: Vec<i16> = values
        .map(|board| {
            board.map_or(0, |b| {
                all.extend_from_slice(&b.0);
                1
            })
        })
        .collect();
    let all = Bytes::from(all);
    let slices: Vec<FixedLenByteArray> =
        (0..all.len() / 24).map(|i| ByteArray::from(all.slice(24 * i..24 * i + 24)).into()).collect();
    column::<FixedLenByteArrayType>(group, &slices, nullable.then_some(&levels[..]))
}

fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) -> Parquet<()> {
    let mut writer = group.next_column()?.ok_or_else(|| ParquetError::General("column".into()))?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}
/// Reads the columns of a row group, in the order of the schema.
pub fn read(group: &dyn RowGroupReader, resolved: bool) -> Parquet<Vec<Sample>> {
    let rows = group.metadata().num_rows() as usize;
    let mut columns = Columns { group, rows, next: 0 };
    let board = columns.boards()?;
    let turn = columns.required::<BoolType>()?;
    let mut samples: Vec<Sample> = board
        .iter()
        .zip(turn)
        .map(|(board, black)| Sample { board: board_of(board), turn: Color::from_black(black), ..EMPTY })
        .collect();
    columns.fill(&mut samples, |s, v| s.ep = v as u8)?;
    columns.fill(&mut samples, |s, v| s.halfmove = v as u8)?;
    columns.fill(&mut samples, |s, v| s.fullmove = v as u16)?;
    columns.fill(&mut samples, |s, v| s.ply = v as u16)?;
    columns.fill(&mut samples, |s, v| s.game = v as u32)?;
    columns.fill(&mut samples, |s, v| s.result = v as i8)?;
    columns.fill_some::<Int32Type>(&mut samples, |s, v| s.score = Some(v as i16))?;
    columns.fill_some::<Int32Type>(&mut samples, |s, v| s.depth = Some(v as u8))?;
    columns.fill(&mut samples, |s, v| s.played = PackedMove(v as u16))?;
    columns.fill(&mut samples, |s, v| s.flags = v as u16)?;
    columns.fill(&mut samples, |s, v| s.to_capture = v as u8)?;
    columns.fill(&mut samples, |s, v| s.to_check = v as u8)?;
    columns.fill(&mut samples, |s, v| s.to_end = v as u8)?;
    if resolved {
        columns.fill_some::<FixedLenByteArrayType>(&mut samples, |s, v| {
            s.leaf = Some(Leaf { board: board_of(&v), turn: Color::White, score: 0 });
        })?;
        columns.fill_some::<BoolType>(&mut samples, |s, v| {
            if let Some(leaf) = &mut s.leaf {
                leaf.turn = Color::from_black(v);
            }
        })?;
        columns.fill_some::<Int32Type>(&mut samples, |s, v| {
            if let Some(leaf) = &mut s.leaf {
                leaf.score = v as i16;
            }
        })?;
    }
    Ok(samples)
}

/// A sample with nothing in it, to fill column by column.
pub const EMPTY: Sample = Sample {
    board: PackedBoard([0; 24]),
    turn: Color::White,
    ep: 0,
    halfmove: 0,
    fullmove: 0,
    ply: 0,
    game: 0,
    result: 0,
    score: None,
    depth: None,
    played: PackedMove::NONE,
    flags: 0,
    to_capture: 0,
    to_check: 0,
    to_end: 0,
    leaf: None,
};

fn board_of(bytes: &FixedLenByteArray) -> PackedBoard {
    let mut board = PackedBoard::default();
    // The schema check has established the length.
    board.0.copy_from_slice(bytes.data());
    board
}

/// The columns of one row group, taken one after another.
struct Columns<'a> {
    group: &'a dyn RowGroupReader,
    rows: usize,
    next: usize,
}

impl Columns<'_> {
    fn values<T: DataType>(&mut self) -> Parquet<(Vec<T::T>, Vec<i16>)> {
        let reader = self.group.get_column_reader(self.next)?;
        self.next += 1;
        let mut reader: ColumnReaderImpl<T> = get_typed_column_reader(reader);
        let (mut values, mut levels) = (Vec::with_capacity(self.rows), Vec::new());
        let mut read = 0;
        while read < self.rows {
            let (records, _, _) =
                reader.read_records(self.rows - read, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Err(ParquetError::EOF(format!("column ends after {read} rows")));
            }
            read += records;
        }
        Ok((values, levels))
    }

    fn required<T: DataType>(&mut self) -> Parquet<Vec<T::T>> {
        Ok(self.values::<T>()?.0)
    }

    fn boards(&mut self) -> Parquet<Vec<FixedLenByteArray>> {
        self.required::<FixedLenByteArrayType>()
    }

    fn fill(&mut self, samples: &mut [Sample], set: impl Fn(&mut Sample, i32)) -> Parquet<()> {
        let values = self.required::<Int32Type>()?;
        samples.iter_mut().zip(values).for_each(|(sample, value)| set(sample, value));
        Ok(())
    }

    fn fill_some<T: DataType>(
        &mut self,
        samples: &mut [Sample],
        set: impl Fn(&mut Sample, T::T),
    ) -> Parquet<()> {
        let (values, levels) = self.values::<T>()?;
        let present = samples.iter_mut().zip(levels).filter(|(_, level)| *level == 1);
        present.zip(values).for_each(|((sample, _), value)| set(sample, value));
        Ok(())
    }
}
