//! Weights of classes.

use std::str::FromStr;

use serde::Serialize;

use super::LinearError;

/// How much the rows of each class count, beside their own weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum ClassWeights {
    /// All classes together alike: n rows in k classes, of which `n_c` are of class c, count
    /// `n / (k n_c)` each.
    Balanced,
    /// A weight for each class by name.
    ByName(Vec<(String, f64)>),
}

impl FromStr for ClassWeights {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "balanced" {
            return Ok(ClassWeights::Balanced);
        }
        let pair = |part: &str| {
            let (name, weight) = part.rsplit_once('=')?;
            let weight = weight.trim().parse::<f64>().ok()?;
            (weight.is_finite() && weight > 0.0).then(|| (name.trim().to_owned(), weight))
        };
        let pairs: Option<Vec<(String, f64)>> = text.split(',').map(pair).collect();
        pairs.map(ClassWeights::ByName).ok_or_else(|| {
            "expected balanced, or classes with weights above 0, as in no=1,yes=3".to_owned()
        })
    }
}

impl ClassWeights {
    /// Whether there is a weight for each class, and for no other.
    pub(super) fn check(&self, classes: &[String]) -> Result<(), LinearError> {
        let ClassWeights::ByName(pairs) = self else { return Ok(()) };
        let refused = |what: String| {
            let classes: Vec<String> = classes.iter().map(|name| format!("'{name}'")).collect();
            Err(LinearError::ClassWeights(what, classes.join(", ")))
        };
        if let Some((name, _)) = pairs.iter().find(|(name, _)| !classes.contains(name)) {
            return refused(format!("there is no class '{name}'"));
        }
        for class in classes {
            match pairs.iter().filter(|(name, _)| name == class).count() {
                0 => return refused(format!("class '{class}' has no weight")),
                1 => {}
                _ => return refused(format!("class '{class}' has two weights")),
            }
        }
        Ok(())
    }

    /// The weight of each class, of which there are this many rows.
    pub(super) fn numbers(&self, classes: &[String], counts: &[usize]) -> Vec<f64> {
        match self {
            ClassWeights::Balanced => {
                let all = counts.iter().sum::<usize>() as f64;
                let share = |&count: &usize| all / (counts.len() * count.max(1)) as f64;
                counts.iter().map(share).collect()
            }
            ClassWeights::ByName(pairs) => {
                let weight = |class: &String| {
                    pairs.iter().find(|(name, _)| name == class).map_or(1.0, |(_, weight)| *weight)
                };
                classes.iter().map(weight).collect()
            }
        }
    }
}
