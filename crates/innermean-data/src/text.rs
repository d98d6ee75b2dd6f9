//! Text read in pieces: its lines one after the other, and its first lines ahead of time.
//!
//! Only one piece of the file is held, and the line that lies across its end is carried over to the
//! next. So the memory a table takes is that of its values, however long the file.

use std::io::{ErrorKind, Read};

use memchr::{memchr, memchr_iter};

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::{Unpacked, unreadable};
use crate::text::line::{DELIMITERS, Delimiter, Line};
use crate::text::quotes::{is_open_after, opens};

pub(crate) mod cell;
pub(crate) mod date;
pub(crate) mod line;
pub(crate) mod number;
mod quotes;

/// Bytes asked for at a time: they stay in the processor's cache until their numbers have been
/// read.
const PIECE: usize = 1 << 17;

/// The lines of a text.
pub(crate) struct Text<'a> {
    input: Unpacked<'a>,
    /// Bytes from `at` on have been read and not been handed out.
    buffer: Vec<u8>,
    at: usize,
    /// The input has no more.
    ended: bool,
    /// Lines handed out.
    lines: usize,
    line_end: u8,
    /// How often the input has been asked for more.
    pieces: usize,
}

impl<'a> Text<'a> {
    pub(crate) fn new(input: Unpacked<'a>) -> Result<Self, ReadError> {
        let mut text = Self {
            input,
            buffer: Vec::with_capacity(2 * PIECE),
            at: 0,
            ended: false,
            lines: 0,
            line_end: b'\n',
            pieces: 0,
        };
        text.fill()?;
        if text.buffer.starts_with(b"\xef\xbb\xbf") {
            text.at = 3;
        }
        // A carriage return alone ends lines only where no line feed does. Behind the last byte of
        // a piece there may be one.
        while memchr(b'\n', &text.buffer).is_none() {
            let alone = memchr(b'\r', &text.buffer)
                .is_some_and(|at| text.ended || at + 1 < text.buffer.len());
            if alone {
                text.line_end = b'\r';
            }
            if alone || text.ended {
                break;
            }
            text.check_line(text.buffer.len(), 1)?;
            text.fill()?;
        }
        Ok(text)
    }

    /// The text's name in messages.
    pub(crate) fn file(&self) -> &str {
        &self.input.file
    }

    /// What is refused.
    pub(crate) fn limits(&self) -> &Limits {
        &self.input.limits
    }

    /// How much of the file has been read, from 0 to 1.
    pub(crate) fn part(&self) -> Option<f64> {
        self.input.part()
    }

