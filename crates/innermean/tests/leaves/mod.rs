//! Data in leaves: the same bits whoever holds them, the same answer as in memory, and failures
//! that are said.

use std::sync::Arc;

use innermean::leaves::{Folded, Held, LEAF, Leaf, Loss, Partial, Retried, Shape, Shard};
use innermean::problems::linear::predictors;
use innermean::{
    Bags, Begin, Bernoulli, BoxConstraint, Checkpoint, Driver, ElasticNet, FreeTail, Inner, L1,
    Link, Logistic, Measure, Merit, Objective, Observer, Outcome, Problem, Regularizer, Ridge,
    Square, Status, Stop, Unregularized, auto,
};

use self::holders::{Bagged, Failing, Labelled, Workers};

mod holders;

fn net(l1: f64) -> ElasticNet {
    ElasticNet::new(L1::new(l1).unwrap(), 0.01).unwrap()
}

fn solve<G: Regularizer>(shard: &dyn Shard, shape: &Shape, g: G, tolerance: f64) -> Outcome {
    let problem = Folded::new(shard, shape.clone()).expect("a survey").problem(g);
    let stop = Stop { tolerance: Some(tolerance), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    auto::solve(&driver, &problem, &vec![0.0; shape.d], &mut (), 0).expect("a method")
}

/// theta and the trace, to the bit.
fn bits(outcome: &Outcome) -> Vec<u64> {
    let of_trace = outcome.solution.trace.iter().map(|record| record.objective);
    outcome.solution.theta.iter().copied().chain(of_trace).map(f64::to_bits).collect()
}

#[test]
fn bits_do_not_depend_on_who_holds_which_leaf() {
    let data = Labelled::random(1000, 6, 1);
    let bags = Bagged::random(&[1, 1, 40, 900, 7, 90, 1, 200], 4);
    let check = |leaves: &dyn Fn() -> (Vec<Leaf>, Shape)| {
        let mut first = None;
        for (count, mix) in [(1, 1), (2, 1), (3, 1), (7, 1), (2, 7), (7, 5), (40, 3)] {
            let (leaves, shape) = leaves();
            assert!(leaves.len() < 40, "more workers than leaves");
            let mut workers = Workers::of(leaves, count, |k| (k * mix + k / 3) % count);
            workers.twice = count == 3;
            let found = bits(&solve(
                &workers,
                &shape,
                FreeTail::new(Ridge::from_weight(0.01).unwrap(), shape.d - 1),
                1e-9,
            ));
            assert_eq!(*first.get_or_insert(found.clone()), found, "{count} workers");
        }
    };
    check(&|| data.leaves(64, Loss::Logistic));
    check(&|| bags.leaves(60, Link::Logistic, Loss::Bernoulli));
}

#[test]
fn groups_inside_a_leaf_over_two_and_over_fifteen() {
    // In leaves of 60 rows: of one row, inside, over 2 and over 16, ending at an edge.
    let bags = Bagged::random(&[1, 30, 50, 900, 1, 98, 120], 3);
    let theta = [0.3, -0.8, 0.5, 0.1];
    for (link, loss) in [
        (Link::Logistic, Loss::Bernoulli),
        (Link::Identity, Loss::Square),
        (Link::Identity, Loss::Huber(0.2)),
        (Link::Exp, Loss::Square),
    ] {
        let (leaves, shape) = bags.leaves(60, link, loss);
        let held = Held(leaves);
        let folded = Folded::new(&held, shape).expect("a survey");
        assert_eq!((folded.terms(), folded.rows()), (7, 1200));
        let problem = folded.problem(Unregularized);
        let inner = if loss.takes_off() {
            Bags::with_targets(bags.groups(), link, bags.labels.clone()).expect("bags")
        } else {
            Bags::new(bags.groups(), link)
        };
        let merit = loss.merit(&bags.labels, &[1; 7]).expect("a phi");
        let whole = Problem { inner, merit, regularizer: Unregularized };
        let (mut here, mut there) = ([0.0; 4], [0.0; 4]);
        problem.gradient(&theta, &mut here);
        whole.gradient(&theta, &mut there);
        let size = there.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in here.iter().zip(&there) {
            assert!((a - b).abs() <= 1e-13 * size, "{link:?}, {loss:?}: {a} for {b}");
        }
        let (a, b) = (problem.objective(&theta), whole.objective(&theta));
        assert!((a - b).abs() <= 1e-13 * b.abs(), "{link:?}, {loss:?}: {a} for {b}");
        // Gauss-Newton's matrix, from the Jacobians.
        let matrix = problem.inner.passes().and_then(|f| f.summed()).expect("it is all of F");
        let matrix = matrix.hessian(&theta).expect("a pass");
        let expected = gauss_newton(&whole.inner, &*whole.merit, &theta);
        let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (a, b) in matrix.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-12 * size, "{link:?}, {loss:?}: {a} for {b}");
        }
    }
}

