//! Which point becomes the next reference point of SVRPDA-I and II.

use serde::{Deserialize, Serialize};

use crate::draws::Stream;
use crate::linalg::vector::{Aligned, axpy, update_with};
use crate::oracle::Oracle;

/// Which inner iterate becomes the next reference point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reference {
    /// Option I: the last, `theta^(M)`.
    #[default]
    Last,
    /// Option II: `theta^(t)` for t drawn uniformly from `0..M`.
    Random,
    /// Differs: the average of `theta^(1)` to `theta^(M)`, and duals that are averaged alike. Where
    /// phi has kinks and g is not strongly convex, the iterates circle around the saddle point and
    /// only their averages come near it.
    Average,
}

/// The reference point in the making.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NextReference {
    #[serde(with = "crate::run::checkpoint::shape::fixed")]
    kind: Reference,
    /// The t of Option II.
    t: usize,
    /// `theta^(t)`, or the sum of the iterates and at last their average.
    theta: Aligned,
    /// `sum_k k (w^(k+1) - w^(k))`, which is M times what the last duals are ahead of their
    /// average.
    lead: Vec<f64>,
}

impl NextReference {
    pub(super) fn new(kind: Reference, theta: &[f64], duals: usize) -> Self {
        let duals = if kind == Reference::Average { duals } else { 0 };
        NextReference { kind, t: 0, theta: theta.into(), lead: vec![0.0; duals] }
    }

    /// Whether it is the last iterate, whatever the steps are.
    #[inline(always)]
    pub(super) fn is_last(&self) -> bool {
        self.kind == Reference::Last
    }

    /// At the beginning of an outer iteration of `steps` steps.
    pub(super) fn begin(&mut self, steps: usize, draws: &mut Stream) {
        match self.kind {
            Reference::Last => {}
            Reference::Random => self.t = draws.index(steps),
            Reference::Average => {
                self.theta.fill(0.0);
                self.lead.fill(0.0);
            }
        }
    }

    /// Whether the point before step k is the one that Option II has drawn.
    #[inline(always)]
    pub(super) fn remembers(&self, k: usize) -> bool {
        self.kind == Reference::Random && k == self.t
    }

    /// Before step k.
    #[inline(always)]
    pub(super) fn before_step(&mut self, k: usize, theta: &[f64]) {
        if self.remembers(k) {
            self.theta.copy_from_slice(theta);
        }
    }

    /// In step k, when `change` has been added to `w_i`.
    #[inline(always)]
    pub(super) fn dual_changed(&mut self, k: usize, i: usize, change: &[f64]) {
        if self.kind == Reference::Average {
            // Not by a kernel: `change` is in registers, and a call that is not made must not see
            // its address.
            for (lead, change) in self.lead[i * change.len()..].iter_mut().zip(change) {
                *lead = change.mul_add(k as f64, *lead);
            }
        }
    }

    /// After the step that was the k-th of `steps`. After the last, averaged duals take the place
    /// of the last ones.
    #[inline(always)]
    pub(super) fn after_step(
        &mut self,
        oracle: &Oracle<'_>,
        k: usize,
        steps: usize,
        theta: &[f64],
        w: &mut [f64],
    ) {
        if self.kind == Reference::Average {
            axpy(1.0 / steps as f64, theta, &mut self.theta);
            if k == steps {
                // Rounding may have carried the average out of a constraint.
                oracle.problem().allow(&mut self.theta);
                update_with(w, &self.lead, |w, lead| w - lead / steps as f64);
            }
        }
    }

    /// The next reference point, once the outer iteration has ended; none where it is simply the
    /// last iterate.
    pub(super) fn theta(&self) -> Option<&[f64]> {
        (self.kind != Reference::Last).then_some(&*self.theta)
    }
}
