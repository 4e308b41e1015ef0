//! Cuts a stream of PGN text into the pieces that hold one game each.
//!
//! In: bytes as they arrive. Out: pieces with their lines, exact whatever the bytes' arrival looks like. The
//! cutter knows only lines, tags and comments, so that nothing inside a broken game can hide the next one.
//!
//! A tag line after movetext starts a game, and so does an `[Event` line where the game already has one, or has
//! a blank line after its first tags. Inside `{` and `}` only an `[Event` line, or a tag after a blank line, is looked
//! at, by looking ahead: if a `}` comes before the next `{`, the line belongs to a comment; else the comment was never
//! closed, its game is broken, and the next game starts here. Text that follows a result and a blank line is a piece
//! of its own, so that lost tags or rubbish between games never harm the game before them; so is what follows a
//! tag in the middle of a line of movetext, where a line end was lost.

use memchr::{memchr, memchr2, memchr3};

use super::movetext::result;

/// How far to look for the end of a comment that seems to hold the start of a game, in bytes.
const LOOK_AHEAD: usize = 1 << 16;

/// One game's text: a range of the cutter's text, and where it began in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameSpan {
    /// First byte of the game in the text.
    pub start: usize,
    /// First byte after the tags; equal to `end` if there is no movetext.
    pub movetext: usize,
    /// First byte after the game.
    pub end: usize,
    /// Line of the file on which the game starts, from 1.
    pub line: u64,
}

/// The part of a game in which the next line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Before the first game.
    Nothing,
    Tags {
        event: bool,
        blank: bool,
    },
    Movetext,
    Comment,
}

/// What a line outside comments is.
enum Line {
    /// It comes before the first game.
    Nothing,
    /// Blank, among tags, of which one was an Event or not.
    Blank { event: bool },
    /// A tag, which starts a game or not.
    Tag { starts: bool },
    /// Movetext, which starts a game without tags or not, and is the first of its game or not.
    Movetext { starts: bool, first: bool },
}

/// Text that has arrived, and how far it is cut.
#[derive(Debug)]
pub struct GameSplitter {
    text: Vec<u8>,
    /// Everything before this is scanned; always the start of a line.
    scanned: usize,
    line: u64,
    section: Section,
    /// The line before is blank.
    blank: bool,
    current: GameSpan,
    pieces: Vec<GameSpan>,
}

impl Default for GameSplitter {
    fn default() -> GameSplitter {
        GameSplitter::new()
    }
}

impl GameSplitter {
    /// A cutter at the start of a file.
    pub fn new() -> GameSplitter {
        GameSplitter {
            text: Vec::new(),
            scanned: 0,
            line: 1,
            section: Section::Nothing,
            blank: false,
            current: GameSpan { start: 0, movetext: 0, end: 0, line: 1 },
            pieces: Vec::new(),
        }
    }

    /// The buffer to append bytes to before [`GameSplitter::scan`].
    pub fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// How many bytes have arrived that are not yet part of a whole game.
    pub fn unfinished(&self) -> usize {
        self.text.len() - if self.section == Section::Nothing { 0 } else { self.current.start }
    }

    /// How many bytes of whole games wait to be taken.
    pub fn finished(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }

    /// How many whole games wait to be taken.
    pub fn waiting(&self) -> usize {
        self.pieces.len()
    }

    /// The line on which the unfinished game starts, if one has begun.
    pub fn unfinished_line(&self) -> Option<u64> {
        (self.section != Section::Nothing).then_some(self.current.line)
    }

    /// Cuts what has arrived; `last` says that nothing more will.
    pub fn scan(&mut self, last: bool) {
        while self.scanned < self.text.len() {
            let end = match memchr(b'\n', &self.text[self.scanned..]) {
                Some(length) => self.scanned + length + 1,
                None if last => self.text.len(),
                None => return,
            };
            if !self.line_until(end, last) {
                return;
            }
            self.scanned = end;
            self.line += 1;
        }
        if last && self.section != Section::Nothing {
            self.finish_piece(self.text.len());
            self.section = Section::Nothing;
        }
    }

