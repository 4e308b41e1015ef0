//! The table of dataset formats. Help texts, the tables of the documents and the property tests use its rows.

use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Record;
use crate::capabilities::Capabilities;
use crate::codec::{PositionReader, PositionWriter};
use crate::extra::ExtraRow;
use crate::foreign::epd::Dialect;
use crate::foreign::fixed::FixedReader;
use crate::foreign::{binpack, bullet, csv, epd, jsonl, marlin, monty, sfbin, sfplain, viri};
use crate::metadata::Metadata;
use crate::score_form::{CENTIPAWNS, OF_COLUMNS, OF_STOCKFISH, OF_WHITE, ScoreForm};
use crate::stream::{CompressedOutput, Input, RecordWriter, packing};
use patzer_io::error::{Error, Result};

#[derive(Clone, Copy)]
pub enum Read {
    Dataset,
    /// A Parquet file that is no dataset.
    Table,
    Stream(fn(Input) -> Result<Box<dyn PositionReader>>),
}

pub struct Format {
    /// Name for `--format`.
    pub name: &'static str,
    pub doc: &'static str,
    pub endings: &'static [&'static str],
    pub carries: Capabilities,
    /// Properties that a position must have to be written.
    pub needs: Capabilities,
    /// Properties that a position must not have to be written.
    pub refuses: Capabilities,
    /// How scores are written; `None` if they are not.
    pub score: Option<ScoreForm>,
    pub note: &'static str,
    /// Default dialect of a text format that has several.
    pub dialect: Option<Dialect>,
    /// True if a [companion](patzer_io::companion) is written beside a file, since the format has no checksums.
    pub companion: bool,
    /// Recognises the format by the first bytes, if possible.
    pub recognise: Option<fn(&[u8]) -> bool>,
    pub read: Read,
    /// `None` if the format is read only.
    pub write: Option<Write>,
    /// Encodes whole games whose bytes can be appended to a file, as self-play does; `None` if a file cannot grow.
    pub append: Option<AppendGames>,
}

/// Encodes games with their rows of visits, which may be empty.
pub type AppendGames = fn(&[Record], &[ExtraRow]) -> Vec<u8>;

/// Makes the writer of a file; a text format writes its own dialect unless another is given.
pub type CreateWriter = fn(CompressedOutput, Option<Dialect>, &Metadata) -> Result<Box<dyn PositionWriter>>;

#[derive(Clone, Copy)]
pub enum Write {
    Dataset,
    Stream(CreateWriter),
}

