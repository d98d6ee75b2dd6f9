//! Rows in the order of time, and those of the window that is asked for.

use std::cmp::Ordering;

use super::Panel;
use crate::error::ReadError;
use crate::tables::options::{Prices, ReadOptions};
use crate::tables::panel::error::PanelError;
use crate::tables::row_lines::RowLines;
use crate::text::date::{Date, Dates, DayOrder};

impl Panel {
    /// Turns a table around whose newest row comes first. Prices must be in order, or a return
    /// would be of one day against any other.
    pub(super) fn put_in_order(&mut self, options: &ReadOptions) -> Result<(), ReadError> {
        let are_prices = matches!(options.prices, Prices::Simple | Prices::Log);
        let Some(labels) = &self.dates else { return Ok(()) };
        // Most files show with two rows that they are in order.
        let falls = |order: DayOrder| {
            let ends = [labels.first(), labels.last()].map(|text| Date::parse(text?, order));
            matches!(ends, [Some(first), Some(last)] if first > last)
        };
        if !are_prices && !falls(DayOrder::DayFirst) && !falls(DayOrder::MonthFirst) {
            return Ok(());
        }
        let Ok(dates) = Dates::parse(labels) else { return Ok(()) };
        if dates.descend() {
            self.reverse();
            self.notes.push(
                "The newest row comes first in the file; rows were taken in the order of time."
                    .to_owned(),
            );
        } else if are_prices && let Some(row) = dates.first_step_back() {
            let (place, text) = (self.row_place(row), labels[row].clone());
            let before = labels[row - 1].clone();
            return Err(PanelError::Unordered { place, text, before }.into());
        }
        Ok(())
    }

    fn reverse(&mut self) {
        let (rows, width) = (self.rows(), self.width());
        for row in 0..rows / 2 {
            let (top, bottom) = self.values.split_at_mut((rows - 1 - row) * width);
            top[row * width..(row + 1) * width].swap_with_slice(&mut bottom[..width]);
        }
        if let Some(dates) = &mut self.dates {
            dates.reverse();
        }
        let mut lines = RowLines::default();
        for (new, old) in (0..rows).rev().enumerate() {
            lines.push(new, self.origin.rows.line(old));
        }
        self.origin.rows = lines;
    }

    /// The file and the line of a row.
    fn row_place(&self, row: usize) -> String {
        let origin = &self.origin;
        let unit = match (origin.by_row, origin.transposed) {
            (_, true) => "column",
            (true, _) => "row",
            (false, _) => "line",
        };
        format!("{}, {unit} {}", self.source, origin.rows.line(row))
    }

    /// Keeps the rows from one date to another; of prices also the row before, of which the first
    /// return is made.
    pub(super) fn keep_window(&mut self, options: &ReadOptions) -> Result<(), ReadError> {
        let ReadOptions { from, to, prices, .. } = options;
        let Some(flag) = from.as_ref().map(|_| "from").or(to.as_ref().map(|_| "to")) else {
            return Ok(());
        };
        let file = || self.source.clone();
        let Some(labels) = &self.dates else {
            return Err(PanelError::NoDates { file: file(), flag }.into());
        };
        let dates = Dates::parse(labels).map_err(|row| {
            let (place, text) = (self.row_place(row), labels[row].clone());
            PanelError::NotADate { place, text, flag }
        })?;
        let day = |flag: &'static str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => dates.day_asked_for(text).map(Some).map_err(|unclear| {
                let (file, text) = (file(), text.clone());
                if unclear {
                    PanelError::UnclearDay { file, flag, text }
                } else {
                    PanelError::NotADay { file, flag, text }
                }
            }),
        };
        let (first, last) = (day("from", from)?, day("to", to)?);
        let mut kept: Vec<bool> = dates
            .all
            .iter()
            .map(|date| {
                first.is_none_or(|first| date.compare(first) != Ordering::Less)
                    && last.is_none_or(|last| date.compare(last) != Ordering::Greater)
            })
            .collect();
        let Some(begin) = kept.iter().position(|keep| *keep) else {
            let of = |word: &str, text: &Option<String>| {
                text.as_ref().map(|text| format!("{word} {}", crate::wording::shorten(text)))
            };
            let wanted: Vec<String> =
                [of("from", from), of("to", to)].into_iter().flatten().collect();
            let by_date = |row: &usize| dates.all[*row];
            let end = |row: Option<usize>| row.map_or(String::new(), |row| self.row_in_words(row));
            return Err(PanelError::OutsideWindow {
                file: file(),
                wanted: wanted.join(" "),
                first: end((0..labels.len()).min_by_key(by_date)),
                last: end((0..labels.len()).max_by_key(by_date)),
            }
            .into());
        };
        if matches!(prices, Prices::Simple | Prices::Log) && begin > 0 {
            kept[begin - 1] = true;
        }
        if dates.unclear {
            let order = match dates.order {
                DayOrder::MonthFirst => "the month",
                DayOrder::DayFirst => "the day",
            };
            self.notes.push(format!(
                "Dates such as '{}' were read with {order} first.",
                crate::wording::shorten(&labels[0])
            ));
        }
        self.keep_rows(&kept);
        Ok(())
    }
}
