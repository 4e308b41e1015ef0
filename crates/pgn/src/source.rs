//! Reads files of games on a thread of its own.
//!
//! In: files, plain or compressed. Out: [`Event`]s in the order of the files: chunks of whole games, and how each
//! file ended. Nothing here depends on how many threads parse the chunks, and at most a few chunks wait at a time.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

use super::split::{GameSpan, GameSplitter};
use patzer_io::error::{Error, Result};

/// Text of whole games to collect before it is handed on, in bytes. Small enough that what a chunk is parsed to lies
/// in a processor's second cache, and that allocators keep such memory.
const CHUNK: usize = 1 << 16;

/// The longest game that is believed to be one, in bytes.
const LONGEST_GAME: usize = 1 << 28;

/// Whole games from one file.
#[derive(Debug)]
pub struct Chunk {
    /// Index of the file.
    pub file: usize,
    /// Number of the chunk's first game in its file, from 1.
    pub first: u64,
    /// Number of the chunk's first game in all files, from 0.
    pub number: u64,
    /// The bytes that `games` point into.
    pub text: Vec<u8>,
    /// Where the games are.
    pub games: Vec<GameSpan>,
    /// The last of the games ends where the file could not be read further.
    pub cut_short: bool,
}

/// What the reading thread tells.
#[derive(Debug)]
pub enum Event {
    /// Some games.
    Chunk(Chunk),
    /// A file was read to its end; its SHA-256 as it lies on disk, in hexadecimal.
    End {
        /// Index of the file.
        file: usize,
        /// SHA-256 of its bytes.
        sha256: String,
    },
    /// A file could not be opened, or holds nothing.
    Failed(Error),
    /// A file could not be read to its end. Its last game, cut short, comes as a chunk before this.
    Broken {
        /// Index of the file.
        file: usize,
        /// Why, where and after which game.
        error: Error,
        /// SHA-256 of the bytes that could be read.
        sha256: String,
    },
}

/// Reads files in order on a thread of its own.
pub struct Reader {
    events: Receiver<Event>,
    bytes: Arc<AtomicU64>,
}

impl Reader {
    /// Starts to read.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(files: Vec<PathBuf>) -> Result<Reader> {
        let (sender, events) = sync_channel(64);
        let bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&bytes);
        std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || {
                let mut games = 0;
                for (file, path) in files.iter().enumerate() {
                    if read_file(file, path, &mut games, &counter, &sender).is_err() {
                        return; // Nobody listens any more.
                    }
                }
            })
            .map_err(|e| Error::internal(format!("no thread to read with: {e}")))?;
        Ok(Reader { events, bytes })
    }

    /// The next event; `None` after the last file. Waits for it.
    pub fn next_event(&self) -> Option<Event> {
        loop {
            match self.events.recv_timeout(std::time::Duration::from_millis(100)) {
                Ok(event) => return Some(event),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) if patzer_io::interrupt::requested() => {
                    return None;
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// How many bytes of the files, as they lie on disk, have been read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Nobody listens to the events any more.
struct Gone;

/// Reads one file; an error in it is an event like any other.
fn read_file(
    file: usize,
    path: &Path,
    games: &mut u64,
    bytes: &Arc<AtomicU64>,
    sender: &SyncSender<Event>,
) -> std::result::Result<(), Gone> {
    let send = |event| sender.send(event).map_err(|_| Gone);
    let hash = Arc::new(Mutex::new(Sha256::new()));
    let text = match open(path, Arc::clone(&hash), Arc::clone(bytes)) {
        Ok(text) => text,
        Err(error) => return send(Event::Failed(error)),
    };
    let outcome = cut_file(file, path, games, text, sender)?;
    let sha256 = hash.lock().map(|hash| hex(&hash.clone().finalize())).unwrap_or_default();
    send(match outcome {
        Ok(()) => Event::End { file, sha256 },
        Err(error) => Event::Broken { file, error, sha256 },
    })
}

/// Cuts a stream into chunks and sends them.
fn cut_file(
    file: usize,
    path: &Path,
    total: &mut u64,
    mut text: Box<dyn BufRead + Send>,
    sender: &SyncSender<Event>,
) -> std::result::Result<Result<()>, Gone> {
    let mut cutter = GameSplitter::new();
    let (mut games, mut read) = (0, 0u64);
    let mut outcome = Ok(());
    loop {
        let arrived = match text.fill_buf() {
            Ok(arrived) => arrived,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => {
                outcome = Err(ends_early(path, &e, read, games + cutter.waiting() as u64, &cutter));
                &[]
            }
        };
        let length = arrived.len().min(CHUNK);
        if cutter.text().is_empty() {
            cutter.text().reserve(2 * CHUNK);
        }
        cutter.text().extend_from_slice(&arrived[..length]);
        text.consume(length);
        read += length as u64;
        let mut last = length == 0;
        cutter.scan(last);
        if !last && cutter.unfinished() > LONGEST_GAME {
            let line = cutter.unfinished_line().unwrap_or(1);
            let reason = "a game of more than 256 MiB; is this PGN?";
            outcome = Err(Error::at(path, format!("line {line}"), reason));
            last = true;
            cutter.scan(last);
        }
        if cutter.finished() >= CHUNK || (last && cutter.finished() > 0) {
            let (text, pieces) = cutter.take();
            let count = pieces.len() as u64;
            let chunk = Chunk {
                file,
                first: games + 1,
                number: *total,
                text,
                games: pieces,
                cut_short: outcome.is_err(),
            };
            games += count;
            *total += count;
            sender.send(Event::Chunk(chunk)).map_err(|_| Gone)?;
        }
        if last {
            return Ok(outcome);
        }
    }
}

/// The error of a stream that cannot be read to its end, with the place in the text and the game there.
fn ends_early(path: &Path, error: &std::io::Error, read: u64, games: u64, cutter: &GameSplitter) -> Error {
    use std::io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    let what = match error.kind() {
        UnexpectedEof => "the compressed stream ends early".to_string(),
        InvalidData | InvalidInput | Other => format!("the compressed stream is damaged ({error})"),
        _ => format!("cannot be read further ({error})"),
    };
    let start = read - cutter.unfinished() as u64;
    let game = match cutter.unfinished_line() {
        Some(_) => format!("; game {} began at byte {start}", games + 1),
        None => String::new(),
    };
    Error::data(path, format!("{what} at byte {read} of the text ({games} whole games before it{game})"))
}

/// Opens a file, or standard input for `-`, so that its bytes on disk are hashed and counted.
fn open(path: &Path, hash: Arc<Mutex<Sha256>>, bytes: Arc<AtomicU64>) -> Result<Box<dyn BufRead + Send>> {
    let hashed = Hashed { inner: patzer_io::raw(path)?, hash, bytes };
    let mut text = patzer_io::decompressed(Box::new(hashed)).map_err(|e| Error::io(path, e))?;
    match text.fill_buf() {
        Ok([]) => Err(Error::data(path, "is empty")),
        Ok(_) => Ok(text),
        // Told here: a decoder that has failed once may say afterwards that the text just ends.
        Err(e) => Err(ends_early(path, &e, 0, 0, &GameSplitter::new())),
    }
}

/// Passes bytes on, hashing and counting them.
struct Hashed {
    inner: Box<dyn Read + Send>,
    hash: Arc<Mutex<Sha256>>,
    bytes: Arc<AtomicU64>,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(buffer)?;
        if let Ok(mut hash) = self.hash.lock() {
            hash.update(&buffer[..length]);
        }
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
