//! Linear constraints and norms: as the library has them and as the definition says.

use innermean::regularizer::Coordinate;
use innermean::{Constraints, LinearConstraint, WeightedNorm};

use super::columns::Dice;
use crate::torture::double_double::{Dd, dot};
use crate::torture::limits::{Limits, Norm, Row};
use crate::torture::penalty::Penalty;

/// Linear constraints on sums of some coordinates and on the return, a norm with a limit, one with
/// a limit and a price; some of each, all met at a distance by the point inside the bounds. They
/// are added to `penalty`.
pub(super) fn drawn(dice: &mut Dice, penalty: &mut Penalty, mean: &[Dd]) -> (Constraints, String) {
    let d = penalty.parts.len();
    let inside = penalty.inside();
    let mut rows = Vec::new();
    for k in 0..dice.between(0, 4) {
        // The last asks for a return.
        let a: Vec<f64> = if k == 3 {
            mean.iter().map(|m| m.rounded()).collect()
        } else {
            (0..d).map(|_| f64::from(u8::from(dice.chance(0.5)))).collect()
        };
        let exact: Vec<Dd> = a.iter().map(|a| Dd::from(*a)).collect();
        let at = dot(&exact, &inside).rounded();
        let size = a.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        let margin = size * dice.power(-3.0, 0.0);
        if size == 0.0 {
            continue;
        }
        let (lo, hi) = (at - margin, at + size * dice.power(-3.0, 0.0));
        let (lo, hi) = dice.of(&[(lo, f64::INFINITY), (f64::NEG_INFINITY, hi), (lo, hi)]);
        rows.push((LinearConstraint { coefficients: a, lo, hi }, exact));
    }
    let mut norms = Vec::new();
    for priced in [false, true] {
        if !dice.chance(0.5) {
            continue;
        }
        let center: Vec<f64> = if priced {
            inside.iter().map(|x| x.rounded() + 0.3 * dice.normal()).collect()
        } else {
            vec![0.0; d]
        };
        let weights = vec![1.0; d];
        let mut norm = WeightedNorm { weights, center, limit: f64::INFINITY, price: 0.0 };
        let at = norm.at(&inside.iter().map(|x| x.rounded()).collect::<Vec<f64>>());
        if !priced || dice.chance(0.7) {
            norm.limit = at * (1.0 + dice.power(-1.5, 1.0)) + dice.power(-2.0, 0.0);
        }
        if priced {
            norm.price = dice.power(-4.0, 0.0);
        }
        norms.push(norm);
    }
    let exact = |numbers: &[f64]| numbers.iter().map(|x| Dd::from(*x)).collect();
    let limits = Limits {
        rows: rows.iter().map(|(row, a)| Row { a: a.clone(), lo: row.lo, hi: row.hi }).collect(),
        norms: norms
            .iter()
            .map(|norm| Norm {
                weights: exact(&norm.weights),
                center: exact(&norm.center),
                limit: norm.limit,
                price: norm.price,
            })
            .collect(),
        inside,
    };
    let mut rows: Vec<LinearConstraint> = rows.into_iter().map(|(row, _)| row).collect();
    let words = format!("{} rows, norms {norms:?}", rows.len());
    if penalty.budget > 0 {
        let mut coefficients = vec![0.0; d];
        coefficients[..penalty.budget].fill(1.0);
        rows.push(LinearConstraint { coefficients, lo: 1.0, hi: 1.0 });
    }
    penalty.limits = Some(limits);
    (Constraints { rows, norms }, words)
}

/// The parts of single coordinates as the library has them.
pub(super) fn coordinates(penalty: &Penalty) -> Vec<Coordinate> {
    let parts = penalty.parts.iter();
    parts
        .map(|part| Coordinate {
            lo: part.lo,
            hi: part.hi,
            l1: part.l1,
            l2: part.l2,
            ..Coordinate::FREE
        })
        .collect()
}
