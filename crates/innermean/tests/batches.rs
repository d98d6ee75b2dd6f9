//! Steps of SVRPDA-I and II in batches, and the passes and blocks of bags that they are on.

use std::ops::Range;

use crate::allocations::allocations;
use crate::support::toy::{Affine, SoftplusUnits, softplus_of_softplus};
use innermean::inner::{Duals, block_of};
use innermean::{
    Bags, Bernoulli, Calls, Choice, Driver, FreeTail, Groups, Inner, Link, Listed, Method,
    NegativeLog, Objective, Oracle, Problem, Reference, Ridge, SoftmaxBags, Square, Stop, Svrpda1,
    Svrpda2,
};
use innermean_data::{GroupOptions, RowLabels, generate_groups};

/// Groups of 1 to 9 rows and, if wanted, two large ones that passes cut into segments.
fn groups(large: bool, intercept: bool) -> Groups {
    let draw = |groups, rows, seed| {
        generate_groups(&GroupOptions {
            groups,
            rows,
            features: 5,
            labels: RowLabels::Binary,
            seed,
        })
    };
    let mut data = draw(40, (1, 9), 3);
    if large {
        let more = draw(2, (1500, 3000), 4);
        data.rows.extend(&more.rows);
        data.groups.extend(more.groups.iter().map(|group| group + 40));
    }
    let count = *data.groups.last().unwrap() as usize + 1;
    Groups::gather(5, &data.rows, &data.groups, count, intercept).unwrap().0
}

fn theta(d: usize, salt: usize) -> Vec<f64> {
    (0..d).map(|l| ((7 * l + 3 * salt) % 11) as f64 / 8.0 - 0.6).collect()
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (l, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}, {l}: {a} {b}");
    }
}

/// Runs `check` on every kind of f: with blocks and passes of its own, and with the provided ones.
fn on_every_f(check: impl Fn(&dyn Inner, &str)) {
    for large in [false, true] {
        for intercept in [false, true] {
            let groups = || groups(large, intercept);
            let targets: Vec<f64> = (0..groups().count()).map(|i| i as f64 / 50.0).collect();
            check(&Bags::new(groups(), Link::Logistic), "logistic");
            check(
                &Bags::with_targets(groups(), Link::Exp, targets.clone()).unwrap(),
                "exp, targets",
            );
            check(
                &Bags::with_targets(groups(), Link::Identity, targets).unwrap(),
                "identity, targets",
            );
            check(&SoftmaxBags::new(groups(), 3).unwrap(), "softmax");
        }
    }
    check(&SoftmaxBags::new(groups(true, true), 40).unwrap(), "softmax of many classes");
    check(&Affine::random(4, 2, 10, |i| 1 + 7 * i, 1), "affine");
    check(&SoftplusUnits::random(4, 10, |i| 1 + 7 * i, 2), "softplus");
}

/// Over the blocks of a term, weighted by the probability with which they are drawn, block queries
/// average to the mean over all samples; and the block of one sample is that sample.
#[test]
fn blocks_are_unbiased() {
    on_every_f(|f, what| {
        let (d, ell) = (f.d(), f.ell());
        let (a, b) = (theta(d, 1), theta(d, 2));
        let w: Vec<f64> = (0..ell).map(|c| 0.4 - 0.3 * c as f64).collect();
        let mut work = vec![0.0; ell];
        for (i, most) in
            [(0, 1), (f.n_x() - 1, 1), (f.n_x() - 1, 7), (f.n_x() / 2, 64), (f.n_x() - 1, 100)]
        {
            let n_y = f.n_y(i);
            let mut expected = [vec![0.0; ell], vec![0.0; ell], vec![0.0; d], vec![0.0; d]];
            let mut j = 0;
            while j < n_y {
                let js = block_of(j, n_y, most);
                let share = js.len() as f64 / n_y as f64;
                let mut value = vec![f64::NAN; ell];
                let add = |value: &[f64], to: &mut [f64]| {
                    to.iter_mut().zip(value).for_each(|(to, value)| *to += share * value);
                };
                f.block_mean(&a, i, js.clone(), &mut work, &mut value);
                add(&value, &mut expected[0]);
                f.block_difference(&a, &b, i, js.clone(), &mut work, &mut value);
                add(&value, &mut expected[1]);
                f.add_block_jac_t(&a, i, js.clone(), &w, share, &mut expected[2]);
                f.add_block_jac_t_difference(&a, &b, i, js.clone(), &w, share, &mut expected[3]);
                j = js.end;
            }
            let (mut at_a, mut at_b) = (vec![0.0; ell], vec![0.0; ell]);
            f.mean(&a, i, &mut work, &mut at_a);
            f.mean(&b, i, &mut work, &mut at_b);
            let difference: Vec<f64> = at_a.iter().zip(&at_b).map(|(a, b)| a - b).collect();
            let (mut product, mut of_difference) = (vec![0.0; d], vec![0.0; d]);
            f.add_mean_jac_t(&a, i, &w, 1.0, &mut product);
            f.add_mean_jac_t(&a, i, &w, 1.0, &mut of_difference);
            f.add_mean_jac_t(&b, i, &w, -1.0, &mut of_difference);
            for (expected, got) in expected.iter().zip([at_a, difference, product, of_difference]) {
                assert_close(&got, expected, 1e-11, what);
            }
        }
    });
}

