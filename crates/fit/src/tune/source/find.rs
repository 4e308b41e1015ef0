//! Finds the declaration of a name with its array literal.

use super::language::{Declares, Language};
use super::literal::{Fault, Node, Parser};
use super::tokens::{Token, TokenKind, line_of, tokens};

/// Words that a call may follow, so that they are no type.
const BEFORE_CALLS: [&str; 12] =
    ["return", "co_return", "co_yield", "throw", "new", "delete", "else", "do", "and", "or", "not", "xor"];

/// Words before a name that declare it.
const KEYWORDS: [&str; 6] = ["const", "static", "let", "mut", "val", "var"];

pub struct Source<'a> {
    pub text: &'a str,
    language: Language,
    tokens: Vec<Token>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str, language: Language) -> Source<'a> {
        Source { text, language, tokens: tokens(text, language) }
    }

    pub fn line(&self, at: usize) -> usize {
        line_of(self.text, at)
    }

    /// The declarations of `name`, which may have qualifiers: `Eval.KNIGHT`, `psqt::knight`; of `Psqt[3][63]` that entry.
    /// Fails if each of them has a fault, with the first.
    pub fn find(&self, name: &str) -> Result<Vec<Node>, Fault> {
        let (name, entry) = name.split_at(name.find('[').unwrap_or(name.len()));
        let places = entry.split(['[', ']']).filter_map(|place| place.parse().ok());
        let places: Vec<usize> = places.collect();
        let mut path: Vec<&str> = name.split(['.', ':']).filter(|part| !part.is_empty()).collect();
        let last = path.pop().unwrap_or_default();
        let (mut found, mut fault) = (Vec::new(), None);
        for (i, token) in self.tokens.iter().enumerate() {
            if token.kind != TokenKind::Word || self.text[token.at.clone()] != *last {
                continue;
            }
            let Some(start) = self.initialiser(i) else { continue };
            if !path.is_empty() && !self.is_within(i, &path) {
                continue;
            }
            let mut parser = self.parser(start);
            let value = parser.value().and_then(|node| parser.end().map(|()| node));
            match value.and_then(|node| node.entry(&places)) {
                Ok(node) => found.push(node),
                Err(reason) => fault = fault.or(Some(reason)),
            }
        }
        match fault {
            Some(fault) if found.is_empty() => Err(fault),
            _ => Ok(found),
        }
    }

    fn parser(&self, next: usize) -> Parser<'_> {
        Parser { text: self.text, language: self.language, tokens: &self.tokens, next }
    }

    fn kind(&self, i: usize) -> Option<TokenKind> {
        self.tokens.get(i).map(|token| token.kind)
    }

    fn is_sign(&self, i: usize, signs: &[u8]) -> bool {
        matches!(self.kind(i), Some(TokenKind::Sign(sign)) if signs.contains(&sign))
    }

    fn word(&self, i: usize) -> &str {
        match self.tokens.get(i) {
            Some(Token { kind: TokenKind::Word, at }) => &self.text[at.clone()],
            _ => "",
        }
    }

    /// Token at which the initial value of the name at token `i` begins, if that declares it.
    fn initialiser(&self, i: usize) -> Option<usize> {
        if self.defines(i) {
            return Some(i + 1);
        }
        let mut next = i + 1;
        while self.is_sign(next, b"[") {
            next = self.behind(next);
        }
        if self.holds_values(next) && self.declares(i) {
            return Some(next);
        }
        let dims = next > i + 1;
        if self.language == Language::Go {
            next = self.behind_a_type(i, next);
        }
        // The accessors of a property of C#: `{ get; } = …`.
        if self.language == Language::CSharp && self.is_sign(next, b"{") {
            next = self.behind(next);
        }
        if self.is_sign(next, b":") && !self.is_sign(next + 1, b":") {
            next += 1;
            // The type, up to `=`; without one this is a field of a literal.
            let field = next;
            while self.tokens.len() > next && !self.is_sign(next, b"=,;})") {
                next = if self.is_sign(next, b"([{") { self.behind(next) } else { next + 1 };
            }
            if !self.is_sign(next, b"=") {
                return (self.language != Language::Python && self.opens(field)).then_some(field);
            }
        }
        if !self.is_sign(next, b"=") || self.is_sign(next + 1, b"=") {
            return None;
        }
        let arrow = self.language == Language::CSharp && self.is_sign(next + 1, b">");
        let previous = self.qualified(i).wrapping_sub(1);
        let word = self.word(previous);
        let designates = self.is_sign(previous, b".") && self.is_sign(i.wrapping_sub(2), b"{,");
        let declares = match self.language.declares() {
            Declares::Assignment => !dims || self.language == Language::Go,
            Declares::Keyword => designates || KEYWORDS.contains(&word),
            Declares::Type => {
                let of_type = !word.is_empty() && !BEFORE_CALLS.contains(&word);
                let enumerates = self.is_sign(previous, b"{,") && !dims && !self.ends_a_statement(next + 1);
                let follows = self.is_sign(previous, b",");
                of_type || designates || enumerates || follows || self.is_sign(previous, b"]>*&")
            }
        };
        declares.then_some(next + 1 + usize::from(arrow))
    }

    /// Token behind the type of Go that begins at token `next`, in the line of the name at token `i`.
    fn behind_a_type(&self, i: usize, mut next: usize) -> usize {
        let in_line = |next: usize| {
            let end = self.tokens.get(next).map_or(self.text.len(), |token| token.at.end);
            !self.text[self.tokens[i].at.start..end].contains('\n')
        };
        while in_line(next) && (!self.word(next).is_empty() || self.is_sign(next, b".*[")) {
            next = if self.is_sign(next, b"[") { self.behind(next) } else { next + 1 };
        }
        next
    }

    /// Tests whether two places are in different branches of one `#if`, so that a build has one of them.
    pub fn exclude(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|at| branches(self.text, at));
        self.language.has_directives()
            && a.iter().any(|(of, x)| b.iter().any(|(other, y)| of == other && x != y))
    }

    /// Tests whether a field has a literal, not a type.
    fn opens(&self, i: usize) -> bool {
        let mut parser = self.parser(i);
        parser.value().is_ok() && self.is_sign(parser.next, b",}")
    }

    fn ends_a_statement(&self, value: usize) -> bool {
        let mut parser = self.parser(value);
        parser.value().is_ok() && self.is_sign(parser.next, b";")
    }

    /// Tests whether the brackets at token `open` are an initialiser of C++ with its values: `{100, 100};`, `(100,
    /// 100),`.
    fn holds_values(&self, open: usize) -> bool {
        if self.language != Language::C || !self.is_sign(open, b"{(") {
            return false;
        }
        let mut parser = self.parser(open);
        let values = matches!(parser.value(), Ok(Node::Group { nodes, .. }) if !nodes.is_empty());
        values && self.is_sign(parser.next, b",;")
    }

    /// Tests whether a declaration of C++ has the name at token `i`, as its first or behind a comma.
    fn declares(&self, i: usize) -> bool {
        if i == 0 || !self.is_sign(i - 1, b",") {
            return self.follows_type(i);
        }
        let first = self.statement(i - 1).and_then(|begin| self.first_name(begin));
        first.is_some_and(|first| self.follows_type(first))
    }

    /// First token of the name at token `i` with its qualifiers, as in `Eval::pawn`.
    fn qualified(&self, i: usize) -> usize {
        let mut begin = i;
        while begin >= 3
            && self.is_sign(begin - 1, b":")
            && self.is_sign(begin - 2, b":")
            && !self.word(begin - 3).is_empty()
        {
            begin -= 3;
        }
        begin
    }

    fn follows_type(&self, i: usize) -> bool {
        let Some(previous) = self.qualified(i).checked_sub(1) else { return false };
        match self.word(previous) {
            "" => self.closes_a_template(previous),
            word => !BEFORE_CALLS.contains(&word),
        }
    }

    /// Tests whether `>` at a token closes the arguments of a template, as in `std::array<Score, 2>`.
    fn closes_a_template(&self, close: usize) -> bool {
        let mut depth = 0;
        for i in (0..=close).rev() {
            match self.kind(i) {
                Some(TokenKind::Sign(b'>')) => depth += 1,
                Some(TokenKind::Sign(b'<')) => depth -= 1,
                Some(TokenKind::Word | TokenKind::Number | TokenKind::Sign(b':' | b',' | b'*' | b'&')) => {}
                _ => return false,
            }
            if depth == 0 {
                return i < close && i > 0 && !self.word(i - 1).is_empty();
            }
        }
        false
    }

    /// Token at which the statement around the comma at token `comma` begins; none among arguments.
    fn statement(&self, comma: usize) -> Option<usize> {
        let mut begin = comma;
        while begin > 0 {
            let previous = begin - 1;
            let label = self.is_sign(previous, b":") && !self.is_sign(begin, b":");
            begin = match self.kind(previous)? {
                // Only the braces of an initialiser have a comma behind them.
                TokenKind::Sign(b'}') if !self.is_sign(begin, b",") => break,
                TokenKind::Sign(b')' | b']' | b'}') => self.opening(previous)?,
                TokenKind::Sign(b'(' | b'[') => return None,
                TokenKind::Sign(b';' | b'{') | TokenKind::EndOfDefinition => break,
                TokenKind::Sign(b':') if label && !self.is_sign(previous.checked_sub(1)?, b":") => break,
                _ => previous,
            };
        }
        Some(begin)
    }

    /// The bracket that the one at `close` closes.
    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        (0..=close).rev().find(|&i| {
            depth += usize::from(self.is_sign(i, b")]}"));
            depth -= usize::from(self.is_sign(i, b"([{"));
            depth == 0
        })
    }

    /// The first name that a declaration declares, behind its type.
    fn first_name(&self, begin: usize) -> Option<usize> {
        let mut depth = 0;
        let of_type = |i: &usize| match self.kind(*i) {
            Some(TokenKind::Sign(b'<')) => {
                depth += 1;
                true
            }
            Some(TokenKind::Sign(b'>')) => {
                depth -= 1;
                true
            }
            Some(TokenKind::Sign(b',') | TokenKind::Number) => depth > 0,
            Some(TokenKind::Word | TokenKind::Sign(b':' | b'*' | b'&')) => true,
            _ => false,
        };
        let last = (begin..self.tokens.len()).take_while(of_type).last()?;
        (!self.word(last).is_empty()).then_some(last)
    }

    /// Tests whether a `#define` defines the name at token `i`, its first: tokens of other directives are skipped.
    fn defines(&self, i: usize) -> bool {
        let line = self.text[..self.tokens[i].at.start].rfind('\n').map_or(0, |at| at + 1);
        let first = i == 0 || self.tokens[i - 1].at.start < line;
        first && self.language == Language::C && self.text[line..].trim_start().starts_with('#')
    }

    /// Token behind the bracket that closes the one at `open`.
    fn behind(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for i in open..self.tokens.len() {
            if self.is_sign(i, b"([{") {
                depth += 1;
            } else if self.is_sign(i, b")]}") {
                depth -= 1;
                if depth == 0 {
                    return i + 1;
                }
            }
        }
        self.tokens.len()
    }

    /// Tests whether token `i` is inside blocks of these names, or behind them as in `Eval::KNIGHT`.
    fn is_within(&self, i: usize, path: &[&str]) -> bool {
        let qualified = (0..i).rev().take_while(|&j| self.is_sign(j, b":.") || !self.word(j).is_empty());
        let mut names: Vec<&str> = qualified.map(|j| self.word(j)).collect();
        match self.language {
            Language::Python => names.extend(self.classes_around(i)),
            _ => names.extend(self.blocks_around(i)),
        }
        path.iter().all(|part| names.contains(part))
    }

    /// Words in the headers of the blocks around a token.
    fn blocks_around(&self, i: usize) -> Vec<&str> {
        let mut open = Vec::new();
        for j in 0..i {
            if self.is_sign(j, b"{") {
                open.push(j);
            } else if self.is_sign(j, b"}") {
                open.pop();
            }
        }
        let header = |&brace: &usize| (0..brace).rev().take_while(|&j| !self.is_sign(j, b";{}"));
        open.iter().flat_map(header).map(|j| self.word(j)).collect()
    }

    fn classes_around(&self, i: usize) -> Vec<&str> {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let at = self.tokens[i].at.start;
        let start = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        let (mut least, mut names) = (indent(&self.text[start..]), Vec::new());
        for line in self.text[..start].lines().rev().filter(|line| !line.trim().is_empty()) {
            if indent(line) < least {
                least = indent(line);
                let name = line.trim_start().strip_prefix("class ").unwrap_or_default();
                names.extend(name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next());
            }
        }
        names
    }
}

/// The conditionals around a place: the number of each in the file, and the number of its branch.
fn branches(text: &str, at: usize) -> Vec<(usize, usize)> {
    let (mut open, mut conditionals): (Vec<(usize, usize)>, usize) = (Vec::new(), 0);
    for line in text[..at].lines() {
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        if directive.starts_with("if") {
            conditionals += 1;
            open.push((conditionals, 0));
        } else if directive.starts_with("endif") {
            open.pop();
        } else if let (true, Some(last)) = (directive.starts_with("el"), open.last_mut()) {
            last.1 += 1;
        }
    }
    open
}
