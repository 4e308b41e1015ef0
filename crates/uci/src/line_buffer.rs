//! Splits output into lines, in place; a line longer than the buffer keeps its head and loses its middle.

/// Fits a principal variation of 2,000 moves.
const CAPACITY: usize = 1 << 14;
const HEAD: usize = 1 << 12;

pub struct LineBuffer {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// No line end before this offset.
    searched: usize,
    cut: bool,
}

impl LineBuffer {
    pub fn new() -> LineBuffer {
        LineBuffer { buffer: vec![0; CAPACITY].into(), start: 0, end: 0, searched: 0, cut: false }
    }

    pub fn clear(&mut self) {
        (self.start, self.end, self.searched, self.cut) = (0, 0, 0, false);
    }

    /// Free space for new bytes, never empty. Take all lines first.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end, self.searched) = (0, 0, 0);
        } else if self.end == CAPACITY {
            self.buffer.copy_within(self.start..self.end, 0);
            self.searched -= self.start;
            self.end -= self.start;
            self.start = 0;
            if self.end == CAPACITY {
                // One unfinished line fills the buffer.
                self.cut = true;
                (self.end, self.searched) = (HEAD, HEAD);
            }
        }
        &mut self.buffer[self.end..]
    }

    pub fn advance(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// Next whole line, without `\n` or `\r\n`.
    pub fn next_line(&mut self) -> Option<&[u8]> {
        match memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
            Some(at) => {
                let end = self.searched + at;
                let kept = if self.cut { self.start..HEAD } else { self.start..end };
                (self.start, self.searched, self.cut) = (end + 1, end + 1, false);
                let line = &self.buffer[kept];
                Some(line.strip_suffix(b"\r").unwrap_or(line))
            }
            None => {
                if self.cut {
                    self.end = HEAD;
                }
                self.searched = self.end;
                None
            }
        }
    }

    pub fn unfinished(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], piece: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut lines = LineBuffer::new();
        let mut found = Vec::new();
        let mut text = text;
        while !text.is_empty() {
            let space = lines.space();
            let take = piece.min(space.len()).min(text.len());
            space[..take].copy_from_slice(&text[..take]);
            lines.advance(take);
            text = &text[take..];
            while let Some(line) = lines.next_line() {
                found.push(line.to_vec());
            }
        }
        (found, lines.unfinished().to_vec())
    }

    #[test]
    fn lines_come_out_whole_however_the_bytes_come_in() {
        let text = b"uciok\r\ninfo depth 1\n\nbestmove e2e4\nread";
        let expected: Vec<Vec<u8>> =
            ["uciok", "info depth 1", "", "bestmove e2e4"].map(|line| line.as_bytes().to_vec()).into();
        for piece in [1, 2, 3, 7, 100] {
            assert_eq!(lines(text, piece), (expected.clone(), b"read".to_vec()), "{piece}");
        }
    }

    #[test]
    fn a_line_longer_than_the_buffer_keeps_its_head_and_takes_no_neighbour() {
        for length in [CAPACITY - 1, CAPACITY, CAPACITY + 1, 10 * CAPACITY + 7] {
            let mut text = b"first\ninfo score cp 5 pv".to_vec();
            text.extend(std::iter::repeat_n(b'x', length));
            text.extend(b"\nlast\n");
            for piece in [1000, CAPACITY] {
                let (found, rest) = lines(&text, piece);
                assert_eq!(found.len(), 3, "{length} {piece}");
                assert_eq!((&found[0][..], &found[2][..]), (&b"first"[..], &b"last"[..]));
                assert!(found[1].starts_with(b"info score cp 5 pvxxx") && found[1].len() >= HEAD);
                assert!(rest.is_empty());
            }
        }
    }
}