/// One sweep over the rows says what several say, on any number of threads with the same bits.
#[test]
fn fused_passes_are_what_they_fuse() {
    on_every_f(|f, what| {
        let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
        let theta = theta(d, 1);
        // phi_i(u) = |u|^2 (i + 1) / 2
        let duals = |terms: Range<usize>, u: &[f64], w: &mut [f64]| {
            let mut sum = 0.0;
            for (k, (u, w)) in u.iter().zip(w).enumerate() {
                let weight = (terms.start + k / ell + 1) as f64;
                *w = weight * u;
                sum += 0.5 * weight * u * u;
            }
            sum
        };
        let duals: &Duals<'_> = &duals;
        let run = || {
            let (mut f_bar, mut w, mut out) =
                (vec![f64::NAN; n_x * ell], vec![f64::NAN; n_x * ell], vec![f64::NAN; d]);
            let loss = f.gradient(&theta, duals, &mut f_bar, &mut w, &mut out);
            let (mut means, mut jacobians) =
                (vec![f64::NAN; n_x * ell], vec![f64::NAN; n_x * ell * d]);
            f.means_and_jacobians(&theta, &mut means, &mut jacobians);
            (loss, f_bar, w, out, means, jacobians)
        };
        let on = |threads| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
        };
        let (loss, f_bar, w, out, means, jacobians) = on(1);
        assert_eq!(
            on(2),
            (loss, f_bar.clone(), w.clone(), out.clone(), means.clone(), jacobians.clone()),
            "{what}"
        );
        let (mut slow_bar, mut slow_w, mut slow_out) =
            (vec![0.0; n_x * ell], vec![0.0; n_x * ell], vec![0.0; d]);
        f.means(&theta, &mut slow_bar);
        assert_close(&f_bar, &slow_bar, 1e-12, what);
        assert_close(&means, &slow_bar, 1e-12, what);
        let slow_loss = duals(0..n_x, &slow_bar, &mut slow_w) / n_x as f64;
        assert_close(&[loss], &[slow_loss], 1e-12, what);
        assert_close(&w, &slow_w, 1e-10, what);
        f.add_weighted_jac_t(&theta, &slow_w, &mut slow_out);
        assert_close(&out, &slow_out, 1e-10, what);
        let mut slow_jacobians = vec![f64::NAN; n_x * ell * d];
        f.mean_jacobians(&theta, &mut slow_jacobians);
        assert_close(&jacobians, &slow_jacobians, 1e-11, what);
    });
}

fn with_square<F: Inner>(inner: F) -> Problem<F, Square, Ridge> {
    Problem {
        inner,
        merit: Square::new(1.0).unwrap(),
        regularizer: Ridge::from_weight(0.1).unwrap(),
    }
}

/// The bits of theta and of the duals after two outer iterations, which allocate nothing in a step,
/// and what they cost. With `cut`, the state is written and read back in the middle of the second.
fn run<'p>(
    problem: impl Into<Objective<'p>>,
    method: &impl Method,
    cut: bool,
) -> (Vec<u64>, Calls, u64) {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    let (mut calls, mut rows) = (Calls::default(), 0);
    for outer in 0..2 {
        method.outer(&mut oracle, &mut state);
        let before = (oracle.calls, oracle.rows);
        for k in 0..method.inner_iterations(&state) {
            if cut && outer == 1 && k == 5 {
                let bytes = postcard::to_stdvec(&state).unwrap();
                state = postcard::from_bytes(&bytes).unwrap();
            }
            assert_eq!(
                allocations(|| method.inner(&mut oracle, &mut state)),
                0,
                "step {k} of loop {outer}"
            );
        }
        calls = calls + (oracle.calls - before.0);
        rows += oracle.rows - before.1;
    }
    let numbers = method.theta(&state).iter().chain(method.duals(&state).unwrap());
    (numbers.map(|x| x.to_bits()).collect(), calls, rows)
}

