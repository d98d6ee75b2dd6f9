//! Frontier and walk as tables for terminals and as charts for pages.

use innermean_apps::portfolio::{
    Frontier, FrontierPoint, Held, PortfolioAnswer, PortfolioTask, Risk, TrackRecord, Walk, Window,
};
use innermean_data::Returns;

use super::story::{FALL, GainAxis, Timeline, falls};
use super::study::Study;
use crate::flags::spelling::spelled;
use crate::output::grid::Grid;
use crate::output::human::{grouped, significant};
use crate::report::{Chart, Series, Shape};
use crate::run::page::{Page, Part};

/// A frontier of more assets than this is drawn without them.
const MOST_ASSETS: usize = 60;
/// Up to this many assets have their names beside them.
const MOST_NAMES: usize = 12;
/// Rows of a table on a terminal; JSON and pages have all.
const MOST_WINDOWS: usize = 40;

/// Puts what was computed beside the answer on its page.
pub(super) fn describe<'a>(
    study: &'a Study,
    answer: &PortfolioAnswer,
    task: &PortfolioTask,
    returns: &'a Returns,
    page: &mut Page<'a>,
) {
    if let Some(frontier) = &study.frontier {
        page.parts.push(Part::Picture(frontier_chart(frontier, answer, task)));
        page.parts.push(Part::Table(frontier_table(frontier, answer)));
    }
    if let Some(walk) = &study.walk_forward {
        let dates = returns.dates.as_deref();
        page.parts.extend(walk_charts(walk, returns).map(Part::Picture));
        page.parts.push(Part::Table(walk_table(walk, dates)));
        walk_facts(walk, page);
    }
}

fn frontier_table(frontier: &Frontier, answer: &PortfolioAnswer) -> Grid {
    let measure = frontier.risk_measure;
    let cells = |point: &FrontierPoint| {
        let held = point.theta.iter().filter(|x| x.abs() > 1e-9).count();
        let mut cells = vec![significant(measure.in_units(point.risk), 6)];
        cells.push(significant(point.expected_return, 6));
        if let Some(annual) = &answer.annual {
            let periods = annual.periods;
            cells.push(significant(periods * point.expected_return, 6));
        }
        cells.push(significant(point.risk_aversion, 4));
        cells.push(held.to_string());
        cells.push(point.gap.map_or("none".to_owned(), |gap| format!("{gap:.1e}")));
        cells
    };
    let mut header = vec![risk_names(measure)[0].to_owned(), "return".to_owned()];
    header.extend(answer.annual.map(|_| "by the year".to_owned()));
    header.extend(["risk aversion", "assets", "proven within"].map(str::to_owned));
    let numbers = 0..header.len();
    let open = if frontier.is_open {
        " Nothing bounds the weights: it goes on beyond three times the least risk."
    } else {
        ""
    };
    Grid {
        title: format!("Frontier of {} portfolios", frontier.points.len()),
        header,
        rows: frontier.points.iter().map(cells).collect(),
        numbers,
        note: Some(format!(
            "Proven: at its risk, no portfolio earns more than so much more.{open}"
        )),
    }
}

/// What is compared with a return, in a few letters and in words.
fn risk_names(measure: Risk) -> [&'static str; 2] {
    match measure {
        Risk::Variance => ["std. deviation", "standard deviation"],
        Risk::Semivariance => ["semideviation", "root of the semivariance"],
        other => [other.title(), other.title()],
    }
}

fn frontier_chart(frontier: &Frontier, answer: &PortfolioAnswer, task: &PortfolioTask) -> Chart {
    let measure = frontier.risk_measure;
    let place = |risk: f64, earned: f64| (measure.in_units(risk), earned);
    let points = frontier.points.iter().map(|point| place(point.risk, point.expected_return));
    let series = |name: &str, shape: Shape, color: usize, points: Vec<(f64, f64)>| Series {
        name: name.to_owned(),
        shape,
        color,
        points,
        labels: Vec::new(),
    };
    let mut all = vec![series("frontier", Shape::Dotted, 0, points.collect())];
    if task.portfolio().mean_returns().len() <= MOST_ASSETS {
        let (mut assets, mut names) = (Vec::new(), Vec::new());
        for (name, risk, earned) in task.assets() {
            assets.push(place(risk, earned));
            names.push(name.to_owned());
        }
        let mut dots = series("single assets", Shape::Dots, 7, assets);
        if names.len() <= MOST_NAMES {
            dots.labels = names;
        }
        all.push(dots);
    }
    let own = place(answer.risk, answer.expected_return);
    all.push(series("the answer", Shape::Mark, 1, vec![own]));
    Chart {
        title: "Frontier".to_owned(),
        x: risk_names(measure)[1].to_owned(),
        y: "expected return per period".to_owned(),
        series: all,
        ..Chart::default()
    }
}

/// A period by its date, or by its number from 1.
fn period(k: usize, dates: Option<&[String]>) -> String {
    dates.and_then(|dates| dates.get(k)).cloned().unwrap_or_else(|| grouped(k as u64 + 1))
}

