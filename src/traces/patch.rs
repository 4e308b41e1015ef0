use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::args::TermsArgs;
use crate::{Result, Status, Ui};
use patzer_fit::tune::output::Tuned;
use patzer_fit::tune::source::Patched;

/// Show the values of a file of terms as a change of an engine's source, or write them there
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer traces patch evaluate.c psqt.c --terms tuned.toml              the change, as a diff\n  \
    patzer traces patch evaluate.c psqt.c --terms tuned.toml --in-place   into the files")]
pub struct PatchArgs {
    /// Source files that declare the terms by name: C, C++, C#, Go, Java, JavaScript, Kotlin, Python, Rust, Swift, Zig
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    terms: TermsArgs,

    /// Write the files, once the values are known to fit all of them
    #[arg(long)]
    in_place: bool,
}

pub fn run(args: &PatchArgs, ui: &Ui) -> Result<Status> {
    let terms = args.terms.load()?;
    let model = terms.model(&[])?;
    let values = model.start();
    let tuned = Tuned { terms: &terms, model: &model, values: &values, k: 1.0, support: &[] };
    ui.result(&Patch::new(&tuned, &args.files, args.in_place)?)
}

/// Change of an engine's source.
#[derive(Debug, Default, Serialize)]
pub struct Patch {
    /// Numbers that changed.
    changed: usize,
    #[serde(serialize_with = "patzer_io::path_text")]
    files: Vec<PathBuf>,
    written: bool,
    pub diff: String,
}

impl Patch {
    /// Computes the change of the source files; writes them if it is in place.
    pub fn new(tuned: &Tuned<'_>, files: &[PathBuf], in_place: bool) -> Result<Patch> {
        let patched = tuned.patch(files)?;
        if in_place {
            patched.iter().filter(|file| file.changed > 0).try_for_each(Patched::write)?;
        }
        Ok(Patch {
            changed: patched.iter().map(|file| file.changed).sum(),
            files: files.to_vec(),
            written: in_place,
            diff: patched.iter().map(Patched::diff).collect(),
        })
    }
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diff)?;
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let (changed, names) = (self.changed, files.join(", "));
        let state = if self.written { "written" } else { "not written; --in-place does" };
        writeln!(f, "patch     {changed} numbers in {}: {state}", patzer_io::printable(&names))
    }
}
