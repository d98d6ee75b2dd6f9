//! Transitions: the Bellman error by its formula, values known from textbooks, logs against normal
//! equations written here, and what is refused.

use crate::support::dense::{Symmetric, dot};
use innermean::draws::Stream;
use innermean::problems::transitions::END;
use innermean::{
    AnyMethod, Bellman, Choice, Driver, Inner, Moves, Mspbe, Passes, Problem, Square,
    StateFeatures, Stop, Transitions, Unregularized,
};
use innermean_data::{
    GridPolicy, MdpOptions, Process, generate_boyan, generate_grid, generate_mdp,
    generate_sparse_mdp, generate_walk,
};

type Task = Problem<Transitions, Square, Unregularized>;

fn task(inner: Transitions) -> Task {
    Problem { inner, merit: Square::new(1.0).unwrap(), regularizer: Unregularized }
}

/// The transitions of a process, between its states that are not terminal.
fn moves(process: &Process) -> (Vec<String>, Moves) {
    let kept: Vec<usize> = (0..process.states.len()).filter(|&s| !process.terminal[s]).collect();
    let mut places = vec![END; process.states.len()];
    for (place, &s) in kept.iter().enumerate() {
        places[s] = place as u32;
    }
    let place = |s: u32| places[s as usize];
    let moves = Moves {
        from: process.from.iter().map(|&s| place(s)).collect(),
        next: process.next.iter().map(|&s| if s == END { END } else { place(s) }).collect(),
        rewards: process.rewards.clone(),
        weights: Some(process.probabilities.clone()),
    };
    (kept.iter().map(|&s| process.states[s].clone()).collect(), moves)
}

fn one_hot(process: &Process, discount: f64) -> Transitions {
    let (names, moves) = moves(process);
    Transitions::new(StateFeatures::OneHot { states: names.len() }, moves, discount).unwrap()
}

/// A log of `t` transitions between `states` states, some of which end, with rewards and weights
/// and rows of d features; every state is left.
fn random_log(states: usize, d: usize, t: usize, seed: u64) -> (Vec<f64>, Moves) {
    let mut draws = Stream::new(seed, 70);
    let mut log = Moves { weights: Some(Vec::new()), ..Moves::default() };
    for k in 0..t {
        log.from.push(if k < states { states - 1 - k } else { draws.index(states) } as u32);
        log.next.push(if draws.index(7) == 0 { END } else { draws.index(states) as u32 });
        log.rewards.push(2.0 * draws.unit() - 1.0);
        log.weights.as_mut().unwrap().push(0.1 + draws.unit());
    }
    ((0..states * d).map(|_| 2.0 * draws.unit() - 1.0).collect(), log)
}

/// `Psi_s` of a row or, of no rows, a unit vector; zeros after an end.
fn psi(rows: Option<&[f64]>, d: usize, s: u32) -> Vec<f64> {
    match rows {
        _ if s == END => vec![0.0; d],
        Some(rows) => rows[s as usize * d..(s as usize + 1) * d].to_vec(),
        None => (0..d).map(|l| f64::from(u8::from(l == s as usize))).collect(),
    }
}

/// Bellman's error by its formula and, as the mean over states of squares of affine functions of
/// theta, its minimiser.
fn by_definition(
    rows: Option<&[f64]>,
    d: usize,
    log: &Moves,
    discount: f64,
    theta: &[f64],
) -> (f64, Vec<f64>) {
    let (mut matrix, mut right) = (Symmetric::scaled_identity(d, 0.0), vec![0.0; d]);
    let (mut error, mut count) = (0.0, 0.0);
    for s in 0..=*log.from.iter().max().unwrap() {
        let own: Vec<usize> = (0..log.from.len()).filter(|&k| log.from[k] == s).collect();
        if own.is_empty() {
            continue;
        }
        let weight = |k: usize| log.weights.as_ref().map_or(1.0, |weights| weights[k]);
        let total: f64 = own.iter().map(|&k| weight(k)).sum();
        let mut row = psi(rows, d, s);
        let mut target = 0.0;
        for &k in &own {
            target += weight(k) / total * log.rewards[k];
            let next = psi(rows, d, log.next[k]);
            row.iter_mut()
                .zip(next)
                .for_each(|(row, next)| *row -= discount * weight(k) / total * next);
        }
        error += (dot(&row, theta) - target).powi(2);
        count += 1.0;
        matrix.add_outer(1.0, &row);
        right.iter_mut().zip(&row).for_each(|(right, x)| *right += target * x);
    }
    (error / count, matrix.solve(&right))
}

