//! Quoted cells that hold line ends: where a row that begins on a line ends.

use memchr::memchr;

use crate::text::line::Delimiter;

/// Whether a line that begins a row opens a quoted cell that it does not close.
#[inline]
pub(crate) fn opens(line: &[u8], delimiter: Delimiter) -> bool {
    memchr(b'"', line).is_some()
        && !line.trim_ascii_start().starts_with(b"#")
        && is_open_after(line, delimiter, false)
}

/// Whether a quoted cell is open behind `line`, where `open` says whether one is in front of it.
pub(crate) fn is_open_after(line: &[u8], delimiter: Delimiter, mut open: bool) -> bool {
    let mut at = 0;
    loop {
        if open {
            // A doubled quote is one that belongs to the cell.
            loop {
                let Some(length) = memchr(b'"', &line[at..]) else { return true };
                at += length + 1;
                if line.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
        } else {
            at += line[at..].iter().take_while(|&&b| delimiter.is_padding(b)).count();
            open = line.get(at) == Some(&b'"');
            if open {
                at += 1;
                continue;
            }
        }
        let Some(length) = line[at..].iter().position(|&b| delimiter.is_at(b)) else {
            return false;
        };
        at += length + 1;
        open = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::line::Cells;
    use proptest::prelude::*;

    #[test]
    fn cells_open_behind_a_line() {
        let comma = Delimiter::Byte(b',');
        for (line, open) in [
            ("a,b", false),
            ("a,\"b", true),
            ("a,\"b\",c", false),
            ("a,\"b\"\"", true),
            ("a,\"b\"\"\"", false),
            ("a,5\" pipe", false),
            ("a, \"b\"x,\"c", true),
            ("# \"said,\"he", false),
        ] {
            assert_eq!(opens(line.as_bytes(), comma), open, "{line}");
        }
        assert!(!is_open_after(b"end\",c", comma, true));
        assert!(is_open_after(b"end\",\"c", comma, true));
        assert!(is_open_after(b"no end, c", comma, true));
    }

    proptest! {
        #[test]
        fn the_last_cell_is_unclosed_if_one_is_open(line in "[ab,; \t|\"]{0,12}") {
            for delimiter in crate::text::line::DELIMITERS {
                let unclosed = Cells::of(&line, delimiter).last().is_some_and(|c| c.unclosed);
                let found = is_open_after(line.as_bytes(), delimiter, false);
                prop_assert_eq!(found, unclosed, "{:?}", delimiter);
            }
        }
    }
}