fn gauss_newton(f: &dyn Inner, merit: &dyn Merit, theta: &[f64]) -> Vec<f64> {
    let (n, d) = (f.n_x(), f.d());
    let (mut f_bar, mut rows) = (vec![0.0; n], vec![0.0; n * d]);
    f.means_and_jacobians(theta, &mut f_bar, &mut rows);
    let mut out = vec![0.0; d * d];
    for (i, row) in rows.chunks_exact(d).enumerate() {
        let mut second = [0.0];
        assert!(merit.hessian_diagonal(i..i + 1, &f_bar[i..=i], &mut second));
        for (k, out) in out.iter_mut().enumerate() {
            *out += second[0] * row[k / d] * row[k % d] / n as f64;
        }
    }
    out
}

#[test]
fn answers_are_those_in_memory_within_the_proven_gap() {
    let data = Labelled::random(3000, 8, 2);
    let (leaves, shape) = data.leaves(256, Loss::Logistic);
    let held = Held(leaves);
    let regularizers: [(&str, Arc<dyn Regularizer>, bool); 5] = [
        ("ridge", Arc::new(Ridge::from_weight(0.01).unwrap()), true),
        ("box", Arc::new(BoxConstraint::new(-0.2, 0.4).unwrap()), true),
        ("elastic net", Arc::new(net(0.02)), true),
        ("l1", Arc::new(L1::new(0.02).unwrap()), false),
        ("none", Arc::new(Unregularized), false),
    ];
    for (name, g, is_for_all) in regularizers {
        let inner = predictors(8, data.rows.clone(), vec![0.0; 3000]).expect("rows");
        let merit = Logistic::new(data.labels.clone()).expect("labels");
        let whole = Problem { inner, merit, regularizer: g.clone() };
        let driver =
            Driver { stop: Stop { tolerance: Some(1e-9), ..Stop::default() }, ..Driver::default() };
        let exact = auto::solve(&driver, &whole, &[0.0; 8], &mut (), 0).expect("a method").solution;
        let found = solve(&held, &shape, g, 1e-8).solution;
        assert_eq!(found.status, Status::Solved, "{name}");
        let certificate = found.certificate;
        assert_eq!(certificate.measure, Measure::FenchelGap, "{name}");
        let gap = certificate.gap.expect("a gap");
        assert_eq!(certificate.within.is_none(), is_for_all, "{name}");
        assert!(gap <= 1e-6, "{name}: {gap}");
        let beyond = found.objective - exact.objective;
        assert!(beyond <= gap && beyond >= -1e-8, "{name}: {beyond} within {gap}");
        // The objective is that of the problem in memory at the same point.
        let there = whole.objective(&found.theta);
        assert!((there - found.objective).abs() <= 1e-14, "{name}");
        assert!(
            found.calls.f % 3000 == 0 && found.calls.f <= 30 * 3000,
            "{name}: {}",
            found.calls.f
        );
    }
}

