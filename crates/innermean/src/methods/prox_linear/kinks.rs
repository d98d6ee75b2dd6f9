//! The model of a phi with kinks, minimised around duals by the method of multipliers
//! (`multipliers.rs`), which asks the prox of `phi*` alone: no call but the look at the end.

use serde::{Deserialize, Serialize};

use super::snapshot::Snapshot;
use crate::methods::multipliers;
use crate::model::inner::Fused;
use crate::model::problem::Objective;
use crate::model::regularizer::{Ridged, Tilted};
use crate::oracle::Oracle;

/// The duals of the last model, and the penalty with which it ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Around {
    w: Vec<f64>,
    sigma: f64,
}

impl Around {
    pub(super) fn nothing(oracle: &Oracle<'_>) -> Self {
        Around { w: vec![0.0; oracle.n_x() * oracle.ell()], sigma: 0.0 }
    }
}

/// Moves `x` to the minimiser of the model and `(rho/2) |. - theta_ref|^2`; returns `m(x)`.
pub(super) fn minimise(
    oracle: &mut Oracle<'_>,
    here: &mut Snapshot,
    rho: f64,
    around: &mut Around,
    x: &mut [f64],
) -> f64 {
    let mut offsets = vec![0.0; here.f_bar.len()];
    here.rows.f().means(&here.theta, &mut offsets);
    for (offset, f_bar) in offsets.iter_mut().zip(&here.f_bar) {
        *offset = f_bar - *offset;
    }
    here.rows.set_offsets(offsets);
    x.copy_from_slice(&here.theta);
    let tilt = here.theta.iter().map(|center| -rho * center).collect();
    let near = Ridged::new(oracle.g(), rho).and_then(|g| Tilted::new(g, tilt));
    if let Ok(near) = near {
        let problem = Objective { inner: &here.rows, merit: oracle.phi(), regularizer: &near };
        let mut model = Oracle::new(problem);
        model.patience = oracle.patience.clone();
        // The model's own P has the constant of the ridge left out.
        let center: f64 = here.theta.iter().map(|t| 0.5 * rho * t * t).sum();
        let start = here.objective - center;
        multipliers::minimise(&mut model, start, &mut around.w, &mut around.sigma, x);
    }
    let mut u = vec![0.0; here.f_bar.len()];
    here.rows.f().means(x, &mut u);
    here.rows.set_offsets(vec![0.0; u.len()]);
    oracle.problem().allow(x);
    oracle.loss(&u) + oracle.g().value(x)
}
