//! Dates that can be compared: days, months or years, with a time of day if there is one.

use std::cmp::Ordering;

use crate::text::cell::{is_date, is_year};

/// A day, a month (`day` is 0) or a year (`month` is 0, too), and the second of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    year: u32,
    month: u32,
    day: u32,
    second: u32,
}

/// Which number comes first in `1/2/2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayOrder {
    MonthFirst,
    DayFirst,
}

/// The dates of a column, and how they were read.
pub(crate) struct Dates {
    pub(crate) all: Vec<Date>,
    pub(crate) order: DayOrder,
    /// The other order would have been as good.
    pub(crate) unclear: bool,
    /// The dates are written in a form that has such an order.
    pub(crate) has_order: bool,
}

impl Date {
    /// Any form that [`is_date`] or [`is_year`] knows.
    pub(crate) fn parse(text: &str, order: DayOrder) -> Option<Self> {
        let text = text.trim();
        if is_year(text) {
            return Some(Self { year: text.parse().ok()?, month: 0, day: 0, second: 0 });
        }
        if !is_date(text) {
            return None;
        }
        let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
        let number = |text: &str| text.parse::<u32>().ok();
        let [year, month, day] = if day.bytes().all(|b| b.is_ascii_digit()) {
            let (year, rest) = day.split_at(4);
            let (month, day) = rest.split_at(2);
            [number(year)?, number(month)?, if day.is_empty() { 0 } else { number(day)? }]
        } else {
            let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
            match parts[..] {
                [y, m] => [number(y)?, number(m)?, 0],
                [y, m, d] if y.len() == 4 => [number(y)?, number(m)?, number(d)?],
                [a, b, y] => {
                    let (day, month) = match order {
                        DayOrder::DayFirst => (a, b),
                        DayOrder::MonthFirst => (b, a),
                    };
                    [century(number(y)?), number(month)?, number(day)?]
                }
                _ => return None,
            }
        };
        let clock = |k: usize| -> u32 {
            let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).count();
            let part = time.trim().split(':').nth(k).unwrap_or("");
            part[..digits(part).min(2)].parse().unwrap_or(0)
        };
        let second = 3600 * clock(0) + 60 * clock(1) + clock(2);
        (month <= 12 && day <= 31).then_some(Self { year, month, day, second })
    }

    /// Days, months and years as far as both know them: 2024-01 is neither before nor after
    /// 2024-01-31.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        let known = |a: u32, b: u32| if a == 0 || b == 0 { Ordering::Equal } else { a.cmp(&b) };
        let days = known(self.month, other.month).then(known(self.day, other.day));
        self.year.cmp(&other.year).then(days)
    }
}

/// `24` is 2024 and `87` is 1987.
fn century(year: u32) -> u32 {
    match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    }
}

impl Dates {
    /// Reads all labels of a column in the one order that suits them, or says which is no date.
    pub(crate) fn parse(labels: &[String]) -> Result<Self, usize> {
        let read = |order: DayOrder| {
            let date = |(k, text): (usize, &String)| Date::parse(text, order).ok_or(k);
            labels.iter().enumerate().map(date).collect::<Result<Vec<_>, _>>()
        };
        let found = |all, order, unclear, has_order| Ok(Self { all, order, unclear, has_order });
        match (read(DayOrder::MonthFirst), read(DayOrder::DayFirst)) {
            (Ok(dates), Err(_)) => found(dates, DayOrder::MonthFirst, false, true),
            (Err(_), Ok(dates)) => found(dates, DayOrder::DayFirst, false, true),
            (Err(one), Err(other)) => Err(one.max(other)),
            (Ok(month_first), Ok(day_first)) => {
                let same = month_first == day_first;
                match (is_ordered(&month_first), is_ordered(&day_first)) {
                    (true, false) => found(month_first, DayOrder::MonthFirst, false, true),
                    (false, true) => found(day_first, DayOrder::DayFirst, false, true),
                    // Slashes are written where months come first, points and dashes elsewhere.
                    _ if labels.first().is_some_and(|label| label.contains('/')) => {
                        found(month_first, DayOrder::MonthFirst, !same, !same)
                    }
                    _ => found(day_first, DayOrder::DayFirst, !same, !same),
                }
            }
        }
    }

