//! Reader thread: decompresses PGN files and sends chunks of whole games in file order.
//!
//! Chunks do not depend on the number of threads that parse them; the channel bounds how many wait.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::game::GameError;
use super::split::{GameSpan, GameSplitter};
use patzer_io::error::{Error, Hint, Result};
use patzer_io::{Digest, interrupt};

/// Chunk size in bytes: small enough that a chunk's records fit the second-level cache and that allocators reuse the
/// memory.
const CHUNK: usize = 1 << 16;

/// Longest game in bytes; anything longer is not PGN.
const LONGEST_GAME: usize = 1 << 26;

/// Consecutive games of one file.
#[derive(Debug)]
pub struct Chunk {
    pub file: usize,
    /// Number of the chunk's first game in its file, from 1.
    pub first: u64,
    /// Number of the chunk's first game in all files, from 0.
    pub number: u64,
    /// Text that `games` index.
    pub text: Vec<u8>,
    pub games: Vec<GameSpan>,
    /// Set if the last game is incomplete because the file could not be read further.
    pub truncated: bool,
}

impl Chunk {
    /// The error of the game at an index of the chunk, if the file breaks off in it.
    pub fn cut(&self, index: usize) -> Option<GameError> {
        let line = self.games[index].line;
        let cut = self.truncated && index + 1 == self.games.len();
        cut.then(|| GameError { line, fault_line: line, reason: "the file breaks off in it".into() })
    }
}

/// A message from the reader thread. SHA-256 sums are hexadecimal, of the file's bytes on disk, and empty unless
/// requested. The last, truncated game of a broken file comes in a chunk before [`Event::Broken`].
#[derive(Debug)]
pub enum Event {
    Chunk(Chunk),
    /// The end of a file; `grew` if it was longer than when it was opened.
    End {
        file: usize,
        sha256: String,
        bytes: u64,
        grew: bool,
    },
    Failed(Error),
    Broken {
        file: usize,
        error: Error,
        sha256: String,
        bytes: u64,
    },
}

pub struct Reader {
    events: Receiver<Event>,
    bytes: Arc<AtomicU64>,
    /// Number of files without an end or failure so far.
    files: usize,
    /// The thread, joined after the last file or a panic. Until then it may wait for a pipe.
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts the thread. `hashed` adds the SHA-256 of each file, which would cost `patzer rate` a third more time.
    pub fn start(files: Vec<PathBuf>, hashed: bool) -> Result<Reader> {
        let (sender, events) = sync_channel(64);
        let bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&bytes);
        let count = files.len();
        let thread = std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || {
                let mut games = 0;
                for (file, path) in files.iter().enumerate() {
                    if read_file(file, path, hashed, &mut games, &counter, &sender).is_err() {
                        return;
                    }
                }
            })
            .map_err(Error::thread)?;
        Ok(Reader { events, bytes, files: count, thread: Some(thread) })
    }

    /// Waits for the next event; `None` after the last file, or after an interruption.
    ///
    /// # Panics
    /// If the reader thread did.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            match self.events.recv_timeout(std::time::Duration::from_millis(100)) {
                Ok(event) => {
                    self.files -= usize::from(!matches!(event, Event::Chunk(_)));
                    if self.files == 0 {
                        self.join();
                    }
                    return Some(event);
                }
                Err(RecvTimeoutError::Timeout) if patzer_io::interrupt::requested() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.join();
                    return None;
                }
            }
        }
    }

    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

struct Disconnected;

fn read_file(
    file: usize,
    path: &Path,
    hashed: bool,
    games: &mut u64,
    bytes: &Arc<AtomicU64>,
    sender: &SyncSender<Event>,
) -> std::result::Result<(), Disconnected> {
    let send = |event| sender.send(event).map_err(|_| Disconnected);
    let digest = Digest::new(Arc::clone(bytes), hashed);
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    let size = about.map_or(0, |about| about.len());
    let text = match open(path, &digest) {
        Ok(text) => text,
        // After an interruption, errors of reading do not matter.
        Err(_) if interrupt::requested() => return Err(Disconnected),
        Err(error) => return send(Event::Failed(error)),
    };
    let outcome = split_file(file, path, games, text, sender)?;
    let (sha256, bytes) = digest.so_far();
    send(match outcome {
        Ok(()) => Event::End { file, sha256, bytes, grew: size > 0 && bytes > size },
        Err(error) => Event::Broken { file, error, sha256, bytes },
    })
}

fn split_file(
    file: usize,
    path: &Path,
    total: &mut u64,
    mut text: Box<dyn BufRead + Send>,
    sender: &SyncSender<Event>,
) -> std::result::Result<Result<()>, Disconnected> {
    let mut splitter = GameSplitter::new();
    let (mut games, mut read) = (0, 0u64);
    let mut outcome = Ok(());
    loop {
        let arrived = match text.fill_buf() {
            Ok(arrived) => arrived,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) if interrupt::requested() => return Err(Disconnected),
            Err(e) => {
                outcome = Err(ends_early(path, &e, read, games + splitter.waiting() as u64, &splitter));
                &[]
            }
        };
        let length = arrived.len().min(CHUNK);
        if splitter.text().is_empty() {
            splitter.text().reserve(2 * CHUNK);
        }
        splitter.text().extend_from_slice(&arrived[..length]);
        text.consume(length);
        read += length as u64;
        let mut last = length == 0;
        splitter.scan(last);
        if !last && splitter.unfinished() > LONGEST_GAME {
            let line = splitter.unfinished_line().unwrap_or(1);
            let reason = "a game of more than 64 MiB; is this PGN?";
            outcome = Err(Error::at(path, format!("line {line}"), reason));
            last = true;
            splitter.scan(last);
        }
        if splitter.finished() >= CHUNK || (last && splitter.finished() > 0) {
            let (text, spans) = splitter.take();
            let count = spans.len() as u64;
            let truncated = outcome.is_err();
            let chunk = Chunk { file, first: games + 1, number: *total, text, games: spans, truncated };
            games += count;
            *total += count;
            sender.send(Event::Chunk(chunk)).map_err(|_| Disconnected)?;
        }
        if last {
            return Ok(outcome);
        }
    }
}

