//! The tags of a game, without its moves.
//!
//! In: the bytes of a [`Piece`](super::Piece) before its movetext. Out: names and values as they are written. For
//! those who ask who played and how it ended, and need no position.

use std::borrow::Cow;

/// The tags in a game's text before its movetext, in their order: name and value, the value still with its
/// backslashes. What is no tag is passed over to the end of its line.
pub fn tags(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = memchr::memchr(b'[', rest)?;
            let inner = &rest[start + 1..];
            match split(inner) {
                Some((name, value, after)) => {
                    rest = after;
                    return Some((name, value));
                }
                None => rest = &inner[memchr::memchr(b'\n', inner).unwrap_or(inner.len())..],
            }
        }
    })
}

/// A tag's value without its backslashes, as text; bytes that are not UTF-8 are replaced.
pub fn plain(value: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', value).is_none() {
        return String::from_utf8_lossy(value);
    }
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.iter();
    while let Some(&byte) = rest.next() {
        bytes.push(if byte == b'\\' { *rest.next().unwrap_or(&byte) } else { byte });
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Name, value and what follows of `Name "value"]...`.
fn split(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let quote = memchr::memchr2(b'"', b'\n', text).filter(|&at| text[at] == b'"')?;
    let name = text[..quote].trim_ascii();
    let value = &text[quote + 1..];
    let mut end = 0;
    loop {
        end += memchr::memchr3(b'"', b'\\', b'\n', &value[end..])?;
        match value[end] {
            b'"' => break,
            b'\\' => end = (end + 2).min(value.len()),
            _ => return None,
        }
    }
    let named = !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    named.then(|| (name, &value[..end], &value[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_they_stand() {
        let text = b"\xef\xbb\xbf[Event \"a [b\" ]\r\n[broken \"x\n; note\n[ White  \"O\\\"Neil\\\\\"][Black \"\"]\n\n";
        let got: Vec<_> = tags(text).map(|(n, v)| (String::from_utf8_lossy(n), plain(v))).collect();
        let want = [("Event", "a [b"), ("White", "O\"Neil\\"), ("Black", "")];
        assert_eq!(got, want.map(|(n, v)| (n.into(), v.into())));
        assert_eq!(tags(b"[White \"a\\").count(), 0);
        assert_eq!(tags(b"").count(), 0);
    }
}
