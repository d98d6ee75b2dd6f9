//! Groups of rows with one label each: f, its passes, and what fits to groups recover.

use crate::support::dense::Symmetric;
use crate::support::newton::{correlation, logistic_regression};
use innermean::{
    AnyMethod, Bags, Bernoulli, Choice, Driver, FreeTail, Groups, Inner, Link, Merit, NegativeLog,
    Objective, Passes, Poisson, Problem, Ridge, SoftmaxBags, Solution, Square, Stop,
};
use innermean_data::{GroupOptions, GroupedRows, RowLabels, generate_groups};

fn generated(labels: RowLabels, groups: usize, rows: (usize, usize), seed: u64) -> GroupedRows {
    generate_groups(&GroupOptions { groups, rows, features: 5, labels, seed })
}

/// Groups of 1 to 3000 rows: some are cut into segments, most are not.
fn ragged(intercept: bool) -> Groups {
    let small = generated(RowLabels::Binary, 40, (1, 9), 3);
    let large = generated(RowLabels::Binary, 2, (1500, 3000), 4);
    let mut rows = small.rows;
    rows.extend(&large.rows);
    let mut groups = small.groups;
    groups.extend(large.groups.iter().map(|group| group + 40));
    Groups::gather(5, &rows, &groups, 42, intercept).expect("whole groups").0
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

/// Everything that f overrides, against the provided calls and central differences of `value`.
fn check_f(f: &dyn Inner, what: &str) {
    let (d, ell, n_x) = (f.d(), f.ell(), f.n_x());
    let (a, b) = (theta(d, 1), theta(d, 2));
    let w: Vec<f64> = (0..n_x * ell).map(|k| (k % 7) as f64 / 3.0 - 0.9).collect();
    let mut work = vec![0.0; ell];
    let value = |theta: &[f64], i: usize, j: usize| {
        let mut out = vec![f64::NAN; ell];
        f.value(theta, i, j, &mut out);
        out
    };
    for (i, j) in [(0, 0), (n_x / 2, f.n_y(n_x / 2) - 1), (n_x - 1, f.n_y(n_x - 1) / 2)] {
        let w_i = &w[i * ell..(i + 1) * ell];
        let mut product = vec![1.0; d];
        f.add_jac_t(&a, i, j, w_i, 0.5, &mut product);
        for l in 0..d {
            let h = 1e-5;
            let moved = |h: f64| {
                let mut theta = a.clone();
                theta[l] += h;
                value(&theta, i, j).iter().zip(w_i).map(|(v, w)| v * w).sum::<f64>()
            };
            let expected = 1.0 + 0.5 * (moved(h) - moved(-h)) / (2.0 * h);
            assert!(
                (product[l] - expected).abs() < 1e-8 * (1.0 + expected.abs()),
                "{what} {i} {j} {l}"
            );
        }
        let mut difference = vec![f64::NAN; ell];
        f.difference(&a, &b, i, j, &mut work, &mut difference);
        let expected: Vec<f64> =
            value(&a, i, j).iter().zip(value(&b, i, j)).map(|(a, b)| a - b).collect();
        assert_close(&difference, &expected, 1e-13, what);
        let (mut fused, mut apart) = (vec![0.3; d], vec![0.3; d]);
        f.add_jac_t_difference(&a, &b, i, j, w_i, 0.7, &mut fused);
        f.add_jac_t(&a, i, j, w_i, 0.7, &mut apart);
        f.add_jac_t(&b, i, j, w_i, -0.7, &mut apart);
        assert_close(&fused, &apart, 1e-13, what);
    }
    let mut f_bar = vec![f64::NAN; n_x * ell];
    f.means(&a, &mut f_bar);
    let mut weighted = vec![0.0; d];
    f.add_weighted_jac_t(&a, &w, &mut weighted);
    let (mut slow_bar, mut slow_weighted) = (vec![0.0; n_x * ell], vec![0.0; d]);
    for i in 0..n_x {
        let n_y = f.n_y(i);
        let own = i * ell..(i + 1) * ell;
        for j in 0..n_y {
            for (sum, v) in slow_bar[own.clone()].iter_mut().zip(value(&a, i, j)) {
                *sum += v / n_y as f64;
            }
            f.add_jac_t(&a, i, j, &w[own.clone()], 1.0 / (n_y * n_x) as f64, &mut slow_weighted);
        }
        let mut mean = vec![f64::NAN; ell];
        f.mean(&a, i, &mut work, &mut mean);
        assert_close(&mean, &slow_bar[own], 1e-12, what);
    }
    assert_close(&f_bar, &slow_bar, 1e-12, what);
    assert_close(&weighted, &slow_weighted, 1e-12, what);
    let (mut bar, mut u) = (vec![f64::NAN; n_x * ell], vec![f64::NAN; d]);
    f.snapshot(&a, &w, &mut bar, &mut u);
    assert_close(&bar, &f_bar, 1e-13, what);
    assert_close(&u, &weighted, 1e-13, what);
    let mut jacobians = vec![f64::NAN; n_x * ell * d];
    f.mean_jacobians(&a, &mut jacobians);
    let mut product = vec![0.0; d];
    for (row, w) in jacobians.chunks_exact(d).zip(&w) {
        for (p, r) in product.iter_mut().zip(row) {
            *p += w * r / n_x as f64;
        }
    }
    assert_close(&product, &weighted, 1e-12, what);
}

#[test]
fn passes_are_what_their_pairs_say() {
    for intercept in [true, false] {
        for link in [Link::Identity, Link::Logistic, Link::Exp] {
            check_f(
                &Bags::new(ragged(intercept), link),
                &format!("{link:?}, intercept {intercept}"),
            );
            let targets = (0..42).map(f64::from).collect();
            let with =
                Bags::with_targets(ragged(intercept), link, targets).expect("a target for each");
            check_f(&with, &format!("{link:?} with targets, intercept {intercept}"));
        }
        check_f(&SoftmaxBags::new(ragged(intercept), 3).expect("three classes"), "softmax");
    }
}

/// [`ragged`] with weights that differ by a factor of twenty.
fn weighted(intercept: bool) -> Groups {
    let groups = ragged(intercept);
    let weights: Vec<f64> = (0..groups.rows()).map(|r| 0.5 + (r * 7 % 19) as f64 / 2.0).collect();
    groups.with_weights(&weights).expect("a weight for each")
}

/// Groups that share rows: each has its own, every third row of the next and, at the end, all rows.
fn overlapping(intercept: bool) -> Groups {
    let data = generated(RowLabels::Binary, 12, (1, 60), 6);
    let rows = data.groups.len();
    let mut members: Vec<u32> = Vec::new();
    let mut starts = vec![0];
    for group in 0..12 {
        let own = |r: &u32| data.groups[*r as usize] == group;
        let next = |r: &u32| data.groups[*r as usize] == group + 1 && r.is_multiple_of(3);
        members.extend((0..rows as u32).filter(|r| own(r) || next(r)));
        starts.push(members.len());
    }
    members.extend(0..rows as u32);
    starts.push(members.len());
    Groups::of_members(5, data.rows, members, starts, intercept).expect("members")
}

#[test]
fn passes_of_weighted_and_overlapping_groups_are_what_their_pairs_say() {
    for intercept in [true, false] {
        for (groups, count) in [(weighted(intercept), 42), (overlapping(intercept), 13)] {
            for link in [Link::Identity, Link::Logistic, Link::Exp] {
                let targets = (0..count).map(f64::from).collect();
                let what = format!("{link:?}, {count} groups");
                check_f(&Bags::new(groups.clone(), link), &what);
                let with = Bags::with_targets(groups.clone(), link, targets).expect("targets");
                check_f(&with, &what);
            }
            check_f(&SoftmaxBags::new(groups, 3).expect("three classes"), "softmax");
        }
    }
}

/// Averages, gradients and solutions of two forms of the same groups.
fn assert_same(a: &dyn Inner, b: &dyn Inner, merit: &dyn Merit, what: &str) {
    let (d, values) = (a.d(), a.n_x() * a.ell());
    let of = |f: &dyn Inner, theta: &[f64]| {
        let (mut bar, mut u) = (vec![0.0; values], vec![0.0; d]);
        let w: Vec<f64> = (0..values).map(|k| (k % 5) as f64 - 1.7).collect();
        f.snapshot(theta, &w, &mut bar, &mut u);
        bar.extend(u);
        bar
    };
    let theta = theta(d, 1);
    assert_close(&of(a, &theta), &of(b, &theta), 1e-13, what);
    let regularizer = Ridge::from_weight(1e-2).expect("a weight");
    let solved = |inner: &dyn Inner| {
        let problem = Objective { inner, merit, regularizer: &regularizer };
        solve(problem, "newton", &vec![0.0; d], 1e-14)
    };
    let (a, b) = (solved(a), solved(b));
    assert!((a.objective - b.objective).abs() <= 1e-12 * b.objective.abs(), "{what}");
    assert_close(&a.theta, &b.theta, 1e-12, what);
}

/// Every link with its merit, on two forms of the same groups.
fn assert_same_groups(a: &Groups, b: &Groups, what: &str) {
    let n = a.count();
    let shares: Vec<f64> = (0..n).map(|i| 0.1 + (i * 5 % 9) as f64 / 11.0).collect();
    let square = Square::new(1.0).expect("1");
    let bernoulli = Bernoulli::new(shares.clone()).expect("proportions");
    let merits: [(Link, &dyn Merit); 2] = [(Link::Logistic, &bernoulli), (Link::Identity, &square)];
    for (link, merit) in merits {
        let [a, b] = [a, b].map(|groups| match link {
            Link::Logistic => Bags::new(groups.clone(), link),
            _ => Bags::with_targets(groups.clone(), link, shares.clone()).expect("targets"),
        });
        assert_same(&a, &b, merit, &format!("{what}, {link:?}"));
    }
    let totals: Vec<f64> = (0..n).map(|i| a.total(i)).collect();
    assert_eq!(totals, (0..n).map(|i| b.total(i)).collect::<Vec<_>>(), "{what}");
    let counts = shares.iter().zip(&totals).map(|(q, n)| (q * n).round()).collect();
    let poisson = Poisson::new(counts, totals, 1.0).expect("counts");
    let [x, y] = [a, b].map(|groups| Bags::new(groups.clone(), Link::Exp));
    assert_same(&x, &y, &poisson, &format!("{what}, exp"));
    let classes = shares.iter().flat_map(|q| [*q, 0.5 * (1.0 - q), 0.5 * (1.0 - q)]).collect();
    let log = NegativeLog::new(3, classes).expect("proportions");
    let [x, y] = [a, b].map(|groups| SoftmaxBags::new(groups.clone(), 3).expect("classes"));
    assert_same(&x, &y, &log, &format!("{what}, softmax"));
}

#[test]
fn whole_weights_are_repeated_rows() {
    let data = generated(RowLabels::Binary, 30, (1, 12), 11);
    let times = |r: usize| 1 + r * 5 % 4;
    let weights: Vec<f64> = (0..data.groups.len()).map(|r| times(r) as f64).collect();
    let gather =
        |rows: &[f64], groups: &[u32]| Groups::gather(5, rows, groups, 30, true).expect("groups").0;
    let weighted = gather(&data.rows, &data.groups).with_weights(&weights).expect("weights");
    let repeated: Vec<usize> =
        (0..data.groups.len()).flat_map(|r| std::iter::repeat_n(r, times(r))).collect();
    let rows: Vec<f64> =
        repeated.iter().flat_map(|&r| &data.rows[5 * r..5 * r + 5]).copied().collect();
    let of: Vec<u32> = repeated.iter().map(|&r| data.groups[r]).collect();
    assert_same_groups(&weighted, &gather(&rows, &of), "repeated");
    // Only ratios within a group matter, but for the exposure of counts.
    let thirds: Vec<f64> = weights.iter().map(|w| w / 3.0).collect();
    let scaled = gather(&data.rows, &data.groups).with_weights(&thirds).expect("weights");
    let shares = Bernoulli::new(vec![0.3; 30]).expect("proportions");
    let [a, b] = [scaled, weighted].map(|groups| Bags::new(groups, Link::Logistic));
    assert_same(&a, &b, &shares, "thirds");
}

#[test]
fn overlapping_groups_are_copies_of_their_rows() {
    let groups = overlapping(true);
    let rows: Vec<f64> =
        (0..groups.rows()).flat_map(|r| groups.with_row(r, <[f64]>::to_vec)).collect();
    let starts: Vec<usize> =
        (0..13).map(|i| groups.range(i).start).chain([groups.rows()]).collect();
    let copies = Groups::new(5, rows, starts, true).expect("groups");
    assert_same_groups(&groups, &copies, "overlapping");
    let weights: Vec<f64> = (0..groups.rows()).map(|r| 1.0 + (r % 4) as f64).collect();
    let [a, b] = [groups, copies].map(|groups| groups.with_weights(&weights).expect("weights"));
    assert_same_groups(&a, &b, "overlapping and weighted");
}

#[test]
fn bad_weights_and_members_are_refused() {
    let groups = || Groups::new(1, vec![1.0, 2.0, 3.0], vec![0, 1, 3], true).expect("groups");
    let said = |weights: &[f64]| groups().with_weights(weights).expect_err("refused").to_string();
    assert!(said(&[1.0]).contains("one for each of 3 rows"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(said(&[1.0, bad, 1.0]).contains("weights[1]"), "{bad}");
    }
    let members = |members: Vec<u32>| {
        let starts = vec![0, members.len()];
        Groups::of_members(1, vec![1.0, 2.0], members, starts, true).expect_err("refused")
    };
    assert!(members(vec![0, 2]).to_string().contains("members[1]"));
}

/// SVRPDA samples rows of a group uniformly and scales them: it finds the weighted optimum.
#[test]
fn stochastic_methods_find_the_weighted_optimum() {
    let data = generated(RowLabels::Binary, 60, (1, 40), 12);
    let groups = Groups::gather(5, &data.rows, &data.groups, 60, true).expect("groups").0;
    let weights: Vec<f64> = (0..groups.rows()).map(|r| 1.0 + (r % 6) as f64).collect();
    let inner = Bags::new(groups.with_weights(&weights).expect("weights"), Link::Logistic);
    let merit = Bernoulli::new(data.group_labels).expect("proportions");
    let regularizer = Ridge::from_weight(1e-2).expect("a weight");
    let problem = Problem { inner, merit, regularizer };
    let best = solve(&problem, "newton", &[0.0; 6], 1e-12);
    for name in ["svrpda1", "svrpda2", "lbfgs"] {
        let found = solve(&problem, name, &[0.0; 6], 1e-7);
        assert!(found.status.is_solved(), "{name}: {}", found.status);
        assert_close(&found.theta, &best.theta, 1e-4, name);
    }
}

#[test]
fn passes_do_not_depend_on_the_number_of_threads() {
    let f = Bags::new(weighted(true), Link::Logistic);
    let bits = |threads: usize| {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| {
            let (mut bar, mut u) = (vec![0.0; 42], vec![0.0; 6]);
            f.snapshot(&theta(6, 1), &vec![0.7; 42], &mut bar, &mut u).unwrap();
            bar.iter().chain(&u).map(|x| x.to_bits()).collect::<Vec<_>>()
        })
    };
    assert_eq!(bits(1), bits(3));
}

#[test]
fn rows_in_any_order_are_gathered() {
    // Group 1 has one row, in the middle.
    let rows = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0];
    let (groups, order) = Groups::gather(2, &rows, &[0, 1, 0, 0], 2, true).expect("two groups");
    assert_eq!((groups.count(), groups.rows(), groups.size(0), groups.size(1)), (2, 4, 3, 1));
    assert_eq!(order, [0, 2, 3, 1]);
    assert_eq!(groups.with_row(3, <[f64]>::to_vec), [2.0, 20.0]);
    let refused = |result: Result<(Groups, Vec<usize>), innermean::InvalidSetting>| {
        result.expect_err("should be refused").to_string()
    };
    assert!(refused(Groups::gather(2, &rows, &[0, 1, 0, 3], 3, true)).contains("below 3"));
    assert!(
        refused(Groups::gather(2, &rows, &[0, 2, 0, 0], 3, true)).contains("no group is empty")
    );
    assert!(refused(Groups::gather(2, &[f64::NAN; 4], &[0, 1], 2, true)).contains("finite"));
    assert!(refused(Groups::gather(2, &rows, &[0, 1], 2, true)).contains("one for each of 4 rows"));
}

