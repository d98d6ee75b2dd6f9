//! The answer on a page: what contributes to its risk, and what it did over the periods of the
//! file.

use innermean_apps::portfolio::{
    Growth, PortfolioTask, Risk, RiskContributions, TrackRecord, Unit,
};
use innermean_data::Returns;

use crate::output::human::{grouped, significant};
use crate::output::named_numbers::{Beside, Heading, NamedNumbers};
use crate::report::{Chart, Series, Shape, capital};
use crate::run::page::{Page, Part};

/// From this ratio of the largest to the least value on, equal ratios are drawn equally far.
const WIDE_RANGE: f64 = 8.0;

/// How falls are called along their axis.
pub(super) const FALL: &str = "fall from the highest, percent";

/// How gains are drawn: in percent, or as the value of 1 where they are very different.
pub(super) struct GainAxis {
    in_ratios: bool,
}

impl GainAxis {
    pub(super) fn new<'r>(records: impl Iterator<Item = &'r TrackRecord>) -> Self {
        let values = records.flat_map(|record| &record.cumulative).map(|gained| 1.0 + gained);
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) = values
            .fold((1.0_f64, 1.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        GainAxis { in_ratios: most > WIDE_RANGE * least }
    }

    /// From before the first period on.
    pub(super) fn points(&self, record: &TrackRecord) -> Vec<(f64, f64)> {
        let drawn = |gained: f64| if self.in_ratios { 1.0 + gained } else { 100.0 * gained };
        let all = [0.0].into_iter().chain(record.cumulative.iter().copied()).enumerate();
        all.map(|(k, gained)| (k as f64, drawn(gained))).collect()
    }

    pub(super) fn label(&self, chart: &mut Chart) {
        chart.in_ratios = self.in_ratios;
        let label = if self.in_ratios { "value of 1, log scale" } else { "return in percent" };
        label.clone_into(&mut chart.y);
    }
}

/// From before the first period on, in percent.
pub(super) fn falls(record: &TrackRecord) -> Vec<(f64, f64)> {
    let all = [0.0].into_iter().chain(record.drawdown.iter().copied()).enumerate();
    all.map(|(k, fall)| (k as f64, 100.0 * fall)).collect()
}

/// What is drawn of an answer.
pub(super) struct Story {
    risk: Risk,
    /// Whether the risk is that of the difference to a benchmark.
    is_compared: bool,
    contributions: Option<Contributions>,
    /// The answer, and what it is compared with.
    records: Vec<(String, TrackRecord)>,
    growth: Growth,
    timeline: Timeline,
}

/// Parts of the risk by name.
struct Contributions {
    names: Vec<String>,
    parts: Vec<f64>,
    /// The weights, where they are parts of a whole as well.
    weights: Vec<f64>,
}

/// Names along an axis of periods, on which 0 is before the first of them.
#[derive(Default)]
pub(super) struct Timeline {
    pub(super) names: Vec<String>,
    pub(super) years: Vec<(f64, u32)>,
}

impl Timeline {
    /// Of some rows of the file.
    pub(super) fn new(returns: &Returns, rows: &[usize]) -> Self {
        let (Some(dates), Some(&first)) = (&returns.dates, rows.first()) else {
            return Timeline::default();
        };
        let before = first.checked_sub(1).and_then(|row| dates.get(row).cloned());
        let own = rows.iter().map(|&row| dates.get(row).cloned().unwrap_or_default());
        let names = [before.unwrap_or_else(|| "start".to_owned())].into_iter().chain(own).collect();
        let years = returns.years().unwrap_or_default();
        let year = |row: usize| years.get(row).copied().unwrap_or(0);
        let turns = (1..rows.len()).filter(|&k| year(rows[k - 1]) != year(rows[k]));
        // A year begins where the one before ends.
        let years = turns.map(|k| (k as f64, year(rows[k]))).collect();
        Timeline { names, years }
    }
}

impl Story {
    pub(super) fn new(
        task: &PortfolioTask,
        theta: &[f64],
        returns: &Returns,
        (unit, are_logs): (Unit, bool),
    ) -> Self {
        let growth = task.growth(unit, are_logs);
        let current = task.current().and_then(|held| task.track_record(held, growth));
        let benchmark = task.benchmark().zip(task.benchmark_record(growth));
        let own = task.track_record(theta, growth).map(|record| ("the answer".to_owned(), record));
        let current = current.map(|record| ("current weights".to_owned(), record));
        let benchmark = benchmark.map(|(name, record)| (name.to_owned(), record));
        let mut rows: Vec<usize> = task.counted_periods().collect();
        if let Some(dates) = &returns.dates {
            // The last ones of the file, after a walk.
            let all = rows.last().map_or(0, |last| last + 1);
            let before = dates.len().saturating_sub(all);
            for row in &mut rows {
                *row += before;
            }
        }
        Story {
            risk: task.settings().risk,
            is_compared: task.benchmark().is_some(),
            contributions: Contributions::new(task, theta, &returns.names),
            records: own.into_iter().chain(current).chain(benchmark).collect(),
            growth,
            timeline: Timeline::new(returns, &rows),
        }
    }

