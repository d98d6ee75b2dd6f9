//! f and phi of groups, of one link or another.

use innermean::{
    Bags, Bernoulli, Groups, Inner, InvalidSetting, Link, Merit, NegativeLog, Poisson, RowData,
    SoftmaxBags, Square, Weighted,
};

use super::{BagData, BagLink, BagLoss};
use crate::linear::INTERCEPT;

/// Features of more numbers are not copied for the sake of the order of groups: next to each other
/// the rows of a group are read faster, and 16 MB of memory are cheap.
pub(super) const MOST_COPIED: usize = 1 << 21;

/// f, of one number or of several classes.
#[allow(clippy::large_enum_variant, reason = "a task has one of them")]
pub(super) enum Model {
    Scalar(Bags),
    Softmax(SoftmaxBags),
}

impl Model {
    /// Of the rows whose groups have labels.
    pub(super) fn new(
        data: &BagData,
        features: &RowData,
        link: BagLink,
        loss: BagLoss,
        intercept: bool,
    ) -> Result<Self, InvalidSetting> {
        let groups = if features.len() > MOST_COPIED || features.held().is_none() {
            in_place(data, features, intercept)?
        } else {
            gathered(data, features, intercept)?
        };
        let Some(link) = scalar(link) else {
            return Ok(Model::Softmax(SoftmaxBags::new(groups, data.label_names.len())?));
        };
        Ok(Model::Scalar(match loss {
            BagLoss::Square => Bags::with_targets(groups, link, data.labels().to_vec())?,
            _ => Bags::new(groups, link),
        }))
    }

    /// phi with the labels.
    pub(super) fn merit(
        &self,
        data: &BagData,
        loss: BagLoss,
    ) -> Result<Box<dyn Merit>, InvalidSetting> {
        let totals = self.totals();
        let labels = data.labels().to_vec();
        let weights = data.group_weights(&totals);
        match (self, loss) {
            (Model::Softmax(_), _) => {
                weighted(NegativeLog::new(data.label_names.len(), labels)?, weights)
            }
            (_, BagLoss::Square) => weighted(Square::new(1.0)?, weights),
            (_, BagLoss::CrossEntropy) => weighted(Bernoulli::new(labels)?, weights),
            (_, BagLoss::Poisson) => {
                let scale = totals.len() as f64 / totals.iter().sum::<f64>();
                weighted(Poisson::new(labels, totals, scale)?, weights)
            }
        }
    }