    /// A number that grows with every piece: what takes time is looked at once for each.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces
    }

    fn check_line(&self, bytes: usize, number: usize) -> Result<(), ReadError> {
        self.limits().check_line(bytes, || format!("{}, line {number}", self.file()))
    }

    /// Reads one piece more, behind what has not been handed out.
    fn fill(&mut self) -> Result<(), ReadError> {
        self.pieces += 1;
        self.buffer.drain(..self.at);
        self.at = 0;
        // A line longer than a piece asks for twice as much each time.
        let held = self.buffer.len();
        let wanted = held + PIECE.max(held);
        self.buffer.resize(wanted, 0);
        let mut filled = held;
        while filled < wanted && !self.ended {
            match self.input.read(&mut self.buffer[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(self.file(), error)),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }

    /// The next line, `None` past the last one.
    pub(crate) fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let Some((length, skip)) = self.find_end()? else { return Ok(None) };
        self.hand_out(length, skip, 1).map(Some)
    }

    /// The next row of a table, `None` past the last one: a line, and those below it on which a
    /// quoted cell goes on. It has the number of its first line. A quote that is not closed within
    /// the longest cell ends with its line.
    pub(crate) fn next_row(&mut self, delimiter: Delimiter) -> Result<Option<Line<'_>>, ReadError> {
        let Some((mut length, mut skip)) = self.find_end()? else { return Ok(None) };
        let mut lines = 1;
        if opens(&self.buffer[self.at..self.at + length], delimiter) {
            let closed = loop {
                match self.find_close(self.at + length, delimiter) {
                    Close::Beyond => self.fill()?,
                    Close::At { end, lines } => break Some((end, lines)),
                    Close::Never => break None,
                }
            };
            if let Some((end, below)) = closed {
                length = end - self.at;
                skip = usize::from(end < self.buffer.len());
                lines += below;
            }
        }
        self.hand_out(length, skip, lines).map(Some)
    }

    /// The length of the next line and of its end.
    #[inline]
    fn find_end(&mut self) -> Result<Option<(usize, usize)>, ReadError> {
        let mut looked = 0;
        let (length, skip) = loop {
            let rest = &self.buffer[self.at..];
            if let Some(end) = memchr(self.line_end, &rest[looked..]) {
                break (looked + end, 1);
            }
            looked = rest.len();
            if self.ended {
                if rest.is_empty() {
                    return Ok(None);
                }
                break (looked, 0);
            }
            self.check_line(looked, self.lines + 1)?;
            self.fill()?;
        };
        self.check_line(length, self.lines + 1)?;
        Ok(Some((length, skip)))
    }

    /// Where the row ends whose first line ends at `end` within a quoted cell.
    fn find_close(&self, end: usize, delimiter: Delimiter) -> Close {
        let first = end + 1;
        let mut start = first;
        for lines in 1.. {
            let end = match self.buffer.get(start..).and_then(|rest| memchr(self.line_end, rest)) {
                Some(length) => start + length,
                None if self.ended && start < self.buffer.len() => self.buffer.len(),
                None if self.ended || self.buffer.len() - start > self.limits().line => break,
                None => return Close::Beyond,
            };
            if !is_open_after(&self.buffer[start..end], delimiter, true) {
                return Close::At { end, lines };
            }
            start = end + 1;
            if start - first > self.limits().cell {
                break;
            }
        }
        Close::Never
    }

    /// The next `lines` lines, which take `length` bytes without their last end of `skip` bytes.
    #[inline]
    fn hand_out(
        &mut self,
        length: usize,
        skip: usize,
        lines: usize,
    ) -> Result<Line<'_>, ReadError> {
        let (from, number) = (self.at, self.lines + 1);
        self.at += length + skip;
        self.lines += lines;
        self.line(from, from + length, number)
    }

    /// For every delimiter, the first `count` rows that are neither blank nor comments, which
    /// [`Text::next_row`] will hand out again. Of very long rows fewer will do.
    pub(crate) fn first_rows(&mut self, count: usize) -> Result<Vec<FirstRows<'_>>, ReadError> {
        while !self.ended {
            let mut enough = true;
            for delimiter in DELIMITERS {
                enough &= self.sample(count, delimiter)?.1;
            }
            if enough {
                break;
            }
            self.fill()?;
        }
        let rows = |delimiter| Ok(FirstRows { delimiter, rows: self.sample(count, delimiter)?.0 });
        DELIMITERS.into_iter().map(rows).collect()
    }

    /// Such rows among those that are held, and whether they are enough.
    fn sample(
        &self,
        count: usize,
        delimiter: Delimiter,
    ) -> Result<(Vec<Line<'_>>, bool), ReadError> {
        /// More than this many bytes, and rows, are not needed; of rows as long as books, fewer.
        const ENOUGH: [(usize, usize); 2] = [(1 << 20, 10), (1 << 22, 3)];
        let mut rows = Vec::new();
        let mut at = self.at;
        let mut number = self.lines + 1;
        while at < self.buffer.len() {
            let enough = |(bytes, least)| at - self.at > bytes && rows.len() >= least;
            if rows.len() == count || ENOUGH.into_iter().any(enough) {
                return Ok((rows, true));
            }
            let mut end = match memchr(self.line_end, &self.buffer[at..]) {
                Some(length) => at + length,
                None if self.ended => self.buffer.len(),
                None => {
                    self.check_line(self.buffer.len() - at, number)?;
                    break;
                }
            };
            self.check_line(end - at, number)?;
            let mut below = 0;
            if opens(&self.buffer[at..end], delimiter) {
                match self.find_close(end, delimiter) {
                    Close::Beyond => return Ok((rows, false)),
                    Close::At { end: close, lines } => (end, below) = (close, lines),
                    Close::Never => {}
                }
            }
            let row = self.line(at, end, number)?;
            if !row.is_blank() && !row.is_comment() {
                rows.push(row);
            }
            at = end + 1;
            number += 1 + below;
        }
        let enough = rows.len() == count;
        Ok((rows, enough))
    }

    /// The bytes held from `from` to `to` as text; `number` is that of the first line.
    #[inline]
    fn line(&self, from: usize, to: usize, number: usize) -> Result<Line<'_>, ReadError> {
        let bytes = &self.buffer[from..to];
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        std::str::from_utf8(bytes).map(|text| Line { number, text }).map_err(|error| {
            let above = memchr_iter(self.line_end, &bytes[..error.valid_up_to()]).count();
            ReadError::NotUtf8 { file: self.file().to_owned(), line: number + above }
        })
    }
}

