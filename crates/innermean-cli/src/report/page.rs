//! A report as one HTML file, in which everything is: style, script, numbers. It asks nothing of
//! any network, and says so to the browser.

use std::fmt::Write as _;

use super::html::{capital, escape, prose};
use super::invocation::command_line;
use super::{EPOCHS, Kind, Report, Verdict, bars};
use crate::output::grid::Grid;
use crate::run::page::Part;

/// What may be loaded: what the page holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A table of more rows is to be opened.
const MOST_ROWS: usize = 60;

impl Report<'_> {
    /// The whole page.
    pub(crate) fn page(&self) -> String {
        let mut main = String::new();
        self.answer(&mut main);
        self.convergence(&mut main);
        if !self.tables.is_empty() {
            main.push_str("<h2>Comparison</h2>\n");
            self.tables.iter().for_each(|table| grid(&mut main, table));
        }
        self.data(&mut main);
        if !self.settings.is_empty() {
            main.push_str("<h2>Settings</h2>\n");
            pairs(&mut main, &self.settings);
        }
        let data = (!self.convergence.is_empty()).then(|| self.convergence.json());
        document(&self.title, &self.source, &main, data.as_deref())
    }

    fn answer(&self, out: &mut String) {
        if let Some(Verdict { kind, status, text }) = &self.verdict {
            let class = match kind {
                Kind::Good => " good",
                Kind::Limited => "",
                Kind::Bad => " bad",
            };
            let _ = writeln!(
                out,
                "<div class=\"verdict{class}\"><strong>{}</strong>. {}</div>",
                escape(&capital(status)),
                prose(text)
            );
        }
        for part in &self.answer {
            match part {
                Part::Numbers(numbers) => out.push_str(&bars::html(None, numbers)),
                Part::Bars(title, numbers) => out.push_str(&bars::html(Some(title), numbers)),
                Part::Table(table) => grid(out, table),
                Part::Picture(chart) => out.push_str(&chart.html()),
            }
        }
        if !self.facts.is_empty() {
            out.push_str("<h3>In numbers</h3>\n");
            pairs(out, &self.facts);
        }
    }

    fn convergence(&self, out: &mut String) {
        if self.convergence.is_empty() {
            return;
        }
        out.push_str("<h2>Convergence</h2>\n");
        for about in &self.convergence.about {
            let _ = writeln!(out, "<p>{}</p>", escape(about));
        }
        if self.convergence.x.contains(&EPOCHS) {
            out.push_str("<p class=\"soft\">An epoch is as many rows read as there are.</p>\n");
        }
        out.push_str(
            "<p class=\"soft\">Point at a curve to read it, drag to zoom, double click to go back. An open triangle means zero or less.</p>\n\
             <noscript><p>The curves need scripts, which are turned off.</p></noscript>\n\
             <div id=\"controls\" class=\"controls\"></div>\n<div id=\"legend\"></div>\n<div id=\"panels\"></div>\n<div id=\"reading\" role=\"status\" hidden></div>\n",
        );
    }

    fn data(&self, out: &mut String) {
        if self.data.is_empty() && self.notes.is_empty() {
            return;
        }
        out.push_str("<h2>Data</h2>\n");
        pairs(out, &self.data);
        if !self.notes.is_empty() {
            out.push_str("<ul>\n");
            for note in &self.notes {
                let _ = writeln!(out, "<li>{}</li>", prose(note));
            }
            out.push_str("</ul>\n");
        }
    }
}

/// A page around `main`, with style, script, how to do it again and, for the script, `data`.
pub(crate) fn document(title: &str, source: &str, main: &str, data: Option<&str>) -> String {
    let title = escape(title);
    let data = data.map_or(String::new(), |data| {
        format!("<script id=\"data\" type=\"application/json\">{data}</script>\n")
    });
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} - innermean</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>\n{style}</style>\n</head>\n<body>\n\
         <header><div><h1>{title}</h1><p class=\"soft\">{source}</p></div>\
         <button id=\"theme\" type=\"button\" title=\"Light or dark\" aria-label=\"Light or dark\">◐</button></header>\n<main>\n{main}\
         <h2>Once more</h2>\n<p>In the folder of the files:</p>\n<pre><code id=\"command\">{command}</code></pre>\n\
         <button id=\"copy\" type=\"button\">Copy</button>\n</main>\n<footer>innermean {version}, {arch} on {os}</footer>\n\
         {data}<script>\n{script}</script>\n</body>\n</html>\n",
        style = include_str!("page.css"),
        source = escape(source),
        command = escape(&command_line()),
        version = env!("INNERMEAN_VERSION"),
        arch = std::env::consts::ARCH,
        os = std::env::consts::OS,
        script = include_str!("page.js"),
    )
}

/// Labels and texts.
pub(crate) fn pairs(out: &mut String, pairs: &[(String, String)]) {
    out.push_str("<dl>\n");
    for (label, text) in pairs {
        if !label.is_empty() {
            let _ = write!(out, "<dt>{}</dt>", escape(label));
        }
        let _ = writeln!(out, "<dd>{}</dd>", prose(text));
    }
    out.push_str("</dl>\n");
}

/// A table.
pub(crate) fn grid(out: &mut String, Grid { title, header, rows, numbers, note }: &Grid) {
    if !title.is_empty() {
        let _ = writeln!(out, "<h3>{}</h3>", escape(&capital(title)));
    }
    let class = |column: usize| if numbers.contains(&column) { " class=\"number\"" } else { "" };
    let cells = |cells: &[String], tag: &str| {
        let mut out = String::new();
        for (k, cell) in cells.iter().enumerate() {
            let _ = write!(out, "<{tag}{}>{}</{tag}>", class(k), escape(cell));
        }
        out
    };
    let long = rows.len() > MOST_ROWS;
    if long {
        let _ = writeln!(out, "<details><summary>{} rows</summary>", rows.len());
    }
    out.push_str("<div class=\"scroll\"><table><thead>\n");
    let _ = writeln!(out, "<tr>{}</tr></thead><tbody>", cells(header, "th"));
    for row in rows {
        let _ = writeln!(out, "<tr>{}</tr>", cells(row, "td"));
    }
    out.push_str("</tbody></table></div>\n");
    if long {
        out.push_str("</details>\n");
    }
    if let Some(note) = note {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", escape(note));
    }
}
