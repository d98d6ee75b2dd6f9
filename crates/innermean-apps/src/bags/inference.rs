//! Standard errors of models of groups, which are the independent observations.

use super::BagTask;
use super::model::Model;
use crate::run::inference::Estimator;

impl Estimator for BagTask {
    fn unscale(&self, z: &mut [f64]) {
        self.scaling.unscale(z);
    }

    fn shifts(&self) -> Vec<Vec<usize>> {
        match &self.model {
            Model::Scalar(_) => Vec::new(),
            Model::Softmax(bags) => bags.shifts(),
        }
    }
}
