//! Recognition of a file's format by content and name.

use std::path::Path;

use crate::registry::{self, Format, Read};
use crate::spooled;
use crate::stream::Input;
use patzer_io::error::{Error, Hint, Result};

/// Returns the format of a file of positions, by its content or else by its name; `None` for games in PGN and for what
/// is unknown, and for streams, since reading consumes their bytes.
pub fn format_of(path: &Path) -> Result<Option<&'static Format>> {
    Ok(if is_stream(path) { None } else { known(path, Input::open(path)?.head()) })
}

/// Tests whether reading consumes the bytes, as of a pipe.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-") || patzer_io::is_stream(path)
}

pub(crate) fn known(path: &Path, head: &[u8]) -> Option<&'static Format> {
    registry::of_content(head).or_else(|| if is_pgn(head) { None } else { registry::of_path(path) })
}

/// Tests whether a file begins with a tag of PGN.
fn is_pgn(head: &[u8]) -> bool {
    let text = patzer_io::without_byte_order_mark(head).trim_ascii_start();
    let Some(tag) = text.strip_prefix(b"[") else { return false };
    let name = tag.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    name > 0 && tag[name..].trim_ascii_start().starts_with(b"\"")
}

pub(crate) fn unknown(path: &Path, head: &[u8]) -> Error {
    if is_pgn(head) {
        return Error::data(path, "holds games in PGN, not positions").hint(Hint::Extract);
    }
    let reason = "is not a Parquet file, and neither its content nor its name says another format";
    Error::data(path, reason).hint(Hint::ExtractOrConvert)
}

/// Returns the error for a file without games, which says if its content is positions.
pub fn no_games(path: &Path) -> Error {
    let input = if is_stream(path) { None } else { Input::open(path).ok() };
    let reason = match input.and_then(|input| registry::of_content(input.head())) {
        Some(Format { name, .. }) => {
            format!(
                "holds positions ({name}), not games in PGN; commands that take datasets read it as it is"
            )
        }
        None => "holds no games in PGN".into(),
    };
    Error::data(path, reason)
}

/// Tests whether to read a file as Parquet, which needs random access; a stream only once it is copied.
pub(crate) fn is_dataset(path: &Path, format: Option<&'static Format>) -> Result<bool> {
    if is_stream(path) {
        return Ok(spooled::holds(path));
    }
    if let Some(format) = format {
        return Ok(matches!(format.read, Read::Dataset | Read::Table));
    }
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(patzer_io::raw(path)?, 4), &mut head)
        .map_err(|e| Error::io(path, e))?;
    Ok(head == b"PAR1")
}