fn solved(task: &Task, method: &str) -> Vec<f64> {
    let start = vec![0.0; task.inner.d()];
    let stop = Stop { tolerance: Some(1e-26), max_outer: Some(20_000), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    let method = AnyMethod::named(method, &Choice::seeded(1), task, &start).unwrap();
    method.run(&driver, task, &start, &mut ()).theta
}

/// `|a - b| / |b|`
fn error(a: &[f64], b: &[f64]) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    (square / dot(b, b)).sqrt()
}

#[test]
fn the_objective_is_the_mean_squared_bellman_error_of_the_log() {
    let (rows, log) = random_log(9, 4, 60, 1);
    let plain = Moves { weights: None, ..log.clone() };
    for log in [log, plain] {
        for (d, rows) in [(4, Some(rows.clone())), (9, None)] {
            let theta: Vec<f64> = (0..d).map(|l| (l as f64).sin()).collect();
            let features = match &rows {
                Some(rows) => StateFeatures::Rows { d, rows: rows.clone() },
                None => StateFeatures::OneHot { states: d },
            };
            let task = task(Transitions::new(features, log.clone(), 0.9).unwrap());
            let (expected, minimiser) = by_definition(rows.as_deref(), d, &log, 0.9, &theta);
            assert!((task.objective(&theta) - expected).abs() < 1e-13 * expected);
            assert_eq!((task.inner.n_x(), task.inner.pairs()), (9, 60));
            let values = task.inner.values(&theta);
            assert!((0..9).all(|s| {
                (values[s] - dot(&psi(rows.as_deref(), d, s as u32), &theta)).abs() < 1e-14
            }));
            // The slower method on one of each.
            let both = log.weights.is_some() == (d == 4);
            for method in if both { &["lbfgs", "svrpda1"][..] } else { &["lbfgs"] } {
                let found = error(&solved(&task, method), &minimiser);
                assert!(found < 1e-8, "{method}, d = {d}: {found:e}");
            }
        }
    }
}

#[test]
fn the_order_of_a_log_does_not_matter() {
    let (rows, log) = random_log(9, 4, 60, 2);
    let mut order: Vec<usize> = (0..60).collect();
    order.sort_by_key(|k| (log.from[*k], *k));
    let pick = |column: &[u32]| order.iter().map(|&k| column[k]).collect::<Vec<_>>();
    let numbers = |column: &[f64]| order.iter().map(|&k| column[k]).collect::<Vec<_>>();
    let sorted = Moves {
        from: pick(&log.from),
        next: pick(&log.next),
        rewards: numbers(&log.rewards),
        weights: log.weights.as_deref().map(numbers),
    };
    let of = |moves: Moves| {
        Transitions::new(StateFeatures::Rows { d: 4, rows: rows.clone() }, moves, 0.9).unwrap()
    };
    let theta = [0.3, -1.0, 0.5, 2.0];
    // A stable sort: bit for bit.
    assert_eq!(task(of(log)).objective(&theta), task(of(sorted)).objective(&theta));
}

#[test]
fn a_dense_model_is_the_same_problem_either_way() {
    let mdp = generate_mdp(&MdpOptions { states: 12, d: 3, ..MdpOptions::default() });
    let moves = Moves {
        from: (0..144).map(|k| k / 12).collect(),
        next: (0..144).map(|k| k % 12).collect(),
        rewards: mdp.rewards.clone(),
        weights: Some(mdp.transitions.clone()),
    };
    let features = StateFeatures::Rows { d: 3, rows: mdp.features.clone() };
    let sparse = Transitions::new(features, moves, 0.9).unwrap();
    let dense = Bellman::new(3, mdp.features, mdp.transitions, mdp.rewards, 0.9).unwrap();
    let theta = [1.0, -2.0, 0.5];
    let ([mut a, mut b], [mut x, mut y]) = ([[0.0], [0.0]], [[0.0; 3], [0.0; 3]]);
    for i in 0..12 {
        for j in 0..12 {
            sparse.value(&theta, i, j, &mut a);
            dense.value(&theta, i, j, &mut b);
            assert!((a[0] - b[0]).abs() < 1e-13);
            sparse.add_jac_t(&theta, i, j, &[0.7], 2.0, &mut x);
            dense.add_jac_t(&theta, i, j, &[0.7], 2.0, &mut y);
        }
    }
    assert!(error(&x, &y) < 1e-13);
    assert!(sparse.bounds().b_f.unwrap() >= dense.bounds().b_f.unwrap() - 1e-12);
}

