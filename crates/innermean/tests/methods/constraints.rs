//! Linear constraints, turnover, gross exposure and the costs of trades: answers and lower bounds
//! against Clarabel, on random programs.

use innermean::draws::Stream;
use innermean::regularizer::{
    Clash, Constraints, Coordinate, LinearConstraint, Polyhedral, WeightedNorm,
};
use innermean::{
    Absolute, Collapsed, DownsideSquare, Driver, Merit, Objective, Regularizer, Solution, Square,
    Status, Stop, auto,
};

use crate::support::conic::Program;

/// A random program: rows of data, g by its parts and constraints.
struct Case {
    rows: Vec<f64>,
    parts: Vec<Coordinate>,
    constraints: Constraints,
}

fn solve(problem: Objective<'_>, start: &[f64]) -> Solution {
    let stop = Stop { tolerance: Some(1e-9), ..Stop::default() };
    let driver = Driver { stop, ..Driver::default() };
    auto::solve(&driver, problem, start, &mut (), 0).expect("a method that suits").solution
}

/// Weights that sum to one, with whatever else a desk may ask for around weights that meet it.
fn case(draws: &mut Stream, n: usize, d: usize) -> Case {
    let mut signed = |size: f64| size * (2.0 * draws.unit() - 1.0);
    let rows: Vec<f64> = (0..n * d).map(|_| signed(1.0) + signed(0.5)).collect();
    let tilts: Vec<f64> = (0..d).map(|_| signed(0.2)).collect();
    let current: Vec<f64> = (0..d).map(|l| (1.0 + (l % 3) as f64) / d as f64).collect();
    let total: f64 = current.iter().sum();
    let current: Vec<f64> = current.iter().map(|x| x / total).collect();
    let (kind, group) = (draws.index(6), 1 + draws.index(d));
    let lo = [0.0, -0.3, f64::NEG_INFINITY][draws.index(3)];
    let hi = [f64::INFINITY, 0.9, 1.0][draws.index(3)];
    let part = |l: usize| Coordinate {
        tilt: tilts[l],
        lo: if l == 2 && kind == 5 { current[l] } else { lo },
        hi: if l == 2 && kind == 5 { current[l] } else { hi },
        l1: if kind == 4 { 0.02 } else { 0.0 },
        l2: if lo.is_infinite() { 0.05 } else { 0.0 },
    };
    let row = |coefficient: &dyn Fn(usize) -> f64, lo: f64, hi: f64| LinearConstraint {
        coefficients: (0..d).map(coefficient).collect(),
        lo,
        hi,
    };
    let of_group = |l: usize| f64::from(u8::from(l < group));
    let spent: f64 = current[..group].iter().sum();
    let earned: f64 = current.iter().zip(&tilts).map(|(x, t)| -x * t).sum();
    let mut constraints = Constraints {
        rows: vec![
            row(&|_| 1.0, 1.0, 1.0),
            row(&of_group, spent - 0.1, spent + 0.02),
            row(&|l| -tilts[l], earned - 0.01, f64::INFINITY),
        ],
        norms: Vec::new(),
    };
    let norm = |center: Vec<f64>, limit: f64, price: f64| WeightedNorm {
        weights: (0..d).map(|l| 1.0 + 0.5 * (l % 2) as f64).collect(),
        center,
        limit,
        price,
    };
    match kind {
        1 => constraints.norms.push(norm(current.clone(), 0.3, 0.0)),
        2 => constraints.norms.push(norm(current.clone(), f64::INFINITY, 0.01)),
        3 => {
            constraints.norms.push(norm(current.clone(), 0.5, 0.005));
            constraints.norms.push(norm(vec![0.0; d], 2.0, 0.0));
        }
        _ => {}
    }
    Case { rows, parts: (0..d).map(part).collect(), constraints }
}

/// What phi costs, in Clarabel's words.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    Square,
    Downside,
    Absolute,
}

