//! What passes, products and steps cost beside what binds them: the memory, the multiply-adds, or
//! the chain of a step. All is measured in one run.
//!
//! `cargo bench -p innermean --bench ratios` prints the table; with `-- --check` it fails when a
//! figure misses its limit. A word names the sections to run: `-- passes products steps`. Each
//! figure is the best of many short rounds, taken in turns, so that noise from the machine hits all
//! alike.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use innermean::cholesky::Cholesky;
use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::vector::{Aligned, LANES, axpy, bare_multiply_adds, dispatch, dot, update_with};
use innermean::{
    Choice, Collapsed, Inner, Method, Objective, Oracle, Portfolio, Problem, Regularizer, Ridge,
    Settings, Simplex, Square, Svrpda1, Svrpda2, Unregularized, gram, product,
};
use innermean_data::generate_factor_model;
use rayon::prelude::*;

/// The best time of each piece of work, in seconds, over rounds taken in turns.
fn best_times<const N: usize>(rounds: usize, mut work: [&mut (dyn FnMut() + Send); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (best, work) in best.iter_mut().zip(&mut work) {
            let start = Instant::now();
            work();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

/// Enough rounds for about a second.
fn rounds(numbers: usize) -> usize {
    (200_000_000 / numbers).clamp(8, 2000)
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool")
}

/// What the table says about one piece of work.
struct Row {
    name: String,
    seconds: f64,
    /// A percentage or a factor, and of what.
    figure: String,
    limit: Option<(String, bool)>,
}

impl Row {
    /// A share of what binds it that should be no less than `least`.
    fn share(name: String, seconds: f64, bound: f64, of: &str, least: Option<f64>) -> Self {
        let share = bound / seconds;
        let limit = least.map(|least| (format!("at least {:.0} %", 100.0 * least), share >= least));
        Row { name, seconds, figure: format!("{:5.0} % of {of}", 100.0 * share), limit }
    }

    /// A multiple that should be no more than `most`.
    fn ratio(name: String, seconds: f64, against: f64, of: &str, most: Option<f64>) -> Self {
        let ratio = seconds / against;
        let limit = most.map(|most| (format!("at most {most}"), ratio <= most));
        Row { name, seconds, figure: format!("{ratio:7.2} of {of}"), limit }
    }

    /// How many times as fast as on one thread it should be.
    fn speedup(name: String, seconds: f64, alone: f64, least: Option<f64>) -> Self {
        let ratio = alone / seconds;
        let limit = least.map(|least| (format!("at least {least}"), ratio >= least));
        Row { name, seconds, figure: format!("{ratio:7.2} times as fast as one thread"), limit }
    }
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

/// Multiply-adds in a second on one thread.
fn peak() -> f64 {
    let times = 20_000;
    let [seconds] = best_times(
        500,
        [&mut || {
            black_box(bare_multiply_adds(times));
        }],
    );
    (48 * times) as f64 / seconds
}

/// One f on one and on two threads beside the bare reading of the same data on as many: each pass
/// as a share of what binds it.
fn passes(
    name: &str,
    f: &dyn Inner,
    data: &[f64],
    peak: f64,
    least: Option<f64>,
    table: &mut Vec<Row>,
) {
    let (n, d) = (f.n_x(), f.d());
    let theta: Vec<f64> = (0..d).map(|l| 0.1 * (l % 10) as f64).collect();
    let w = vec![0.5; n];
    let mut seconds = [[0.0; 4]; 2];
    for threads in [1, 2] {
        let (mut f_bar, mut averages, mut u, mut sum) =
            (vec![0.0; n], vec![0.0; n], vec![0.0; d], vec![0.0; d]);
        seconds[threads - 1] = pool(threads).install(|| {
            best_times(
                rounds(data.len()),
                [
                    &mut || {
                        black_box(
                            data.par_chunks(data.len().div_ceil(threads)).map(stream).sum::<f64>(),
                        );
                    },
                    &mut || f.means(&theta, &mut averages),
                    &mut || f.add_weighted_jac_t(&theta, &w, &mut sum),
                    &mut || f.snapshot(&theta, &w, &mut f_bar, &mut u),
                ],
            )
        });
        black_box((&f_bar, &averages, &u, &sum));
        let [read, ..] = seconds[threads - 1];
        for (k, (what, products)) in
            [("averages", 1), ("weighted Jacobians", 1), ("snapshot", 2)].into_iter().enumerate()
        {
            let compute = (products * data.len()) as f64 / peak / threads as f64;
            let (bound, of) = if compute > read { (compute, "peak") } else { (read, "reading") };
            let title =
                format!("{what}, {name}, {threads} thread{}", if threads == 1 { "" } else { "s" });
            table.push(Row::share(title, seconds[threads - 1][k + 1], bound, of, least));
        }
    }
    for (k, what) in
        ["bare reading", "averages", "weighted Jacobians", "snapshot"].into_iter().enumerate()
    {
        let least = (k > 0).then_some(1.8);
        table.push(Row::speedup(format!("{what}, {name}"), seconds[1][k], seconds[0][k], least));
    }
}

/// Returns of a factor model, repeated from 100 000 rows on.
fn returns(n: usize, d: usize) -> Vec<f64> {
    let few = generate_factor_model(n.min(100_000), d, 1).values;
    few.iter().copied().cycle().take(n * d).collect()
}

fn all_passes(table: &mut Vec<Row>) {
    let peak = peak();
    for (n, d) in [(7240, 25), (1_000_000, 25), (100_000, 100)] {
        let portfolio = Portfolio::new(d, returns(n, d)).expect("generated returns");
        passes(
            &format!("{n} x {d}"),
            &portfolio,
            &portfolio.returns().numbers(),
            peak,
            Some(0.7),
            table,
        );
    }
    let (n, d, each) = (100_000, 50_000, 50);
    let mut draws = Stream::new(1, 0);
    let mut columns = Vec::with_capacity(n * each);
    for _ in 0..n {
        let start = columns.len();
        columns.extend((0..each).map(|k| (k * (d / each) + draws.index(d / each)) as u32));
        columns[start..].sort_unstable();
    }
    let values: Vec<f64> = (0..n * each).map(|_| draws.unit()).collect();
    // A value and half as much for its column.
    let read: Vec<f64> = vec![1.0; n * each * 3 / 2];
    let starts = (0..=n).map(|i| i * each).collect();
    let rows = SparseRows::new(d, starts, columns, values).expect("rising columns");
    let collapsed = Collapsed::from_sparse_rows(rows, vec![0.0; n]);
    passes(&format!("{n} sparse rows of {each} in {d}"), &collapsed, &read, peak, None, table);
}

fn products(table: &mut Vec<Row>) {
    let peak = peak();
    for threads in [1, 2] {
        let own = pool(threads);
        let bound = peak * threads as f64;
        for (n, d) in [(7240, 25), (20_000, 100), (5000, 300), (3000, 1000)] {
            let rows = returns(n, d);
            let [seconds] = own.install(|| {
                best_times(
                    rounds(n * d * d / 20),
                    [&mut || {
                        black_box(gram::of_rows(d, &rows, &|_| 0.5));
                    }],
                )
            });
            let least = (d >= 100).then_some(0.7);
            let name = format!("Gram matrix, {n} x {d}, {threads} threads");
            table.push(Row::share(
                name,
                seconds,
                (n * d * (d + 1) / 2) as f64 / bound,
                "peak",
                least,
            ));
        }
        for d in [300, 1000] {
            let mut matrix = gram::of_rows(d, &returns(2 * d, d), &|_| 1.0);
            gram::add_ridge(1.0, 1.0, d, &mut matrix);
            let [seconds] = own.install(|| {
                best_times(
                    rounds(d * d * d / 60),
                    [&mut || {
                        black_box(Cholesky::new(&matrix, d).expect("positive definite"));
                    }],
                )
            });
            let name = format!("Cholesky, {d}, {threads} threads");
            table.push(Row::share(name, seconds, (d * d * d / 6) as f64 / bound, "peak", None));
        }
        let (n, d, k) = (2000, 10_000, 10);
        let (rows, b) = (returns(n, d), vec![0.5; d * k]);
        let mut out = vec![0.0; n * k];
        let [read, seconds] = own.install(|| {
            best_times(
                rounds(n * d),
                [
                    &mut || {
                        black_box(
                            rows.par_chunks(rows.len().div_ceil(threads)).map(stream).sum::<f64>(),
                        );
                    },
                    &mut || product::product(&rows, d, &b, k, &mut out),
                ],
            )
        });
        let name = format!("product, {n} x {d} x {k}, {threads} threads");
        table.push(Row::share(
            name,
            seconds,
            read.max((n * d * k) as f64 / bound),
            "reading or peak",
            None,
        ));
    }
}

/// The chain that no primal-dual step can avoid: `c = <x, theta>`, `u += c x`, `theta -= alpha u`,
/// each waiting for the last.
fn bare_chain(
    rows: &[f64],
    d: usize,
    order: impl Iterator<Item = usize>,
    u: &mut [f64],
    theta: &mut [f64],
) {
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
fn run_steps<M: Method>(method: &M, oracle: &mut Oracle<'_>, state: &mut M::State, steps: usize) {
    dispatch(
        #[inline(always)]
        || method.inner_steps(oracle, state, steps),
    );
}

/// A portfolio with such a g.
fn portfolio_steps<G: Regularizer + Clone>(
    d: usize,
    n: usize,
    g: &G,
    name: &str,
    most: Option<f64>,
    table: &mut Vec<Row>,
) {
    let problem = Portfolio::new(d, returns(n, d))
        .and_then(|p| p.problem(Square::new(1.0)?, g.clone()))
        .expect("generated returns make a problem");
    steps((&problem).into(), &problem.inner.returns().numbers(), name, most, table);
}

/// Least squares with a ridge.
fn linear_steps(d: usize, n: usize, most: Option<f64>, table: &mut Vec<Row>) {
    let rows = returns(n, d);
    let inner = Collapsed::from_rows(d, rows.clone(), returns(n, 1));
    let regularizer = Ridge::from_weight(1e-3).expect("a weight");
    let problem = Problem { inner, merit: Square::new(0.5).expect("a weight"), regularizer };
    steps((&problem).into(), &rows, ", linear", most, table);
}

fn steps(
    problem: Objective<'_>,
    rows: &[f64],
    name: &str,
    most: Option<f64>,
    table: &mut Vec<Row>,
) {
    let (d, n) = (problem.inner.d(), problem.inner.n_x());
    let start = vec![1.0 / d as f64; d];
    let settings =
        Settings::choose(&Choice::seeded(1), problem, &start).expect("the default steps");
    let steps = n.min(20_000);
    let (one, two) = (Svrpda1(settings.clone()), Svrpda2(settings));
    let (mut oracle1, mut oracle2) = (Oracle::new(problem), Oracle::new(problem));
    let mut state1 = Method::init(&one, &mut oracle1, &start);
    let mut state2 = Method::init(&two, &mut oracle2, &start);
    Method::outer(&one, &mut oracle1, &mut state1);
    Method::outer(&two, &mut oracle2, &mut state2);
    let mut u = Aligned::from(vec![1e-3; d]);
    let mut theta = u.clone();
    let (mut u_random, mut theta_random) = (u.clone(), theta.clone());
    let mut draws = Stream::new(1, 0);
    let order: Vec<usize> = (0..steps).map(|_| draws.index(n)).collect();
    let [bare, bare_random, svrpda1, svrpda2] = best_times(
        100,
        [
            &mut || bare_chain(rows, d, 0..steps, &mut u, &mut theta),
            &mut || bare_chain(rows, d, order.iter().copied(), &mut u_random, &mut theta_random),
            &mut || run_steps(&one, &mut oracle1, &mut state1, steps),
            &mut || run_steps(&two, &mut oracle2, &mut state2, steps),
        ],
    );
    black_box((&theta, &theta_random, &state1.theta, &state2.theta));
    let mut row = |what: &str, seconds: f64, most| {
        let name = format!("{what}, {n} x {d}{name}");
        table.push(Row::ratio(
            name,
            seconds / steps as f64,
            bare / steps as f64,
            "bare chain",
            most,
        ));
    };
    row("bare chain, rows in order", bare, None);
    row("bare chain, random rows", bare_random, None);
    row("SVRPDA-I step", svrpda1, most);
    row("SVRPDA-II step", svrpda2, None);
}

fn all_steps(table: &mut Vec<Row>) {
    portfolio_steps(25, 7240, &Unregularized, "", Some(1.6), table);
    linear_steps(25, 7240, Some(1.6), table);
    portfolio_steps(25, 1_000_000, &Unregularized, "", None, table);
    portfolio_steps(25, 7240, &Simplex, ", long only", None, table);
    portfolio_steps(200, 2000, &Unregularized, "", None, table);
}

/// A part of the table, and what adds its rows.
type Section = (&'static str, fn(&mut Vec<Row>));

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sections: [Section; 3] =
        [("passes", all_passes), ("products", products), ("steps", all_steps)];
    let named = sections.iter().any(|(name, _)| words.iter().any(|word| word == name));
    println!("peak: {:.1} thousand million multiply-adds a second on one thread", peak() / 1e9);
    let mut missed = false;
    for (name, section) in sections {
        if named && !words.iter().any(|word| word == name) {
            continue;
        }
        let mut table = Vec::new();
        section(&mut table);
        println!("\n{name}");
        for Row { name, seconds, figure, limit } in &table {
            let nanos = seconds * 1e9;
            let time = if nanos < 1e4 {
                format!("{nanos:.1} ns")
            } else {
                format!("{:.1} us", nanos / 1e3)
            };
            missed |= limit.as_ref().is_some_and(|(_, held)| !held);
            let note = limit.as_ref().map_or(String::new(), |(limit, held)| {
                format!(" ({limit}{})", if *held { "" } else { ": MISSED" })
            });
            println!("{name:56} {time:>12}  {figure}{note}");
        }
    }
    if words.iter().any(|word| word == "--check") && missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
