//! Prices: recognised by their size and their small steps, and made into returns.

use super::Panel;
use crate::error::ReadError;
use crate::tables::panel::error::PanelError;

/// Rows that are looked at; a table shows in them what it is.
pub(super) const SAMPLE: usize = 4000;
/// A column of fewer values could be anything.
const FEWEST: usize = 3;
/// The median of `|p_t / p_(t-1) - 1|` of prices is at most this, even from year to year.
const LARGEST_STEP: f64 = 0.2;
/// Returns of this size, all positive and all nearly equal, would be of 10 % or more in each
/// period, or of 1000 % as fractions.
const SURE_LEVEL: f64 = 10.0;
/// Below, a smooth positive column may be the return of cash, in percent or as a fraction.
const UNSURE_LEVEL: f64 = 0.5;
/// Between these two levels, steps are at most this and far smaller than the range: prices around
/// 1, such as exchange rates or wealth from 1 on.
const SMALL_STEP: f64 = 0.03;
/// `sum (v_t - v_(t-1))^2 / sum (v_t - mean)^2` is near 2 for values that are drawn afresh each
/// time, such as gross returns, and near 6/n for a random walk of n steps.
const SMOOTH: f64 = 0.3;
/// Rows that tell a random walk from draws.
const SMOOTH_ROWS: usize = 20;

/// What a column may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Prices, or another level that is no return.
    Sure,
    /// Prices, by how smooth they are.
    Smooth,
    /// Positive and smooth, and so small that it may be the return of cash.
    Unclear,
    /// Around 1 and drawn afresh each time: gross returns.
    Gross,
    /// Anything else: returns.
    No,
}

impl Level {
    /// Of a column without its gaps.
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len();
        let positive = values.iter().filter(|value| **value > 0.0).count();
        // One in a hundred may be a mistake in the file, or the price of oil in April 2020.
        if n < FEWEST || 100 * (n - positive) > n {
            return Self::No;
        }
        let steps = || values.windows(2).filter(|pair| pair[0] > 0.0 && pair[1] > 0.0);
        let step = median(steps().map(|pair| (pair[1] / pair[0] - 1.0).abs()).collect());
        let level = median(values.to_vec());
        if step > LARGEST_STEP || values.iter().all(|value| *value == values[0]) {
            return Self::No;
        }
        if level >= SURE_LEVEL {
            return Self::Sure;
        }
        if positive < n {
            return Self::No;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let moves: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        let smooth = n >= SMOOTH_ROWS && moves <= SMOOTH * spread;
        let around_one =
            (0.8..1.25).contains(&level) && values.iter().all(|x| (0.2..5.0).contains(x));
        match () {
            () if smooth && level >= UNSURE_LEVEL && step <= SMALL_STEP => Self::Smooth,
            () if smooth => Self::Unclear,
            () if around_one => Self::Gross,
            () => Self::No,
        }
    }
}

