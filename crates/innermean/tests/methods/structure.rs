//! Laws of f: products against differences, averages against their definition, fused calls against
//! the plain ones; and that structure changes the cost of a run and never its answer.

use crate::support::process;
use crate::support::sparse::{Sparse, SparseData};
use crate::support::toy::{Affine, SoftplusUnits};
use innermean::draws::Stream;
use innermean::problems::linear::predictors;
use innermean::problems::transitions::END;
use innermean::{
    Bellman, Choice, Driver, Facts, Inner, Moves, Objective, Portfolio, Problem, Sample, Settings,
    Square, StateFeatures, Stop, Svrpda1, Svrpda2, Transitions, Unregularized,
};
use innermean_data::{MdpOptions, Rewards, generate_factor_model, generate_mdp};

/// What a problem must say about itself, and nothing more: no structure, no fused calls.
struct Plain<F>(F);

impl<F: Inner> Inner for Plain<F> {
    fn d(&self) -> usize {
        self.0.d()
    }

    fn ell(&self) -> usize {
        self.0.ell()
    }

    fn n_x(&self) -> usize {
        self.0.n_x()
    }

    fn n_y(&self, i: usize) -> usize {
        self.0.n_y(i)
    }

    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        self.0.value(theta, i, j, out);
    }

    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        self.0.add_jac_t(theta, i, j, w, c, out);
    }
}

/// `f_theta(y_j) = theta_0 + theta_1 y_j`, the same for every i.
struct Shared(Vec<f64>);

impl Inner for Shared {
    fn d(&self) -> usize {
        2
    }

    fn n_x(&self) -> usize {
        13
    }

    fn n_y(&self, _: usize) -> usize {
        self.0.len()
    }

    fn facts(&self) -> Facts {
        Facts::affine().with_sample(Sample::Shared)
    }

    fn value(&self, theta: &[f64], _: usize, j: usize, out: &mut [f64]) {
        out[0] = theta[0] + theta[1] * self.0[j];
    }

    fn add_jac_t(&self, _: &[f64], _: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[0] += c * w[0];
        out[1] += c * w[0] * self.0[j];
    }
}

fn portfolio(n: usize, d: usize) -> Portfolio {
    Portfolio::new(d, generate_factor_model(n, d, 3).values).expect("generated returns")
}

fn bellman(rewards: Rewards) -> Bellman {
    process::bellman(&generate_mdp(&MdpOptions {
        states: 13,
        d: 6,
        rewards,
        ..MdpOptions::default()
    }))
}

/// Ragged, with weights, ends, successors that repeat and a state that is never left.
fn transitions(d: Option<usize>) -> Transitions {
    let moves = Moves {
        from: (0..60).map(|k| k * k % 13).chain(if d.is_some() { 0..0 } else { 0..13 }).collect(),
        next: (0..73).map(|k| if k % 8 == 3 { END } else { k * 5 % 13 }).collect(),
        rewards: numbers(73, 7),
        weights: Some(numbers(73, 8).iter().map(|x| 0.1 + x.abs()).collect()),
    };
    let cut = moves.from.len();
    let moves = Moves {
        next: moves.next[..cut].to_vec(),
        rewards: moves.rewards[..cut].to_vec(),
        weights: moves.weights.map(|weights| weights[..cut].to_vec()),
        ..moves
    };
    let features = match d {
        Some(d) => StateFeatures::Rows { d, rows: numbers(13 * d, 9) },
        None => StateFeatures::OneHot { states: 13 },
    };
    Transitions::new(features, moves, 0.9).expect("a log")
}

/// Every f there is, in sizes that leave no block whole.
fn each_inner(mut check: impl FnMut(&str, &dyn Inner)) {
    check("portfolio", &portfolio(45, 7));
    check("a portfolio of many assets", &portfolio(9, 70));
    check("affine, ell = 2, ragged", &Affine::random(5, 2, 11, |i| 1 + i % 4, 1));
    check("Bellman, rewards of transitions", &bellman(Rewards::PerTransition));
    check("Bellman, rewards of states", &bellman(Rewards::PerState));
    check("transitions, rows of features", &transitions(Some(6)));
    check("transitions, one-hot", &transitions(None));
    let rows = numbers(7 * 19, 5);
    check("linear", &predictors(7, rows, numbers(19, 6)).expect("finite rows"));
    check("linear, sparse", &SparseData::random(19, 30, 3, true, 4).sparse());
    check("affine, sparse, ragged", &Sparse::new(17, 11, true));
    check("softplus, ragged", &SoftplusUnits::random(6, 9, |i| 2 + i % 3, 2));
    check("shared", &Shared(vec![1.0, -2.0, 4.5]));
    check("boxed", &(Box::new(portfolio(20, 3)) as Box<dyn Inner>));
    check("borrowed", &&Affine::random(3, 1, 4, |_| 2, 5));
}

