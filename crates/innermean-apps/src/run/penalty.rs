//! g by its parameters: a constraint by name, an l1 norm, a ridge.

use std::fmt;
use std::str::FromStr;

use innermean::{
    AnyRegularizer, BoxConstraint, Budget, FreeTail, L1, Regularizer, Ridged, Simplex,
    Unregularized,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::wording::Note;

/// Norms of theta.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Penalty {
    /// The weight of `|theta|_1`, which makes coordinates exactly zero.
    pub l1: f64,
    /// The weight of `|theta|^2 / 2`, which makes the problem strongly convex.
    pub l2: f64,
}

/// What is asked of theta beside a small loss.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    /// The set theta lies in.
    pub constraint: Constraint,
    /// Norms of theta.
    pub penalty: Penalty,
}

impl Bounds {
    /// g of `d` coordinates, as the library has it.
    ///
    /// # Errors
    /// If a weight is out of its range, or no theta meets the constraint.
    pub fn regularizer(&self, d: usize) -> Result<Ridged<AnyRegularizer>, Error> {
        let Penalty { l1, l2 } = self.penalty;
        let g: AnyRegularizer = match self.constraint {
            Constraint::None => return self.penalty.regularizer(),
            Constraint::LongOnly => Simplex.into(),
            Constraint::SumToOne { lo, hi } => {
                Budget::new(d, BoxConstraint::new(lo, hi)?.with_l1(l1)?)
                    .map_err(|error| Error::Constraint(self.constraint, error))?
                    .into()
            }
            Constraint::Box { lo, hi } => BoxConstraint::new(lo, hi)?.with_l1(l1)?.into(),
        };
        Ok(Ridged::new(g, l2)?)
    }

    /// Whether an objective that falls at most linearly has a minimum under this g for sure.
    pub fn bounds_theta(&self) -> bool {
        let bounded = match self.constraint {
            Constraint::None => false,
            Constraint::LongOnly => true,
            Constraint::Box { lo, hi } => lo.is_finite() && hi.is_finite(),
            // With a sum of 1, a bound on one side implies one on the other.
            Constraint::SumToOne { lo, hi } => lo.is_finite() || hi.is_finite(),
        };
        bounded || self.penalty.l2 > 0.0
    }

    /// What to say where a parameter does nothing.
    pub fn note(&self) -> Option<Note> {
        (self.constraint == Constraint::LongOnly && self.penalty.l1 > 0.0).then_some(Note::IdleL1)
    }
}

impl Penalty {
    /// g as the library has it.
    ///
    /// # Errors
    /// If a weight is negative or not finite.
    pub fn regularizer(self) -> Result<Ridged<AnyRegularizer>, Error> {
        let g = if self.l1 == 0.0 { Unregularized.into() } else { L1::new(self.l1)?.into() };
        Ok(Ridged::new(g, self.l2)?)
    }

    /// g of the first `head` coordinates, which leaves those after them free; of all, if there are
    /// none. That is another g and not one with an empty tail: only this one is strongly convex.
    ///
    /// # Errors
    /// If a weight is negative or not finite.
    pub fn regularizer_of_head(self, head: Option<usize>) -> Result<Box<dyn Regularizer>, Error> {
        let g = self.regularizer()?;
        Ok(match head {
            Some(head) => Box::new(FreeTail::new(g, head)),
            None => Box::new(g),
        })
    }

    /// Whether there is none.
    pub fn is_zero(self) -> bool {
        self.l1 == 0.0 && self.l2 == 0.0
    }

    /// A warning where every row is strictly on its own side and no norm bounds the coefficients:
    /// a loss that falls along them without end, as those of probabilities do, then has no minimum
    /// at finite ones.
    pub fn warning_if_separated(self, separated: bool) -> Option<Note> {
        (separated && self.is_zero()).then_some(Note::Separated)
    }

    /// The terms that it adds to an objective in words, where they are not zero; `theta` is the
    /// word for what is penalised.
    pub fn terms(self, theta: &str) -> Vec<String> {
        let mut terms = Vec::new();
        if self.l1 > 0.0 {
            terms.push(format!("{} |{theta}|_1", self.l1));
        }
        if self.l2 > 0.0 {
            terms.push(format!("{}/2 |{theta}|^2", self.l2));
        }
        terms
    }
}

/// The set theta lies in. Written `none`, `long-only`, `sum-to-one`, `sum-to-one=LO,HI` or
/// `box=LO,HI`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Constraint {
    /// All of `R^d`.
    #[default]
    None,
    /// The simplex.
    LongOnly,
    /// A box.
    Box {
        /// The lower bound of every coordinate, or -inf.
        lo: f64,
        /// The upper bound, or inf.
        hi: f64,
    },
    /// A box, with sum 1.
    SumToOne {
        /// The lower bound of every coordinate, or -inf.
        lo: f64,
        /// The upper bound, or inf.
        hi: f64,
    },
}

impl FromStr for Constraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => return Ok(Constraint::None),
            "long-only" => return Ok(Constraint::LongOnly),
            _ => {}
        }
        let (word, bounds) = text.split_once('=').unwrap_or((text, ""));
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let (lo, hi) = match (word, bounds.split_once(',').map(|(lo, hi)| (number(lo), number(hi))))
        {
            ("box" | "sum-to-one", Some((Some(lo), Some(hi)))) => (lo, hi),
            ("sum-to-one", None) if text == word => (f64::NEG_INFINITY, f64::INFINITY),
            _ => {
                return Err("expected none, long-only, sum-to-one, sum-to-one=LO,HI or box=LO,HI \
                    with two numbers, such as box=-1,1"
                    .to_owned());
            }
        };
        BoxConstraint::new(lo, hi).map_err(|error| error.to_string())?;
        Ok(if word == "box" { Constraint::Box { lo, hi } } else { Constraint::SumToOne { lo, hi } })
    }
}

impl TryFrom<String> for Constraint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Constraint> for String {
    fn from(constraint: Constraint) -> String {
        constraint.to_string()
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constraint::None => f.write_str("none"),
            Constraint::LongOnly => f.write_str("long-only"),
            Constraint::SumToOne { lo: f64::NEG_INFINITY, hi: f64::INFINITY } => {
                f.write_str("sum-to-one")
            }
            Constraint::SumToOne { lo, hi } => write!(f, "sum-to-one={lo},{hi}"),
            Constraint::Box { lo, hi } => write!(f, "box={lo},{hi}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_written_as_they_are_read() {
        for text in
            ["none", "long-only", "sum-to-one", "sum-to-one=0,0.1", "box=-1,1", "box=-inf,0.5"]
        {
            assert_eq!(text.parse::<Constraint>().expect(text).to_string(), text);
        }
        for text in [
            "",
            "long",
            "sum-to-one=",
            "sum-to-one=1",
            "long-only=0,1",
            "box",
            "box=1",
            "box=a,b",
            "box=1,2,3",
            "box=2,1",
            "box=nan,1",
            "box=inf,inf",
        ] {
            assert!(text.parse::<Constraint>().is_err(), "{text}");
        }
    }
}
