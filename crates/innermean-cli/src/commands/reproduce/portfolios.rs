//! Figure 1: risk-averse portfolios.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow, bail};
use innermean::{
    AnyMethod, Choice, Driver, Inner, Objective, Portfolio, Problem, Square, Stop, Tilted,
    Unregularized, optimum,
};
use innermean_data::{ReadOptions, Returns, generate_factor_model};
use serde::{Deserialize, Serialize};

use super::arena::{Arena, Course};
use super::piece::Piece;
use super::store::{Store, fingerprint};
use crate::flags::input::limits;
use crate::run::start::Start;

/// Names of the methods of Figure 1, and what the paper calls them.
pub(super) const PAPER: [(&str, &str); 6] = [
    ("svrpda1", "SVRPDA-I"),
    ("svrpda2", "SVRPDA-II"),
    ("comp-svrg1", "Comp-SVRG-1"),
    ("comp-svrg2", "Comp-SVRG-2"),
    ("gd", "batch gradient"),
    ("ascvrg", "ASCVRG"),
];
/// Those that the second version adds.
const ADDED: [(&str, &str); 2] = [("lbfgs", "L-BFGS"), ("spdc", "SPDC")];
/// Where runs end: a gap, and calls.
const UNTIL: f64 = 1e-10;
const MOST_CALLS: [u64; 2] = [100_000_000, 12_000_000];
/// With the paper's settings calls are medians over this many seeds; curves are of the first.
pub(super) const SEEDS: [u64; 2] = [5, 3];
/// A quick run tunes on this many sets.
const QUICKLY_TUNED: usize = 2;
/// Of the generated sets, which stand in for files.
const GENERATED: [usize; 2] = [18, 3];

/// A problem with its name.
pub(super) struct DataSet {
    pub(super) name: String,
    fingerprint: u64,
    problem: Problem<Portfolio, Square, Tilted<Unregularized>>,
}

/// What was run with the paper's settings.
#[derive(Serialize, Deserialize)]
pub(super) struct AsInThePaper {
    /// In the order of [`PAPER`].
    pub(super) courses: Vec<Course>,
    /// SVRPDA-I without the epoch of plain steps that its authors' script begins with.
    pub(super) cold: Course,
    /// The baselines, from where that epoch ends.
    pub(super) warm: Vec<Course>,
}

impl DataSet {
    fn new(name: String, mut returns: Returns) -> Result<Self> {
        let values = std::mem::take(&mut returns.values);
        let fingerprint = fingerprint(&values);
        let problem =
            Portfolio::new(returns.assets(), values)?.problem(Square::new(1.0)?, Unregularized)?;
        Ok(DataSet { name, fingerprint, problem })
    }

    /// Days and assets.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.problem.inner.n_x(), self.problem.inner.d())
    }

    /// Whether returns are about as large as daily ones in percent are, for which the paper's steps
    /// are made.
    pub(super) fn is_of_papers_scale(&self) -> bool {
        self.problem.inner.is_of_papers_scale()
    }

    fn choice(&self, method: &str) -> Choice {
        self.problem.inner.paper_choice(method).unwrap_or_default()
    }

    fn id(&self, version: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        format!("figure1-{version}-{}", self.name.chars().map(letter).collect::<String>())
    }
}

/// All tables of a folder, by name.
pub(super) fn read(folder: &Path) -> Result<Vec<DataSet>> {
    let expected =
        "expected a folder with tables of returns (CSV, text of the French library, MATLAB files)";
    let entries = std::fs::read_dir(folder).map_err(|error| {
        anyhow!("--data {}: cannot be read ({}); {expected}", folder.display(), error.kind())
    })?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let is_table = |path: &Path| {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        path.is_file()
            && ["csv", "tsv", "txt", "mat", "npy", "parquet", "zip", "gz"]
                .contains(&ending.as_str())
    };
    files.retain(|path| is_table(path));
    files.sort();
    if files.is_empty() {
        bail!("--data {}: holds no table; {expected}", folder.display());
    }
    let mut sets = Vec::new();
    for file in &files {
        let name = file
            .file_stem()
            .map(|stem| stem.to_string_lossy().replace('_', " "))
            .unwrap_or_default();
        let set = DataSet::new(name, limits().read_returns(file, &ReadOptions::default())?)?;
        if sets.iter().any(|other: &DataSet| other.id("") == set.id("")) {
            bail!(
                "{}: another table of the folder is called '{}' too; expected names that differ",
                file.display(),
                set.name
            );
        }
        sets.push(set);
    }
    Ok(sets)
}

/// Markets of 25 assets over 7240 days, in place of files.
pub(super) fn generated(quick: bool) -> Result<Vec<DataSet>> {
    (1..=GENERATED[usize::from(quick)])
        .map(|seed| {
            DataSet::new(format!("generated {seed}"), generate_factor_model(7240, 25, seed as u64))
        })
        .collect()
}

