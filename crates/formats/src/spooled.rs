//! Parquet from a stream: its bytes in a temporary file without a name, since Parquet needs random access.
//!
//! The file is kept until the process ends, so that a stream can be opened again as a file can.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use patzer_io::error::{Error, Result};
use patzer_io::{interrupt, nameless_file, temporary_folder};

static SPOOLED: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

fn spooled() -> MutexGuard<'static, Vec<(PathBuf, File)>> {
    SPOOLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes copied at a time.
const BLOCK: u64 = 1 << 20;

/// Copies the rest of a stream.
pub fn keep(path: &Path, input: &mut impl Read) -> Result<()> {
    let folder = temporary_folder(None);
    let (mut file, mut bytes) = (nameless_file(&folder)?, Vec::new());
    while input.by_ref().take(BLOCK).read_to_end(&mut bytes).map_err(|e| Error::io(path, e))? > 0 {
        interrupt::check()?;
        file.write_all(&bytes).map_err(|e| Error::io(folder.join("a temporary file"), e))?;
        bytes.clear();
    }
    spooled().push((path.to_path_buf(), file));
    Ok(())
}

/// Returns the copy of a stream, for reading by position; `None` if the path was not copied.
pub fn find(path: &Path) -> io::Result<Option<File>> {
    spooled().iter().find(|(of, _)| of == path).map(|(_, file)| file.try_clone()).transpose()
}

/// Tests whether [`keep`] has copied a stream.
pub fn holds(path: &Path) -> bool {
    spooled().iter().any(|(of, _)| of == path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use crate::replay;
    use crate::{AnyReader, Metadata, Record, RowGroups, Writer};

    #[test]
    fn a_dataset_from_a_pipe_is_read_as_from_a_file_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let [file, pipe] = ["a.parquet", "pipe"].map(|name| folder.path().join(name));
        let mut writer = Writer::create(&file, Metadata::default()).unwrap();
        let records: Vec<Record> =
            (0..500).map(|game| Record { game, ..replay::still(&shakmaty::Chess::default()) }).collect();
        writer.write(&records).unwrap();
        writer.finish().unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (from, to) = (file.clone(), pipe.clone());
        let copying = std::thread::spawn(move || std::fs::write(to, std::fs::read(from).unwrap()).unwrap());
        assert_eq!(AnyReader::open(&pipe, None).unwrap().read_all().unwrap(), records);
        copying.join().unwrap();
        let mut again = RowGroups::open(&pipe, None).unwrap();
        assert!(again.has_checksums() && again.rows() == Some(500));
        let mut read = Vec::new();
        again
            .for_each(|batch| {
                read.extend(batch);
                Ok(())
            })
            .unwrap();
        assert_eq!(read, records);
    }
}
