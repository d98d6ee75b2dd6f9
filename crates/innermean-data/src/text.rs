//! Text read in pieces: its lines one after the other, and its first lines ahead of time.
//!
//! Only one piece of the file is held, and the line that lies across its end is carried over to the
//! next. So the memory a table takes is that of its values, however long the file.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::{Unpacked, unreadable};
use crate::text::line::Line;

pub(crate) mod cell;
pub(crate) mod line;
pub(crate) mod number;

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
        let from = self.at;
        self.at += length + skip;
        self.lines += 1;
        line(&self.buffer[from..from + length], self.lines, &self.input.file).map(Some)
    }

    /// The first `count` lines that are neither blank nor comments, which [`Text::next_line`] will
    /// hand out again. Of very long lines fewer will do.
    pub(crate) fn first_lines(&mut self, count: usize) -> Result<Vec<Line<'_>>, ReadError> {
        while !self.ended && !self.sample(count)?.1 {
            self.fill()?;
        }
        Ok(self.sample(count)?.0)
    }

    /// Such lines among the whole lines that are held, and whether they are enough.
    fn sample(&self, count: usize) -> Result<(Vec<Line<'_>>, bool), ReadError> {
        /// More than this many bytes, and lines, are not needed; of lines as long as books, fewer.
        const ENOUGH: [(usize, usize); 2] = [(1 << 20, 10), (1 << 22, 3)];
        let mut lines = Vec::new();
        let mut at = self.at;
        let mut number = self.lines;
        while at < self.buffer.len() {
            let enough = |(bytes, least)| at - self.at > bytes && lines.len() >= least;
            if lines.len() == count || ENOUGH.into_iter().any(enough) {
                return Ok((lines, true));
            }
            let end = match memchr(self.line_end, &self.buffer[at..]) {
                Some(length) => at + length,
                None if self.ended => self.buffer.len(),
                None => {
                    self.check_line(self.buffer.len() - at, number + 1)?;
                    break;
                }
            };
            number += 1;
            self.check_line(end - at, number)?;
            let line = line(&self.buffer[at..end], number, self.file())?;
            if !line.is_blank() && !line.is_comment() {
                lines.push(line);
            }
            at = end + 1;
        }
        let enough = lines.len() == count;
        Ok((lines, enough))
    }
}

fn line<'a>(bytes: &'a [u8], number: usize, file: &str) -> Result<Line<'a>, ReadError> {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Line { number, text }),
        Err(_) => Err(ReadError::NotUtf8 { file: file.to_owned(), line: number }),
    }
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
                    text.first_lines(3).unwrap().iter().map(|l| l.number).collect();
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
        assert_eq!(text.first_lines(100).unwrap().len(), 10);
        assert!(text.buffer.len() < 6_000_000);
        assert_eq!(lines(&mut text).len(), 60);
        let whole = ("x".repeat(2_000_000) + "\n").repeat(9);
        let mut text = Text::new(Unpacked::of(whole.as_bytes())).unwrap();
        assert_eq!(text.first_lines(100).unwrap().len(), 3);
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
            let refused = text.first_lines(100).map(drop).and_then(|()| {
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
        assert!(matches!(text.first_lines(5), Err(ReadError::NotUtf8 { line: 2, .. })));
    }
}
