//! Checkpoints as a target: real ones of every method on small problems, damaged, and then given the length and the hash that they would have if they
//! had been written that way. Whatever is read must be refused, or gone on with to an end.
//!
//! They are made here and not kept in files: a checkpoint belongs to its release.

use innermean::checkpoint::Hash;
use innermean::collapse::SparseRows;
use innermean::{
    Absolute, AnyMethod, Begin, BoxedProblem, Checkpoint, CheckpointError, Choice, Collapsed, Driver,
    ElasticNet, Inner, METHODS, Mspbe, Observer, Portfolio, Problem, Simplex, Square, Stop, Unregularized,
    auto,
};
use innermean_data::generate_factor_model;

use crate::mutate::Dice;

/// Few terms of one or two of many coordinates, so that steps lag.
fn sparse() -> BoxedProblem {
    let columns: Vec<u32> = (0..12).flat_map(|i| [3 * i, 3 * i + 1]).collect();
    let values = (0..columns.len()).map(|k| 0.5 + (k % 7) as f64 / 7.0).collect();
    let starts = (0..=12).map(|i| 2 * i).collect();
    let rows = SparseRows::new(90, starts, columns, values).expect("rising columns");
    let inner = Collapsed::from_sparse_rows(rows, (0..12).map(|i| f64::from(i % 3) - 1.0).collect());
    let regularizer = ElasticNet::from_weights(1e-3, 1e-2).expect("weights");
    Problem { inner, merit: Square::new(1.0).expect("a weight"), regularizer }.boxed()
}

/// Together they suit every method.
fn problems() -> Vec<BoxedProblem> {
    let market = |n, d| Portfolio::new(d, generate_factor_model(n, d, 1).values).expect("generated returns");
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
    fn is_content(&self) -> bool {
        self.edges == 0
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
    let stop = Stop { max_outer: Some(6), max_calls: Some(4000), tolerance: Some(1e-12), ..Stop::default() };
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
    plan.run_from(&driver(), problem, begin, observer, AnyMethod::run_from).map(drop)
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
            let named = |name| AnyMethod::named(name, &Choice::seeded(3), problem, &start).expect("it suits");
            let suits = METHODS.iter().filter(|row| row.suits(problem).is_ok());
            let methods = suits.map(|row| (row.name, Some(named(row.name)))).chain([("auto", None)]);
            for (name, method) in methods {
                for edges in EDGES {
                    let mut keeper = Keeper { edges, kept: None };
                    go(problem, method.as_ref(), Begin::At(&start), &mut keeper).expect("nothing to refuse");
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

const HASH: usize = 16;
/// What is hashed begins with its length.
const HASHED: usize = Checkpoint::BEGINNING.len() + 4 + HASH;
const CONTENT: usize = HASHED + 8;

/// Gives a damaged file the length and the hash of what it holds.
fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let length = bytes.len().checked_sub(CONTENT)? as u64;
    bytes[HASHED..CONTENT].copy_from_slice(&length.to_le_bytes());
    let hash = Hash::of_bytes(&bytes[HASHED..]).to_le_bytes();
    bytes[HASHED - HASH..HASHED].copy_from_slice(&hash);
    Some(bytes)
}

/// Damages what stands in a real file: lists that are longer or shorter, counters and numbers at the edge of what there is.
pub fn case(seeds: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed, number);
    let mut data = seeds[dice.below(seeds.len())].to_vec();
    // Mostly the state, which stands behind the header.
    let from = if dice.below(20) == 0 { CONTENT } else { (CONTENT + 60).min(data.len() - 1) };
    for _ in 0..=dice.below(2) {
        let at = from + dice.below(data.len().saturating_sub(from));
        change(&mut dice, &mut data, at);
    }
    data
}

fn change(dice: &mut Dice, data: &mut Vec<u8>, at: usize) {
    const NUMBERS: [f64; 8] = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308, -1e308, 5e-324, 1e18];
    /// 2^64 - 1, 2^63, 2^32, 300 and 0 as whole numbers are written: seven bits a byte.
    const WHOLE: [&[u8]; 5] = [
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        b"\x80\x80\x80\x80\x10",
        b"\xac\x02",
        b"\x00",
    ];
    if at >= data.len() {
        return;
    }
    match dice.below(6) {
        0 => data[at] = dice.below(256) as u8,
        1 => data[at] ^= 1 << dice.below(8),
        2 if at + 8 <= data.len() => {
            data[at..at + 8].copy_from_slice(&NUMBERS[dice.below(NUMBERS.len())].to_le_bytes());
        }
        3 => drop(data.splice(at..=at, WHOLE[dice.below(WHOLE.len())].iter().copied())),
        4 => data[at] = data[at].wrapping_add(dice.below(5) as u8).wrapping_sub(2),
        _ => {
            // What may be the length of a list of numbers, and one number more or less.
            let is_length = |k: &usize| {
                let numbers = usize::from(data[*k]);
                (1..128).contains(&numbers) && k + 1 + 8 * numbers <= data.len()
            };
            let Some(length) = (at..data.len()).find(is_length) else { return };
            if dice.below(2) == 0 {
                data[length] -= 1;
                data.drain(length + 1..length + 9);
            } else if data[length] < 127 {
                data[length] += 1;
                let after = length + 1;
                let copy: Vec<u8> = data[after..after + 8].to_vec();
                data.splice(after..after, copy);
            }
        }
    }
}

/// Reads the bytes as they are, which are refused, and with a hash that is right, and goes on from what is read by the run that would have written it.
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
        // The one that begins with as many of the same bytes: the header names method and problem.
        let same = |run: &&Run| {
            let both = run.bytes[CONTENT..].iter().zip(&data[CONTENT..]);
            both.take_while(|(a, b)| a == b).count()
        };
        let run = runs.iter().max_by_key(same).expect("there are some");
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
        let found: Vec<_> = (0..1000).filter_map(|number| outcome(&case(&files, 3, number))).collect();
        let of_other_sizes = |found: &&Result<_, CheckpointError>| {
            found.as_ref().is_err_and(|error| error.to_string().contains("sizes"))
        };
        let sizes = found.iter().filter(of_other_sizes).count();
        let gone_on = found.iter().filter(|found| found.is_ok()).count();
        assert!(found.len() > 600 && sizes > 0 && gone_on > 200, "{} {sizes} {gone_on}", found.len());
    }

    #[test]
    fn what_was_written_is_gone_on_with_by_every_method() {
        RUNS.with(|Runs { problems, runs }| {
            let (mut methods, mut refused) = (BTreeSet::new(), Vec::new());
            for Run { name, problem, method, bytes } in runs {
                let same = repaired(bytes).expect("it is long enough");
                assert_eq!(&same, bytes, "the repair finds length and hash");
                let checkpoint = Checkpoint::from_bytes(bytes).expect("it is whole");
                let found = go(&problems[*problem], method.as_ref(), Begin::Resume(&checkpoint), &mut ());
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