fn numbers(n: usize, stream: u64) -> Vec<f64> {
    let mut draws = Stream::new(11, stream);
    (0..n).map(|_| 2.0 * draws.unit() - 1.0).collect()
}

fn assert_close(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (l, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            (got - expected).abs() <= tolerance * (1.0 + expected.abs()),
            "{what}, entry {l}: {got} {expected}"
        );
    }
}

#[test]
fn products_with_the_jacobian_equal_central_differences() {
    each_inner(|name, f| {
        let (theta, w) = (numbers(f.d(), 1), numbers(f.ell(), 2));
        let (i, j) = (f.n_x() - 1, f.n_y(f.n_x() - 1) - 1);
        let along = |theta: &[f64]| {
            let mut out = vec![0.0; f.ell()];
            f.value(theta, i, j, &mut out);
            out.iter().zip(&w).map(|(f, w)| f * w).sum::<f64>()
        };
        let mut product = vec![0.5; f.d()];
        f.add_jac_t(&theta, i, j, &w, -2.0, &mut product);
        let differences: Vec<f64> = (0..f.d())
            .map(|l| {
                let step = 1e-5;
                let [mut up, mut down] = [theta.clone(), theta.clone()];
                up[l] += step;
                down[l] -= step;
                0.5 - 2.0 * (along(&up) - along(&down)) / (2.0 * step)
            })
            .collect();
        assert_close(&product, &differences, 1e-7, name);
    });
}

#[test]
fn averages_snapshots_and_differences_are_what_they_are_defined_to_be() {
    each_inner(|name, f| {
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let (theta, theta_ref, w) = (numbers(d, 1), numbers(d, 2), numbers(n_x * ell, 3));
        let plain = Plain(f);

        let (mut got, mut expected) = (vec![1.0; n_x * ell], vec![2.0; n_x * ell]);
        f.means(&theta, &mut got);
        for i in 0..n_x {
            // By definition, one value after the other.
            let mut mean = vec![0.0; ell];
            for j in 0..f.n_y(i) {
                let mut value = vec![0.0; ell];
                f.value(&theta, i, j, &mut value);
                mean.iter_mut()
                    .zip(value)
                    .for_each(|(mean, value)| *mean += value / f.n_y(i) as f64);
            }
            expected[i * ell..(i + 1) * ell].copy_from_slice(&mean);
            let (mut one, mut work) = (vec![9.0; ell], vec![9.0; ell]);
            f.mean(&theta, i, &mut work, &mut one);
            assert_close(&one, &mean, 1e-12, name);
        }
        assert_close(&got, &expected, 1e-12, name);

        let (mut got, mut expected) = (vec![1.0; n_x * ell * d], vec![2.0; n_x * ell * d]);
        f.mean_jacobians(&theta, &mut got);
        (&plain as &dyn Inner).mean_jacobians(&theta, &mut expected);
        assert_close(&got, &expected, 1e-12, name);

        // (1/n_X) sum_i fbar_i' w_i from those Jacobians.
        let mut by_definition = vec![0.25; d];
        for (row, w) in expected.chunks_exact(d).zip(&w) {
            by_definition.iter_mut().zip(row).for_each(|(sum, x)| *sum += w * x / n_x as f64);
        }
        let mut got = vec![0.25; d];
        f.add_weighted_jac_t(&theta, &w, &mut got);
        assert_close(&got, &by_definition, 1e-12, name);

        let (mut f_bar, mut u) = (vec![7.0; n_x * ell], vec![7.0; d]);
        f.snapshot(&theta, &w, &mut f_bar, &mut u);
        let mut means = vec![0.0; n_x * ell];
        f.means(&theta, &mut means);
        assert_close(&f_bar, &means, 1e-13, name);
        for u in &mut u {
            *u += 0.25;
        }
        assert_close(&u, &by_definition, 1e-12, name);

        let (i, j) = (n_x / 2, 0);
        let [mut got, mut expected, mut work] = [vec![3.0; ell], vec![4.0; ell], vec![5.0; ell]];
        f.difference(&theta, &theta_ref, i, j, &mut work, &mut got);
        (&plain as &dyn Inner).difference(&theta, &theta_ref, i, j, &mut work, &mut expected);
        assert_close(&got, &expected, 1e-12, name);
        let [mut got, mut expected] = [vec![0.5; d], vec![0.5; d]];
        f.add_jac_t_difference(&theta, &theta_ref, i, j, &w[..ell], 2.0, &mut got);
        (&plain as &dyn Inner).add_jac_t_difference(
            &theta,
            &theta_ref,
            i,
            j,
            &w[..ell],
            2.0,
            &mut expected,
        );
        assert_close(&got, &expected, 1e-12, name);
        if f.facts().affine {
            assert_close(&got, &vec![0.5; d], 1e-12, name);
        }
        // Hints may be given for any pair and change nothing that can be seen.
        f.prefetch(i, j);
    });
}

