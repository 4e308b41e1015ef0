//! `patzer-uci`: the bundled engine as GUIs and match runners want it: no arguments, UCI on standard input.

use std::process::ExitCode;

fn main() -> ExitCode {
    match patzer::engine::uci::serve(None) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
