//! A table of texts, for terminals and for pages.

use std::ops::Range;

use comfy_table::{CellAlignment, Table, presets};
use innermean_data::visible;

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
        let shown = |cells: &[String]| {
            cells.iter().map(|cell| visible(cell).into_owned()).collect::<Vec<_>>()
        };
        table.set_header(shown(&self.header));
        table.add_rows(self.rows.iter().map(|row| shown(row)));
        for column in self.numbers.clone() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let line = |text: &str| visible(text.trim_end()).into_owned() + "\n";
        let title = (!self.title.is_empty()).then(|| line(&self.title));
        let lines = table.lines().map(|text| text.trim_end().to_owned() + "\n").collect::<String>();
        title.into_iter().chain([lines]).chain(self.note.as_deref().map(line)).collect()
    }

    /// As Markdown.
    #[cfg(feature = "reproduce")]
    pub(crate) fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: Vec<&str> = (0..self.header.len())
            .map(|column| if self.numbers.contains(&column) { "---:" } else { "---" })
            .collect();
        let title =
            if self.title.is_empty() { String::new() } else { format!("### {}\n\n", self.title) };
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        let note = self.note.as_ref().map_or(String::new(), |note| format!("\n{note}\n"));
        format!("{title}{}| {} |\n{rows}{note}", row(&self.header), rule.join(" | "))
    }
}
