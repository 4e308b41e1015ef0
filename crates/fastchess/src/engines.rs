//! `-engine` and `-each`: key=value words → player descriptions.

use std::path::Path;

use super::Program::{self, Cutechess, Fastchess};
use super::flags::{BOTH, CUTE, FAST, Means};
use super::settings::{KeyValue, Settings};
use patzer_io::error::{Error, Result};
use patzer_match::Spec;

pub const ENGINE_KEYS: &[(&str, &[Program], Means)] = &[
    ("cmd", BOTH, Means::Does("program, with dir= relative to it; also an evaluation file of patzer")),
    ("name", BOTH, Means::Does("name; by default the program's without extension, `_2` if it is taken")),
    ("dir", BOTH, Means::Does("working folder")),
    ("args", FAST, Means::Does("arguments in one string")),
    ("arg", CUTE, Means::Does("one argument")),
    (
        "tc",
        BOTH,
        Means::Does(
            "clock: moves/minutes:seconds+increment, several as 40/60:20/30:G/10+0.1; an hourglass as hg60",
        ),
    ),
    ("st", BOTH, Means::Does("seconds a move")),
    ("nodes", BOTH, Means::Does("nodes a move")),
    ("depth", BOTH, Means::Does("plies a move")),
    ("plies", FAST, Means::Does("plies a move")),
    ("timemargin", BOTH, Means::Does("milliseconds beyond the time; by default 0")),
    ("restart", BOTH, Means::Does("on: restart the program for each game")),
    ("proto", BOTH, Means::Does("uci; xboard is refused")),
    ("option.NAME", BOTH, Means::Does("a UCI option; one that the engine lacks is a warning")),
    ("whitepov", CUTE, Means::Does("scores of Black are negated")),
    ("trust", CUTE, Means::Nothing("UCI engines claim no results")),
    ("ponder", CUTE, Means::Does("think on the opponent's time, if the engine has the option Ponder")),
    ("book", CUTE, Means::Does("a Polyglot book that the engine plays from")),
    ("bookdepth", CUTE, Means::Does("full moves up to which it does; by default 1000")),
    ("conf", CUTE, Means::Refused("there is no list of configured engines; write cmd=")),
    ("initstr", CUTE, Means::Refused("UCI engines are set with option.NAME=")),
    ("stderr", CUTE, Means::Does("a file to which the program's standard error is appended")),
    ("tscale", CUTE, Means::Nothing("timeouts are fixed; `patzer match --ready-timeout` sets them")),
    ("debug", CUTE, Means::Nothing("patzer sends no `debug on`")),
];

/// Reads a word of `-engine` or `-each`, and refuses unknown keys at once. Notes a key without effect, once.
pub fn key_value(settings: &mut Settings, word: &str) -> Result<KeyValue> {
    let (key, value) = match word.split_once('=') {
        Some((key, value)) => (key, value),
        // Switches of cutechess-cli.
        None => (word, "on"),
    };
    let switch = matches!(key, "ponder" | "trust" | "whitepov" | "debug");
    let name = if key.starts_with("option.") { "option.NAME" } else { key };
    let row =
        ENGINE_KEYS.iter().find(|(row, programs, _)| *row == name && programs.contains(&settings.program));
    let Some((_, _, means)) = row else {
        return Err(Error::usage(format!("there is no key `{key}`")));
    };
    match means {
        Means::Refused(reason) => return Err(Error::usage(format!("{key}: {reason}"))),
        Means::Nothing(reason) => settings.note(format!("{key}: {reason}")),
        Means::Does(_) => {}
    }
    if !switch && (!word.contains('=') || value.is_empty() && !key.starts_with("option.")) {
        return Err(Error::usage(format!("`{word}` is not KEY=VALUE")));
    }
    Ok((key.to_string(), value.to_string()))
}

/// Players of the settings, each with a limit and a name of its own.
pub fn specs(settings: &Settings) -> Result<Vec<Spec>> {
    let mut specs: Vec<Spec> = Vec::new();
    for keys in &settings.engines {
        let mut spec = Spec::default();
        for (key, value) in keys.iter().chain(&settings.each) {
            let wrong = |error: patzer_match::SpecError| Error::usage(format!("{key}={value}: {error}"));
            match key.as_str() {
                "trust" | "tscale" | "debug" => {}
                // As in cutechess-cli, a period of 0 moves is the whole game.
                "tc" if settings.program == Cutechess => {
                    spec.set(key, value.strip_prefix("0/").unwrap_or(value)).map_err(wrong)?;
                }
                "arg" => spec.args.get_or_insert_default().push(value.clone()),
                _ => spec.set(key, value).map_err(wrong)?,
            }
        }
        if spec.cmd.is_empty() {
            return Err(Error::usage("-engine without cmd="));
        }
        if spec.control.is_unlimited() {
            let cmd = &spec.cmd;
            return Err(Error::usage(format!(
                "{cmd} has no limit: give tc=, st=, nodes= or depth=, as in -each tc=10+0.1"
            )));
        }
        let stem = Path::new(&spec.cmd).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = spec.name.clone().or(stem).unwrap_or_default();
        let same = specs.iter().filter(|other| other.name.as_ref() == Some(&name)).count();
        spec.name = Some(if same > 0 { format!("{name}_{}", same + 1) } else { name });
        in_folder(settings.program, &mut spec);
        if settings.program == Cutechess {
            split_command(&mut spec)?;
        }
        specs.push(spec);
    }
    if specs.len() < 2 {
        return Err(Error::usage(format!(
            "two engines or more are needed, not {}: -engine cmd=A -engine cmd=B",
            specs.len()
        )));
    }
    Ok(specs)
}

