//! The files that games are written to: one, or several with numbers in their names.

use std::path::{Path, PathBuf};

use crate::extract::Notice;
use patzer_formats::stream::CompressedOutput;
use patzer_io::error::{Error, Result};

pub(super) struct GameFiles {
    path: PathBuf,
    /// Number of games of each file; `None` for one file of all.
    per_file: Option<u64>,
    current: Option<(CompressedOutput, u64)>,
    /// True if the last game written ends with its result.
    over: bool,
    written: Vec<PathBuf>,
    /// Input files, which no output may replace.
    inputs: Vec<PathBuf>,
}

impl GameFiles {
    pub(super) fn create(path: &Path, per_file: Option<u64>, inputs: &[PathBuf]) -> Result<GameFiles> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is_pgn = patzer_pgn::ENDINGS.iter().any(|ending| name.ends_with(ending));
        let is_stream = path == Path::new("-") || patzer_io::is_stream(path);
        if !is_pgn && !is_stream {
            let endings = patzer_pgn::ENDINGS.join(", ");
            return Err(Error::data(path, format!("is no name of a file of games ({endings})")));
        }
        if is_stream && per_file.is_some() {
            return Err(Error::setting("per_file", "", "needs the name of a file that it can number"));
        }
        let inputs = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let (path, written) = (path.to_path_buf(), Vec::new());
        let mut files = GameFiles { path, per_file, current: None, over: true, written, inputs };
        files.open()?;
        Ok(files)
    }

    fn open(&mut self) -> Result<()> {
        let number = self.written.len() + 1;
        let path = if self.per_file.is_some() { numbered(&self.path, number) } else { self.path.clone() };
        if path.canonicalize().is_ok_and(|path| self.inputs.contains(&path)) {
            return Err(Error::data(path, "is one of the files that are read; name another with -o"));
        }
        self.current = Some((CompressedOutput::create(&path, None, false)?, 0));
        self.written.push(path);
        Ok(())
    }

    /// Writes a game. Readers would take one without tags for the rest of the game before if that lacks its result, so
    /// it gets a tag there.
    pub(super) fn write(&mut self, game: &[u8], tagged: bool) -> Result<()> {
        if self.current.as_ref().is_some_and(|(_, games)| Some(*games) == self.per_file) {
            self.close()?;
            self.open()?;
        }
        let Some((output, games)) = &mut self.current else { return Ok(()) };
        if !tagged && *games > 0 && !(self.over && patzer_pgn::may_begin(game)) {
            output.put(b"[Event \"?\"]\n\n")?;
        }
        self.over = patzer_pgn::is_over(game);
        *games += 1;
        output.put(game)
    }

    fn close(&mut self) -> Result<()> {
        self.current.take().map_or(Ok(()), |(output, _)| output.commit())
    }

    /// Completes the last file; returns the paths of all.
    pub(super) fn finish(mut self, notice: &mut dyn FnMut(Notice)) -> Result<Vec<PathBuf>> {
        self.close()?;
        let next = numbered(&self.path, self.written.len() + 1);
        if self.per_file.is_some() && next.exists() {
            notice(Notice::Lost(format!("{}: is of an earlier run, which wrote more files", next.display())));
        }
        Ok(self.written)
    }
}

/// `games.pgn.zst` with a number: `games-0001.pgn.zst`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let at = name.to_ascii_lowercase().rfind(".pgn").unwrap_or(name.len());
    path.with_file_name(format!("{}-{number:04}{}", &name[..at], &name[at..]))
}
