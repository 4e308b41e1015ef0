//! Splits a stream of PGN text into games, independently of how the bytes arrive.
//!
//! The splitter knows only lines, tags and comments, so that a broken game cannot hide the next one.
//!
//! A tag line after movetext starts a game, as does an `[Event` line if the game already has one, or has a blank line
//! after its first tags. Inside a comment, an `[Event` line or a tag after a blank line is decided by look-ahead: if
//! `}` comes before the next `{`, the line belongs to the comment; otherwise the comment was never closed and the next
//! game starts here. Text after a result and a blank line is a game of its own, so that lost tags or rubbish between
//! games do not harm the game before them; so is text after a tag within a line of movetext (a lost line end).

use memchr::{memchr, memchr_iter, memchr2, memchr3};

use super::movetext::result;
use patzer_io::without_byte_order_mark;

/// Look-ahead in bytes for the end of a comment that seems to contain the start of a game.
const LOOK_AHEAD: usize = 1 << 16;

/// One game's range in the splitter's text, with its line in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameSpan {
    pub start: usize,
    /// Start of the movetext; equal to `end` if there is none.
    pub movetext: usize,
    pub end: usize,
    /// First line of the game in the file, from 1.
    pub line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    BeforeGames,
    Tags { event: bool, blank: bool },
    Movetext,
    Comment,
}

/// Kind of a line outside comments; `Skipped` are lines before games and line comments between tags, `starts` marks the
/// first line of a game, `first` that of its movetext.
enum Line {
    Skipped,
    Blank { event: bool },
    Tag { starts: bool },
    Movetext { starts: bool, first: bool },
}

/// Splits text into games as it arrives.
#[derive(Debug)]
pub struct GameSplitter {
    text: Vec<u8>,
    /// End of the scanned text, always at the start of a line.
    scanned: usize,
    /// End of the text searched for a line end.
    searched: usize,
    /// Start of the last look-ahead that found a brace, and the brace's place.
    brace: Option<(usize, usize)>,
    line: u64,
    section: Section,
    blank: bool,
    current: GameSpan,
    games: Vec<GameSpan>,
}

impl Default for GameSplitter {
    fn default() -> GameSplitter {
        GameSplitter::new()
    }
}

impl GameSplitter {
    pub fn new() -> GameSplitter {
        GameSplitter {
            text: Vec::new(),
            scanned: 0,
            searched: 0,
            brace: None,
            line: 1,
            section: Section::BeforeGames,
            blank: false,
            current: GameSpan { start: 0, movetext: 0, end: 0, line: 1 },
            games: Vec::new(),
        }
    }

    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Returns the number of bytes of the unfinished game.
    pub fn unfinished(&self) -> usize {
        self.text.len() - if self.section == Section::BeforeGames { 0 } else { self.current.start }
    }

    /// Returns the number of bytes of whole games not yet taken.
    pub fn finished(&self) -> usize {
        self.games.last().map_or(0, |game| game.end)
    }

    pub fn waiting(&self) -> usize {
        self.games.len()
    }

    pub fn unfinished_line(&self) -> Option<u64> {
        (self.section != Section::BeforeGames).then_some(self.current.line)
    }

    pub fn scan(&mut self, last: bool) {
        while self.scanned < self.text.len() {
            if self.blank {
                self.skip_blank_lines();
            }
            let from = self.searched.max(self.scanned);
            let end = match memchr(b'\n', &self.text[from..]) {
                Some(length) => from + length + 1,
                None if last => self.text.len(),
                None => {
                    self.searched = self.text.len();
                    break;
                }
            };
            if !self.line_until(end, last) {
                return;
            }
            self.scanned = end;
            self.line += 1;
        }
        if self.section == Section::BeforeGames && self.games.is_empty() {
            self.drop_scanned();
        }
        if last && self.section != Section::BeforeGames {
            self.finish_game(self.text.len());
            self.section = Section::BeforeGames;
        }
    }

