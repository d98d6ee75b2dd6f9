//! The answer for people, on a terminal and on a page.

use innermean::Solution;
use innermean_apps::run::inference::Inference;

use crate::output::estimates;
use crate::output::grid::Grid;
use crate::output::human::{self, Facts};
use crate::output::named_numbers::{Beside, Heading, NamedNumbers};
use crate::report::Chart;
use crate::run::digits::Known;

/// The answer for people: tables first, then labelled lines.
#[derive(Default)]
pub(crate) struct Page<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) facts: Facts,
    /// What is known of the digits of theta.
    pub(crate) known: Known,
    /// What makes the answer doubtful, in whole sentences.
    pub(crate) warnings: Vec<String>,
    pub(super) theta: &'a [f64],
}

/// A part of an answer.
pub(crate) enum Part<'a> {
    /// Numbers with names, to be seen as bars.
    Numbers(NamedNumbers<'a>),
    Table(Grid),
    /// The same under a title, for pages alone.
    Bars(String, NamedNumbers<'a>),
    /// For pages alone.
    Picture(Chart),
}

impl<'a> Page<'a> {
    /// One more table of numbers with names.
    pub(crate) fn numbers(&mut self, heading: Heading, names: &'a [String], numbers: &'a [f64]) {
        self.compared(heading, names, numbers, None);
    }

    /// The same beside others on a page.
    pub(crate) fn compared(
        &mut self,
        heading: Heading,
        names: &'a [String],
        numbers: &'a [f64],
        beside: Option<Beside<'a>>,
    ) {
        let error = self.known.error_of(numbers, self.theta);
        self.parts.push(Part::Numbers(NamedNumbers {
            heading,
            names,
            numbers,
            error,
            intervals: &[],
            has_table: false,
            beside,
        }));
    }

    /// What makes the answer doubtful, beside what was known before the run. Where no finite theta
    /// is best, or many are, no more than the size of theta is shown.
    pub(super) fn warn(&mut self, own: Option<&str>, doubts: &[String], solution: &Solution) {
        if own.is_some() || !(doubts.is_empty() || solution.certificate.measure.is_gap()) {
            self.known.forget(&solution.theta);
        }
        let own = own.map(str::to_owned).into_iter();
        self.warnings = own.chain(self.known.warning.clone()).collect();
    }

    /// Standard errors and intervals of the numbers, which then need no table of their own on a
    /// terminal.
    pub(super) fn estimates(&mut self, of: &[(&[String], &'a Inference)]) {
        let mut after = 0;
        for (names, found) in of {
            let later = self.parts[after..].iter_mut().enumerate();
            let mut numbers = later.filter_map(|(k, part)| match part {
                Part::Numbers(numbers) => Some((k, numbers)),
                Part::Table(_) | Part::Bars(..) | Part::Picture(_) => None,
            });
            let Some((place, numbers)) = numbers.next() else { return };
            after += place + 1;
            let formula = found.standard_errors.as_ref().map(|found| &found.intervals);
            let drawn = found.bootstrap.as_ref().map(|found| &found.intervals);
            // Not those of several classes, which are about their mean.
            if let Some(intervals) = formula.or(drawn)
                && found.estimates.starts_with(numbers.numbers)
            {
                numbers.intervals = intervals;
            }
            let tables = estimates::tables(numbers.heading, names, found);
            numbers.has_table = !tables.is_empty();
            let count = tables.len();
            self.parts.splice(after..after, tables.into_iter().map(Part::Table));
            after += count;
        }
    }

    /// The same of the mean of initial states.
    pub(super) fn initial_value(&mut self, found: &Inference) {
        let heading = Heading { name: "mean of", number: "value", sum: false };
        let tables = estimates::tables(heading, &["initial states".to_owned()], found);
        self.parts.extend(tables.into_iter().map(Part::Table));
    }

    /// For a terminal.
    pub(super) fn text(&self) -> String {
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Numbers(numbers) if numbers.has_table => None,
            Part::Numbers(numbers) => Some(numbers.text(human::width()) + "\n"),
            Part::Table(grid) => Some(grid.text() + "\n"),
            Part::Bars(..) | Part::Picture(_) => None,
        });
        let warnings = self.warnings.iter().map(|text| human::paragraph("warning:", text));
        let mut above = warnings.collect::<String>();
        if !above.is_empty() {
            above.push('\n');
        }
        above + &parts.collect::<String>() + &self.facts.text()
    }
}