/// Where f tells what a term looks at, it looks at nothing else.
#[test]
fn supports_hold_all_that_a_term_looks_at() {
    let mut told = 0;
    each_inner(|name, f| {
        let theta = numbers(f.d(), 4);
        for i in 0..f.n_x() {
            assert_eq!(
                f.support(i).is_some(),
                f.support(0).is_some(),
                "{name}: for every term or for none"
            );
            let Some(support) = f.support(i) else { continue };
            told += 1;
            assert!(
                support.is_sorted_by(|a, b| a < b) && support.iter().all(|&l| (l as usize) < f.d())
            );
            for j in 0..f.n_y(i) {
                let mut row = vec![0.0; f.d()];
                f.add_jac_t(&theta, i, j, &numbers(f.ell(), 5), 1.0, &mut row);
                let outside = (0..f.d()).filter(|&l| !support.contains(&(l as u32)));
                assert!(outside.into_iter().all(|l| row[l] == 0.0), "{name}, pair {i}, {j}");
            }
        }
    });
    assert!(told > 0);
}

#[test]
fn bounds_hold_at_random_points() {
    each_inner(|name, f| {
        let bounds = f.bounds();
        let theta = numbers(f.d(), 4);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut unit = vec![0.0; f.ell()];
        unit[0] = 1.0;
        for i in 0..f.n_x() {
            for j in 0..f.n_y(i) {
                let mut row = vec![0.0; f.d()];
                f.add_jac_t(&theta, i, j, &unit, 1.0, &mut row);
                assert!(
                    bounds.b_f.is_none_or(|b_f| norm(&row) <= b_f * (1.0 + 1e-12)),
                    "{name}, pair {i}, {j}"
                );
            }
            let mut row = vec![0.0; f.d()];
            f.add_mean_jac_t(&theta, i, &unit, 1.0, &mut row);
            assert!(
                bounds.mean_jacobian.is_none_or(|b| norm(&row) <= b * (1.0 + 1e-12)),
                "{name}, mean {i}"
            );
        }
    });
}

fn ten_epochs<'p>(problem: impl Into<Objective<'p>>, method: &str) -> Vec<f64> {
    let problem = problem.into();
    let d = problem.inner.d();
    let driver = Driver {
        stop: Stop { max_outer: Some(10), tolerance: None, ..Stop::default() },
        ..Driver::default()
    };
    let n = problem.inner.n_x();
    let choice = Choice {
        alpha_theta: Some(2e-3),
        alpha_w: Some(2.0),
        inner_iterations: Some(n),
        warmup_epochs: Some(1),
        ..Choice::default()
    };
    let start = vec![0.1; d];
    let settings =
        Settings::choose(&Choice { seed: 5, ..choice }, problem, &start).expect("steps above zero");
    if method == "svrpda1" {
        driver.run(problem, &Svrpda1(settings), &start, &mut ()).theta
    } else {
        driver.run(problem, &Svrpda2(settings), &start, &mut ()).theta
    }
}

#[test]
fn structure_changes_the_cost_and_not_the_answer() {
    let (structured, plain) = (portfolio(90, 6), Plain(portfolio(90, 6)));
    let facts = structured.facts();
    assert_eq!((facts.affine, facts.sample), (true, Sample::Separable));
    assert_eq!(plain.facts(), Facts::default());
    let merit = Square::new(1.0).expect("a weight");
    let with = structured.problem(merit, Unregularized).expect("finite returns");
    let without = Problem { inner: plain, merit, regularizer: with.regularizer.clone() };
    let boxed: Box<dyn Inner> = Box::new(portfolio(90, 6));
    let boxed = Problem { inner: boxed, merit, regularizer: with.regularizer.clone() };
    for method in ["svrpda1", "svrpda2"] {
        let theta = ten_epochs(&with, method);
        assert_close(&ten_epochs(&without, method), &theta, 1e-10, method);
        assert_eq!(ten_epochs(&boxed, method), theta, "{method}: behind a pointer, bit for bit");
    }
}
