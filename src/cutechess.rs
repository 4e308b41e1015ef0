//! `patzer cutechess`: the command line of cutechess-cli.

use crate::fastchess::command;
use crate::{Result, Status, Ui};
use patzer_fastchess::Program;

/// Play by the command line of cutechess-cli
#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_flag = true)]
pub struct CutechessArgs {
    /// Options of cutechess-cli; --help lists them
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub fn run(args: &CutechessArgs, _: &Ui) -> Result<Status> {
    command(Program::Cutechess, &args.words)
}
