//! Returns from a file: the layout, the rows, missing values, and the checks that spare a solver surprises.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::ReadError;
use crate::layout::{Layout, detect};
use crate::returns::{Dropped, Returns};
use crate::table::{Table, read_table};

/// What to do about missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// Refuse the file, counting them and naming the first.
    #[default]
    Error,
    /// Leave out every row that has one.
    DropRows,
    /// Leave out every asset that has one.
    DropAssets,
}

/// How to read a table of returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What to do about missing values.
    pub missing: Missing,
}

/// Reads a table of returns, one row per period and one column per asset, finding out its form by itself.
///
/// - Cells stand apart by commas, semicolons, tabs, pipes or blanks, and may be quoted. Blank lines and lines that begin
///   with `#` are skipped. Decimal commas are understood, never mixed with points, unless the comma delimits;
///   a single column such as `0,5` is two columns.
/// - A header is optional. Without one, assets are called `a01`, `a02`, ...
/// - A first column of dates, or one named as an index (`date`, `index`, nothing, ...) and in order, labels the rows.
/// - Prose before the table is skipped, and reading stops at the first title or remark below it, so that Kenneth French's
///   files are read as they come; further tables in the file are ignored. [`Returns::notes`] says so.
/// - Missing values are empty cells, `NA`, `N/A`, `NaN`, `null`, `None`, `.`, `-`, and the codes -99.99 and -999 in any
///   spelling. [`ReadOptions::missing`] says what to do with them.
/// - Numbers may carry a percent sign if all of them do; `1.2%` is 1.2, the unit of French's files, not 0.012.
///
/// # Errors
///
/// [`ReadError`], in one sentence with file, line and column: anything that is not such a table, fewer than two rows,
/// values that are not finite, columns of one name, columns that never change.
pub fn read_returns(path: &Path, options: &ReadOptions) -> Result<Returns, ReadError> {
    let file = path.display().to_string();
    parse_returns(&read_bytes(path)?, &file, options)
}

/// [`read_returns`] from bytes; `name` stands for the file in messages and in [`Returns::source`].
///
/// # Errors
///
/// As [`read_returns`], but for those about opening a file.
pub fn parse_returns(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Returns, ReadError> {
    let text = text_of(bytes, name)?;
    let layout = detect(text, name)?;
    check_names(&layout, name)?;
    let table = read_table(text, &layout, name)?;
    if table.rows == 0 {
        return Err(ReadError::NoData { file: name.to_owned(), line: table.last_line });
    }
    if table.rows == 1 {
        return Err(ReadError::OneRow { file: name.to_owned(), line: table.last_line });
    }
    let mut returns = assemble(layout, table, name, options.missing)?;
    // Room was made for the shortest numbers; the table may live as long as the program.
    returns.values.shrink_to_fit();
    check_constant(&returns)?;
    Ok(returns)
}

/// All bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let file = || path.display().to_string();
    if path.is_dir() {
        return Err(ReadError::Directory { file: file() });
    }
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound { file: file() },
        io::ErrorKind::IsADirectory => ReadError::Directory { file: file() },
        _ => ReadError::Unreadable { file: file(), source },
    })
}

/// The bytes as text, without a byte order mark.
pub(crate) fn text_of<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, ReadError> {
    // French's library hands out zip files; their bytes would otherwise be reported as broken text.
    for (magic, kind) in [(&b"PK\x03\x04"[..], "zip"), (&b"\x1f\x8b"[..], "gzip")] {
        if bytes.starts_with(magic) {
            return Err(ReadError::Compressed { file: name.to_owned(), kind });
        }
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|&b| b == b'\n').count();
        ReadError::NotUtf8 { file: name.to_owned(), line }
    })
}

fn check_names(layout: &Layout, file: &str) -> Result<(), ReadError> {
    let mut seen = HashMap::new();
    let shift = 1 + usize::from(layout.index_column);
    for (j, name) in layout.names.iter().enumerate() {
        if let Some(first) = seen.insert(name, j) {
            return Err(ReadError::DuplicateName {
                file: file.to_owned(),
                line: layout.header.unwrap_or(layout.first_row),
                name: name.clone(),
                first: first + shift,
                second: j + shift,
            });
        }
    }
    Ok(())
}

/// The table without what is missing.
fn assemble(layout: Layout, table: Table, name: &str, missing: Missing) -> Result<Returns, ReadError> {
    let mut notes = layout.notes;
    notes.extend(table.notes);
    if table.percent {
        notes.push("All values carry a percent sign and are kept in percent: 1.2% is 1.2.".to_owned());
    }
    let mut returns = Returns {
        names: layout.names,
        dates: layout.index_column.then_some(table.labels),
        values: table.values,
        source: name.to_owned(),
        dropped: Dropped::default(),
        notes,
    };
    let Some((place, text)) = table.first_missing else { return Ok(returns) };
    let (all_rows, all_assets) = (returns.rows(), returns.assets());
    let advice = match missing {
        Missing::Error => return Err(ReadError::Missing { place, text, count: table.missing }),
        Missing::DropRows => {
            drop_rows(&mut returns);
            "try `--missing drop-assets`, or fill the gaps in the file"
        }
        Missing::DropAssets => {
            drop_assets(&mut returns);
            "try `--missing drop-rows`, or fill the gaps in the file"
        }
    };
    let (rows, assets) = (all_rows - returns.dropped.rows, returns.assets());
    if rows < 2 || assets < 1 {
        return Err(ReadError::NothingLeft {
            file: name.to_owned(),
            rows,
            all_rows,
            assets,
            all_assets,
            advice,
        });
    }
    Ok(returns)
}

fn drop_rows(returns: &mut Returns) {
    let kept: Vec<bool> = returns.values.chunks_exact(returns.assets()).map(|row| !has_nan(row)).collect();
    returns.dropped.rows = kept.iter().filter(|&&keep| !keep).count();
    returns.values = returns
        .values
        .chunks_exact(returns.names.len())
        .filter(|row| !has_nan(row))
        .flatten()
        .copied()
        .collect();
    if let Some(dates) = &mut returns.dates {
        let mut keep = kept.iter();
        dates.retain(|_| keep.next().copied().unwrap_or(true));
    }
}

fn has_nan(row: &[f64]) -> bool {
    row.iter().any(|value| value.is_nan())
}

fn drop_assets(returns: &mut Returns) {
    let mut kept = vec![true; returns.assets()];
    for row in returns.values.chunks_exact(returns.assets()) {
        for (keep, value) in kept.iter_mut().zip(row) {
            *keep &= !value.is_nan();
        }
    }
    let mut keep = kept.iter().cycle();
    returns.values.retain(|_| keep.next().copied().unwrap_or(true));
    let names = std::mem::take(&mut returns.names);
    for (name, keep) in names.into_iter().zip(kept) {
        if keep { returns.names.push(name) } else { returns.dropped.assets.push(name) }
    }
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
