//! What to do about missing values, and what was done.

/// What to do about missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// Refuse the file, counting them and naming the first.
    #[default]
    Error,
    /// Leave out every row that has one.
    DropRows,
    /// Leave out every column that has one: an asset, a feature.
    DropColumns,
    /// Leave them where they are, as what is no number: for whoever looks at each.
    Keep,
}

/// What was left out because of missing values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The number of rows left out.
    pub rows: usize,
    /// The names of the columns left out.
    pub columns: Vec<String>,
}
