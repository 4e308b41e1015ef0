//! Appends finished games to the PGN, with its checksum.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::Console;
use super::settings::{OutputFile, Settings};
use patzer_io::error::{Error, Result};
use patzer_match::record::{PairEntry, PairSink};

pub struct OutputFiles<'a> {
    pgn: Option<(File, PathBuf)>,
    checksum: Option<crc32fast::Hasher>,
    console: &'a dyn Console,
}

/// Opens a file to append to, or a new one in its place; a run that goes on always appends.
pub fn open(file: Option<&OutputFile>, resumes: bool) -> Result<Option<(File, PathBuf)>> {
    let Some(OutputFile { path, append }) = file else { return Ok(None) };
    let (mut options, append) = (File::options(), *append || resumes);
    options.create(true).write(true).append(append).truncate(!append);
    let opened = options.open(path).map_err(|e| Error::create(path, e))?;
    Ok(Some((opened, path.clone())))
}

impl<'a> OutputFiles<'a> {
    pub fn open(settings: &Settings, resumes: bool, console: &'a dyn Console) -> Result<OutputFiles<'a>> {
        for (file, option) in [(&settings.pgn, "-pgnout"), (&settings.epd, "-epdout")] {
            if resumes && file.as_ref().is_some_and(|file| !file.append) {
                console.note(&format!("-config: goes on, so {option} append=false has no effect"));
            }
        }
        let pgn = open(settings.pgn.as_ref(), resumes)?;
        let checksum = match &pgn {
            Some((_, path)) if settings.crc => Some(checksum(path)?),
            _ => None,
        };
        Ok(OutputFiles { pgn, checksum, console })
    }
}

/// Checksum of the games that the file holds already.
fn checksum(path: &Path) -> Result<crc32fast::Hasher> {
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), [0; 1 << 16]);
    let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
    loop {
        match file.read(&mut buffer).map_err(|e| Error::io(path, e))? {
            0 => return Ok(hasher),
            length => hasher.update(&buffer[..length]),
        }
    }
}

impl PairSink for OutputFiles<'_> {
    fn append(&mut self, _: &PairEntry, games: &[u8]) -> Result<()> {
        self.append_single(games)
    }

    fn append_single(&mut self, games: &[u8]) -> Result<()> {
        let Some((file, path)) = &mut self.pgn else { return Ok(()) };
        file.write_all(games).map_err(|e| Error::io(&*path, e))?;
        if let Some(hasher) = &mut self.checksum {
            hasher.update(games);
            let sum = hasher.clone().finalize();
            self.console.line(&format!("File {} has CRC32: {sum:#x}", path.display()))?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}
