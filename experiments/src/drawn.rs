//! Problems drawn at random over everything that the commands solve: sizes, penalties and
//! conditioning come from a seed.

use anyhow::Result;
use innermean::collapse::SparseRows;
use innermean::draws::Stream;
use innermean::problems::linear::{predictors, sparse_predictors};
use innermean::{
    Absolute, Bags, Bellman, Bernoulli, BoxedProblem, DownsideSquare, ElasticNet, FreeTail, Groups,
    Huber, Inner, L1, LanguageModel, Link, Logistic, Merit, Mspbe, NegativeLog, Portfolio, Problem,
    Regularizer, Ridge, Ridged, Sequences, Simplex, SoftmaxBags, Square, SquaredHinge,
    Unregularized,
};
use innermean_data::{
    GroupOptions, LanguageOptions, MdpOptions, RowLabels, generate_factor_model, generate_groups,
    generate_language, generate_mdp,
};

/// A problem with a description and a starting point.
pub struct Drawn {
    /// The command and the loss.
    pub kind: &'static str,
    /// Sizes, penalty and conditioning.
    pub shape: String,
    /// The problem.
    pub problem: BoxedProblem,
    /// Where every run begins.
    pub start: Vec<f64>,
}

/// Random choices of one problem.
struct Dice(Stream);

impl Dice {
    /// An integer that is log-uniform between both.
    fn size(&mut self, least: usize, most: usize) -> usize {
        self.weight(least as f64, most as f64).round() as usize
    }

    /// A log-uniform number.
    fn weight(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + self.0.unit() * (most / least).ln()).exp()
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.index(choices.len())]
    }

    /// Nearly normal: a sum of 12 uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.0.unit()).sum::<f64>() - 6.0
    }
}

fn drawn(
    kind: &'static str,
    shape: String,
    inner: impl Inner + 'static,
    merit: impl Merit + 'static,
    regularizer: impl Regularizer + 'static,
) -> Drawn {
    let start = vec![0.0; inner.d()];
    let problem = Problem { inner, merit, regularizer }.boxed();
    let start = problem.erased().allowed(&start);
    Drawn { kind, shape, problem, start }
}

/// Problem `number` of a series; kinds take turns.
///
/// # Errors
/// If a size makes no sense.
pub fn draw(seed: u64, number: u64) -> Result<Drawn> {
    let mut dice = Dice(Stream::new(seed, number));
    match number % 10 {
        0 | 1 => portfolio(&mut dice),
        2 | 3 => dense(&mut dice),
        4 => sparse(&mut dice),
        5 => bags(&mut dice),
        6 | 7 => classes(&mut dice),
        8 => policy(&mut dice),
        _ => sequences(&mut dice),
    }
}

fn portfolio(dice: &mut Dice) -> Result<Drawn> {
    let d = dice.size(5, 150);
    let n = dice.size(3 * d, 8000.min(30 * d));
    let returns = generate_factor_model(n, d, dice.0.index(1000) as u64).values;
    let portfolio = Portfolio::new(d, returns)?;
    let ridge = dice.weight(1e-4, 1.0);
    let (limits, g): (_, Box<dyn Regularizer>) = match dice.0.index(3) {
        0 => ("long-only", Box::new(Simplex)),
        1 => ("long-only, ridge", Box::new(Ridged::new(Simplex, ridge)?)),
        _ => ("ridge", Box::new(Ridge::from_weight(ridge)?)),
    };
    let shape = format!("{n} x {d}, {limits}");
    Ok(match dice.0.index(3) {
        0 => {
            let p = portfolio.problem(Square::new(1.0)?, g)?;
            drawn("portfolio, variance", shape, p.inner, p.merit, p.regularizer)
        }
        1 => {
            let p = portfolio.problem(DownsideSquare::new(1.0)?, g)?;
            drawn("portfolio, semivariance", shape, p.inner, p.merit, p.regularizer)
        }
        _ => {
            let p = portfolio.problem(Absolute::new(1.0)?, g)?;
            drawn("portfolio, absolute", shape, p.inner, p.merit, p.regularizer)
        }
    })
}

