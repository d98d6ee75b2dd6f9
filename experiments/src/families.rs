//! Problems of many kinds and sizes, on which methods are compared.

use anyhow::Result;
use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::{
    Absolute, AnyRegularizer, BoxedProblem, Collapsed, DownsideSquare, ElasticNet, FreeTail,
    Groups, Inner, L1, LanguageModel, Logistic, Merit, NegativeLog, Portfolio, Problem,
    Regularizer, Ridge, Sequences, Simplex, SoftmaxBags, Square, SquaredHinge, Unregularized,
};
use innermean_data::{
    GroupOptions, LanguageOptions, LinearModel, MdpOptions, RowLabels, generate_factor_model,
    generate_groups, generate_language, generate_mdp,
};

use crate::groups::{Shape, draw};

/// A problem with its name and a place to begin.
pub struct Case {
    /// What kind of problem.
    pub family: &'static str,
    /// How large.
    pub size: String,
    /// The problem.
    pub problem: BoxedProblem,
    /// Where runs begin.
    pub start: Vec<f64>,
}

fn case(
    family: &'static str,
    size: String,
    inner: impl Inner + 'static,
    merit: impl Merit + 'static,
    regularizer: impl Regularizer + 'static,
) -> Case {
    let start = vec![0.0; inner.d()];
    let problem = Problem { inner, merit, regularizer }.boxed();
    let start = problem.erased().allowed(&start);
    Case { family, size, problem, start }
}

/// Proportions of groups.
fn grouped(family: &'static str, shape: Shape) -> Case {
    let Shape { groups, rows, width, .. } = shape;
    let (Problem { inner, merit, regularizer }, start) = draw(shape, 1);
    let case = case(family, format!("{groups} x {rows} x {width}"), inner, merit, regularizer);
    Case { start, ..case }
}

/// Proportions of classes.
fn classified(groups: usize, rows: usize, classes: usize) -> Result<Case> {
    let d = 20;
    let options = GroupOptions {
        groups,
        rows: (rows, rows),
        features: d,
        labels: RowLabels::Classes(classes),
        seed: 1,
    };
    let data = generate_groups(&options);
    let starts = (0..=groups).map(|i| i * rows).collect();
    let inner = SoftmaxBags::new(Groups::new(d, data.rows, starts, true)?, classes)?;
    let regularizer = FreeTail::new(Ridge::from_weight(1e-4)?, inner.penalised());
    let merit = NegativeLog::new(classes, data.group_labels)?;
    let size = format!("{groups} x {rows} x {d}, {classes} classes");
    Ok(case("groups, classes", size, inner, merit, regularizer))
}

/// Squares, logistic and hinge losses of dense rows.
fn dense(rows: usize, d: usize, classes: bool) -> Result<(Collapsed, Vec<f64>)> {
    let model = LinearModel { rows, features: d, classes, seed: 1 };
    let data = model.dense();
    let offsets = if classes { vec![0.0; rows] } else { data.targets.iter().map(|t| -t).collect() };
    Ok((predictors(d, data.features, offsets)?, data.targets))
}

/// The same of sparse rows.
fn sparse(rows: usize, d: usize, nonzeros: usize, classes: bool) -> Result<(Collapsed, Vec<f64>)> {
    let data = LinearModel { rows, features: d, classes, seed: 1 }.sparse(nonzeros);
    let offsets = if classes { vec![0.0; rows] } else { data.labels.iter().map(|t| -t).collect() };
    let matrix = SparseRows::new(d, data.indptr, data.indices, data.values)?;
    Ok((sparse_predictors(matrix, offsets)?, data.labels))
}

/// Quadratic problems.
///
/// # Errors
/// If a size makes no sense.
pub fn quadratics(quick: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (n, d) in
        [(1000, 10), (7240, 25), (20_000, 200)].into_iter().take(if quick { 2 } else { 9 })
    {
        let portfolio = Portfolio::new(d, generate_factor_model(n, d, 1).values)?;
        let problem = portfolio.problem(Square::new(1.0)?, Unregularized)?;
        cases.push(case(
            "variance",
            format!("{n} x {d}"),
            problem.inner,
            problem.merit,
            problem.regularizer,
        ));
    }
    let shapes = [(1000, 10), (100_000, 50), (10_000, 500), (4000, 2000), (500, 5000)];
    for (n, d) in shapes.into_iter().take(if quick { 1 } else { 9 }) {
        let (inner, _) = dense(n, d, false)?;
        cases.push(case(
            "least squares",
            format!("{n} x {d}"),
            inner,
            Square::new(0.5)?,
            Ridge::from_weight(1e-3)?,
        ));
    }
    let shapes = [(20_000, 500, 20), (20_000, 2000, 20), (50_000, 10_000, 20)];
    for (n, d, nonzeros) in shapes.into_iter().take(if quick { 1 } else { 9 }) {
        let (inner, _) = sparse(n, d, nonzeros, false)?;
        let size = format!("{n} x {d}, {nonzeros} a row");
        cases.push(case(
            "sparse least squares",
            size,
            inner,
            Square::new(0.5)?,
            Ridge::from_weight(1e-3)?,
        ));
    }
    for (states, d) in [(100, 10), (2000, 10)].into_iter().take(if quick { 1 } else { 9 }) {
        let mdp = generate_mdp(&MdpOptions { states, d, ..MdpOptions::default() });
        let inner =
            innermean::Bellman::new(d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)?;
        cases.push(case(
            "Bellman error",
            format!("{states} states, {d} features"),
            inner,
            Square::new(1.0)?,
            Unregularized,
        ));
    }
    Ok(cases)
}

