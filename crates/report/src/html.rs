//! The report as one HTML file without scripts, fonts or network access; it is also well-formed XML.

use std::fmt::Write;

use super::figure::Figure;
use super::section::{Item, Part, Section};
use super::table::{Cell, Table};
use patzer_io::error::Result;
use patzer_io::printable;

/// The style sheet. Contains no `<`, `&` or quotation mark, which HTML and XML escape differently here.
const STYLE: &str = include_str!("page.css");

/// A report of sections, after a comparison of them.
pub fn page(sections: &[Section], comparison: &[Part]) -> Result<String> {
    page_of(sections, comparison, "")
}

/// A [`page`] that the browser reloads every `seconds` seconds.
pub fn live_page(sections: &[Section], comparison: &[Part], seconds: u64) -> Result<String> {
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"{seconds}\"/>\n");
    page_of(sections, comparison, &refresh)
}

fn page_of(sections: &[Section], comparison: &[Part], refresh: &str) -> Result<String> {
    let (title, heading) = match sections {
        [one] => (format!("{}: {}", one.name, one.kind.name()), named(one)),
        _ => (format!("{} runs", sections.len()), format!("{} runs", sections.len())),
    };
    let mut html =
        String::from("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n");
    let _ = write!(
        html,
        "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         {refresh}<meta name=\"generator\" content=\"patzer {}\"/>\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        escaped(&title),
        STYLE
    );
    let _ = write!(html, "<header>\n<h1>{heading}</h1>\n</header>\n");
    navigation(&mut html, sections, comparison);
    html += "<main>\n";
    for (number, part) in comparison.iter().enumerate() {
        let _ =
            write!(html, "<section id=\"comparison-{}\">\n<h2>{}</h2>\n", number + 1, escaped(&part.title));
        items(&mut html, &part.items, "comparison")?;
        html += "</section>\n";
    }
    for (number, section) in sections.iter().enumerate() {
        write_section(&mut html, section, number + 1, sections.len() > 1)?;
    }
    let _ = write!(
        html,
        "</main>\n<footer>patzer {}. Scores are centipawns; results count 1, ½ and 0.</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    Ok(html)
}

fn navigation(html: &mut String, sections: &[Section], comparison: &[Part]) {
    *html += "<nav>\n<ul>\n";
    for (number, part) in comparison.iter().enumerate() {
        let _ =
            writeln!(html, "<li><a href=\"#comparison-{}\">{}</a></li>", number + 1, escaped(&part.title));
    }
    for (number, section) in sections.iter().enumerate() {
        let number = number + 1;
        if sections.len() > 1 {
            let _ = writeln!(html, "<li><a href=\"#run-{number}\">{}</a></li>", escaped(&section.name));
            continue;
        }
        for (at, part) in section.parts.iter().enumerate() {
            let title = escaped(&part.title);
            let _ = writeln!(html, "<li><a href=\"#run-{number}-part-{}\">{title}</a></li>", at + 1);
        }
    }
    *html += "</ul>\n</nav>\n";
}

fn named(section: &Section) -> String {
    format!("{}<span class=\"kind\">{}</span>", escaped(&section.name), section.kind.name())
}

fn write_section(html: &mut String, section: &Section, number: usize, headed: bool) -> Result<()> {
    let _ = writeln!(html, "<section id=\"run-{number}\" data-kind=\"{}\">", section.kind.name());
    if headed {
        let _ = writeln!(html, "<h2>{}</h2>", named(section));
    }
    if !section.summary.is_empty() {
        let _ = writeln!(html, "<p class=\"soft\">{}</p>", escaped(&section.summary));
    }
    if !section.measures.is_empty() {
        *html += "<dl>\n";
        for measure in &section.measures {
            let (label, value) = (escaped(measure.label), escaped(&measure.value.shown()));
            let _ =
                writeln!(html, "<div><dt>{label}</dt><dd data-key=\"{}\">{value}</dd></div>", measure.key);
        }
        *html += "</dl>\n";
    }
    for (at, part) in section.parts.iter().enumerate() {
        let _ = writeln!(html, "<h3 id=\"run-{number}-part-{}\">{}</h3>", at + 1, escaped(&part.title));
        items(html, &part.items, &format!("run-{number}"))?;
    }
    *html += "</section>\n";
    Ok(())
}

/// Writes items; neighbouring figures of equal size share a grid.
fn items(html: &mut String, items: &[Item], prefix: &str) -> Result<()> {
    // 0: not a figure, 1: a figure, 2: a small one.
    let size = |item: &Item| match item {
        Item::Figure(figure) => 1 + usize::from(figure.is_small()),
        _ => 0,
    };
    for group in items.chunk_by(|a, b| size(a) == size(b)) {
        if size(&group[0]) > 0 {
            *html +=
                if size(&group[0]) == 2 { "<div class=\"grid small\">\n" } else { "<div class=\"grid\">\n" };
        }
        for item in group {
            match item {
                Item::Text(text) => drop(writeln!(html, "<p>{}</p>", escaped(text))),
                Item::Missing(text) => drop(writeln!(html, "<p class=\"missing\">{}</p>", escaped(text))),
                Item::Table(content) => table(html, content, "", Cell::shown),
                Item::Folded(words, content) => {
                    let _ = writeln!(html, "<details><summary>{}</summary>", escaped(words));
                    table(html, content, "", Cell::shown);
                    *html += "</details>\n";
                }
                Item::Figure(content) => figure(html, content, prefix)?,
            }
        }
        if size(&group[0]) > 0 {
            *html += "</div>\n";
        }
    }
    Ok(())
}

fn figure(html: &mut String, figure: &Figure, prefix: &str) -> Result<()> {
    let id = format!("{prefix}-{}", figure.id);
    let title = escaped(&figure.title);
    let svg = figure.svg_on_page()?;
    let svg = svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1);
    let _ = write!(html, "<figure id=\"{}\">\n<h4>{title}</h4>\n{svg}", escaped(&id));
    if !figure.caption.is_empty() {
        let _ = writeln!(html, "<figcaption>{}</figcaption>", escaped(&figure.caption));
    }
    if !figure.data.is_empty() {
        *html += "<details><summary>numbers</summary>\n";
        table(html, &figure.data, &format!("{id}-data"), Cell::plain);
        *html += "</details>\n";
    }
    *html += "</figure>\n";
    Ok(())
}

