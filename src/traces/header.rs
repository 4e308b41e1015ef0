use crate::named::named;
use crate::{Result, Status, Ui};
use patzer_io::named;

named! {
    /// File to copy into an engine
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Header {
        Numeric: "patzer_numeric.h", "C and C++: traces by differences, without code that counts; needs patzer_trace.h";
        NumericRs: "patzer_numeric.rs", "the same for Rust; needs patzer_trace.rs";
        Trace: "patzer_trace.h", "C and C++: reads positions, collects counts, writes traces";
        TraceRs: "patzer_trace.rs", "Rust: reads positions, collects counts, writes traces";
    }
}

impl Header {
    fn text(self) -> &'static str {
        match self {
            Header::Numeric => include_str!("../../examples/traces/patzer_numeric.h"),
            Header::NumericRs => include_str!("../../examples/traces/patzer_numeric.rs"),
            Header::Trace => include_str!("../../examples/traces/patzer_trace.h"),
            Header::TraceRs => include_str!("../../examples/traces/patzer_trace.rs"),
        }
    }
}

/// Print a file that lets an engine write traces, to copy into its source
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer traces header patzer_trace.h > patzer_trace.h\n  \
    patzer traces header patzer_numeric.h > patzer_numeric.h")]
pub struct HeaderArgs {
    #[arg(value_name = "NAME", value_parser = named::<Header>())]
    name: Header,
}

pub fn run(args: &HeaderArgs, ui: &Ui) -> Result<Status> {
    ui.line(args.name.text().trim_end())?;
    Ok(Status::Done)
}
