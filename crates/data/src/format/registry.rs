//! The table of formats: what each is called, how it is recognised, what it carries, how it is read and written.
//!
//! In: a name, a path or the first bytes of a file. Out: a row. The same table makes the help texts and the tables of
//! the documents, and the property tests go over its rows.

use std::path::Path;

use super::any::{PositionReader, PositionWriter, Target};
use super::epd::Dialect;
use super::facts::{FACTS, Facts};
use super::metadata::Metadata;
use super::stream::{Input, Packed};
use super::{binpack, bullet, csv, epd, parquet, sfplain, viri};
use patzer_io::error::{Error, Result};

/// How a format is read.
pub enum Read {
    /// By a reader that needs the whole file at once.
    Dataset,
    /// As a stream.
    Stream(fn(Input) -> Result<Box<dyn PositionReader>>),
}

/// One format of positions.
pub struct Format {
    /// Its name, for `--format`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The endings of file names that mean it, without the dot.
    pub endings: &'static [&'static str],
    /// What it carries of a position beside the pieces and the result.
    pub carries: Facts,
    /// What a position must have to be written.
    pub needs: Facts,
    /// What a position must not have to be written.
    pub refuses: Facts,
    /// What else there is to know, for the documents.
    pub note: &'static str,
    /// How its lines say the result, if it is text that can say it in several ways.
    pub dialect: Option<Dialect>,
    /// Whether the first bytes of a file are of this format; `None` if they cannot say.
    pub recognise: Option<fn(&[u8]) -> bool>,
    /// How it is read.
    pub read: Read,
    /// How it is written.
    pub write: fn(&Path, &Target, &Metadata) -> Result<Box<dyn PositionWriter>>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const POSITION: Facts = Facts::TURN.and(Facts::CASTLING).and(Facts::CHESS960).and(Facts::EP);
const CLOCKS: Facts = Facts::HALFMOVE.and(Facts::FULLMOVE);
const PLAYED: Facts = Facts::MOVE.and(Facts::DISTANCES).and(Facts::GAME);

/// Every format. The native one is first.
pub static FORMATS: &[Format] = &[
    Format {
        name: "parquet",
        doc: "the native dataset, which DuckDB, Spark and DataFusion read as it is",
        endings: &["parquet"],
        carries: Facts::ALL,
        needs: Facts::NONE,
        refuses: Facts::NONE,
        note: "Also says where the positions come from and which filters they have passed.",
        dialect: None,
        recognise: Some(|head| head.starts_with(b"PAR1")),
        read: Read::Dataset,
        write: |path, _, metadata| Ok(Box::new(parquet::Writer::create(path, metadata.clone())?)),
    },
    Format {
        name: "csv",
        doc: "text with commas, a column a fact",
        endings: &["csv"],
        carries: Facts::ALL,
        needs: Facts::NONE,
        refuses: Facts::NONE,
        note: "Reading needs the columns `fen` and `result`; the others may be missing.",
        dialect: None,
        recognise: Some(csv::recognise),
        read: Read::Stream(|input| Ok(Box::new(csv::Reader::new(input)?))),
        write: |path, _, metadata| {
            Ok(Box::new(csv::Writer::new(Packed::create(path)?, metadata.resolved.is_some())))
        },
    },
    Format {
        name: "epd",
        doc: "a FEN with the result a line, in the dialects of `--dialect`",
        endings: &["epd"],
        carries: POSITION,
        needs: Facts::NONE,
        refuses: Facts::NONE,
        note: "All dialects are read, also mixed; written is `c9`, unless `--dialect` says otherwise.",
        dialect: Some(Dialect::C9),
        recognise: Some(epd::recognise),
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: |path, target, _| {
            let dialect = target.dialect.unwrap_or(Dialect::C9);
            Ok(Box::new(epd::Writer::new(Packed::create(path)?, dialect)))
        },
    },
    Format {
        name: "fen",
        doc: "a whole FEN with the result a line: `FEN [0.5]`",
        endings: &["fen", "fens", "book"],
        carries: POSITION.and(CLOCKS),
        needs: Facts::NONE,
        refuses: Facts::NONE,
        note: "The format `epd` in the dialect `bracket`.",
        dialect: Some(Dialect::Bracket),
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: |path, target, _| {
            let dialect = target.dialect.unwrap_or(Dialect::Bracket);
            Ok(Box::new(epd::Writer::new(Packed::create(path)?, dialect)))
        },
    },
    Format {
        name: "text",
        doc: "the trainer bullet's text: `FEN | score | 0.5`",
        endings: &["txt"],
        carries: POSITION.and(CLOCKS).and(Facts::SCORE),
        needs: Facts::SCORE,
        refuses: Facts::NONE,
        note: "The format `epd` in the dialect `pipe`.",
        dialect: Some(Dialect::Pipe),
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(epd::Reader::new(input)))),
        write: |path, target, _| {
            let dialect = target.dialect.unwrap_or(Dialect::Pipe);
            Ok(Box::new(epd::Writer::new(Packed::create(path)?, dialect)))
        },
    },
    Format {
        name: "bullet",
        doc: "bulletformat: 32 bytes a position, for the trainer bullet",
        endings: &["bullet", "bf", "data"],
        carries: Facts::SCORE,
        needs: Facts::SCORE,
        refuses: Facts::NONE,
        note: "The side to move is always White: boards with Black to move are turned, and results with them.",
        dialect: None,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(bullet::Reader::new(input)))),
        write: |path, _, _| Ok(Box::new(bullet::Writer::new(Packed::create(path)?))),
    },
    Format {
        name: "viri",
        doc: "viriformat: whole games, 4 bytes a ply",
        endings: &["viri", "vf", "viriformat"],
        carries: POSITION.and(CLOCKS).and(PLAYED).and(Facts::SCORE),
        needs: Facts::SCORE.and(Facts::MOVE),
        refuses: Facts::NONE,
        note: "Where positions of a game are missing, each piece of it is written as a game of its own.",
        dialect: None,
        recognise: None,
        read: Read::Stream(|input| Ok(Box::new(viri::Reader::new(input)))),
        write: |path, _, _| Ok(Box::new(viri::Writer::new(Packed::create(path)?))),
    },
    Format {
        name: "binpack",
        doc: "Stockfish's binpack: chains of moves and scores, about 2 bytes a ply",
        endings: &["binpack"],
        carries: POSITION
            .without(Facts::CHESS960)
            .and(CLOCKS)
            .and(PLAYED)
            .and(Facts::SCORE)
            .and(Facts::NO_SCORE),
        needs: Facts::MOVE,
        refuses: Facts::CHESS960,
        note: "Its ply comes from the move number. No score is 32002; move numbers end at 8192.",
        dialect: None,
        recognise: Some(|head| head.starts_with(binpack::MAGIC)),
        read: Read::Stream(|input| Ok(Box::new(binpack::Reader::new(input)))),
        write: |path, _, _| Ok(Box::new(binpack::Writer::new(Packed::create(path)?))),
    },
    Format {
        name: "plain",
        doc: "Stockfish's text: fen, move, score, ply and result on lines of their own",
        endings: &["plain"],
        carries: POSITION.and(CLOCKS).and(PLAYED).and(Facts::SCORE).and(Facts::NO_SCORE),
        needs: Facts::MOVE,
        refuses: Facts::NONE,
        note: "Its ply comes from the move number. No score is 32002.",
        dialect: None,
        recognise: Some(|head| head.starts_with(b"fen ") || head.starts_with(b"\xef\xbb\xbffen ")),
        read: Read::Stream(|input| Ok(Box::new(sfplain::Reader::new(input)))),
        write: |path, _, _| Ok(Box::new(sfplain::Writer::new(Packed::create(path)?))),
    },
];