/// Smooth losses of linear predictors that are no squares, or with a g that is none.
///
/// # Errors
/// If a size makes no sense.
pub fn smooth(quick: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (n, d) in [(1000, 50), (20_000, 100), (3000, 500), (1500, 1000), (500, 2000)]
        .into_iter()
        .take(if quick { 1 } else { 9 })
    {
        let (inner, _) = dense(n, d, false)?;
        cases.push(case(
            "squares, l1",
            format!("{n} x {d}"),
            inner,
            Square::new(0.5)?,
            L1::new(0.05)?,
        ));
    }
    for (n, d) in
        [(7240, 25), (3000, 300), (1500, 1000)].into_iter().take(if quick { 1 } else { 9 })
    {
        let portfolio = Portfolio::new(d, generate_factor_model(n, d, 1).values)?;
        let problem =
            portfolio.clone().problem(Square::new(1.0)?, AnyRegularizer::from(Simplex))?;
        cases.push(case(
            "variance, long-only",
            format!("{n} x {d}"),
            problem.inner,
            problem.merit,
            problem.regularizer,
        ));
        let problem = portfolio.problem(DownsideSquare::new(1.0)?, Unregularized)?;
        cases.push(case(
            "semivariance",
            format!("{n} x {d}"),
            problem.inner,
            problem.merit,
            problem.regularizer,
        ));
    }
    let shapes = [(1000, 10), (20_000, 100), (3000, 500), (300, 2000)];
    for (n, d) in shapes.into_iter().take(if quick { 1 } else { 9 }) {
        let ridge = Ridge::from_weight(1.0 / n as f64)?;
        let (inner, labels) = dense(n, d, true)?;
        cases.push(case(
            "logistic",
            format!("{n} x {d}"),
            inner.clone(),
            Logistic::new(labels.clone())?,
            ridge,
        ));
        cases.push(case(
            "squared hinge",
            format!("{n} x {d}"),
            inner.clone(),
            SquaredHinge::new(labels.clone())?,
            ridge,
        ));
        let net = ElasticNet::from_weights(0.01, 0.001)?;
        cases.push(case("logistic, l1", format!("{n} x {d}"), inner, Logistic::new(labels)?, net));
    }
    for (n, d) in [(20_000, 2000), (50_000, 10_000)].into_iter().take(if quick { 0 } else { 9 }) {
        let (inner, labels) = sparse(n, d, 20, true)?;
        let size = format!("{n} x {d}, 20 a row");
        cases.push(case(
            "sparse logistic",
            size,
            inner,
            Logistic::new(labels)?,
            Ridge::from_weight(1.0 / n as f64)?,
        ));
    }
    Ok(cases)
}

/// Losses with kinks.
///
/// # Errors
/// If a size makes no sense.
pub fn kinked(quick: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (n, d) in [(500, 10), (7240, 25), (3000, 300), (1500, 1000)].into_iter().take(if quick {
        1
    } else {
        9
    }) {
        let portfolio = Portfolio::new(d, generate_factor_model(n, d, 1).values)?;
        let problem = portfolio.problem(Absolute::new(1.0)?, Simplex)?;
        cases.push(case(
            "absolute, long-only",
            format!("{n} x {d}"),
            problem.inner,
            problem.merit,
            problem.regularizer,
        ));
    }
    for (n, d) in [(500, 10), (10_000, 50), (5000, 300), (2000, 1000)].into_iter().take(if quick {
        1
    } else {
        9
    }) {
        let (inner, _) = dense(n, d, false)?;
        cases.push(case(
            "absolute, ridge",
            format!("{n} x {d}"),
            inner,
            Absolute::new(1.0)?,
            Ridge::from_weight(0.01)?,
        ));
    }
    Ok(cases)
}

/// f that is not affine.
///
/// # Errors
/// If a size makes no sense.
pub fn curved(quick: bool) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let part = if quick { 10 } else { 1 };
    // A million rows, from few large groups to many small ones; then as many numbers with more
    // features.
    let million = [(10, 100_000), (100, 10_000), (1000, 1000), (10_000, 100), (100_000, 10)];
    for (family, width, scaled) in
        [("groups", 10, false), ("groups, uneven features", 10, true), ("groups", 50, false)]
    {
        for (groups, rows) in million {
            cases.push(grouped(family, Shape { groups: groups / part, rows, width, scaled }));
        }
    }
    let wide =
        [(20, 5000, 400), (1000, 100, 400), (1000, 40, 1000), (5, 4000, 2500), (1000, 20, 2500)];
    for (groups, rows, width) in wide.into_iter().take(if quick { 0 } else { 9 }) {
        cases.push(grouped("groups, many features", Shape { groups, rows, width, scaled: false }));
    }
    for (groups, rows, classes) in [(1000, 100, 3), (200, 1000, 8), (5000, 10, 8)] {
        cases.push(classified(groups / part, rows, classes)?);
    }
    for (classes, steps) in [(3, 2000), (6, 10_000)].into_iter().take(if quick { 1 } else { 9 }) {
        let spoken =
            generate_language(&LanguageOptions { classes, steps, ..LanguageOptions::default() });
        let (ngrams, probabilities) = spoken.ngrams(2);
        let language = LanguageModel::new(classes, 2, &ngrams, &probabilities)?;
        let problem =
            Sequences::new(spoken.features, spoken.rows.clone(), &spoken.lengths, language)?
                .problem(Ridge::from_weight(1e-4)?)?;
        let mut case = case(
            "sequences, not convex",
            format!("{classes} classes, {steps} steps"),
            problem.inner,
            problem.merit,
            problem.regularizer,
        );
        let mut draws = Stream::new(1, 77);
        case.start.iter_mut().for_each(|t| *t = 0.3 * (2.0 * draws.unit() - 1.0));
        cases.push(case);
    }
    Ok(cases)
}
