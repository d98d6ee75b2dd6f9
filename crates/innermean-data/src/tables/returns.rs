//! The table of returns.

use crate::tables::missing::Dropped;
use crate::text::date::Dates;

/// Returns of some assets over some periods, in the unit of the file (percent in Kenneth French's
/// files).
///
/// Every value is finite, and `values.len() == rows() * assets()`.
#[derive(Debug, Clone, PartialEq)]
pub struct Returns {
    /// One name per asset, all different.
    pub names: Vec<String>,
    /// One label per row as written in the file, if it has a date or index column.
    pub dates: Option<Vec<String>>,
    /// Row after row: the return of asset `j` in period `i` is `values[i * assets() + j]`.
    pub values: Vec<f64>,
    /// Where the returns come from, in words: the file's name, or the generator and its seed.
    pub source: String,
    /// What was left out because of missing values.
    pub dropped: Dropped,
    /// What the reader decided on its own and a careful user may want to know; whole sentences.
    pub notes: Vec<String>,
}

impl Returns {
    /// The number of periods.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// The year of each period, if the labels are dates that do not go back.
    pub fn years(&self) -> Option<Vec<u32>> {
        let dates = Dates::parse(self.dates.as_deref()?).ok()?;
        dates.first_step_back().is_none().then(|| dates.years())
    }

    /// The first date that is earlier than the one before it, behind that one, if the labels are
    /// dates.
    pub fn step_back(&self) -> Option<[&str; 2]> {
        let labels = self.dates.as_deref()?;
        let row = Dates::parse(labels).ok()?.first_step_back()?;
        Some([&labels[row - 1], &labels[row]])
    }

    /// The number of assets.
    pub fn assets(&self) -> usize {
        self.names.len()
    }

    /// The returns of all assets in period `i`.
    ///
    /// # Panics
    ///
    /// If `i` is not below `rows()`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.assets()..(i + 1) * self.assets()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn years(dates: &[&str]) -> Option<Vec<u32>> {
        let dates = Some(dates.iter().map(|date| (*date).to_owned()).collect());
        let (names, values, source) = (vec!["a".to_owned()], vec![0.0; 3], String::new());
        let (dropped, notes) = (Dropped::default(), Vec::new());
        Returns { names, dates, values, source, dropped, notes }.years()
    }

    #[test]
    fn years_are_those_of_dates_in_order() {
        assert_eq!(
            years(&["2023-12-29", "2024-01-02", "2024-01-03"]),
            Some(vec![2023, 2024, 2024])
        );
        assert_eq!(years(&["199912", "200001", "200002"]), Some(vec![1999, 2000, 2000]));
        assert_eq!(years(&["31.12.99", "3.1.00", "4.1.00"]), Some(vec![1999, 2000, 2000]));
        assert_eq!(years(&["a", "b", "c"]), None);
        assert_eq!(years(&["2024-01-02", "2023-12-29", "2024-01-03"]), None);
    }
}