fn solve<'p>(
    problem: impl Into<Objective<'p>>,
    name: &str,
    start: &[f64],
    tolerance: f64,
) -> Solution {
    let problem = problem.into();
    let method = AnyMethod::named(name, &Choice::default(), problem, start).expect("it suits");
    let stop = Stop { tolerance: Some(tolerance), max_outer: Some(3000), ..Stop::default() };
    method.run(&Driver { stop, ..Driver::default() }, problem, start, &mut ())
}

/// With the identity, a fit to groups is least squares on the means of the groups.
#[test]
fn the_identity_is_least_squares_on_group_means() {
    let data = generated(RowLabels::Real, 300, (1, 40), 5);
    let groups = Groups::gather(5, &data.rows, &data.groups, 300, true).expect("groups").0;
    let mut normal = Symmetric::scaled_identity(6, 0.0);
    let mut right = vec![0.0; 6];
    for i in 0..300 {
        let mut mean = [0.0; 6];
        for r in groups.range(i) {
            let row = groups.with_row(r, <[f64]>::to_vec).into_iter().chain([1.0]);
            mean.iter_mut().zip(row).for_each(|(mean, y)| *mean += y / groups.size(i) as f64);
        }
        normal.add_outer(1.0, &mean);
        right.iter_mut().zip(mean).for_each(|(r, y)| *r += y * data.group_labels[i]);
    }
    let expected = normal.solve(&right);
    let inner = Bags::with_targets(groups, Link::Identity, data.group_labels).expect("labels");
    let problem = Problem {
        inner,
        merit: Square::new(1.0).expect("1"),
        regularizer: innermean::Unregularized,
    };
    for name in ["lbfgs", "svrpda1", "svrpda2", "spdc"] {
        let solution = solve(&problem, name, &[0.0; 6], 1e-20);
        assert_close(&solution.theta, &expected, 1e-8, name);
    }
}

