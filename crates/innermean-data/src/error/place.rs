//! Where in a file something is.

use std::fmt;

use crate::wording::{LONGEST, shorten};

/// A cell of a file, as a person would look it up in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as it was given.
    pub file: String,
    /// The physical line, from 1, counting blank lines and comments.
    pub line: usize,
    /// The field on that line, from 1, counting the date column.
    pub column: usize,
    /// The column's name, if there is one.
    pub name: Option<String>,
    /// The file has no lines, and `line` is a row of its table, from 1.
    pub by_row: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = if self.by_row { "row" } else { "line" };
        write!(f, "{}, {row} {}, column {}", self.file, self.line, self.column)?;
        match &self.name {
            Some(name) if !name.is_empty() => write!(f, " ({})", shorten(name)),
            _ => Ok(()),
        }
    }
}

/// ` NAME` for a flag that takes a column, or its number where its name would not do.
pub(super) fn column_flag(place: &Place) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let would_do = |name: &&str| {
        !name.is_empty() && name.chars().all(is_plain) && name.chars().count() <= LONGEST
    };
    let name = place.name.as_deref().filter(would_do);
    name.map_or_else(|| format!(" {}", place.column), |name| format!(" {name}"))
}