fn walk_table(walk: &Walk, dates: Option<&[String]>) -> Grid {
    let cells = |window: &Window| {
        let what = match (window.weights, &window.reason) {
            (Held::Kept, Some(reason)) => format!("kept: {}", spelled(reason)),
            _ => String::new(),
        };
        vec![
            period(window.held_from, dates),
            period(window.held_to - 1, dates),
            window.assets.to_string(),
            significant(window.realised_return, 4),
            significant(window.standard_deviation, 4),
            significant(window.turnover, 4),
            significant(window.cost, 3),
            what,
        ]
    };
    let count = walk.windows.len();
    // The first, the last, and those that failed are the ones to look at.
    let is_shown = |k: usize| {
        count <= MOST_WINDOWS
            || k < MOST_WINDOWS / 4
            || k + MOST_WINDOWS / 4 >= count
            || (walk.windows[k].weights == Held::Kept && walk.kept <= MOST_WINDOWS)
    };
    let shown: Vec<&Window> =
        (0..count).filter(|&k| is_shown(k)).map(|k| &walk.windows[k]).collect();
    let note = (shown.len() < count)
        .then(|| format!("{} of {} windows; --json has all.", shown.len(), grouped(count as u64)));
    let header = ["held from", "to", "assets", "return", "std. deviation", "turnover", "cost", ""];
    Grid {
        title: "Out of sample".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: shown.into_iter().map(cells).collect(),
        numbers: 2..7,
        note,
    }
}

fn walk_facts(walk: &Walk, page: &mut Page<'_>) {
    let facts = &mut page.facts;
    let unit = walk.unit;
    facts.line(
        "out of sample",
        &format!(
            "return {} per period, standard deviation {}, Sharpe ratio {} over {} periods",
            significant(walk.mean_return, 6),
            significant(walk.standard_deviation, 6),
            significant(walk.sharpe_ratio, 4),
            grouped(walk.returns.len() as u64)
        ),
    );
    if let Some(annual) = &walk.annual {
        facts.line(
            "",
            &format!(
                "by the year: return {}, standard deviation {}, Sharpe ratio {}",
                significant(annual.expected_return, 6),
                significant(annual.standard_deviation, 6),
                significant(annual.sharpe_ratio, 4)
            ),
        );
    }
    facts.line(
        "",
        &format!(
            "all together {}, largest fall {}, turnover {} a window, costs {} (returns taken as \
             {unit}, --unit)",
            significant(walk.total_return, 6),
            significant(walk.largest_drawdown, 4),
            significant(walk.mean_turnover, 4),
            significant(walk.cost, 4)
        ),
    );
    if walk.kept > 0 {
        let kept = grouped(walk.kept as u64);
        facts.line("", &format!("windows whose fit failed, with the weights kept: {kept}"));
    }
    if walk.missing > 0 {
        let missing = grouped(walk.missing as u64);
        facts.line("", &format!("returns missing while an asset was held, taken as 0: {missing}"));
    }
}

/// Wealth, falls and turnover.
fn walk_charts(walk: &Walk, returns: &Returns) -> [Chart; 3] {
    let unit = walk.unit.as_fraction();
    let record = TrackRecord::new(walk.returns.iter().map(|x| unit * x).collect());
    let axis = GainAxis::new(std::iter::once(&record));
    let chart = |title: &str, y: &str, shape: Shape, color: usize, points: Vec<(f64, f64)>| Chart {
        title: title.to_owned(),
        x: "period".to_owned(),
        y: y.to_owned(),
        series: vec![Series { name: String::new(), shape, color, points, labels: Vec::new() }],
        from_zero: true,
        ..Chart::default()
    };
    let turnover =
        walk.windows.iter().enumerate().map(|(k, window)| ((k + 1) as f64, window.turnover));
    let gains = axis.points(&record);
    let mut charts = [
        chart("Return out of sample, costs taken off", "", Shape::Line, 0, gains),
        chart("Drawdown out of sample", FALL, Shape::Area, 1, falls(&record)),
        chart("Turnover by window", "turnover", Shape::Bars, 2, turnover.collect()),
    ];
    axis.label(&mut charts[0]);
    let rows = walk.windows.iter().flat_map(|window| window.held_from..window.held_to);
    let timeline = Timeline::new(returns, &rows.collect::<Vec<usize>>());
    for chart in &mut charts[..2] {
        (chart.names, chart.years) = (timeline.names.clone(), timeline.years.clone());
    }
    // The first window is at 1, as the first period of a timeline is.
    let begins: Vec<usize> = walk.windows.iter().map(|window| window.held_from).collect();
    let Timeline { names, years } = Timeline::new(returns, &begins);
    charts[2].years = years.into_iter().map(|(before, year)| (before + 1.0, year)).collect();
    let window = if names.is_empty() { "window" } else { "window, by its first period" };
    window.clone_into(&mut charts[2].x);
    charts[2].names = names;
    charts
}
