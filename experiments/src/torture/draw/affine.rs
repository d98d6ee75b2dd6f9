//! Portfolios, linear predictors, policies and groups whose link is the identity: f is affine.

use anyhow::Result;
use innermean::collapse::SparseRows;
use innermean::problems::linear;
use innermean::problems::scaling::Scaling;
use innermean::problems::transitions::END;
use innermean::{
    Absolute, AnyMerit, Bags, Bellman, DownsideSquare, Groups, Huber, Inner, Link, Logistic, Merit,
    Moves, Mspbe, Portfolio, Problem, SmoothedHinge, Square, SquaredHinge, StateFeatures,
    Transitions,
};

use super::columns::{self, Conditioning, Dice};
use super::files::{Files, table_text};
use super::penalties::Wanted;
use super::{Case, Drawn, Kind, Truth};
use crate::torture::double_double::Dd;
use crate::torture::objective::{Affine, Loss, largest, mean};

/// Rows and columns, at most.
const MOST: (usize, usize) = (60, 12);

/// `innermean portfolio` with the risk of the kind.
pub(super) fn portfolio(dice: &mut Dice, kind: Kind, conditioning: Conditioning) -> Result<Drawn> {
    let (n, d) = columns::size(dice, conditioning, MOST);
    let mut rows = columns::table(dice, conditioning, n, d);
    if conditioning == Conditioning::Unbounded && dice.chance(0.5) {
        // The same return, whatever happens.
        let (column, sure) = (dice.below(d), dice.power(-3.0, 0.0));
        rows.iter_mut().skip(column).step_by(d).for_each(|x| *x = sure);
    } else if conditioning == Conditioning::Unbounded && n > 2 {
        // Fewer periods than assets: some mixture has no risk at all.
        rows.truncate(d.max(2) / 2 * d + d);
    }
    let n = rows.len() / d;
    let mut wanted = Wanted::any(dice, d);
    let c = if dice.chance(0.5) { 1.0 } else { dice.power(-2.0, 2.0) };
    let sizes = largest(&rows, d);
    let h = sizes.iter().fold(0.0_f64, |most, x| most.max(*x)).max(1e-300) * dice.power(-2.0, 0.0);
    if conditioning == Conditioning::Unbounded && kind != Kind::Absolute {
        wanted = Wanted { constraint: super::penalties::Constraint::None, l1: 0.0, l2: 0.0 };
    }
    let (risk, loss, merit): (&str, Loss, AnyMerit) = match kind {
        Kind::Semivariance => {
            ("semivariance", Loss::Downside { c: Dd::from(c) }, DownsideSquare::new(c)?.into())
        }
        Kind::Absolute => {
            if !wanted.holds_theta() {
                wanted.l2 = dice.power(-4.0, 0.0);
            }
            ("absolute", Loss::Absolute { c: Dd::from(c) }, Absolute::new(c)?.into())
        }
        Kind::RiskHuber => {
            ("huber", Loss::Huber { c: Dd::from(c), h: Dd::from(h) }, Huber::new(c, h)?.into())
        }
        _ => ("variance", Loss::Square { c: Dd::from(c) }, Square::new(c)?.into()),
    };
    let truth = Affine::portfolio(d, &rows, loss, wanted.penalty(d, d));
    let width = if kind == Kind::RiskHuber { format!(" --huber-width {h}") } else { String::new() };
    let flags = wanted.flags(true).unwrap_or_default();
    let arguments =
        format!("portfolio returns.csv --risk {risk} --risk-aversion {c}{width}{flags}");
    let files = Files { arguments, texts: vec![("returns.csv", table_text(d, &rows, &[]))] };
    let Problem { inner, merit, regularizer } =
        Portfolio::new(d, rows)?.problem(merit, wanted.ridged(d)?)?;
    let case = Case::new(inner, Box::new(merit), Box::new(regularizer));
    Ok(Drawn::new(
        format!("{n} x {d}, {wanted:?}, c {c}, h {h}"),
        case,
        Truth::Affine(truth),
        Some(files),
    ))
}