/// Finds the program from its working folder: fastchess always does, cutechess-cli if the path is relative.
fn in_folder(program: Program, spec: &mut Spec) {
    let Some(dir) = &spec.dir else { return };
    let there = dir.join(&spec.cmd);
    if program == Fastchess || (program == Cutechess && there.is_file()) {
        spec.cmd = there.to_string_lossy().into_owned();
    }
}

/// A command with its arguments in one text, as cutechess-cli takes it, unless a program has that name.
fn split_command(spec: &mut Spec) -> Result<()> {
    if !spec.cmd.contains(' ') || Path::new(&spec.cmd).exists() {
        return Ok(());
    }
    let wrong = |error: patzer_match::SpecError| Error::usage(format!("cmd={}: {error}", spec.cmd));
    let mut words = patzer_match::words(&spec.cmd).map_err(wrong)?.into_iter();
    spec.cmd = words.next().unwrap_or_default();
    spec.args = Some(words.chain(spec.args.take().into_iter().flatten()).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    fn players(program: Program, line: &str) -> Result<Vec<Spec>> {
        let words: Vec<String> = line.split(' ').map(str::to_string).collect();
        specs(&parse(program, &words)?)
    }

    #[test]
    fn engines_get_names_folders_and_what_each_is_given() {
        let line = "-each tc=8+0.08 option.Hash=16 -engine dir=Engines/ cmd=./a.exe nodes=5 option.Hash=1 -engine cmd=b/a";
        let found = players(Fastchess, line).unwrap();
        let named: Vec<_> =
            found.iter().map(|spec| (spec.cmd.as_str(), spec.name.as_deref().unwrap())).collect();
        assert_eq!(named, [("Engines/./a.exe", "a"), ("b/a", "a_2")]);
        assert_eq!(found[0].options, [("Hash".to_string(), "16".to_string())], "-each comes last");
        assert_eq!(found[0].control.to_string(), "8+0.08 seconds, 5 nodes a move");
    }

    #[test]
    fn a_command_of_cutechess_may_hold_its_arguments() {
        let words =
            ["-each", "st=1", "-engine", "cmd=java -jar 'my engine.jar'", "arg=-x", "-engine", "cmd=b"];
        let found = specs(&parse(Cutechess, &words.map(String::from)).unwrap()).unwrap();
        assert_eq!((found[0].cmd.as_str(), found[0].name.as_deref()), ("java", Some("java -jar 'my engine")));
        assert_eq!(found[0].args.as_ref().unwrap(), &["-jar", "my engine.jar", "-x"]);
    }

    #[test]
    fn each_program_writes_clocks_in_its_own_way() {
        for (program, tc, reads) in [
            (Cutechess, "0/0.3+0.005", "0.3+0.005 seconds"),
            (Fastchess, "0.3s+0.01s", "0.3+0.01 seconds"),
            (Fastchess, "40/1:00s+1s", "40/60+1 seconds"),
        ] {
            let found = players(program, &format!("-each tc={tc} -engine cmd=a -engine cmd=b")).unwrap();
            assert_eq!(found[0].control.to_string(), reads, "{tc}");
        }
    }

    #[test]
    fn what_cannot_be_played_is_named() {
        for (program, line, says) in [
            (Fastchess, "-engine cmd=a -engine cmd=b", "a has no limit"),
            (Fastchess, "-engine cmd=a tc=1", "two engines"),
            (Fastchess, "-engine name=a tc=1", "without cmd="),
            (Fastchess, "-engine cmd=a whitepov", "no key `whitepov`"),
            (Fastchess, "-engine cmd=a tc=0/1", "tc=0/1: `0/1` is not a time control"),
            (Fastchess, "-engine cmd=a tc=1s+xs", "tc=1s+xs: `1s+xs` is not a time control"),
            (Cutechess, "-engine cmd=a tc=hg", "tc=hg: `hg` is not a time control"),
            (Cutechess, "-engine cmd=a conf=b", "conf: there is no list"),
            (Cutechess, "-engine cmd=a bookdepth=0 -engine cmd=b", "1 or more"),
            (Cutechess, "-engine cmd=a proto=xboard tc=1", "uci"),
            (Cutechess, "-engine cmd", "KEY=VALUE"),
        ] {
            let error = players(program, line).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }
}
