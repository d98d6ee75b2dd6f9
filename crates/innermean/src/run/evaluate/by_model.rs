//! Stationarity where phi has kinks and f bends.

use super::{Evaluator, LAST_DIGIT, MARGIN_OF_GAIN, relative};
use crate::certificate::linearised;

impl Evaluator<'_> {
    /// The square root of what the linear model of all averages would gain, over the scale, or a
    /// thousand times that if it is less. None while the objective still falls by more than the
    /// tolerance from one point to the next: then much is left, and a model costs as much as a step.
    pub(super) fn gained_by_model(
        &mut self,
        theta: &[f64],
        objective: f64,
        scale: f64,
    ) -> Option<f64> {
        let [last, _] = std::mem::replace(&mut self.memory.last, [objective, 0.0]);
        let scale = self.memory.scale.at_origin().unwrap_or(scale);
        let moved = (last - objective).abs();
        if moved.is_nan() || moved > self.tolerance * scale {
            return None;
        }
        let gain = linearised::gain(self.problem, theta, objective, &self.prover.patience);
        let gain = relative(gain, scale);
        Some(gain.sqrt().min(MARGIN_OF_GAIN * gain).max(LAST_DIGIT))
    }
}
