//! `patzer data convert --traces`: writes traces of the bundled evaluation and the terms file that `tune --traces` takes,
//! as an example of what another engine has to write.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::convert::ConvertArgs;
use crate::prepare::{DataArgs, Split, stream, white_score};
use crate::{Error, Result, Status, Ui};
use patzer_data::AnyReader;
use patzer_eval::hce::{FULL_PHASE, Trace, Weights};
use patzer_fit::tune::TuneItem;
use patzer_fit::tune::{hce, text};
use patzer_io as io;
use patzer_io::number::grouped;
use patzer_io::{Output, Printable};

#[derive(Debug, Serialize)]
struct Exported {
    positions_read: u64,
    positions_written: u64,
    output: PathBuf,
    terms: PathBuf,
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, terms) = (Printable(self.output.display()), Printable(self.terms.display()));
        let [written, read] = [self.positions_written, self.positions_read].map(grouped);
        writeln!(f, "traced    {written} of {read} positions → {output}")?;
        writeln!(f, "          terms → {terms}")
    }
}

pub fn export(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    let ConvertArgs { inputs, input, filter, filter_set, output, .. } = args;
    if output.as_path() == Path::new("-") {
        return Err(Error::usage(
            "--traces writes the terms beside the output, so it needs the name of a file",
        ));
    }
    let resolved =
        |path: &PathBuf| Ok(AnyReader::open(path, input.input_format)?.metadata().resolved.is_some());
    let resolved = inputs.iter().map(resolved).collect::<Result<Vec<bool>>>()?;
    let args = DataArgs {
        data: inputs.clone(),
        format: *input,
        filter: filter.clone(),
        filter_set: filter_set.clone(),
        no_resolve: !resolved.iter().all(|resolved| *resolved),
        strict: false,
    };
    let mut out = Output::create(output)?;
    let (mut scratch, mut written) = (Trace::default(), 0);
    let account = stream(&args, Split::default(), ui, &mut |offer| {
        let (board, turn) = offer.item;
        let item = TuneItem { board, turn, target: offer.result, weight: 1.0, game: 0 };
        let score = white_score(offer);
        // 53 bits: exact as a double in every language.
        let game = offer.group & ((1 << 53) - 1);
        let position = hce::position(&item, &mut scratch, game, score)?;
        let phase = (position.info.phase * FULL_PHASE as f32).round();
        text::write(&mut out, &position, phase).map_err(|e| Error::io(output, e))?;
        written += 1;
        Ok(None)
    })?;
    out.commit()?;
    let terms = output.with_extension("toml");
    io::write(&terms, hce::terms(&Weights::untuned()).to_toml()?.as_bytes())?;
    ui.result(&Exported {
        positions_read: account.read,
        positions_written: written,
        output: output.clone(),
        terms,
    })
}
