//! Checkpoints as a target: real ones of every method on small problems, damaged, and then given
//! the length and the hash that they would have if they had been written that way. Whatever is read
//! must be refused, or gone on with to an end.
//!
//! They are made here and not kept in files: a checkpoint belongs to its release.

use std::ops::ControlFlow;

use innermean::collapse::SparseRows;
use innermean::{
    Absolute, AnyMethod, Begin, BoxedProblem, Checkpoint, CheckpointError, Choice, Collapsed,
    Driver, ElasticNet, Inner, METHODS, Mspbe, Observer, Portfolio, Problem, Record, Simplex,
    Square, Stop, Unregularized, auto,
};
use innermean_data::generate_factor_model;

pub use self::forge::case;
use self::forge::{nearest, repaired};

pub(crate) mod forge;

/// Few terms of one or two of many coordinates, so that steps lag.
fn sparse() -> BoxedProblem {
    let columns: Vec<u32> = (0..12).flat_map(|i| [3 * i, 3 * i + 1]).collect();
    let values = (0..columns.len()).map(|k| 0.5 + (k % 7) as f64 / 7.0).collect();
    let starts = (0..=12).map(|i| 2 * i).collect();
    let rows = SparseRows::new(90, starts, columns, values).expect("rising columns");
    let inner =
        Collapsed::from_sparse_rows(rows, (0..12).map(|i| f64::from(i % 3) - 1.0).collect());
    let regularizer = ElasticNet::from_weights(1e-3, 1e-2).expect("weights");
    Problem { inner, merit: Square::new(1.0).expect("a weight"), regularizer }.boxed()
}

/// Together they suit every method.
fn problems() -> Vec<BoxedProblem> {
    let market =
        |n, d| Portfolio::new(d, generate_factor_model(n, d, 1).values).expect("generated returns");
    let square = Square::new(1.0).expect("a weight");
    let kink = Absolute::new(1.0).expect("a weight");
    let moves = |seed| generate_factor_model(11, 3, seed).values;
    let rewards = generate_factor_model(11, 1, 9).values;
    let projected = Mspbe::new(3, moves(5), &moves(6), rewards, 0.9).expect("transitions");
    vec![
        market(9, 4).problem(square, Simplex).expect("finite means").boxed(),
        market(8, 3).problem(square, Unregularized).expect("finite means").boxed(),
        market(7, 3).problem(kink, Simplex).expect("finite means").boxed(),
        sparse(),
        projected.problem(0.3).expect("a problem").boxed(),
    ]
}

/// Who has written a checkpoint, and with what.
struct Run {
    name: String,
    problem: usize,
    /// None: whatever suits.
    method: Option<AnyMethod>,
    bytes: Vec<u8>,
}

struct Runs {
    problems: Vec<BoxedProblem>,
    runs: Vec<Run>,
}

/// Keeps the checkpoint of an edge, and ends the run there.
struct Keeper {
    edges: u64,
    kept: Option<Checkpoint>,
}

impl Observer for Keeper {
    fn tick(&mut self, _: &Record) -> ControlFlow<()> {
        if self.edges == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        self.edges = self.edges.saturating_sub(u64::from(!ending));
        true
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.kept = Some(checkpoint);
    }
}

/// More work than is left by any run here, and little.
fn driver() -> Driver<'static> {
    let stop = Stop {
        max_outer: Some(6),
        max_calls: Some(4000),
        tolerance: Some(1e-12),
        ..Stop::default()
    };
    Driver { stop, most_records: 8, ..Driver::default() }
}

fn go(
    problem: &BoxedProblem,
    method: Option<&AnyMethod>,
    begin: Begin<'_>,
    observer: &mut dyn Observer,
) -> Result<(), CheckpointError> {
    if let Some(method) = method {
        return method.run_from(&driver(), problem, begin, observer).map(drop);
    }
    let start = vec![0.25; problem.inner.d()];
    let plan = auto::first(problem, &start, 3).expect("a method");
    plan.run_from(&driver(), problem, begin, observer).map(drop)
}

/// Each run is left at these edges.
const EDGES: [u64; 2] = [2, 7];

