//! Files that change while they are read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::ReadAt;

/// A regular file that must not end before the size that it had when it was opened.
pub struct Regular {
    file: ReadAt,
    size: u64,
    read: u64,
}

impl Regular {
    pub fn new(path: &Path, file: File) -> io::Result<Regular> {
        let size = file.metadata()?.len();
        Ok(Regular { file: ReadAt::new(path, file)?, size, read: 0 })
    }
}

impl Read for Regular {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.read)?;
        self.read += length as u64;
        if length == 0 && !buffer.is_empty() && self.read < self.size {
            let reason = format!("it shrank from {} to {} bytes while it was read", self.size, self.read);
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_shrinks_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.pgn");
        std::fs::write(&path, [b'x'; 1000]).unwrap();
        let mut file = Regular::new(&path, File::open(&path).unwrap()).unwrap();
        file.read_exact(&mut [0; 500]).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(700).unwrap();
        let error = file.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "it shrank from 1000 to 700 bytes while it was read");
        let mut grown = Regular { size: 500, ..Regular::new(&path, File::open(&path).unwrap()).unwrap() };
        assert_eq!(grown.read_to_end(&mut Vec::new()).unwrap(), 700);
    }
}