/// The optimum by Clarabel.
fn by_clarabel(case: &Case, n: usize, loss: Loss) -> Vec<f64> {
    let d = case.parts.len();
    let mut program = Program::default();
    let x: Vec<usize> =
        case.parts.iter().map(|part| program.variable(part.l2, part.tilt)).collect();
    for (part, &x) in case.parts.iter().zip(&x) {
        if part.lo.is_finite() {
            program.at_most(vec![(x, -1.0)], -part.lo);
        }
        if part.hi.is_finite() {
            program.at_most(vec![(x, 1.0)], part.hi);
        }
        if part.l1 > 0.0 {
            program.absolute_value(x, part.l1);
        }
    }
    for row in case.rows.chunks_exact(d) {
        let mut terms: Vec<(usize, f64)> = x.iter().copied().zip(row.iter().copied()).collect();
        let share = 1.0 / n as f64;
        match loss {
            Loss::Square => {
                let u = program.variable(share, 0.0);
                terms.push((u, -1.0));
                program.equal(terms, 0.0);
            }
            Loss::Downside => {
                // u >= -<a, x>, u >= 0
                let u = program.variable(share, 0.0);
                program.at_most(vec![(u, -1.0)], 0.0);
                let mut terms: Vec<(usize, f64)> = terms.iter().map(|(v, a)| (*v, -a)).collect();
                terms.push((u, -1.0));
                program.at_most(terms, 0.0);
            }
            Loss::Absolute => {
                let u = program.variable(0.0, 0.0);
                terms.push((u, -1.0));
                program.equal(terms, 0.0);
                program.absolute_value(u, share);
            }
        }
    }
    for row in &case.constraints.rows {
        let terms = |sign: f64| -> Vec<(usize, f64)> {
            x.iter().zip(&row.coefficients).map(|(x, a)| (*x, sign * a)).collect()
        };
        if row.lo == row.hi {
            program.equal(terms(1.0), row.lo);
            continue;
        }
        if row.lo.is_finite() {
            program.at_most(terms(-1.0), -row.lo);
        }
        if row.hi.is_finite() {
            program.at_most(terms(1.0), row.hi);
        }
    }
    for norm in &case.constraints.norms {
        let mut sum = Vec::new();
        for (l, &x) in x.iter().enumerate() {
            let t = program.variable(0.0, norm.price * norm.weights[l]);
            program.at_most(vec![(x, 1.0), (t, -1.0)], norm.center[l]);
            program.at_most(vec![(x, -1.0), (t, -1.0)], -norm.center[l]);
            sum.push((t, norm.weights[l]));
        }
        if norm.limit.is_finite() {
            program.at_most(sum, norm.limit);
        }
    }
    program.solve()[..d].to_vec()
}

#[test]
fn random_constraints_have_clarabels_answers_and_lower_bounds() {
    let mut draws = Stream::new(17, 0);
    let mut unsolved = Vec::new();
    for round in 0..180 {
        let (d, loss) =
            ([3, 5, 12, 25][round % 4], [Loss::Square, Loss::Downside, Loss::Absolute][round % 3]);
        let n = [d / 2 + 1, 4 * d, 60][draws.index(3)];
        let case = case(&mut draws, n, d);
        let g = Polyhedral::new(case.parts.clone(), case.constraints.clone()).unwrap();
        let inner = Collapsed::from_rows(d, case.rows.clone(), vec![0.0; n]);
        let merit: &dyn Merit = match loss {
            Loss::Square => &Square::new(0.5).unwrap(),
            Loss::Downside => &DownsideSquare::new(0.5).unwrap(),
            Loss::Absolute => &Absolute::new(1.0).unwrap(),
        };
        let problem = Objective { inner: &inner, merit, regularizer: &g };
        let mut start = vec![0.0; d];
        g.prox(1.0, &mut start);
        let found = solve(problem, &start);
        let name = format!("round {round}, {n} x {d}, {loss:?}");
        let theirs = by_clarabel(&case, n, loss);
        // Clarabel is feasible to its own tolerance only.
        let value = |x: &[f64]| {
            let relaxed: f64 = case
                .parts
                .iter()
                .zip(x)
                .map(|(part, x)| part.tilt * x + part.l1 * x.abs() + 0.5 * part.l2 * x * x)
                .sum();
            let norms: f64 =
                case.constraints.norms.iter().map(|norm| norm.price * norm.at(x)).sum();
            let mut f_bar = vec![0.0; n];
            problem.inner.means(x, &mut f_bar);
            problem.loss(&f_bar) + relaxed + norms
        };
        let (ours, theirs) = (value(&found.theta), value(&theirs));
        if found.status != Status::Solved {
            unsolved.push(format!("{name}: {:?}", found.certificate));
        }
        assert!(g.value(&found.theta).is_finite(), "{name}: not feasible");
        let size = 1e-7 * (1.0 + theirs.abs());
        assert!((ours - theirs).abs() <= size, "{name}: {ours} {theirs}");
        let gap = found.certificate.gap.expect("a proof");
        assert!(found.objective - gap <= theirs + size, "{name}: {} - {gap:e}", found.objective);
        let proven = gap <= 1e-6 * (1.0 + theirs.abs());
        assert!(proven || found.status != Status::Solved, "{name}: {gap:e}");
    }
    assert!(unsolved.is_empty(), "{unsolved:#?}");
}

