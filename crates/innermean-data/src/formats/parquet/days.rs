//! Columns of dates and times, as text.

use std::fmt::Write as _;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnDescriptor;

use super::{ParquetColumns, Sense, Value};
use crate::error::ReadError;
use crate::tables::index::are_written_dates;
use crate::tables::keys::KeyColumn;

const SECONDS_OF_A_DAY: i64 = 86_400;

/// How many of a column's whole numbers make a second, or `None` of whole days.
#[derive(Clone, Copy)]
enum Unit {
    Day,
    PartOfSecond(i64),
}

impl Unit {
    /// Of a column of dates or of dates with times; times of day alone are no dates.
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Some(Self::Day),
            (Some(LogicalType::Timestamp(time)), _) => Some(Self::PartOfSecond(match time.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            })),
            (None, ConvertedType::TIMESTAMP_MILLIS) => Some(Self::PartOfSecond(1_000)),
            (None, ConvertedType::TIMESTAMP_MICROS) => Some(Self::PartOfSecond(1_000_000)),
            _ => None,
        }
    }

    /// The day, and the second of the day.
    fn split(self, number: i64) -> (i64, i64) {
        match self {
            Self::Day => (number, 0),
            Self::PartOfSecond(parts) => {
                let seconds = number.div_euclid(parts);
                (seconds.div_euclid(SECONDS_OF_A_DAY), seconds.rem_euclid(SECONDS_OF_A_DAY))
            }
        }
    }
}

/// `2024-01-31`, of a number of days since 1970-01-01. A year of the Gregorian calendar that begins
/// in March has its leap day at its end, and 400 of them have 146 097 days.
fn push_day(text: &mut String, days: i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let _ = write!(text, "{:04}-{month:02}-{day:02}", year + 400 * era);
}

impl<R: ChunkReader + 'static> ParquetColumns<R> {
    /// The dates of a column of dates, of dates with times, or of texts that are all dates.
    pub(super) fn dates(&self, column: usize) -> Result<Option<Vec<String>>, ReadError> {
        let descriptor = self.descriptor(column);
        if Sense::of(&descriptor) == Sense::Text {
            return self.written_dates(column);
        }
        let Some(unit) = Unit::of(&descriptor).filter(|_| Sense::of(&descriptor) == Sense::Time)
        else {
            return Ok(None);
        };
        let mut dates = Vec::new();
        self.for_each(column, &mut |_, value| {
            let number = match value {
                Some(Value::Int32(number)) => Some(i64::from(number)),
                Some(Value::Int64(number)) => Some(number),
                _ => None,
            };
            let mut text = String::new();
            if let Some(number) = number {
                let (day, second) = unit.split(number);
                // Beyond any calendar, and within what can be computed.
                push_day(&mut text, day.clamp(-1_000_000_000, 1_000_000_000));
                if second > 0 {
                    let (hour, minute) = (second / 3600, second / 60 % 60);
                    let _ = write!(text, " {hour:02}:{minute:02}:{:02}", second % 60);
                }
            }
            dates.push(text);
            Ok(())
        })?;
        Ok(Some(dates))
    }

    fn written_dates(&self, column: usize) -> Result<Option<Vec<String>>, ReadError> {
        let mut keys = KeyColumn::new(&self.names[column]);
        self.read_keys(column, &mut keys)?;
        let texts = keys.texts();
        Ok(are_written_dates(texts.iter().map(String::as_str)).then_some(texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // By `date -u -d @...`.
        for (days, date) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_753, "2024-01-31"),
            (-25_567, "1900-01-01"),
        ] {
            let mut text = String::new();
            push_day(&mut text, days);
            assert_eq!(text, date);
        }
        assert_eq!(Unit::PartOfSecond(1000).split(-1), (-1, 86_399));
    }
}
