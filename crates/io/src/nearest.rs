//! The known name that a misspelt one most likely means.

/// The known name within two edits of `word`, the nearest first; `None` if none is that near.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let most = if length < 3 { 1 } else { 2 };
    let word = word.to_lowercase();
    let near = known.into_iter().map(|name| (distance(&word, &name.to_lowercase()), name)).min()?;
    (near.0 <= most && near.0 < length).then_some(near.1)
}

/// The end of an error about an unknown word: `; did you mean `X`?` with the nearest name, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_within_two_edits() {
        assert_eq!((distance("tb", "tb"), distance("kitten", "sitting")), (0, 3));
        let known = ["hidden", "layers", "wdl", "k"];
        for (word, expected) in [
            ("hiden", Some("hidden")),
            ("layer", Some("layers")),
            ("wld", Some("wdl")),
            ("WDL", Some("wdl")),
            ("speed", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