#[test]
fn bounds_far_out_take_no_digits() {
    let mut draws = Stream::new(23, 0);
    for round in 0..60 {
        let d = [2, 4, 7][round % 3];
        let n = 3 * d + 4;
        let rows: Vec<f64> = (0..n * d).map(|_| 2.0 * draws.unit() - 1.0).collect();
        let tilts: Vec<f64> = (0..d).map(|_| 0.02 * draws.unit()).collect();
        let mut limit = |coefficients: Vec<f64>| LinearConstraint {
            coefficients,
            lo: f64::NEG_INFINITY,
            hi: 0.1 * draws.unit(),
        };
        let rows_of_limits = vec![
            limit(vec![1.0; d]),
            limit((0..d).map(|l| if l % 2 == 0 { 1.0 } else { -0.5 }).collect()),
        ];
        let within = |end: f64| {
            let part =
                |tilt: &f64| Coordinate { tilt: -tilt, lo: -end, hi: end, ..Coordinate::FREE };
            let constraints = Constraints { rows: rows_of_limits.clone(), norms: Vec::new() };
            Polyhedral::new(tilts.iter().map(part).collect(), constraints).unwrap()
        };
        let inner = Collapsed::from_rows(d, rows, vec![0.0; n]);
        let merit = &Square::new(0.5).unwrap();
        let solved = |end: f64| {
            let regularizer = &within(end);
            solve(Objective { inner: &inner, merit, regularizer }, &vec![0.0; d])
        };
        let (near, far) = (solved(1e2), solved(1e6));
        assert_eq!((near.status, far.status), (Status::Solved, Status::Solved), "round {round}");
        let off = (near.objective - far.objective).abs();
        assert!(off <= 1e-9 * (1e-3 + near.objective.abs()), "round {round}: {off:e}");
    }
}