/// The sets that methods are tuned on.
pub(super) fn tuned(sets: &[DataSet], quick: bool) -> &[DataSet] {
    if quick { &sets[..QUICKLY_TUNED.min(sets.len())] } else { sets }
}

/// Two for each set: as in the paper, and tuned.
pub(super) fn pieces<'a>(
    sets: &'a [DataSet],
    quick: bool,
    interrupt: &'a AtomicBool,
) -> Vec<Piece<'a>> {
    let as_in_paper = sets.iter().map(move |set| {
        let work = move || as_in_the_paper(set, quick, interrupt);
        Piece::new(set.id("paper"), set.fingerprint, if quick { 2.0 } else { 5.0 }, work)
    });
    let tuned = tuned(sets, quick).iter().map(move |set| {
        Piece::new(set.id("tuned"), set.fingerprint, if quick { 5.0 } else { 12.0 }, move || {
            with_tuned_steps(set, quick, interrupt)
        })
    });
    as_in_paper.chain(tuned).collect()
}

/// What was run on a set with the paper's settings.
pub(super) fn paper_courses(store: &Store, set: &DataSet) -> Result<AsInThePaper> {
    store.get(&set.id("paper"), set.fingerprint)
}

/// What was run with tuned steps.
pub(super) fn tuned_courses(store: &Store, set: &DataSet) -> Result<Vec<Course>> {
    store.get(&set.id("tuned"), set.fingerprint)
}

fn as_in_the_paper(
    set: &DataSet,
    quick: bool,
    interrupt: &AtomicBool,
) -> Result<Option<AsInThePaper>> {
    let problem = set.problem.erased();
    let mut arena = arena(set, problem, quick, interrupt)?;
    let mut courses = Vec::new();
    for (method, name) in PAPER {
        let course = arena.run_seeds(method, &set.choice(method), SEEDS[usize::from(quick)])?;
        let Some(course) = course else { return Ok(None) };
        courses.push(course.named(name));
    }
    let cold = Choice { warmup_epochs: None, ..set.choice("svrpda1") };
    let Some(cold) = arena.run_seeds("svrpda1", &cold, SEEDS[usize::from(quick)])? else {
        return Ok(None);
    };
    // The first outer iteration of the paper's SVRPDA-I is the epoch of plain steps.
    let method = AnyMethod::named("svrpda1", &set.choice("svrpda1"), problem, &arena.start)?;
    let stop = Stop { max_outer: Some(1), tolerance: None, ..Stop::default() };
    let epoch = method.run(&Driver { stop, ..Driver::default() }, problem, &arena.start, &mut ());
    arena.start = epoch.theta;
    let mut warm = Vec::new();
    for (method, name) in &PAPER[2..] {
        let Some(course) = arena.run(method, &set.choice(method))? else { return Ok(None) };
        warm.push(course.named(name).after(epoch.calls.total()));
    }
    Ok(Some(AsInThePaper { courses, cold, warm }))
}

fn with_tuned_steps(
    set: &DataSet,
    quick: bool,
    interrupt: &AtomicBool,
) -> Result<Option<Vec<Course>>> {
    let problem = set.problem.erased();
    let arena = arena(set, problem, quick, interrupt)?;
    let mut courses = Vec::new();
    for (method, name) in PAPER.into_iter().chain(ADDED) {
        let base = if set.problem.inner.paper_choice(method).is_some() {
            "the paper's"
        } else {
            "its own"
        };
        let Some(course) = arena.tuned(method, set.choice(method), base)? else { return Ok(None) };
        courses.push(course.named(name));
    }
    let Some(unset) = arena.run("svrpda1", &Choice::default())? else { return Ok(None) };
    courses.push(unset.named("SVRPDA-I, no settings"));
    let Some(auto) = arena.automatic()? else { return Ok(None) };
    courses.push(auto);
    Ok(Some(courses))
}

fn arena<'a>(
    set: &DataSet,
    problem: Objective<'a>,
    quick: bool,
    interrupt: &'a AtomicBool,
) -> Result<Arena<'a>> {
    let names = vec![String::new(); set.problem.inner.d()];
    let start = Start::Uniform.point(&names, 0, None)?;
    let optimum =
        optimum(problem, &start).ok_or_else(|| anyhow!("{}: has no optimum", set.name))?;
    Ok(Arena {
        problem,
        start,
        optimum: optimum.objective,
        scale: 1.0,
        until: UNTIL,
        max_calls: MOST_CALLS[usize::from(quick)],
        every: (set.problem.inner.n_x() as u64 / 8).max(25),
        interrupt,
    })
}
