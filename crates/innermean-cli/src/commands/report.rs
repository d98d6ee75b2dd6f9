//! `innermean report`: a page from stored traces.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use innermean::Status;

use innermean_data::visible;

use self::traces::{Folder, Trace, files, read_all};

use crate::output::grid::Grid;
use crate::output::human::{grouped, rounded_count, significant};
use crate::output::stdout;
use crate::report::{
    CALLS, Convergence, Course, EPOCHS, OutputFiles, Panel, Quantity, Report, SECONDS,
};

mod traces;

/// Make a page from stored traces
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_long_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    /// Files that --trace or --trace-dir have written, or folders of them; the traces of one folder
    /// are runs on one problem
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,

    /// The page
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    out: PathBuf,

    /// Write a picture as well, for papers and slides: .svg or .png
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

const LONG_ABOUT: &str = "\
Make a page from stored traces.

Every folder of traces becomes a panel, and every file a curve that has the name of the file, without -seedN. Curves show the gap to the optimum if all traces hold \
it, as those of `innermean compare --trace-dir` do, and otherwise the objective above the lowest of all runs on the same problem.";

const AFTER_HELP: &str = "\
Examples:
  innermean report run.jsonl
  innermean report traces/ --out comparison.html --plot comparison.svg
  innermean report traces/*/ --out all.html       # a panel for each folder

Exit codes: 0 written, 2 bad usage, input or output.";

/// Gaps whose calls are in the table.
const DECADES: [i32; 5] = [2, 4, 6, 8, 10];

/// Files that a page names.
const MOST_FILES: usize = 12;

/// Reads, and writes the page.
pub(crate) fn run(ReportArgs { traces, out, plot }: &ReportArgs) -> Result<Status> {
    let files = files(traces)?;
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let outputs = OutputFiles::check("--out", Some(out), plot.as_deref(), &inputs)?;
    let folders = read_all(&files)?;
    let report = report(&folders, &files);
    outputs.write(&report)?;
    let plot = plot.as_ref().map(|plot| format!(" and {}", plot.display())).unwrap_or_default();
    let written = format!("{}: written to {}{plot}", report.title, out.display());
    stdout::print(&format!("{}\n", visible(&written)))?;
    Ok(Status::TargetReached)
}

fn report(folders: &[Folder], files: &[PathBuf]) -> Report<'static> {
    let convergence = convergence(folders);
    let runs = files.len();
    let counted = |count: usize, word: &str| {
        format!("{} {word}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
    };
    let problems = if folders.len() > 1 {
        format!(" on {}", counted(folders.len(), "problem"))
    } else {
        String::new()
    };
    let points: usize =
        folders.iter().flat_map(|folder| &folder.traces).map(|trace| trace.calls.len()).sum();
    let named =
        files.iter().take(MOST_FILES).map(|file| ("file".to_owned(), file.display().to_string()));
    let more = files.len().saturating_sub(MOST_FILES);
    let more = (more > 0).then(|| (String::new(), format!("and {} more", grouped(more as u64))));
    let all = std::iter::once(("evaluations".to_owned(), grouped(points as u64)));
    Report {
        title: format!("Convergence of {}{problems}", counted(runs, "run")),
        source: format!("{} from stored traces", counted(points, "evaluation")),
        tables: vec![table(folders, &convergence)],
        convergence,
        data: all.chain(named).chain(more).collect(),
        ..Report::default()
    }
}

/// A column that a trace may have.
type Column = fn(&Trace) -> Option<&Vec<f64>>;

fn convergence(folders: &[Folder]) -> Convergence {
    let traces = || folders.iter().flat_map(|folder| &folder.traces);
    let mut x = vec![CALLS, SECONDS];
    let third: Option<(&'static str, Column)> = if traces().all(|trace| trace.epochs.is_some()) {
        Some((EPOCHS, |trace| trace.epochs.as_ref()))
    } else if traces().all(|trace| trace.rows.is_some()) {
        Some(("rows of data read", |trace| trace.rows.as_ref()))
    } else {
        None
    };
    x.extend(third.map(|(title, _)| title));
    let optimum = traces().all(|trace| trace.gap.is_some());
    let proven = traces().all(|trace| trace.proven_gap.is_some());
    let mut y = Vec::new();
    let mut about = Vec::new();
    let quantity = |title: &str| Quantity { title: title.to_owned(), log: true };
    let lowest_is_first = !(optimum || proven && traces().count() == 1);
    if optimum {
        y.push(quantity("objective − optimum"));
        about.push(
            "The gap is the objective minus the optimum that the comparison measured from."
                .to_owned(),
        );
    }
    if lowest_is_first {
        y.push(quantity("objective − lowest found"));
        about.push(
            "The traces do not know the optimum; the objective is shown above the lowest of \
            all runs on the same problem, so that the best run seems to end at zero."
                .to_owned(),
        );
    }
    if proven {
        y.push(quantity("proven gap"));
        about.push(
            "The proven gap bounds the objective of the best point so far minus the optimum."
                .to_owned(),
        );
    }
    y.push(Quantity { title: "objective".to_owned(), log: false });
    let panels = folders.iter().map(|folder| {
        let objectives = folder.traces.iter().flat_map(|trace| &trace.objective);
        let lowest = objectives.copied().fold(f64::INFINITY, f64::min);
        let courses = folder.traces.iter().map(|trace| {
            let above = || trace.objective.iter().map(|objective| objective - lowest).collect();
            let mut values: Vec<Vec<f64>> = Vec::new();
            values.extend(trace.gap.clone().filter(|_| optimum));
            values.extend(lowest_is_first.then(above));
            values.extend(trace.proven_gap.clone().filter(|_| proven));
            values.push(trace.objective.clone());
            let mut counts = vec![trace.calls.clone(), trace.seconds.clone()];
            counts.extend(third.and_then(|(_, of)| of(trace)).cloned());
            Course { name: trace.name.clone(), note: trace.note.clone(), x: counts, y: values }
        });
        Panel {
            title: if folders.len() > 1 { folder.title.clone() } else { String::new() },
            courses: courses.collect(),
        }
    });
    Convergence { x, y, about, panels: panels.collect() }
}

/// Calls to each gap.
fn table(folders: &[Folder], convergence: &Convergence) -> Grid {
    let several = folders.len() > 1;
    let decades = DECADES.iter().map(|k| format!("1e-{k}"));
    let ends = ["ended at", "calls", "seconds"].map(str::to_owned);
    let mut header: Vec<String> = several.then(|| "problem".to_owned()).into_iter().collect();
    header.push("run".to_owned());
    let first = header.len();
    header.extend(decades.chain(ends));
    let mut rows = Vec::new();
    for panel in &convergence.panels {
        for course in &panel.courses {
            let (calls, gaps) = (&course.x[0], &course.y[0]);
            let mut row: Vec<String> = several.then(|| panel.title.clone()).into_iter().collect();
            let note =
                if course.note.is_empty() { String::new() } else { format!(", {}", course.note) };
            row.push(format!("{}{note}", course.name));
            row.extend(DECADES.iter().map(|k| {
                let reached = gaps.iter().position(|gap| *gap <= 10_f64.powi(-k));
                reached.map_or("-".to_owned(), |at| rounded_count(calls[at] as u64))
            }));
            let last = |values: &[f64]| values.last().copied().unwrap_or(f64::NAN);
            let ended = last(gaps);
            row.push(if ended == 0.0 { "0".to_owned() } else { format!("{ended:.1e}") });
            row.push(grouped(last(calls) as u64));
            row.push(significant(last(&course.x[1]), 3));
            rows.push(row);
        }
    }
    let quantity = convergence.y.first().map_or("gap", |quantity| quantity.title.as_str());
    Grid {
        title: format!("Oracle calls to: {quantity}"),
        numbers: first..header.len(),
        header,
        rows,
        note: None,
    }
}