/// `innermean linear` with the loss of the kind, or with an absolute loss, which the library alone
/// has.
pub(super) fn linear(dice: &mut Dice, kind: Kind, conditioning: Conditioning) -> Result<Drawn> {
    let (n, width) = columns::size(dice, conditioning, MOST);
    let rows = columns::table(dice, conditioning, n, width);
    let scores = columns::scores(dice, &rows, width);
    let intercept = dice.chance(0.5) && kind != Kind::LinearAbsolute;
    let d = width + usize::from(intercept);
    let noise = match conditioning {
        Conditioning::Separable => 0.0,
        Conditioning::Constant if dice.chance(0.3) => 0.0,
        _ => dice.of(&[0.1, 1.0, 3.0]),
    };
    let unit = if dice.chance(0.8) { 1.0 } else { dice.power(-6.0, 6.0) };
    let numbers: Vec<f64> = scores.iter().map(|s| unit * (s + noise * dice.normal())).collect();
    let classes: Vec<f64> = numbers.iter().map(|s| if *s > 0.0 { 1.0 } else { -1.0 }).collect();
    let h = if kind == Kind::Huber { unit } else { 1.0 } * dice.of(&[0.05, 0.5, 1.0]);
    let mut wanted = Wanted::norms(dice);
    if kind == Kind::LinearAbsolute && !wanted.holds_theta() {
        // Of a loss with kinks nothing is proven where nothing holds theta; the command line
        // refuses its portfolios.
        wanted.l2 = dice.power(-6.0, 0.0);
    }
    let of_classes = matches!(kind, Kind::Logistic | Kind::SquaredHinge | Kind::SmoothedHinge);
    let half = Dd::from(0.5);
    let loss = |y: f64| match kind {
        Kind::Huber => Loss::Huber { c: Dd::from(h), h: Dd::from(h) },
        Kind::LinearAbsolute => Loss::Absolute { c: Dd::ONE },
        Kind::Logistic => Loss::Logistic { y: Dd::from(y) },
        Kind::SquaredHinge => Loss::SquaredHinge { y: Dd::from(y) },
        Kind::SmoothedHinge => Loss::SmoothedHinge { y: Dd::from(y), h: Dd::from(h) },
        _ => Loss::Square { c: half },
    };
    let merit: Box<dyn Merit> = match kind {
        Kind::Huber => Box::new(Huber::new(h, h)?),
        Kind::LinearAbsolute => Box::new(Absolute::new(1.0)?),
        Kind::Logistic => Box::new(Logistic::new(classes.clone())?),
        Kind::SquaredHinge => Box::new(SquaredHinge::new(classes.clone())?),
        Kind::SmoothedHinge => Box::new(SmoothedHinge::new(classes.clone(), h)?),
        _ => Box::new(Square::new(0.5)?),
    };
    let targets = if of_classes { &classes } else { &numbers };
    let offsets: Vec<f64> =
        if of_classes { vec![0.0; n] } else { numbers.iter().map(|t| -t).collect() };
    let flags = wanted.flags(false).filter(|_| kind != Kind::LinearAbsolute);
    let files = flags.map(|flags| {
        let width_flag = match kind {
            Kind::Huber => format!(" --huber-width {h}"),
            Kind::SmoothedHinge => format!(" --hinge-width {h}"),
            _ => String::new(),
        };
        let without = if intercept { "" } else { " --no-intercept" };
        let name = kind.name().trim_start_matches("linear-");
        let arguments =
            format!("linear rows.csv --target y --loss {name}{width_flag}{without}{flags}");
        Files { arguments, texts: vec![("rows.csv", table_text(width, &rows, &[("y", targets)]))] }
    });
    let with_ones = |rows: &[f64]| -> Vec<f64> {
        let ones = if intercept { &[1.0][..] } else { &[] };
        rows.chunks_exact(width).flat_map(|row| row.iter().chain(ones).copied()).collect()
    };
    let given = with_ones(&rows);
    // As the command does, where its penalty has other units.
    let g = wanted.regularizer(d, width)?;
    let mut scaled = rows.clone();
    let scaling = Scaling::of_rows(&mut scaled, width, intercept);
    let (g, scaling, rows) = match scaling.regularizer(g) {
        Ok(g) => (g, scaling, with_ones(&scaled)),
        Err(_) => (wanted.regularizer(d, width)?, Scaling::default(), given.clone()),
    };
    let losses = classes.iter().map(|y| loss(*y)).collect();
    let truth = Affine::predictors(d, &given, &offsets, losses, wanted.penalty(d, width));
    let words = format!(
        "{n} x {width}, intercept {intercept}, {wanted:?}, h {h}, unit {unit}, noise {noise}"
    );
    let sparse = dice.chance(0.15);
    let inner = if sparse {
        let columns = (0..n).flat_map(|_| 0..d as u32).collect();
        let rows = SparseRows::new(d, (0..=n).map(|i| i * d).collect(), columns, rows)?;
        linear::sparse_predictors(rows, offsets)?
    } else {
        linear::predictors(d, rows, offsets)?
    };
    let case = Case::new(inner, merit, g).scaled(scaling);
    Ok(Drawn::new(words, case, Truth::Affine(truth), files))
}

