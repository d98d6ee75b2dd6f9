//! Rows of a file as problems take them.

use std::sync::Arc;

use innermean::{Lost, Numbers, ReadRows, RowData};
use innermean_data::FileNumbers;

/// Rows that are read from their file whenever they are looked at.
struct FileRows {
    numbers: FileNumbers,
    width: usize,
}

/// Rows of `width` numbers where they are in their file: mapped into memory, or read whenever they
/// are looked at, where they `may_map` not or the system maps no file of this size. Answers are the
/// same to the last bit.
pub fn rows_of_file(numbers: FileNumbers, width: usize, may_map: bool) -> RowData {
    match numbers.mapped().filter(|_| may_map) {
        Some(mapped) => Numbers::from(Arc::new(mapped.clone())).into(),
        None => RowData::read(FileRows { numbers, width }),
    }
}

impl ReadRows for FileRows {
    fn width(&self) -> usize {
        self.width
    }

    fn rows(&self) -> usize {
        self.numbers.len() / self.width.max(1)
    }

    fn read(&self, first: usize, out: &mut [f64]) -> Result<(), Lost> {
        self.numbers.read_at(first * self.width, out).map_err(|error| {
            let last = first + out.len() / self.width.max(1);
            let rows = format!("rows {} to {last} of {}", first + 1, self.numbers.name());
            Lost::new(rows, error.to_string())
        })
    }
}
