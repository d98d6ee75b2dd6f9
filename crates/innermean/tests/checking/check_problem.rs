//! `check_problem` passes everything that is right.

use innermean::*;
use innermean_data::{GroupOptions, RowLabels, generate_factor_model, generate_groups};

pub(super) fn passes<'p>(what: &str, problem: impl Into<Objective<'p>>) {
    let report = check_problem(problem, &CheckOptions::default());
    assert!(report.is_ok(), "{what}: {report}");
    assert!(report.comparisons > 100, "{what}: {report}");
}

pub(super) fn market() -> Portfolio {
    Portfolio::new(4, generate_factor_model(60, 4, 1).values).expect("generated returns")
}

#[test]
fn shipped_merits_and_regularizers_pass() {
    let f = market();
    let (n, d) = (f.n_x(), 4);
    let labels = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let merits: Vec<(&str, Box<dyn Merit>)> = vec![
        ("square", Box::new(Square::new(1.5).unwrap())),
        ("downside square", Box::new(DownsideSquare::new(0.7).unwrap())),
        ("absolute", Box::new(Absolute::new(2.0).unwrap())),
        ("huber", Box::new(Huber::new(1.0, 0.4).unwrap())),
        ("excess", Box::new(Excess::new(1.3).unwrap().raised(0.2))),
        ("exponential", Box::new(Exponential::new(0.8, 0.5).unwrap().raised(-0.1))),
        ("logistic", Box::new(Logistic::new(labels).unwrap())),
        ("picked", Box::new(AnyMerit::from(Square::new(3.0).unwrap()))),
    ];
    for (name, merit) in &merits {
        passes(name, Objective { inner: &f, merit: &**merit, regularizer: &Unregularized });
    }
    let square = Square::new(1.0).unwrap();
    let tilt = vec![0.3, -0.2, 0.5, 0.0];
    let regularizers: Vec<(&str, Box<dyn Regularizer>)> = vec![
        ("ridge", Box::new(Ridge::from_weight(0.3).unwrap())),
        ("l1", Box::new(L1::new(0.4).unwrap())),
        ("elastic net", Box::new(ElasticNet::from_weights(0.2, 0.5).unwrap())),
        ("box", Box::new(BoxConstraint::new(-0.5, 0.8).unwrap())),
        ("simplex", Box::new(Simplex)),
        ("logarithms", Box::new(LogBarrier::new(vec![0.1, 0.2, 0.3, 0.4]).unwrap())),
        ("budget", Box::new(Budget::new(d, BoxConstraint::new(0.0, 0.6).unwrap()).unwrap())),
        ("tilted", Box::new(Tilted::new(Ridge::from_weight(0.1).unwrap(), tilt).unwrap())),
        ("free tail", Box::new(FreeTail::new(Ridge::from_weight(0.1).unwrap(), 3))),
        ("picked", Box::new(AnyRegularizer::from(L1::new(0.4).unwrap()))),
    ];
    for (name, regularizer) in &regularizers {
        passes(name, &Problem { inner: &f, merit: square, regularizer: &**regularizer });
    }
}

#[test]
fn shipped_problems_pass() {
    let square = Square::new(1.0).unwrap();
    passes("portfolio", &market().problem(square, Simplex).unwrap());
    let weights: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i % 5)).collect();
    let benchmark: Vec<f64> = (0..60).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let weighted = market().with_weights(weights.clone()).unwrap();
    let merit = Weighted::new(square, weighted.weights().unwrap().to_vec()).unwrap();
    passes("weighted portfolio", &weighted.problem(merit.clone(), Simplex).unwrap());
    let against = market().with_benchmark(benchmark.clone()).unwrap();
    passes("portfolio against a benchmark", &against.problem(square, Simplex).unwrap());
    let both = market().with_benchmark(benchmark).unwrap().with_weights(weights).unwrap();
    passes(
        "losses",
        &Problem { inner: both.losses(0.3), merit: merit.clone(), regularizer: Unregularized },
    );
    passes(
        "wealth",
        &Problem { inner: both.wealth(100.0), merit: merit.clone(), regularizer: Simplex },
    );
    passes("weighted portfolio against a benchmark", &both.problem(merit, Simplex).unwrap());
    let chain = innermean_data::generate_mdp(&innermean_data::MdpOptions {
        states: 12,
        ..Default::default()
    });
    let bellman = Bellman::new(
        chain.d,
        chain.features.clone(),
        chain.transitions.clone(),
        chain.rewards.clone(),
        0.9,
    )
    .unwrap();
    passes("bellman", &Problem { inner: bellman, merit: square, regularizer: Unregularized });
    let rows = generate_factor_model(30, 3, 2).values;
    let targets: Vec<f64> = (0..30).map(|i| f64::from(i % 7)).collect();
    passes(
        "ridge regression",
        &problems::linear::ridge_regression(3, rows, &targets, 0.1).unwrap(),
    );
    for (labels, link) in [
        (RowLabels::Binary, Link::Logistic),
        (RowLabels::Real, Link::Identity),
        (RowLabels::Counts, Link::Exp),
    ] {
        let data = generate_groups(&GroupOptions {
            groups: 20,
            rows: (1, 9),
            features: 3,
            labels,
            seed: 1,
        });
        let groups = Groups::gather(3, &data.rows, &data.groups, 20, true).unwrap().0;
        let sizes: Vec<f64> = (0..20).map(|i| groups.size(i) as f64).collect();
        let merit: Box<dyn Merit> = match link {
            Link::Logistic => Box::new(Bernoulli::new(data.group_labels).unwrap()),
            Link::Exp => Box::new(Poisson::new(data.group_labels, sizes, 0.1).unwrap()),
            Link::Identity => Box::new(square),
        };
        passes(
            &format!("{link:?}"),
            &Problem { inner: Bags::new(groups, link), merit, regularizer: Unregularized },
        );
    }
    let labels = RowLabels::Classes(3);
    let data =
        generate_groups(&GroupOptions { groups: 20, rows: (1, 9), features: 3, labels, seed: 1 });
    let groups = Groups::gather(3, &data.rows, &data.groups, 20, true).unwrap().0;
    let merit = NegativeLog::new(3, data.group_labels).unwrap();
    passes(
        "softmax",
        &Problem { inner: SoftmaxBags::new(groups, 3).unwrap(), merit, regularizer: Unregularized },
    );
}