fn ends_early(path: &Path, error: &std::io::Error, read: u64, games: u64, splitter: &GameSplitter) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let what = match error.kind() {
        UnexpectedEof => "the compressed stream ends early".to_string(),
        InvalidData | InvalidInput | Other => format!("the compressed stream is damaged ({error})"),
        _ => format!("cannot be read further ({error})"),
    };
    let start = read - splitter.unfinished() as u64;
    let game = match splitter.unfinished_line() {
        Some(_) => format!("; game {} began at byte {start}", games + 1),
        None => String::new(),
    };
    Error::data(path, format!("{what} at byte {read} of the text ({games} whole games before it{game})"))
}

/// Opens a file, or standard input for `-`, and the files in a tar archive; its bytes on disk go through the digest.
fn open(path: &Path, digest: &Digest) -> Result<Box<dyn BufRead + Send>> {
    let mut text =
        patzer_io::decompressed(digest.reader(patzer_io::raw(path)?)).map_err(|e| Error::io(path, e))?;
    // Report an error now: after it, a decoder may claim the end of the text.
    let ends_at_once = |e: std::io::Error| ends_early(path, &e, 0, 0, &GameSplitter::new());
    if patzer_io::is_tar(text.fill_buf().map_err(ends_at_once)?) {
        text = patzer_io::tar_files(text);
    }
    match text.fill_buf().map_err(ends_at_once)? {
        [] => Err(Error::data(path, "is empty")),
        head => match patzer_io::archive(path, head).or_else(|| no_pgn(path, head)) {
            Some(error) => Err(error),
            None => Ok(text),
        },
    }
}

/// Error of a file whose beginning is plainly no PGN.
fn no_pgn(path: &Path, head: &[u8]) -> Option<Error> {
    let lone = |at: usize| head.get(at + 1).is_some_and(|next| *next != b'\n');
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some(Error::data(path, "is text in UTF-16; make it UTF-8, as with `iconv -f UTF-16 -t UTF-8`"))
        }
        [b'P', b'A', b'R', b'1', ..] => {
            Some(Error::data(path, "holds positions (parquet), not games in PGN").hint(Hint::ReadAsDataset))
        }
        _ if !head.contains(&b'\n') && memchr::memchr_iter(b'\r', head).any(lone) => Some(Error::data(
            path,
            "has lines that end in a carriage return alone; change them, as with `tr '\\r' '\\n'`",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plainly_no_pgn_is_named_by_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        for (head, part) in [
            (&b"\xff\xfe[\0E\0"[..], "UTF-16"),
            (b"\xfe\xff\0[\0E", "UTF-16"),
            (b"PAR1\x15\x04", "holds positions (parquet)"),
            (b"[Event \"x\"]\r[Site \"y\"]\r\r1. e4 *\r", "a carriage return alone"),
        ] {
            std::fs::write(&path, head).unwrap();
            let mut reader = Reader::start(vec![path.clone()], false).unwrap();
            let Some(Event::Failed(error)) = reader.next_event() else { panic!("{part}") };
            assert!(error.to_string().contains(part), "{error}");
        }
        for head in [&b"[Event \"x\"]\r\n1. e4\r*"[..], b"[Event \"x\"]\r", b"1. e4 *"] {
            assert!(no_pgn(&path, head).is_none());
        }
    }

    /// The last event of a file of 8 MB whose length changes while the reader waits for the channel.
    fn last_event(length: u64) -> Event {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        let game = b"[Event \"x\"]\n\n1. e4 *\n\n";
        std::fs::write(&path, game.repeat(8_000_000 / game.len())).unwrap();
        let mut reader = Reader::start(vec![path.clone()], false).unwrap();
        assert!(matches!(reader.next_event(), Some(Event::Chunk(_))));
        std::fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        std::iter::from_fn(|| reader.next_event()).last().unwrap()
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_noticed() {
        let Event::Broken { error, .. } = last_event(7_500_000) else { panic!("no damage") };
        let error = error.to_string();
        assert!(error.contains("shrank from 7999992 to 7500000 bytes while it was read"), "{error}");
        assert!(matches!(last_event(8_500_000), Event::End { grew: true, .. }));
        assert!(matches!(last_event(7_999_992), Event::End { grew: false, .. }));
    }

    #[test]
    fn the_thread_has_ended_with_the_last_file_that_can_be_read_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, games) = (folder.path().join("missing.pgn"), folder.path().join("games.pgn"));
        std::fs::write(&games, "1. e4 *\n").unwrap();
        let ended = |files: &[&PathBuf]| {
            let mut reader = Reader::start(files.iter().copied().cloned().collect(), false).unwrap();
            std::iter::from_fn(|| reader.next_event().map(|_| reader.thread.is_none())).collect::<Vec<_>>()
        };
        assert_eq!(ended(&[&missing]), [true]);
        assert_eq!(ended(&[&missing, &games]), [false, false, true]);
        assert_eq!(ended(&[&games, &missing]), [false, false, true]);
    }
}
