//! Bounds that a row makes of those of the other coordinates: weights of 0 or more that add up to 1
//! are at most 1.

use super::Band;

/// A sum from which a term can be taken.
struct Others {
    finite: f64,
    infinite: usize,
    infinity: f64,
}

impl Others {
    fn of(terms: impl Iterator<Item = f64>) -> Self {
        let mut all = Others { finite: 0.0, infinite: 0, infinity: 0.0 };
        for term in terms {
            if term.is_finite() {
                all.finite += term;
            } else {
                (all.infinite, all.infinity) = (all.infinite + 1, term);
            }
        }
        all
    }

    fn without(&self, term: f64) -> f64 {
        match (self.infinite, term.is_finite()) {
            (0, _) => self.finite - term,
            (1, false) => self.finite,
            _ => self.infinity,
        }
    }
}

impl Band<'_> {
    /// Between which ends the row leaves each coordinate, where the others are between theirs.
    pub(crate) fn implied_ends(&self, ends: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let terms = |(a, (lo, hi)): (&f64, &(f64, f64))| match *a {
            a if a > 0.0 => (a * lo, a * hi),
            a if a < 0.0 => (a * hi, a * lo),
            _ => (0.0, 0.0),
        };
        // The least and the most that each term can be.
        let terms: Vec<(f64, f64)> = self.coefficients.iter().zip(ends).map(terms).collect();
        let least = Others::of(terms.iter().map(|term| term.0));
        let most = Others::of(terms.iter().map(|term| term.1));
        let left = |(a, (low, high)): (&f64, &(f64, f64))| {
            if *a == 0.0 {
                return (f64::NEG_INFINITY, f64::INFINITY);
            }
            let (low, high) =
                ((self.lo - most.without(*high)) / a, (self.hi - least.without(*low)) / a);
            if *a > 0.0 { (low, high) } else { (high, low) }
        };
        self.coefficients.iter().zip(&terms).map(left).collect()
    }
}