fn given(batch: Option<usize>, outer_batch: Option<usize>, inner_iterations: usize) -> Choice {
    let steps = Choice { alpha_theta: Some(1e-2), alpha_w: Some(0.5), ..Choice::seeded(7) };
    Choice { inner_iterations: Some(inner_iterations), batch, outer_batch, ..steps }
}

fn check_state<'p>(problem: impl Into<Objective<'p>>) {
    let problem = problem.into();
    let start = vec![0.1; problem.inner.d()];
    for reference in [Reference::Last, Reference::Random, Reference::Average] {
        for warmup_epochs in [0, 1] {
            let choice = Choice {
                reference: Some(reference),
                warmup_epochs: Some(warmup_epochs),
                ..given(Some(6), Some(2), 12)
            };
            let one = Svrpda1::choose(&choice, problem, &start).unwrap();
            assert_eq!(run(problem, &one, true), run(problem, &one, false));
            let two = Svrpda2::choose(&choice, problem, &start).unwrap();
            assert_eq!(run(problem, &two, true), run(problem, &two, false));
        }
    }
}

/// No step in batches allocates, and a state that went through a file continues bit for bit.
#[test]
fn steps_in_batches_allocate_nothing_and_resume() {
    check_state(&with_square(Bags::new(groups(true, true), Link::Logistic)));
    let labels = vec![1.0 / 3.0; 3 * 42];
    let inner = SoftmaxBags::new(groups(true, true), 3).unwrap();
    let regularizer = Ridge::from_weight(0.1).unwrap();
    check_state(&Problem { inner, merit: NegativeLog::new(3, labels).unwrap(), regularizer });
    check_state(&with_square(Affine::random(4, 2, 30, |i| 1 + i, 1)));
}

/// With one sample for each term a block is that sample: steps in batches draw what the paper's do,
/// and make the same bits of it.
#[test]
fn a_batch_of_one_is_the_papers_step() {
    fn same<'p>(problem: impl Into<Objective<'p>>) {
        let problem = problem.into();
        let start = vec![0.1; problem.inner.d()];
        let one = |batch| {
            run(
                problem,
                &Svrpda1::choose(&given(batch, Some(1), 50), problem, &start).unwrap(),
                false,
            )
        };
        assert_eq!(one(Some(8)), one(Some(1)));
        assert_eq!(one(None), one(Some(1)));
        let two = |batch| {
            run(
                problem,
                &Svrpda2::choose(&given(batch, Some(1), 50), problem, &start).unwrap(),
                false,
            )
        };
        assert_eq!(two(Some(8)), two(Some(1)));
    }
    same(&with_square(SoftplusUnits::random(4, 30, |_| 1, 3)));
    same(&with_square(Affine::random(4, 2, 30, |_| 1, 3)));
}

/// The table of `docs/oracle-calls.md`: B b times what a step of the paper costs.
#[test]
fn batches_cost_as_many_times_what_a_step_costs() {
    let counted = |f: u64, jacobian: u64| Calls { f, jacobian, merit: 0 };
    let (steps, b, outer) = (40, 6, 3);
    let choice = given(Some(6), Some(3), 20);
    let curved = with_square(SoftplusUnits::random(4, 10, |_| 24, 1));
    let affine = with_square(Affine::random(4, 2, 10, |_| 24, 1));
    let one = Svrpda1::choose(&choice, &curved, &[0.0; 4]).unwrap();
    let two = Svrpda2::choose(&choice, &curved, &[0.0; 4]).unwrap();
    let times = steps * b * outer;
    let (_, calls, rows) = run(&curved, &one, false);
    assert_eq!(calls, counted(2 * times, 2 * times));
    assert!(
        rows <= 2 * times && rows > 3 * times / 2,
        "{rows}: a block that follows itself is read once"
    );
    assert_eq!(run(&curved, &two, false).1, counted(2 * times, 3 * times));
    let one = Svrpda1::choose(&choice, &affine, &[0.0; 4]).unwrap();
    let two = Svrpda2::choose(&choice, &affine, &[0.0; 4]).unwrap();
    assert_eq!(run(&affine, &one, false).1, counted(2 * times, 0));
    assert_eq!(run(&affine, &two, false).1, counted(2 * times, times));
    let warm = Choice { warmup_epochs: Some(2), ..choice };
    let one = Svrpda1::choose(&warm, &curved, &[0.0; 4]).unwrap();
    assert_eq!(run(&curved, &one, false).1, counted(times, times));
}

