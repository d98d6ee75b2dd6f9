//! Limits that no weights meet together, by the names that an analyst gave them.

use innermean::LinearConstraint;
use innermean::regularizer::Clash;

use super::{Limits, LimitsError};
use crate::penalty::{Bounds, Constraint};
use crate::wording::numbers::significant;

/// Digits of a limit that is relaxed.
const DIGITS: i32 = 6;
/// More than rounding, as a part of a limit, so that the relaxed limits can be met.
const ROOM: f64 = 1e-6;
/// More assets than this are not listed one by one.
const MOST_ASSETS: usize = 8;

/// A linear constraint, and what it is called.
pub(super) struct Named {
    pub(super) row: LinearConstraint,
    pub(super) name: String,
    /// What its lower and its upper end are called.
    pub(super) ends: [String; 2],
}

/// What the limits are given with.
pub(super) struct Given<'a> {
    pub(super) limits: &'a Limits,
    pub(super) bounds: &'a Bounds,
    pub(super) names: &'a [String],
    pub(super) rows: &'a [Named],
    pub(super) norms: &'a [(&'static str, f64)],
    /// What every weight may be.
    pub(super) of_assets: Vec<(f64, f64)>,
}

impl Given<'_> {
    /// A clash by the names of its limits.
    pub(super) fn explained(&self, clash: &Clash) -> LimitsError {
        match clash {
            Clash::Rows { involved, relaxed, bounds } => {
                let mut limits = self.rows_named(involved);
                // Its bounds take part, unless its sum has named it.
                if self.bounds.constraint != Constraint::None && !self.has_budget(involved) {
                    limits.push(self.constraint());
                }
                let changes = relaxed.iter().map(|&(k, by)| self.of_row(k, by));
                let mut changes: Vec<String> = changes.collect();
                changes.extend(self.of_assets(bounds));
                self.clash(limits, changes.join(" and "))
            }
            Clash::Norm { index, needed, involved } => {
                let (name, limit) = self.norms[*index];
                let mut limits = self.rows_named(involved);
                limits.push(format!("`{name}={limit}`"));
                let needed = outward(needed * (1.0 + ROOM), true);
                self.clash(limits, format!("`{name}` must be at least {needed}"))
            }
            // A kind that is not known here yet.
            _ => self.clash(
                self.rows.iter().map(|row| row.name.clone()).collect(),
                "relax one of them".to_owned(),
            ),
        }
    }

    fn clash(&self, mut limits: Vec<String>, remedy: String) -> LimitsError {
        let is_limited = |limit: &super::AssetLimit| limit.lower.or(limit.upper).is_some();
        if self.limits.assets.iter().any(is_limited) {
            limits.push("the limits of single assets".to_owned());
        }
        LimitsError::Clash { limits, remedy }
    }

    fn rows_named(&self, involved: &[usize]) -> Vec<String> {
        involved.iter().map(|&k| self.rows[k].name.clone()).collect()
    }

    fn constraint(&self) -> String {
        format!("`constraint={}`", self.bounds.constraint)
    }

    /// Whether one of the rows names the constraint already.
    fn has_budget(&self, involved: &[usize]) -> bool {
        involved.iter().any(|&k| self.rows[k].name.starts_with("`constraint="))
    }

    /// Whether the bounds of an asset are its own.
    fn has_own(&self, l: usize) -> bool {
        let own = |limit: &super::AssetLimit| {
            limit.asset == self.names[l] && limit.lower.or(limit.upper).is_some()
        };
        self.limits.assets.iter().any(own)
    }

    fn of_row(&self, k: usize, by: f64) -> String {
        let Named { row, ends: [lower, upper], .. } = &self.rows[k];
        let (verb, name, end) =
            if by > 0.0 { ("raise", upper, row.hi) } else { ("lower", lower, row.lo) };
        let to = end + by * (1.0 + ROOM) + by.signum() * 1e-9 * end.abs();
        format!("{verb} {name} to {}", outward(to, by > 0.0))
    }

    /// What must happen to the bounds of assets: those that rise and those that fall.
    fn of_assets(&self, bounds: &[(usize, f64)]) -> Vec<String> {
        let mut words = Vec::new();
        for rises in [true, false] {
            let moved: Vec<&(usize, f64)> =
                bounds.iter().filter(|(_, by)| (*by > 0.0) == rises).collect();
            let (verb, end) = if rises { ("raise", "upper") } else { ("lower", "lower") };
            if moved.len() > MOST_ASSETS {
                let sum: f64 = moved.iter().map(|(_, by)| by.abs()).sum();
                let sum = outward(sum * (1.0 + ROOM), true);
                words.push(format!(
                    "{verb} the {end} limits of {} assets by {sum} in all",
                    moved.len()
                ));
                continue;
            }
            words.extend(moved.into_iter().map(|&(l, by)| {
                let (lo, hi) = self.of_assets[l];
                let end_now = if rises { hi } else { lo };
                let to = end_now + by * (1.0 + ROOM) + by.signum() * 1e-9 * end_now.abs();
                let whose = if self.has_own(l) {
                    String::new()
                } else {
                    format!(" (that of {})", self.constraint())
                };
                let to = outward(to, rises);
                format!("{verb} the {end} limit of {} to {to}{whose}", self.names[l])
            }));
        }
        words
    }
}

/// A number with few digits that is not below the given one, or not above it.
fn outward(x: f64, up: bool) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let unit = 10.0_f64.powi(x.abs().log10().floor() as i32 + 1 - DIGITS);
    let steps = if up { (x / unit).ceil() } else { (x / unit).floor() };
    significant(steps * unit, DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relaxed_limit_is_rounded_to_the_side_that_helps() {
        for x in [0.000_123_456_78, 1.0, 0.999_999_99, 123_456.78, -0.042_424_242_4, 3e-12, 7e8] {
            let [above, below] = [true, false].map(|up| outward(x, up));
            let [a, b] = [&above, &below].map(|text| text.parse::<f64>().expect("a number"));
            assert!(b <= x && x <= a, "{below} {x} {above}");
            assert!(a - b <= 2e-5 * x.abs(), "{below} {x} {above}");
        }
    }
}
