//! Player descriptions on the command line, in the syntax of fastchess and cutechess-cli: `cmd=./new name=new
//! option.Hash=64 tc=8+0.08 …`.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use patzer_io::message_error;
use patzer_uci_client::{Control, Time, TimeControlError, seconds};

/// A player, or the defaults of all players.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spec {
    /// A network, weights file, built-in evaluation or program; empty in `--each`.
    pub cmd: String,
    pub name: Option<String>,
    pub args: Option<Vec<String>>,
    pub dir: Option<PathBuf>,
    /// File to which the program's standard error is appended.
    pub stderr: Option<PathBuf>,
    pub options: Vec<(String, String)>,
    pub control: Control,
    pub margin: Option<Duration>,
    pub odds: Option<f64>,
    pub restart: Option<bool>,
    /// Send only the moves since the last capture or pawn move.
    pub short_history: Option<bool>,
    /// Scores are from White's side.
    pub white_pov: Option<bool>,
    /// Think on the opponent's time.
    pub ponder: Option<bool>,
    /// A Polyglot book, and the full moves up to which it is used.
    pub book: Option<PathBuf>,
    pub book_moves: Option<u32>,
}

/// Keys and their meaning, for help and messages.
pub const KEYS: &[(&str, &str)] = &[
    ("cmd", "a UCI engine, a .nnue or .hce.toml file, or a built-in evaluation"),
    ("name", "name in the PGN"),
    ("args", "arguments of the program, as args='-a -b'"),
    ("dir", "working folder of the program"),
    ("stderr", "a file to which the program's standard error is appended"),
    ("proto", "the protocol; always uci"),
    ("option.NAME", "a UCI option's value"),
    ("tc", "clock: [moves/]seconds[+increment], several as 40/60:20/30:G/10, hg60 for an hourglass, or inf"),
    ("st", "seconds a move"),
    ("movetime", "milliseconds a move"),
    ("nodes", "nodes a move"),
    (
        "softnodes",
        "nodes a move after which the present iteration is the last; nodes= is the hard limit [ten times]",
    ),
    ("depth", "plies a move; also plies="),
    ("timemargin", "milliseconds by which the time may be overstepped"),
    ("timeodds", "factor for this player's times and nodes"),
    ("restart", "on: restart the program for each game"),
    ("ponder", "on: think on the opponent's time, with tc= or st="),
    ("book", "a Polyglot book (.bin) that this player plays from"),
    ("bookdepth", "full moves up to which it does [1000]"),
    ("whitepov", "on: the engine reports scores from White's side, whoever is to move"),
    ("history", "short: send only the moves since the last capture or pawn move"),
];

message_error!(SpecError);

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spec, SpecError> {
        let mut spec = Spec::default();
        for word in words(text)? {
            let setting = word.split_once('=');
            let (key, value) = setting.ok_or_else(|| SpecError(format!("`{word}` is not KEY=VALUE")))?;
            spec.set(key, value).map_err(|error| SpecError(format!("{word}: {error}")))?;
        }
        Ok(spec)
    }
}

impl Spec {
    /// The name that is given, or the file's.
    pub fn player_name(&self) -> String {
        let file = Path::new(&self.cmd).file_name().map(|name| name.to_string_lossy().into_owned());
        self.name.clone().or(file).unwrap_or_else(|| self.cmd.clone())
    }

    pub fn command(cmd: &str) -> Spec {
        Spec { cmd: cmd.to_string(), ..Spec::default() }
    }

    pub fn option(&mut self, name: &str, value: &str) {
        self.options.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.options.push((name.to_string(), value.to_string()));
    }

