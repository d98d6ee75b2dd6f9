//! B-splines: bases of smooth functions, as instruments and regressors.

use crate::model::setting::{InvalidSetting, all_finite};

/// Polynomials of some degree between knots, joined smoothly: a basis with one function more than
/// the degree and the number of interior knots together. Its functions are 0 or above between the
/// first and the last knot, and sum to 1; beyond them, the outer polynomials go on.
///
/// ```
/// use innermean::problems::moments::BSpline;
///
/// let basis = BSpline::new(1, 0.0, 2.0, vec![1.0])?;
/// assert_eq!(basis.row(0.5), [0.5, 0.5, 0.0]);
/// # Ok::<(), innermean::setting::InvalidSetting>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BSpline {
    degree: usize,
    /// The ends `degree + 1` times each.
    knots: Vec<f64>,
}

/// The largest degree.
const MOST_DEGREE: usize = 20;

impl BSpline {
    /// With knots at the ends, as often as the degree and once more, and the interior ones.
    ///
    /// # Errors
    /// Unless the knots are finite and rise from `low` to `high`, none of the interior ones more
    /// often than the degree plus 1, and the degree is 20 at most.
    pub fn new(
        degree: usize,
        low: f64,
        high: f64,
        interior: Vec<f64>,
    ) -> Result<Self, InvalidSetting> {
        if degree > MOST_DEGREE {
            let expected = format!("at most {MOST_DEGREE}");
            return Err(InvalidSetting::new("degree", degree.to_string(), expected));
        }
        let mut knots = vec![low; degree + 1];
        knots.extend(interior);
        knots.resize(knots.len() + degree + 1, high);
        let knots = all_finite("knots", knots)?;
        if let Some(k) = (degree + 1..knots.len()).find(|&k| knots[k - 1] > knots[k]) {
            let value = format!("{} before {}", knots[k - 1], knots[k]);
            return Err(InvalidSetting::new("knots", value, "rising knots between the ends"));
        }
        if let Some(k) = (0..knots.len() - degree - 1).find(|&k| knots[k] >= knots[k + degree + 1])
        {
            let value = format!("{} {} times or more", knots[k], degree + 2);
            return Err(InvalidSetting::new("knots", value, "fewer equal knots"));
        }
        Ok(BSpline { degree, knots })
    }

    /// With as many interior knots as given, at the quantiles of `values` that cut them into equal
    /// parts (linear between order statistics).
    ///
    /// # Errors
    /// As [`BSpline::new`]; also if there are no values, or if knots coincide because values
    /// are equal.
    pub fn at_quantiles(
        degree: usize,
        values: &[f64],
        interior: usize,
    ) -> Result<Self, InvalidSetting> {
        let mut sorted = all_finite("values", values.to_vec())?;
        sorted.sort_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
            return Err(InvalidSetting::new("values", "none", "at least two different ones"));
        };
        let quantile = |k: usize| {
            let at = (sorted.len() - 1) as f64 * k as f64 / (interior + 1) as f64;
            let below = at.floor() as usize;
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + at.fract() * (sorted[above] - sorted[below])
        };
        BSpline::new(degree, low, high, (1..=interior).map(quantile).collect())
    }

    /// The number of functions.
    pub fn count(&self) -> usize {
        self.knots.len() - self.degree - 1
    }

    /// All knots, the ends repeated.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// The values of all functions at x.
    pub fn row(&self, x: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.count()];
        self.write_row(x, &mut out);
        out
    }

    /// [`Self::row`] into `out`, by de Boor's recurrence:
    ///
    /// ```text
    /// B_{k,0}(x) = 1 if knot_k <= x < knot_{k+1}, else 0
    /// B_{k,p}(x) = (x - knot_k) / (knot_{k+p} - knot_k) B_{k,p-1}(x) + (knot_{k+p+1} - x) / (knot_{k+p+1} - knot_{k+1}) B_{k+1,p-1}(x)
    /// ```
    ///
    /// # Panics
    /// Unless `out` has room for all functions.
    pub fn write_row(&self, x: f64, out: &mut [f64]) {
        let (p, count) = (self.degree, self.count());
        assert_eq!(out.len(), count, "{count} functions");
        // knot_k <= x < knot_{k+1}, or the outer interval.
        let inner = &self.knots[p + 1..count];
        let k = p + inner.partition_point(|knot| *knot <= x);
        out.fill(0.0);
        // The functions k - q ..= k of degree q.
        let mut values = [0.0; MOST_DEGREE + 1];
        values[0] = 1.0;
        for q in 1..=p {
            let mut saved = 0.0;
            for (r, value) in values[..q].iter_mut().enumerate() {
                let (right, left) = (self.knots[k + r + 1], self.knots[k + 1 + r - q]);
                let share = *value / (right - left);
                *value = saved + (right - x) * share;
                saved = (x - left) * share;
            }
            values[q] = saved;
        }
        out[k - p..=k].copy_from_slice(&values[..=p]);
    }

    /// The rows of some values, one after the other.
    pub fn design(&self, values: &[f64]) -> Vec<f64> {
        let count = self.count();
        let mut rows = vec![0.0; values.len() * count];
        for (x, row) in values.iter().zip(rows.chunks_exact_mut(count)) {
            self.write_row(*x, row);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_sum_to_one_and_reproduce_lines() {
        let basis = BSpline::new(3, -1.0, 2.0, vec![-0.5, 0.0, 0.0, 1.2]).expect("rising knots");
        assert_eq!(basis.count(), 8);
        for x in [-1.0, -0.7, 0.0, 0.3, 1.2, 2.0, 2.5] {
            let row = basis.row(x);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            // Greville's abscissae: the coefficients of x itself.
            let knots = basis.knots();
            let line = |k: usize| row[k] * (knots[k + 1] + knots[k + 2] + knots[k + 3]) / 3.0;
            assert!(((0..8).map(line).sum::<f64>() - x).abs() < 1e-13, "at {x}");
        }
        assert_eq!(basis.row(-1.0)[0], 1.0);
        assert_eq!(basis.row(2.0)[7], 1.0);
    }

    #[test]
    fn knots_are_quantiles_and_bad_ones_are_refused() {
        let basis = BSpline::at_quantiles(2, &[4.0, 0.0, 1.0, 3.0, 2.0], 3).expect("knots");
        assert_eq!(basis.knots(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 4.0]);
        assert!(BSpline::at_quantiles(2, &[1.0; 9], 2).is_err());
        assert!(BSpline::at_quantiles(2, &[], 2).is_err());
        assert!(BSpline::new(3, 0.0, 1.0, vec![2.0]).is_err());
        assert!(BSpline::new(3, 0.0, 1.0, vec![f64::NAN]).is_err());
        assert!(BSpline::new(0, 0.0, 1.0, vec![0.5, 0.5]).is_err());
        assert!(BSpline::new(21, 0.0, 1.0, vec![]).is_err());
    }
}
