//! On which line of the file each row stands.

/// Lines of rows, kept as the places where they do not follow each other: a few numbers for most
/// files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowLines {
    /// A row and its line, wherever that is not the line after the row before.
    jumps: Vec<(usize, usize)>,
    /// The line of the last row.
    pub(crate) last: usize,
}

impl RowLines {
    /// No rows yet; the first is expected on `line`.
    pub(crate) fn starting_at(line: usize) -> Self {
        Self { jumps: Vec::new(), last: line }
    }

    /// Row `row`, the one after those pushed so far, is on `line`.
    #[inline]
    pub(crate) fn push(&mut self, row: usize, line: usize) {
        if row == 0 || line != self.last + 1 {
            self.jumps.push((row, line));
        }
        self.last = line;
    }

    /// The memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&self.jumps[..]) as u64
    }

    pub(crate) fn line(&self, row: usize) -> usize {
        let next = self.jumps.partition_point(|&(first, _)| first <= row);
        self.jumps.get(next.wrapping_sub(1)).map_or(row + 1, |&(first, line)| line + row - first)
    }

    /// Only the rows that are kept.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let mut lines = Self::default();
        let left = (0..kept.len()).filter(|&row| kept[row]);
        for (new, old) in left.enumerate() {
            lines.push(new, self.line(old));
        }
        *self = lines;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again() {
        let all = [3, 4, 5, 9, 10, 30];
        let mut lines = RowLines::default();
        for (row, &line) in all.iter().enumerate() {
            lines.push(row, line);
        }
        assert_eq!(lines.jumps.len(), 3);
        assert_eq!((0..6).map(|row| lines.line(row)).collect::<Vec<_>>(), all);
        lines.keep(&[true, false, true, true, true, false]);
        assert_eq!((0..4).map(|row| lines.line(row)).collect::<Vec<_>>(), [3, 5, 9, 10]);
    }
}