thread_local! {
    static RUNS: Runs = Runs::new();
}

impl Runs {
    fn new() -> Self {
        let problems = problems();
        let mut runs = Vec::new();
        for (number, problem) in problems.iter().enumerate() {
            let start = vec![0.25; problem.inner.d()];
            let named = |name| {
                AnyMethod::named(name, &Choice::seeded(3), problem, &start).expect("it suits")
            };
            let suits = METHODS.iter().filter(|row| row.suits(problem).is_ok());
            let methods =
                suits.map(|row| (row.name, Some(named(row.name)))).chain([("auto", None)]);
            for (name, method) in methods {
                for edges in EDGES {
                    let mut keeper = Keeper { edges, kept: None };
                    go(problem, method.as_ref(), Begin::At(&start), &mut keeper)
                        .expect("nothing to refuse");
                    let bytes = keeper.kept.expect("an edge").to_bytes();
                    let name = format!("{name}-{number}-{edges}");
                    runs.push(Run { name, problem: number, method: method.clone(), bytes });
                }
            }
        }
        Runs { problems, runs }
    }
}

/// Real checkpoints, by the method, the number of the problem and the edge.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    RUNS.with(|all| all.runs.iter().map(|run| (run.name.clone(), run.bytes.clone())).collect())
}

/// Reads the bytes as they are, which are refused, and with a hash that is right, and goes on from
/// what is read by the run that would have written it.
///
/// # Panics
/// If a refusal is more than a line, or a run that goes on panics.
pub fn checkpoint(data: &[u8]) {
    outcome(data);
}

/// What came of a file with a hash that is right; None if it cannot be read.
fn outcome(data: &[u8]) -> Option<Result<(), CheckpointError>> {
    let read = |bytes: &[u8]| match Checkpoint::from_bytes(bytes) {
        Ok(checkpoint) => Some(checkpoint),
        Err(error) => {
            one_line(&error);
            None
        }
    };
    read(data);
    let checkpoint = repaired(data).and_then(|bytes| read(&bytes))?;
    RUNS.with(|Runs { problems, runs }| {
        let run = &runs[nearest(runs.iter().map(|run| &*run.bytes), data)];
        let resume = Begin::Resume(&checkpoint);
        let found = go(&problems[run.problem], run.method.as_ref(), resume, &mut ());
        if let Err(error) = &found {
            one_line(error);
        }
        Some(found)
    })
}

fn one_line(error: &CheckpointError) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains(char::is_control), "not a sentence: {text:?}");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Forged files that nobody looks into would find nothing.
    #[test]
    fn forged_files_get_past_the_first_door_and_some_past_the_last() {
        let files = seeds();
        let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &**bytes).collect();
        let found: Vec<_> =
            (0..1000).filter_map(|number| outcome(&case(&files, 3, number))).collect();
        let of_other_sizes = |found: &&Result<_, CheckpointError>| {
            found.as_ref().is_err_and(|error| error.to_string().contains("sizes"))
        };
        let sizes = found.iter().filter(of_other_sizes).count();
        let gone_on = found.iter().filter(|found| found.is_ok()).count();
        assert!(
            found.len() > 600 && sizes > 0 && gone_on > 200,
            "{} {sizes} {gone_on}",
            found.len()
        );
    }

    #[test]
    fn what_was_written_is_gone_on_with_by_every_method() {
        RUNS.with(|Runs { problems, runs }| {
            let (mut methods, mut refused) = (BTreeSet::new(), Vec::new());
            for Run { name, problem, method, bytes } in runs {
                let same = repaired(bytes).expect("it is long enough");
                assert_eq!(&same, bytes, "the repair finds length and hash");
                let checkpoint = Checkpoint::from_bytes(bytes).expect("it is whole");
                let found =
                    go(&problems[*problem], method.as_ref(), Begin::Resume(&checkpoint), &mut ());
                if let Err(error) = found {
                    refused.push(format!("{name}: {error}"));
                }
                methods.extend(method.as_ref().map(|method| method.info().name));
            }
            assert!(refused.is_empty(), "{}", refused.join("\n"));
            assert_eq!(methods.len(), METHODS.len(), "a problem for every method");
        });
    }
}