/// A penalty in words, and as g.
fn penalty(dice: &mut Dice, n: usize) -> Result<(String, Box<dyn Regularizer>)> {
    let (l1, l2) = (dice.weight(1e-4, 1e-1), dice.weight(0.01 / n as f64, 0.1));
    Ok(match dice.0.index(4) {
        0 => (format!("l1 {l1:.0e}"), Box::new(L1::new(l1)?)),
        1 => (format!("l1 {l1:.0e}, l2 {l2:.0e}"), Box::new(ElasticNet::from_weights(l1, l2)?)),
        _ => (format!("l2 {l2:.0e}"), Box::new(Ridge::from_weight(l2)?)),
    })
}

/// A loss of linear predictors, whose targets are real numbers or signs.
fn with_loss(
    dice: &mut Dice,
    shape: String,
    inner: impl Fn(Vec<f64>) -> Result<innermean::Collapsed>,
    scores: &[f64],
    g: Box<dyn Regularizer>,
) -> Result<Drawn> {
    let noise: Vec<f64> = scores.iter().map(|_| dice.normal()).collect();
    let targets = scores.iter().zip(&noise).map(|(s, e)| s + 0.5 * e);
    let signs: Vec<f64> =
        scores.iter().zip(&noise).map(|(s, e)| if s + e > 0.0 { 1.0 } else { -1.0 }).collect();
    let offsets: Vec<f64> = targets.map(|t| -t).collect();
    let none = vec![0.0; scores.len()];
    Ok(match dice.0.index(6) {
        0 => drawn("linear, squares", shape, inner(offsets)?, Square::new(0.5)?, g),
        1 => drawn("linear, Huber", shape, inner(offsets)?, Huber::new(1.0, 1.0)?, g),
        2 => drawn("linear, absolute", shape, inner(offsets)?, Absolute::new(1.0)?, g),
        3 => drawn("linear, squared hinge", shape, inner(none)?, SquaredHinge::new(signs)?, g),
        _ => drawn("linear, logistic", shape, inner(none)?, Logistic::new(signs)?, g),
    })
}

fn dense(dice: &mut Dice) -> Result<Drawn> {
    let d = dice.size(5, 400);
    let n = dice.size(100, (2_000_000 / d).min(20_000));
    let decay = dice.one_of(&[0.0, 0.5, 1.0]);
    let scale: Vec<f64> = (1..=d).map(|k| (k as f64).powf(-decay)).collect();
    let rows: Vec<f64> = (0..n * d).map(|k| scale[k % d] * dice.normal()).collect();
    let truth: Vec<f64> = (0..d).map(|_| 2.0 * dice.normal() / (d as f64).sqrt()).collect();
    let score = |row: &[f64]| row.iter().zip(&truth).map(|(a, t)| a * t).sum();
    let scores: Vec<f64> = rows.chunks_exact(d).map(score).collect();
    let (words, g) = penalty(dice, n)?;
    let shape = format!("{n} x {d}, scales k^-{decay}, {words}");
    with_loss(dice, shape, |offsets| Ok(predictors(d, rows.clone(), offsets)?), &scores, g)
}

fn sparse(dice: &mut Dice) -> Result<Drawn> {
    let (d, n, each) = (dice.size(200, 5000), dice.size(1000, 20_000), dice.size(5, 30));
    let truth: Vec<f64> = (0..d).map(|_| dice.normal()).collect();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut scores = Vec::new();
    for _ in 0..n {
        // Some columns are frequent, as words are.
        let mut row: Vec<u32> = (0..each)
            .map(|_| ((d as f64).powf(dice.0.unit()).floor() as u32).min(d as u32 - 1))
            .collect();
        row.sort_unstable();
        row.dedup();
        scores.push(row.iter().map(|&c| truth[c as usize]).sum::<f64>() / (each as f64).sqrt());
        values.extend(row.iter().map(|_| 1.0));
        columns.extend(row);
        starts.push(columns.len());
    }
    let (words, g) = penalty(dice, n)?;
    let shape = format!("{n} x {d}, {each} a row, {words}");
    let matrix = SparseRows::new(d, starts, columns, values)?;
    let inner = |offsets| Ok(sparse_predictors(matrix.clone(), offsets)?);
    with_loss(dice, shape, inner, &scores, g)
}

fn groups(dice: &mut Dice, features: usize, labels: RowLabels) -> (usize, GroupOptions) {
    let rows = dice.size(2, 200);
    let groups = dice.size(20, (1_000_000 / rows / features).clamp(40, 5000));
    let seed = dice.0.index(1000) as u64;
    (rows, GroupOptions { groups, rows: (rows, rows), features, labels, seed })
}