/// Whatever the batches, the answer is that of a Newton method.
#[test]
fn batches_do_not_change_the_answer() {
    let (problem, saddle) = softplus_of_softplus(SoftplusUnits::random(5, 12, |_| 200, 5), 0.1);
    let best = problem.objective(&saddle.theta);
    let stop = Stop {
        target_objective: Some(best + 1e-8 * best.abs()),
        tolerance: None,
        ..Stop::default()
    };
    let driver = Driver { stop, ..Driver::default() };
    for (batch, outer_batch) in [(1, 1), (7, 1), (64, 1), (200, 1), (7, 3), (1, 12)] {
        let choice =
            Choice { batch: Some(batch), outer_batch: Some(outer_batch), ..Choice::seeded(2) };
        for two in [false, true] {
            let start = vec![0.0; 5];
            let solution = if two {
                driver.run(
                    &problem,
                    &Svrpda2::choose(&choice, &problem, &start).unwrap(),
                    &start,
                    &mut (),
                )
            } else {
                driver.run(
                    &problem,
                    &Svrpda1::choose(&choice, &problem, &start).unwrap(),
                    &start,
                    &mut (),
                )
            };
            assert!(
                solution.status.is_solved(),
                "{batch} {outer_batch} {two}: {}",
                solution.status
            );
        }
    }
    let refused =
        |choice: Choice| Svrpda1::choose(&choice, &problem, &[0.0; 5]).unwrap_err().to_string();
    assert!(refused(Choice { batch: Some(0), ..Choice::default() }).contains("batch"));
    assert!(refused(Choice { outer_batch: Some(0), ..Choice::default() }).contains("outer_batch"));
}

/// Rows of large groups are gathered in an order that is drawn, the same each time; where each came
/// from is told, and steps take blocks of them.
#[test]
fn large_groups_are_shuffled_and_taken_in_blocks() {
    let rows: Vec<f64> = (0..2 * 5000).map(f64::from).collect();
    let of: Vec<u32> = (0..5000).map(|r| u32::from(r % 5 == 0)).collect();
    let (groups, order) = Groups::gather(2, &rows, &of, 2, true).unwrap();
    let again = Groups::gather(2, &rows, &of, 2, true).unwrap();
    assert_eq!(order, again.1);
    let mut seen = order.clone();
    seen.sort_unstable();
    assert!(seen.iter().enumerate().all(|(k, &r)| k == r), "every row once");
    for i in 0..2 {
        for r in groups.range(i) {
            assert_eq!(of[order[r]], i as u32);
            let row = groups.with_row(r, <[f64]>::to_vec);
            assert_eq!(row, &rows[2 * order[r]..2 * order[r] + 2]);
        }
    }
    // In order, the mean of a block would differ from that of the group by half the group's range
    // in the first and in the last block.
    let range = groups.range(0);
    let mean = |rows: Range<usize>| {
        let count = rows.len() as f64;
        order[rows].iter().map(|&r| r as f64).sum::<f64>() / count
    };
    for start in range.clone().step_by(100).take(range.len() / 100) {
        assert!(
            (mean(start..start + 100) - mean(range.clone())).abs()
                < 5.0 * 5000.0 / 12.0_f64.sqrt() / 10.0
        );
    }
    let f = Bags::new(groups, Link::Logistic);
    assert!(f.facts().block > 1);
    let problem = Problem {
        inner: f,
        merit: Bernoulli::new(vec![0.2, 0.6]).unwrap(),
        regularizer: FreeTail::new(Ridge::from_weight(1e-3).unwrap(), 2),
    };
    let settings = |choice: Choice| Svrpda1::choose(&choice, &problem, &[0.0; 3]).unwrap().0;
    assert_eq!(settings(Choice::default()).batch, problem.inner.facts().block);
    assert_eq!(settings(Choice { batch: Some(5), ..Choice::default() }).batch, 5);
    let small = Bags::new(self::groups(false, true), Link::Logistic);
    assert_eq!(small.facts().block, 1);
    // Given in an order that is no good for blocks, rows are left where they are.
    let sorted = Groups::new(2, rows, vec![0, 4000, 5000], true).unwrap();
    assert_eq!(Bags::new(sorted, Link::Logistic).facts().block, 1);
}
