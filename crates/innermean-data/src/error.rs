//! What can be wrong with a file, each in one sentence that says where and what to do.

use std::io;

use crate::formats::vector::error::VectorError;
use crate::tables::panel::error::PanelError;
use crate::wording::{constant_columns, enumerated, plural, quote, quoted};

mod place;

pub use place::Place;
use place::column_flag;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("{file}: no such file; check the path")]
    NotFound {
        /// The path as given.
        file: String,
    },
    /// The path is a directory.
    #[error("{file}: is a directory; give the path of one file in it")]
    Directory {
        /// The path as given.
        file: String,
    },
    /// The operating system refused.
    #[error("{file}: cannot be read ({source}); check its permissions")]
    Unreadable {
        /// The path as given.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A zip archive.
    #[error("{file}: is a zip archive without arrays; unpack it and give the file inside")]
    Zip {
        /// The file's name.
        file: String,
    },
    /// A workbook, of Excel or another program.
    #[error(
        "{file}: is a workbook, which is not read; save its sheet as CSV (File > Save As > CSV \
         UTF-8, or pandas.read_excel(...).to_csv(...)) and give that file"
    )]
    Workbook {
        /// The file's name.
        file: String,
    },
    /// The bytes do not unpack, or are not what their beginning promises.
    #[error("{file}: is damaged ({reason}); get or make the file anew")]
    Damaged {
        /// The file's name.
        file: String,
        /// What does not fit.
        reason: String,
    },
    /// A format that this program was built without.
    #[error(
        "{file}: is a {what} file, which is not built in; build with --features {feature} (cargo \
         install --path crates/innermean-cli --features full,{feature}), or save it as .csv or .npy"
    )]
    NotBuiltIn {
        /// The file's name.
        file: String,
        /// The format.
        what: &'static str,
        /// The feature that has it.
        feature: &'static str,
    },
    /// The file is sound, but holds what is not read.
    #[error("{file}: {reason}; {advice}")]
    Unsuitable {
        /// The file's name.
        file: String,
        /// What it holds.
        reason: String,
        /// What to do about it.
        advice: String,
    },
    /// A part of the file is beyond a limit, or all of it beyond the memory.
    #[error("{place}: {reason}; {advice}")]
    TooLarge {
        /// The file's name, and the line if there is one.
        place: String,
        /// What is too large.
        reason: String,
        /// What to do about it.
        advice: &'static str,
    },
    /// The bytes are not UTF-8 text.
    #[error("{file}, line {line}: is not UTF-8 text; save the file as plain text or CSV in UTF-8")]
    NotUtf8 {
        /// The file's name.
        file: String,
        /// The line with the first offending byte.
        line: usize,
    },
    /// Nothing but blank lines and comments.
    #[error("{file}: is empty; expected {expected}")]
    Empty {
        /// The file's name.
        file: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A header and nothing below it.
    #[error("{file}: has no rows of data after line {line}; expected {expected}")]
    NoData {
        /// The file's name.
        file: String,
        /// The last line that is not data.
        line: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// A single row of data.
    #[error(
        "{file}, line {line}: is the only row of data; at least two are needed to measure risk"
    )]
    OneRow {
        /// The file's name.
        file: String,
        /// The line of that row.
        line: usize,
    },
    /// Rows of dates without a column of numbers.
    #[error(
        "{file}, line {line}: has no column of numbers beside the dates; expected one column per \
         asset"
    )]
    NoAssets {
        /// The file's name.
        file: String,
        /// The first row.
        line: usize,
    },
    /// A row with too few or too many fields.
    #[error(
        "{file}, line {line}: found {found} {}, expected {expected} as in line {reference}; \
         correct or remove the line",
        plural(*found, "field")
    )]
    Ragged {
        /// The file's name.
        file: String,
        /// The line.
        line: usize,
        /// Its number of fields.
        found: usize,
        /// The number of fields of the table.
        expected: usize,
        /// The line that set that number.
        reference: usize,
    },
    /// A quote that is opened and not closed.
    #[error("{place}: the quote opened by {} is not closed; close or remove it", quote(text))]
    UnclosedQuote {
        /// The cell.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Text where a number should be.
    #[error(
        "{place}: {} is not a number; expected one such as 0.31 or -1.2e-3 without thousands \
         separators",
        quote(text)
    )]
    NotANumber {
        /// The cell.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Text in a column that is taken for an asset because it is there.
    #[error(
        "{place}: {} is not a number; expected one such as 0.31 or -1.2e-3 without thousands \
         separators, or leave the column out by `--except{}`",
        quote(text),
        column_flag(place)
    )]
    TextAmongAssets {
        /// The first such cell.
        place: Place,
        /// Its text.
        text: String,
    },
    /// What is no setting of a TOML file, or none that is understood.
    #[error("{file}, line {line}: {what}; expected {expected}")]
    NoSetting {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A row of sparse text that does not begin with a number.
    #[error(
        "{place}: {} is not a label; expected a number, then entries such as 3:0.5 apart by blanks",
        quote(text)
    )]
    NotALabel {
        /// The word.
        place: Place,
        /// Its text.
        text: String,
    },
    /// A word of sparse text that is no entry.
    #[error(
        "{place}: {} is not an entry; expected an index, a colon and a number, such as 3:0.5",
        quote(text)
    )]
    NotAnEntry {
        /// The word.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Entries of a sparse row that do not rise.
    #[error(
        "{place}: index {index} follows index {before}; expected rising indices, so sort the row"
    )]
    UnsortedIndex {
        /// The second of the two.
        place: Place,
        /// Its index.
        index: u32,
        /// The index before it.
        before: u32,
    },
    /// An infinity, or a number too large for a double.
    #[error(
        "{place}: {} is not a finite number; correct it, or leave the cell empty to mark it \
         missing",
        quote(text)
    )]
    NotFinite {
        /// The cell.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Percent signs in some cells and none in others.
    #[error(
        "{place}: {} {} a percent sign, unlike the cells before it; write all cells with one or \
         all without",
        quote(text),
        if text.ends_with('%') { "has" } else { "lacks" }
    )]
    MixedPercent {
        /// The first cell that differs.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Missing values, and no leave to drop anything.
    #[error(
        "{place}: {} a missing value, the first of {count} in the table; {advice}",
        text.as_ref().map_or("has".to_owned(), |text| quote(text) + " is")
    )]
    Missing {
        /// The first one.
        place: Place,
        /// Its text, if it is known.
        text: Option<String>,
        /// How many there are in the whole table.
        count: usize,
        /// How to leave them out.
        advice: &'static str,
    },
    /// Too little is left once missing values are dropped.
    #[error(
        "{file}: {rows} of {all_rows} rows and {assets} of {all_assets} assets remain without \
         missing values, at least 2 rows and 1 asset are needed; {advice}"
    )]
    NothingLeft {
        /// The file's name.
        file: String,
        /// Rows that remain.
        rows: usize,
        /// Rows of the table.
        all_rows: usize,
        /// Assets that remain.
        assets: usize,
        /// Assets of the table.
        all_assets: usize,
        /// What to try instead.
        advice: &'static str,
    },
    /// Every row, or every feature, has a missing value.
    #[error("{file}: each of its {count} {what} has a missing value; {advice}")]
    AllMissing {
        /// The file's name.
        file: String,
        /// How many there are.
        count: usize,
        /// `rows` or `features`.
        what: &'static str,
        /// What to try instead.
        advice: &'static str,
    },
    /// A column that is asked for and not there.
    #[error(
        "{file}: has no column {}; {} {}",
        quoted(name),
        if *header { "its columns are" } else { "it has no header, and its columns are called" },
        enumerated(columns)
    )]
    UnknownColumn {
        /// The file's name.
        file: String,
        /// The name or number asked for.
        name: String,
        /// All names.
        columns: Vec<String>,
        /// Whether the names come from a header.
        header: bool,
    },
    /// An array that is asked for and not there.
    #[error("{file}: has no array {}; its arrays are {}", quoted(name), enumerated(names))]
    UnknownArray {
        /// The file's name.
        file: String,
        /// The name asked for.
        name: String,
        /// All names.
        names: Vec<String>,
    },
    /// A name that differs from several columns by its case only.
    #[error(
        "{file}: {} could be column {} or column {}; write the name as it stands in the header",
        quoted(name),
        quoted(first),
        quoted(second)
    )]
    AmbiguousColumn {
        /// The file's name.
        file: String,
        /// The name asked for.
        name: String,
        /// One that fits.
        first: String,
        /// Another one.
        second: String,
    },
    /// A column that is asked for in two roles.
    #[error(
        "{file}: column {} is asked for twice; name another column for one of the two",
        quoted(name)
    )]
    ColumnTwice {
        /// The file's name.
        file: String,
        /// The column.
        name: String,
    },
    /// A column of text among those taken for features because they are there.
    #[error(
        "{place}: {} is not a number, but all columns without another role are features; \
         name the features by `--columns`, or leave the column out by `--except`",
        quote(text)
    )]
    TextAmongFeatures {
        /// The first such cell.
        place: Place,
        /// Its text.
        text: String,
    },
    /// Columns whose values are all equal.
    #[error(
        "{file}: {} the same value in every row and so no risk, for which no weight is too large; \
         leave {} out by `--except`, or have the weights sum to one by `--constraint long-only`",
        constant_columns(columns),
        if columns.len() == 1 { "it" } else { "them" }
    )]
    Constant {
        /// The file's name.
        file: String,
        /// Name and value of each.
        columns: Vec<(String, f64)>,
    },
    /// Two columns of one name.
    #[error(
        "{file}{}: columns {first} and {second} are both named {}; rename one of them",
        line.map(|line| format!(", line {line}")).unwrap_or_default(),
        quoted(name)
    )]
    DuplicateName {
        /// The file's name.
        file: String,
        /// The header's line, if the file has lines.
        line: Option<usize>,
        /// The name.
        name: String,
        /// The first column of that name, from 1.
        first: usize,
        /// The second column of that name, from 1.
        second: usize,
    },
    /// No returns could be made of the table.
    #[error(transparent)]
    Panel(Box<PanelError>),
    /// No start point could be made of the file.
    #[error(transparent)]
    Vector(#[from] VectorError),
}

impl ReadError {
    /// Bytes that do not fit together.
    pub(crate) fn damaged(file: &str, reason: &str) -> Self {
        Self::Damaged { file: file.to_owned(), reason: reason.replace(char::is_control, " ") }
    }

    /// What is beyond a limit.
    pub(crate) fn too_large(place: String, reason: String, advice: &'static str) -> Self {
        Self::TooLarge { place, reason, advice }
    }

    /// A sound file that holds something else.
    pub(crate) fn unsuitable(file: &str, reason: &str, advice: &str) -> Self {
        Self::Unsuitable {
            file: file.to_owned(),
            reason: reason.to_owned(),
            advice: advice.to_owned(),
        }
    }
}