    pub fn with_defaults(self, each: &Spec) -> Spec {
        let mut options = Spec { options: each.options.clone(), ..Spec::default() };
        for (name, value) in &self.options {
            options.option(name, value);
        }
        Spec {
            cmd: self.cmd,
            name: self.name,
            args: self.args.or_else(|| each.args.clone()),
            dir: self.dir.or_else(|| each.dir.clone()),
            stderr: self.stderr.or_else(|| each.stderr.clone()),
            options: options.options,
            control: if self.control.is_unlimited() { each.control } else { self.control },
            margin: self.margin.or(each.margin),
            odds: self.odds.or(each.odds),
            restart: self.restart.or(each.restart),
            short_history: self.short_history.or(each.short_history),
            white_pov: self.white_pov.or(each.white_pov),
            ponder: self.ponder.or(each.ponder),
            book: self.book.or_else(|| each.book.clone()),
            book_moves: self.book_moves.or(each.book_moves),
        }
    }

    /// Sets the value of one of [`KEYS`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let write = |form: &str| SpecError(format!("write {form}"));
        let number =
            || value.parse::<u64>().ok().filter(|&n| n > 0).ok_or_else(|| write("a whole number above 0"));
        match key {
            "cmd" => self.cmd = value.to_string(),
            "name" => self.name = Some(value.to_string()),
            "args" => self.args = Some(words(value)?),
            "dir" => self.dir = Some(value.into()),
            "stderr" => self.stderr = Some(value.into()),
            "proto" if value == "uci" => {}
            "proto" => return Err(SpecError("engines have to speak uci".into())),
            "tc" if matches!(self.control.time, Some(Time::Move(_))) => return Err(two_times("st")),
            "st" | "movetime" if matches!(self.control.time, Some(Time::Clock(_))) => {
                return Err(two_times(key));
            }
            "tc" if matches!(value, "inf" | "infinite") => self.control.time = None,
            "tc" => {
                let clock = value
                    .strip_prefix("inf/")
                    .unwrap_or(value)
                    .parse()
                    .map_err(|e: TimeControlError| SpecError(e.to_string()))?;
                self.control.time = Some(Time::Clock(clock));
            }
            "st" => {
                let time = seconds(value).filter(|time| !time.is_zero());
                self.control.time = Some(Time::Move(time.ok_or_else(|| write("seconds, such as 0.1"))?));
            }
            "movetime" => {
                let time = milliseconds(value).filter(|time| !time.is_zero());
                let form = "a whole number above 0, of milliseconds up to a day";
                self.control.time = Some(Time::Move(time.ok_or_else(|| write(form))?));
            }
            "nodes" => self.control.nodes = Some(number()?),
            "softnodes" => self.control.soft_nodes = Some(number()?),
            "depth" | "plies" => {
                let depth = number()?.try_into().ok().filter(|depth| *depth <= 1000);
                self.control.depth = Some(depth.ok_or_else(|| write("plies up to 1000"))?);
            }
            "timemargin" => {
                self.margin = Some(milliseconds(value).ok_or_else(|| write("milliseconds"))?);
            }
            "timeodds" => {
                let odds = value.parse().ok().filter(|odds: &f64| (0.001..=1000.0).contains(odds));
                self.odds = Some(odds.ok_or_else(|| write("a factor from 0.001 to 1000"))?);
            }
            "restart" if matches!(value, "on" | "true" | "off" | "false" | "auto") => {
                self.restart = Some(matches!(value, "on" | "true"));
            }
            "restart" => return Err(write("on or off")),
            "ponder" if matches!(value, "on" | "true" | "off" | "false") => {
                self.ponder = Some(matches!(value, "on" | "true"));
            }
            "ponder" => return Err(write("on or off")),
            "book" => self.book = Some(value.into()),
            "bookdepth" => {
                let moves = value.parse().ok().filter(|moves| *moves > 0);
                self.book_moves = Some(moves.ok_or_else(|| write("full moves, 1 or more"))?);
            }
            "whitepov" if matches!(value, "on" | "true" | "off" | "false") => {
                self.white_pov = Some(matches!(value, "on" | "true"));
            }
            "whitepov" => return Err(write("on or off")),
            "history" if matches!(value, "short" | "full") => self.short_history = Some(value == "short"),
            "history" => return Err(write("full or short")),
            _ => match key.strip_prefix("option.") {
                Some(name) if !name.is_empty() => self.option(name, value),
                _ => {
                    let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
                    return Err(SpecError(format!("no such key; there are: {}", keys.join(", "))));
                }
            },
        }
        Ok(())
    }
}