/// The default steps bring SVRPDA-I, SVRPDA-II and L-BFGS to one point, with every link.
#[test]
fn methods_agree_on_every_link() {
    fn agree<F: Inner, P: Merit>(inner: F, merit: P, penalised: usize, start: &[f64], what: &str) {
        let regularizer = FreeTail::new(Ridge::from_weight(1e-3).expect("a weight"), penalised);
        let problem = Problem { inner, merit, regularizer };
        let best = solve(&problem, "lbfgs", start, 1e-8);
        assert!(best.status.is_solved(), "{what}: {} after {}", best.status, best.outer);
        for name in ["svrpda1", "svrpda2"] {
            let solution = solve(&problem, name, start, 1e-6);
            assert!(solution.status.is_solved(), "{what}, {name}: {}", solution.status);
            let gap = solution.objective - best.objective;
            assert!(gap.abs() <= 1e-9 * (1.0 + best.objective.abs()), "{what}, {name}: {gap:e}");
            assert_close(&solution.theta, &best.theta, 1e-3, what);
        }
    }
    let gather = |data: &GroupedRows| {
        let count = *data.groups.last().expect("rows") as usize + 1;
        Groups::gather(5, &data.rows, &data.groups, count, true).expect("groups").0
    };
    let mean =
        |data: &GroupedRows| data.group_labels.iter().sum::<f64>() / data.group_labels.len() as f64;
    let data = generated(RowLabels::Binary, 150, (1, 40), 7);
    assert!(data.group_labels.contains(&0.0) && data.group_labels.contains(&1.0));
    let f = Bags::new(gather(&data), Link::Logistic);
    let start = f.start(mean(&data));
    agree(
        f,
        Bernoulli::new(data.group_labels.clone()).expect("proportions"),
        5,
        &start,
        "logistic",
    );
    let f = Bags::with_targets(gather(&data), Link::Logistic, data.group_labels.clone())
        .expect("labels");
    agree(f, Square::new(1.0).expect("1"), 5, &start, "logistic, square");
    let data = generated(RowLabels::Classes(3), 150, (1, 40), 8);
    let f = SoftmaxBags::new(gather(&data), 3).expect("three classes");
    let start = f.start(&[1.0 / 3.0; 3]);
    agree(
        f,
        NegativeLog::new(3, data.group_labels.clone()).expect("proportions"),
        15,
        &start,
        "softmax",
    );
    let data = generated(RowLabels::Counts, 150, (1, 40), 9);
    let groups = gather(&data);
    let sizes: Vec<f64> = (0..150).map(|i| groups.size(i) as f64).collect();
    let rate = data.group_labels.iter().sum::<f64>() / sizes.iter().sum::<f64>();
    let scale = 150.0 / sizes.iter().sum::<f64>();
    let f = Bags::new(groups, Link::Exp);
    let start = f.start(rate);
    agree(
        f,
        Poisson::new(data.group_labels.clone(), sizes, scale).expect("counts"),
        5,
        &start,
        "exp",
    );
}

