//! Penalties and constraints: as the library has them, as the definition says, and as flags.

use std::fmt::Write as _;

use innermean::{
    AnyRegularizer, BoxConstraint, Budget, FreeTail, InvalidSetting, L1, Regularizer, Ridged,
    Simplex, Unregularized,
};

use super::columns::Dice;
use crate::torture::penalty::{Part, Penalty};

/// The set theta lies in.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the formula says what each is")]
pub enum Constraint {
    /// All of it.
    None,
    /// At least 0, of sum 1.
    LongOnly,
    /// Of sum 1, between bounds that may be infinite.
    SumToOne { lo: f64, hi: f64 },
    /// Between bounds, one of which may be infinite.
    Box { lo: f64, hi: f64 },
}

/// A constraint, an l1 norm, a ridge.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// What theta may be.
    pub constraint: Constraint,
    /// The weight of `|theta|_1`.
    pub l1: f64,
    /// The weight of `|theta|^2 / 2`.
    pub l2: f64,
}

impl Wanted {
    /// Norms alone: none, a ridge, an l1 norm or both.
    pub fn norms(dice: &mut Dice) -> Self {
        let (l1, l2) = (dice.power(-6.0, 0.0), dice.power(-6.0, 0.0));
        let (l1, l2) = dice.of(&[(0.0, 0.0), (0.0, 0.0), (0.0, l2), (l1, 0.0), (l1, l2)]);
        Wanted { constraint: Constraint::None, l1, l2 }
    }

    /// With a constraint on d coordinates, or without.
    pub fn any(dice: &mut Dice, d: usize) -> Self {
        let mut wanted = Self::norms(dice);
        let size = dice.power(-2.0, 2.0);
        let least = 1.0 / d as f64;
        let infinity = f64::INFINITY;
        wanted.constraint = match dice.below(12) {
            0..4 => Constraint::None,
            4 => Constraint::LongOnly,
            5 => Constraint::SumToOne { lo: -infinity, hi: infinity },
            6 => Constraint::SumToOne { lo: -size, hi: least + size },
            7 => Constraint::SumToOne { lo: 0.0, hi: infinity },
            8 => Constraint::Box { lo: -size, hi: size },
            9 => Constraint::Box { lo: -1e6, hi: 1e6 },
            10 => Constraint::Box { lo: 0.0, hi: infinity },
            _ => Constraint::Box { lo: -infinity, hi: size },
        };
        if wanted.constraint == Constraint::LongOnly {
            wanted.l1 = 0.0;
        }
        wanted
    }

    /// Whether theta can go nowhere far without a price that grows.
    pub fn holds_theta(&self) -> bool {
        let bounded = match self.constraint {
            Constraint::None => false,
            Constraint::LongOnly => true,
            Constraint::SumToOne { lo, hi } => lo.is_finite() || hi.is_finite(),
            Constraint::Box { lo, hi } => lo.is_finite() && hi.is_finite(),
        };
        bounded || self.l2 > 0.0
    }

    /// As the command line's problems have it.
    ///
    /// # Errors
    /// If the library refuses a number.
    pub fn ridged(&self, d: usize) -> Result<Ridged<AnyRegularizer>, InvalidSetting> {
        let l1 = self.l1;
        let g: AnyRegularizer = match self.constraint {
            Constraint::None if l1 > 0.0 => L1::new(l1)?.into(),
            Constraint::None => Unregularized.into(),
            Constraint::LongOnly => Simplex.into(),
            Constraint::SumToOne { lo, hi } => {
                Budget::new(d, BoxConstraint::new(lo, hi)?.with_l1(l1)?)?.into()
            }
            Constraint::Box { lo, hi } => BoxConstraint::new(lo, hi)?.with_l1(l1)?.into(),
        };
        Ridged::new(g, self.l2)
    }

    /// The same with coordinates from `head` on left free.
    ///
    /// # Errors
    /// If the library refuses a number.
    pub fn regularizer(
        &self,
        d: usize,
        head: usize,
    ) -> Result<Box<dyn Regularizer>, InvalidSetting> {
        let g = self.ridged(head)?;
        Ok(if head < d { Box::new(FreeTail::new(g, head)) } else { Box::new(g) })
    }

    /// As the definition says, with coordinates from `head` on left free.
    pub fn penalty(&self, d: usize, head: usize) -> Penalty {
        let (lo, hi, budget) = match self.constraint {
            Constraint::None => (f64::NEG_INFINITY, f64::INFINITY, false),
            Constraint::LongOnly => (0.0, f64::INFINITY, true),
            Constraint::SumToOne { lo, hi } => (lo, hi, true),
            Constraint::Box { lo, hi } => (lo, hi, false),
        };
        let part = Part { l1: self.l1, l2: self.l2, lo, hi, ..Part::FREE };
        let mut parts = vec![part; head];
        parts.resize(d, Part::FREE);
        Penalty { parts, budget: if budget { head } else { 0 }, limits: None }
    }

    /// As flags; the library alone has constraints where `constrained` is not so.
    pub fn flags(&self, constrained: bool) -> Option<String> {
        let mut flags = match self.constraint {
            Constraint::None => String::new(),
            _ if !constrained => return None,
            Constraint::LongOnly => " --constraint long-only".to_owned(),
            Constraint::SumToOne { lo, hi } if lo.is_infinite() && hi.is_infinite() => {
                " --constraint sum-to-one".to_owned()
            }
            Constraint::SumToOne { lo, hi } => format!(" --constraint sum-to-one={lo},{hi}"),
            Constraint::Box { lo, hi } => format!(" --constraint box={lo},{hi}"),
        };
        for (name, weight) in [("l1", self.l1), ("l2", self.l2)] {
            if weight > 0.0 {
                let _ = write!(flags, " --{name} {weight}");
            }
        }
        Some(flags)
    }
}
