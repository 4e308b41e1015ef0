use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{Cli, Result, Status, Ui};
use patzer_io::error::Error;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer completions bash > ~/.local/share/bash-completion/completions/patzer\n  \
    patzer completions zsh > ~/.zfunc/_patzer                 with fpath+=~/.zfunc in ~/.zshrc\n  \
    patzer completions fish > ~/.config/fish/completions/patzer.fish")]
pub struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn run(args: &CompletionsArgs, _: &Ui) -> Result<Status> {
    // The generator panics on a closed pipe, so it gets a buffer.
    let mut text = Vec::new();
    generate(args.shell, &mut Cli::command(), "patzer", &mut text);
    std::io::Write::write_all(&mut std::io::stdout(), &text).map_err(|e| Error::io("-", e))?;
    Ok(Status::Done)
}
