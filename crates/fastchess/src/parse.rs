//! Command line → [`Settings`], through the registry.

use super::Program;
use super::flags::{FLAGS, Flag, Means, Takes};
use super::flags_files::FILE_FLAGS;
use super::flags_rules::RULE_FLAGS;
use super::settings::{KeyValue, Settings};
use patzer_io::error::{Error, Result};

/// All options of a program.
pub fn flags(program: Program) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().chain(RULE_FLAGS).chain(FILE_FLAGS).filter(move |flag| flag.programs.contains(&program))
}

pub fn parse(program: Program, words: &[String]) -> Result<Settings> {
    let mut settings = Settings::new(program);
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let flag = find(program, word)?;
        let values = after.iter().take_while(|word| !is_option(word)).count();
        let (values, after) = after.split_at(values);
        rest = after;
        if let Means::Refused(reason) = flag.means {
            return Err(Error::usage(format!("{word}: {reason}")));
        }
        apply(&mut settings, flag, values).map_err(|error| {
            let values: String = values.iter().map(|value| format!(" {value}")).collect();
            Error::usage(format!("{word}{values}: {error}"))
        })?;
        if let Means::Nothing(reason) = flag.means {
            settings.note(format!("{word}: {reason}"));
        }
    }
    Ok(settings)
}

/// A word that begins with a hyphen is an option, unless it is a negative number.
fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn find(program: Program, word: &str) -> Result<&'static Flag> {
    let name = word.strip_prefix('-').map(|name| name.strip_prefix('-').unwrap_or(name));
    let found = name.and_then(|name| flags(program).find(|flag| flag.name == name));
    found.ok_or_else(|| {
        let near = patzer_io::did_you_mean(name.unwrap_or_default(), flags(program).map(|flag| flag.name));
        Error::usage(format!("`{word}` is not an option of {}{near}", program.name()))
    })
}

fn apply(settings: &mut Settings, flag: &Flag, values: &[String]) -> Result<()> {
    match flag.takes {
        Takes::Nothing(set) if values.is_empty() => {
            set(settings);
            Ok(())
        }
        Takes::Nothing(_) => Err(Error::usage("takes no value")),
        Takes::One(set) => match values {
            [value] => set(settings, value),
            _ => Err(Error::usage("takes one value")),
        },
        Takes::Words(set) => set(settings, values),
        Takes::Keys(begin, keys) => {
            begin(settings);
            let mut given = Vec::new();
            for value in values {
                let (name, value) = pair(value)?;
                let key =
                    keys.iter().find(|key| key.name == name && key.programs.contains(&settings.program));
                let key = key.ok_or_else(|| Error::usage(format!("there is no key `{name}`")))?;
                match key.means {
                    Means::Refused(reason) => return Err(Error::usage(format!("{name}=: {reason}"))),
                    Means::Nothing(reason) => settings.note(format!("-{} {name}=: {reason}", flag.name)),
                    Means::Does(_) => {}
                }
                (key.set)(settings, &value)
                    .map_err(|error| Error::usage(format!("{name}={value}: {error}")))?;
                given.push(key.name);
            }
            complete(settings.program, flag.name, &given)
        }
    }
}

/// Keys without which cutechess-cli refuses an option.
const NEEDED: &[(&str, &[&str])] = &[
    ("sprt", &["elo0", "elo1", "alpha", "beta"]),
    ("draw", &["movenumber", "movecount", "score"]),
    ("resign", &["movecount", "score"]),
];

fn complete(program: Program, flag: &str, given: &[&str]) -> Result<()> {
    let needed = NEEDED.iter().find(|(name, _)| *name == flag && program == Program::Cutechess);
    match needed.and_then(|(_, keys)| keys.iter().find(|key| !given.contains(*key))) {
        Some(key) => Err(Error::usage(format!("{key}= is missing"))),
        None => Ok(()),
    }
}

/// Splits `key=value`.
pub fn pair(word: &str) -> Result<KeyValue> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => {
            Ok((key.to_string(), value.to_string()))
        }
        _ => Err(Error::usage(format!("`{word}` is not KEY=VALUE"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_end_where_the_next_begins_and_numbers_may_be_negative() {
        assert!(is_option("-each") && is_option("--help") && is_option("-"));
        assert!(!is_option("-5") && !is_option("tc=1") && !is_option("-0.5"));
    }

    #[test]
    fn cutechess_needs_all_keys_of_a_rule() {
        let parsed = |program, line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_string).collect();
            parse(program, &words).map(drop).map_err(|error| error.to_string())
        };
        for (line, says) in [
            ("-draw score=20", "movenumber= is missing"),
            ("-draw movenumber=40 score=20", "movecount= is missing"),
            ("-resign score=10", "movecount= is missing"),
            ("-sprt elo0=0 elo1=5", "alpha= is missing"),
        ] {
            assert!(parsed(Program::Cutechess, line).unwrap_err().contains(says), "{line}");
            assert!(parsed(Program::Fastchess, line).is_ok(), "{line}");
        }
        assert!(parsed(Program::Cutechess, "-resign movecount=3 score=500").is_ok());
    }

    #[test]
    fn plies_of_an_opening_may_be_none_with_fastchess_alone() {
        let plies = |program| {
            let words = ["-openings", "file=a.pgn", "plies=0"].map(String::from);
            parse(program, &words).map(|settings| settings.book.plies)
        };
        assert_eq!(plies(Program::Fastchess).unwrap(), Some(0));
        assert!(plies(Program::Cutechess).is_err());
    }

    #[test]
    fn quick_names_engines_by_their_commands_and_numbers_equal_ones() {
        let names = |a: &str, b: &str| {
            let words = ["-quick".into(), format!("cmd={a}"), format!("cmd={b}"), "book=b.epd".into()];
            let settings = parse(Program::Fastchess, &words).unwrap();
            let specs = crate::engines::specs(&settings).unwrap();
            specs.into_iter().map(|spec| spec.name.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(names("./eng.py", "./eng.py"), ["./eng.py1", "./eng.py2"]);
        assert_eq!(names("./new.exe", "base"), ["./new.exe", "base"]);
    }

    #[test]
    fn a_misspelt_option_is_named_with_the_nearest() {
        let error = parse(Program::Fastchess, &["-round".into(), "5".into()]).unwrap_err().to_string();
        assert!(error.contains("did you mean `rounds`?"), "{error}");
    }
}