/// The native format.
pub fn native() -> &'static Format {
    &FORMATS[0]
}

/// The format with this name or file ending.
///
/// # Errors
/// If there is none, with the names that there are.
pub fn named(name: &str) -> Result<&'static Format> {
    let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let named = FORMATS.iter().find(|format| format.name == name || format.endings.contains(&name));
    named.ok_or_else(|| Error::usage(format!("no format is called {name}; there are {}", known())))
}

/// The format that the ending of a file's name means; `.zst`, `.gz` and `.bz2` behind it do not matter.
pub fn of_path(path: &Path) -> Option<&'static Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = [".zst", ".gz", ".bz2"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(&name);
    let ending = name.rsplit_once('.')?.1;
    FORMATS.iter().find(|format| format.endings.contains(&ending))
}

/// The text format whose lines say the result so, and carry what such lines do.
pub fn of_dialect(dialect: Dialect) -> Option<&'static Format> {
    let dialect = if dialect == Dialect::Quoted { Dialect::Bracket } else { dialect };
    FORMATS.iter().find(|format| format.dialect == Some(dialect))
}

/// The format that the first bytes of a file show.
pub fn of_content(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.recognise.is_some_and(|recognise| recognise(head)))
}

/// The formats with their endings, as `--help` lists them.
pub fn help() -> String {
    let line = |format: &Format| {
        let endings: Vec<String> = format.endings.iter().map(|ending| format!(".{ending}")).collect();
        format!("  {:<9}{} ({})\n", format.name, format.doc, endings.join(", "))
    };
    format!("Formats:\n{}", FORMATS.iter().map(line).collect::<String>())
}

/// Two tables in Markdown, of the formats and of what they carry, as docs/formats.md has them.
pub fn markdown() -> String {
    let mut text = "| format | endings | what it is |\n|---|---|---|\n".to_string();
    for format in FORMATS {
        let endings: Vec<String> = format.endings.iter().map(|ending| format!("`.{ending}`")).collect();
        // A bar inside a cell would end it.
        let what = format!("{}. {}", format.doc, format.note).replace('|', "\\|");
        text += &format!("| `{}` | {} | {what} |\n", format.name, endings.join(" "));
    }
    text += "\n| fact |";
    FORMATS.iter().for_each(|format| text += &format!(" {} |", format.name));
    text += &format!("\n|---|{}\n", "---|".repeat(FORMATS.len()));
    for row in FACTS {
        text += &format!("| {}: {} |", row.name, row.doc);
        for format in FORMATS {
            text += match () {
                () if format.refuses.contains(row.fact) => " refused |",
                () if format.needs.contains(row.fact) => " needed |",
                () if format.carries.contains(row.fact) => " yes |",
                () => " |",
            };
        }
        text.push('\n');
    }
    text
}