/// The first rows of a table if `delimiter` separates its cells.
pub(crate) struct FirstRows<'a> {
    pub(crate) delimiter: Delimiter,
    pub(crate) rows: Vec<Line<'a>>,
}

/// Where a quoted cell that goes on below its line is closed.
enum Close {
    /// On a line that ends at `end`, `lines` lines below.
    At { end: usize, lines: usize },
    /// Nowhere.
    Never,
    /// Not in what is held.
    Beyond,
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// Hands out at most `step` bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(out.len());
            let end = &mut out[..count];
            self.0.read(end)
        }
    }

    fn lines(text: &mut Text<'_>) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        while let Some(line) = text.next_line().unwrap() {
            all.push((line.number, line.text.to_owned()));
        }
        all
    }

    #[test]
    fn lines_across_pieces_are_whole() {
        for length in [1, 1000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let long = "x".repeat(length);
            let whole = format!("\u{feff}a\r\n\n{long}\n{long}é\nlast");
            for step in [1000, usize::MAX] {
                let mut text = Text::new(Unpacked::of(Slowly(whole.as_bytes(), step))).unwrap();
                let first: Vec<usize> =
                    text.first_rows(3).unwrap()[0].rows.iter().map(|l| l.number).collect();
                assert_eq!(first, [1, 3, 4], "the blank line is not one of them");
                let all = lines(&mut text);
                let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
                assert_eq!(texts, ["a", "", &long, &format!("{long}é"), "last"]);
                assert_eq!(all[4].0, 5);
            }
        }
    }

    #[test]
    fn line_ends_are_found_out_across_pieces() {
        for length in [1, PIECE - 2, PIECE - 1, PIECE, 2 * PIECE - 1, 2 * PIECE, 3 * PIECE] {
            for mark in ["", "\u{feff}"] {
                // The mark takes part of the first piece.
                let long = "x".repeat(length.saturating_sub(mark.len()).max(1));
                for (end, step) in [
                    ("\n", 1000),
                    ("\r\n", 1000),
                    ("\r\n", usize::MAX),
                    ("\r", 1000),
                    ("\r", usize::MAX),
                ] {
                    for tail in ["", end, &format!("{end}b"), &format!("{end}b{end}{end}c{end}")] {
                        let whole = format!("{mark}{long}{tail}");
                        let mut text =
                            Text::new(Unpacked::of(Slowly(whole.as_bytes(), step))).unwrap();
                        let all: Vec<String> =
                            lines(&mut text).into_iter().map(|(_, text)| text).collect();
                        let expected = [&long[..], "b", "", "c"];
                        let count = [1, 2, 4][tail.matches(['b', 'c']).count()];
                        assert!(
                            all == expected[..count],
                            "{length} {end:?} {tail:?}: {} lines",
                            all.len()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn long_lines_are_not_all_looked_at() {
        let whole = ("x".repeat(200_000) + "\n").repeat(60);
        let mut text = Text::new(Unpacked::of(whole.as_bytes())).unwrap();
        assert_eq!(text.first_rows(100).unwrap()[0].rows.len(), 10);
        assert!(text.buffer.len() < 6_000_000);
        assert_eq!(lines(&mut text).len(), 60);
        let whole = ("x".repeat(2_000_000) + "\n").repeat(9);
        let mut text = Text::new(Unpacked::of(whole.as_bytes())).unwrap();
        assert_eq!(text.first_rows(100).unwrap()[0].rows.len(), 3);
        assert_eq!(lines(&mut text).len(), 9);
    }

    #[test]
    fn lines_beyond_the_limit_are_refused_wherever_they_stand() {
        let long = "x".repeat(3_000_000);
        for (whole, line) in [
            (long.clone(), 1),
            (format!("a\n{long}"), 2),
            (format!("{}{long}", "a\n".repeat(200)), 201),
        ] {
            let mut input = Unpacked::of(whole.as_bytes());
            input.limits.line = 1 << 20;
            let mut text = match Text::new(input) {
                Ok(text) => text,
                Err(error) => {
                    assert!(
                        line == 1
                            && error.to_string().starts_with("file, line 1: is longer than 1 MiB")
                    );
                    continue;
                }
            };
            let refused = text.first_rows(100).map(drop).and_then(|()| {
                while text.next_line()?.is_some() {}
                Ok(())
            });
            let error = refused.unwrap_err().to_string();
            assert!(error.starts_with(&format!("file, line {line}: is longer")), "{error}");
        }
    }

    #[test]
    fn carriage_returns_end_lines_where_nothing_else_does() {
        let mut text = Text::new(Unpacked::of(&b"a\rb\r"[..])).unwrap();
        assert_eq!(lines(&mut text), [(1, "a".to_owned()), (2, "b".to_owned())]);
    }

    #[test]
    fn bytes_that_are_no_text_are_found_on_their_line() {
        let mut text = Text::new(Unpacked::of(&b"a\n\xff\n"[..])).unwrap();
        assert!(matches!(text.first_rows(5), Err(ReadError::NotUtf8 { line: 2, .. })));
    }

    #[test]
    fn a_row_ends_where_its_last_quote_is_closed() {
        let comma = Delimiter::Byte(b',');
        for length in [1, PIECE - 1, PIECE, 3 * PIECE] {
            let whole = format!("a,\"{}\n\n\"\"#,\"\r\nb,1\n\"c\n", "x".repeat(length));
            let mut input = Unpacked::of(Slowly(whole.as_bytes(), 1000));
            input.limits.cell = 8 * PIECE;
            let mut text = Text::new(input).unwrap();
            let first = text.first_rows(3).unwrap().remove(0);
            let sampled: Vec<(usize, String)> =
                first.rows.iter().map(|l| (l.number, l.text.to_owned())).collect();
            let mut all = Vec::new();
            while let Some(line) = text.next_row(comma).unwrap() {
                all.push((line.number, line.text.to_owned()));
            }
            assert_eq!(all[0].1.len(), length + 10);
            assert_eq!(all[1..], [(4, "b,1".to_owned()), (5, "\"c".to_owned())]);
            assert_eq!(all, sampled);
        }
    }

    #[test]
    fn a_stray_quote_takes_no_more_than_its_line() {
        let comma = Delimiter::Byte(b',');
        let whole = format!("\"a,1\n{}b\",2\n", "x\n".repeat(50));
        let mut input = Unpacked::of(whole.as_bytes());
        input.limits.cell = 99;
        let mut text = Text::new(input).unwrap();
        assert_eq!(text.first_rows(9).unwrap()[0].rows[0].text, "\"a,1");
        assert_eq!(text.next_row(comma).unwrap().map(|l| l.text), Some("\"a,1"));
        assert_eq!(text.next_row(comma).unwrap().map(|l| (l.number, l.text)), Some((2, "x")));
    }

    #[test]
    fn bytes_that_are_no_text_are_found_on_their_line_of_a_row() {
        let mut text = Text::new(Unpacked::of(&b"a\n\"b\n\xff\"\n"[..])).unwrap();
        assert!(matches!(text.first_rows(5), Err(ReadError::NotUtf8 { line: 3, .. })));
    }
}
