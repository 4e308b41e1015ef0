//! Languages of sources, each by the endings of its files.

use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    CSharp,
    Go,
    Java,
    JavaScript,
    Kotlin,
    Python,
    Rust,
    Swift,
    Zig,
}

/// The mark that tells a declaration from a use of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declares {
    /// A type before the name.
    Type,
    /// `const`, `let` and the like before the name.
    Keyword,
    /// The value alone.
    Assignment,
}

const LANGUAGES: [(Language, &str, &[&str]); 10] = [
    (Language::C, "C, C++", &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "inc", "inl", "ipp"]),
    (Language::Rust, "Rust", &["rs"]),
    (Language::Go, "Go", &["go"]),
    (Language::Java, "Java", &["java"]),
    (Language::CSharp, "C#", &["cs"]),
    (Language::JavaScript, "JavaScript, TypeScript", &["js", "mjs", "cjs", "ts"]),
    (Language::Kotlin, "Kotlin", &["kt", "kts"]),
    (Language::Swift, "Swift", &["swift"]),
    (Language::Zig, "Zig", &["zig"]),
    (Language::Python, "Python", &["py"]),
];

impl Language {
    pub fn of(path: &Path) -> Option<Language> {
        let ending = path.extension()?.to_str()?;
        LANGUAGES.iter().find(|(_, _, endings)| endings.contains(&ending)).map(|row| row.0)
    }

    /// All names and endings, for an error.
    pub fn list() -> String {
        let row =
            |(_, name, endings): &(Language, &str, &[&str])| format!("{name} (.{})", endings.join(", ."));
        LANGUAGES.iter().map(row).collect::<Vec<_>>().join("; ")
    }

    pub fn declares(self) -> Declares {
        match self {
            Language::C | Language::CSharp | Language::Java => Declares::Type,
            Language::Kotlin | Language::Rust | Language::Swift | Language::Zig => Declares::Keyword,
            Language::Go | Language::JavaScript | Language::Python => Declares::Assignment,
        }
    }

    /// Tests whether a line's end ends a statement.
    pub fn ends_with_the_line(self) -> bool {
        match self {
            Language::Go | Language::JavaScript | Language::Kotlin | Language::Python | Language::Swift => {
                true
            }
            Language::C | Language::CSharp | Language::Java | Language::Rust | Language::Zig => false,
        }
    }

    /// Tests whether the type of an array is written before its braces, as in `[3]int16{1, 2, 3}`.
    pub fn has_types_of_literals(self) -> bool {
        matches!(self, Language::Go | Language::Zig)
    }

    /// Tests whether `#` at the begin of a line is a directive.
    pub fn has_directives(self) -> bool {
        matches!(self, Language::C | Language::CSharp | Language::Swift)
    }

    /// Tests whether a string in backquotes may have several lines.
    pub fn has_backquotes(self) -> bool {
        matches!(self, Language::Go | Language::JavaScript)
    }
}