fn bags(dice: &mut Dice) -> Result<Drawn> {
    let d = dice.size(3, 100);
    let (rows, options) = groups(dice, d, RowLabels::Binary);
    let data = generate_groups(&options);
    let starts = (0..=options.groups).map(|i| i * rows).collect();
    let l2 = dice.weight(1e-6, 1e-2);
    let inner = Bags::new(Groups::new(d, data.rows, starts, true)?, Link::Logistic);
    let g = FreeTail::new(Ridge::from_weight(l2)?, d);
    let shape = format!("{} groups x {rows} x {d}, l2 {l2:.0e}", options.groups);
    Ok(drawn("bags, logistic", shape, inner, Bernoulli::new(data.group_labels)?, g))
}

fn classes(dice: &mut Dice) -> Result<Drawn> {
    let (d, classes) = (dice.size(5, 64), dice.size(3, 10));
    let (rows, options) = groups(dice, d * classes, RowLabels::Classes(classes));
    let options = GroupOptions { features: d, ..options };
    let data = generate_groups(&options);
    let starts = (0..=options.groups).map(|i| i * rows).collect();
    let l2 = dice.weight(1e-6, 1e-2);
    let inner = SoftmaxBags::new(Groups::new(d, data.rows, starts, true)?, classes)?;
    let g = FreeTail::new(Ridge::from_weight(l2)?, inner.penalised());
    let merit = NegativeLog::new(classes, data.group_labels)?;
    let groups = options.groups;
    let shape = format!("{groups} groups x {rows} x {d}, {classes} classes, l2 {l2:.0e}");
    Ok(drawn("bags, softmax", shape, inner, merit, g))
}

fn policy(dice: &mut Dice) -> Result<Drawn> {
    let (states, d) = (dice.size(20, 500), dice.size(3, 20));
    let seed = dice.0.index(1000) as u64;
    let mdp = generate_mdp(&MdpOptions { states, d, seed, ..MdpOptions::default() });
    let shape = format!("{states} states, {d} features");
    if dice.0.index(2) == 0 {
        let inner = Bellman::new(d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)?;
        return Ok(drawn("policy, Bellman", shape, inner, Square::new(1.0)?, Unregularized));
    }
    let steps = dice.size(500, 20_000);
    let (mut now, mut next, mut rewards) = (Vec::new(), Vec::new(), Vec::new());
    let mut state = 0;
    for _ in 0..steps {
        let to = dice.0.index(states);
        now.extend_from_slice(&mdp.features[state * d..(state + 1) * d]);
        next.extend_from_slice(&mdp.features[to * d..(to + 1) * d]);
        rewards.push(dice.0.unit());
        state = to;
    }
    let rho = dice.weight(1e-6, 1e-1);
    let p = Mspbe::new(d, now, &next, rewards, mdp.discount)?.problem(rho)?;
    let shape = format!("{steps} steps, {shape}, l2 {rho:.0e}");
    Ok(drawn("policy, projected", shape, p.inner, p.merit, p.regularizer))
}

fn sequences(dice: &mut Dice) -> Result<Drawn> {
    let (classes, steps) = (dice.size(3, 10), dice.size(1000, 20_000));
    let (features, seed) = (dice.size(3, 12), dice.0.index(1000) as u64);
    let options = LanguageOptions { classes, steps, features, seed, ..LanguageOptions::default() };
    let spoken = generate_language(&options);
    let (ngrams, probabilities) = spoken.ngrams(2);
    let language = LanguageModel::new(classes, 2, &ngrams, &probabilities)?;
    let l2 = dice.weight(1e-5, 1e-2);
    let p = Sequences::new(spoken.features, spoken.rows.clone(), &spoken.lengths, language)?
        .problem(Ridge::from_weight(l2)?)?;
    let shape = format!("{steps} steps x {features}, {classes} classes, l2 {l2:.0e}");
    let mut drawn = drawn("sequences", shape, p.inner, p.merit, p.regularizer);
    drawn.start.iter_mut().for_each(|t| *t = 0.3 * (2.0 * dice.0.unit() - 1.0));
    Ok(drawn)
}
