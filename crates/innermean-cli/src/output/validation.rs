//! The table of a cross-validation.

use innermean_apps::validation::{ValidationRow, ValidationTable};
use serde::Serialize;

use crate::output::grid::Grid;
use crate::output::human::{Facts, significant};

/// A table, and what was chosen by it.
#[derive(Debug, Serialize)]
pub(crate) struct Validated {
    #[serde(flatten)]
    pub(crate) table: ValidationTable,
    /// The row that all rows were fitted with.
    pub(crate) chosen: usize,
}

impl Validated {
    /// For people.
    pub(crate) fn grid(&self) -> Grid {
        let ValidationTable { folds, score, rows, best, one_standard_error, .. } = &self.table;
        let marked = |k: usize| match () {
            () if k == *best && k == *one_standard_error => "best, and within one standard error",
            () if k == *best => "best",
            () if k == *one_standard_error => "within one standard error",
            () => "",
        };
        let cells = |(k, row): (usize, &ValidationRow)| {
            let unsolved = if row.solved { "" } else { " (not all solved)" };
            vec![
                significant(row.penalty.l1, 4),
                significant(row.penalty.l2, 4),
                significant(row.mean, 6),
                significant(row.standard_error, 3),
                format!("{:.1}", row.nonzeros),
                format!("{}{unsolved}", marked(k)),
            ]
        };
        let header = ["l1", "l2", score.title(), "s.e.", "nonzeros", ""];
        Grid {
            title: format!("{folds}-fold cross-validation: scores of the rows held out"),
            header: header.map(str::to_owned).to_vec(),
            rows: rows.iter().enumerate().map(cells).collect(),
            numbers: 0..5,
            note: None,
        }
    }

    /// What was chosen, in a line.
    pub(crate) fn line(&self, facts: &mut Facts) {
        let ValidationTable { rows, score, best, .. } = &self.table;
        let row = &rows[self.chosen];
        let by = if self.chosen == *best { "the best" } else { "within one standard error" };
        facts.line(
            "held out",
            &format!(
                "{} {} with l1 {} and l2 {}, {by} of {} penalties; fitted again to all rows",
                score.title(),
                significant(row.mean, 6),
                significant(row.penalty.l1, 4),
                significant(row.penalty.l2, 4),
                rows.len()
            ),
        );
    }
}
