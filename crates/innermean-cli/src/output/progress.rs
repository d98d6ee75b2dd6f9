//! A progress bar on standard error, for people who wait.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use innermean::{Observer, Record, Stop};

use crate::output::human;

/// A run that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// Ticks come every few milliseconds; eyes do not.
const REFRESH: Duration = Duration::from_millis(100);
/// The bar counts thousandths.
const WHOLE: u64 = 1000;
/// How far, and where; each line fits into 80 columns.
const TEMPLATE: &str = "{spinner} [{bar:40}] {percent:>3}% {prefix}\n  {wide_msg}";

/// Shows that work of unknown length is going on, if standard error is a terminal.
pub(crate) fn spinner(message: &str) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner().with_message(message.to_owned());
    spinner.enable_steady_tick(REFRESH);
    spinner
}

/// Shows how far a run has come, if standard error is a terminal.
pub(crate) struct Progress<'a> {
    stop: &'a Stop,
    begun: Instant,
    shown: Instant,
    visible: bool,
    bar: Option<ProgressBar>,
    /// The first measure of optimality: where the way to the tolerance begins.
    first: Option<f64>,
    /// The furthest that the bar has come: it never goes back, though the measure may.
    furthest: f64,
}

impl<'a> Progress<'a> {
    /// Shows nothing yet.
    pub(crate) fn new(stop: &'a Stop) -> Self {
        let now = Instant::now();
        let visible = stderr().is_terminal();
        Progress { stop, begun: now, shown: now, visible, bar: None, first: None, furthest: 0.0 }
    }

    /// Removes the bar, so that the answer is printed in its place.
    pub(crate) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, record: &Record) {
        self.shown = Instant::now();
        let elapsed = self.begun.elapsed().as_secs_f64();
        // The limit on time is one on all of it.
        let mut timed = *record;
        timed.seconds = elapsed;
        self.furthest = self.furthest.max(fraction(self.stop, self.first, &timed)).min(1.0);
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(WHOLE);
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        bar.set_prefix(time_left(self.furthest, elapsed).unwrap_or_default());
        bar.set_message(message(record));
        bar.set_position((self.furthest * WHOLE as f64) as u64);
        bar.tick();
    }
}

impl Observer for Progress<'_> {
    fn record(&mut self, record: &Record, _: &[f64]) -> ControlFlow<()> {
        self.first = self.first.or(record.optimality.filter(|o| o.is_finite() && *o > 0.0));
        ControlFlow::Continue(())
    }

    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        if self.visible && self.begun.elapsed() > PATIENCE && self.shown.elapsed() > REFRESH {
            self.show(record);
        }
        ControlFlow::Continue(())
    }
}

/// How much of the way is done: towards the tolerance, in orders of magnitude, or towards a limit,
/// if that is nearer.
fn fraction(stop: &Stop, first: Option<f64>, record: &Record) -> f64 {
    let orders = match (first, record.optimality, stop.tolerance) {
        (Some(first), Some(now), Some(tolerance))
            if now.is_finite() && now < first && tolerance < first =>
        {
            (first / now).ln() / (first / tolerance).ln()
        }
        _ => 0.0,
    };
    let part = |used: f64, most: Option<f64>| most.map_or(0.0, |most| used / most);
    orders
        .max(part(record.outer as f64, stop.max_outer.map(|most| most as f64)))
        .max(part(record.calls.total() as f64, stop.max_calls.map(|most| most as f64)))
        .max(part(record.seconds, stop.max_seconds))
}

fn message(record: &Record) -> String {
    let name = if record.measure.is_gap() { "gap" } else { "stationarity" };
    let known = record.optimality.filter(|o| o.is_finite());
    let optimality = known.map_or(String::new(), |o| format!(", {name} {o:.1e}"));
    let calls = record.calls.total();
    let pace = if record.seconds > 0.0 { (calls as f64 / record.seconds) as u64 } else { 0 };
    format!(
        "objective {}{optimality}, {} calls, {} a second",
        human::significant(record.objective, 7),
        human::rounded_count(calls),
        human::rounded_count(pace),
    )
}

/// As long again as the way so far has taken for its share, in words; nothing while that would be a
/// guess.
fn time_left(share: f64, elapsed: f64) -> Option<String> {
    (share > 0.02).then(|| format!("about {} left", span(elapsed * (1.0 - share) / share)))
}

/// Seconds in words.
pub(crate) fn span(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{:.1} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_share_done() {
        assert_eq!(time_left(0.25, 10.0).as_deref(), Some("about 30 s left"));
        assert_eq!(time_left(0.5, 600.0).as_deref(), Some("about 10 minutes left"));
        assert_eq!(time_left(0.1, 3600.0).as_deref(), Some("about 9.0 hours left"));
        assert_eq!(time_left(0.0, 10.0), None);
    }

    #[test]
    fn the_nearest_end_counts() {
        let stop = Stop { max_outer: Some(100), tolerance: Some(1e-6), ..Stop::default() };
        let mut record = Record::default();
        record.outer = 25;
        record.optimality = Some(1e-3);
        assert!((fraction(&stop, Some(1.0), &record) - 0.5).abs() < 1e-12);
        // A measure that is worse than at first, or none, leaves the outer iterations.
        assert_eq!(fraction(&stop, Some(1e-4), &record), 0.25);
        assert_eq!(fraction(&stop, None, &record), 0.25);
    }
}
