//! Errors in the words of the command line: options in place of settings, and ways out by the options that lead there.

use patzer_io::error::{Error, Hint};

/// The line that a user reads.
pub fn line(error: &Error) -> String {
    match error {
        Error::Hinted(error, hint) => format!("{}; {}", line(error), words(hint)),
        Error::Setting { name, .. } => error.to_string().replacen(name, &option(name), 1),
        // A text of a file may be of any length.
        error => patzer_io::shortened(&error.to_string(), 1000).into_owned(),
    }
}

fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

fn words(hint: &Hint) -> String {
    let words = match hint {
        Hint::Cpu => "--device cpu trains without it",
        Hint::Duplicates => "add --duplicates first",
        Hint::Extract => "`patzer extract` makes a dataset of it",
        Hint::ExtractOrConvert => {
            "make a dataset with `patzer extract`, or name its format with `patzer data convert --input-format`"
        }
        Hint::FirstRank => "--ranks 1 counts first choices alone",
        Hint::Fix(name) => return format!("--fix {name} keeps both"),
        Hint::Format => "--format names one",
        Hint::GiveK => "give K with --k",
        Hint::GiveScoreK => "give it with --score-k",
        Hint::GiveCounts => "give --ptnml or --wdl",
        Hint::GiveGameCounts => "give --wdl W,D,L",
        Hint::InputFormat => "--input-format names another, also in `patzer data convert`",
        Hint::KeepLabels => {
            "name it as the data, move it away, or take positions as they are with --no-resolve"
        }
        Hint::KeepPartial => "--keep-partial keeps what could be read",
        Hint::MaxDeviation(centipawns) => return format!("--max-deviation {centipawns:.0} goes on"),
        Hint::NoResolve => "it needs --no-resolve",
        Hint::OtherFolder(file) => {
            return format!("--run names another folder, --overwrite replaces {file}");
        }
        Hint::OtherFile => "-o names another file",
        Hint::OverwriteOrOtherFile => "--overwrite starts over, -o names another file",
        Hint::Overwrite => "--overwrite starts over",
        Hint::Prior => "--prior 2 gives finite ones",
        Hint::ReadAsDataset => {
            "commands that take datasets read it as it is, `patzer wdl` from a pipe with --input-format parquet"
        }
        Hint::ResumeIn(file) => return format!("-o {file} --resume goes on"),
        Hint::ResumeOrOtherFile => "--resume goes on, --overwrite starts over, -o names another file",
        Hint::Resume => "--resume goes on",
        Hint::ResumeOrOverwrite => "--resume goes on with it, --overwrite starts over",
        Hint::ResumeOrOtherFolder => {
            "--resume goes on with it, --overwrite starts over, --run names another folder"
        }
        Hint::SampleLater => {
            "give --sample, and --per-game where duplicates are dropped, to `patzer data merge`"
        }
        Hint::StreamFormat => "for a stream of positions, --input-format names their format",
        Hint::Threads => "try fewer --threads",
        Hint::UniqueGames => "--unique drops games that have",
        Hint::WithoutWhite => "--white 0 does without it",
    };
    words.to_string()
}
