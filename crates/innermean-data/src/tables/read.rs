//! Returns from a file: the layout, the rows, missing values, and the checks that spare a solver
//! surprises.

use std::path::Path;

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::{Content, Source};
use crate::tables::arrays::{ColumnSource, header_of, table_of};
use crate::tables::columns::{Columns, FeatureColumns, refuse_repeated};
use crate::tables::layout::{SAMPLE, TWO_ROWS, detect, numbered_assets};
use crate::tables::missing::{Dropped, Missing};
use crate::tables::returns::Returns;
use crate::tables::rows::read_table;
use crate::tables::table::{Role, Table};
use crate::text::Text;

/// How to read a table of returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What to do about missing values.
    pub missing: Missing,
}

/// Reads a table of returns, one row per period and one column per asset, finding out its form by
/// itself.
///
/// - Cells are separated by commas, semicolons, tabs, pipes or blanks, and may be quoted. Blank
///   lines and lines that begin with `#` are skipped. Decimal commas are understood, never mixed
///   with points, unless the comma delimits; a single column such as `0,5` is two columns.
/// - A header is optional. Without one, assets are called `a01`, `a02`, ...
/// - A first column of dates, or one named as an index (`date`, `index`, nothing, ...) and in
///   order, labels the rows.
/// - Prose before the table is skipped, and reading stops at the first title or remark below it, so
///   that Kenneth French's files are read as they come; further tables in the file are ignored.
///   [`Returns::notes`] says so.
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
/// fewer than two rows, values that are not finite, columns of one name, columns that never change.
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
        returns_of(Source::open(path, *self)?, *options)
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
    returns_of(Source::of_bytes(bytes, name)?, *options)
}

fn returns_of(source: Source<'_>, options: ReadOptions) -> Result<Returns, ReadError> {
    let name = source.file.clone();
    let (names, table, notes) = match source.content()? {
        Content::Text(mut text) => table_of_text(&mut text, &name)?,
        Content::Columns(mut source) => table_of_columns(&mut *source)?,
    };
    let mut returns = assemble(names, table, notes, &name, options.missing)?;
    // Vectors grow by doubling; the table may live as long as the program.
    returns.values.shrink_to_fit();
    check_constant(&returns)?;
    Ok(returns)
}

/// The names of the assets, the rows, and notes.
type Read = (Vec<String>, Table, Vec<String>);

fn table_of_text(text: &mut Text<'_>, name: &str) -> Result<Read, ReadError> {
    let limits = *text.limits();
    let samples = text.first_rows(SAMPLE)?;
    limits.check_cells(&samples, name)?;
    let layout = detect(&samples, name)?;
    layout.check_names(&limits, name)?;
    refuse_repeated(&layout.names, 1 + usize::from(layout.index_column), layout.header, name)?;
    let mut roles = vec![Role::Value; layout.fields];
    if layout.index_column {
        roles[0] = Role::Label;
    }
    let table = read_table(text, &layout, &roles, &[], 0)?;
    let (file, line) = (name.to_owned(), table.lines.last);
    match table.rows {
        0 => Err(ReadError::NoData { file, line, expected: TWO_ROWS }),
        1 => Err(ReadError::OneRow { file, line }),
        _ => Ok((layout.names, table, layout.notes)),
    }
}

fn table_of_columns(source: &mut dyn ColumnSource) -> Result<Read, ReadError> {
    if source.rows() < 2 {
        let advice = "at least two rows are needed to measure risk";
        return Err(ReadError::unsuitable(source.file(), "has a single row", advice));
    }
    let features = FeatureColumns::Others { except: Vec::new() };
    refuse_repeated(source.names(), 1, None, source.file())?;
    let chosen = Columns { features, ..Columns::default() }.choose(header_of(source))?;
    let table = table_of(source, &chosen)?;
    let names =
        if source.named() { chosen.features } else { numbered_assets(chosen.features.len()) };
    Ok((names, table, chosen.notes))
}

/// The table without what is missing.
fn assemble(
    mut names: Vec<String>,
    mut table: Table,
    mut notes: Vec<String>,
    source: &str,
    missing: Missing,
) -> Result<Returns, ReadError> {
    notes.append(&mut table.notes);
    if table.percent {
        notes.push(
            "All values carry a percent sign and are kept in percent: 1.2% is 1.2.".to_owned(),
        );
    }
    let mut dropped = Dropped::default();
    if let Some((place, text)) = table.gaps.first.take() {
        let (all_rows, all_assets) = (table.rows, names.len());
        let advice = match missing {
            Missing::Error => {
                let advice =
                    "use `--missing drop-rows` or `--missing drop-columns` to leave them out";
                return Err(ReadError::Missing { place, text, count: table.gaps.count, advice });
            }
            Missing::DropRows => {
                dropped.rows = table.drop_rows();
                "try `--missing drop-columns`, or fill the gaps in the file"
            }
            Missing::DropColumns => {
                dropped.columns = table.drop_columns(&mut names);
                "try `--missing drop-rows`, or fill the gaps in the file"
            }
        };
        let (rows, assets) = (table.rows, names.len());
        if rows < 2 || assets < 1 {
            let file = source.to_owned();
            return Err(ReadError::NothingLeft {
                file,
                rows,
                all_rows,
                assets,
                all_assets,
                advice,
            });
        }
    }
    Ok(Returns {
        names,
        dates: (!table.labels.is_empty()).then_some(table.labels),
        values: table.values,
        source: source.to_owned(),
        dropped,
        notes,
    })
}

fn check_constant(returns: &Returns) -> Result<(), ReadError> {
    let first = returns.row(0);
    let mut constant = vec![true; returns.assets()];
    for row in returns.values.chunks_exact(returns.assets()) {
        for ((constant, value), first) in constant.iter_mut().zip(row).zip(first) {
            *constant &= value == first;
        }
        // Most files show with their second row that nothing is constant.
        if !constant.contains(&true) {
            return Ok(());
        }
    }
    let columns = returns.names.iter().zip(first).zip(constant).filter(|(_, constant)| *constant);
    Err(ReadError::Constant {
        file: returns.source.clone(),
        columns: columns.map(|((name, value), _)| (name.clone(), *value)).collect(),
    })
}
