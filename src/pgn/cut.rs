//! Cuts a stream of PGN text into the pieces that hold one game each.
//!
//! In: bytes as they arrive. Out: pieces with their lines, exact whatever the bytes' arrival looks like. The
//! cutter knows only lines, tags and comments, so that nothing inside a broken game can hide the next one.
//!
//! A tag line after movetext starts a game, and so does an `[Event` line where the game already has one, or has
//! a blank line after its first tags. Inside `{` and `}` only an `[Event` line is looked at, by looking ahead: if a
//! `}` comes before the next `{`, the line belongs to a comment; else the comment was never closed, its game is
//! broken, and the next game starts here.

use memchr::{memchr, memchr2};

/// How far to look for the end of a comment that seems to hold the start of a game, in bytes.
const LOOK_AHEAD: usize = 1 << 16;

/// One game's text: a range of the cutter's text, and where it began in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
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

/// Text that has arrived, and how far it is cut.
#[derive(Debug)]
pub struct Cutter {
    text: Vec<u8>,
    /// Everything before this is scanned; always the start of a line.
    scanned: usize,
    line: u64,
    section: Section,
    current: Piece,
    pieces: Vec<Piece>,
}

impl Default for Cutter {
    fn default() -> Cutter {
        Cutter::new()
    }
}

impl Cutter {
    /// A cutter at the start of a file.
    pub fn new() -> Cutter {
        Cutter {
            text: Vec::new(),
            scanned: 0,
            line: 1,
            section: Section::Nothing,
            current: Piece { start: 0, movetext: 0, end: 0, line: 1 },
            pieces: Vec::new(),
        }
    }

    /// The buffer to append bytes to before [`Cutter::scan`].
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
    pub fn take(&mut self) -> (Vec<u8>, Vec<Piece>) {
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
        let line = &self.text[self.scanned..end];
        let content = trimmed(line);
        if self.section == Section::Comment {
            if content.starts_with(b"[Event \"") {
                match self.comment_ends(last) {
                    None => return false,
                    Some(true) => {}
                    Some(false) => {
                        self.start_piece(true);
                        return true;
                    }
                }
            }
            self.section = movetext_section(line, true);
            return true;
        }
        if line[0] == b'%' {
            return true;
        }
        let event = content.starts_with(b"[Event ");
        match self.section {
            Section::Nothing if content.is_empty() => {}
            Section::Nothing if looks_like_tag(content) => self.start_piece(event),
            Section::Nothing => {
                self.start_piece(false);
                self.start_movetext();
            }
            Section::Tags { event, .. } if content.is_empty() => {
                self.section = Section::Tags { event, blank: true };
            }
            Section::Tags { event: false, blank: false } if event => {
                self.section = Section::Tags { event, blank: false };
            }
            Section::Tags { .. } if event => self.start_piece(true),
            Section::Tags { .. } if looks_like_tag(content) => {}
            Section::Tags { .. } => self.start_movetext(),
            Section::Movetext if is_tag(content) => self.start_piece(event),
            _ => self.section = movetext_section(line, false),
        }
        true
    }

    /// Whether the comment around the current line is closed before another one opens; `None` if that cannot be
    /// told yet.
    fn comment_ends(&self, last: bool) -> Option<bool> {
        let ahead = &self.text[self.scanned..];
        let (ahead, whole) = match ahead.get(..LOOK_AHEAD) {
            Some(ahead) => (ahead, true),
            None => (ahead, last),
        };
        match memchr2(b'{', b'}', ahead) {
            Some(at) => Some(ahead[at] == b'}'),
            None => whole.then_some(false),
        }
    }

    /// Ends the current game before this line and starts one with it.
    fn start_piece(&mut self, event: bool) {
        if self.section != Section::Nothing {
            self.finish_piece(self.scanned);
        }
        self.current = Piece { start: self.scanned, movetext: usize::MAX, end: 0, line: self.line };
        self.section = Section::Tags { event, blank: false };
    }

    fn start_movetext(&mut self) {
        self.current.movetext = self.scanned;
        let end = memchr(b'\n', &self.text[self.scanned..]).map_or(self.text.len(), |n| self.scanned + n);
        self.section = movetext_section(&self.text[self.scanned..end], false);
    }

    fn finish_piece(&mut self, end: usize) {
        self.pieces.push(Piece { movetext: self.current.movetext.min(end), end, ..self.current });
    }
}

/// The section after a line of movetext that begins inside a comment or not.
fn movetext_section(mut line: &[u8], mut comment: bool) -> Section {
    loop {
        if comment {
            match memchr(b'}', line) {
                Some(at) => line = &line[at + 1..],
                None => return Section::Comment,
            }
        } else {
            match memchr2(b'{', b';', line) {
                Some(at) if line[at] == b'{' => line = &line[at + 1..],
                _ => return Section::Movetext,
            }
        }
        comment = !comment;
    }
}

/// A line without the byte order mark and the space around it.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
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
        let mut cutter = Cutter::new();
        let mut games = Vec::new();
        let mut take = |cutter: &mut Cutter| {
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
    fn braces_in_tags_and_line_comments_mean_nothing() {
        assert_eq!(starts("[Event \"{\"]\n\n1. e4 ; {\n% {\n*\n\n[Event \"b\"]\n\n*\n"), [1, 7]);
    }

    #[test]
    fn pieces_cover_the_text_and_know_their_movetext() {
        let text = b"[Event \"a\"]\n\n1. e4 *\n\n[Event \"b\"]\n[Event \"c\"]\n\n*\n";
        let mut cutter = Cutter::new();
        cutter.text().extend_from_slice(text);
        cutter.scan(true);
        let (taken, pieces) = cutter.take();
        assert_eq!(taken, text);
        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        let movetexts: Vec<&[u8]> = pieces.iter().map(|p| &text[p.movetext..p.end]).collect();
        assert_eq!(movetexts, [&b"1. e4 *\n\n"[..], b"", b"*\n"]);
    }
}
