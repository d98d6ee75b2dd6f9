//! Which groups each row belongs to.

use std::collections::HashMap;

use innermean_data::Keys;

/// The groups of each row, by their numbers: none, one or several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memberships {
    /// Row r has the groups from `starts[r]` to `starts[r + 1]`.
    starts: Vec<usize>,
    groups: Vec<u32>,
}

impl Memberships {
    /// One group for each row.
    pub fn of_keys(keys: &Keys) -> Self {
        Memberships { starts: (0..=keys.codes.len()).collect(), groups: keys.codes.clone() }
    }

    /// The groups that several columns name, each cell one or, with a separator, several of them; an
    /// empty text names none. Comes with the names of the groups, which are the same in all columns.
    pub fn of_columns(columns: &[Keys], separator: Option<&str>) -> (Vec<String>, Self) {
        let mut names: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        // The groups of every text of every column.
        let mut named = |text: &String| -> Vec<u32> {
            let parts: Vec<&str> = match separator {
                Some(separator) => text.split(separator).map(str::trim).collect(),
                None => vec![text],
            };
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            let number = |part: &str| {
                *numbers.entry(part.to_owned()).or_insert_with(|| {
                    names.push(part.to_owned());
                    names.len() as u32 - 1
                })
            };
            parts.map(number).collect()
        };
        let of_texts: Vec<Vec<Vec<u32>>> =
            columns.iter().map(|keys| keys.names.iter().map(&mut named).collect()).collect();
        let rows = columns.first().map_or(0, |keys| keys.codes.len());
        let (mut starts, mut groups) = (vec![0], Vec::new());
        for row in 0..rows {
            let first = groups.len();
            for (keys, of_texts) in columns.iter().zip(&of_texts) {
                for &group in &of_texts[keys.codes[row] as usize] {
                    // A row is in a group or not, however often that is said.
                    if !groups[first..].contains(&group) {
                        groups.push(group);
                    }
                }
            }
            starts.push(groups.len());
        }
        (names, Memberships { starts, groups })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The groups of a row.
    pub fn of(&self, row: usize) -> &[u32] {
        &self.groups[self.starts[row]..self.starts[row + 1]]
    }

    /// The same with other numbers.
    pub(super) fn renumbered(mut self, number: impl Fn(u32) -> u32) -> Self {
        self.groups.iter_mut().for_each(|group| *group = number(*group));
        self
    }

    /// The same with a group for each of some rows, of numbers from `first` on, which those that had
    /// them make room for.
    pub(super) fn with_singles(&self, rows: &[usize], first: usize) -> Self {
        let (mut starts, mut groups) = (vec![0], Vec::new());
        let mut next = 0;
        for row in 0..self.rows() {
            let moved = |&group: &u32| {
                if (group as usize) < first { group } else { group + rows.len() as u32 }
            };
            groups.extend(self.of(row).iter().map(moved));
            if rows.get(next) == Some(&row) {
                groups.push((first + next) as u32);
                next += 1;
            }
            starts.push(groups.len());
        }
        Memberships { starts, groups }
    }

    /// The rows that belong to a group that has a new number, in order.
    pub(super) fn subset(&self, number: impl Fn(u32) -> Option<u32>) -> (Self, Vec<usize>) {
        let (mut starts, mut groups, mut kept) = (vec![0], Vec::new(), Vec::new());
        for row in 0..self.rows() {
            groups.extend(self.of(row).iter().filter_map(|&group| number(group)));
            if groups.len() > *starts.last().unwrap_or(&0) {
                kept.push(row);
                starts.push(groups.len());
            }
        }
        (Memberships { starts, groups }, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(texts: &[&str]) -> Keys {
        let mut keys = Keys::default();
        for text in texts {
            let place = keys.names.iter().position(|name| name == text);
            keys.codes.push(place.unwrap_or(keys.names.len()) as u32);
            if place.is_none() {
                keys.names.push((*text).to_owned());
            }
        }
        keys
    }

    #[test]
    fn several_columns_and_several_names_in_a_cell() {
        let columns = [keys(&["a;b", "", "b"]), keys(&["c", "c", "b; a"])];
        let (names, members) = Memberships::of_columns(&columns, Some(";"));
        assert_eq!(names, ["a", "b", "c"]);
        let of: Vec<&[u32]> = (0..3).map(|row| members.of(row)).collect();
        assert_eq!(of, [&[0, 1, 2][..], &[2], &[1, 0]]);
        let (names, _) = Memberships::of_columns(&columns, None);
        assert_eq!(names, ["a;b", "b", "c", "b; a"]);
        let singles = members.with_singles(&[1], 2);
        assert_eq!([singles.of(0), singles.of(1)], [&[0, 1, 3][..], &[3, 2]]);
        let (subset, kept) = members.subset(|group| (group == 2).then_some(0));
        assert_eq!((subset.rows(), kept), (2, vec![0, 1]));
    }
}
