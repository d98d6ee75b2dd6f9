//! Physical lines, and the cells on a line.

use std::borrow::Cow;

use memchr::memchr;

/// One physical line without its end, numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    pub(crate) fn is_blank(self) -> bool {
        self.text.trim_ascii_start().is_empty()
    }

    pub(crate) fn is_comment(self) -> bool {
        self.text.trim_ascii_start().starts_with('#')
    }
}

/// All lines of a text from a given place on.
#[derive(Debug, Clone)]
pub(crate) struct Lines<'a> {
    rest: Option<&'a str>,
    number: usize,
    end: char,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        // A carriage return alone ends lines only where no line feed does.
        let end = if !text.contains('\n') && text.contains('\r') { '\r' } else { '\n' };
        Self { rest: Some(text), number: 0, end }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.rest.take()?;
        let text = match rest.split_once(self.end) {
            Some((text, after)) => {
                self.rest = Some(after);
                text
            }
            None => rest,
        };
        self.number += 1;
        Some(Line { number: self.number, text: text.strip_suffix('\r').unwrap_or(text) })
    }
}

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// One ASCII character; two in a row enclose an empty cell.
    Byte(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

/// In order of preference where a file reads equally well with several.
pub(crate) const DELIMITERS: [Delimiter; 5] = [
    Delimiter::Byte(b','),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b'|'),
    Delimiter::Blanks,
];

impl Delimiter {
    #[inline(always)]
    pub(crate) fn is_at(self, byte: u8) -> bool {
        match self {
            Self::Byte(delimiter) => byte == delimiter,
            Self::Blanks => byte == b' ' || byte == b'\t',
        }
    }

    /// Blanks around a cell that do not belong to it; a tab that delimits is not one of them.
    pub(crate) fn is_padding(self, byte: u8) -> bool {
        byte == b' ' || (byte == b'\t' && self != Self::Byte(b'\t'))
    }

    /// The cells of a line, trimmed and unquoted.
    pub(crate) fn cells(self, line: &str) -> Vec<Cell<'_>> {
        Cells::of(line, self).collect()
    }

    /// The line without one delimiter at its end.
    pub(crate) fn without_trailing(self, line: &str) -> &str {
        match self {
            Self::Byte(byte) => {
                let trimmed =
                    line.trim_end_matches(|c: char| c.is_ascii() && self.is_padding(c as u8));
                trimmed.strip_suffix(byte as char).unwrap_or(line)
            }
            Self::Blanks => line,
        }
    }

    pub(crate) fn is_trailing(self, line: &str) -> bool {
        self.without_trailing(line).len() != line.len()
    }
}

/// The text without blanks around it; most cells have none.
#[inline]
fn trimmed(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { text } else { text.trim() }
}

/// The text of one cell, trimmed and unquoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A quote was opened and not closed in the row.
    pub(crate) unclosed: bool,
    pub(crate) quoted: bool,
}

/// The cells of a line one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a> {
    line: &'a str,
    /// Where the next cell begins; behind the end of the line past the last one.
    at: usize,
    delimiter: Delimiter,
}

impl<'a> Cells<'a> {
    pub(crate) fn of(line: &'a str, delimiter: Delimiter) -> Self {
        let line = if delimiter == Delimiter::Blanks { line.trim_ascii() } else { line };
        let at = usize::from(delimiter == Delimiter::Blanks && line.is_empty());
        Self { line, at, delimiter }
    }

    /// The part of the line not yet handed out; `None` past the last cell.
    #[inline(always)]
    pub(crate) fn rest(&self) -> Option<&'a [u8]> {
        self.line.as_bytes().get(self.at..)
    }

    /// Continues behind a cell that ends `length` bytes from here: at the end of the line or at a
    /// delimiter.
    #[inline(always)]
    pub(crate) fn skip_cell(&mut self, length: usize) {
        self.at += length + 1;
        if self.delimiter == Delimiter::Blanks {
            let bytes = self.line.as_bytes();
            while self.at < bytes.len() && self.delimiter.is_at(bytes[self.at]) {
                self.at += 1;
            }
        }
    }
}