fn table(html: &mut String, table: &Table, id: &str, show: fn(&Cell) -> String) {
    let id = if id.is_empty() { String::new() } else { format!(" id=\"{}\"", escaped(id)) };
    let _ = writeln!(html, "<div class=\"scroll\"><table{id}>");
    let numbers = |column: usize| {
        table
            .rows
            .iter()
            .all(|row| row.get(column).is_none_or(|cell| !matches!(cell, Cell::Text(_) | Cell::Link(..))))
    };
    let class = |column: usize| if numbers(column) { " class=\"n\"" } else { "" };
    if table.head.iter().any(|head| !head.is_empty()) {
        *html += "<thead><tr>";
        for (column, head) in table.head.iter().enumerate() {
            let _ = write!(html, "<th{}>{}</th>", class(column), escaped(head));
        }
        *html += "</tr></thead>\n";
    }
    *html += "<tbody>\n";
    for row in &table.rows {
        *html += "<tr>";
        for cell in row {
            let text = escaped(&show(cell));
            let _ = match cell {
                Cell::Count(_) | Cell::Number(..) => write!(html, "<td class=\"n\">{text}</td>"),
                Cell::Link(_, to) => write!(html, "<td><a href=\"{}\">{text}</a></td>", escaped(to)),
                _ => write!(html, "<td>{text}</td>"),
            };
        }
        *html += "</tr>\n";
    }
    *html += "</tbody></table></div>\n";
}

/// Escapes text for XML, printably: the page may go to a terminal, and XML forbids control characters.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::SectionKind;

    #[test]
    fn user_input_never_becomes_markup() {
        assert_eq!(escaped("a<b> & \"c\" \u{1}\u{ffff}é"), "a&lt;b&gt; &amp; &quot;c&quot; \\u{1}\u{fffd}é");
        assert!(!STYLE.contains(['<', '&', '"']), "a style sheet that HTML and XML read alike");
        let mut section = Section::new("<script>x</script>", SectionKind::Match);
        section.measure("k", "k", Cell::text("<b>"));
        let page = page(&[section], &[]).unwrap();
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    }
}
