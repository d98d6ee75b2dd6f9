//! Portfolios by the risks of losses and of wealth, and those with a budget of risk: f is affine.

use anyhow::Result;
use innermean::{
    Constraints, Excess, Exponential, FreeTail, LinearConstraint, LogBarrier, Merit, NegativeLog,
    Polyhedral, Portfolio, Regularizer, Square, Tilted,
};

use super::columns::{self, Conditioning, Dice};
use super::files::{Files, table_text};
use super::penalties::Wanted;
use super::{Case, Drawn, Kind, Truth, constraints};
use crate::torture::double_double::Dd;
use crate::torture::objective::{Affine, Loss, largest, mean};
use crate::torture::penalty::{Part, Penalty};

/// Rows and columns, at most.
const MOST: (usize, usize) = (40, 8);
/// The largest return of a portfolio of logarithms: no mixture of assets loses all.
const LARGEST_FRACTION: f64 = 0.5;

/// Returns, their aversion to risk, and what is asked of the weights.
struct Market {
    n: usize,
    d: usize,
    rows: Vec<f64>,
    c: f64,
    wanted: Wanted,
}

impl Market {
    /// Weights are held by a bound or a ridge where `held`.
    fn drawn(dice: &mut Dice, conditioning: Conditioning, held: bool) -> Self {
        let (n, d) = columns::size(dice, conditioning, MOST);
        let rows = columns::table(dice, conditioning, n, d);
        let c = if dice.chance(0.5) { 1.0 } else { dice.power(-2.0, 2.0) };
        let mut wanted = Wanted::any(dice, d);
        if held && !wanted.holds_theta() {
            wanted.l2 = dice.power(-4.0, 0.0);
        }
        Market { n, d, rows, c, wanted }
    }

    /// Minus the mean returns.
    fn costs(&self) -> Vec<Dd> {
        mean(&self.rows, self.d).into_iter().map(|m| -m).collect()
    }

    fn words(&self, more: &str) -> String {
        format!("{} x {}, {:?}, c {}{more}", self.n, self.d, self.wanted, self.c)
    }

    /// `phi_i(<a_i, theta> + b_i)` of rows of `width` numbers, of which the last may be no asset.
    fn truth(&self, width: usize, rows: &[f64], offset: f64, loss: Loss, tilt: &[Dd]) -> Affine {
        let mut penalty = self.wanted.penalty(width, self.d);
        penalty.parts.iter_mut().zip(tilt).for_each(|(part, tilt)| part.tilt = *tilt);
        let offsets = vec![offset; self.n];
        Affine::predictors(width, rows, &offsets, vec![loss; self.n], penalty)
    }
}

/// The conditional value at risk or the entropic risk, with their threshold behind the weights.
pub(super) fn of_losses(dice: &mut Dice, kind: Kind, conditioning: Conditioning) -> Result<Drawn> {
    let market = Market::drawn(dice, conditioning, kind == Kind::Cvar);
    let (d, c) = (market.d, market.c);
    let level = dice.of(&[0.5, 0.9, 0.95]);
    let unit = largest(&market.rows, d).into_iter().fold(f64::MIN_POSITIVE, f64::max);
    let rate = dice.power(-2.0, 1.0) / unit;
    let exact = Dd::from(c);
    let (loss, merit, words): (Loss, Box<dyn Merit>, String) = if kind == Kind::Cvar {
        let weight = c / (1.0 - level);
        let loss = Loss::Excess { c: Dd::from(weight) };
        (loss, Box::new(Excess::new(weight)?), format!(", level {level}"))
    } else {
        let loss = Loss::Exponential { c: exact, r: Dd::from(rate) };
        (loss, Box::new(Exponential::new(c, rate)?), format!(", rate {rate}"))
    };
    let losses = |row: &[f64]| row.iter().map(|x| -x).chain([-1.0]).collect::<Vec<f64>>();
    let rows: Vec<f64> = market.rows.chunks_exact(d).flat_map(losses).collect();
    let mut tilt = market.costs();
    tilt.push(exact);
    let truth = market.truth(d + 1, &rows, 0.0, loss, &tilt);
    let words = market.words(&words);
    let portfolio = Portfolio::new(d, market.rows)?;
    let mut tilt: Vec<f64> = portfolio.mean_returns().iter().map(|m| -m).collect();
    tilt.push(c);
    // As the command does: Newton's method takes a budget that leaves out the threshold as a
    // constraint.
    let g: Box<dyn Regularizer> = if kind == Kind::Entropic && truth.penalty.budget > 0 {
        let coefficients = (0..=d).map(|l| if l < d { 1.0 } else { 0.0 }).collect();
        let rows = vec![LinearConstraint { coefficients, lo: 1.0, hi: 1.0 }];
        let constraints = Constraints { rows, ..Constraints::default() };
        Box::new(Polyhedral::new(constraints::coordinates(&truth.penalty), constraints)?)
    } else {
        Box::new(FreeTail::new(market.wanted.ridged(d)?, d))
    };
    let case = Case::new(portfolio.losses(0.0), merit, Box::new(Tilted::new(g, tilt)?));
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}

