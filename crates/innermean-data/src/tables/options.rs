//! What of a table is wanted, and how it is to be taken.

use crate::tables::missing::Missing;

/// How to read a table of returns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What to do about missing values, after all else.
    pub missing: Missing,
    /// Whether the numbers are prices.
    pub prices: Prices,
    /// The assets: names, or numbers from 1; all columns of numbers if there are none.
    ///
    /// A column that is named is an asset, whatever it looks like.
    pub columns: Vec<String>,
    /// Columns that are no assets.
    pub except: Vec<String>,
    /// The column of dates, if it is not the one that looks like it.
    pub date_column: Option<String>,
    /// Only rows of this day or later: a day, a month or a year in any form that is read.
    pub from: Option<String>,
    /// Only rows of this day or earlier; a month or a year counts to its end.
    pub to: Option<String>,
    /// Assets with fewer values are left out, and rows are kept from the one where the last of the
    /// others begins to the one where the first of them ends; 0 for neither.
    pub min_history: usize,
    /// Whether a column may have the same value in every row.
    pub cash: Cash,
}

/// Whether the numbers of a table are prices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prices {
    /// They are returns, and a table that looks like prices is refused.
    #[default]
    Refused,
    /// They are prices, of which simple returns `p_t / p_(t-1) - 1` are made.
    Simple,
    /// They are prices, of which logarithmic returns `ln(p_t / p_(t-1))` are made.
    Log,
    /// They are returns, whatever they look like.
    Kept,
}

/// Whether assets without risk are allowed: columns that have the same value in every row.
///
/// Where weights need not sum to one, no weight of such an asset is too large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cash {
    /// They are refused.
    #[default]
    Refused,
    /// One is allowed: weights sum to one and are free otherwise, and between two such assets any
    /// amount could be moved.
    One,
    /// They are allowed: weights sum to one, and are bounded.
    Any,
}