#[test]
fn gross_limits_without_bounds_are_solved_at_once() {
    // From equal weights, which meet the budget but for rounding: of an equation that is met
    // nothing is left that x could be measured by.
    let mut draws = Stream::new(21, 0);
    for round in 0..60 {
        let d = [3, 7, 15, 25][round % 4];
        let n = 3 * d;
        let unit = [1.0, 1e-3, 1e3][round % 3];
        let rows: Vec<f64> = (0..n * d).map(|_| unit * (2.0 * draws.unit() - 1.0)).collect();
        let tilt = |l: usize| 0.1 * unit * unit * (l % 5) as f64;
        let parts: Vec<Coordinate> =
            (0..d).map(|l| Coordinate { tilt: tilt(l), ..Coordinate::FREE }).collect();
        let gross = WeightedNorm {
            weights: vec![1.0; d],
            center: vec![0.0; d],
            limit: 1.0 + 2.0 * draws.unit(),
            price: 0.0,
        };
        let budget = LinearConstraint { coefficients: vec![1.0; d], lo: 1.0, hi: 1.0 };
        let constraints = Constraints { rows: vec![budget], norms: vec![gross] };
        let case = Case { rows, parts, constraints };
        let g = Polyhedral::new(case.parts.clone(), case.constraints.clone()).unwrap();
        let inner = Collapsed::from_rows(d, case.rows.clone(), vec![0.0; n]);
        let merit = Square::new(0.5).unwrap();
        let problem = Objective { inner: &inner, merit: &merit, regularizer: &g };
        let start = vec![1.0 / d as f64; d];
        let stop = Stop { tolerance: Some(1e-9), ..Stop::default() };
        let driver = Driver { stop, ..Driver::default() };
        let outcome = auto::solve(&driver, problem, &start, &mut (), 0).expect("a method");
        assert!(outcome.fallbacks.is_empty(), "round {round}: {:?}", outcome.fallbacks);
        assert_eq!(outcome.solution.status, Status::Solved, "round {round}");
        let theirs = by_clarabel(&case, n, Loss::Square);
        let value = |x: &[f64]| {
            let tilted: f64 = case.parts.iter().zip(x).map(|(part, x)| part.tilt * x).sum();
            let mut f_bar = vec![0.0; n];
            problem.inner.means(x, &mut f_bar);
            problem.loss(&f_bar) + tilted
        };
        let (ours, theirs) = (value(&outcome.solution.theta), value(&theirs));
        let apart = (ours - theirs).abs();
        assert!(apart <= 1e-6 * (unit * unit + theirs.abs()), "round {round}: {ours} {theirs}");
    }
}

#[test]
fn a_far_end_forgives_nothing_at_the_near_one() {
    let row = LinearConstraint { coefficients: vec![1.0, 1.0], lo: 0.0, hi: 1e9 };
    let constraints = Constraints { rows: vec![row], norms: Vec::new() };
    let g = Polyhedral::new(vec![Coordinate::FREE; 2], constraints).unwrap();
    assert!(g.value(&[-1e-3, -1e-3]).is_infinite());
    assert!(g.value(&[1.0, -1.0]).is_finite());
    assert!(g.value(&[1e9, 1e-3]).is_finite() && g.value(&[1e9, 10.0]).is_infinite());
}

#[test]
fn projections_are_those_of_clarabel() {
    let mut draws = Stream::new(18, 0);
    for round in 0..100 {
        let d = [2, 3, 8, 20][round % 4].max(3);
        let case = case(&mut draws, 1, d);
        let g = Polyhedral::new(case.parts.clone(), case.constraints.clone()).unwrap();
        let point: Vec<f64> = (0..d).map(|_| 4.0 * draws.unit() - 2.0).collect();
        let mut ours = point.clone();
        g.prox(0.5, &mut ours);
        // |x - v|^2 as data: the rows of the identity cannot hold v, so it is part of the tilt.
        let parts = case.parts.iter().zip(&point).map(|(part, v)| Coordinate {
            tilt: part.tilt - 2.0 * v,
            l2: part.l2 + 2.0,
            ..*part
        });
        let rows = vec![0.0; d];
        let other = Case { rows, parts: parts.collect(), constraints: case.constraints.clone() };
        let theirs = by_clarabel(&other, 1, Loss::Square);
        let apart = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-5, "round {round}: {apart:e}");
        assert!(g.value(&ours).is_finite(), "round {round}: not feasible");
    }
}

#[test]
fn a_projection_between_two_near_bounds_does_not_cycle() {
    // Corrected steps alone lead the last coordinate from one of its bounds to the other and back.
    let d = 10;
    let mut parts = vec![Coordinate { lo: 0.0, ..Coordinate::FREE }; d];
    (parts[9].lo, parts[9].hi) = (0.059_818_78, 0.143_565_07);
    let group = (0..d).map(|l| f64::from(u8::from(l < 5))).collect();
    let rows = vec![
        LinearConstraint { coefficients: vec![1.0; d], lo: 1.0, hi: 1.0 },
        LinearConstraint { coefficients: group, lo: 0.443_369_527, hi: 0.593_369_527 },
    ];
    let g = Polyhedral::new(parts, Constraints { rows, norms: Vec::new() }).unwrap();
    let mut x = vec![0.0; d];
    g.prox(1.0, &mut x);
    assert!(x.iter().all(|x| (x - 0.1).abs() < 1e-9), "{x:?}");
}

