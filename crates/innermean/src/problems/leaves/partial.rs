//! What a pass over a leaf comes to, and how it travels.

use crate::model::setting::InvalidSetting;

/// Sums over a leaf, or over neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {
    /// The number of the first leaf.
    pub first: u64,
    /// How many leaves have been added up.
    pub count: u64,
    /// As [`Want`](super::Want) says.
    pub sums: Vec<f64>,
    /// Groups that lie in several leaves, in the order of their rows.
    pub open: Vec<Open>,
}

/// The rows of a group in a leaf that does not hold all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// The number of the group.
    pub group: u64,
    /// Its rows here.
    pub rows: u64,
    /// Its label.
    pub label: f64,
    /// The sum of their values, before the label is taken off.
    pub value: f64,
    /// The sum of their derivatives; in a survey, that of the squares of each column.
    pub jacobian: Vec<f64>,
}

/// Numbers before the sums, and before a Jacobian.
const HEAD: usize = 4;
const OPEN: usize = 4;

impl Partial {
    /// All of it as numbers; counts are exact up to 2^53.
    pub fn to_numbers(&self) -> Vec<f64> {
        let (sums, open) = (self.sums.len(), self.open.len());
        let mut out = vec![self.first as f64, self.count as f64, sums as f64, open as f64];
        out.extend(&self.sums);
        for Open { group, rows, label, value, jacobian } in &self.open {
            out.extend([*group as f64, *rows as f64, *label, *value]);
            out.extend(jacobian);
        }
        out
    }

    /// Back from [`Self::to_numbers`] of several, one after the other, of a problem with d
    /// coordinates.
    ///
    /// # Errors
    /// If the numbers are not such.
    pub fn from_numbers(d: usize, numbers: &[f64]) -> Result<Vec<Self>, InvalidSetting> {
        let (mut out, mut rest) = (Vec::new(), numbers);
        while !rest.is_empty() {
            let partial = Self::first_of(d, &mut rest).ok_or_else(|| {
                let given = format!("{} numbers", numbers.len());
                InvalidSetting::new("partial sums", given, "those of a pass over leaves")
            })?;
            out.push(partial);
        }
        Ok(out)
    }

    fn first_of(d: usize, rest: &mut &[f64]) -> Option<Self> {
        let head = take(rest, HEAD)?;
        let [first, count, sums, open] = [0, 1, 2, 3].map(|k| whole(head[k]));
        let sums = take(rest, usize::try_from(sums?).ok()?)?.to_vec();
        let mut groups = Vec::new();
        for _ in 0..open? {
            let [group, rows, label, value] = take(rest, OPEN)? else { return None };
            let jacobian = take(rest, d)?.to_vec();
            let (group, rows) = (whole(*group)?, whole(*rows)?);
            groups.push(Open { group, rows, label: *label, value: *value, jacobian });
        }
        Some(Partial { first: first?, count: count?, sums, open: groups })
    }
}

/// The next `count` numbers, if there are as many.
fn take<'a>(rest: &mut &'a [f64], count: usize) -> Option<&'a [f64]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn whole(x: f64) -> Option<u64> {
    (x >= 0.0 && x <= 2.0_f64.powi(53) && x.fract() == 0.0).then_some(x as u64)
}