/// Transitions between states, with features.
struct Process {
    features: Vec<f64>,
    d: usize,
    states: usize,
    discount: f64,
}

impl Process {
    fn draw(dice: &mut Dice, conditioning: Conditioning) -> Self {
        let (states, d) = columns::size(dice, conditioning, (20, 8));
        let discount = dice.of(&[0.0, 0.5, 0.9, 0.99, 0.9999]);
        Process { features: columns::table(dice, conditioning, states, d), d, states, discount }
    }

    /// `Psi_s`, zero after the end.
    fn feature(&self, state: u32, l: usize) -> Dd {
        if state == END { Dd::ZERO } else { Dd::from(self.features[state as usize * self.d + l]) }
    }
}

fn policy_penalty(dice: &mut Dice, d: usize) -> Wanted {
    if dice.chance(0.7) { Wanted::norms(dice) } else { Wanted::any(dice, d) }
}

/// `innermean policy --model`: all pairs of states.
pub(super) fn model(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let process = Process::draw(dice, conditioning);
    let Process { d, states, discount, .. } = process;
    let mut transitions = Vec::with_capacity(states * states);
    for _ in 0..states {
        let row: Vec<f64> = (0..states)
            .map(|_| if dice.chance(0.4) { 0.0 } else { dice.unit() })
            .chain([1e-3])
            .collect();
        let total: f64 = row.iter().sum::<f64>();
        let first = row[0] + row[states];
        transitions.push(first / total);
        transitions.extend(row[1..states].iter().map(|p| p / total));
    }
    let rewards: Vec<f64> = (0..states * states).map(|_| dice.normal()).collect();
    let gamma = Dd::from(discount);
    let (mut rows, mut offsets) = (Vec::new(), Vec::new());
    for s in 0..states {
        let p = &transitions[s * states..(s + 1) * states];
        let after = |l: usize| -> Dd {
            p.iter().enumerate().map(|(t, p)| Dd::from(*p) * process.feature(t as u32, l)).sum()
        };
        rows.extend((0..d).map(|l| process.feature(s as u32, l) - gamma * after(l)));
        let reward = &rewards[s * states..(s + 1) * states];
        offsets.push(-(p.iter().zip(reward).map(|(p, r)| Dd::from(*p) * Dd::from(*r)).sum::<Dd>()));
    }
    let wanted = policy_penalty(dice, d);
    let truth = bellman(&process, rows, offsets, &wanted);
    let words = format!("{states} states, {d} features, discount {discount}, {wanted:?}");
    let inner = Bellman::new(d, process.features, transitions, rewards, discount)?;
    let case = Case::new(inner, Box::new(Square::new(1.0)?), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

fn bellman(process: &Process, rows: Vec<Dd>, offsets: Vec<Dd>, wanted: &Wanted) -> Affine {
    let d = process.d;
    let losses = vec![Loss::Square { c: Dd::ONE }; offsets.len()];
    Affine {
        d,
        rows,
        offsets,
        losses,
        penalty: wanted.penalty(d, d),
        uncentred: largest(&process.features, d),
        condition: 1.0,
    }
}

/// Moves from every state of which there are features.
fn moves(dice: &mut Dice, states: usize) -> Moves {
    let weighted = dice.chance(0.5);
    let mut moves = Moves::default();
    let mut weights = Vec::new();
    for s in 0..states {
        for _ in 0..dice.between(1, 4) {
            moves.from.push(s as u32);
            moves.next.push(if dice.chance(0.1) { END } else { dice.below(states) as u32 });
            moves.rewards.push(dice.normal());
            weights.push(0.1 + dice.unit());
        }
    }
    moves.weights = weighted.then_some(weights);
    moves
}

/// `innermean policy LOG`
pub(super) fn log(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let mut process = Process::draw(dice, conditioning);
    let one_hot = conditioning == Conditioning::Ordinary && dice.chance(0.5);
    if one_hot {
        let states = process.states.min(12);
        let unit = |k: usize| if k / states == k % states { 1.0 } else { 0.0 };
        let features = (0..states * states).map(unit).collect();
        process = Process { features, d: states, states, ..process };
    }
    let Process { d, states, discount, .. } = process;
    let moves = moves(dice, states);
    let gamma = Dd::from(discount);
    let (mut rows, mut offsets) = (vec![Dd::ZERO; states * d], vec![Dd::ZERO; states]);
    let weight = |t: usize| moves.weights.as_ref().map_or(Dd::ONE, |w| Dd::from(w[t]));
    let mut totals = vec![Dd::ZERO; states];
    for (t, &s) in moves.from.iter().enumerate() {
        totals[s as usize] += weight(t);
    }
    for s in 0..states {
        for l in 0..d {
            rows[s * d + l] = process.feature(s as u32, l);
        }
    }
    for (t, &s) in moves.from.iter().enumerate() {
        let p = weight(t) / totals[s as usize];
        for l in 0..d {
            rows[s as usize * d + l] -= p * gamma * process.feature(moves.next[t], l);
        }
        offsets[s as usize] -= p * Dd::from(moves.rewards[t]);
    }
    let wanted = policy_penalty(dice, d);
    let truth = bellman(&process, rows, offsets, &wanted);
    let words = format!(
        "{states} states, {d} features, one-hot {one_hot}, discount {discount}, {wanted:?}"
    );
    let features = if one_hot {
        StateFeatures::OneHot { states }
    } else {
        StateFeatures::Rows { d, rows: process.features }
    };
    let inner = Transitions::new(features, moves, discount)?;
    let case = Case::new(inner, Box::new(Square::new(1.0)?), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

/// `innermean policy LOG --objective projected`: with `C = L L'`, half the mean of squares of `L^-1
/// (b - A theta)`.
///
/// # Errors
/// If the library refuses the features as linearly dependent: it needs the inverse of C, where
/// nearly equal columns count twice.
pub(super) fn projected(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let process = Process::draw(dice, conditioning);
    let Process { d, states, discount, .. } = process;
    let moves = moves(dice, states);
    let t = moves.from.len();
    let total: Dd =
        moves.weights.as_ref().map_or(Dd::from(t), |w| w.iter().map(|w| Dd::from(*w)).sum());
    let (mut a, mut b, mut c) = (vec![Dd::ZERO; d * d], vec![Dd::ZERO; d], vec![Dd::ZERO; d * d]);
    for k in 0..t {
        let share = moves.weights.as_ref().map_or(Dd::ONE, |w| Dd::from(w[k])) / total;
        let phi = |l: usize| process.feature(moves.from[k], l);
        let next = |l: usize| Dd::from(discount) * process.feature(moves.next[k], l);
        for l in 0..d {
            let scaled = share * phi(l);
            b[l] += scaled * Dd::from(moves.rewards[k]);
            for m in 0..d {
                a[l * d + m] += scaled * (phi(m) - next(m));
                c[l * d + m] += scaled * phi(m);
            }
        }
    }
    let squares: Vec<Dd> = (0..d).map(|l| c[l * d + l]).collect();
    // L^-1 A and L^-1 b, by elimination as in Cholesky's method.
    let mut condition = 1.0_f64;
    for k in 0..d {
        let pivot = c[k * d + k];
        anyhow::ensure!(pivot > Dd::ZERO, "linearly dependent features");
        condition = condition.max((squares[k] / pivot).rounded());
        let root = pivot.sqrt();
        for l in k + 1..d {
            let factor = c[l * d + k] / pivot;
            for m in 0..d {
                let (above, own) = (c[k * d + m], a[k * d + m]);
                c[l * d + m] -= factor * above;
                a[l * d + m] -= factor * own;
            }
            let own = b[k];
            b[l] -= factor * own;
        }
        for m in 0..d {
            a[k * d + m] = a[k * d + m] / root;
        }
        b[k] = b[k] / root;
    }
    let wanted = policy_penalty(dice, d);
    let half = Dd::from(d) * Dd::from(0.5);
    let truth = Affine {
        d,
        rows: a,
        offsets: b.into_iter().map(|b| -b).collect(),
        losses: vec![Loss::Square { c: half }; d],
        penalty: wanted.penalty(d, d),
        uncentred: vec![0.0; d],
        condition,
    };
    let words =
        format!("{states} states, {d} features, {t} moves, discount {discount}, {wanted:?}");
    let features = StateFeatures::Rows { d, rows: process.features };
    let Problem { inner, merit, .. } =
        Mspbe::of_moves(&features, &moves, discount)?.problem(0.0)?;
    let case = Case::new(inner, Box::new(merit), Box::new(wanted.ridged(d)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

/// `innermean bags --link identity`
pub(super) fn identity(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let (count, width) = columns::size(dice, conditioning, (20, 8));
    let mut starts = vec![0];
    for _ in 0..count {
        starts.push(starts[starts.len() - 1] + dice.between(1, 5));
    }
    let n = starts[count];
    let rows = columns::table(dice, conditioning, n, width);
    let scores = columns::scores(dice, &rows, width);
    let intercept = dice.chance(0.6);
    let d = width + usize::from(intercept);
    let noise = if conditioning == Conditioning::Separable { 0.0 } else { 0.5 };
    let mut targets = Vec::new();
    let mut averages = Vec::new();
    for ends in starts.windows(2) {
        let own = &scores[ends[0]..ends[1]];
        targets.push(own.iter().sum::<f64>() / own.len() as f64 + noise * dice.normal());
        averages.extend(mean(&rows[ends[0] * width..ends[1] * width], width));
        averages.extend(intercept.then_some(Dd::ONE));
    }
    let wanted = Wanted::norms(dice);
    let truth = Affine {
        d,
        rows: averages,
        offsets: targets.iter().map(|t| Dd::from(-t)).collect(),
        losses: vec![Loss::Square { c: Dd::ONE }; count],
        penalty: wanted.penalty(d, width),
        uncentred: largest(&rows, width).into_iter().chain(intercept.then_some(0.0)).collect(),
        condition: 1.0,
    };
    let words =
        format!("{count} groups of {n} rows, {width} features, intercept {intercept}, {wanted:?}");
    let mut scaled = rows;
    let scaling = Scaling::of_rows(&mut scaled, width, intercept);
    let g = scaling.regularizer(wanted.regularizer(d, width)?)?;
    let groups = Groups::new(width, scaled, starts, intercept)?;
    let inner = Bags::with_targets(groups, Link::Identity, targets)?;
    debug_assert_eq!(inner.d(), d);
    let case = Case::new(inner, Box::new(Square::new(1.0)?), g).scaled(scaling);
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}