/// The averages are those of the transitions as they are lent.
fn check_transition_rows(f: &dyn Inner) {
    for i in 0..f.n_x() {
        let pairs: Vec<_> = (0..f.n_y(i)).map(|j| f.transition_row(i, j).unwrap()).collect();
        let total: f64 = pairs.iter().map(|pair| pair.weight).sum();
        let (mut row, mut offset) = (pairs[0].now.to_vec(), 0.0);
        for pair in &pairs {
            let share = if pair.is_probability { pair.weight } else { pair.weight / total };
            offset -= share * pair.reward;
            for (x, next) in row.iter_mut().zip(pair.next.into_iter().flatten()) {
                *x -= pair.discount * share * next;
            }
        }
        let (origin, mut mean, mut work) = (vec![0.0; f.d()], [0.0], [0.0]);
        f.mean(&origin, i, &mut work, &mut mean);
        let mut jacobian = vec![0.0; f.d()];
        f.add_mean_jac_t(&origin, i, &[1.0], 1.0, &mut jacobian);
        assert!(error(&row, &jacobian) < 1e-13 && (mean[0] - offset).abs() < 1e-13);
    }
}

#[test]
fn transitions_are_lent_as_they_were_given() {
    let (rows, log) = random_log(9, 4, 60, 3);
    for weights in [log.weights.clone(), None] {
        let moves = Moves { weights, ..log.clone() };
        let features = StateFeatures::Rows { d: 4, rows: rows.clone() };
        check_transition_rows(&Transitions::new(features, moves, 0.9).unwrap());
    }
    let mdp = generate_mdp(&MdpOptions { states: 12, d: 3, ..MdpOptions::default() });
    let model = Bellman::new(3, mdp.features, mdp.transitions, mdp.rewards, 0.9).unwrap();
    check_transition_rows(&model);
}

#[test]
fn the_random_walk_has_its_known_values() {
    for n in [1, 5, 19] {
        let known: Vec<f64> = (1..=n).map(|k| k as f64 / (n + 1) as f64).collect();
        let found = error(&solved(&task(one_hot(&generate_walk(n), 1.0)), "lbfgs"), &known);
        assert!(found < 1e-8, "{n} states: {found:e}");
    }
}

#[test]
fn boyans_chain_has_its_known_weights() {
    let chain = generate_boyan();
    let (_, moves) = moves(&chain);
    let features = StateFeatures::Rows { d: 4, rows: chain.features.unwrap().rows };
    let task = task(Transitions::new(features.clone(), moves.clone(), 1.0).unwrap());
    let known = [-24.0, -16.0, -8.0, 0.0];
    assert!(task.objective(&known) < 1e-28);
    for method in ["lbfgs", "svrpda1"] {
        let found = error(&solved(&task, method), &known);
        assert!(found < 1e-8, "{method}: {found:e}");
    }
    // The projected error has the same minimiser, as the values are within reach of the features.
    let projected = Mspbe::of_moves(&features, &moves, 1.0).unwrap();
    assert!(error(&projected.lstd().unwrap(), &known) < 1e-12);
}

#[test]
fn the_grid_world_has_its_known_values() {
    let values = |policy, rows, columns| {
        solved(&task(one_hot(&generate_grid(rows, columns, policy), 1.0)), "lbfgs")
    };
    let known = [
        -14.0, -20.0, -22.0, -14.0, -18.0, -20.0, -20.0, -20.0, -20.0, -18.0, -14.0, -22.0, -20.0,
        -14.0,
    ];
    assert!(error(&values(GridPolicy::Random, 4, 4), &known) < 1e-8);
    // On shortest ways, minus the distance to the nearer corner.
    let distance: Vec<f64> = (1..14)
        .map(|k| (k / 5, k % 5))
        .map(|(r, c)| -f64::min((r + c).into(), (6 - r - c).into()))
        .collect();
    assert!(error(&values(GridPolicy::Shortest, 3, 5), &distance) < 1e-8);
}

