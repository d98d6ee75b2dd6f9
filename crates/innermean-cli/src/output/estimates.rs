//! Estimates with their standard errors and intervals, as a table.

use innermean_apps::run::inference::{Bootstrap, Inference, StandardErrors};

use crate::output::grid::Grid;
use crate::output::human::{Facts, grouped, significant};
use crate::output::named_numbers::Heading;

/// With more coordinates than this, only the largest estimates are shown.
const MOST_ROWS: usize = 50;
/// Digits of a standard error.
const DIGITS: i32 = 3;

/// A table for the formula and one for the bootstrap, as far as they were asked for.
pub(crate) fn tables(heading: Heading, names: &[String], found: &Inference) -> Vec<Grid> {
    let formula = found.standard_errors.as_ref();
    let formula = formula.map(|found| (&found.errors, &found.intervals, "standard error"));
    let drawn = found.bootstrap.as_ref();
    let drawn = drawn.map(|found| (&found.errors, &found.intervals, "bootstrap error"));
    let level = format!("{} % from", percent(found.level));
    let mut shown: Vec<usize> = (0..found.estimates.len()).collect();
    if shown.len() > MOST_ROWS {
        let size = |l: usize| found.estimates[l].abs();
        shown.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
        shown.truncate(MOST_ROWS);
    }
    let hidden = found.estimates.len() - shown.len();
    let columns = formula.into_iter().chain(drawn);
    let table = columns.map(|(errors, intervals, title)| {
        let row = |&l: &usize| {
            let [low, high] = intervals[l];
            let cells = [found.estimates[l], errors[l], low, high];
            let cells = cells.map(|x| to_the_digits_of(errors[l], x));
            [names[l].clone()].into_iter().chain(cells).collect()
        };
        Grid {
            title: String::new(),
            header: [heading.name, heading.number, title, &level, "to"].map(str::to_owned).to_vec(),
            rows: shown.iter().map(row).collect(),
            numbers: 1..5,
            note: (hidden > 0).then(|| format!(" {hidden} smaller (--json has all)")),
        }
    });
    table.collect()
}

/// The words for independent observations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Units {
    pub(crate) single: &'static str,
    pub(crate) clusters: &'static str,
}

impl Units {
    /// Rows, or clusters of them.
    pub(crate) const ROWS: Self = Units { single: "rows", clusters: "clusters" };
}

/// Lines about the errors, or why there are none.
pub(crate) fn describe(found: &Inference, units: Units, facts: &mut Facts) {
    let unit = if found.clustered { units.clusters } else { units.single };
    let units = grouped(found.units as u64);
    if let Some(StandardErrors { kind, degrees_of_freedom, .. }) = &found.standard_errors {
        let distribution = if degrees_of_freedom.is_finite() {
            format!("Student's t with {degrees_of_freedom} degrees of freedom")
        } else {
            "the normal distribution".to_owned()
        };
        facts.line(
            "standard errors",
            &format!("{kind}, {units} independent {unit}; {distribution}"),
        );
    }
    if let Some(Bootstrap { draws, failed, unmade, seed, .. }) = found.bootstrap {
        let failed = match failed {
            0 => String::new(),
            failed => format!(", {} of them without an estimate", grouped(failed as u64)),
        };
        let asked = match unmade {
            0 => String::new(),
            unmade => format!(" (of {}, when time was up)", grouped((draws + unmade) as u64)),
        };
        let draws = grouped(draws as u64);
        facts.line(
            "bootstrap",
            &format!("{draws} draws{asked} of {units} {unit}{failed}, seed {seed}; percentiles"),
        );
    }
    if let Some(reason) = &found.refused {
        facts.line("standard errors", &format!("none: {reason}"));
    }
}

/// 95, 99.9
fn percent(level: f64) -> String {
    let text = format!("{:.4}", 100.0 * level);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// x with as many decimals as show three digits of its standard error.
fn to_the_digits_of(error: f64, x: f64) -> String {
    if !(error > 0.0 && error.is_finite() && x.is_finite()) {
        return significant(x, DIGITS + 2);
    }
    let decimals = DIGITS - 1 - error.log10().floor() as i32;
    if decimals > 8 || x.abs() >= 1e9 {
        return format!("{x:.4e}");
    }
    format!("{x:.*}", decimals.max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_the_digits_that_its_error_leaves() {
        assert_eq!(to_the_digits_of(0.012_34, 1.234_567), "1.2346");
        assert_eq!(to_the_digits_of(1234.0, 98_765.4), "98765");
        assert_eq!(to_the_digits_of(1e-9, 2e-9), "2.0000e-9");
        assert_eq!(to_the_digits_of(0.0, 1.5), "1.5000");
        assert_eq!(percent(0.95), "95");
        assert_eq!(percent(0.999), "99.9");
    }
}
