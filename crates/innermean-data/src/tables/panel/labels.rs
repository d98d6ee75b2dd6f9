//! Columns of numbers that label the rows: dates, years and row numbers are no returns.

use super::Panel;
use crate::error::ReadError;
use crate::tables::index::{is_date_name, is_index_name};
use crate::tables::panel::error::PanelError;
use crate::text::cell::is_date;
use crate::wording::quoted;

/// Rows of which a column of any name is believed to count them: 1, 2, 3 may well be returns.
const SURE_COUNT: usize = 5;

/// What a column says about its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// 20240131 or 202401.
    Dates,
    Years,
    /// Parts of a date other than the year, by their name.
    Months,
    Days,
    Weeks,
    Quarters,
    /// 0, 1, 2, ... or 1, 2, 3, ...
    Count,
}

impl Label {
    fn in_words(self) -> &'static str {
        match self {
            Self::Dates => "holds dates",
            Self::Years => "holds years",
            Self::Months => "holds months",
            Self::Days => "holds days",
            Self::Weeks => "holds weeks",
            Self::Quarters => "holds quarters",
            Self::Count => "counts the rows",
        }
    }

    /// What a column of this name, all of whose numbers are whole, is.
    fn of(name: &str, values: &(impl Iterator<Item = f64> + Clone)) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let within = |low: f64, high: f64| values.clone().all(|x| (low..=high).contains(&x));
        let parts = [
            (Self::Years, &["year", "yr", "yyyy", "jahr"][..], 1800.0, 2199.0),
            (Self::Months, &["month", "mon", "mm", "monat"], 1.0, 12.0),
            (Self::Quarters, &["quarter", "qtr"], 1.0, 4.0),
            (Self::Weeks, &["week"], 1.0, 53.0),
            (Self::Days, &["day", "dd", "weekday", "tag"], 0.0, 31.0),
        ];
        let named = parts.into_iter().find(|(_, names, ..)| names.contains(&name.as_str()));
        if let Some((label, _, low, high)) = named
            && within(low, high)
        {
            return Some(label);
        }
        let rows = values.clone().count();
        let steps = || values.clone().zip(values.clone().skip(1)).map(|(a, b)| b - a);
        let date = |x: f64| (180_000.0..22e6).contains(&x) && is_date(&format!("{x}"));
        if (rows > 2 || is_date_name(&name))
            && values.clone().all(date)
            && (is_date_name(&name)
                || steps().all(|step| step >= 0.0)
                || steps().all(|step| step <= 0.0))
            && steps().any(|step| step != 0.0)
        {
            return Some(Self::Dates);
        }
        // Of monthly rows a year comes twelve times.
        if rows > 2
            && within(1800.0, 2199.0)
            && steps().any(|step| step != 0.0)
            && (steps().all(|step| step == 0.0 || step == 1.0)
                || steps().all(|step| step == 0.0 || step == -1.0))
        {
            return Some(Self::Years);
        }
        let first = values.clone().next()?;
        let counts = (first == 0.0 || first == 1.0) && steps().all(|step| step == 1.0);
        let sure = rows >= SURE_COUNT || (rows > 1 && is_index_name(&name));
        (counts && sure).then_some(Self::Count)
    }
}

impl Panel {
    /// Leaves out columns that label the rows, with a note; where the rows have no dates, such
    /// columns give them.
    pub(super) fn leave_out_labels(&mut self) -> Result<(), ReadError> {
        let is_whole = |x: f64| x >= 0.0 && x.fract() == 0.0;
        let found: Vec<Option<Label>> = (0..self.names.len())
            .map(|j| {
                let values = self.column(j);
                // Few columns get beyond their first rows.
                values.clone().all(is_whole).then(|| Label::of(&self.names[j], &values)).flatten()
            })
            .collect();
        let labels = || found.iter().enumerate().filter_map(|(j, label)| Some((j, (*label)?)));
        if labels().next().is_none() {
            return Ok(());
        }
        let reason = |(j, label): (usize, Label)| {
            format!("column {} {}", quoted(&self.names[j]), label.in_words())
        };
        if found.iter().all(Option::is_some) {
            let (file, reasons) = (self.source.clone(), labels().map(reason).take(5).collect());
            return Err(PanelError::OnlyLabels { file, reasons }.into());
        }
        let notes: Vec<String> =
            labels().map(|label| format!("C{} and was left out.", &reason(label)[1..])).collect();
        let has_dates = self.dates.as_ref().is_some_and(|dates| dates.iter().all(|d| is_date(d)));
        if !has_dates && let Some(dates) = self.dates_of(&found) {
            self.dates = Some(dates);
        }
        self.notes.extend(notes);
        let kept: Vec<bool> = found.iter().map(Option::is_none).collect();
        self.keep_columns(&kept);
        Ok(())
    }

    /// The dates that columns give together.
    fn dates_of(&self, found: &[Option<Label>]) -> Option<Vec<String>> {
        let of = |label: Label| {
            let j = found.iter().position(|found| *found == Some(label))?;
            Some(self.column(j))
        };
        if let Some(dates) = of(Label::Dates) {
            return Some(dates.map(|date| date.to_string()).collect());
        }
        let years = of(Label::Years)?;
        let Some(months) = of(Label::Months) else {
            return Some(years.map(|year| year.to_string()).collect());
        };
        let months = years.zip(months).map(|(year, month)| format!("{year}-{month:02}"));
        Some(match of(Label::Days) {
            Some(days) => {
                months.zip(days).map(|(month, day)| format!("{month}-{day:02}")).collect()
            }
            None => months.collect(),
        })
    }
}
