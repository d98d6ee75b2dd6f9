//! The runs that are judged: `auto` as it comes, and some of the methods that suit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use innermean::{AnyMethod, Choice, Driver, METHODS, Stop, auto};

use super::answer::{Answer, of_command};
use super::draw::Case;
use super::draw::columns::Dice;
use super::draw::files::Files;

/// A run and how it came about.
pub struct Run {
    /// The method's name, or `auto`.
    pub method: String,
    /// Whether it is `auto` with nothing said.
    pub is_default: bool,
    /// The tolerance asked for.
    pub tolerance: f64,
    /// Where it began.
    pub start: Vec<f64>,
    /// What came of it; none if the method was refused, an error if it panicked.
    pub outcome: Result<Option<Answer>, String>,
}

/// Draws for runs come from another stream than those for problems.
const RUNS: u64 = 1 << 40;
/// Methods beside `auto`.
const METHODS_EACH: usize = 3;

/// The run of the command line at `program`.
pub fn of_program(program: &Path, files: &Files, seed: u64, number: u64) -> Run {
    let folder =
        std::env::temp_dir().join(format!("torture-{}-{seed}-{number}", std::process::id()));
    Run {
        method: "the command".to_owned(),
        is_default: true,
        tolerance: 1e-6,
        start: Vec::new(),
        outcome: of_command(program, files, &folder).map_err(|error| format!("{error:#}")),
    }
}

/// All runs on problem `number` of `seed`.
pub fn all(case: &Case, seed: u64, number: u64) -> Vec<Run> {
    let problem = &case.problem();
    let mut dice = Dice::new(seed, RUNS + number);
    let d = problem.inner.d();
    let zeros = vec![0.0; d];
    let mut runs = vec![run(case, "auto", 1e-6, Stop::default(), zeros.clone(), 0)];
    runs[0].is_default = true;
    let suited: Vec<&str> =
        METHODS.iter().filter(|row| row.suits(problem).is_ok()).map(|row| row.name).collect();
    // Those that answer by themselves, and claim the most, more often than the others.
    let favoured: Vec<&str> = ["direct", "newton", "lbfgs", "multipliers"]
        .into_iter()
        .filter(|name| suited.contains(name))
        .collect();
    for k in 0..METHODS_EACH {
        let from = if k == 0 && !favoured.is_empty() { &favoured } else { &suited };
        let method = if dice.chance(0.1) { "auto" } else { dice.of(from) };
        let tolerance = dice.of(&[1e-6, 1e-6, 1e-9, 1e-12]);
        let start = if dice.chance(0.6) {
            zeros.clone()
        } else {
            let size = dice.power(-2.0, 2.0);
            case.rescale(&(0..d).map(|_| size * dice.normal()).collect::<Vec<f64>>())
        };
        let stop = Stop {
            max_outer: Some(dice.of(&[20, 200, 1000])),
            max_calls: Some(2_000_000),
            tolerance: Some(tolerance),
            ..Stop::default()
        };
        runs.push(run(case, method, tolerance, stop, start, dice.below(1000) as u64));
    }
    runs
}

fn run(case: &Case, method: &str, tolerance: f64, stop: Stop, start: Vec<f64>, seed: u64) -> Run {
    let driver = Driver { stop, ..Driver::default() };
    let problem = &case.problem();
    let solve = || {
        let mut solution = if method == "auto" {
            auto::solve(&driver, problem, &start, &mut (), seed).ok()?.solution
        } else {
            let method = AnyMethod::named(method, &Choice::seeded(seed), problem, &start).ok()?;
            method.run(&driver, problem, &start, &mut ())
        };
        case.restate(tolerance, &mut solution);
        Some(solution.into())
    };
    let outcome = catch_unwind(AssertUnwindSafe(solve)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
    });
    Run { method: method.to_owned(), is_default: false, tolerance, start, outcome }
}
