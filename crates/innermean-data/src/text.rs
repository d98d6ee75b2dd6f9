//! Text read in pieces: its lines one after the other, and its first lines ahead of time.
//!
//! Only one piece of the file is held, and the line that lies across its end is carried over to the next. So the memory
//! a table takes is that of its values, however long the file.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use crate::error::ReadError;
use crate::line::Line;
use crate::source::unreadable;

/// Bytes asked for at a time: they stay in the processor's cache until their numbers have been read.
const PIECE: usize = 1 << 17;

/// The lines of a text.
pub(crate) struct Text<'a> {
    file: String,
    input: Box<dyn Read + 'a>,
    /// Bytes from `at` on have been read and not been handed out.
    buffer: Vec<u8>,
    at: usize,
    /// The input has no more.
    ended: bool,
    /// Lines handed out.
    lines: usize,
    line_end: u8,
}

impl<'a> Text<'a> {
    /// `file` stands for the text in messages.
    pub(crate) fn new(input: Box<dyn Read + 'a>, file: &str) -> Result<Self, ReadError> {
        let mut text = Self {
            file: file.to_owned(),
            input,
            buffer: Vec::with_capacity(2 * PIECE),
            at: 0,
            ended: false,
            lines: 0,
            line_end: b'\n',
        };
        text.fill()?;
        if text.buffer.starts_with(b"\xef\xbb\xbf") {
            text.at = 3;
        }
        // A carriage return alone ends lines only where no line feed does. Behind the last byte of a piece there may be one.
        while memchr(b'\n', &text.buffer).is_none() {
            let alone =
                memchr(b'\r', &text.buffer).is_some_and(|at| text.ended || at + 1 < text.buffer.len());
            if alone {
                text.line_end = b'\r';
            }
            if alone || text.ended {
                break;
            }
            text.fill()?;
        }
        Ok(text)
    }

    /// The text's name in messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Reads one piece more, behind what has not been handed out.
    fn fill(&mut self) -> Result<(), ReadError> {
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
                Err(error) => return Err(unreadable(&self.file, error)),
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
            self.fill()?;
        };
        let from = self.at;
        self.at += length + skip;
        self.lines += 1;
        line(&self.buffer[from..from + length], self.lines, &self.file).map(Some)
    }

    /// The first `count` lines that are neither blank nor comments, which [`Text::next_line`] will hand out again. Of very long lines
    /// fewer will do.
    pub(crate) fn first_lines(&mut self, count: usize) -> Result<Vec<Line<'_>>, ReadError> {
        while !self.ended && !self.sample(count)?.1 {
            self.fill()?;
        }
        Ok(self.sample(count)?.0)
    }

    /// Such lines among the whole lines that are held, and whether they are enough.
    fn sample(&self, count: usize) -> Result<(Vec<Line<'_>>, bool), ReadError> {
        /// More than this many bytes, and lines, are not needed.
        const ENOUGH: (usize, usize) = (1 << 20, 10);
        let mut lines = Vec::new();
        let mut at = self.at;
        let mut number = self.lines;
        while at < self.buffer.len() {
            if lines.len() == count || (at - self.at > ENOUGH.0 && lines.len() >= ENOUGH.1) {
                return Ok((lines, true));
            }
            let end = match memchr(self.line_end, &self.buffer[at..]) {
                Some(length) => at + length,
                None if self.ended => self.buffer.len(),
                None => break,
            };
            number += 1;
            let line = line(&self.buffer[at..end], number, &self.file)?;
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
                let mut text = Text::new(Box::new(Slowly(whole.as_bytes(), step)), "file").unwrap();
                let first: Vec<usize> = text.first_lines(3).unwrap().iter().map(|l| l.number).collect();
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
                for (end, step) in
                    [("\n", 1000), ("\r\n", 1000), ("\r\n", usize::MAX), ("\r", 1000), ("\r", usize::MAX)]
                {
                    for tail in ["", end, &format!("{end}b"), &format!("{end}b{end}{end}c{end}")] {
                        let whole = format!("{mark}{long}{tail}");
                        let mut text = Text::new(Box::new(Slowly(whole.as_bytes(), step)), "file").unwrap();
                        let all: Vec<String> = lines(&mut text).into_iter().map(|(_, text)| text).collect();
                        let expected = [&long[..], "b", "", "c"];
                        let count = [1, 2, 4][tail.matches(['b', 'c']).count()];
                        assert!(all == expected[..count], "{length} {end:?} {tail:?}: {} lines", all.len());
                    }
                }
            }
        }
    }

    #[test]
    fn long_lines_are_not_all_looked_at() {
        let whole = ("x".repeat(200_000) + "\n").repeat(60);
        let mut text = Text::new(Box::new(whole.as_bytes()), "file").unwrap();
        assert_eq!(text.first_lines(100).unwrap().len(), 10);
        assert!(text.buffer.len() < 6_000_000);
        assert_eq!(lines(&mut text).len(), 60);
    }

    #[test]
    fn carriage_returns_end_lines_where_nothing_else_does() {
        let mut text = Text::new(Box::new(&b"a\rb\r"[..]), "file").unwrap();
        assert_eq!(lines(&mut text), [(1, "a".to_owned()), (2, "b".to_owned())]);
    }

    #[test]
    fn bytes_that_are_no_text_are_found_on_their_line() {
        let mut text = Text::new(Box::new(&b"a\n\xff\n"[..]), "file").unwrap();
        assert!(matches!(text.first_lines(5), Err(ReadError::NotUtf8 { line: 2, .. })));
    }
}
