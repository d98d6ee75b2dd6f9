//! A line for the method that is running, on standard error.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use innermean::{Observer, Record, Solution};
use innermean_apps::compare::Spectator;

use crate::output::human;

const REFRESH: Duration = Duration::from_millis(100);

/// Shows where a run is, if standard error is a terminal; what is done stays as a line.
pub(super) struct Line {
    bar: Option<ProgressBar>,
    shown: Instant,
    name: &'static str,
    optimum: f64,
}

impl Line {
    pub(super) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        Line { bar, shown: Instant::now(), name: "", optimum: 0.0 }
    }

    /// Takes the line away.
    pub(super) fn clear(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            self.shown = Instant::now();
            bar.set_message(format!("{}{text}", self.name));
            bar.tick();
        }
    }
}

impl Spectator for Line {
    fn begin(&mut self, method: &'static str, optimum: f64) {
        (self.name, self.optimum) = (method, optimum);
        self.show("");
    }

    fn end(&mut self, run: &Solution, gap: f64) {
        if let Some(bar) = &self.bar {
            bar.println(format!(
                "{}: gap {gap:.1e} after {} calls, {:.2} s, {}",
                self.name,
                human::rounded_count(run.calls.total()),
                run.seconds,
                run.status.title()
            ));
        }
    }
}

impl Observer for Line {
    fn tick(&mut self, record: &Record) -> ControlFlow<()> {
        if self.bar.is_some() && self.shown.elapsed() > REFRESH {
            let gap = (record.objective - self.optimum).max(0.0);
            let calls = human::rounded_count(record.calls.total());
            self.show(&format!(": gap {gap:.1e}, {calls} calls, {:.1} s", record.seconds));
        }
        ControlFlow::Continue(())
    }
}
