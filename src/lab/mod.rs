//! The book of the lab: every run in a folder with a `patzer.lab`, listed, annotated and followed back.

mod session;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::named::named;
use crate::{Error, Result, Status, Ui};
use patzer_io::date::moment;
use patzer_io::number::counted;
use patzer_report::lab::{
    Book, Entry, FILE, FileRecord, Note, TableFormat, chain, compare, short, table, tree,
};
pub use session::Session;

const EXAMPLES: &str = "Examples:\n  \
    patzer lab init                        begin a book here: runs in this folder and below are noted from now on\n  \
    patzer lab list --kind sprt            all tests, with their results\n  \
    patzer lab compare --of train.parquet  trainings by the settings in which they differ, with their tests\n  \
    patzer lab note 3f9a \"too few games\"   a remark about a run, by the beginning of its id\n  \
    patzer lab tree new.nnue               where a network comes from, back to the games, and its tests\n  \
    patzer lab elo new.nnue                generation on generation, added up with their errors\n  \
    patzer lab list --format markdown      for a repository; also csv and html\n  \
    patzer lab merge ../other/patzer.lab   take in another machine's book";

/// Keep the book of all runs: which files, which command, what result
///
/// Where a folder or one above it has the file patzer.lab, each run that writes something appends a line of JSON: its
/// command, files with digests, machine, time and result.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Begin a book
    Init {
        /// Folder of the book
        #[arg(value_name = "FOLDER", default_value = ".")]
        folder: PathBuf,
    },
    /// List runs, with their files and results
    List(ListArgs),
    /// Put runs of a command side by side, by the settings in which they differ
    Compare(CompareArgs),
    /// Show a run with all that the book has of it
    Show {
        /// Beginning of the run's id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Add a remark to a run
    Note {
        /// Beginning of the run's id
        #[arg(value_name = "ID")]
        id: String,

        /// The remark
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Show where a file comes from, back to the games, and its tests
    Tree {
        /// The file, as it is now, or its name or digest in the book
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Add up the Elo of a network's tests against its predecessors
    Elo {
        /// The file, as it is now, or its name or digest in the book
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Take in the runs of other books
    Merge {
        /// Books of other machines or folders
        #[arg(value_name = "BOOK", required = true)]
        books: Vec<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only runs of this command
    #[arg(long, value_name = "COMMAND")]
    kind: Option<String>,

    #[command(flatten)]
    selection: Selection,
}

#[derive(Debug, clap::Args)]
struct CompareArgs {
    /// Command whose runs are compared
    #[arg(value_name = "COMMAND", default_value = "tune")]
    kind: String,

    #[command(flatten)]
    selection: Selection,
}

#[derive(Debug, clap::Args)]
struct Selection {
    /// Only runs that read or wrote this file, by its name or digest in the book
    #[arg(long, value_name = "FILE")]
    of: Option<String>,

    /// Only runs from this day on
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<String>,

    /// Format to write, of a table
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = named::<TableFormat>())]
    format: TableFormat,
}

pub fn run(args: &LabArgs, ui: &Ui) -> Result<Status> {
    match &args.command {
        Command::Init { folder } => init(folder, ui),
        Command::List(args) => list(&open(ui)?.1, args, ui),
        Command::Compare(args) => compared(&open(ui)?.1, args, ui),
        Command::Show { id } => {
            let (_, book) = open(ui)?;
            show(&book, book.entry(id)?, ui)
        }
        Command::Note { id, text } => {
            let (path, book) = open(ui)?;
            let of = book.entry(id)?.id.clone();
            let note = Note { of, time: moment(SystemTime::now()), note: text.clone() };
            Book { notes: vec![note], ..Book::default() }.append(&path).map(|()| Status::Done)
        }
        Command::Tree { file } => {
            let (path, book) = open(ui)?;
            ui.result(&tree(&book, &digest(&book, &path, file)?))
        }
        Command::Elo { file } => {
            let (path, book) = open(ui)?;
            ui.result(&chain(&book, &digest(&book, &path, file)?))
        }
        Command::Merge { books } => merge(books, ui),
    }
}

/// The book's file and its content.
fn open(ui: &Ui) -> Result<(PathBuf, Book)> {
    let path = session::book(ui.lab.as_deref())?.ok_or_else(|| {
        Error::input(format!("there is no {FILE} in this folder or above it; `patzer lab init` begins one"))
    })?;
    let book = Book::read(&path)?;
    Ok((path, book))
}

fn init(folder: &Path, ui: &Ui) -> Result<Status> {
    let path = folder.join(FILE);
    if path.exists() {
        return Err(Error::data(path, "is there already"));
    }
    patzer_io::create_folder(folder)?;
    patzer_io::write(&path, b"")?;
    ui.note(format!("runs in this folder and below it are noted in {}", path.display()));
    Ok(Status::Done)
}

/// Digest of a file as it is now, or as the book has it by its name.
fn digest(book: &Book, path: &Path, file: &str) -> Result<String> {
    if Path::new(file).is_file() {
        return Ok(FileRecord::of(Path::new(file), path.parent().unwrap_or(Path::new("")))?.digest);
    }
    book.digest(file)
        .ok_or_else(|| Error::input(format!("{file} is no file, and the book has none of this name")))
}

impl Selection {
    /// Runs of a command, or of all, in the order of their begin.
    fn entries<'a>(&self, book: &'a Book, kind: Option<&str>) -> Result<Vec<&'a Entry>> {
        let of = self.of.as_deref().map(|file| {
            book.digest(file).ok_or_else(|| Error::setting("of", file, "the book has no file of this name"))
        });
        let of = of.transpose()?;
        let is_of = |entry: &&Entry| {
            of.as_ref().is_none_or(|digest| {
                entry.read.iter().chain(&entry.written).any(|file| file.digest == *digest)
            })
        };
        let is_kind = |entry: &&Entry| kind.is_none_or(|kind| entry.kind == kind);
        let is_since = |entry: &&Entry| self.since.as_ref().is_none_or(|day| entry.time >= *day);
        let mut entries: Vec<&Entry> =
            book.entries.iter().filter(is_kind).filter(is_of).filter(is_since).collect();
        // Books of several machines follow each other in the file.
        entries.sort_by(|a, b| a.time.cmp(&b.time));
        Ok(entries)
    }
}