#[test]
fn a_gap_of_averages_that_are_affine_and_none_of_those_that_bend() {
    let bags = Bagged::random(&[30; 40], 3);
    let (leaves, shape) = bags.leaves(100, Link::Identity, Loss::Square);
    let held = Held(leaves);
    let found = solve(&held, &shape, Ridge::from_weight(0.1).unwrap(), 1e-8).solution;
    let inner = Bags::with_targets(bags.groups(), Link::Identity, bags.labels.clone()).unwrap();
    let merit = Square::new(0.5).unwrap();
    let whole = Problem { inner, merit, regularizer: Ridge::from_weight(0.1).unwrap() };
    let exact = innermean::solve(&whole, &[0.0; 4]).expect("a method");
    assert!(found.status.is_solved() && found.certificate.gap.is_some_and(|gap| gap < 1e-8));
    assert!(found.theta.iter().zip(&exact.theta).all(|(a, b)| (a - b).abs() < 1e-6));

    let (leaves, shape) = bags.leaves(100, Link::Logistic, Loss::Bernoulli);
    let held = Held(leaves);
    let found = solve(&held, &shape, Ridge::from_weight(0.1).unwrap(), 1e-6).solution;
    let inner = Bags::new(bags.groups(), Link::Logistic);
    let merit = Bernoulli::new(bags.labels.clone()).unwrap();
    let whole = Problem { inner, merit, regularizer: Ridge::from_weight(0.1).unwrap() };
    let exact = innermean::solve(&whole, &[0.0; 4]).expect("a method");
    assert!(found.status.is_solved(), "{:?}", found.status);
    assert_eq!((found.certificate.measure, found.certificate.gap), (Measure::Stationarity, None));
    assert!((found.objective - exact.objective).abs() < 1e-9);
}

#[test]
fn a_pass_that_is_lost_is_asked_for_again_and_changes_no_bit() {
    let data = Labelled::random(700, 5, 4);
    let held = || {
        let (leaves, shape) = data.leaves(50, Loss::Logistic);
        (Held(leaves), shape)
    };
    let g = || Ridge::from_weight(0.01).unwrap();
    let (shard, shape) = held();
    let counted = Failing::new(shard, u64::MAX, false);
    let sound = bits(&solve(&counted, &shape, g(), 1e-9));
    assert!(counted.made() > 5);
    for k in 0..counted.made() {
        let shard = Retried { shard: Failing::new(held().0, k, false), times: 2 };
        assert_eq!(bits(&solve(&shard, &shape, g(), 1e-9)), sound, "pass {k}");
    }
}

#[test]
fn a_leaf_lost_for_good_ends_the_run_with_its_name_and_the_best_point() {
    let data = Labelled::random(700, 5, 4);
    let (leaves, shape) = data.leaves(50, Loss::Logistic);
    let counted = Failing::new(Held(leaves), u64::MAX, true);
    let whole = solve(&counted, &shape, net(0.01), 1e-9);
    assert!(whole.fallbacks.is_empty());
    let whole = whole.solution;
    for k in 1..counted.made() {
        let (leaves, _) = data.leaves(50, Loss::Logistic);
        let shard = Failing::new(Held(leaves), k, true);
        let problem = Folded::new(&shard, shape.clone()).expect("a survey");
        let problem = problem.problem(net(0.01));
        let stop = Stop { tolerance: Some(1e-9), ..Stop::default() };
        let driver = Driver { stop, ..Driver::default() };
        let why = "A pass over the data failed at leaf 3: its machine is gone.";
        match auto::solve(&driver, &problem, &[0.0; 5], &mut (), 0) {
            Err(error) => assert_eq!(error.to_string(), why),
            Ok(Outcome { solution, fallbacks, .. }) => {
                assert_eq!(solution.status, Status::Failed, "pass {k}");
                assert_eq!(solution.failure.as_deref(), Some(why), "pass {k}");
                assert!(fallbacks.is_empty(), "pass {k}");
                let seen = solution.trace.iter().map(|record| record.objective);
                if let Some(best) = seen.clone().reduce(f64::min) {
                    assert!(solution.objective <= best, "pass {k}");
                    assert!(seen.zip(&whole.trace).all(|(a, b)| a == b.objective), "pass {k}");
                }
            }
        }
    }
    let (leaves, _) = data.leaves(50, Loss::Logistic);
    let lost = Folded::new(&Failing::new(Held(leaves), 0, true), shape).map(|_| ()).unwrap_err();
    assert_eq!(lost.part(), "leaf 3");
}

/// Keeps every checkpoint.
#[derive(Default)]
struct Kept(Vec<Checkpoint>);

impl Observer for Kept {
    fn asks_for_checkpoint(&mut self, ending: bool) -> bool {
        !ending
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.0.push(checkpoint);
    }
}

