//! The book as a table: text, Markdown, CSV and HTML.

use patzer_io::error::{Error, Result};
use patzer_io::named;
use patzer_io::number::{counted, grouped};
use patzer_io::printable;
use patzer_stats::with_error;

use super::{Book, Entry};
use crate::html::escaped;

named! {
    /// Form of a table
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TableFormat {
        Text: "text", "Columns for a terminal";
        Markdown: "markdown", "A table of Markdown";
        Csv: "csv", "Comma-separated values";
        Html: "html", "A page with the table";
    }
}

const HEAD: [&str; 6] = ["id", "begun", "command", "output", "result", "note"];

/// The result of a run in a few words.
pub fn short(entry: &Entry) -> String {
    let Some(result) = entry.results.first() else { return exit(entry.exit).to_string() };
    let number = |key: &str| result[key].as_f64();
    let count = |key: &str, what: &str| result[key].as_u64().map(|count| counted(count, what));
    let text = |key: &str| result[key].as_str().map(str::to_string);
    let elo = number("elo")
        .map(|elo| format!("{} Elo", with_error(elo, number("elo_error").unwrap_or(f64::INFINITY), 1)));
    let games = ["wins", "draws", "losses"].iter().map(|key| result[key].as_u64()).sum::<Option<u64>>();
    let loss = number("validation_loss").map(|loss| format!("validation loss {loss:.5}"));
    let chosen = result["chosen"].as_array().map(|names| match names.len() {
        0 => "no change chosen".to_string(),
        count => counted(count as u64, "change") + " chosen",
    });
    let written = result["positions_written"].as_u64().map(|count| counted(count, "position"));
    let words = [
        text("verdict"),
        elo,
        games.map(|games| counted(games, "game")).or_else(|| count("games", "game")),
        text("winner").map(|name| format!("winner {name}")),
        chosen,
        loss,
        written.or_else(|| count("positions", "position")),
        (entry.exit != 0).then(|| exit(entry.exit)).filter(|word| !word.is_empty()).map(str::to_string),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Words for an exit code, where it is no verdict.
fn exit(code: u8) -> &'static str {
    match code {
        0 => "done",
        129 | 130 | 143 => "interrupted",
        1 | 2 => "failed",
        _ => "",
    }
}

fn row(book: &Book, entry: &Entry) -> [String; 6] {
    // Intermediate files come before the result.
    let output = entry.written.last().map_or_else(String::new, |file| file.path.display().to_string());
    let more = entry.written.len().saturating_sub(1) as u64;
    let output = if more > 0 { format!("{output} and {}", grouped(more)) } else { output };
    let notes: Vec<&str> = book.notes_of(&entry.id).collect();
    let command = format!("patzer {}", entry.command.join(" "));
    let begun = entry.time.trim_end_matches(" +0000").to_string();
    [entry.id.clone(), begun, command, output, short(entry), notes.join("; ")]
        .map(|cell| printable(&cell).into_owned())
}

/// Writes entries as a table.
///
/// # Errors
/// Only an internal one.
pub fn table(book: &Book, entries: &[&Entry], format: TableFormat) -> Result<String> {
    let rows = entries.iter().map(|entry| row(book, entry));
    if format == TableFormat::Text {
        return Ok(text(&rows.collect::<Vec<_>>()));
    }
    let command = |mut row: [String; 6]| {
        if format == TableFormat::Markdown {
            row[2] = format!("`{}`", row[2]);
        }
        row.to_vec()
    };
    grid(&HEAD.map(String::from), &rows.map(command).collect::<Vec<_>>(), format)
}

/// Writes rows of cells under their head.
///
/// # Errors
/// Only an internal one.
pub(super) fn grid(head: &[String], rows: &[Vec<String>], format: TableFormat) -> Result<String> {
    Ok(match format {
        TableFormat::Text => columns(head, rows),
        TableFormat::Markdown => markdown(head, rows),
        TableFormat::Csv => return csv(head, rows),
        TableFormat::Html => html(head, rows),
    })
}

fn columns(head: &[String], rows: &[Vec<String>]) -> String {
    let lines: Vec<&[String]> = [head].into_iter().chain(rows.iter().map(Vec::as_slice)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &&[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Longest command of the table for a terminal.
const COMMAND: usize = 60;

fn text(rows: &[[String; 6]]) -> String {
    let mut lines = Vec::new();
    for [id, begun, command, output, result, note] in rows {
        let short: String = command.chars().take(COMMAND).collect();
        let cut = if short.len() < command.len() { "…" } else { "" };
        let mut line = format!("{id}  {begun}  {short}{cut}");
        for (word, cell) in [("→ ", output), ("", result), ("note: ", note)] {
            if !cell.is_empty() {
                line += &format!("\n          {word}{cell}");
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

fn markdown(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let escaped = |cell: &String| cell.replace('|', r"\|");
    let mut lines = vec![line(head), format!("|{}", "---|".repeat(head.len()))];
    lines.extend(rows.iter().map(|row| line(&row.iter().map(escaped).collect::<Vec<_>>())));
    lines.join("\n")
}

fn csv(head: &[String], rows: &[Vec<String>]) -> Result<String> {
    let fault = |e: csv::Error| Error::internal(format!("the table cannot be written as CSV: {e}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(head).map_err(fault)?;
    rows.iter().try_for_each(|row| out.write_record(row)).map_err(fault)?;
    let bytes = out.into_inner().map_err(|e| Error::internal(e.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_string())
}

fn html(head: &[String], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    let style = "body{font:14px sans-serif}table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;\
                 padding:4px 8px;text-align:left;vertical-align:top}";
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>patzer lab</title>\
         <style>{style}</style></head><body>\n<table>\n<tr>{}</tr>\n{body}</table>\n</body></html>",
        cells("th", head)
    )
}
