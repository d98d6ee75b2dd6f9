//! The flags that make up g: a constraint, an l1 norm, a ridge.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::Args;
use innermean::{
    AnyRegularizer, BoxConstraint, Budget, FreeTail, InvalidSetting, L1, Regularizer, Ridged,
    Simplex, Unregularized,
};

use crate::flags::number;

/// What is asked of theta beside a small loss.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegularizerFlags {
    /// What theta may be: anything; at least 0 with sum 1 (long-only); of sum 1, and if said so LO
    /// <= theta <= HI; or LO <= theta <= HI alone, where either may be -inf or inf
    #[arg(
        long,
        value_name = "none|long-only|sum-to-one[=LO,HI]|box=LO,HI",
        default_value = "none"
    )]
    pub(crate) constraint: Constraint,

    #[command(flatten)]
    pub(crate) penalty: PenaltyFlags,
}

/// Norms of theta.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PenaltyFlags {
    /// The weight of |theta|_1, which makes coordinates exactly zero
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) l1: f64,

    /// The weight of |theta|^2 / 2, which keeps theta small and the problem strongly convex
    #[arg(long, value_name = "WEIGHT", default_value = "0", value_parser = number::non_negative)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) l2: f64,
}

impl RegularizerFlags {
    /// g of `d` coordinates, as the library has it.
    pub(crate) fn regularizer(&self, d: usize) -> Result<Ridged<AnyRegularizer>> {
        let PenaltyFlags { l1, l2 } = self.penalty;
        let g: AnyRegularizer = match self.constraint {
            Constraint::None => return Ok(self.penalty.regularizer()?),
            Constraint::LongOnly => Simplex.into(),
            Constraint::SumToOne { lo, hi } => {
                Budget::new(d, BoxConstraint::new(lo, hi)?.with_l1(l1)?)
                    .with_context(|| format!("--constraint {}", self.constraint))?
                    .into()
            }
            Constraint::Box { lo, hi } => BoxConstraint::new(lo, hi)?.with_l1(l1)?.into(),
        };
        Ok(Ridged::new(g, l2)?)
    }

    /// Whether an objective that falls at most linearly has a minimum under this g for sure.
    pub(crate) fn holds_theta(&self) -> bool {
        let bounded = match self.constraint {
            Constraint::None => false,
            Constraint::LongOnly => true,
            Constraint::Box { lo, hi } => lo.is_finite() && hi.is_finite(),
            // With a sum of 1, a bound on one side holds the other.
            Constraint::SumToOne { lo, hi } => lo.is_finite() || hi.is_finite(),
        };
        bounded || self.penalty.l2 > 0.0
    }

    /// A sentence where a flag does nothing.
    pub(crate) fn note(&self) -> Option<String> {
        (self.constraint == Constraint::LongOnly && self.penalty.l1 > 0.0).then(|| {
            "--l1 changes nothing with --constraint long-only: the l1 norm of such weights is always 1. It is left out."
                .to_owned()
        })
    }
}

impl PenaltyFlags {
    /// g as the library has it.
    pub(crate) fn regularizer(self) -> Result<Ridged<AnyRegularizer>, InvalidSetting> {
        let g = if self.l1 > 0.0 { L1::new(self.l1)?.into() } else { Unregularized.into() };
        Ridged::new(g, self.l2)
    }

    /// g of the first `head` coordinates, which leaves those after them free; of all, if there are
    /// none. That is another g and not one with an empty tail: only this one is strongly convex.
    pub(crate) fn regularizer_of_head(
        self,
        head: Option<usize>,
    ) -> Result<Box<dyn Regularizer>, InvalidSetting> {
        let g = self.regularizer()?;
        Ok(match head {
            Some(head) => Box::new(FreeTail::new(g, head)),
            None => Box::new(g),
        })
    }

    /// A warning where classes are parted, every row strictly on its own side, and no norm holds
    /// the coefficients: a loss that falls for ever along them, as those of probabilities do, then
    /// has no minimum at finite ones.
    pub(crate) fn warning_if_parted(self, parted: bool) -> Option<&'static str> {
        (parted && self.l1 == 0.0 && self.l2 == 0.0).then_some(
            "Every row is classified correctly, and nothing holds the coefficients: with larger ones \
             the loss is still smaller. Give --l2.",
        )
    }

    /// The terms that it adds to an objective in words, where they are not zero; `theta` is the
    /// word for what is penalised.
    pub(crate) fn terms(self, theta: &str) -> Vec<String> {
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

/// The set theta lies in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Constraint {
    /// All of `R^d`.
    None,
    /// The simplex.
    LongOnly,
    /// A box.
    Box { lo: f64, hi: f64 },
    /// A box, with sum 1.
    SumToOne { lo: f64, hi: f64 },
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
                return Err("expected none, long-only, sum-to-one, sum-to-one=LO,HI or box=LO,HI with two numbers, such as \
                            box=-1,1"
                    .to_owned());
            }
        };
        BoxConstraint::new(lo, hi).map_err(|error| error.to_string())?;
        Ok(if word == "box" { Constraint::Box { lo, hi } } else { Constraint::SumToOne { lo, hi } })
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
