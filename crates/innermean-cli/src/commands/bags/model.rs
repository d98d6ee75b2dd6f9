//! The problem as the library has it, of one link or another.

use anyhow::{Result, bail};
use innermean::{
    Bags, Bernoulli, Groups, Inner, InvalidSetting, Link, Merit, NegativeLog, Poisson, SoftmaxBags,
    Square,
};

use super::table::Data;
use super::{LinkChoice, Loss, ProblemFlags};

/// f, of one number or of several classes.
pub(crate) enum Model {
    Scalar(Bags),
    Softmax(SoftmaxBags),
}

impl ProblemFlags {
    /// The loss that was asked for, if it goes with the link.
    pub(crate) fn loss(&self) -> Result<Loss> {
        let usual = match self.link {
            LinkChoice::Logistic | LinkChoice::Softmax => Loss::CrossEntropy,
            LinkChoice::Identity => Loss::Square,
            LinkChoice::Exp => Loss::Poisson,
        };
        match self.loss {
            None => Ok(usual),
            Some(loss) if loss == usual => Ok(loss),
            Some(Loss::Square) if self.link == LinkChoice::Logistic => Ok(Loss::Square),
            Some(loss) => bail!(
                "--loss {}: does not go with --link {}; expected {}",
                loss.name(),
                self.link.name(),
                if self.link == LinkChoice::Logistic {
                    "cross-entropy or square"
                } else {
                    usual.name()
                }
            ),
        }
    }
}

impl Loss {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Loss::CrossEntropy => "cross-entropy",
            Loss::Square => "square",
            Loss::Poisson => "poisson",
        }
    }
}

impl Model {
    /// Of the rows whose groups have labels.
    pub(crate) fn new(
        data: &Data,
        features: &[f64],
        link: LinkChoice,
        loss: Loss,
        intercept: bool,
    ) -> Result<Self> {
        let width = data.feature_names.len();
        let whole = data.labelled == data.group_names.len();
        let groups = if whole {
            Groups::gather(width, features, &data.groups, data.labelled, intercept)?.0
        } else {
            let kept: Vec<usize> = (0..data.groups.len())
                .filter(|&r| (data.groups[r] as usize) < data.labelled)
                .collect();
            let rows: Vec<f64> =
                kept.iter().flat_map(|&r| &features[r * width..(r + 1) * width]).copied().collect();
            let codes: Vec<u32> = kept.iter().map(|&r| data.groups[r]).collect();
            Groups::gather(width, &rows, &codes, data.labelled, intercept)?.0
        };
        let link = match link {
            LinkChoice::Softmax => {
                return Ok(Model::Softmax(SoftmaxBags::new(groups, data.label_names.len())?));
            }
            LinkChoice::Logistic => Link::Logistic,
            LinkChoice::Identity => Link::Identity,
            LinkChoice::Exp => Link::Exp,
        };
        Ok(Model::Scalar(match loss {
            Loss::Square => Bags::with_targets(groups, link, data.labels.clone())?,
            _ => Bags::new(groups, link),
        }))
    }

    /// phi with the labels.
    pub(crate) fn merit(&self, data: &Data, loss: Loss) -> Result<Box<dyn Merit>, InvalidSetting> {
        Ok(match (self, loss) {
            (Model::Softmax(_), _) => {
                Box::new(NegativeLog::new(data.label_names.len(), data.labels.clone())?)
            }
            (_, Loss::Square) => Box::new(Square::new(1.0)?),
            (_, Loss::CrossEntropy) => Box::new(Bernoulli::new(data.labels.clone())?),
            (_, Loss::Poisson) => {
                let sizes = self.sizes();
                let scale = sizes.len() as f64 / sizes.iter().sum::<f64>();
                Box::new(Poisson::new(data.labels.clone(), sizes, scale)?)
            }
        })
    }

    /// The rows of each group.
    pub(crate) fn sizes(&self) -> Vec<f64> {
        (0..self.groups().count()).map(|i| self.groups().size(i) as f64).collect()
    }

    pub(crate) fn groups(&self) -> &Groups {
        match self {
            Model::Scalar(bags) => bags.groups(),
            Model::Softmax(bags) => bags.groups(),
        }
    }

    pub(crate) fn inner(&self) -> &dyn Inner {
        match self {
            Model::Scalar(bags) => bags,
            Model::Softmax(bags) => bags,
        }
    }

    /// The coordinates of theta before the intercepts.
    pub(crate) fn penalised(&self) -> usize {
        match self {
            Model::Scalar(bags) => bags.groups().width(),
            Model::Softmax(bags) => bags.penalised(),
        }
    }

    /// A name for each coordinate of theta.
    pub(crate) fn coordinates(&self, data: &Data) -> Vec<String> {
        let intercept = self.groups().has_intercept();
        match self {
            Model::Scalar(_) => {
                let intercept = intercept.then(|| "(intercept)".to_owned());
                data.feature_names.iter().cloned().chain(intercept).collect()
            }
            Model::Softmax(_) => {
                let of = |name: &str| {
                    data.label_names
                        .iter()
                        .map(move |class| format!("{class}: {name}"))
                        .collect::<Vec<_>>()
                };
                let mut names: Vec<String> = data
                    .label_names
                    .iter()
                    .flat_map(|class| {
                        data.feature_names.iter().map(move |name| format!("{class}: {name}"))
                    })
                    .collect();
                if intercept {
                    names.extend(of("(intercept)"));
                }
                names
            }
        }
    }

    /// No coefficients, and the intercepts that predict the mean of the labels; of counts, that of
    /// all rows.
    pub(crate) fn start(&self, data: &Data) -> Vec<f64> {
        let ell = data.label_names.len();
        let count = data.labels.len() as f64 / ell as f64;
        let mean = |c: usize| data.labels.iter().skip(c).step_by(ell).sum::<f64>() / count;
        match self {
            Model::Scalar(bags) if bags.link() == Link::Exp => {
                bags.start(data.labels.iter().sum::<f64>() / bags.groups().rows() as f64)
            }
            Model::Scalar(bags) => bags.start(mean(0)),
            Model::Softmax(bags) => bags.start(&(0..ell).map(mean).collect::<Vec<_>>()),
        }
    }

    /// The average prediction of every labelled group, one number or one for each class.
    pub(crate) fn fitted(&self, data: &Data, loss: Loss, theta: &[f64]) -> Vec<f64> {
        let f = self.inner();
        let mut fitted = vec![0.0; f.n_x() * f.ell()];
        f.means(theta, &mut fitted);
        if loss == Loss::Square {
            // f has the labels taken off.
            fitted.iter_mut().zip(&data.labels).for_each(|(fitted, label)| *fitted += label);
        }
        fitted
    }

    /// The predictions for rows of features in any order, one number or one for each class.
    pub(crate) fn predictions(&self, features: &[f64], theta: &[f64]) -> Result<Vec<f64>> {
        let width = self.groups().width();
        let rows = features.len() / width;
        let one =
            Groups::new(width, features.to_vec(), vec![0, rows], self.groups().has_intercept())?;
        Ok(match self {
            Model::Scalar(bags) => Bags::new(one, bags.link()).predictions(theta),
            Model::Softmax(bags) => SoftmaxBags::new(one, bags.ell())?.predictions(theta),
        })
    }
}
