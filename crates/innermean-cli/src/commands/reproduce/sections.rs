//! From what was computed to what the page says.

use super::arena::Course;
use crate::output::human::{rounded_count, significant};
use crate::plot::{Curve, Figure, Panel};

pub(super) mod figure1;
pub(super) mod figures2and3;
pub(super) mod table1;
pub(super) mod table2;
pub(super) mod theorems;

/// The gap at which methods are compared: 1e-6.
const AT: i32 = 6;

/// Gaps below this are rounding, and drawn at it.
const ROUNDING: f64 = 1e-12;

/// The median of calls, or of ratios of them; infinite for what was not reached, and so is the
/// median of mostly such.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// The calls of a course to 1e-k, infinite if it does not come there.
fn calls(course: &Course, k: i32) -> f64 {
    course.to(k).map_or(f64::INFINITY, |calls| calls as f64)
}

/// 1.2M, or a dash.
fn shown(calls: f64) -> String {
    if calls.is_finite() { rounded_count(calls as u64) } else { "-".to_owned() }
}

/// 3.4 times
fn times(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "not within the limit".to_owned();
    }
    if ratio >= 100.0 {
        return format!("{} times", rounded_count(ratio.round() as u64));
    }
    format!("{} times", significant(ratio, 2))
}

/// `needs 3.4 times the calls`, or that it does not get there.
fn needs(ratio: f64, than: &str) -> String {
    if ratio.is_finite() {
        format!("needs {} the calls of {than}", times(ratio))
    } else {
        "does not get there".to_owned()
    }
}

/// 1 set, 2 sets
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A panel of courses.
fn panel<'c>(title: &str, courses: impl IntoIterator<Item = &'c Course>) -> Panel {
    let curve = |course: &Course| Curve {
        name: course.name.clone(),
        points: course
            .calls
            .iter()
            .map(|calls| *calls as f64)
            .zip(course.gaps.iter().map(|gap| gap.max(ROUNDING)))
            .collect(),
    };
    Panel { title: title.to_owned(), curves: courses.into_iter().map(curve).collect() }
}

/// Gaps against calls.
fn figure(title: String, panels: Vec<Panel>, columns: usize) -> Figure {
    Figure {
        title,
        x: "oracle calls".to_owned(),
        y: "objective − optimum".to_owned(),
        panels,
        columns,
        by_ratios: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_reached_counts_as_longer_than_anything() {
        assert_eq!(median([3.0, f64::INFINITY, 1.0].into_iter()), 3.0);
        assert_eq!(median([f64::INFINITY, f64::INFINITY, 1.0].into_iter()), f64::INFINITY);
        assert_eq!(times(3.456), "3.5 times");
        assert_eq!(times(f64::INFINITY), "not within the limit");
    }
}
