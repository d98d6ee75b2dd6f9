//! How much faster are passes and whole solves on more threads, and what in them is serial?
//!
//! Dense rows of normal numbers on 1, 2, 4, ... threads up to the cores of the machine: bare
//! reading of the same numbers (the bound of a pass from memory), the pass that finds F and F', a
//! Gram matrix, and whole runs of Newton's method, L-BFGS, the method of multipliers and `direct`.
//! Every result must have the same bits on any number of threads. Writes
//! `experiments/results/threads.md`; `--quick` takes a tenth of the rows and writes nothing.

use std::fmt::Write;

use innermean::{
    Absolute, AnyMethod, Choice, Collapsed, Driver, Huber, Logistic, Objective, Portfolio, Problem,
    Ridge, Simplex, Square, Stop, gram, vector,
};
use innermean_experiments::bench::draws::Draws;
use innermean_experiments::timing::in_turns;
use rayon::prelude::*;

/// Something that runs on all threads of the pool that calls it, and returns numbers to compare.
type Work<'a> = Box<dyn Fn() -> Vec<f64> + Sync + Send + 'a>;

fn rows(n: usize, d: usize) -> Vec<f64> {
    let seeds = n.div_ceil(1 << 12);
    let parts = (0..seeds).into_par_iter().flat_map_iter(|part| {
        let mut draws = Draws::new(1, part as u64);
        let own = (n - (part << 12)).min(1 << 12) * d;
        (0..own).map(move |_| draws.normal()).collect::<Vec<f64>>()
    });
    parts.collect()
}

/// A run of the method of this name to a relative gap of 1e-6; its point and its objective.
fn solved(name: &str, problem: Objective<'_>, start: &[f64]) -> Vec<f64> {
    let method = AnyMethod::named(name, &Choice::default(), problem, start).expect("it suits");
    let stop = Stop { tolerance: Some(1e-6), max_outer: Some(1000), ..Stop::default() };
    let run = method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ());
    assert!(run.status.is_solved(), "{name}: {:?}", run.status);
    let mut answer = run.theta;
    answer.push(run.objective);
    answer
}

fn main() {
    let is_quick = std::env::args().any(|word| word == "--quick");
    let (n, d) = (if is_quick { 100_000 } else { 1_000_000 }, 100);
    let data = rows(n, d);
    let mut noise = Draws::new(2, 0);
    let scores: Vec<f64> = data.par_chunks(d).map(|row| row[..10].iter().sum::<f64>()).collect();
    let targets: Vec<f64> = scores.iter().map(|score| score + 3.0 * noise.normal()).collect();
    let labels: Vec<f64> = targets.iter().map(|target| target.signum()).collect();

    let f = Collapsed::from_rows(d, data.clone(), vec![0.0; n]);
    let portfolio = Portfolio::new(d, data).expect("rows of numbers");
    let (logistic, huber) = (Logistic::new(labels).expect("labels"), Huber::new(1.0, 1.0));
    let (huber, square) = (huber.expect("a width"), Square::new(1.0).expect("a weight"));
    let absolute = Absolute::new(1.0).expect("a weight");
    let ridge = Ridge::from_weight(1e-3).expect("a weight");
    let (origin, even) = (vec![0.0; d], vec![1.0 / d as f64; d]);
    let theta: Vec<f64> = (0..d).map(|l| 0.01 * (l as f64 - 50.0)).collect();
    let classes = Problem { inner: &f, merit: logistic, regularizer: ridge };
    let bent = Problem { inner: &portfolio, merit: huber, regularizer: Simplex };
    let kinked = Problem { inner: &portfolio, merit: absolute, regularizer: Simplex };
    let smooth = Problem { inner: &portfolio, merit: square, regularizer: Simplex };

    let works: Vec<(&str, Work<'_>)> = vec![
        ("reading alone", Box::new(|| vec![read(&f)])),
        ("F and its gradient", Box::new(|| gradient((&classes).into(), &theta))),
        ("Gram matrix", Box::new(|| gram::weighted(&f, &|_| 1.0))),
        ("newton, logistic", Box::new(|| solved("newton", (&classes).into(), &origin))),
        ("lbfgs, logistic", Box::new(|| solved("lbfgs", (&classes).into(), &origin))),
        ("newton, portfolio, Huber", Box::new(|| solved("newton", (&bent).into(), &even))),
        (
            "multipliers, portfolio, absolute",
            Box::new(|| solved("multipliers", (&kinked).into(), &even)),
        ),
        ("direct, portfolio, variance", Box::new(|| solved("direct", (&smooth).into(), &even))),
    ];

    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let counts: Vec<usize> = (0..=cores.ilog2()).map(|k| 1 << k).collect();
    let pools: Vec<rayon::ThreadPool> = counts
        .iter()
        .map(|&count| rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads"))
        .collect();
    let mut table = format!(
        "# Threads\n\nMilliseconds on one thread for {n} x {d} dense rows, and how many times as \
         fast on more: medians of three rounds, in turns. Written by `cargo run --release -p \
         innermean-experiments --bin threads` on a machine of {cores} cores.\n\n| work | one thread |"
    );
    for count in &counts[1..] {
        write!(table, " {count} |").expect("a string");
    }
    table += "\n|---|---|";
    table += &"---|".repeat(counts.len() - 1);
    table.push('\n');
    for (name, work) in &works {
        let first = pools[0].install(work);
        for (pool, count) in pools.iter().zip(&counts) {
            let same =
                pool.install(work).iter().zip(&first).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{name}: other bits on {count} threads");
        }
        let mut runs: Vec<_> = pools
            .iter()
            .map(|pool| {
                || {
                    std::hint::black_box(pool.install(work));
                }
            })
            .collect();
        let mut turns: Vec<&mut dyn FnMut()> =
            runs.iter_mut().map(|run| run as &mut dyn FnMut()).collect();
        let seconds = in_turns(3, &mut turns);
        let mut line = format!("| {name} | {:.1} |", 1e3 * seconds[0]);
        for more in &seconds[1..] {
            write!(line, " {:.1} |", seconds[0] / more).expect("a string");
        }
        println!("{line}");
        writeln!(table, "{line}").expect("a string");
    }
    if !is_quick {
        std::fs::create_dir_all("experiments/results").expect("run it from the project's root");
        std::fs::write("experiments/results/threads.md", table).expect("a file to write");
    }
}

/// Reads every number once, in parts that do not depend on the threads.
fn read(f: &Collapsed) -> f64 {
    let rows = f.dense().expect("dense rows");
    let parts: Vec<f64> = rows.par_chunks(1 << 15).map(vector::sum).collect();
    parts.iter().sum()
}

fn gradient(problem: Objective<'_>, theta: &[f64]) -> Vec<f64> {
    let n = problem.inner.n_x();
    let (mut f_bar, mut w, mut out) = (vec![0.0; n], vec![0.0; n], vec![0.0; theta.len()]);
    let value = problem.loss_and_gradient(theta, &mut f_bar, &mut w, &mut out);
    out.push(value);
    out
}
