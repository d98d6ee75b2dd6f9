//! Traces that were stored by `--trace` and `--trace-dir`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;

/// A stored run.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The file's name without what it ends in: the method, where a comparison wrote it.
    pub(super) name: String,
    /// The seed, where a comparison wrote it.
    pub(super) note: String,
    pub(super) calls: Vec<f64>,
    pub(super) seconds: Vec<f64>,
    /// Epochs or, in traces that have none, rows.
    pub(super) epochs: Option<Vec<f64>>,
    pub(super) rows: Option<Vec<f64>>,
    pub(super) objective: Vec<f64>,
    /// Above the optimum, where that was known.
    pub(super) gap: Option<Vec<f64>>,
    /// Proven bounds, where there are some.
    pub(super) proven_gap: Option<Vec<f64>>,
}

/// Traces of one folder: runs on one problem.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) title: String,
    pub(super) traces: Vec<Trace>,
}

/// One line; what is not a number in JSON is null.
#[derive(Deserialize)]
struct Line {
    calls: u64,
    seconds: f64,
    #[serde(default)]
    rows: Option<u64>,
    #[serde(default)]
    epochs: Option<f64>,
    /// Must be there, though it may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    objective: Option<f64>,
    #[serde(default)]
    gap: Option<f64>,
    #[serde(default)]
    proven_gap: Option<f64>,
}

/// The files that are named, and those ending in .jsonl of folders that are named.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let read = |error: std::io::Error| {
            anyhow!(
                "{}: cannot be read ({}); expected a trace, or a folder of them",
                path.display(),
                error.kind()
            )
        };
        if !fs::metadata(path).map_err(read)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(read)?;
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        found.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        if found.is_empty() {
            bail!(
                "{}: holds no file that ends in .jsonl; expected a folder that --trace-dir has \
                 written",
                path.display()
            );
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// Reads all, and puts those of one folder together.
pub(super) fn read_all(files: &[PathBuf]) -> Result<Vec<Folder>> {
    let mut folders: Vec<(PathBuf, Folder)> = Vec::new();
    for file in files {
        let trace = read(file)?;
        let parent = file.parent().unwrap_or(Path::new("")).to_owned();
        if let Some((_, folder)) = folders.iter_mut().find(|(path, _)| *path == parent) {
            folder.traces.push(trace);
        } else {
            let title = parent
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            folders.push((parent, Folder { title, traces: vec![trace] }));
        }
    }
    Ok(folders.into_iter().map(|(_, folder)| folder).collect())
}

fn read(file: &Path) -> Result<Trace> {
    let text = fs::read_to_string(file).map_err(|error| {
        anyhow!("{}: cannot be read ({}); expected a trace", file.display(), error.kind())
    })?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let seed = stem.rsplit_once("-seed").filter(|(_, seed)| seed.parse::<u64>().is_ok());
    let (name, note) = match seed {
        Some((name, seed)) => (name.to_owned(), format!("seed {seed}")),
        None => (stem.clone(), String::new()),
    };
    let mut trace = Trace { name, note, ..Trace::default() };
    let (mut epochs, mut rows, mut gap, mut proven) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| reason(&error))
            .with_context(|| format!("{}, line {}", file.display(), k + 1))?;
        let calls = line.calls as f64;
        if trace.calls.last().is_some_and(|before| calls < *before) {
            bail!(
                "{}, line {}: calls fall from {} to {calls}; expected the trace of one run",
                file.display(),
                k + 1,
                trace.calls[trace.calls.len() - 1]
            );
        }
        trace.calls.push(calls);
        trace.seconds.push(line.seconds);
        trace.objective.push(line.objective.unwrap_or(f64::NAN));
        epochs.push(line.epochs);
        rows.push(line.rows.map(|rows| rows as f64));
        gap.push(line.gap);
        proven.push(line.proven_gap);
    }
    if trace.calls.is_empty() {
        bail!(
            "{}: is empty; expected one JSON object a line, as --trace writes it",
            file.display()
        );
    }
    trace.epochs = epochs.into_iter().collect();
    trace.rows = rows.into_iter().collect();
    trace.gap = gap.iter().any(Option::is_some).then(|| known(gap));
    trace.proven_gap = proven.iter().any(Option::is_some).then(|| known(proven));
    Ok(trace)
}

fn known(values: Vec<Option<f64>>) -> Vec<f64> {
    values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}

/// What is wrong with a line, in words.
fn reason(error: &serde_json::Error) -> anyhow::Error {
    let text = error.to_string();
    match text.split_once("missing field ") {
        Some((_, rest)) => {
            let field = rest.split(' ').next().unwrap_or(rest).trim_matches('`');
            anyhow!(
                "has no {field}; expected calls, seconds and objective, as --trace and --trace-dir \
                 write them"
            )
        }
        None => anyhow!(
            "is no line of a trace ({}); expected one JSON object a line, as --trace writes it",
            error_kind(error)
        ),
    }
}

fn error_kind(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Data => "a value is of another kind",
        serde_json::error::Category::Eof => "it ends too soon",
        _ => "not JSON",
    }
}