impl<'a> Iterator for Cells<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        let rest = self.line.get(self.at..)?;
        let bytes = rest.as_bytes();
        let start = bytes.iter().take_while(|&&b| self.delimiter.is_padding(b)).count();
        if bytes.get(start) == Some(&b'"') {
            return Some(self.quoted(rest, start + 1));
        }
        let end = match self.delimiter {
            Delimiter::Byte(byte) => memchr(byte, bytes),
            Delimiter::Blanks => bytes.iter().position(|&b| self.delimiter.is_at(b)),
        };
        let end = end.unwrap_or(bytes.len());
        self.skip_cell(end);
        Some(Cell { text: Cow::Borrowed(trimmed(&rest[..end])), unclosed: false, quoted: false })
    }
}

impl<'a> Cells<'a> {
    /// A cell whose quote opened just before `start`; a doubled quote inside stands for one.
    fn quoted(&mut self, rest: &'a str, start: usize) -> Cell<'a> {
        let bytes = rest.as_bytes();
        let mut text = String::new();
        let mut from = start;
        loop {
            let Some(close) = bytes[from..].iter().position(|&b| b == b'"').map(|k| from + k)
            else {
                self.at = self.line.len() + 1;
                return Cell { text: Cow::Borrowed(rest.trim()), unclosed: true, quoted: true };
            };
            text.push_str(&rest[from..close]);
            if bytes.get(close + 1) == Some(&b'"') {
                text.push('"');
                from = close + 2;
                continue;
            }
            // Anything between the closing quote and the delimiter still belongs to the cell.
            let tail = bytes[close + 1..].iter().position(|&b| self.delimiter.is_at(b));
            let end = tail.map_or(bytes.len(), |k| close + 1 + k);
            text.push_str(rest[close + 1..end].trim());
            self.skip_cell(end);
            let text = unguarded(text.trim()).to_owned();
            return Cell { text: Cow::Owned(text), unclosed: false, quoted: true };
        }
    }
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Whether a text, behind apostrophes or not, would begin a formula in a spreadsheet. A number is
/// none.
pub(crate) fn begins_formula(text: &str) -> bool {
    let bare = text.trim_start_matches('\'');
    bare.starts_with(FORMULA) && bare.len() > 1 && text.parse::<f64>().is_err()
}

/// A quoted text without the apostrophe that keeps a spreadsheet from taking it for a formula.
fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| begins_formula(rest)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, delimiter: Delimiter) -> Vec<String> {
        delimiter.cells(line).into_iter().map(|cell| cell.text.into_owned()).collect()
    }

    #[test]
    fn lines_keep_physical_numbers() {
        let lines: Vec<_> = Lines::of("a\r\n\r\nb").map(|l| (l.number, l.text)).collect();
        assert_eq!(lines, [(1, "a"), (2, ""), (3, "b")]);
        let old_mac: Vec<_> = Lines::of("a\rb").map(|l| l.text).collect();
        assert_eq!(old_mac, ["a", "b"]);
    }

    #[test]
    fn cells_between_delimiters() {
        assert_eq!(texts("a, b ,,c", Delimiter::Byte(b',')), ["a", "b", "", "c"]);
        assert_eq!(texts("a,", Delimiter::Byte(b',')), ["a", ""]);
        assert_eq!(texts("", Delimiter::Byte(b',')), [""]);
        assert_eq!(texts("\ta\t", Delimiter::Byte(b'\t')), ["", "a", ""]);
        assert_eq!(texts("  a \t b ", Delimiter::Blanks), ["a", "b"]);
        assert_eq!(texts("  ", Delimiter::Blanks), [""; 0]);
    }

    #[test]
    fn cells_in_quotes() {
        assert_eq!(
            texts(r#""a,b", "say ""x""" ,c"#, Delimiter::Byte(b',')),
            ["a,b", "say \"x\"", "c"]
        );
        assert_eq!(texts(r#""a b" "c""#, Delimiter::Blanks), ["a b", "c"]);
        assert_eq!(texts(r#""a","#, Delimiter::Byte(b',')), ["a", ""]);
        let open = Delimiter::Byte(b',').cells("x,\"y,z");
        assert!(open[1].unclosed);
        assert_eq!(open.len(), 2);
    }
}