/// Condition `(1.99 / 0.01)^2` and more: a tabular process with a discount of 0.99.
#[test]
fn slow_discounts_are_solved_to_eight_digits() {
    let process = generate_sparse_mdp(200, 4, 0.99, 3);
    let task = task(one_hot(&process, 0.99));
    // V = r + discount P V, iterated until nothing changes.
    let mut v = vec![0.0; 200];
    for _ in 0..6000 {
        let mut next = vec![0.0; 200];
        for (k, (&s, &to)) in process.from.iter().zip(&process.next).enumerate() {
            next[s as usize] +=
                process.probabilities[k] * (process.rewards[k] + 0.99 * v[to as usize]);
        }
        v = next;
    }
    let found = error(&solved(&task, "lbfgs"), &v);
    assert!(found < 1e-8, "{found:e}");
}

#[test]
fn a_weight_of_two_is_a_transition_seen_twice() {
    let (rows, log) = random_log(6, 3, 40, 4);
    let counts: Vec<usize> = (0..40).map(|k| 1 + k % 3).collect();
    let weighted =
        Moves { weights: Some(counts.iter().map(|&c| 0.5 * c as f64).collect()), ..log.clone() };
    let mut repeated = Moves::default();
    for (k, &count) in counts.iter().enumerate() {
        for _ in 0..count {
            repeated.from.push(log.from[k]);
            repeated.next.push(log.next[k]);
            repeated.rewards.push(log.rewards[k]);
        }
    }
    let features = StateFeatures::Rows { d: 3, rows };
    let theta = [0.5, -0.25, 1.5];
    let objective = |moves: &Moves| {
        task(Transitions::new(features.clone(), moves.clone(), 0.8).unwrap()).objective(&theta)
    };
    assert!((objective(&weighted) / objective(&repeated) - 1.0).abs() < 1e-13);
    let [a, b] =
        [&weighted, &repeated].map(|moves| Mspbe::of_moves(&features, moves, 0.8).unwrap());
    assert!(error(a.a(), b.a()) < 1e-13 && error(a.b(), b.b()) < 1e-13);
    assert!(error(&a.lstd().unwrap(), &b.lstd().unwrap()) < 1e-12);
    let [a, b] = [a, b].map(|f| f.problem(0.1).unwrap().objective(&theta));
    assert!((a / b - 1.0).abs() < 1e-12);
}

/// `A theta = b` by the normal equations of both sides, from the log.
#[test]
fn lstd_and_its_ridge_are_what_the_log_says() {
    let (rows, log) = random_log(15, 3, 200, 5);
    let weights = log.weights.clone().unwrap();
    let total: f64 = weights.iter().sum();
    let (mut a, mut b) = (vec![[0.0; 3]; 3], [0.0; 3]);
    for (k, weight) in weights.iter().enumerate() {
        let (now, next) = (psi(Some(&rows), 3, log.from[k]), psi(Some(&rows), 3, log.next[k]));
        for l in 0..3 {
            for m in 0..3 {
                a[l][m] += weight / total * now[l] * (now[m] - 0.8 * next[m]);
            }
            b[l] += weight / total * log.rewards[k] * now[l];
        }
    }
    let mut gram = Symmetric::scaled_identity(3, 0.0);
    let mut right = vec![0.0; 3];
    for l in 0..3 {
        gram.add_outer(1.0, &a[l]);
        right.iter_mut().zip(&a[l]).for_each(|(right, x)| *right += b[l] * x);
    }
    let lstd = gram.solve(&right);
    let features = StateFeatures::Rows { d: 3, rows };
    let f = Mspbe::of_moves(&features, &log, 0.8).unwrap();
    let task = f.clone().problem(0.0).unwrap();
    assert!(error(&f.minimiser(&task.merit, 0.0).unwrap(), &lstd) < 1e-11);
    // With a ridge: where the gradient vanishes.
    let ridged = f.clone().problem(0.3).unwrap();
    let theta = f.minimiser(&ridged.merit, 0.3).unwrap();
    let mut gradient = vec![0.0; 3];
    ridged.gradient(&theta, &mut gradient);
    for (gradient, theta) in gradient.iter().zip(&theta) {
        assert!((gradient + 0.3 * theta).abs() < 1e-12, "{gradient} {theta}");
    }
}

