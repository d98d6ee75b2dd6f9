//! What a step and a snapshot cost beside the bare kernels, measured side by side in one run.
//!
//! `cargo bench -p innermean` prints the table; with `-- --check` it fails when a ratio is above its limit.
//! Each figure is the best of many short rounds, taken in turns, so that noise from the machine hits all alike.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use innermean::draws::Stream;
use innermean::vector::{Aligned, LANES, axpy, dispatch, dot, update_with};
use innermean::{
    Choice, Inner, Method, Oracle, Portfolio, Settings, Square, Svrpda1, Svrpda2, Unregularized,
};
use innermean_data::generate_factor_model;

const ROUNDS: usize = 60;

/// The best time of each piece of work, in seconds, over rounds taken in turns.
fn best_times<const N: usize>(mut work: [&mut (dyn FnMut() + Send); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (best, work) in best.iter_mut().zip(&mut work) {
            let start = Instant::now();
            work();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

/// The chain that no primal-dual step can avoid: `c = <x, theta>`, `u += c x`, `theta -= alpha u`, each waiting for the last.
fn bare_chain(rows: &[f64], d: usize, order: impl Iterator<Item = usize>, u: &mut [f64], theta: &mut [f64]) {
    dispatch(
        #[inline(always)]
        || {
            for i in order {
                let row = &rows[i * d..(i + 1) * d];
                let c = dot(row, theta);
                axpy(1e-9 * c, row, u);
                axpy(-1e-9, u, theta);
            }
        },
    );
}

/// So many inner steps, as the driver runs them.
fn run_steps<F, P, G, M: Method<F, P, G>>(
    method: &M,
    oracle: &mut Oracle<'_, F, P, G>,
    state: &mut M::State,
    steps: usize,
) {
    dispatch(
        #[inline(always)]
        || {
            for _ in 0..steps {
                method.inner(oracle, state);
            }
        },
    );
}

/// Reads every number once, as fast as the memory and the vector units allow.
fn stream(data: &[f64]) -> f64 {
    dispatch(
        #[inline(always)]
        || {
            let mut sum = [[0.0; LANES]; 4];
            let (blocks, _) = data.as_chunks::<LANES>();
            for group in blocks.chunks_exact(4) {
                for (sum, block) in sum.iter_mut().zip(group) {
                    update_with(sum, block, |sum, x| sum + x);
                }
            }
            sum.iter().flatten().sum()
        },
    )
}

struct Row {
    name: String,
    seconds: f64,
    against: &'static str,
    ratio: f64,
    limit: Option<f64>,
}

fn inner_steps(d: usize, n: usize, table: &mut Vec<Row>) {
    let returns = generate_factor_model(n, d, 1).values;
    let problem = Portfolio::new(d, returns)
        .and_then(|p| p.problem(Square::new(1.0)?, Unregularized))
        .expect("generated returns make a problem");
    let start = vec![0.0; d];
    let settings = Settings::choose(&Choice::seeded(1), &problem, &start).expect("the default steps");
    let steps = n;
    let (one, two) = (Svrpda1(settings.clone()), Svrpda2(settings));
    let (mut oracle1, mut oracle2) = (Oracle::new(&problem), Oracle::new(&problem));
    let mut state1 = Method::init(&one, &mut oracle1, &start);
    let mut state2 = Method::init(&two, &mut oracle2, &start);
    Method::outer(&one, &mut oracle1, &mut state1);
    Method::outer(&two, &mut oracle2, &mut state2);
    let rows = problem.inner.returns().to_vec();
    let mut u = Aligned::from(vec![1e-3; d]);
    let mut theta = u.clone();
    let (mut u_random, mut theta_random) = (u.clone(), theta.clone());
    let mut draws = Stream::new(1, 0);
    let order: Vec<usize> = (0..steps).map(|_| draws.index(n)).collect();
    let [bare, bare_random, svrpda1, svrpda2] = best_times([
        &mut || bare_chain(&rows, d, 0..steps, &mut u, &mut theta),
        &mut || bare_chain(&rows, d, order.iter().copied(), &mut u_random, &mut theta_random),
        &mut || run_steps(&one, &mut oracle1, &mut state1, steps),
        &mut || run_steps(&two, &mut oracle2, &mut state2, steps),
    ]);
    black_box((&theta, &theta_random, &state1.theta, &state2.theta));
    let mut row = |name: &str, seconds: f64, limit| {
        let (name, against) = (format!("{name}, d = {d}"), "bare chain");
        table.push(Row { name, seconds: seconds / steps as f64, against, ratio: seconds / bare, limit });
    };
    row("bare chain, rows in order", bare, None);
    row("bare chain, random rows", bare_random, None);
    row("SVRPDA-I step", svrpda1, (d == 25).then_some(2.0));
    row("SVRPDA-II step", svrpda2, None);
}

fn snapshots(d: usize, n: usize, table: &mut Vec<Row>) {
    let returns = generate_factor_model(n.min(100_000), d, 1).values;
    let returns: Vec<f64> = returns.iter().copied().cycle().take(n * d).collect();
    let portfolio = Portfolio::new(d, returns).expect("generated returns");
    let theta: Vec<f64> = (0..d).map(|l| 0.1 * l as f64).collect();
    let (w, mut f_bar, mut u) = (vec![0.5; n], vec![0.0; n], vec![0.0; d]);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread pool");
    let mut alone = vec![0.0; n];
    let [read, snapshot, averages] = one_thread.install(|| {
        best_times([
            &mut || {
                black_box(stream(portfolio.returns()));
            },
            &mut || portfolio.snapshot(&theta, &w, &mut f_bar, &mut u),
            &mut || portfolio.means(&theta, &mut alone),
        ])
    });
    black_box((&f_bar, &u));
    for (name, seconds, limit) in [
        ("streaming read", read, None),
        ("snapshot, one thread", snapshot, Some(2.0)),
        ("averages alone, one thread", averages, None),
    ] {
        table.push(Row {
            name: format!("{name}, {n} x {d}"),
            seconds,
            against: "streaming read",
            ratio: seconds / read,
            limit,
        });
    }
}

fn main() -> ExitCode {
    let check = std::env::args().any(|a| a == "--check");
    let mut table = Vec::new();
    inner_steps(25, 7240, &mut table);
    inner_steps(200, 2000, &mut table);
    snapshots(25, 7240, &mut table);
    snapshots(25, 1_000_000, &mut table);
    println!("{:44} {:>12}  {:>6}  against", "what", "time", "ratio");
    let mut missed = false;
    for Row { name, seconds, against, ratio, limit } in &table {
        let nanos = seconds * 1e9;
        let time = if nanos < 1e4 { format!("{nanos:.1} ns") } else { format!("{:.1} us", nanos / 1e3) };
        let over = limit.is_some_and(|limit| *ratio > limit);
        missed |= over;
        let note =
            limit.map_or(String::new(), |l| format!(" (limit {l}{})", if over { ": MISSED" } else { "" }));
        println!("{name:44} {time:>12}  {ratio:6.2}  {against}{note}");
    }
    if check && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