/// Milliseconds of up to a day.
fn milliseconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|ms| *ms <= 86_400_000).map(Duration::from_millis)
}

fn two_times(key: &str) -> SpecError {
    SpecError(format!("tc= and {key}= exclude each other"))
}

/// Splits words like a shell; a backslash escapes only a space, a quote or a backslash.
pub fn words(text: &str) -> Result<Vec<String>, SpecError> {
    let mut words = Vec::new();
    let mut word = None::<String>;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', q) if q != Some('\'') && chars.peek().is_some_and(|c| " \t'\"\\".contains(*c)) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(SpecError(format!("`{text}`: a quotation mark {quote} is not closed")));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_fastchess_would() {
        let text = "cmd=./new name=\"new one\" args='-a \"b c\"' dir=/tmp stderr=e.txt proto=uci option.Hash=64 \
                    \"option.Move Overhead=10\" option.Clear\\ Hash=true tc=40/1:30+0.5 depth=9 timemargin=20 timeodds=2 restart=on history=short";
        let spec: Spec = text.parse().unwrap();
        assert_eq!((&spec.cmd[..], spec.name.as_deref()), ("./new", Some("new one")));
        assert_eq!(spec.args, Some(vec!["-a".to_string(), "b c".to_string()]));
        let options: Vec<_> = spec.options.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        assert_eq!(options, [("Hash", "64"), ("Move Overhead", "10"), ("Clear Hash", "true")]);
        assert_eq!(spec.control.to_string(), "40/90+0.5 seconds, depth 9");
        assert_eq!((spec.margin, spec.odds), (Some(Duration::from_millis(20)), Some(2.0)));
        assert_eq!((spec.dir, spec.restart), (Some("/tmp".into()), Some(true)));
        assert_eq!((spec.short_history, spec.stderr), (Some(true), Some("e.txt".into())));
        let [seconds, milliseconds] = ["st=0.25", "movetime=250"].map(|text| text.parse::<Spec>().unwrap());
        assert_eq!(seconds, milliseconds);
    }

    #[test]
    fn a_player_takes_what_it_does_not_say_from_what_holds_for_each() {
        let each: Spec = "option.Hash=16 option.Threads=1 tc=8+0.08 restart=on".parse().unwrap();
        let spec: Spec = "cmd=a option.hash=64 nodes=500".parse().unwrap();
        let spec = spec.with_defaults(&each);
        let options: Vec<_> = spec.options.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        assert_eq!(options, [("Threads", "1"), ("hash", "64")]);
        assert_eq!(spec.control, Control::nodes(500), "its own limit replaces the common one");
        assert_eq!(spec.restart, Some(true));
        assert_eq!(Spec::command("b").with_defaults(&each).control, each.control);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, says) in [
            ("cmd", "KEY=VALUE"),
            ("cmd=a colour=red", "no such key"),
            ("nodes=0", "nodes=0"),
            ("tc=fast", "tc=fast"),
            ("option.=3", "no such key"),
            ("name='a", "not closed"),
            ("proto=xboard", "uci"),
            ("timeodds=-1", "factor"),
            ("tc=8+0.08 st=1", "exclude each other"),
            ("st=1 tc=8+0.08", "exclude each other"),
            ("tc=8+0.08 movetime=100", "tc= and movetime= exclude each other"),
            ("movetime=0.1", "a whole number above 0"),
            ("movetime=18446744073709551615", "up to a day"),
        ] {
            let error = text.parse::<Spec>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn paths_of_other_systems_keep_their_backslashes() {
        assert_eq!(words(r"cmd=C:\engines\new.exe").unwrap(), [r"cmd=C:\engines\new.exe"]);
        assert_eq!(words("  ").unwrap(), [""; 0]);
        assert_eq!(words("a='' b").unwrap(), ["a=", "b"]);
    }
}