fn list(book: &Book, args: &ListArgs, ui: &Ui) -> Result<Status> {
    let entries = args.selection.entries(book, args.kind.as_deref())?;
    if ui.json {
        return ui.result(&Listed { runs: entries.iter().map(|entry| Shown::of(book, entry)).collect() });
    }
    ui.line(&table(book, &entries, args.selection.format)?).map(|()| Status::Done)
}

fn compared(book: &Book, args: &CompareArgs, ui: &Ui) -> Result<Status> {
    let comparison = compare(book, &args.selection.entries(book, Some(&args.kind))?);
    if ui.json {
        return ui.result(&comparison);
    }
    ui.line(&comparison.table(args.selection.format)?).map(|()| Status::Done)
}

fn show(book: &Book, entry: &Entry, ui: &Ui) -> Result<Status> {
    let shown = Shown::of(book, entry);
    if ui.json {
        return ui.result(&shown);
    }
    let text = serde_json::to_string_pretty(&shown).map_err(|e| Error::internal(e.to_string()))?;
    ui.line(&text).map(|()| Status::Done)
}

fn merge(books: &[PathBuf], ui: &Ui) -> Result<Status> {
    let (path, mut book) = open(ui)?;
    let mut taken = Book::default();
    for other in books {
        let new = book.missing(&Book::read(other)?);
        book.extend(new.clone());
        taken.extend(new);
    }
    taken.append(&path)?;
    let counts = [(taken.entries.len(), "run"), (taken.notes.len(), "note")];
    let [runs, notes] = counts.map(|(count, what)| counted(count as u64, what));
    ui.note(format!("taken in: {runs} and {notes}"));
    Ok(Status::Done)
}

/// A run with its notes.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    /// The result in a few words.
    short: String,
    notes: Vec<&'a str>,
}

impl<'a> Shown<'a> {
    fn of(book: &'a Book, entry: &'a Entry) -> Shown<'a> {
        Shown { entry, short: short(entry), notes: book.notes_of(&entry.id).collect() }
    }
}

#[derive(Serialize)]
struct Listed<'a> {
    runs: Vec<Shown<'a>>,
}

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", counted(self.runs.len() as u64, "run"))
    }
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.short)
    }
}