    /// Takes the text of all whole games, with their pieces.
    pub fn take(&mut self) -> (Vec<u8>, Vec<GameSpan>) {
        let end = self.finished();
        let rest = self.text.split_off(end);
        let text = std::mem::replace(&mut self.text, rest);
        self.scanned -= end;
        self.current.start = self.current.start.saturating_sub(end);
        self.current.movetext = self.current.movetext.saturating_sub(end);
        (text, std::mem::take(&mut self.pieces))
    }

    /// Looks at the line from `scanned` to `end`. False if more text is needed to decide.
    fn line_until(&mut self, end: usize, last: bool) -> bool {
        let content = trimmed(&self.text[self.scanned..end]);
        let after_blank = self.blank;
        if self.section == Section::Comment {
            let tag = after_blank && is_tag(content);
            let event = content.starts_with(b"[Event ");
            match if tag { self.comment_ends(self.scanned, last) } else { Some(true) } {
                None => return false,
                Some(true) => {
                    let blank = content.is_empty();
                    let decided = self.movetext_line(end, last);
                    self.blank = if decided { blank } else { after_blank };
                    return decided;
                }
                Some(false) => {
                    self.blank = false;
                    self.start_piece(self.scanned, event);
                    return true;
                }
            }
        }
        if without_bom(&self.text[self.scanned..end]).first() == Some(&b'%') {
            return true;
        }
        let (blank, event) = (content.is_empty(), content.starts_with(b"[Event "));
        let mut decided = true;
        match self.line_kind(content, event, after_blank) {
            Line::Nothing => {}
            Line::Blank { event } => self.section = Section::Tags { event, blank: true },
            Line::Tag { starts } => {
                let inner = inner_event(content).map(|at| content[at..].len());
                let line = &self.text[self.scanned..end];
                let after = line.len() - line.trim_ascii_end().len();
                if starts {
                    self.start_piece(self.scanned, event);
                } else if event {
                    self.section = Section::Tags { event, blank: false };
                }
                if let Some(length) = inner {
                    self.start_piece(end - after - length, true);
                }
            }
            Line::Movetext { starts, first } => {
                let before = (self.section, self.current, self.pieces.len());
                if starts {
                    self.start_piece(self.scanned, false);
                }
                if first {
                    self.current.movetext = self.scanned;
                }
                decided = self.movetext_line(end, last);
                if !decided {
                    // The line will be looked at again, as if for the first time.
                    (self.section, self.current) = (before.0, before.1);
                    self.pieces.truncate(before.2);
                }
            }
        }
        self.blank = if decided { blank } else { after_blank };
        decided
    }

    /// What a line outside comments is, by what it holds and the section that it stands in.
    fn line_kind(&self, content: &[u8], event: bool, after_blank: bool) -> Line {
        match self.section {
            Section::Nothing if matches!(content.first(), None | Some(b';')) => Line::Nothing,
            Section::Nothing if looks_like_tag(content) => Line::Tag { starts: true },
            Section::Nothing => Line::Movetext { starts: true, first: true },
            Section::Tags { event, .. } if content.is_empty() => Line::Blank { event },
            Section::Tags { event: false, blank: false } if event => Line::Tag { starts: false },
            Section::Tags { .. } if event => Line::Tag { starts: true },
            Section::Tags { .. } if looks_like_tag(content) => Line::Tag { starts: false },
            Section::Tags { .. } => Line::Movetext { starts: false, first: true },
            Section::Movetext if is_tag(content) => Line::Tag { starts: true },
            Section::Movetext if after_blank && !content.is_empty() && self.is_over(content) => {
                Line::Movetext { starts: true, first: true }
            }
            _ => Line::Movetext { starts: false, first: false },
        }
    }

