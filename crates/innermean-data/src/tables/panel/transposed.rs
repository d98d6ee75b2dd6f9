//! Tables that have assets in rows and dates across the header.

use std::collections::HashSet;

use super::Panel;
use crate::error::ReadError;
use crate::tables::row_lines::RowLines;
use crate::text::date::Dates;
use crate::wording::quoted;

/// Whether column names are dates in order and rows are labelled by something else.
pub(crate) fn is_transposed(names: &[String], labels: Option<&[String]>) -> bool {
    let is_in_order = |dates: &Dates| dates.descend() || dates.first_step_back().is_none();
    names.len() > 1
        && Dates::parse(names).is_ok_and(|dates| is_in_order(&dates))
        && labels.is_some_and(|labels| labels.iter().all(|label| is_name(label)))
}

/// A text that is neither a number nor a date.
fn is_name(label: &str) -> bool {
    label.contains(char::is_alphabetic) && !crate::text::cell::is_date(label)
}

impl Panel {
    /// A table that lies on its side is turned.
    ///
    /// # Errors
    ///
    /// If two of its assets have one name.
    pub(super) fn turn(&mut self) -> Result<(), ReadError> {
        if !is_transposed(&self.names, self.dates.as_deref()) {
            return Ok(());
        }
        let Some(assets) = self.dates.take() else { return Ok(()) };
        let mut seen = HashSet::new();
        if let Some(name) = assets.iter().find(|name| !seen.insert(name.as_str())) {
            let reason = format!("two of its lines are named {}", quoted(name));
            return Err(ReadError::unsuitable(&self.source, &reason, "rename one of them"));
        }
        let (rows, width) = (assets.len(), self.names.len());
        let mut turned = Vec::with_capacity(self.values.len());
        for period in 0..width {
            turned.extend((0..rows).map(|asset| self.values[asset * width + period]));
        }
        self.values = turned;
        self.dates = Some(std::mem::replace(&mut self.names, assets));
        let origin = &mut self.origin;
        let lines: Vec<usize> = (0..rows).map(|row| origin.rows.line(row)).collect();
        let fields = std::mem::replace(&mut origin.columns, lines);
        origin.rows = RowLines::default();
        for (row, field) in fields.into_iter().enumerate() {
            origin.rows.push(row, field);
        }
        origin.transposed = true;
        self.notes.push(
            "The header has dates and each line begins with a name, so that a line was taken for an \
             asset and a column for a period."
                .to_owned(),
        );
        Ok(())
    }
    /// A note on columns that are named by dates, where nothing says what the rows are.
    pub(super) fn note_dated_names(&mut self) {
        if self.names.len() > 1 && self.dates.is_none() && Dates::parse(&self.names).is_ok() {
            self.notes.push(
                "The columns are named by dates, and each was taken for an asset; if they are \
                 periods, transpose the table."
                    .to_owned(),
            );
        }
    }
}
