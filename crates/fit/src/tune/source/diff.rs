//! A unified diff of two texts with as many lines.

use std::path::Path;

const CONTEXT: usize = 3;

pub fn unified(path: &Path, before: &str, after: &str) -> String {
    let [old, new]: [Vec<&str>; 2] = [before, after].map(|text| text.split_inclusive('\n').collect());
    let changed: Vec<usize> = (0..old.len().min(new.len())).filter(|&i| old[i] != new[i]).collect();
    let mut text = String::new();
    if !changed.is_empty() {
        text += &format!("--- {0}\n+++ {0}\n", path.display());
    }
    for hunk in changed.chunk_by(|a, b| b - a <= 2 * CONTEXT) {
        let from = hunk[0].saturating_sub(CONTEXT);
        let to = (hunk[hunk.len() - 1] + CONTEXT + 1).min(old.len());
        text += &format!("@@ -{0},{1} +{0},{1} @@\n", from + 1, to - from);
        let mut i = from;
        while i < to {
            let run = (i..to).take_while(|&j| old[j] != new[j]).count();
            (i..i + run).for_each(|j| text += &line('-', old[j]));
            (i..i + run).for_each(|j| text += &line('+', new[j]));
            if run == 0 {
                text += &line(' ', old[i]);
            }
            i += run.max(1);
        }
    }
    text
}

fn line(sign: char, line: &str) -> String {
    let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
    format!("{sign}{line}{end}")
}
