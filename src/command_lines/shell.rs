//! Commands of a shell text, with variables and quotes resolved as far as the text itself tells.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Value of a variable or substitution that only a run would know: a number, a file and a name at once.
const UNKNOWN: &str = "1";

/// Words that precede a command without being one.
const KEYWORDS: [&str; 9] = ["do", "then", "else", "if", "elif", "while", "!", "{", "exec"];

/// Commands of a text, those in substitutions included, each as its words.
pub fn commands(text: &str) -> Vec<Vec<String>> {
    let variables = BTreeMap::from([("PATZER".to_string(), "patzer".to_string())]);
    let mut shell = Shell { variables, commands: Vec::new() };
    shell.read(&mut text.replace("\"$@\"", "…").replace("\\\n", " ").chars().peekable(), None);
    shell.commands
}

struct Shell {
    variables: BTreeMap<String, String>,
    commands: Vec<Vec<String>>,
}

/// Words of the command that is being read.
#[derive(Default)]
struct Line {
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    redirected: bool,
}

impl Line {
    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.redirected)
        {
            self.words.push(word);
        }
    }
}

impl Shell {
    /// Reads up to the character that ends a substitution, or to the end of the text.
    fn read(&mut self, chars: &mut Peekable<Chars<'_>>, end: Option<char>) {
        let (mut line, mut heredoc) = (Line::default(), None);
        while let Some(c) = chars.next().filter(|c| Some(*c) != end) {
            match c {
                '\\' => line.push(&chars.next().unwrap_or('\n').to_string()),
                '\'' => line.push(&chars.by_ref().take_while(|c| *c != '\'').collect::<String>()),
                '"' => line.push(&self.quoted(chars)),
                '$' => self.split(chars, &mut line),
                '#' if line.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
                '<' if chars.next_if_eq(&'<').is_some() => {
                    let delimiter = chars.by_ref().take_while(|c| !c.is_whitespace()).collect::<String>();
                    heredoc = Some(delimiter.trim_matches('\'').to_string());
                    line.end_word();
                    self.end_command(std::mem::take(&mut line.words));
                }
                '<' | '>' => {
                    line.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                    line.end_word();
                    while chars.next_if(|c| ">&".contains(*c)).is_some() {}
                    line.redirected = true;
                }
                ' ' | '\t' => line.end_word(),
                '\n' | ';' | '|' | '&' | '(' | ')' => {
                    line.end_word();
                    self.end_command(std::mem::take(&mut line.words));
                }
                c => line.push(c.encode_utf8(&mut [0; 4])),
            }
            if let Some(delimiter) = heredoc.take() {
                let mut read = String::new();
                while !read.ends_with(&format!("\n{delimiter}\n")) {
                    let Some(c) = chars.next() else { break };
                    read.push(c);
                }
            }
        }
        line.end_word();
        self.end_command(line.words);
    }

    fn quoted(&mut self, chars: &mut Peekable<Chars<'_>>) -> String {
        let mut text = String::new();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            match c {
                '\\' => text.extend(chars.next()),
                '$' => text += &self.expand(chars),
                c => text.push(c),
            }
        }
        text
    }

    /// Adds the value of an unquoted variable, which may be several words or none.
    fn split(&mut self, chars: &mut Peekable<Chars<'_>>, line: &mut Line) {
        let value = self.expand(chars);
        for (i, word) in value.split_whitespace().enumerate() {
            if i > 0 {
                line.end_word();
            }
            line.push(word);
        }
    }

    /// Value of what follows a `$`.
    fn expand(&mut self, chars: &mut Peekable<Chars<'_>>) -> String {
        if chars.next_if_eq(&'(').is_some() {
            if chars.next_if_eq(&'(').is_some() {
                // Arithmetic, up to the second of two parentheses.
                let _ = chars.by_ref().skip_while(|c| *c != ')').nth(1);
            } else {
                self.read(chars, Some(')'));
            }
            return UNKNOWN.to_string();
        }
        if chars.next_if_eq(&'{').is_none() {
            let name = identifier(chars);
            return self.value(&name);
        }
        let name = identifier(chars);
        let mut depth = 1;
        let inner = |c: &char| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth > 0
        };
        let rest: String = chars.by_ref().take_while(inner).collect();
        match rest.trim_start_matches(':').split_at_checked(1) {
            Some(("+", words)) => self.words_of(words),
            Some(("-" | "=", words)) if !self.variables.contains_key(&name) => self.words_of(words),
            _ => self.value(&name),
        }
    }

    fn value(&self, name: &str) -> String {
        self.variables.get(name).map_or(UNKNOWN, String::as_str).to_string()
    }

    /// Words after `:+` or `:-`, which may be quoted themselves.
    fn words_of(&mut self, text: &str) -> String {
        self.quoted(&mut text.replace('"', "").chars().peekable())
    }

    fn end_command(&mut self, words: Vec<String>) {
        let mut words = words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            match first.split_once('=') {
                Some((name, value))
                    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
                {
                    self.variables.insert(name.to_string(), value.to_string());
                }
                _ if KEYWORDS.contains(&first.as_str()) => {}
                _ => break,
            }
            words = rest;
        }
        match words {
            [word, name, with, value, ..] if word == "for" && with == "in" => {
                self.variables.insert(name.clone(), value.clone());
            }
            // The studies' variables: the value of the full form, and that of the quick one.
            [word, name, value, _] if word == "default" => {
                self.variables.entry(name.clone()).or_insert_with(|| value.clone());
            }
            [] => {}
            words => self.commands.push(words.to_vec()),
        }
    }
}

fn identifier(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        name.push(c);
    }
    // `$@`, `$?` and the like are one character.
    if name.is_empty() {
        name.extend(chars.next_if(|c| "@*#?$!".contains(*c)));
    }
    name
}

#[test]
fn words_are_those_of_a_shell() {
    let said = |text: &str| commands(text).iter().map(|words| words.join("|")).collect::<Vec<_>>();
    assert_eq!(said("a 'b c' \"d $e\" f\\ g # h\ni"), ["a|b c|d 1|f g", "i"]);
    assert_eq!(
        said("x=1; if a -b \\\n  $x 2>> log | c > d && e <f; then g; fi"),
        ["a|-b|1", "c", "e", "g", "fi"]
    );
    assert_eq!(
        said("default N '--n 5' 2\na $N \"$(b -c)\" ${Q:+--q \"$N\"}"),
        ["b|-c", "a|--n|5|1|--q|--n|5"]
    );
    assert_eq!(
        said("for s in 3 4; do a $s; done\ncat > x <<'END'\na b\nEND\nc"),
        ["a|3", "done", "cat", "c"]
    );
}