/// The middle of some numbers, infinity of none.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    if numbers.is_empty() {
        return f64::INFINITY;
    }
    let middle = numbers.len() / 2;
    *numbers.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl Panel {
    /// What each column may be.
    pub(super) fn levels(&self) -> Vec<Level> {
        let rows = self.rows().min(SAMPLE);
        let level = |j: usize| {
            let first = self.column(j).take(rows.min(20)).filter(|x| *x <= 0.0).count();
            // Returns show with a few rows that they are no prices.
            if first > 1 {
                return Level::No;
            }
            let values: Vec<f64> = self.column(j).take(rows).filter(|x| !x.is_nan()).collect();
            Level::of(&values)
        };
        (0..self.names.len()).map(level).collect()
    }

    /// Refuses prices: all columns, or some among returns.
    pub(super) fn refuse_prices(&self) -> Result<(), ReadError> {
        let levels = self.levels();
        let is_price = |level: &Level| matches!(level, Level::Sure | Level::Smooth);
        let prices = levels.iter().filter(|level| is_price(level)).count();
        let others = levels.iter().filter(|level| !is_price(level) && **level != Level::Unclear);
        let file = self.source.clone();
        if prices > 0
            && prices > others.count()
            && let Some(j) = levels.iter().position(is_price)
        {
            let column = || self.column(j).filter(|x| *x > 0.0);
            let (low, high) = (column().fold(f64::MAX, f64::min), column().fold(0.0, f64::max));
            let name = self.names[j].clone();
            return Err(PanelError::Prices { file, name, low, high }.into());
        }
        let sure = self.names.iter().zip(&levels).filter(|(_, level)| **level == Level::Sure);
        let names: Vec<String> = sure.map(|(name, _)| name.clone()).collect();
        if names.is_empty() { Ok(()) } else { Err(PanelError::Levels { file, names }.into()) }
    }

    /// Returns of prices: the first row is lost, and so is a return beside a gap.
    pub(super) fn make_returns(
        &mut self,
        kind: &str,
        of: impl Fn(f64, f64) -> f64,
    ) -> Result<(), ReadError> {
        if let Some(at) = self.values.iter().position(|price| *price <= 0.0) {
            let place = self.place(at / self.width(), at % self.width());
            return Err(PanelError::NotAPrice { place, value: self.values[at] }.into());
        }
        let (rows, width) = (self.rows(), self.width());
        if rows < 3 {
            let (file, rows) = (self.source.clone(), rows - 1);
            return Err(PanelError::FewRows { file, rows }.into());
        }
        for at in (width..self.values.len()).rev() {
            self.values[at] = of(self.values[at], self.values[at - width]);
        }
        let kept: Vec<bool> = (0..rows).map(|row| row > 0).collect();
        self.keep_rows(&kept);
        self.notes.push(format!(
            "{kind} returns were made of {rows} rows of prices, as fractions: 0.01 is 1 %."
        ));
        // Two prices may be so far apart that their quotient is no number.
        match self.values.iter().position(|value| value.is_infinite()) {
            Some(at) => Err(ReadError::NotFinite {
                place: self.place(at / width, at % width),
                text: self.values[at].to_string(),
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::factor_model::generate_factor_model;

    /// Wealth from `start` on, with the returns of a generated asset times `scale`.
    fn walk(start: f64, scale: f64, rows: usize) -> Vec<f64> {
        let market = generate_factor_model(rows, 1, 3);
        let mut wealth = start;
        let grow = |x: &f64| {
            wealth *= 1.0 + scale * x / 100.0;
            wealth
        };
        market.values.iter().map(grow).collect()
    }

    #[test]
    fn prices_of_any_size_are_levels() {
        for start in [12.0, 100.0, 4000.0, 3e5] {
            assert_eq!(Level::of(&walk(start, 1.0, 10)), Level::Sure, "{start}");
        }
        for start in [0.9, 1.0, 2.5] {
            assert_eq!(Level::of(&walk(start, 0.5, 500)), Level::Smooth, "{start}");
        }
        assert_eq!(Level::of(&[100.0, 101.0, 99.5]), Level::Sure);
        let mut oil = walk(40.0, 2.0, 300);
        oil[200] = -37.6;
        assert_eq!(Level::of(&oil), Level::Sure);
    }

    #[test]
    fn returns_are_no_levels() {
        let market = generate_factor_model(500, 1, 5).values;
        assert_eq!(Level::of(&market), Level::No);
        let up: Vec<f64> = market.iter().map(|x| x.abs()).collect();
        assert_eq!(Level::of(&up), Level::No, "all positive, and up and down");
        let gross: Vec<f64> = market.iter().map(|x| 1.0 + x / 100.0).collect();
        assert_eq!(Level::of(&gross), Level::Gross);
        for scale in [1.0, 0.01] {
            // A rate of half a percent that moves slowly.
            let cash: Vec<f64> = walk(0.3, 1.0, 500).iter().map(|x| x * scale).collect();
            assert_eq!(Level::of(&cash), Level::Unclear, "{scale}");
        }
        assert_eq!(Level::of(&[5.0; 30]), Level::No, "a constant is judged elsewhere");
        assert_eq!(Level::of(&[50.0, 60.0]), Level::No, "too few");
    }
}