impl Format {
    /// Facts that a file of the format may hold: those it carries, and in text the counters that each dialect reads.
    pub(crate) fn may_hold(&self) -> Capabilities {
        if self.dialect.is_some() { self.carries.and(Capabilities::CLOCKS) } else { self.carries }
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Stores a format as its name.
impl Serialize for Format {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Format {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<&'static Format, D::Error> {
        named(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

const POSITION: Capabilities =
    Capabilities::TURN.and(Capabilities::CASTLING).and(Capabilities::CHESS960).and(Capabilities::EP);
/// Facts of a table of positions. Tables of other programs have no distances to captures and checks.
const TABLE: Capabilities = FLAT.without(Capabilities::DISTANCES);
/// Facts of a table without lists and without a teacher's answer.
const FLAT: Capabilities = Capabilities::ALL.without(Capabilities::TEACHER).without(Capabilities::VISITS);
const PLAYED: Capabilities = Capabilities::MOVE.and(Capabilities::DISTANCES).and(Capabilities::GAME);

fn each_record(
    out: CompressedOutput,
    header: Vec<u8>,
    encode: impl FnMut(&mut Vec<u8>, &Record) + Send + 'static,
) -> Result<Box<dyn PositionWriter>> {
    Ok(Box::new(RecordWriter::new(out, header, encode)))
}

fn write_epd(out: CompressedOutput, dialect: Dialect) -> Result<Box<dyn PositionWriter>> {
    each_record(out, Vec::new(), move |text, record| epd::encode(text, record, dialect))
}

/// Every format. The native one is first.
pub static FORMATS: &[Format] = &[
    Format {
        name: "parquet",
        doc: "the native dataset, which DuckDB, Spark and DataFusion read as it is",
        endings: &["parquet"],
        carries: Capabilities::ALL,
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: Some(CENTIPAWNS),
        note: "Also says where the positions come from and which filters they have passed.",
        dialect: None,
        companion: false,
        recognise: Some(|head| head.starts_with(b"PAR1")),
        read: Read::Dataset,
        write: Some(Write::Dataset),
        append: None,
    },
    Format {
        name: "csv",
        doc: "text with commas, a column a fact",
        endings: &["csv"],
        carries: FLAT,
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: Some(CENTIPAWNS),
        note: "Reading needs the column `fen`; a map names the columns of other tables.",
        dialect: None,
        companion: false,
        recognise: Some(csv::recognise),
        read: Read::Stream(|input| Ok(Box::new(csv::Reader::new(input)?))),
        write: Some(Write::Stream(|out, _, metadata| {
            let layout = metadata.layout();
            each_record(out, csv::header(layout), move |text, record| csv::encode(text, record, layout))
        })),
        append: None,
    },
    Format {
        name: epd::NAME,
        doc: "a FEN with the result a line, in several dialects",
        endings: &["epd"],
        carries: POSITION,
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: None,
        note: "All dialects are read, also mixed; written is the named one, or `c9`.",
        dialect: Some(Dialect::C9),
        companion: false,
        recognise: Some(epd::recognise),
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: Some(Write::Stream(|out, dialect, _| write_epd(out, dialect.unwrap_or(Dialect::C9)))),
        append: None,
    },
    Format {
        name: "fen",
        doc: "a whole FEN with the result a line: `FEN [0.5]`",
        endings: &["fen", "fens", "book"],
        carries: POSITION.and(Capabilities::CLOCKS),
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: None,
        note: "The format `epd` in the dialect `bracket`.",
        dialect: Some(Dialect::Bracket),
        companion: false,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: Some(Write::Stream(|out, dialect, _| write_epd(out, dialect.unwrap_or(Dialect::Bracket)))),
        append: None,
    },
    Format {
        name: "text",
        doc: "the trainer bullet's text: `FEN | score | 0.5`",
        endings: &["txt"],
        carries: POSITION.and(Capabilities::CLOCKS).and(Capabilities::SCORE),
        needs: Capabilities::SCORE,
        refuses: Capabilities::NONE,
        score: Some(OF_WHITE),
        note: "The format `epd` in the dialect `pipe`.",
        dialect: Some(Dialect::Pipe),
        companion: false,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: Some(Write::Stream(|out, dialect, _| write_epd(out, dialect.unwrap_or(Dialect::Pipe)))),
        append: None,
    },
    Format {
        name: "bullet",
        doc: "bulletformat: 32 bytes a position, for the trainer bullet",
        endings: &["bullet", "bf", "data"],
        carries: Capabilities::SCORE,
        needs: Capabilities::SCORE,
        refuses: Capabilities::NONE,
        score: Some(CENTIPAWNS),
        note: "The side to move is always White: boards with Black to move are turned, and results with them.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(FixedReader::new(input, bullet::decode)))),
        write: Some(Write::Stream(|out, _, _| {
            each_record(out, Vec::new(), |bytes, record| bytes.extend_from_slice(&bullet::encode(record)))
        })),
        append: None,
    },
    Format {
        name: "marlin",
        doc: "marlinformat: 32 bytes a position, for marlinflow and trainers like it",
        endings: &["marlin", "marlinformat"],
        carries: POSITION.and(Capabilities::CLOCKS).and(Capabilities::SCORE),
        needs: Capabilities::SCORE,
        refuses: Capabilities::NONE,
        score: Some(OF_WHITE),
        note: "The byte without meaning is 0.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(FixedReader::new(input, marlin::decode)))),
        write: Some(Write::Stream(|out, _, _| {
            each_record(out, Vec::new(), |bytes, record| bytes.extend_from_slice(&marlin::encode(record)))
        })),
        append: None,
    },
    Format {
        name: "viri",
        doc: "viriformat: whole games, 4 bytes a ply",
        endings: &["viri", "vf", "viriformat"],
        carries: POSITION.and(Capabilities::CLOCKS).and(PLAYED).and(Capabilities::SCORE),
        needs: Capabilities::SCORE.and(Capabilities::MOVE),
        refuses: Capabilities::NONE,
        score: Some(OF_WHITE),
        note: "Where positions of a game are missing, each piece of it is written as a game of its own.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(viri::Reader::new(input)))),
        write: Some(Write::Stream(|out, _, _| Ok(Box::new(viri::Writer::new(out, viri::CODE))))),
        append: Some(|records, rows| viri::encode(viri::CODE, records, rows)),
    },
    Format {
        name: "monty",
        doc: "montyformat of the engine Monty: whole games with winning chances and visits",
        endings: &["monty", "montyformat"],
        carries: POSITION
            .and(Capabilities::CLOCKS)
            .and(PLAYED)
            .and(Capabilities::SCORE)
            .and(Capabilities::VISITS),
        needs: Capabilities::SCORE.and(Capabilities::MOVE),
        refuses: Capabilities::NONE,
        score: Some(monty::CHANCES),
        note: "Scores become winning chances, 1 / (1 + e^(-cp / 400)) in 65,535 steps: they come back rounded, and end at \
               4,991. Visits become 255ths of the most visited move's. They are read of files whose first position \
               has some, and left out, with a notice, of others and of pipes.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(monty::Reader::new(input, true)?))),
        write: Some(Write::Stream(|out, _, _| Ok(monty::writer(out, true)))),
        append: Some(monty::encode),
    },
    Format {
        name: "montyvalue",
        doc: "montyformat for value networks: whole games with centipawns, 4 bytes a ply",
        endings: &["montyvalue"],
        carries: POSITION.and(Capabilities::CLOCKS).and(PLAYED).and(Capabilities::SCORE),
        needs: Capabilities::SCORE.and(Capabilities::MOVE),
        refuses: Capabilities::NONE,
        score: Some(OF_WHITE),
        note: "Where positions of a game are missing, each piece of it is written as a game of its own.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(monty::Reader::new(input, false)?))),
        write: Some(Write::Stream(|out, _, _| Ok(monty::writer(out, false)))),
        append: None,
    },
    Format {
        name: "binpack",
        doc: "Stockfish's binpack: chains of moves and scores, about 2 bytes a ply",
        endings: &["binpack"],
        carries: POSITION
            .without(Capabilities::CHESS960)
            .and(Capabilities::CLOCKS)
            .and(PLAYED)
            .and(Capabilities::SCORE)
            .and(Capabilities::NO_SCORE),
        needs: Capabilities::MOVE,
        refuses: Capabilities::CHESS960,
        score: Some(OF_STOCKFISH),
        note: "Its ply comes from the move number. No score is 32002; move numbers end at 8192.",
        dialect: None,
        companion: true,
        recognise: Some(|head| head.starts_with(binpack::MAGIC)),
        read: Read::Stream(|input| Ok(Box::new(binpack::Reader::new(input)))),
        write: Some(Write::Stream(|out, _, _| Ok(Box::new(binpack::Writer::new(out))))),
        append: Some(|records, _| binpack::encode(records)),
    },
    Format {
        name: "bin",
        doc: "Stockfish's .bin: 40 bytes a position (PackedSfen), with its move",
        endings: &["bin"],
        carries: POSITION
            .without(Capabilities::CHESS960)
            .and(Capabilities::CLOCKS)
            .and(PLAYED)
            .and(Capabilities::SCORE)
            .and(Capabilities::NO_SCORE),
        needs: Capabilities::NONE,
        refuses: Capabilities::CHESS960,
        score: Some(OF_STOCKFISH),
        note: "Its ply comes from the move number. No score is 32002; halfmove clocks end at 127.",
        dialect: None,
        companion: true,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(sfbin::Reader::new(input)))),
        write: Some(Write::Stream(|out, _, _| Ok(Box::new(sfbin::Writer::new(out))))),
        append: None,
    },
    Format {
        name: "plain",
        doc: "Stockfish's text: fen, move, score, ply and result on lines of their own",
        endings: &["plain"],
        carries: POSITION
            .and(Capabilities::CLOCKS)
            .and(PLAYED)
            .and(Capabilities::SCORE)
            .and(Capabilities::NO_SCORE),
        needs: Capabilities::MOVE,
        refuses: Capabilities::NONE,
        score: Some(OF_STOCKFISH),
        note: "Its ply comes from the move number. No score is 32002.",
        dialect: None,
        companion: false,
        recognise: Some(|head| patzer_io::without_byte_order_mark(head).starts_with(b"fen ")),
        read: Read::Stream(|input| Ok(Box::new(sfplain::Reader::new(input)))),
        write: Some(Write::Stream(|out, _, _| Ok(Box::new(sfplain::Writer::new(out))))),
        append: None,
    },
    Format {
        name: "jsonl",
        doc: "JSON lines with a FEN each, such as Lichess's evaluations (`lichess_db_eval.jsonl.zst`)",
        endings: &["jsonl", "ndjson"],
        carries: TABLE,
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: Some(OF_COLUMNS),
        note: "Read only. Of Lichess's evaluations the deepest counts. Keys are named as the columns of CSV.",
        dialect: None,
        companion: false,
        recognise: Some(jsonl::recognise),
        read: Read::Stream(|input| Ok(Box::new(jsonl::Reader::new(input)?))),
        write: None,
        append: None,
    },
    Format {
        name: "table",
        doc: "a Parquet table with a column of FENs, such as Lichess's positions on Hugging Face",
        endings: &[],
        carries: TABLE,
        needs: Capabilities::NONE,
        refuses: Capabilities::NONE,
        score: Some(OF_COLUMNS),
        note: "Read only. Columns are named as those of CSV.",
        dialect: None,
        companion: false,
        recognise: None,
        read: Read::Table,
        write: None,
        append: None,
    },
];

pub fn native() -> &'static Format {
    &FORMATS[0]
}

pub fn named(name: &str) -> Result<&'static Format> {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let named = FORMATS.iter().find(|format| format.name == name || format.endings.contains(&name));
    named.ok_or_else(|| {
        let near = patzer_io::did_you_mean(name, known.iter().copied());
        Error::usage(format!("no format is called {name}; there are {}{near}", known.join(", ")))
    })
}

/// Finds a format by file name; `.zst`, `.gz` and `.bz2` after the ending are ignored.
pub fn of_path(path: &Path) -> Option<&'static Format> {
    let name = if packing(path).is_some() { path.file_stem()? } else { path.file_name()? };
    // The ending counts alone: what comes before it need not be UTF-8.
    let name = name.to_string_lossy().to_ascii_lowercase();
    let ending = name.rsplit_once('.')?.1;
    FORMATS.iter().find(|format| format.endings.contains(&ending))
}

