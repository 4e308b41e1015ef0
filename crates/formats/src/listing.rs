//! The registry as text, for help and documents.

use crate::capabilities::{CAPABILITIES, Capabilities};
use crate::registry::{FORMATS, Format, written};
use crate::score_form::ScoreForm;
use patzer_io::number::grouped;

/// Lists the formats, for help texts.
pub fn help() -> String {
    let line = |format: &Format| {
        let endings: Vec<String> = format.endings.iter().map(|ending| format!(".{ending}")).collect();
        let (endings, read) = (endings.join(", "), if format.write.is_none() { "read only" } else { "" });
        let about = [endings.as_str(), read].into_iter().filter(|text| !text.is_empty());
        format!("  {:<11}{} ({})\n", format.name, format.doc, about.collect::<Vec<_>>().join("; "))
    };
    format!("Formats:\n{}", FORMATS.iter().map(line).collect::<String>())
}

/// Returns the Markdown tables of docs/formats.md: formats, their capabilities, what each cannot carry, and its scores.
pub fn markdown() -> String {
    let mut text = "| format | endings | what it is |\n|---|---|---|\n".to_string();
    for format in FORMATS {
        let endings: Vec<String> = format.endings.iter().map(|ending| format!("`.{ending}`")).collect();
        // A bar inside a cell would end it.
        let what = format!("{}. {}", format.doc, format.note).replace('|', "\\|");
        text += &format!("| `{}` | {} | {what} |\n", format.name, endings.join(" "));
    }
    text += "\n| fact |";
    FORMATS.iter().for_each(|format| text += &format!(" {} |", format.name));
    text += &format!("\n|---|{}\n", "---|".repeat(FORMATS.len()));
    for row in CAPABILITIES {
        text += &format!("| {}: {} |", row.name, row.doc);
        for format in FORMATS {
            text += match () {
                () if format.refuses.contains(row.set) => " refused |",
                () if format.needs.contains(row.set) => " needed |",
                () if format.carries.contains(row.set) => " yes |",
                () => " |",
            };
        }
        text.push('\n');
    }
    text += "\n| format | what it cannot carry |\n|---|---|\n";
    for format in written() {
        let lost = Capabilities::ALL.without(format.carries).without(format.refuses);
        let lost = lost.names().collect::<Vec<_>>().join(", ");
        text +=
            &format!("| `{}` | {} |\n", format.name, if lost.is_empty() { "nothing is lost" } else { &lost });
    }
    text += "\n| format | unit of scores | side | greatest | comes back |\n|---|---|---|---|---|\n";
    for format in FORMATS {
        let Some(ScoreForm { unit, side, limit, rounded, .. }) = format.score else { continue };
        let (limit, back) = (grouped(limit.unsigned_abs().into()), rounded.map_or("exactly", |_| "rounded"));
        text += &format!("| `{}` | {unit} | {side} | {limit} | {back} |\n", format.name);
    }
    text
}