    /// Puts it on the page.
    pub(super) fn describe<'a>(&'a self, page: &mut Page<'a>) {
        if let Some(Contributions { names, parts, weights }) = &self.contributions {
            let of_what = if self.is_compared { " of the difference" } else { "" };
            let risk = self.risk.title();
            let title = format!("Contribution of each asset to the {risk}{of_what}");
            let heading = Heading { name: "asset", number: "part", sum: true };
            let beside = Beside { numbers: weights, words: "the weight", difference: None };
            page.parts.push(Part::Bars(
                title,
                NamedNumbers {
                    heading,
                    names,
                    numbers: parts,
                    // More than four decimals of a part say nothing.
                    error: 1e-5,
                    intervals: &[],
                    has_table: true,
                    beside: (!weights.is_empty()).then_some(beside),
                },
            ));
        }
        if !self.records.is_empty() {
            page.parts.extend([self.returns_chart(), self.drawdown_chart()].map(Part::Picture));
        }
    }

    fn returns_chart(&self) -> Chart {
        let records = || self.records.iter().map(|(_, record)| record);
        let axis = GainAxis::new(records());
        let of = |(name, record): &(String, TrackRecord)| {
            let total = 100.0 * record.total_return();
            let name = if self.records.len() > 1 { format!("{name}: ") } else { String::new() };
            format!("{name}{} percent in all", significant(total, 4))
        };
        let totals: Vec<String> = self.records.iter().map(of).collect();
        let unit = self.growth.unit;
        let logs = if self.growth.are_logs { "logarithms, as " } else { "" };
        let periods = records().next().map_or(0, |record| record.returns.len() as u64);
        let title = "Cumulative return in sample";
        let mut chart = self.chart(title, Shape::Line, |record| axis.points(record));
        axis.label(&mut chart);
        chart.note = format!(
            "The weights of the answer were fitted to these {} periods, and are restored at the \
             beginning of each at no cost; returns are taken as {logs}{unit} (--unit). {}.",
            grouped(periods),
            capital(&totals.join("; "))
        );
        chart
    }

    fn drawdown_chart(&self) -> Chart {
        let mut chart = self.chart("Drawdown in sample", Shape::Area, falls);
        FALL.clone_into(&mut chart.y);
        let largest = |(_, record): &(String, TrackRecord)| 100.0 * record.largest_drawdown();
        let largest = self.records.first().map_or(0.0, largest);
        chart.note = format!("The largest is {} percent.", significant(largest, 4));
        chart
    }

    /// The answer in a shape, and the others as lines.
    fn chart(
        &self,
        title: &str,
        shape: Shape,
        points: impl Fn(&TrackRecord) -> Vec<(f64, f64)>,
    ) -> Chart {
        let one = self.records.len() == 1;
        let series = self.records.iter().enumerate().map(|(k, (name, record))| Series {
            name: if one { String::new() } else { name.clone() },
            shape: if k == 0 { shape } else { Shape::Line },
            color: [0, 7, 1][k.min(2)],
            points: points(record),
            labels: Vec::new(),
        });
        Chart {
            title: title.to_owned(),
            x: "period".to_owned(),
            // The answer above the others.
            series: series.rev().collect(),
            from_zero: true,
            names: self.timeline.names.clone(),
            years: self.timeline.years.clone(),
            ..Chart::default()
        }
    }
}

impl Contributions {
    fn new(task: &PortfolioTask, theta: &[f64], names: &[String]) -> Option<Self> {
        let RiskContributions { assets: mut parts, benchmark, .. } =
            task.risk_contributions(theta)?;
        let mut names = names.to_vec();
        if let (Some(part), Some(name)) = (benchmark, task.benchmark()) {
            names.push(format!("{name} (benchmark)"));
            parts.push(part);
        }
        let is_whole = (theta.iter().sum::<f64>() - 1.0).abs() < 1e-6 && benchmark.is_none();
        Some(Contributions {
            names,
            parts,
            weights: if is_whole { theta.to_vec() } else { Vec::new() },
        })
    }
}
