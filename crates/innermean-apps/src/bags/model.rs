//! f and phi of groups, of one link or another.

use innermean::{
    Bags, Bernoulli, Groups, Inner, InvalidSetting, Link, Merit, NegativeLog, Poisson, SoftmaxBags,
    Square,
};

use super::{BagData, BagLink, BagLoss};
use crate::linear::INTERCEPT;

/// f, of one number or of several classes.
pub(super) enum Model {
    Scalar(Bags),
    Softmax(SoftmaxBags),
}

impl Model {
    /// Of the rows whose groups have labels.
    pub(super) fn new(
        data: &BagData,
        features: &[f64],
        link: BagLink,
        loss: BagLoss,
        intercept: bool,
    ) -> Result<Self, InvalidSetting> {
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
        let Some(link) = scalar(link) else {
            return Ok(Model::Softmax(SoftmaxBags::new(groups, data.label_names.len())?));
        };
        Ok(Model::Scalar(match loss {
            BagLoss::Square => Bags::with_targets(groups, link, data.labels.clone())?,
            _ => Bags::new(groups, link),
        }))
    }

    /// phi with the labels.
    pub(super) fn merit(
        &self,
        data: &BagData,
        loss: BagLoss,
    ) -> Result<Box<dyn Merit>, InvalidSetting> {
        Ok(match (self, loss) {
            (Model::Softmax(_), _) => {
                Box::new(NegativeLog::new(data.label_names.len(), data.labels.clone())?)
            }
            (_, BagLoss::Square) => Box::new(Square::new(1.0)?),
            (_, BagLoss::CrossEntropy) => Box::new(Bernoulli::new(data.labels.clone())?),
            (_, BagLoss::Poisson) => {
                let sizes = self.sizes();
                let scale = sizes.len() as f64 / sizes.iter().sum::<f64>();
                Box::new(Poisson::new(data.labels.clone(), sizes, scale)?)
            }
        })
    }

    /// The rows of each group.
    pub(super) fn sizes(&self) -> Vec<f64> {
        (0..self.groups().count()).map(|i| self.groups().size(i) as f64).collect()
    }

    pub(super) fn groups(&self) -> &Groups {
        match self {
            Model::Scalar(bags) => bags.groups(),
            Model::Softmax(bags) => bags.groups(),
        }
    }

    pub(super) fn inner(&self) -> &dyn Inner {
        match self {
            Model::Scalar(bags) => bags,
            Model::Softmax(bags) => bags,
        }
    }

    /// The coordinates of theta before the intercepts.
    pub(super) fn penalised(&self) -> usize {
        match self {
            Model::Scalar(bags) => bags.groups().width(),
            Model::Softmax(bags) => bags.penalised(),
        }
    }

    /// A name for each coordinate of theta.
    pub(super) fn coordinates(&self, data: &BagData) -> Vec<String> {
        let intercept = self.groups().has_intercept();
        match self {
            Model::Scalar(_) => {
                let intercept = intercept.then(|| INTERCEPT.to_owned());
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
                    names.extend(of(INTERCEPT));
                }
                names
            }
        }
    }

    /// No coefficients, and the intercepts that predict the mean of the labels; of counts, that of
    /// all rows.
    pub(super) fn start(&self, data: &BagData) -> Vec<f64> {
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
    pub(super) fn fitted(&self, data: &BagData, loss: BagLoss, theta: &[f64]) -> Vec<f64> {
        let f = self.inner();
        let mut fitted = vec![0.0; f.n_x() * f.ell()];
        f.means(theta, &mut fitted);
        if loss == BagLoss::Square {
            // f has the labels taken off.
            fitted.iter_mut().zip(&data.labels).for_each(|(fitted, label)| *fitted += label);
        }
        fitted
    }

    /// The predictions for rows of features in any order, one number or one for each class.
    pub(super) fn predictions(
        &self,
        link: BagLink,
        features: &[f64],
        theta: &[f64],
    ) -> Result<Vec<f64>, InvalidSetting> {
        let (groups, ell) = (self.groups(), self.inner().ell());
        let (width, intercept) = (groups.width(), groups.has_intercept());
        row_predictions(link, ell, width, intercept, features.to_vec(), theta)
    }
}

/// The predictions for rows of `width` features, one number or one for each of `ell` classes.
pub(crate) fn row_predictions(
    link: BagLink,
    ell: usize,
    width: usize,
    intercept: bool,
    features: Vec<f64>,
    theta: &[f64],
) -> Result<Vec<f64>, InvalidSetting> {
    let rows = features.len() / width;
    let one = Groups::new(width, features, vec![0, rows], intercept)?;
    Ok(match scalar(link) {
        Some(link) => Bags::new(one, link).predictions(theta),
        None => SoftmaxBags::new(one, ell)?.predictions(theta),
    })
}

/// The link of one number, if it is one.
fn scalar(link: BagLink) -> Option<Link> {
    match link {
        BagLink::Softmax => None,
        BagLink::Logistic => Some(Link::Logistic),
        BagLink::Identity => Some(Link::Identity),
        BagLink::Exp => Some(Link::Exp),
    }
}
