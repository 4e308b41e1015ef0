//! Names chosen by patterns.

use regex::Regex;

use patzer_io::message_error;

message_error!(PatternError);

/// Indices of the names that match a pattern with `*`, whole or up to a dot. Several patterns have commas between them.
///
/// # Errors
/// A pattern matches no name; `what` is the noun of the names in the message.
pub fn chosen(names: &[&str], patterns: &str, what: &str) -> Result<Vec<usize>, PatternError> {
    let mut chosen = vec![false; names.len()];
    for pattern in patterns.split(',').map(str::trim) {
        let text = format!(r"^{}(\..*)?$", regex::escape(pattern).replace(r"\*", ".*"));
        let matcher = Regex::new(&text).map_err(|error| PatternError(error.to_string()))?;
        let mut none = true;
        for (chosen, name) in chosen.iter_mut().zip(names) {
            if matcher.is_match(name) {
                (*chosen, none) = (true, false);
            }
        }
        if none {
            let examples: Vec<&str> = names.iter().step_by(names.len() / 3 + 1).copied().collect();
            let examples = examples.join(", ");
            return Err(PatternError(format!("no {what} matches `{pattern}`; names are such as {examples}")));
        }
    }
    Ok((0..names.len()).filter(|at| chosen[*at]).collect())
}
