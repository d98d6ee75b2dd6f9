//! phi and g, from what Python says about them.

use std::sync::Arc;

use innermean::regularizer::Coordinate;
use innermean::{
    Absolute, Bernoulli, BoxConstraint, Budget, Constraints, DownsideSquare, Excess, Exponential,
    FreeTail, Huber, InvalidSetting, L1, LinearConstraint, LogBarrier, Logistic, Merit,
    NegativeLog, Poisson, Polyhedral, QuadraticForm, Regularizer, Ridged, Separable, Simplex,
    SmoothedHinge, Square, SquaredHinge, Tilted, Unregularized, Weighted, WeightedNorm,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::refused;
use crate::own::curve::Curve;

/// phi by name, with its numbers and, of those that have some for each term, its vectors.
pub(crate) fn merit(
    kind: &str,
    numbers: &[f64],
    vectors: Vec<Vec<f64>>,
) -> PyResult<Arc<dyn Merit>> {
    named(kind, numbers, vectors).map_err(|error| refused(&error)).and_then(|merit| {
        merit.ok_or_else(|| PyValueError::new_err(format!("phi: there is no {kind}")))
    })
}

fn named(
    kind: &str,
    numbers: &[f64],
    vectors: Vec<Vec<f64>>,
) -> Result<Option<Arc<dyn Merit>>, InvalidSetting> {
    let number = |k: usize| numbers.get(k).copied().unwrap_or(1.0);
    let mut vectors = vectors.into_iter();
    let mut vector = || vectors.next().unwrap_or_default();
    Ok(Some(match kind {
        "square" => Arc::new(Square::new(number(0))?),
        "downside_square" => Arc::new(DownsideSquare::new(number(0))?),
        "absolute" => Arc::new(Absolute::new(number(0))?),
        "huber" => Arc::new(Huber::new(number(0), number(1))?),
        "excess" => Arc::new(Excess::new(number(0))?),
        "exponential" => Arc::new(Exponential::new(number(0), number(1))?),
        "logistic" => Arc::new(Logistic::new(vector())?),
        "squared_hinge" => Arc::new(SquaredHinge::new(vector())?),
        "smoothed_hinge" => Arc::new(SmoothedHinge::new(vector(), number(0))?),
        "bernoulli" => Arc::new(Bernoulli::new(vector())?),
        "poisson" => Arc::new(Poisson::new(vector(), vector(), number(0))?),
        "negative_log" => Arc::new(NegativeLog::new(number(0) as usize, vector())?),
        "quadratic_form" => Arc::new(QuadraticForm::new(vector())?),
        _ => return Ok(None),
    }))
}

/// phi with a weight for each term.
pub(crate) fn weighted(merit: Arc<dyn Merit>, weights: Vec<f64>) -> PyResult<Arc<dyn Merit>> {
    Ok(Arc::new(Weighted::new(merit, weights).map_err(|error| refused(&error))?))
}

/// A number for all coordinates, or one for each; none is an infinite one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Each {
    All(Option<f64>),
    Own(Vec<Option<f64>>),
}

impl Each {
    fn at(&self, l: usize, infinite: f64) -> f64 {
        match self {
            Each::All(number) => number.unwrap_or(infinite),
            Each::Own(numbers) => numbers[l].unwrap_or(infinite),
        }
    }

    /// The number of all, if there is one.
    fn same(&self, infinite: f64) -> Option<f64> {
        match self {
            Each::All(number) => Some(number.unwrap_or(infinite)),
            Each::Own(_) => None,
        }
    }

    fn check(&self, name: &'static str, d: usize) -> Result<(), InvalidSetting> {
        match self {
            Each::Own(numbers) if numbers.len() != d => {
                let given = format!("{} numbers", numbers.len());
                Err(InvalidSetting::new(name, given, format!("{d}, one for each coordinate")))
            }
            _ => Ok(()),
        }
    }
}

/// `lo <= <coefficients, theta> <= hi`
#[derive(Deserialize)]
struct Row {
    coefficients: Vec<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
}

/// A norm with a price or a limit; see [`WeightedNorm`].
#[derive(Deserialize)]
struct Norm {
    weights: Vec<f64>,
    center: Vec<f64>,
    limit: Option<f64>,
    price: f64,
}

/// g as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    tilt: Each,
    l1: Each,
    l2: Each,
    lo: Each,
    hi: Each,
    budget: bool,
    rows: Vec<Row>,
    norms: Vec<Norm>,
    barrier: Option<Each>,
    /// The last coordinates, which are left alone.
    free: usize,
}

impl Said {
    /// The g for theta of d coordinates.
    pub(crate) fn regularizer(
        self,
        d: usize,
        own: Option<&Curve>,
    ) -> PyResult<Arc<dyn Regularizer>> {
        self.of(d, own).map_err(|error| refused(&error))
    }

