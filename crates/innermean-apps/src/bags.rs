//! Bags: a model of single rows from labels that are known for groups of rows alone.
//!
//! ```
//! use innermean_apps::bags::{BagData, BagSettings, BagTask, GroupLabels};
//! use innermean_apps::run::{Solver, Task, Watch};
//! use innermean_data::Keys;
//!
//! let mut groups = Keys::default();
//! groups.names = vec!["north".to_owned(), "south".to_owned()];
//! groups.codes = vec![0, 0, 1, 1, 1];
//! let labels = GroupLabels {
//!     names: vec!["share".to_owned()],
//!     groups: groups.names.clone(),
//!     values: vec![0.2, 0.7],
//!     ..GroupLabels::default()
//! };
//! let mut settings = BagSettings::default();
//! settings.penalty.l2 = 1e-3;
//! let data = BagData::new(vec!["x".to_owned()], &groups, labels, settings.link)?;
//! let task = BagTask::new(data, vec![-1.0, 0.0, 0.5, 1.0, 2.0], &settings)?;
//! let fit = task.fit(&Solver::default(), Watch::by(&mut ()))?;
//! assert!(fit.answer.group_fit.mean_absolute_error < 0.05);
//! assert!(fit.answer.predictions[4] > fit.answer.predictions[0]);
//! # Ok::<(), innermean_apps::Error>(())
//! ```

use crate::wording::named;

mod averages;
mod data;
mod error;
mod fit;
mod inference;
mod labels;
mod members;
mod model;
mod task;
mod texts;

pub use averages::{Average, Averages};
pub use data::BagData;
pub use error::BagsError;
pub use fit::{GroupFit, RowScores, WorstGroup, most_probable, predicted_columns};
pub use labels::{GroupLabels, LabelWeights};
pub use members::Memberships;
pub(crate) use model::row_predictions;
pub use task::{BagAnswer, BagProblem, BagSettings, BagTask, HeldOutGroups};

named! {
    /// What a row's score becomes.
    pub enum BagLink, default Logistic {
        /// A probability; the label is the proportion of positive rows, from 0 to 1
        Logistic = "logistic",
        /// Probabilities of several classes; the labels are their proportions
        Softmax = "softmax",
        /// The score itself; the label is the mean of a target
        Identity = "identity",
        /// An expected count, e to the score; the label is the sum of the counts of all rows of the
        /// group
        Exp = "exp",
    }
}

named! {
    /// The loss of a group's average.
    pub enum BagLoss, default CrossEntropy {
        /// Of the average against the proportions
        CrossEntropy = "cross-entropy",
        /// The square of the average minus the label
        Square = "square",
        /// Half the deviance of the group's count, for each row
        Poisson = "poisson",
    }
}

impl BagLink {
    /// Whether labels are proportions.
    pub fn is_of_proportions(self) -> bool {
        matches!(self, BagLink::Logistic | BagLink::Softmax)
    }

    /// The loss where none is given.
    fn usual_loss(self) -> BagLoss {
        match self {
            BagLink::Logistic | BagLink::Softmax => BagLoss::CrossEntropy,
            BagLink::Identity => BagLoss::Square,
            BagLink::Exp => BagLoss::Poisson,
        }
    }
}
