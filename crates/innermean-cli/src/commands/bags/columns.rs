//! What the columns are.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use crate::flags::columns::FeatureFlags;
use crate::flags::number;

/// What the columns are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnFlags {
    /// The column with the group of each row, in ROWS and in the table of labels. Several columns of
    /// ROWS, with commas between them, name several groups that a row belongs to, such as
    /// precinct,county; the groups of all of them are named in the first of these columns of the
    /// table of labels. An empty cell names none
    #[arg(long, value_name = "COLUMNS", default_value = "group", value_delimiter = ',')]
    pub(super) group: Vec<String>,

    /// What separates the groups in a cell of --group, where it names several, such as ';'
    #[arg(long, value_name = "TEXT", requires = "file")]
    pub(super) group_separator: Option<String>,

    /// A column of ROWS with the weight of each row inside its group, such as the number of persons
    /// in a cell of a census table: the average becomes a weighted one, and a row of weight 3 is
    /// three rows. A row of weight 0 is left out of the fit, and its --row-label scored apart
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub(super) weight: Option<String>,

    /// A table with one line for each group: the group and its label (or its class proportions, a
    /// column for each class)
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(super) labels: Option<PathBuf>,

    /// The column with the group's label, or several with commas between them for --link softmax:
    /// of the table of labels [default: all of its columns but the group's] or, without one, of
    /// ROWS, where it must be the same in all rows of a group [default: label]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "file")]
    pub(super) label: Vec<String>,

    /// The column with what a group's label counts, where its label is; 0 holds it out of the fit,
    /// to be scored apart
    #[arg(long, value_name = "COLUMN", requires = "file")]
    #[arg(conflicts_with_all = ["label_variance", "by_size"])]
    pub(super) label_weight: Option<String>,

    /// The column with the variance of a group's label, where its label is: it counts one over that
    #[arg(long, value_name = "COLUMN", requires = "file", conflicts_with = "by_size")]
    pub(super) label_variance: Option<String>,

    /// Let every group count as much as it has rows, or as their weights sum to [default: all groups
    /// count the same]
    #[arg(long, requires = "file")]
    pub(super) by_size: bool,

    /// A column of ROWS with labels of single rows that are fitted beside those of groups: a row
    /// that has one is a group of its own as well, and its --group may be empty
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub(super) single_label: Option<String>,

    /// What a label of --single-label counts, if that of a group counts 1 (or the mean of their
    /// weights)
    #[arg(long, value_name = "WEIGHT", default_value = "1", value_parser = number::positive)]
    #[arg(requires = "single_label", conflicts_with = "by_size")]
    pub(super) single_weight: f64,

    /// A column of ROWS with the true label of each row: 0 or 1, a class, a number. It is used for
    /// scores alone, never for the fit
    #[arg(long, value_name = "COLUMN", requires = "file")]
    pub(super) row_label: Option<String>,

    /// Columns of ROWS by whose texts predictions are averaged, with commas between them: the mean
    /// prediction, weighted by --weight, over all rows with one text
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "file")]
    pub(super) average_by: Vec<String>,

    #[command(flatten)]
    pub(super) features: FeatureFlags,
}

impl ColumnFlags {
    /// The table of labels.
    pub(crate) fn labels(&self) -> Option<&Path> {
        self.labels.as_deref()
    }

    /// Without a file there is nothing that these could name.
    pub(crate) fn refuse_without_file(&self) -> Result<()> {
        if self.group != ["group"] {
            bail!(
                "--group {}: there are no columns without ROWS; expected the path of a table before it",
                self.group.join(",")
            );
        }
        if let Some(flag) = self.features.given() {
            bail!(
                "{flag}: there are no columns without ROWS; expected the path of a table before it"
            );
        }
        Ok(())
    }

    /// Whether a row may belong to no group or to several.
    pub(super) fn may_overlap(&self) -> bool {
        self.group.len() > 1 || self.group_separator.is_some()
    }
}