#[test]
fn what_makes_no_problem_is_refused_in_words() {
    let good = Moves {
        from: vec![0, 1, 1],
        next: vec![1, 0, END],
        rewards: vec![1.0, 2.0, 3.0],
        weights: None,
    };
    let refused = |change: &dyn Fn(&mut Moves), discount: f64| {
        let mut moves = good.clone();
        change(&mut moves);
        Transitions::new(StateFeatures::OneHot { states: 2 }, moves, discount)
            .unwrap_err()
            .to_string()
    };
    assert!(Transitions::new(StateFeatures::OneHot { states: 2 }, good.clone(), 1.0).is_ok());
    assert!(refused(&|m| *m = Moves::default(), 0.5).contains("0 transitions between 2 states"));
    assert!(
        refused(&|m| m.rewards.truncate(2), 0.5)
            .contains("rewards = 2 entries, expected one for each of 3")
    );
    assert!(
        refused(&|m| m.from[2] = 7, 0.5)
            .contains("from = state 7 in transition 2, expected one of 2 states")
    );
    assert!(refused(&|m| m.from[2] = END, 0.5).contains("from = state 4294967295"));
    assert!(refused(&|m| m.next[0] = 2, 0.5).contains("next = state 2 in transition 0"));
    assert!(refused(&|m| m.rewards[1] = f64::NAN, 0.5).contains("rewards = NaN in transition 1"));
    assert!(
        refused(&|m| m.weights = Some(vec![1.0, -1.0, 1.0]), 0.5)
            .contains("weights = -1 in transition 1")
    );
    assert!(
        refused(&|m| m.weights = Some(vec![0.0, 1.0, 1.0]), 0.5).contains("a sum of 0 in state 0")
    );
    assert!(refused(&|_| (), 1.5).contains("discount = 1.5, expected a number from 0 to 1"));
    assert!(refused(&|m| m.from = vec![1, 1, 1], 0.5).contains("no transition leaves state 0"));
    assert!(refused(&|m| m.from = vec![0, 0, 0], 0.5).contains("no transition leaves state 1"));
    // Without a discount an end must be within reach, by transitions that happen.
    let endless = "1 where no end can be reached from state 0";
    assert!(refused(&|m| m.next[2] = 1, 1.0).contains(endless));
    assert!(refused(&|m| m.weights = Some(vec![1.0, 1.0, 0.0]), 1.0).contains(endless));
    assert!(refused(&|m| m.next = vec![0, END, END], 1.0).contains(endless));
    let flat =
        Transitions::new(StateFeatures::Rows { d: 2, rows: vec![1.0; 3] }, good.clone(), 0.5);
    assert!(flat.unwrap_err().to_string().contains("3 numbers in rows of 2"));
    let holes = StateFeatures::Rows { d: 1, rows: vec![1.0, f64::INFINITY] };
    assert!(
        Transitions::new(holes.clone(), good.clone(), 0.5)
            .unwrap_err()
            .to_string()
            .contains("inf in row 1")
    );
    assert!(Mspbe::of_moves(&holes, &good, 0.5).is_err());
    let none = Moves { weights: Some(vec![0.0; 3]), ..good };
    let rows = StateFeatures::Rows { d: 1, rows: vec![1.0, 2.0] };
    assert!(Mspbe::of_moves(&rows, &none, 0.5).unwrap_err().to_string().contains("a sum of 0"));
}

#[test]
fn large_tables_take_no_room_for_dense_rows() {
    let process = generate_sparse_mdp(100_000, 5, 0.9, 1);
    let task = task(one_hot(&process, 0.9));
    let theta = vec![10.0; 100_000];
    let mut gradient = vec![0.0; 100_000];
    task.gradient(&theta, &mut gradient);
    // Values of 10 lose 1 a step and get rewards of 1/2 in the mean.
    let mean = gradient.iter().sum::<f64>() / 1e5;
    assert!((mean * 1e5 - 2.0 * 0.5 * 0.1).abs() < 1e-3, "{mean}");
}