    /// Whether the current game has ended with a result, so that this line, which is no comment on it, is not part of
    /// it.
    fn is_over(&self, content: &[u8]) -> bool {
        if matches!(content[0], b'{' | b';' | b'(') {
            return false;
        }
        let before = self.text[self.current.movetext.min(self.scanned)..self.scanned].trim_ascii_end();
        let token = before.iter().rposition(|b| b.is_ascii_whitespace() || matches!(b, b'}' | b')'));
        result(&before[token.map_or(0, |at| at + 1)..]).is_some()
    }

    /// Whether the comment around a place is closed before another one opens; `None` if that cannot be told yet.
    fn comment_ends(&self, from: usize, last: bool) -> Option<bool> {
        let ahead = &self.text[from..];
        let (ahead, whole) = match ahead.get(..LOOK_AHEAD) {
            Some(ahead) => (ahead, true),
            None => (ahead, last),
        };
        match memchr2(b'{', b'}', ahead) {
            Some(at) => Some(ahead[at] == b'}'),
            None => whole.then_some(false),
        }
    }

    /// Ends the current game and starts one at `start`.
    fn start_piece(&mut self, start: usize, event: bool) {
        if self.section != Section::Nothing {
            self.finish_piece(start);
        }
        self.current = GameSpan { start, movetext: usize::MAX, end: 0, line: self.line };
        self.section = Section::Tags { event, blank: false };
    }

    /// Takes in a line of movetext, or of a comment that began before it. False if more text is needed to decide.
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
                        self.start_piece(place, event);
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

    fn finish_piece(&mut self, end: usize) {
        self.pieces.push(GameSpan { movetext: self.current.movetext.min(end), end, ..self.current });
    }
}

