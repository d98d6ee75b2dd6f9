//! A line for the method that is running, on standard error.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use innermean::{Observer, Record};

use crate::output::human;

const REFRESH: Duration = Duration::from_millis(100);

/// Shows where a run stands, if standard error is a terminal; what is done stays as a line.
pub(super) struct Line {
    bar: Option<ProgressBar>,
    shown: Instant,
    name: String,
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
        Line { bar, shown: Instant::now(), name: String::new(), optimum: 0.0 }
    }

    /// A run begins.
    pub(super) fn begin(&mut self, name: &str, optimum: f64) {
        name.clone_into(&mut self.name);
        self.optimum = optimum;
        self.show("");
    }

    /// A run has ended.
    pub(super) fn end(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.println(format!("{}: {text}", self.name));
        }
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
