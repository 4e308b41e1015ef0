//! Opening books in ZIP archives.

use std::io::Cursor;
use std::path::Path;

use zip::ZipArchive;

use patzer_io::error::{Error, Result};
use patzer_io::{Limit, expand};

pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

pub(super) fn only_file(bytes: &[u8], path: &Path) -> Result<Vec<u8>> {
    let wrong = |e: zip::result::ZipError| Error::data(path, format!("cannot be unpacked: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(wrong)?;
    let mut books = Vec::new();
    for index in 0..archive.len() {
        if archive.by_index(index).map_err(wrong)?.is_file() {
            books.push(index);
        }
    }
    let [index] = books[..] else {
        let reason = format!("holds {} files; a book has to be alone in its archive", books.len());
        return Err(Error::data(path, reason));
    };
    let file = archive.by_index(index).map_err(wrong)?;
    expand(path, file, Limit::BOOK, || bytes.len() as u64).map_err(|error| match error {
        Error::Io { source, .. } => Error::data(path, format!("cannot be unpacked: {source}")),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn the_one_file_of_an_archive_is_the_book() {
        let bytes = archive(&[("book.epd", "a line\n")]);
        assert!(is_zip(&bytes) && !is_zip(b"[Event \"a\"]"));
        assert_eq!(only_file(&bytes, Path::new("book.zip")).unwrap(), b"a line\n");
    }

    #[test]
    fn an_archive_of_several_files_or_a_damaged_one_is_refused() {
        let two = archive(&[("a.epd", "x"), ("b.epd", "y")]);
        assert!(only_file(&two, Path::new("b.zip")).unwrap_err().to_string().contains("holds 2 files"));
        let one = archive(&[("a.epd", "some text that is long enough to be packed, packed, packed")]);
        let error = only_file(&one[..one.len() / 2], Path::new("b.zip")).unwrap_err();
        assert_eq!(error.exit_code(), 1);
    }
}