    /// Skips blank lines after a blank line, which change nothing.
    fn skip_blank_lines(&mut self) {
        let rest = &self.text[self.scanned..];
        let blank = |some: &[u8]| some.iter().fold(true, |all, byte| all & byte.is_ascii_whitespace());
        let start = 64 * rest.chunks_exact(64).take_while(|some| blank(some)).count();
        let space = rest[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some(end) = memchr::memrchr(b'\n', &rest[..start + space]) else { return };
        self.line += memchr_iter(b'\n', &rest[..=end]).count() as u64;
        self.scanned += end + 1;
    }

    /// Drops text before the first game.
    fn drop_scanned(&mut self) {
        self.text.drain(..self.scanned);
        self.searched = self.searched.saturating_sub(self.scanned);
        self.scanned = 0;
    }

    /// Returns the whole games so far: their text, from the start of the first, and their spans.
    pub fn take(&mut self) -> (Vec<u8>, Vec<GameSpan>) {
        let end = self.finished();
        let rest = self.text.split_off(end);
        let mut text = std::mem::replace(&mut self.text, rest);
        self.scanned -= end;
        self.searched = self.searched.saturating_sub(end);
        self.brace = self.brace.and_then(|(from, at)| Some((from.checked_sub(end)?, at - end)));
        self.current.start = self.current.start.saturating_sub(end);
        self.current.movetext = self.current.movetext.saturating_sub(end);
        let mut games = std::mem::take(&mut self.games);
        // How much of the text before the first game is still there depends on how the bytes arrived.
        let before = games.first().map_or(0, |game| game.start);
        if before > 0 {
            text.drain(..before);
            for game in &mut games {
                (game.start, game.movetext) = (game.start - before, game.movetext - before);
                game.end -= before;
            }
        }
        (text, games)
    }

    /// Scans the line from `scanned` to `end`. False if more text is needed to decide.
    fn line_until(&mut self, end: usize, last: bool) -> bool {
        let content = trimmed(&self.text[self.scanned..end]);
        let after_blank = self.blank;
        if self.section == Section::Comment {
            let tag = after_blank && is_tag(content);
            let (blank, event) = (content.is_empty(), content.starts_with(b"[Event "));
            match if tag { self.comment_ends(self.scanned, last) } else { Some(true) } {
                None => return false,
                Some(true) => {
                    let decided = self.movetext_line(end, last);
                    self.blank = if decided { blank } else { after_blank };
                    return decided;
                }
                Some(false) => {
                    self.blank = false;
                    self.start_game(self.scanned, event);
                    return true;
                }
            }
        }
        if without_byte_order_mark(&self.text[self.scanned..end]).first() == Some(&b'%') {
            return true;
        }
        let (blank, event) = (content.is_empty(), content.starts_with(b"[Event "));
        let mut decided = true;
        match self.line_kind(content, event, after_blank) {
            Line::Skipped => {}
            Line::Blank { event } => self.section = Section::Tags { event, blank: true },
            Line::Tag { starts } => {
                let inner = inner_event(content).map(|at| content[at..].len());
                let line = &self.text[self.scanned..end];
                let after = line.len() - line.trim_ascii_end().len();
                if starts {
                    self.start_game(self.scanned, event);
                } else if event {
                    self.section = Section::Tags { event, blank: false };
                }
                if let Some(length) = inner {
                    self.start_game(end - after - length, true);
                }
            }
            Line::Movetext { starts, first } => {
                let before = (self.section, self.current, self.games.len());
                if starts {
                    self.start_game(self.scanned, false);
                }
                if first {
                    self.current.movetext = self.scanned;
                }
                decided = self.movetext_line(end, last);
                if !decided {
                    // Undo: the line will be scanned again with more text.
                    (self.section, self.current) = (before.0, before.1);
                    self.games.truncate(before.2);
                }
            }
        }
        self.blank = if decided { blank } else { after_blank };
        decided
    }

    fn line_kind(&self, content: &[u8], event: bool, after_blank: bool) -> Line {
        match self.section {
            Section::BeforeGames if matches!(content.first(), None | Some(b';')) => Line::Skipped,
            Section::BeforeGames if looks_like_tag(content) => Line::Tag { starts: true },
            Section::BeforeGames => Line::Movetext { starts: true, first: true },
            Section::Tags { event, .. } if content.is_empty() => Line::Blank { event },
            Section::Tags { event: false, blank: false } if event => Line::Tag { starts: false },
            Section::Tags { .. } if event => Line::Tag { starts: true },
            Section::Tags { .. } if looks_like_tag(content) => Line::Tag { starts: false },
            Section::Tags { blank: false, .. } if content.starts_with(b";") => Line::Skipped,
            Section::Tags { .. } => Line::Movetext { starts: false, first: true },
            Section::Movetext if is_tag(content) => Line::Tag { starts: true },
            Section::Movetext if after_blank && self.is_over(content) => {
                Line::Movetext { starts: true, first: true }
            }
            _ => Line::Movetext { starts: false, first: false },
        }
    }

    fn is_over(&self, content: &[u8]) -> bool {
        may_begin(content) && is_over(&self.text[self.current.movetext.min(self.scanned)..self.scanned])
    }

    /// Tests whether the comment around a place is closed before another one opens; `None` if more text is needed.
    fn comment_ends(&mut self, from: usize, last: bool) -> Option<bool> {
        if let Some((_, at)) = self.brace.filter(|&(before, at)| before <= from && from <= at) {
            return Some(self.text[at] == b'}');
        }
        let ahead = &self.text[from..];
        let (ahead, whole) = match ahead.get(..LOOK_AHEAD) {
            Some(ahead) => (ahead, true),
            None => (ahead, last),
        };
        match memchr2(b'{', b'}', ahead) {
            Some(at) => {
                self.brace = Some((from, from + at));
                Some(self.text[from + at] == b'}')
            }
            None => whole.then_some(false),
        }
    }

    fn start_game(&mut self, start: usize, event: bool) {
        if self.section != Section::BeforeGames {
            self.finish_game(start);
        }
        self.current = GameSpan { start, movetext: usize::MAX, end: 0, line: self.line };
        self.section = Section::Tags { event, blank: false };
    }

    /// Scans a line of movetext or of an open comment. False if more text is needed to decide.
    fn movetext_line(&mut self, end: usize, last: bool) -> bool {
        let mut at = self.scanned;
        let mut comment = self.section == Section::Comment;
        loop {
            let line = &self.text[at..end];
            let found = if comment { memchr2(b'}', b'[', line) } else { memchr3(b'{', b';', b'[', line) };
            let Some(place) = found.map(|found| at + found) else { break };
            match self.text[place] {
                b'[' => {
                    let content = &self.text[place..end];
                    let event = content.starts_with(b"[Event \"");
                    let starts = match comment {
                        true if event => match self.comment_ends(place, last) {
                            Some(ends) => !ends,
                            None => return false,
                        },
                        true => false,
                        false => is_tag(content),
                    };
                    if starts {
                        self.start_game(place, event);
                        return true;
                    }
                }
                b';' => break,
                byte => comment = byte == b'{',
            }
            at = place + 1;
        }
        self.section = if comment { Section::Comment } else { Section::Movetext };
        true
    }

    fn finish_game(&mut self, end: usize) {
        self.games.push(GameSpan { movetext: self.current.movetext.min(end), end, ..self.current });
    }
}

/// Tests whether movetext ends with its result, after which text without tags may be a game of its own.
pub fn is_over(movetext: &[u8]) -> bool {
    let text = movetext.trim_ascii_end();
    let token = text.iter().rposition(|b| b.is_ascii_whitespace() || matches!(b, b'}' | b')'));
    result(&text[token.map_or(0, |at| at + 1)..]).is_some()
}

/// Tests whether text without tags may begin a game after another: comments and variations belong to the one before.
pub fn may_begin(text: &[u8]) -> bool {
    !matches!(text.first(), None | Some(0 | b'{' | b';' | b'('))
}

/// Position of an `[Event` tag inside another tag whose end was lost.
fn inner_event(content: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(found) = memchr(b'[', &content[at..]) {
        at += found;
        // Without a second quote it is the end of the other tag's value.
        if content[at..].strip_prefix(b"[Event \"").is_some_and(|rest| rest.contains(&b'"')) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A line without the blanks around it. One of zeros alone, as a crash leaves at the end of a file, is empty.
fn trimmed(line: &[u8]) -> &[u8] {
    let content = without_byte_order_mark(line).trim_ascii();
    if content.first() == Some(&0) && content.iter().all(|byte| *byte == 0) { &[] } else { content }
}

/// Text that is probably meant as a tag, such as `[White Smith]`.
fn looks_like_tag(content: &[u8]) -> bool {
    matches!(content, [b'[', first, ..] if first.is_ascii_alphabetic() || *first == b' ')
}

/// Tests whether a line starts with `[Name "`, which movetext never does.
fn is_tag(content: &[u8]) -> bool {
    let Some(inner) = content.strip_prefix(b"[") else { return false };
    let inner = inner.trim_ascii_start();
    let name = inner.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    name > 0 && inner[name..].trim_ascii_start().starts_with(b"\"")
}

#[cfg(test)]
mod tests;
