//! Array literals: numbers in brackets and calls, such as `{ S(1, 2), S(3, 4) }`, `vec![[1, 2]]`, `new int[] {1}`.

use std::ops::Range;

use super::language::Language;
use super::tokens::{Token, TokenKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// Place of a number, with its sign.
    Number(Range<usize>),
    Group {
        called: bool,
        /// Its values have names, as the fields of a struct.
        named: bool,
        nodes: Vec<Node>,
        at: Range<usize>,
    },
}

/// Place and reason of a fault.
pub type Fault = (usize, String);

impl Node {
    /// An entry of an array by its indices, empty where the array ends before it; without any, the node itself.
    pub fn entry(self, places: &[usize]) -> Result<Node, Fault> {
        let [place, rest @ ..] = places else { return Ok(self) };
        let Node::Group { nodes, at, .. } = self else {
            return Err((self.start(), format!("a number has no entry [{place}]")));
        };
        match nodes.into_iter().nth(*place) {
            Some(node) => node.entry(rest),
            None => Ok(Node::Group { called: false, named: false, nodes: Vec::new(), at }),
        }
    }
}

pub struct Parser<'a> {
    pub text: &'a str,
    pub language: Language,
    pub tokens: &'a [Token],
    pub next: usize,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.next + ahead).map(|token| token.kind)
    }

    fn takes(&mut self, sign: u8) -> bool {
        let found = self.peek(0) == Some(TokenKind::Sign(sign));
        self.next += usize::from(found);
        found
    }

    fn fault<T>(&self, reason: impl FnOnce(&str) -> String) -> Result<T, Fault> {
        let (at, found) = match self.tokens.get(self.next) {
            Some(token) => (token.at.start, &self.text[token.at.clone()]),
            None => (self.text.len(), "the end of the file"),
        };
        Err((at, reason(found)))
    }

    pub fn value(&mut self) -> Result<Node, Fault> {
        while self.takes(b'&') {}
        match self.peek(0) {
            Some(TokenKind::Number) => self.number(),
            Some(TokenKind::Sign(b'-' | b'+')) if self.peek(1) == Some(TokenKind::Number) => self.number(),
            Some(TokenKind::Sign(b'[')) if self.language.has_types_of_literals() => self.typed(),
            Some(TokenKind::Sign(b'{' | b'[' | b'(')) => self.group(false, self.tokens[self.next].at.start),
            // `.{1, 2}` of Zig, whose type is known.
            Some(TokenKind::Sign(b'.')) if self.peek(1) == Some(TokenKind::Sign(b'{')) => {
                self.next += 1;
                self.group(false, self.tokens[self.next].at.start)
            }
            Some(TokenKind::Word) => self.call(),
            _ => self.fault(|found| format!("`{found}` is not a number")),
        }
    }

    /// Fails where something goes on with the value, so that it is not what the source computes.
    pub fn end(&self) -> Result<(), Fault> {
        let end = match self.tokens.get(self.next) {
            None => true,
            Some(Token { kind: TokenKind::EndOfDefinition, .. }) => true,
            Some(Token { kind: TokenKind::Sign(b',' | b';' | b')' | b']' | b'}'), .. }) => true,
            Some(Token { kind, at }) => {
                let between = &self.text[self.tokens[self.next - 1].at.end..at.start];
                let goes_on = matches!(kind, TokenKind::Sign(b'.' | b'*' | b'/' | b'+' | b'-' | b'?'));
                self.language.ends_with_the_line() && between.contains('\n') && !goes_on
            }
        };
        if end { Ok(()) } else { self.fault(|found| format!("`{found}` goes on with the values")) }
    }

    /// An array behind its type: `[2][3]int16{{1, 2, 3}, {4, 5, 6}}`, `[_]Score{ .{ 1, 2 } }`.
    fn typed(&mut self) -> Result<Node, Fault> {
        let (from, first) = (self.tokens[self.next].at.start, self.next);
        while self.takes(b'[') {
            while matches!(self.peek(0), Some(TokenKind::Word | TokenKind::Number | TokenKind::Sign(b'.'))) {
                self.next += 1;
            }
            if !self.takes(b']') {
                return self.fault(|found| format!("`{found}` in the length of an array"));
            }
        }
        while matches!(self.peek(0), Some(TokenKind::Word | TokenKind::Sign(b'.' | b'*'))) {
            self.next += 1;
        }
        if self.peek(0) != Some(TokenKind::Sign(b'{')) {
            self.next = first;
            return self.fault(|found| format!("`{found}` is not a number"));
        }
        if matches!(self.peek(1), Some(TokenKind::Word)) && self.peek(2) == Some(TokenKind::Sign(b':')) {
            self.next += 1;
            return self.fault(|found| {
                format!("`{found}:` places an entry of an array; only entries in order can be replaced")
            });
        }
        self.group(false, from)
    }

    /// A literal number; one of a sum or product is refused.
    fn number(&mut self) -> Result<Node, Fault> {
        let from = self.tokens[self.next].at.start;
        while self.peek(0) != Some(TokenKind::Number) {
            self.next += 1;
        }
        let at = from..self.tokens[self.next].at.end;
        self.next += 1;
        match self.peek(0) {
            None | Some(TokenKind::EndOfDefinition | TokenKind::Word) => Ok(Node::Number(at)),
            Some(TokenKind::Sign(b',' | b';' | b')' | b'}' | b']')) => Ok(Node::Number(at)),
            // A statement of Python ends with its line, and a definition has its comment behind it.
            Some(_) if self.text[at.end..self.tokens[self.next].at.start].contains('\n') => {
                Ok(Node::Number(at))
            }
            Some(_) => self
                .fault(|found| format!("`{found}` makes an expression; only plain numbers can be replaced")),
        }
    }

    /// A macro, constructor or literal with its type: `S(1, 2)`, `Score::new(1, 2)`, `Score { mg: 1, eg: 2 }`,
    /// `vec![1]`, `new int[][] {{1}}`, `np.array([1])`.
    fn call(&mut self) -> Result<Node, Fault> {
        let (from, first) = (self.tokens[self.next].at.start, self.next);
        while matches!(
            self.peek(0),
            Some(TokenKind::Word | TokenKind::Sign(b':' | b'.' | b'!' | b'<' | b'>'))
        ) {
            self.next += 1;
        }
        let mut array = self.makes_a_list();
        while let Some(tokens) = self.lengths() {
            (self.next, array) = (self.next + tokens, true);
        }
        match self.peek(0) {
            Some(TokenKind::Sign(b'{' | b'(')) => return self.group(!array, from),
            // `vec![1]`; `new int[3]` has no values.
            Some(TokenKind::Sign(b'[')) if self.tokens[self.next - 1].kind == TokenKind::Sign(b'!') => {
                return self.group(false, from);
            }
            _ => {}
        }
        self.next = first;
        self.fault(|found| format!("`{found}` is not a number"))
    }

    /// Tests whether the word before this token is a function whose arguments are the entries of an array.
    fn makes_a_list(&self) -> bool {
        let Some(Token { kind: TokenKind::Word, at }) = self.tokens.get(self.next.wrapping_sub(1)) else {
            return false;
        };
        let word = &self.text[at.clone()];
        ["rrayOf", "istOf"].iter().any(|end| word.ends_with(end)) || matches!(word, "of" | "asList")
    }

    /// Tokens of `[]`, or of `[6, 64]` before an initialiser.
    fn lengths(&self) -> Option<usize> {
        let inside = |ahead: &usize| {
            matches!(self.peek(*ahead), Some(TokenKind::Word | TokenKind::Number | TokenKind::Sign(b',')))
        };
        let length = 1 + (1..).take_while(inside).count();
        let begins = self.peek(0) == Some(TokenKind::Sign(b'['));
        let closed = self.peek(length) == Some(TokenKind::Sign(b']'));
        let opened = matches!(self.peek(length + 1), Some(TokenKind::Sign(b'{' | b'[')));
        (begins && closed && (length == 1 || opened)).then_some(length + 1)
    }

    fn group(&mut self, called: bool, from: usize) -> Result<Node, Fault> {
        let close = match self.peek(0) {
            Some(TokenKind::Sign(b'{')) => b'}',
            Some(TokenKind::Sign(b'[')) => b']',
            _ => b')',
        };
        self.next += 1;
        let (mut nodes, mut named) = (Vec::new(), false);
        while !self.takes(close) {
            // A designator of C: `.mg = 1`.
            self.next += usize::from(
                self.peek(0) == Some(TokenKind::Sign(b'.')) && self.peek(1) == Some(TokenKind::Word),
            );
            if self.names_a_field() {
                named |= nodes.is_empty();
                self.next += 2;
                if self.value_of_option(&mut nodes) {
                    continue;
                }
            }
            let value = self.value()?;
            nodes.push(value);
            if !self.takes(b',') && self.peek(0) != Some(TokenKind::Sign(close)) {
                return self
                    .fault(|found| format!("`{found}` inside an array; only plain numbers can be replaced"));
            }
        }
        let at = from..self.tokens[self.next - 1].at.end;
        // Brackets around one array change nothing.
        Ok(match <[Node; 1]>::try_from(nodes) {
            Ok([inner @ Node::Group { called: false, .. }]) if called || close == b')' => inner,
            Ok(one) => Node::Group { called, named, nodes: one.into(), at },
            Err(nodes) => Node::Group { called, named, nodes, at },
        })
    }

    /// `mg: 1`, `mg = 1`.
    fn names_a_field(&self) -> bool {
        self.peek(0) == Some(TokenKind::Word)
            && matches!(self.peek(1), Some(TokenKind::Sign(b':' | b'=')))
            && self.peek(2) != self.peek(1)
    }

    /// Skips an argument such as `dtype=np.int32`.
    fn value_of_option(&mut self, nodes: &mut [Node]) -> bool {
        let skips = !nodes.is_empty() && self.peek(0) == Some(TokenKind::Word);
        while skips && matches!(self.peek(0), Some(TokenKind::Word | TokenKind::Sign(b'.'))) {
            self.next += 1;
        }
        skips && (self.takes(b',') || matches!(self.peek(0), Some(TokenKind::Sign(b')' | b']' | b'}'))))
    }
}
