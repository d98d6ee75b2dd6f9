//! What is to be predicted: numbers, two classes, or several.

use innermean::problems::bags::MOST_CLASSES;
use innermean_data::Keys;

use super::{Classes, LinearError, Loss};

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// Numbers, NaN for a row without one.
    Numbers(Vec<f64>),
    /// Two classes, and a label for each row: -1 or 1, NaN for a row without one.
    Classes(Classes, Vec<f64>),
    /// More than two classes, and the place of each row's among them, NaN for a row without one.
    Several(Vec<String>, Vec<f64>),
}

impl Target {
    /// Numbers as the loss asks for them: as they are, or as classes.
    ///
    /// # Errors
    /// If the loss is one of classes and there are too few or too many.
    pub fn new(values: Vec<f64>, loss: Loss) -> Result<Self, LinearError> {
        if !loss.is_of_classes() {
            return Ok(Target::Numbers(values));
        }
        match Classes::of_numbers(&values) {
            Err(LinearError::NotTwoClasses(names)) if loss == Loss::Logistic && names.len() > 2 => {
                several_numbers(&values)
            }
            found => found.map(|(classes, labels)| Target::Classes(classes, labels)),
        }
    }

    /// Texts as classes, an empty one as none.
    ///
    /// # Errors
    /// If there are too few classes or too many.
    pub fn of_texts(keys: &Keys, loss: Loss) -> Result<Self, LinearError> {
        let names = match Classes::of_texts(keys) {
            Err(LinearError::NotTwoClasses(names)) if loss == Loss::Logistic => names,
            found => return found.map(|(classes, labels)| Target::Classes(classes, labels)),
        };
        if names.len() < 2 {
            return Err(LinearError::NotTwoClasses(names));
        }
        let number = |name: &String| match name.as_str() {
            "" => Some(f64::NAN),
            text => text.parse::<f64>().ok().filter(|x| x.is_finite()),
        };
        let numbers: Option<Vec<f64>> = keys.names.iter().map(number).collect();
        if let Some(numbers) = numbers {
            let values: Vec<f64> = keys.codes.iter().map(|&code| numbers[code as usize]).collect();
            return several_numbers(&values);
        }
        let mut classes: Vec<String> =
            keys.names.iter().filter(|name| !name.is_empty()).cloned().collect();
        classes.sort_unstable();
        refuse_many(&classes)?;
        let place = |name: &String| classes.binary_search(name).map_or(f64::NAN, |c| c as f64);
        let places: Vec<f64> = keys.names.iter().map(place).collect();
        let labels = keys.codes.iter().map(|&code| places[code as usize]).collect();
        Ok(Target::Several(classes, labels))
    }

    /// The targets or labels.
    pub fn numbers(&self) -> &[f64] {
        let (Target::Numbers(numbers) | Target::Classes(_, numbers) | Target::Several(_, numbers)) =
            self;
        numbers
    }

    pub(super) fn numbers_mut(&mut self) -> &mut Vec<f64> {
        let (Target::Numbers(numbers) | Target::Classes(_, numbers) | Target::Several(_, numbers)) =
            self;
        numbers
    }

    /// The same kind of target with these numbers or labels.
    pub(crate) fn with_numbers(&self, numbers: Vec<f64>) -> Self {
        match self {
            Target::Numbers(_) => Target::Numbers(numbers),
            Target::Classes(classes, _) => Target::Classes(classes.clone(), numbers),
            Target::Several(names, _) => Target::Several(names.clone(), numbers),
        }
    }

    /// The two classes, if there are two.
    pub fn classes(&self) -> Option<&Classes> {
        if let Target::Classes(classes, _) = self { Some(classes) } else { None }
    }

    /// The names of all classes, in order; none of numbers.
    pub fn class_names(&self) -> Vec<String> {
        match self {
            Target::Numbers(_) => Vec::new(),
            Target::Classes(Classes { negative, positive }, _) => {
                vec![negative.clone(), positive.clone()]
            }
            Target::Several(names, _) => names.clone(),
        }
    }

    /// The place of a label's class; none of numbers and where there is no label.
    pub fn class(&self, label: f64) -> Option<usize> {
        match self {
            _ if label.is_nan() => None,
            Target::Numbers(_) => None,
            Target::Classes(..) => Some(usize::from(label > 0.0)),
            Target::Several(..) => Some(label as usize),
        }
    }

    /// How many rows of coefficients there are: one, or one for each of several classes.
    pub(crate) fn width(&self) -> usize {
        if let Target::Several(names, _) = self { names.len() } else { 1 }
    }
}

/// Several classes that are numbers, in their order.
fn several_numbers(values: &[f64]) -> Result<Target, LinearError> {
    let mut different: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
    // 0 and -0 are one.
    for x in &mut different {
        *x += 0.0;
    }
    different.sort_by(f64::total_cmp);
    different.dedup();
    let names: Vec<String> = different.iter().map(f64::to_string).collect();
    refuse_many(&names)?;
    let place = |x: &f64| match different.binary_search_by(|y| y.total_cmp(&(x + 0.0))) {
        Ok(c) => c as f64,
        Err(_) => f64::NAN,
    };
    let labels = values.iter().map(place).collect();
    Ok(Target::Several(names, labels))
}

fn refuse_many(names: &[String]) -> Result<(), LinearError> {
    if names.len() <= MOST_CLASSES {
        return Ok(());
    }
    Err(LinearError::TooManyClasses { most: MOST_CLASSES, example: names[0].clone() })
}
