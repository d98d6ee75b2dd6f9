//! How a run went, in one line of bars.

use innermean::Record;

/// Bars of a line, at most: with the words it fits into 80 columns.
const WIDEST: usize = 32;
/// A run with fewer records has no course to show.
const FEWEST: usize = 4;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The measure of optimality from the first call to the last on a logarithmic scale, with the words
/// for it; None for a run with too few records.
pub(crate) fn convergence(trace: &[Record]) -> Option<String> {
    let known = |record: &Record| {
        let measure = record.optimality.filter(|measure| measure.is_finite() && *measure > 0.0)?;
        Some((record.calls.total(), measure))
    };
    let points: Vec<(u64, f64)> = trace.iter().filter_map(known).collect();
    let (&(_, first), &(_, last)) =
        points.first().zip(points.last()).filter(|_| points.len() >= FEWEST)?;
    let name =
        if trace.last()?.measure.is_gap() { "relative gap" } else { "relative stationarity" };
    Some(format!("{} {name} {first:.1e} to {last:.1e}", bars(&points)))
}

/// One bar for each equal share of the calls: the last measure known there.
fn bars(points: &[(u64, f64)]) -> String {
    let width = points.len().min(WIDEST);
    let (begin, end) = (points[0].0, points[points.len() - 1].0);
    let orders: Vec<f64> = points.iter().map(|(_, measure)| measure.log10()).collect();
    let least = orders.iter().copied().fold(f64::INFINITY, f64::min);
    let most = orders.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |order: f64| {
        let share = if most > least { (order - least) / (most - least) } else { 0.0 };
        BARS[((share * BARS.len() as f64) as usize).min(BARS.len() - 1)]
    };
    let bar = |column: usize| {
        let until = begin + ((end - begin) as f64 * column as f64 / (width - 1) as f64) as u64;
        let at = points.partition_point(|(calls, _)| *calls <= until).max(1) - 1;
        height(orders[at])
    };
    (0..width).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fall_with_the_orders_of_magnitude() {
        let points: Vec<(u64, f64)> = (0..8).map(|k| (100 * k, 0.1_f64.powi(k as i32))).collect();
        assert_eq!(bars(&points), "█▇▆▅▄▃▂▁");
    }

    #[test]
    fn a_long_run_is_one_line() {
        let points: Vec<(u64, f64)> = (0..1000).map(|k| (k, 1.0 / (1.0 + k as f64))).collect();
        let line = bars(&points);
        assert_eq!(line.chars().count(), WIDEST);
        assert!(line.starts_with('█') && line.ends_with('▁'), "{line}");
    }

    #[test]
    fn a_measure_that_stays_is_flat() {
        assert_eq!(bars(&[(0, 0.5), (1, 0.5), (2, 0.5), (3, 0.5)]), "▁▁▁▁");
    }
}
