//! A table of texts, for terminals and for pages.

use std::ops::Range;

use comfy_table::{CellAlignment, Table, presets};

/// Rows below a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Above it; may be empty.
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// The columns that hold numbers, which stand to the right.
    pub(crate) numbers: Range<usize>,
    /// Below it.
    pub(crate) note: Option<String>,
}

impl Grid {
    /// Whole lines.
    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header(&self.header);
        table.add_rows(&self.rows);
        for column in self.numbers.clone() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let line = |text: &str| text.trim_end().to_owned() + "\n";
        let title = (!self.title.is_empty()).then(|| line(&self.title));
        let lines = table.lines().map(|text| line(&text)).collect::<String>();
        title.into_iter().chain([lines]).chain(self.note.as_deref().map(line)).collect()
    }
}