/// Where an `[Event` tag begins inside another tag, whose end was lost.
fn inner_event(content: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(found) = memchr(b'[', &content[at..]) {
        at += found;
        if content[at..].starts_with(b"[Event \"") {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// A line without the byte order mark and the space around it.
fn trimmed(line: &[u8]) -> &[u8] {
    without_bom(line).trim_ascii()
}

fn without_bom(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Something that can only be meant as a tag where tags are expected, such as `[White Smith]`.
fn looks_like_tag(content: &[u8]) -> bool {
    matches!(content, [b'[', first, ..] if first.is_ascii_alphabetic() || *first == b' ')
}

/// A whole tag, `[Name "`, as nothing in movetext looks.
fn is_tag(content: &[u8]) -> bool {
    let Some(inner) = content.strip_prefix(b"[") else { return false };
    let inner = inner.trim_ascii_start();
    let name = inner.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    name > 0 && inner[name..].trim_ascii_start().starts_with(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every piece's text and line, with the bytes arriving `step` at a time and taken as soon as possible.
    fn cut(text: &str, step: usize) -> Vec<(String, u64)> {
        let mut cutter = GameSplitter::new();
        let mut games = Vec::new();
        let mut take = |cutter: &mut GameSplitter| {
            let (text, pieces) = cutter.take();
            games.extend(
                pieces.iter().map(|p| (String::from_utf8_lossy(&text[p.start..p.end]).into_owned(), p.line)),
            );
        };
        for bytes in text.as_bytes().chunks(step) {
            cutter.text().extend_from_slice(bytes);
            cutter.scan(false);
            take(&mut cutter);
        }
        cutter.scan(true);
        take(&mut cutter);
        games
    }

    fn starts(text: &str) -> Vec<u64> {
        let whole = cut(text, usize::MAX);
        for step in [1, 2, 7, 64] {
            assert_eq!(cut(text, step), whole, "arriving {step} bytes at a time");
        }
        whole.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn a_tag_after_movetext_starts_a_game() {
        assert_eq!(starts("[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n\n1. d4 *\n"), [1, 5]);
        assert_eq!(starts("\u{feff}[Event \"a\"]\r\n\r\n1. e4 *\r\n\r\n[Site \"b\"]\r\n\r\n*"), [1, 5]);
        assert_eq!(starts("[Event \"a\"]\n1. e4 *\n[White \"b\"]\n1. d4 *"), [1, 3]);
    }

    #[test]
    fn a_game_without_movetext_ends_at_the_next_event() {
        assert_eq!(starts("[Event \"a\"]\n[Site \"x\"]\n\n[Event \"b\"]\n\n*\n"), [1, 4]);
        assert_eq!(starts("[Event \"a\"]\n[Event \"b\"]\n\n*\n"), [1, 2]);
        assert_eq!(starts("[White \"a\"]\n[Event \"b\"]\n\n*\n"), [1]);
    }

    #[test]
    fn a_comment_may_hold_what_looks_like_a_game() {
        assert_eq!(
            starts("[Event \"a\"]\n\n1. e4 {see\n\n[Event \"x\"]\n\n1. d4} e5 *\n\n[Event \"b\"]\n\n*"),
            [1, 9]
        );
        assert_eq!(starts("[Event \"a\"]\n\n1. e4 {x\n[%eval 0.2]\n[Site \"x\"]} e5 *\n"), [1]);
    }

    #[test]
    fn a_comment_that_is_never_closed_ends_with_its_game() {
        assert_eq!(starts("[Event \"a\"]\n\n1. e4 {oh\n\n[Event \"b\"]\n\n1. d4 {x} *\n"), [1, 5]);
        assert_eq!(starts("[Event \"a\"]\n\n1. e4 {oh\n\n[Event \"b\"]\n\n1. d4 *\n"), [1, 5]);
        let long = format!(
            "[Event \"a\"]\n\n1. e4 {{oh\n\n[Event \"b\"]\n\n1. d4 {}*\n}}",
            " ".repeat(2 * LOOK_AHEAD)
        );
        assert_eq!(cut(&long, 1000).iter().map(|g| g.1).collect::<Vec<_>>(), [1, 5]);
    }

    #[test]
    fn text_after_a_result_and_a_blank_line_is_no_part_of_the_game() {
        // The second game has lost its tags, and a third one stands before rubbish.
        assert_eq!(
            starts("[Event \"a\"]\n\n1. e4 {x} 1-0\n\n1. d4 *\n\nSent from a telephone\n\n"),
            [1, 5, 7]
        );
        // A comment on the game that has ended is none; nor is what goes on without a result.
        assert_eq!(starts("[Event \"a\"]\n\n1. e4 1-0\n\n{a fine game}\n"), [1]);
        assert_eq!(starts("[Event \"a\"]\n\n1. e4\n\n1... e5 1-0\n"), [1]);
    }

    #[test]
    fn a_line_that_has_to_wait_for_more_is_looked_at_anew() {
        let text = "[Event \"a\"]\n\n1. e4 1-0\n\n [%clk 1] } e5 { (x [Event \"b\"]\n\n1. d4 *\n";
        assert_eq!(starts(text), [1, 5, 5]);
        let text = "[Event \"a\"]\n\n1. e4 1-0\n\n[b c] e5 { (x [Event \"b\"]\n\n1. d4 *\n";
        assert_eq!(starts(text), [1, 5, 5]);
    }

    #[test]
    fn a_lost_line_end_does_not_hide_a_game() {
        let text = "[Event \"a\"]\n\n1. e4 {[Event \"x\"]} 1-0 [Event \"b\"]\n[Site \"b\"]\n\n1. d4 *\n";
        assert_eq!(starts(text), [1, 3]);
    }

    #[test]
    fn braces_in_tags_and_line_comments_mean_nothing() {
        assert_eq!(starts("[Event \"{\"]\n\n1. e4 ; {\n% {\n*\n\n[Event \"b\"]\n\n*\n"), [1, 7]);
    }

    #[test]
    fn pieces_cover_the_text_and_know_their_movetext() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n[Event \"c\"]\n\n*\n";
        let mut cutter = GameSplitter::new();
        cutter.text().extend_from_slice(text);
        cutter.scan(true);
        let (taken, pieces) = cutter.take();
        assert_eq!(taken, text);
        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        let movetexts: Vec<&[u8]> = pieces.iter().map(|p| &text[p.movetext..p.end]).collect();
        assert_eq!(movetexts, [&b"1. e4 *\n\n"[..], b"", b"*\n"]);
    }
}