    /// The rows of each group, or the sum of their weights.
    pub(super) fn totals(&self) -> Vec<f64> {
        (0..self.groups().count()).map(|i| self.groups().total(i)).collect()
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
        let (ell, labels, totals) = (data.label_names.len(), data.labels(), self.totals());
        let weights = data.group_weights(&totals).unwrap_or_else(|| vec![1.0; totals.len()]);
        let mean = |c: usize| {
            let own = labels.iter().skip(c).step_by(ell).zip(&weights);
            own.map(|(label, weight)| label * weight).sum::<f64>() / totals.len() as f64
        };
        match self {
            Model::Scalar(bags) if bags.link() == Link::Exp => {
                bags.start(labels.iter().sum::<f64>() / totals.iter().sum::<f64>())
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
            fitted.iter_mut().zip(data.labels()).for_each(|(fitted, label)| *fitted += label);
        }
        fitted
    }

    /// The predictions for rows of features in any order, one number or one for each class.
    pub(super) fn predictions(
        &self,
        link: BagLink,
        features: &RowData,
        theta: &[f64],
    ) -> Result<Vec<f64>, InvalidSetting> {
        let (groups, ell) = (self.groups(), self.inner().ell());
        let (width, intercept) = (groups.width(), groups.has_intercept());
        row_predictions(link, ell, width, intercept, features.clone(), theta)
    }
}

/// A merit, with the weights of its terms if they differ.
fn weighted(
    merit: impl Merit + 'static,
    weights: Option<Vec<f64>>,
) -> Result<Box<dyn Merit>, InvalidSetting> {
    Ok(match weights {
        None => Box::new(merit),
        Some(weights) => Box::new(Weighted::new(merit, weights)?),
    })
}

/// The groups that are fitted, with the weights of their rows. Rows lie group after group; one that
/// belongs to several lies with those of its first.
fn gathered(data: &BagData, features: &RowData, intercept: bool) -> Result<Groups, InvalidSetting> {
    let (width, labelled) = (data.feature_names.len(), data.labelled);
    // The fitted groups of the rows that take part.
    let (rows, memberships): (Vec<usize>, Vec<Vec<u32>>) = (0..data.members.rows())
        .filter(|&row| data.is_fitted(row))
        .map(|row| {
            let own = data.members.of(row).iter().copied();
            (row, own.filter(|group| (*group as usize) < labelled).collect())
        })
        .unzip();
    let features = features.held().expect("rows that are elsewhere stay in their places");
    let features_of = |row: usize| &features[row * width..(row + 1) * width];
    if memberships.iter().all(|own| own.len() == 1) {
        let codes: Vec<u32> = memberships.iter().map(|own| own[0]).collect();
        let (groups, order) = if rows.len() == data.members.rows() {
            Groups::gather(width, features, &codes, labelled, intercept)?
        } else {
            let kept: Vec<f64> = rows.iter().flat_map(|&row| features_of(row)).copied().collect();
            Groups::gather(width, &kept, &codes, labelled, intercept)?
        };
        let Some(weights) = &data.row_weights else { return Ok(groups) };
        let weights: Vec<f64> = order.iter().map(|&k| weights[rows[k]]).collect();
        return groups.with_weights(&weights);
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&k| memberships[k][0]);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); labelled];
    for (place, &k) in order.iter().enumerate() {
        memberships[k].iter().for_each(|&group| members[group as usize].push(place as u32));
    }
    let starts = members.iter().scan(0, |end, own| {
        *end += own.len();
        Some(*end)
    });
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let kept: Vec<f64> = order.iter().flat_map(|&k| features_of(rows[k])).copied().collect();
    let members = members.concat();
    let weights: Option<Vec<f64>> = data
        .row_weights
        .as_ref()
        .map(|weights| members.iter().map(|&place| weights[rows[order[place as usize]]]).collect());
    let groups = Groups::of_members(width, kept, members, starts, intercept)?;
    match weights {
        None => Ok(groups),
        Some(weights) => groups.with_weights(&weights),
    }
}

/// The same of rows that are not copied: they stay where they are.
fn in_place(data: &BagData, features: &RowData, intercept: bool) -> Result<Groups, InvalidSetting> {
    let labelled = data.labelled;
    let fitted = (0..data.members.rows()).filter(|&row| data.row_weight(row) > 0.0);
    let places = fitted.flat_map(|row| {
        let own = data.members.of(row).iter().map(|&group| group as usize);
        own.filter(|group| *group < labelled).map(move |group| (group, row as u32))
    });
    let mut starts = vec![0; labelled + 1];
    places.clone().for_each(|(group, _)| starts[group + 1] += 1);
    for i in 0..labelled {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut members = vec![0; starts[labelled]];
    for (group, row) in places {
        members[next[group]] = row;
        next[group] += 1;
    }
    let weights: Option<Vec<f64>> = data
        .row_weights
        .as_ref()
        .map(|weights| members.iter().map(|&row| weights[row as usize]).collect());
    let width = data.feature_names.len();
    let groups = Groups::of_members(width, features.clone(), members, starts, intercept)?;
    match weights {
        None => Ok(groups),
        Some(weights) => groups.with_weights(&weights),
    }
}

/// The predictions for rows of `width` features, one number or one for each of `ell` classes.
pub(crate) fn row_predictions(
    link: BagLink,
    ell: usize,
    width: usize,
    intercept: bool,
    features: impl Into<RowData>,
    theta: &[f64],
) -> Result<Vec<f64>, InvalidSetting> {
    let features = features.into();
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
