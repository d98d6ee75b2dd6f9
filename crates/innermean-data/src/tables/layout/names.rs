//! The names of a table's columns, and which of them label the rows.

use std::borrow::Cow;

use super::Layout;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::tables::index::Index;
use crate::tables::panel::transposed::is_transposed;
use crate::wording::shorten;

impl Layout {
    /// Refuses names that are too long.
    pub(crate) fn check_names(&self, limits: &Limits, file: &str) -> Result<(), ReadError> {
        let longest = self.names.iter().map(String::len).max().unwrap_or(0);
        limits.check_cell(longest, || {
            format!("{file}, line {}", self.header.unwrap_or(self.first_row))
        })
    }

    /// Takes the header's names, and numbers the assets that have none.
    pub(super) fn set_names(&mut self, names: Option<Vec<Cow<'_, str>>>) {
        let labels = usize::from(self.index.is_some());
        let assets = self.fields - labels;
        self.names = vec![String::new(); labels];
        self.names.extend(numbered_assets(assets));
        let given = names.unwrap_or_default();
        let shift = self.fields - given.len().min(self.fields);
        if given.len() + 1 < self.fields {
            return;
        }
        for (name, given) in self.names[shift..].iter_mut().zip(given) {
            if !given.is_empty() {
                *name = given.into_owned();
            }
        }
    }

    /// Columns of dates behind the first: the first of them labels the rows unless the first column
    /// holds dates, too.
    pub(super) fn set_dates(&mut self, dates: &[usize]) {
        let mut others = dates.iter();
        let called = |j: usize| match self.names[j].as_str() {
            "" => format!("Column {}", j + 1),
            name => format!("Column '{}'", shorten(name)),
        };
        let mut notes = Vec::new();
        if let (Some(&j), false) = (dates.first(), matches!(self.index, Some((_, Index::Dates)))) {
            others.next();
            if let Some((first, kind)) = self.index {
                self.skipped.push(first);
                let what = match kind {
                    Index::Names => "labels",
                    _ => "numbers",
                };
                notes.push(format!(
                    "{} {what} the rows and was left out; their dates are in column '{}'.",
                    called(first),
                    shorten(&self.names[j])
                ));
            }
            self.index = Some((j, Index::Dates));
        }
        for &j in others {
            self.skipped.push(j);
            notes.push(format!("{} holds dates and was left out.", called(j)));
        }
        self.notes.append(&mut notes);
    }

    /// Whether assets are in the rows and dates across the header.
    pub(crate) fn is_transposed(&self) -> bool {
        matches!(self.index, Some((0, Index::Names)))
            && is_transposed(&self.names[1..], Some(&["name".to_owned()]))
    }
}

/// `a01`, `a02`, ...
pub(crate) fn numbered_assets(count: usize) -> Vec<String> {
    let width = count.to_string().len().max(2);
    (1..=count).map(|j| format!("a{j:0width$}")).collect()
}