    fn of(self, d: usize, own: Option<&Curve>) -> Result<Arc<dyn Regularizer>, InvalidSetting> {
        if self.free > d {
            let given = self.free.to_string();
            return Err(InvalidSetting::new("free_tail", given, format!("at most {d}")));
        }
        let penalised = d - self.free;
        let free = self.free;
        let g = self.penalised(penalised, own)?;
        Ok(if free == 0 { g } else { Arc::new(FreeTail::new(g, penalised)) })
    }

    fn penalised(
        self,
        d: usize,
        own: Option<&Curve>,
    ) -> Result<Arc<dyn Regularizer>, InvalidSetting> {
        let names = [
            ("tilt", &self.tilt),
            ("l1", &self.l1),
            ("ridge", &self.l2),
            ("lo", &self.lo),
            ("hi", &self.hi),
        ];
        for (name, each) in names {
            each.check(name, d)?;
        }
        let part = |l: usize| Coordinate {
            tilt: self.tilt.at(l, 0.0),
            l1: self.l1.at(l, 0.0),
            l2: self.l2.at(l, 0.0),
            lo: self.lo.at(l, f64::NEG_INFINITY),
            hi: self.hi.at(l, f64::INFINITY),
        };
        if let Some(own) = own {
            // Each coordinate is checked as that of any other g.
            let parts: Vec<Coordinate> = (0..d).map(part).collect();
            Separable::new(parts.clone())?;
            return own.regularizer(parts);
        }
        if let Some(barrier) = &self.barrier {
            barrier.check("log_barrier", d)?;
            let barrier = LogBarrier::new((0..d).map(|l| barrier.at(l, 0.0)).collect())?;
            return tilted(Arc::new(barrier), &self.tilt, d);
        }
        let same = [&self.l1, &self.l2].map(|each| each.same(0.0));
        let ends = [self.lo.same(f64::NEG_INFINITY), self.hi.same(f64::INFINITY)];
        if let ([Some(l1), Some(l2)], [Some(lo), Some(hi)]) = (same, ends)
            && self.rows.is_empty()
            && self.norms.is_empty()
        {
            let g = uniform(d, l1, lo, hi, self.budget)?;
            let g = if l2 == 0.0 { g } else { Arc::new(Ridged::new(g, l2)?) };
            return tilted(g, &self.tilt, d);
        }
        let parts: Vec<Coordinate> = (0..d).map(part).collect();
        let mut rows: Vec<LinearConstraint> = self.rows.into_iter().map(Row::constraint).collect();
        if self.budget {
            rows.push(LinearConstraint { coefficients: vec![1.0; d], lo: 1.0, hi: 1.0 });
        }
        let norms: Vec<WeightedNorm> = self.norms.into_iter().map(Norm::norm).collect();
        Ok(if rows.is_empty() && norms.is_empty() {
            Arc::new(Separable::new(parts)?)
        } else {
            Arc::new(Polyhedral::new(parts, Constraints { rows, norms })?)
        })
    }
}

/// The same for all coordinates.
fn uniform(
    d: usize,
    l1: f64,
    lo: f64,
    hi: f64,
    budget: bool,
) -> Result<Arc<dyn Regularizer>, InvalidSetting> {
    let unbounded = lo == f64::NEG_INFINITY && hi == f64::INFINITY;
    Ok(match (budget, unbounded) {
        (true, _) if l1 == 0.0 && lo == 0.0 && hi == f64::INFINITY => Arc::new(Simplex),
        (true, _) => Arc::new(Budget::new(d, BoxConstraint::new(lo, hi)?.with_l1(l1)?)?),
        (false, false) => Arc::new(BoxConstraint::new(lo, hi)?.with_l1(l1)?),
        (false, true) if l1 == 0.0 => Arc::new(Unregularized),
        (false, true) => Arc::new(L1::new(l1)?),
    })
}

fn tilted(
    g: Arc<dyn Regularizer>,
    tilt: &Each,
    d: usize,
) -> Result<Arc<dyn Regularizer>, InvalidSetting> {
    if tilt.same(0.0) == Some(0.0) {
        return Ok(g);
    }
    Ok(Arc::new(Tilted::new(g, (0..d).map(|l| tilt.at(l, 0.0)).collect())?))
}

impl Row {
    fn constraint(self) -> LinearConstraint {
        LinearConstraint {
            coefficients: self.coefficients,
            lo: self.lo.unwrap_or(f64::NEG_INFINITY),
            hi: self.hi.unwrap_or(f64::INFINITY),
        }
    }
}

impl Norm {
    fn norm(self) -> WeightedNorm {
        let Norm { weights, center, limit, price } = self;
        WeightedNorm { weights, center, limit: limit.unwrap_or(f64::INFINITY), price }
    }
}
