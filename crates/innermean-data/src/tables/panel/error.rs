//! Why no returns could be made of a table.

use crate::error::{Place, ReadError};
use crate::wording::{constant_columns, enumerated, listed, quoted};

/// What a table holds instead of the returns that are asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PanelError {
    /// Prices, and no word of it.
    #[error(
        "{file}: looks like prices, not returns: {} is positive in every row and goes from {low} \
         to {high} in small steps; use `--prices simple` or `--prices log` to make returns of \
         them, or `--prices none` if these are returns",
        quoted(name)
    )]
    Prices {
        /// The file's name.
        file: String,
        /// A column.
        name: String,
        /// Its smallest value.
        low: f64,
        /// Its largest value.
        high: f64,
    },
    /// Prices or other levels among returns.
    #[error(
        "{file}: {} like prices or another level among returns; leave {} out by `--except {}`, \
         give returns instead, or use `--prices none` if these are returns",
        listed(names, "looks", "look"),
        if names.len() == 1 { "it" } else { "them" },
        enumerated(names).replace(", ", ",")
    )]
    Levels {
        /// The file's name.
        file: String,
        /// The columns.
        names: Vec<String>,
    },
    /// A price of zero or below.
    #[error(
        "{place}: a price of {value} has no return; expected one above 0, so correct it, leave \
         the cell empty to mark it missing, or leave the column out by `--except`"
    )]
    NotAPrice {
        /// The cell.
        place: Place,
        /// What it says.
        value: f64,
    },
    /// Prices whose rows are in no order.
    #[error(
        "{place}: {} comes after {}, and returns are made of prices in the order of time; sort the \
         rows by date",
        quoted(text),
        quoted(before)
    )]
    Unordered {
        /// The file's name, and the line.
        place: String,
        /// The date there.
        text: String,
        /// The date before it.
        before: String,
    },
    /// No dates, where some are asked for.
    #[error(
        "{file}: has no dates for `--{flag}` to be compared with; name their column by \
         `--date-column`"
    )]
    NoDates {
        /// The file's name.
        file: String,
        /// `from` or `to`.
        flag: &'static str,
    },
    /// A row without a date, where one is asked for.
    #[error(
        "{place}: {} is not a date that `--{flag}` can be compared with; expected one such as \
         2024-01-31, 31.01.2024, 1/31/2024, 20240131, 2024-01 or 2024",
        quoted(text)
    )]
    NotADate {
        /// The file's name, and the line.
        place: String,
        /// What stands there.
        text: String,
        /// `from` or `to`.
        flag: &'static str,
    },
    /// A date that was asked for is none.
    #[error(
        "{file}: `--{flag}` {} is not a date; expected one such as 2024-01-31, 2024-01 or 2024",
        quoted(text)
    )]
    NotADay {
        /// The file's name.
        file: String,
        /// `from` or `to`.
        flag: &'static str,
        /// What was asked for.
        text: String,
    },
    /// A date that was asked for could be two.
    #[error(
        "{file}: `--{flag}` {} could be one of two days; write the year first, as in 2024-01-31",
        quoted(text)
    )]
    UnclearDay {
        /// The file's name.
        file: String,
        /// `from` or `to`.
        flag: &'static str,
        /// What was asked for.
        text: String,
    },
    /// No row is of the time that is asked for.
    #[error("{file}: has no row {wanted}; its dates go from {first} to {last}")]
    OutsideWindow {
        /// The file's name.
        file: String,
        /// What was asked for.
        wanted: String,
        /// The first date.
        first: String,
        /// The last date.
        last: String,
    },
    /// Every asset has fewer values than asked for.
    #[error(
        "{file}: no asset has the {wanted} values that `--min-history` asks for; {} has the most, \
         {most}",
        quoted(name)
    )]
    ShortHistories {
        /// The file's name.
        file: String,
        /// Values that are asked for.
        wanted: usize,
        /// The asset with the longest history.
        name: String,
        /// Its values.
        most: usize,
    },
    /// One asset ends before another begins.
    #[error(
        "{file}: its assets have no two rows in common: {} begins at {begin} and {} ends at {end}; \
         leave one of them out by `--except`, or give another `--min-history`",
        quoted(late),
        quoted(early)
    )]
    NoCommonWindow {
        /// The file's name.
        file: String,
        /// The asset that begins last.
        late: String,
        /// Where.
        begin: String,
        /// The asset that ends first.
        early: String,
        /// Where.
        end: String,
    },
    /// Fewer than two returns.
    #[error(
        "{file}: {rows} {} of returns remain, and at least 2 are needed to measure risk; choose \
         more rows",
        crate::wording::plural(*rows, "row")
    )]
    FewRows {
        /// The file's name.
        file: String,
        /// What remains.
        rows: usize,
    },
    /// Columns that look like dates or counts, and no others.
    #[error(
        "{file}: has no column of returns: {}; name the assets by `--columns` if they are some",
        reasons.join(", ")
    )]
    OnlyLabels {
        /// The file's name.
        file: String,
        /// Each column with what it looks like.
        reasons: Vec<String>,
    },
    /// Several assets without risk, and weights without bounds.
    #[error(
        "{file}: {} the same value in every row, and between assets without risk any amount could \
         be moved; leave out all but one by `--except`, or bound the weights by `--constraint \
         long-only`",
        constant_columns(columns)
    )]
    SeveralConstants {
        /// The file's name.
        file: String,
        /// Name and value of each.
        columns: Vec<(String, f64)>,
    },
}

impl From<PanelError> for ReadError {
    fn from(error: PanelError) -> Self {
        Self::Panel(Box::new(error))
    }
}