/// Tests whether a name has an ending that could name a format; that of a compression does not.
pub fn has_ending(path: &Path) -> bool {
    let name = if packing(path).is_some() { path.file_stem() } else { path.file_name() };
    name.is_some_and(|name| Path::new(name).extension().is_some())
}

/// Every format that is written.
pub fn written() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.write.is_some())
}

/// Lists every ending of an output.
pub fn endings() -> String {
    let endings = written().flat_map(|format| format.endings);
    endings.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(" ")
}

pub fn of_dialect(dialect: Dialect) -> Option<&'static Format> {
    let dialect = match dialect {
        Dialect::Quoted => Dialect::Bracket,
        Dialect::Leaf => Dialect::Pipe,
        other => other,
    };
    FORMATS.iter().find(|format| format.dialect == Some(dialect))
}

pub fn of_content(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.recognise.is_some_and(|recognise| recognise(head)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::score;

    #[test]
    fn every_row_that_carries_scores_states_them() {
        for format in FORMATS {
            let carries = format.carries.contains(Capabilities::SCORE);
            assert_eq!(format.score.is_some(), carries, "{}", format.name);
            let Some(form) = format.score else { continue };
            for score in -score::MATE as i16..=score::MATE as i16 {
                let back = form.read_back(score);
                assert!(back.abs() <= form.limit && form.read_back(back) == back, "{}: {score}", format.name);
            }
        }
    }

    #[test]
    fn games_that_are_appended_are_read_as_those_of_one_file() {
        let start = shakmaty::Chess::default();
        let m = shakmaty::Position::legal_moves(&start)[0];
        let game = |number| crate::game_records(&start, number, 1, [(m, Some(5))].into_iter());
        for (format, append) in FORMATS.iter().filter_map(|format| Some((format, format.append?))) {
            let Read::Stream(open) = format.read else { panic!("{}", format.name) };
            let bytes = [append(&game(0), &[]), append(&[game(1), game(2)].concat(), &[])].concat();
            let input = Input::of(Path::new("x"), Box::new(std::io::Cursor::new(bytes)));
            let mut records = Vec::new();
            input.and_then(open).unwrap().next_batch(&mut records).unwrap();
            assert_eq!(records, [game(0), game(1), game(2)].concat(), "{}", format.name);
        }
    }
}