/// From the proportions of 2000 groups come nearly the coefficients that the labels of all their
/// rows give.
#[test]
fn proportions_recover_what_row_labels_say() {
    let mut agreements = Vec::new();
    for seed in 1..=2 {
        let options = GroupOptions {
            groups: 2000,
            rows: (20, 80),
            features: 30,
            labels: RowLabels::Binary,
            seed,
        };
        let data = generate_groups(&options);
        let supervised = logistic_regression(30, &data.rows, &data.row_labels);
        let groups = Groups::gather(30, &data.rows, &data.groups, 2000, true).expect("groups").0;
        let inner = Bags::new(groups, Link::Logistic);
        let start = inner.start(0.5);
        let merit = Bernoulli::new(data.group_labels).expect("proportions");
        let regularizer = FreeTail::new(Ridge::from_weight(0.0).expect("0"), 30);
        let solution = solve(&Problem { inner, merit, regularizer }, "lbfgs", &start, 1e-6);
        assert!(solution.status.is_solved());
        let agreement = correlation(&solution.theta[..30], &supervised[..30]);
        agreements.push(format!("{agreement:.4}"));
        assert!(agreement >= 0.97, "seed {seed}: {agreement}");
    }
    println!("correlation with the fit to row labels, seeds 1 and 2: {}", agreements.join(" "));
}
