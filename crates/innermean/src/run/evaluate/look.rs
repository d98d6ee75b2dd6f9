//! What a measure is made of: averages, duals and their sum.

use super::{Evaluator, Gradient, Known, Way};
use crate::linalg::long::zeros;
use crate::model::inner::Inner;

/// Room for what a method does not know of a point.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) f_bar: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// Where the averages in `f_bar` and the slopes in `w` were found; empty before that.
    pub(super) slopes_at: Vec<f64>,
}

/// Of one point: a method's own where it has it, for to copy vectors as long as the data takes as
/// long as a pass on many threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked<'l> {
    pub(super) f_bar: &'l [f64],
    pub(super) w: &'l [f64],
    pub(super) gradient: &'l [f64],
    /// Whether the duals are `phi_i'(fbar_i)`.
    pub(super) matched: bool,
}

impl Room {
    /// Makes it large enough for f.
    pub(super) fn fit(&mut self, f: &dyn Inner) {
        let size = f.n_x() * f.ell();
        if self.f_bar.len() != size {
            (self.f_bar, self.w) = (zeros(size), zeros(size));
        }
        self.gradient.resize(f.d(), 0.0);
    }
}

impl Evaluator<'_> {
    /// The averages at theta and, if asked for, duals and their sum.
    pub(super) fn look<'l>(
        &mut self,
        theta: &[f64],
        known: Known<'l>,
        room: &'l mut Room,
    ) -> Looked<'l> {
        let Evaluator { problem, way, prover, .. } = self;
        let asked = *way != Way::Unasked;
        let affine = problem.inner.facts().affine;
        let kinks = problem.merit.has_kinks() && affine;
        let own = known.duals.filter(|_| kinks);
        let balanced = asked && *way == Way::Proof && prover.balances();
        let serves = asked && !balanced;
        if let Some(Gradient { f_bar, w, gradient }) = known.gradient
            && serves
            && affine
        {
            return Looked { f_bar, w, gradient, matched: own.is_none() };
        }
        room.fit(problem.inner);
        let Room { f_bar, w, gradient, slopes_at } = room;
        let is_last = !affine && *slopes_at == theta;
        if asked {
            slopes_at.clear();
            slopes_at.extend_from_slice(theta);
        }
        if let Some(known) = known.gradient {
            f_bar.copy_from_slice(known.f_bar);
            if serves {
                w.copy_from_slice(known.w);
                gradient.copy_from_slice(known.gradient);
                return Looked { f_bar, w, gradient, matched: own.is_none() };
            }
        } else if serves && own.is_none() {
            // After a step that was not taken the point is the last one, and all of it is known.
            if !is_last {
                problem.loss_and_gradient(theta, f_bar, w, gradient);
            }
            return Looked { f_bar, w, gradient, matched: true };
        } else {
            problem.inner.means(theta, f_bar);
        }
        if asked {
            match own {
                Some(duals) => w.copy_from_slice(duals),
                None => problem.duals(f_bar, w),
            }
            if balanced {
                prover.balance(f_bar, w);
            }
            gradient.fill(0.0);
            problem.inner.add_weighted_jac_t(theta, w, gradient);
        }
        Looked { f_bar, w, gradient, matched: false }
    }
}