    /// A date that is to be compared with these, in their order if they have one; else whether it
    /// could be one of two days.
    pub(crate) fn day_asked_for(&self, text: &str) -> Result<Date, bool> {
        // An hour would not be looked at.
        if text.contains(':') {
            return Err(false);
        }
        let [month_first, day_first] =
            [DayOrder::MonthFirst, DayOrder::DayFirst].map(|order| Date::parse(text, order));
        match (month_first, day_first) {
            (Some(one), Some(other)) if one != other && !self.has_order => Err(true),
            (Some(date), _) if self.order == DayOrder::MonthFirst => Ok(date),
            (_, Some(date)) | (Some(date), None) => Ok(date),
            (None, None) => Err(false),
        }
    }

    /// The first row that is earlier than the one before.
    pub(crate) fn first_step_back(&self) -> Option<usize> {
        self.all.windows(2).position(|pair| pair[0] > pair[1]).map(|row| row + 1)
    }

    /// The year of each.
    pub(crate) fn years(&self) -> Vec<u32> {
        self.all.iter().map(|date| date.year).collect()
    }

    /// Whether the newest comes first.
    pub(crate) fn descend(&self) -> bool {
        is_descending(&self.all) && self.all.first() != self.all.last()
    }
}

fn is_descending(dates: &[Date]) -> bool {
    dates.windows(2).all(|pair| pair[0] >= pair[1])
}

fn is_ordered(dates: &[Date]) -> bool {
    is_descending(dates) || dates.windows(2).all(|pair| pair[0] <= pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(labels: &[&str]) -> Vec<String> {
        labels.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_form_of_a_day_is_that_day() {
        let day = Date { year: 2024, month: 1, day: 31, second: 0 };
        for text in [
            "2024-01-31",
            "2024/1/31",
            "2024.01.31",
            "20240131",
            "31.01.2024",
            "31-01-2024",
            "1/31/2024",
            "1/31/24",
            "31.1.24",
            "2024-01-31 00:00:00",
        ] {
            let dates = Dates::parse(&texts(&[text])).unwrap_or_else(|_| panic!("{text}"));
            assert_eq!((dates.all[0], dates.unclear), (day, false), "{text}");
        }
        for (text, month) in [("202401", 1), ("2024-01", 1), ("2024", 0)] {
            let date = Date::parse(text, DayOrder::DayFirst);
            assert_eq!(date, Some(Date { month, day: 0, ..day }), "{text}");
            assert_eq!(date.map(|date| date.compare(day)), Some(Ordering::Equal), "{text}");
        }
        let time = Date::parse("2024-01-31T09:30:05Z", DayOrder::DayFirst);
        assert_eq!(time.map(|date| date.second), Some(9 * 3600 + 30 * 60 + 5));
        assert_eq!(Date::parse("Monday", DayOrder::DayFirst), None);
    }

    #[test]
    fn days_and_months_are_told_apart_by_the_column() {
        let order = |labels: &[&str]| {
            Dates::parse(&texts(labels)).map(|dates| (dates.order, dates.unclear))
        };
        assert_eq!(order(&["1/2/2024", "1/13/2024"]), Ok((DayOrder::MonthFirst, false)));
        assert_eq!(order(&["1/2/2024", "13/2/2024"]), Ok((DayOrder::DayFirst, false)));
        // The order in time decides: 11 January, 12 January, 1 February.
        assert_eq!(order(&["11/1/2024", "12/1/2024", "1/2/2024"]), Ok((DayOrder::DayFirst, false)));
        assert_eq!(order(&["1/2/2024", "1/3/2024"]), Ok((DayOrder::MonthFirst, true)));
        assert_eq!(order(&["1.2.2024", "1.3.2024"]), Ok((DayOrder::DayFirst, true)));
        assert_eq!(order(&["2024-01-02", "x", "2024-01-04"]), Err(1));
    }

    #[test]
    fn the_newest_first() {
        let descend = |labels: &[&str]| Dates::parse(&texts(labels)).is_ok_and(|d| d.descend());
        assert!(descend(&["2024-01-03", "2024-01-02", "2024-01-02"]));
        assert!(descend(&["2024-01-02 10:00", "2024-01-02 09:30"]));
        assert!(!descend(&["2024-01-02", "2024-01-02"]));
        assert!(!descend(&["2024-01-02", "2024-01-03"]));
    }
}
