//! Standard errors of linear models.

use super::LinearTask;
use crate::run::inference::Estimator;

impl Estimator for LinearTask {
    fn unscale(&self, z: &mut [f64]) {
        self.scaling.unscale(z);
    }

    fn shifts(&self) -> Vec<Vec<usize>> {
        LinearTask::shifts(self)
    }
}
