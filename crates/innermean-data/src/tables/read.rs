//! Returns from a file: the layout, the rows, missing values, and the checks that spare a solver
//! surprises.

use std::path::Path;

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::{Content, Source};
use crate::tables::arrays::{ColumnSource, header_of, table_of};
use crate::tables::columns::{
    Columns, FeatureColumns, Header, refuse_repeated, refuse_repeated_of,
};
use crate::tables::keys::KeyColumn;
use crate::tables::layout::{Layout, SAMPLE, TWO_ROWS, detect, numbered_assets};
use crate::tables::options::ReadOptions;
use crate::tables::panel::stream::Stream;
use crate::tables::panel::{Origin, Panel, no_assets_left};
use crate::tables::returns::Returns;
use crate::tables::rows::{Pieces, read_table};
use crate::tables::table::{Role, Table};
use crate::text::Text;
use crate::wording::shorten;

/// Reads a table of returns, one row per period and one column per asset, finding out its form by
/// itself.
///
/// - Cells are separated by commas, semicolons, tabs, pipes or blanks, and may be quoted. Blank
///   lines and lines that begin with `#` are skipped. Decimal commas are understood, never mixed
///   with points, unless the comma delimits; a single column such as `0,5` is two columns.
/// - A header is optional. Without one, assets are called `a01`, `a02`, ...
/// - A first column of dates, or one named as an index (`date`, `index`, nothing, ...) and in
///   order, labels the rows. Dates may be in another column, too: then a first column that only
///   numbers or names the rows is left out, and so is every other column of dates, of years or of
///   row numbers. [`Returns::notes`] says so.
/// - Rows whose newest comes first are turned around, and a table with dates across its header and
///   names before its rows is transposed.
/// - Prices are refused, or made into returns: [`ReadOptions::prices`].
/// - Prose before the table is skipped, and reading stops at the first title or remark below it, so
///   that Kenneth French's files are read as they come; further tables in the file are ignored.
/// - Missing values are empty cells, `NA`, `N/A`, `NaN`, `null`, `None`, `.`, `-`, and the codes
///   -99.99 and -999 in any spelling. [`ReadOptions::missing`] says what to do with them.
/// - Numbers may carry a percent sign if all of them do; `1.2%` is 1.2, the unit of French's files,
///   not 0.012.
/// - The text may be packed by gzip. Arrays of numpy (`.npy`, `.npz`, `file.npz:name`) are read,
///   too: NaN is a missing value, and assets without a name are called `a01`, `a02`, ...
///
/// # Errors
///
/// [`ReadError`], in one sentence with file, line and column: anything that is not such a table,
/// fewer than two rows, values that are not finite, columns of one name, columns that never change,
/// prices where nobody said so.
pub fn read_returns(path: &Path, options: &ReadOptions) -> Result<Returns, ReadError> {
    Limits::default().read_returns(path, options)
}

impl Limits {
    /// [`read_returns`] within these limits.
    ///
    /// # Errors
    ///
    /// As [`read_returns`].
    pub fn read_returns(&self, path: &Path, options: &ReadOptions) -> Result<Returns, ReadError> {
        returns_of(Source::open(path, *self)?, options)
    }
}

/// [`read_returns`] from bytes; `name` stands for the file in messages and in [`Returns::source`].
///
/// # Errors
///
/// As [`read_returns`], but for those about opening a file.
pub fn parse_returns(
    bytes: &[u8],
    name: &str,
    options: &ReadOptions,
) -> Result<Returns, ReadError> {
    returns_of(Source::of_bytes(bytes, name)?, options)
}

fn returns_of(source: Source<'_>, options: &ReadOptions) -> Result<Returns, ReadError> {
    let name = source.file.clone();
    match source.content()? {
        Content::Text(mut text) => returns_of_text(&mut text, &name, options, None),
        Content::Columns(mut source) => {
            panel_of_columns(&mut *source, options)?.chosen_returns(options)
        }
    }
}

pub(crate) fn returns_of_text(
    text: &mut Text<'_>,
    name: &str,
    options: &ReadOptions,
    stream: Option<&mut Stream<'_>>,
) -> Result<Returns, ReadError> {
    let limits = *text.limits();
    let samples = text.first_rows(SAMPLE)?;
    limits.check_cells(&samples, name)?;
    let layout = detect(&samples, options, name)?;
    layout.check_names(&limits, name)?;
    let transposed = layout.is_transposed();
    let roles = if transposed {
        roles(&layout, &ReadOptions::default(), name)?
    } else {
        roles(&layout, options, name)?
    };
    let assets = || (0..layout.fields).filter(|&j| roles[j] == Role::Value);
    refuse_repeated_of(assets().map(|j| (j, &layout.names[j])), layout.header, name)?;
    let names: Vec<String> = assets().map(|j| layout.names[j].clone()).collect();
    let panel_of = |mut table: Table, notes: Vec<String>| {
        let origin = Origin {
            rows: std::mem::take(&mut table.lines),
            columns: assets().map(|j| j + 1).collect(),
            named: layout.header.is_some(),
            gap: table.gaps.first.take(),
            ..Origin::default()
        };
        panel(names.clone(), table, notes, name, origin)
    };
    if let Some(stream) = stream {
        if transposed {
            let reason = "has its periods across, and is read a few rows at a time";
            return Err(ReadError::unsuitable(name, reason, "transpose it"));
        }
        let rows = stream.rows;
        let mut take = |table: Table| stream.take(panel_of(table, Vec::new()));
        let pieces = Pieces { rows, take: &mut take };
        let last = read_table(text, &layout, &roles, &[], 0, Some(pieces))?;
        return stream.end(panel_of(last, layout.notes.clone()));
    }
    let table = read_table(text, &layout, &roles, &[], 0, None)?;
    let (file, line) = (name.to_owned(), table.lines.last);
    match table.rows {
        0 => return Err(ReadError::NoData { file, line, expected: TWO_ROWS }),
        1 => return Err(ReadError::OneRow { file, line }),
        _ => {}
    }
    let panel = panel_of(table, layout.notes.clone());
    if transposed { panel.returns(options) } else { panel.chosen_returns(options) }
}

