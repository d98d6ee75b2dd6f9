//! Eligibility traces: LSTD(lambda) (Boyan 2002), with importance ratios (Yu 2010).

use super::{Episodes, Mspbe};
pub use crate::model::inner::Traces;
use crate::model::setting::InvalidSetting;
use crate::problems::transitions::{END, Moves, StateFeatures};

impl Traces<'_> {
    fn check(&self, transitions: usize) -> Result<(), InvalidSetting> {
        let Traces { lambda, order, starts, ratios } = *self;
        if !(0.0..=1.0).contains(&lambda) {
            let value = format!("{lambda:?}");
            return Err(InvalidSetting::new("lambda", value, "a number from 0 to 1"));
        }
        let mut seen = vec![false; transitions];
        let is_new =
            |t: &usize| seen.get_mut(*t).is_some_and(|seen| !std::mem::replace(seen, true));
        if order.len() != transitions || !order.iter().all(is_new) {
            let value = format!("{} entries", order.len());
            let expected = format!("each of {transitions} transitions once");
            return Err(InvalidSetting::new("order", value, expected));
        }
        if starts.first() != Some(&0) || starts.last() != Some(&transitions) || !starts.is_sorted()
        {
            let value = format!("{} entries", starts.len());
            let expected = format!("ascending places from 0 to {transitions}");
            return Err(InvalidSetting::new("starts", value, expected));
        }
        let Some(ratios) = ratios else { return Ok(()) };
        let bad = ratios.iter().position(|ratio| !(ratio.is_finite() && *ratio >= 0.0));
        match bad {
            _ if ratios.len() != transitions => Err(InvalidSetting::new(
                "ratios",
                format!("{} entries", ratios.len()),
                format!("one for each of {transitions} transitions"),
            )),
            Some(bad) => Err(InvalidSetting::new(
                "ratios",
                format!("{} in transition {bad}", ratios[bad]),
                "finite numbers, 0 or above",
            )),
            None => Ok(()),
        }
    }
}

impl Mspbe {
    /// With eligibility traces: `f_theta(y_t) = z_t (r_t - <phi_t - gamma phi'_t, theta>)`, `A =
    /// (1/T) sum_t z_t (phi_t - gamma phi'_t)'` and `b = (1/T) sum_t r_t z_t`, with the C of the
    /// features. As in [`Mspbe::of_moves`], a transition counts `T w_t / sum_t w_t` times.
    ///
    /// # Errors
    /// As [`Mspbe::of_moves`], and unless lambda lies in `[0, 1]`, `order` has every transition
    /// once, `starts` ascend through it and ratios are finite and 0 or above.
    pub fn of_episodes(
        features: &StateFeatures,
        moves: &Moves,
        discount: f64,
        traces: &Traces<'_>,
    ) -> Result<Self, InvalidSetting> {
        let made = Mspbe::of_moves(features, moves, discount)?;
        traces.check(moves.from.len())?;
        let d = made.d;
        let mut rows = vec![0.0; made.features.len()];
        let mut z = vec![0.0; d];
        let total: Option<f64> = moves.weights.as_ref().map(|weights| weights.iter().sum());
        let t = moves.from.len() as f64;
        for range in traces.starts.windows(2) {
            z.fill(0.0);
            for &k in &traces.order[range[0]..range[1]] {
                let ratio = traces.ratios.map_or(1.0, |ratios| ratios[k]);
                for z in &mut z {
                    *z *= ratio * discount * traces.lambda;
                }
                features.add(moves.from[k] as usize, ratio, &mut z);
                // The other factor of a pair has the other root of the weight.
                let root = match (&moves.weights, total) {
                    (Some(weights), Some(total)) => (t * (weights[k] / total)).sqrt(),
                    _ => 1.0,
                };
                let row = &mut rows[k * d..(k + 1) * d];
                row.iter_mut().zip(&z).for_each(|(row, z)| *row = root * z);
                if moves.next[k] == END {
                    z.fill(0.0);
                }
            }
        }
        if let Some(bad) = rows.iter().position(|z| !z.is_finite()) {
            let value = format!("a trace of {} in transition {}", rows[bad], bad / d);
            return Err(InvalidSetting::new("ratios", value, "ratios whose products are finite"));
        }
        let Mspbe { features, differences, rewards, mut given, .. } = made;
        if let Some(given) = &mut given {
            given.episodes = Some(Episodes::new(moves, traces));
        }
        Ok(Mspbe { given, ..Self::of_rows(d, features, rows.into(), differences, rewards) })
    }
}

impl Episodes {
    /// Nothing is carried over a start, nor over an end within an episode.
    fn new(moves: &Moves, traces: &Traces<'_>) -> Self {
        let ends = traces.order.iter().enumerate().filter(|(_, k)| moves.next[**k] == END);
        let mut starts: Vec<usize> = ends.map(|(place, _)| place + 1).collect();
        starts.extend_from_slice(traces.starts);
        starts.sort_unstable();
        starts.dedup();
        Episodes {
            lambda: traces.lambda,
            order: traces.order.to_vec(),
            starts,
            ratios: traces.ratios.map(<[f64]>::to_vec),
        }
    }

    pub(super) fn traces(&self) -> Traces<'_> {
        Traces {
            lambda: self.lambda,
            order: &self.order,
            starts: &self.starts,
            ratios: self.ratios.as_deref(),
        }
    }
}
