//! Traces of the bundled evaluation as text, an example of what another engine has to write.

use std::path::Path;

use super::{TuneItem, hce, text};
use patzer_eval::hce::{FULL_PHASE, Trace};
use patzer_formats::Record;
use patzer_formats::stream::CompressedOutput;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_prepare::{DataSelection, Report, Split, stream};

/// Bytes of text that go to the output together.
const BUFFER: usize = 1 << 16;

/// Writes traces of the positions of a selection; returns the numbers of positions read and written.
pub fn export_traces(
    data: &DataSelection,
    output: &Path,
    level: Option<i32>,
    report: &Report<'_>,
) -> Result<[u64; 2]> {
    let mut out = CompressedOutput::create(output, level, false)?;
    let (mut scratch, mut lines, mut written) = (Trace::default(), Vec::new(), 0);
    let make = |_: &Record, board, turn| Ok((board, turn));
    let account = stream(data, Split::default(), report, &make, &mut |offer| {
        // A batch of positions may take a second.
        interrupt::check()?;
        let (board, turn) = offer.item;
        let item = TuneItem { board, turn, target: offer.result, weight: 1.0, game: 0 };
        let position = hce::position(&item, &mut scratch, offer.game(), offer.white_score())?;
        let phase = (position.info.phase * FULL_PHASE as f32).round();
        text::write(&mut lines, &position, phase).map_err(|e| Error::io(output, e))?;
        if lines.len() >= BUFFER {
            out.put(&std::mem::take(&mut lines))?;
        }
        written += 1;
        Ok(None)
    })?;
    interrupt::check()?;
    out.put(&lines)?;
    out.commit()?;
    Ok([account.read, written])
}