#[test]
fn the_conjugate_is_never_below_a_value_that_is_attained() {
    let mut draws = Stream::new(19, 0);
    for round in 0..60 {
        let d = 3 + round % 6;
        let case = case(&mut draws, 1, d);
        let g = Polyhedral::new(case.parts.clone(), case.constraints).unwrap();
        let v: Vec<f64> = (0..d).map(|_| 2.0 * draws.unit() - 1.0).collect();
        let star = g.conjugate(&v);
        for step in [0.1, 1.0, 100.0] {
            let mut x = v.clone();
            g.step(step, &v.iter().map(|v| -v).collect::<Vec<f64>>(), &mut x);
            let value = v.iter().zip(&x).map(|(v, x)| v * x).sum::<f64>() - g.value(&x);
            assert!(value <= star + 1e-8 * (1.0 + star.abs()), "round {round}: {value} {star}");
        }
    }
}

#[test]
fn constraints_that_clash_are_named_with_the_least_relaxation() {
    let mut draws = Stream::new(20, 0);
    for round in 0..50 {
        let d = 4 + draws.index(8);
        let most = 0.5 / d as f64 + 0.3 * draws.unit() / d as f64;
        let part = |hi: f64| Coordinate { lo: 0.0, hi, ..Coordinate::FREE };
        let ones = |lo: f64, hi: f64| LinearConstraint { coefficients: vec![1.0; d], lo, hi };
        let first = |lo: f64, hi: f64| LinearConstraint {
            coefficients: (0..d).map(|l| f64::from(u8::from(l < 2))).collect(),
            lo,
            hi,
        };
        let norm = |limit: f64| WeightedNorm {
            weights: vec![1.0; d],
            center: vec![1.0; d],
            limit,
            price: 0.0,
        };
        let (hi, rows, norms) = match round % 4 {
            // Upper bounds that leave a part uninvested
            0 => (most, vec![ones(1.0, 1.0)], vec![]),
            // A group that must hold more than everything
            1 => (1.0, vec![ones(1.0, 1.0), first(1.2, 2.0)], vec![]),
            // A limit on trades that is too tight for the sum
            2 => (1.0, vec![ones(1.0, 1.0)], vec![norm(0.5)]),
            // None
            _ => (1.0, vec![ones(1.0, 1.0), first(0.1, 0.2)], vec![norm(d as f64)]),
        };
        let constraints = Constraints { rows, norms };
        let g = Polyhedral::new(vec![part(hi); d], constraints.clone()).unwrap();
        match (round % 4, g.clash()) {
            (0, Some(Clash::Rows { involved, relaxed, bounds })) => {
                assert_eq!((involved, relaxed), (vec![0], vec![]));
                let missing = 1.0 - d as f64 * most;
                let sum: f64 = bounds.iter().map(|(_, by)| by).sum();
                assert!((sum - missing).abs() < 1e-6, "{bounds:?} {missing}");
                assert!(bounds.iter().all(|(_, by)| *by > 0.0), "{bounds:?}");
                let mut wider = vec![part(hi); d];
                for (l, by) in bounds {
                    wider[l].hi += by + 1e-9;
                }
                assert_eq!(Polyhedral::new(wider, constraints).unwrap().clash(), None);
            }
            (1, Some(Clash::Rows { involved, relaxed, bounds })) => {
                assert_eq!((involved, bounds), (vec![0, 1], vec![]));
                assert!((relaxed[0].1 + 0.2).abs() < 1e-6 && relaxed.len() == 1, "{relaxed:?}");
                let mut wider = constraints;
                wider.rows[1].lo += relaxed[0].1 - 1e-9;
                assert_eq!(Polyhedral::new(vec![part(hi); d], wider).unwrap().clash(), None);
            }
            (2, Some(Clash::Norm { index, needed, involved })) => {
                assert_eq!((index, involved), (0, vec![0]));
                assert!((needed - (d as f64 - 1.0)).abs() < 1e-6, "{needed}");
            }
            (3, None) => {}
            (kind, clash) => panic!("round {round}, kind {kind}: {clash:?}"),
        }
    }
}
