//! Decision processes: the Bellman error by its formula, and its minimiser by the normal equations.

use innermean::{Bellman, Problem, Square, Unregularized};
use innermean_data::Mdp;

use super::dense::Symmetric;

/// `r_ij`, whichever way rewards are given.
pub(crate) fn reward(mdp: &Mdp, i: usize, j: usize) -> f64 {
    if mdp.rewards.len() == mdp.states { mdp.rewards[i] } else { mdp.rewards[i * mdp.states + j] }
}

pub(crate) fn bellman(mdp: &Mdp) -> Bellman {
    let Mdp { d, features, transitions, rewards, discount, .. } = mdp.clone();
    Bellman::new(d, features, transitions, rewards, discount).expect("a generated MDP")
}

pub(crate) fn problem(mdp: &Mdp) -> Problem<Bellman, Square, Unregularized> {
    Problem {
        inner: bellman(mdp),
        merit: Square::new(1.0).expect("a weight"),
        regularizer: Unregularized,
    }
}

/// The minimiser by the normal equations, from rows `Psi_i - discount sum_j P_ij Psi_j` and targets
/// `sum_j P_ij r_ij`.
pub(crate) fn normal_equations(mdp: &Mdp) -> Vec<f64> {
    let (s, d) = (mdp.states, mdp.d);
    let mut matrix = Symmetric::scaled_identity(d, 0.0);
    let mut right = vec![0.0; d];
    for i in 0..s {
        let mut row = mdp.features[i * d..(i + 1) * d].to_vec();
        let mut target = 0.0;
        for j in 0..s {
            let p = mdp.transitions[i * s + j];
            target += p * reward(mdp, i, j);
            row.iter_mut()
                .zip(&mdp.features[j * d..(j + 1) * d])
                .for_each(|(row, psi)| *row -= mdp.discount * p * psi);
        }
        matrix.add_outer(1.0, &row);
        right.iter_mut().zip(&row).for_each(|(right, x)| *right += target * x);
    }
    matrix.solve(&right)
}
