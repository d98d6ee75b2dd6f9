//! Whether the first column labels the rows or holds returns.

use crate::text::cell::{Meaning, is_date, is_year, meaning};
use crate::text::line::Cell;

/// What the first column holds instead of returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Index {
    Dates,
    /// Whole numbers in order.
    Numbers,
    /// Names of whatever the rows are.
    Names,
}

impl Index {
    /// Whether the first column holds dates or other labels instead of returns.
    pub(crate) fn of(name: Option<&str>, labels: &[&str]) -> Option<Self> {
        if name.is_some_and(is_date_name) || are_dates(labels) {
            return Some(Self::Dates);
        }
        if name.is_some_and(is_index_name) && are_ordered(labels) {
            return Some(Self::Numbers);
        }
        let wanted = if name.is_some_and(is_index_name) { 1 } else { 2 };
        (labels.len() >= wanted && labels.iter().all(|label| is_label(label)))
            .then_some(Self::Names)
    }
}

/// Whether all cells of a column that are not empty are dates, written as no number is.
pub(crate) fn are_written_dates<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let mut any = false;
    for cell in cells.filter(|cell| !cell.is_empty()) {
        if !is_date(cell) || cell.parse::<f64>().is_ok() {
            return false;
        }
        any = true;
    }
    any
}

/// A word, or digits and letters such as `2024Q1`; not a number in either spelling, nor one with a
/// unit such as `0.3bp`.
fn is_label(text: &str) -> bool {
    let is_decimal =
        |w: &[u8]| w[0].is_ascii_digit() && matches!(w[1], b'.' | b',') && w[2].is_ascii_digit();
    text.contains(char::is_alphabetic)
        && meaning(text, b'.') == Meaning::Text
        && meaning(text, b',') == Meaning::Text
        && !text.as_bytes().windows(3).any(is_decimal)
}

/// Names that always mean a column of dates.
pub(crate) fn is_date_name(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "date",
        "dates",
        "datetime",
        "timestamp",
        "caldate",
        "caldt",
        "tradedate",
        "yyyymm",
        "yyyymmdd",
        "datum",
    ];
    name.split(|c: char| !c.is_alphanumeric())
        .any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Names that mean an index column if its cells are in order.
pub(crate) fn is_index_name(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "",
        "unnamed: 0",
        "index",
        "idx",
        "time",
        "t",
        "year",
        "month",
        "week",
        "day",
        "period",
        "obs",
        "row",
        "id",
    ];
    let name = name.trim().to_ascii_lowercase();
    is_date_name(&name) || NAMES.contains(&name.as_str())
}

/// Dates throughout, or mostly if they are written as no number is, or years that follow each
/// other.
fn are_dates(labels: &[&str]) -> bool {
    let unmistakable = |label: &&&str| is_date(label) && label.parse::<f64>().is_err();
    !labels.is_empty()
        && (labels.iter().all(|label| is_date(label))
            || 2 * labels.iter().filter(unmistakable).count() > labels.len()
            || (labels.len() > 1
                && labels.iter().all(|label| is_year(label))
                && are_ordered(labels)))
}

/// Dates, or whole numbers each larger than the one before.
pub(crate) fn are_ordered(labels: &[&str]) -> bool {
    let whole: Vec<f64> = labels
        .iter()
        .filter_map(|label| label.parse().ok())
        .filter(|x: &f64| x.fract() == 0.0)
        .collect();
    !labels.is_empty()
        && (labels.iter().all(|label| is_date(label))
            || (whole.len() == labels.len() && whole.windows(2).all(|pair| pair[0] < pair[1])))
}

/// A header of nothing but dates, such as 2024-01-31 or 20240131, with a name before them or not.
pub(crate) fn is_dated_header(cells: &[Cell<'_>]) -> bool {
    let Some((first, others)) = cells.split_first() else { return false };
    let named = others.len() > 1 && is_label(&first.text);
    (named || (!others.is_empty() && is_date(&first.text)))
        && others.iter().all(|cell| is_date(&cell.text))
}

/// Column names that are numbers: whole ones behind an empty cell or the name of an index, or 0, 1,
/// 2, ... throughout, as data frames without names are written.
pub(crate) fn is_numbered_header(cells: &[Cell<'_>]) -> bool {
    let Some((first, others)) = cells.split_first() else { return false };
    let is_whole =
        |cell: &Cell<'_>| !cell.text.is_empty() && cell.text.bytes().all(|b| b.is_ascii_digit());
    if is_index_name(&first.text) {
        !others.is_empty() && others.iter().all(is_whole)
    } else {
        cells.len() > 2 && cells.iter().enumerate().all(|(k, cell)| cell.text == k.to_string())
    }
}
