//! Portfolios, linear predictors, and groups whose link is the identity: f is affine.

use anyhow::Result;
use innermean::collapse::SparseRows;
use innermean::problems::linear;
use innermean::problems::scaling::Scaling;
use innermean::{
    Absolute, AnyMerit, Bags, DownsideSquare, Groups, Huber, Inner, Link, Logistic, Merit,
    Polyhedral, Portfolio, Problem, RowData, SmoothedHinge, Square, SquaredHinge, Weighted,
};

use super::columns::{self, Conditioning, Dice};
use super::files::{Files, table_text};
use super::penalties::Wanted;
use super::{Case, Drawn, Kind, Truth, constraints};
use crate::torture::double_double::Dd;
use crate::torture::objective::{Affine, Loss, largest, mean};

/// Rows and columns, at most.
const MOST: (usize, usize) = (60, 12);

/// `innermean portfolio` with the risk of the kind, and with linear constraints and norms where
/// `limited`, by the library alone.
pub(super) fn portfolio(
    dice: &mut Dice,
    kind: Kind,
    conditioning: Conditioning,
    limited: bool,
) -> Result<Drawn> {
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
    let mut penalty = wanted.penalty(d, d);
    if limited {
        let (constraints, words) = constraints::drawn(dice, &mut penalty, &mean(&rows, d));
        let g = Polyhedral::new(constraints::coordinates(&penalty), constraints)?;
        let truth = Affine::portfolio(d, &rows, loss, penalty);
        let Problem { inner, merit, regularizer } = Portfolio::new(d, rows)?.problem(merit, g)?;
        let case = Case::new(inner, Box::new(merit), Box::new(regularizer));
        let words = format!("{n} x {d}, {risk}, {wanted:?}, c {c}, h {h}, {words}");
        return Ok(Drawn::new(words, case, Truth::Affine(truth), None));
    }
    let truth = Affine::portfolio(d, &rows, loss, penalty);
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
        Kind::Logistic => Loss::Logistic { c: Dd::ONE, y: Dd::from(y) },
        Kind::SquaredHinge => Loss::SquaredHinge { c: Dd::ONE, y: Dd::from(y) },
        Kind::SmoothedHinge => Loss::SmoothedHinge { c: Dd::ONE, y: Dd::from(y), h: Dd::from(h) },
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
    let mut scaled = RowData::from(rows.clone());
    let scaling = Scaling::of_rows(&mut scaled, width, intercept);
    let (g, scaling, rows) = match scaling.regularizer(g) {
        Ok(g) => (g, scaling, with_ones(&scaled.numbers())),
        Err(_) => (wanted.regularizer(d, width)?, Scaling::default(), given.clone()),
    };
    let sparse = dice.chance(0.15);
    // Weights of rows, whose mean is 1 in the command.
    let weights: Option<Vec<f64>> =
        dice.chance(0.2).then(|| (0..n).map(|_| dice.power(-2.0, 2.0)).collect());
    let weight = |i: usize| weights.as_ref().map_or(Dd::ONE, |weights| Dd::from(weights[i]));
    let losses = classes.iter().enumerate().map(|(i, y)| loss(*y).times(weight(i))).collect();
    let truth = Affine::predictors(d, &given, &offsets, losses, wanted.penalty(d, width));
    let weighted = weights.is_some();
    let words = format!(
        "{n} x {width}, intercept {intercept}, {wanted:?}, h {h}, unit {unit}, noise {noise}, \
         weighted {weighted}"
    );
    let files = files.filter(|_| !weighted);
    let merit: Box<dyn Merit> = match weights {
        Some(weights) => Box::new(Weighted::new(merit, weights)?),
        None => merit,
    };
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
    let mut scaled = RowData::from(rows);
    let scaling = Scaling::of_rows(&mut scaled, width, intercept);
    let g = scaling.regularizer(wanted.regularizer(d, width)?)?;
    let groups = Groups::new(width, scaled, starts, intercept)?;
    let inner = Bags::with_targets(groups, Link::Identity, targets)?;
    debug_assert_eq!(inner.d(), d);
    let case = Case::new(inner, Box::new(Square::new(1.0)?), g).scaled(scaling);
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}