#[test]
fn a_run_that_goes_on_from_a_checkpoint_elsewhere_has_the_same_bits() {
    let data = Labelled::random(900, 6, 8);
    let (leaves, shape) = data.leaves(64, Loss::Logistic);
    let first = Held(leaves);
    let g = || net(0.01);
    let driver =
        Driver { stop: Stop { tolerance: Some(1e-10), ..Stop::default() }, ..Driver::default() };
    let problem = Folded::new(&first, shape.clone()).expect("a survey").problem(g());
    let mut kept = Kept::default();
    let whole = auto::solve(&driver, &problem, &[0.0; 6], &mut kept, 0).expect("a method");
    assert!(kept.0.len() > 3);
    for checkpoint in &kept.0 {
        let (leaves, _) = data.leaves(64, Loss::Logistic);
        let workers = Workers::of(leaves, 3, |k| k * k);
        let problem = Folded::new(&workers, shape.clone()).expect("a survey").problem(g());
        let plan = auto::first(&problem, &[0.0; 6], 0).expect("a method");
        let begin = Begin::Resume(checkpoint);
        let resumed = plan.run_from(&driver, &problem, begin, &mut ()).expect("of this run");
        assert_eq!(bits(&resumed), bits(&whole));
    }
    // Other data are refused.
    let (leaves, _) = Labelled::random(900, 6, 9).leaves(64, Loss::Logistic);
    let other = Held(leaves);
    let problem = Folded::new(&other, shape).expect("a survey").problem(g());
    let plan = auto::first(&problem, &[0.0; 6], 0).expect("a method");
    assert!(plan.run_from(&driver, &problem, Begin::Resume(&kept.0[1]), &mut ()).is_err());
}

#[test]
fn what_is_no_leaf_is_refused_in_one_sentence() {
    let refused = |rows: Vec<f64>, labels: &[f64]| {
        Leaf::linear(4, 2, rows, labels, Loss::Logistic).map(|_| ()).unwrap_err().to_string()
    };
    let nan = refused(vec![1.0, 2.0, 3.0, f64::NAN], &[1.0, -1.0]);
    assert!(nan.contains("NaN in row 1, column 1"), "{nan}");
    assert!(refused(vec![1.0, 2.0], &[0.5]).contains("-1 or 1"));
    assert!(refused(vec![1.0; 2 * LEAF + 2], &vec![1.0; LEAF + 1]).contains("at most 32768"));
    // A leaf that nobody has, and one of another problem.
    let (mut leaves, shape) = Labelled::random(300, 3, 1).leaves(50, Loss::Square);
    leaves.remove(2);
    let lost = Folded::new(&Held(leaves), shape.clone()).map(|_| ()).unwrap_err();
    assert_eq!(
        lost.to_string(),
        "A pass over the data failed at leaf 2: nobody has answered for it."
    );
    let (leaves, _) = Labelled::random(300, 4, 1).leaves(50, Loss::Square);
    let lost = Folded::new(&Held(leaves), shape).map(|_| ()).unwrap_err();
    assert!(lost.why().contains("another problem"), "{lost}");
    assert!(Partial::from_numbers(3, &[0.0, 1.0, 5.0, 0.0, 1.0]).is_err());
}

/// Whatever is asked for by name, the methods of single terms among them, nothing panics.
#[test]
fn methods_that_suit_solve_it() {
    let (leaves, shape) = Labelled::random(600, 4, 3).leaves(100, Loss::SmoothedHinge(0.5));
    let held = Held(leaves);
    let problem =
        Folded::new(&held, shape).expect("a survey").problem(Ridge::from_weight(0.05).unwrap());
    let objective: Objective<'_> = (&problem).into();
    let reference = innermean::solve(objective, &[0.0; 4]).expect("a method").objective;
    for name in ["newton", "lbfgs", "apg", "gd"] {
        let choice = innermean::Choice::default();
        let method = innermean::AnyMethod::named(name, &choice, objective, &[0.0; 4]).unwrap();
        let stop = Stop { tolerance: Some(1e-5), ..Stop::default() };
        let driver = Driver { stop, ..Driver::default() };
        let found = method.run(&driver, objective, &[0.0; 4], &mut ());
        assert!(found.status.is_solved(), "{name}: {:?}", found.status);
        assert!((found.objective - reference).abs() < 1e-4, "{name}");
    }
}