/// Minus the mean logarithm of wealth.
pub(super) fn kelly(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let mut market = Market::drawn(dice, conditioning, true);
    let (d, c) = (market.d, market.c);
    let most = largest(&market.rows, d).into_iter().fold(f64::MIN_POSITIVE, f64::max);
    let unit = LARGEST_FRACTION * dice.power(-3.0, 0.0);
    market.rows.iter_mut().for_each(|x| *x = *x / most * unit);
    let loss = Loss::NegativeLog { c: Dd::from(c) };
    let truth = market.truth(d, &market.rows, 1.0, loss, &market.costs());
    let words = market.words("");
    let flags = market.wanted.flags(true).unwrap_or_default();
    let arguments = format!("portfolio returns.csv --risk kelly --risk-aversion {c}{flags}");
    let files = Files { arguments, texts: vec![("returns.csv", table_text(d, &market.rows, &[]))] };
    let portfolio = Portfolio::new(d, market.rows)?;
    let tilt: Vec<f64> = portfolio.mean_returns().iter().map(|m| -m).collect();
    let g = Tilted::new(market.wanted.ridged(d)?, tilt)?;
    let merit = NegativeLog::new(1, vec![c; market.n])?;
    let case = Case::new(portfolio.wealth(1.0), Box::new(merit), Box::new(g));
    Ok(Drawn::new(words, case, Truth::Affine(truth), Some(files)))
}

/// The variance with a budget of risk for each asset.
pub(super) fn risk_budget(dice: &mut Dice, conditioning: Conditioning) -> Result<Drawn> {
    let Market { n, d, rows, c, .. } = Market::drawn(dice, conditioning, true);
    let alike = dice.chance(0.5);
    let budgets: Vec<f64> =
        (0..d).map(|_| if alike { 1.0 / d as f64 } else { dice.power(-3.0, 0.0) }).collect();
    let free = Penalty { parts: vec![Part::FREE; d], budget: 0, limits: None };
    let mut truth = Affine::portfolio(d, &rows, Loss::Square { c: Dd::from(c) }, free);
    // Alone, an asset has its budget where 2 c theta^2 variance = b.
    let scales = truth.mean_squares();
    truth.penalty.parts = budgets
        .iter()
        .zip(scales)
        .map(|(b, size)| {
            let alone = (b / (2.0 * c)).sqrt() / size;
            let around = if alone.is_finite() { alone } else { 1.0 };
            Part { log: *b, lo: 0.0, around, ..Part::FREE }
        })
        .collect();
    let words = format!("{n} x {d}, c {c}, budgets {budgets:?}");
    let inner = Portfolio::new(d, rows)?;
    let g = Box::new(LogBarrier::new(budgets)?);
    let case = Case::new(inner, Box::new(Square::new(c)?), g);
    Ok(Drawn::new(words, case, Truth::Affine(truth), None))
}
