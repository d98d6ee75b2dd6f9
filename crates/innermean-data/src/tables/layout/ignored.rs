//! Columns that may hold anything, since they are wanted for no assets.

use crate::tables::options::ReadOptions;
use crate::text::line::Cell;

/// Columns that are named in `options` and are to be no assets, or are not named there: where the
/// names are found on one line.
pub(super) fn ignored(cells: &[Vec<Cell<'_>>], options: &ReadOptions) -> Vec<bool> {
    let ReadOptions { columns, except, date_column, .. } = options;
    let names = || columns.iter().chain(except).chain(date_column).map(|name| name.trim());
    if names().next().is_none() {
        return Vec::new();
    }
    let place = |row: &[Cell<'_>], name: &str| {
        let exact = row.iter().position(|cell| cell.text == name);
        let name = name.to_lowercase();
        exact.or_else(|| row.iter().position(|cell| cell.text.to_lowercase() == name))
    };
    let number = |name: &str| name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let has_all = |row: &Vec<Cell<'_>>| {
        names().all(|name| place(row, name).is_some() || number(name).is_some())
            && names().any(|name| place(row, name).is_some())
    };
    let header = cells.iter().position(has_all);
    let width = cells.iter().map(Vec::len).max().unwrap_or(0);
    // A header may leave the first column without a name.
    let length = |row: Option<usize>| row.and_then(|row| cells.get(row)).map_or(0, Vec::len);
    let shift =
        usize::from(header.is_some() && length(header) + 1 == length(header.map(|h| h + 1)));
    let find = |name: &String| {
        let named = header.and_then(|row| place(&cells[row], name.trim())).map(|j| j + shift);
        named.or_else(|| number(name.trim())).filter(|j| *j < width)
    };
    let mut ignored = vec![!columns.is_empty(); width];
    ignored[0] = false;
    columns.iter().filter_map(find).for_each(|j| ignored[j] = false);
    except.iter().chain(date_column).filter_map(find).for_each(|j| ignored[j] = true);
    ignored
}
