//! How Newton's method should make its first Hessian: from how many rows for each coordinate; and
//! what it takes beside L-BFGS.
//!
//! Logistic and squared hinge losses with a ridge of 1/n, normal features, labels by logistic
//! probabilities of scores that deviate by 1 or 3; sparse rows with columns by Zipf's law. For
//! every choice the steps, the passes' worth of rows and the median seconds of the method's own
//! time until P is within 1e-6 of the optimum, relative. Writes `experiments/results/newton.md`.

use std::fmt::Write;

use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::methods::lbfgs::Lbfgs;
use innermean::methods::newton::Newton;
use innermean::{
    Choice, Collapsed, Driver, Fused, Inner, Listed, Logistic, Merit, Method, Problem, Ridge,
    Solution, SquaredHinge, Stop,
};
use innermean_experiments::timing::median;

/// A draw from the normal distribution.
fn normal(draws: &mut Stream) -> f64 {
    (-2.0 * (1.0 - draws.unit()).ln()).sqrt() * (std::f64::consts::TAU * draws.unit()).cos()
}

/// Labels by logistic probabilities of the scores of a normal theta, scaled so that scores deviate
/// by `spread`.
fn labels(f: &Collapsed, spread: f64) -> Vec<f64> {
    let mut draws = Stream::new(7, 0);
    let theta: Vec<f64> = (0..f.d()).map(|_| normal(&mut draws)).collect();
    let mut scores = vec![0.0; f.n_x()];
    f.f().means(&theta, &mut scores);
    let size = (scores.iter().map(|s| s * s).sum::<f64>() / scores.len() as f64).sqrt();
    let mut label =
        |score: f64| if draws.unit() * (1.0 + (-score).exp()) < 1.0 { 1.0 } else { -1.0 };
    scores.iter().map(|score| label(spread * score / size)).collect()
}

fn dense(n: usize, d: usize) -> Collapsed {
    let mut draws = Stream::new(1, 0);
    Collapsed::from_rows(
        d,
        (0..n * d).map(|_| normal(&mut draws)).collect::<Vec<f64>>(),
        vec![0.0; n],
    )
}

fn sparse(n: usize, d: usize, nonzeros: usize) -> Collapsed {
    let mut draws = Stream::new(2, 0);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let mut own: Vec<u32> = Vec::with_capacity(nonzeros);
        while own.len() < nonzeros {
            // The inverse of the distribution function of 1/k, nearly.
            let column = ((d as f64).powf(draws.unit()) - 1.0) as u32;
            if !own.contains(&column) {
                own.push(column);
            }
        }
        own.sort_unstable();
        values.extend(own.iter().map(|_| normal(&mut draws) / (nonzeros as f64).sqrt()));
        columns.extend(own);
        starts.push(columns.len());
    }
    Collapsed::from_sparse_rows(
        SparseRows::new(d, starts, columns, values).expect("rising columns"),
        vec![0.0; n],
    )
}

type Loss<'p> = Problem<&'p Collapsed, Box<dyn Merit>, Ridge>;

fn run(problem: &Loss<'_>, method: &impl Method, target: f64) -> Solution {
    let stop = Stop {
        max_outer: Some(300),
        target_objective: Some(target),
        tolerance: None,
        ..Stop::default()
    };
    let driver = Driver { stop, ..Driver::default() };
    driver.run(problem, method, &vec![0.0; problem.inner.d()], &mut ())
}

fn main() {
    let rounds =
        std::env::args().nth(1).map_or(5, |rounds| rounds.parse().expect("a number of rounds"));
    let cases = [
        ("dense 100 000 x 100", dense(100_000, 100)),
        ("dense 200 000 x 20", dense(200_000, 20)),
        ("dense 40 000 x 400", dense(40_000, 400)),
        ("sparse 200 000 x 50 000, 50 a row", sparse(200_000, 50_000, 50)),
    ];
    let mut table = "# Newton's first Hessian\n\nWritten by `cargo run --release -p innermean-experiments --bin newton`.\n\n".to_owned();
    table += "| data | loss | scores | method | steps | passes | seconds |\n|---|---|---|---|---|---|---|\n";
    for (name, f) in &cases {
        for (loss, spread) in [("logistic", 1.0), ("logistic", 3.0), ("squared hinge", 3.0)] {
            let labels = labels(f, spread);
            let merit: Box<dyn Merit> = if loss == "logistic" {
                Box::new(Logistic::new(labels).expect("labels"))
            } else {
                Box::new(SquaredHinge::new(labels).expect("labels"))
            };
            let regularizer = Ridge::from_weight(1.0 / f.n_x() as f64).expect("a weight");
            let problem = Problem { inner: f, merit, regularizer };
            let start = vec![0.0; f.d()];
            let newton = Newton::choose(&Choice::default(), &problem, &start).expect("it suits");
            let best = run(&problem, &newton, f64::NEG_INFINITY).objective;
            let target = best + 1e-6 * best.abs();
            let is_dense = f.d() < 1000;
            let choices: &[usize] = if is_dense { &[10, 20, 40, 80, 160] } else { &[40] };
            let mut methods: Vec<(String, Box<dyn Fn() -> Solution>)> = Vec::new();
            for &rows in choices {
                let (newton, problem) = (Newton { rows, ..newton.clone() }, &problem);
                let title = if is_dense {
                    format!("newton, {rows} rows")
                } else {
                    "newton, diagonal".to_owned()
                };
                methods.push((title, Box::new(move || run(problem, &newton, target))));
            }
            let lbfgs = Lbfgs::choose(&Choice::default(), &problem, &start).expect("it suits");
            let problem = &problem;
            methods.push(("lbfgs".to_owned(), Box::new(move || run(problem, &lbfgs, target))));
            let mut seconds = vec![Vec::new(); methods.len()];
            let mut last = Vec::new();
            for round in 0..=rounds {
                last = methods.iter().map(|(_, method)| method()).collect::<Vec<Solution>>();
                if round > 0 {
                    seconds
                        .iter_mut()
                        .zip(&last)
                        .for_each(|(seconds, run)| seconds.push(run.seconds));
                }
            }
            for (((title, _), seconds), run) in methods.iter().zip(seconds).zip(&last) {
                let (steps, passes) = (run.outer, run.rows as f64 / f.n_x() as f64);
                let line = format!(
                    "| {name} | {loss} | {spread} | {title} | {steps} | {passes:.1} | {:.4} |",
                    median(seconds)
                );
                println!("{line}");
                writeln!(table, "{line}").expect("a string");
            }
        }
    }
    std::fs::create_dir_all("experiments/results").expect("run it from the root of the project");
    std::fs::write("experiments/results/newton.md", table).expect("a file that can be written");
}
