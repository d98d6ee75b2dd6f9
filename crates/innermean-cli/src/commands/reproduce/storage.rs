//! Table 2, measured: what SVRPDA-I and II keep beside the data.

use anyhow::Result;
use innermean::Objective;
use innermean::methods::svrpda::PrimalDual;
use innermean::{Choice, Method, Oracle, Problem, Ridge, Settings, Square, Svrpda1, Svrpda2};
use serde::{Deserialize, Serialize};

use super::family::{Shape, Size, Units};
use super::piece::Piece;
use super::store::Store;

const ID: &str = "table2";
/// `(n_X, d, ell)`
const SIZES: [(usize, usize, usize); 4] =
    [(1000, 20, 1), (4000, 20, 1), (1000, 80, 1), (1000, 20, 4)];

/// What a method held after an outer iteration.
#[derive(Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) n_x: usize,
    pub(super) d: usize,
    pub(super) ell: usize,
    /// Items and bytes, for SVRPDA-I and for SVRPDA-II.
    pub(super) items: [Vec<(String, usize)>; 2],
}

/// What the paper says of an item, in numbers of 8 bytes.
pub(super) fn formula(
    item: &str,
    n_x: usize,
    d: usize,
    ell: usize,
    first: bool,
) -> Option<(&'static str, usize)> {
    Some(match item {
        "U" | "theta" | "theta_ref" | "delta_theta" => ("d", d),
        "f_bar" | "w" => ("n_X ell", n_x * ell),
        "jac_bar" if first => ("n_X d ell", n_x * d * ell),
        "jac_bar" => ("none", 0),
        "delta_w" => ("ell", ell),
        _ => return None,
    })
}

/// One piece.
pub(super) fn pieces() -> Vec<Piece<'static>> {
    vec![Piece::new(ID.to_owned(), 0, 0.5, || measure().map(Some))]
}

pub(super) fn stored(store: &Store) -> Result<Vec<Held>> {
    store.get(ID, 0)
}

fn measure() -> Result<Vec<Held>> {
    SIZES
        .iter()
        .map(|&(n_x, d, ell)| {
            let size = Size { d, ell, n_x, n_y: 2, shared: false };
            let problem = Problem {
                inner: Units::random(size, Shape::Line, 0.0, 1),
                merit: Square::new(0.5)?,
                regularizer: Ridge::from_weight(1.0)?,
            };
            let problem = problem.erased();
            let start = vec![0.0; d];
            let settings = Settings::choose(&Choice::default(), problem, &start)?;
            let items =
                [held(problem, &Svrpda1(settings.clone())), held(problem, &Svrpda2(settings))];
            Ok(Held { n_x, d, ell, items })
        })
        .collect()
}

fn held(problem: Objective<'_>, method: &impl Method<State = PrimalDual>) -> Vec<(String, usize)> {
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.0; problem.inner.d()]);
    method.outer(&mut oracle, &mut state);
    method.inner_steps(&mut oracle, &mut state, 10);
    state.items().into_iter().map(|(name, numbers)| (name.to_owned(), 8 * numbers)).collect()
}