/// What becomes of each column.
fn roles(layout: &Layout, options: &ReadOptions, file: &str) -> Result<Vec<Role>, ReadError> {
    let ReadOptions { columns, except, date_column, .. } = options;
    let names = &layout.names;
    let header = Header { file, names, named: layout.header.is_some(), labels: None };
    let mut roles = vec![Role::Value; layout.fields];
    if !columns.is_empty() {
        roles.fill(Role::Skip);
    }
    if let Some((index, _)) = layout.index {
        roles[index] = Role::Label;
    }
    for &j in &layout.skipped {
        roles[j] = Role::Skip;
    }
    if let Some(name) = date_column {
        let column = header.required(name)?;
        // Rows have one label.
        roles.iter_mut().filter(|role| **role == Role::Label).for_each(|role| *role = Role::Skip);
        roles[column] = Role::Label;
    }
    for name in columns {
        roles[header.required(name)?] = Role::Value;
    }
    for name in except {
        let column = header.required(name)?;
        // What labels the rows is no asset anyway.
        if roles[column] == Role::Value {
            roles[column] = Role::Skip;
        }
    }
    if !roles.contains(&Role::Value) {
        return Err(no_assets_left(file));
    }
    Ok(roles)
}

pub(crate) fn panel_of_columns(
    source: &mut dyn ColumnSource,
    options: &ReadOptions,
) -> Result<Panel, ReadError> {
    if source.rows_before() + source.rows() < 2 {
        let advice = "at least two rows are needed to measure risk";
        return Err(ReadError::unsuitable(source.file(), "has a single row", advice));
    }
    refuse_repeated(source.names(), None, source.file())?;
    let ReadOptions { columns, except, date_column, .. } = options;
    let mut dates = None;
    let mut no_assets: Vec<String> = except.clone();
    let mut notes = Vec::new();
    if let Some(name) = date_column {
        let column = header_of(source).required(name)?;
        dates = source.days(column)?;
        if dates.is_none() {
            let mut keys = KeyColumn::new(name);
            source.keys(column, &mut keys)?;
            dates = Some(keys.texts());
        }
        no_assets.push(name.clone());
    }
    if columns.is_empty() {
        let excepted: Vec<usize> = no_assets
            .iter()
            .map(|name| header_of(source).required(name))
            .collect::<Result<_, _>>()?;
        for column in (0..source.names().len()).filter(|column| !excepted.contains(column)) {
            let Some(days) = source.days(column)? else { continue };
            let name = source.names()[column].clone();
            if dates.is_none() {
                dates = Some(days);
            } else {
                notes.push(format!("Column '{}' holds dates and was left out.", shorten(&name)));
            }
            no_assets.push(name);
        }
    }
    let features = if columns.is_empty() {
        FeatureColumns::Others { except: no_assets }
    } else {
        FeatureColumns::Named(columns.clone())
    };
    let mut chosen = Columns { features, ..Columns::default() }.choose(header_of(source))?;
    let mut table = table_of(source, &chosen)?;
    if chosen.features.is_empty() {
        return Err(no_assets_left(source.file()));
    }
    let is_asset = |j: &usize| matches!(chosen.roles[*j], Role::Value | Role::Other);
    let origin = Origin {
        rows: std::mem::take(&mut table.lines),
        columns: (0..chosen.roles.len()).filter(is_asset).map(|j| j + 1).collect(),
        named: source.named(),
        by_row: true,
        gap: table.gaps.first.take(),
        ..Origin::default()
    };
    let names = if source.named() {
        chosen.features
    } else {
        let all = numbered_assets(source.names().len());
        origin.columns.iter().map(|column| all[column - 1].clone()).collect()
    };
    chosen.notes.append(&mut notes);
    table.labels = dates.unwrap_or_default();
    Ok(panel(names, table, chosen.notes, source.file(), origin))
}

/// The table in memory.
fn panel(
    names: Vec<String>,
    mut table: Table,
    mut notes: Vec<String>,
    source: &str,
    origin: Origin,
) -> Panel {
    notes.append(&mut table.notes);
    if table.percent {
        notes.push(
            "All values carry a percent sign and are kept in percent: 1.2% is 1.2.".to_owned(),
        );
    }
    Panel {
        names,
        dates: (!table.labels.is_empty()).then_some(table.labels),
        values: table.values,
        source: source.to_owned(),
        notes,
        origin,
    }
}
