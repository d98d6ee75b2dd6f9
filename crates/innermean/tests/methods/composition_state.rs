//! The states of the methods that step along gradients of the composition: no inner step allocates,
//! and one that went through a file continues bit for bit.

use crate::allocations::allocations;

use crate::support::toy::{Affine, SoftplusUnits};
use innermean::methods::{asc_pg::AscPg, ascvrg::Ascvrg, c_saga::CSaga, comp_svrg1::CompSvrg1};
use innermean::methods::{comp_svrg2::CompSvrg2, scgd::Scgd, vrsc_pg::VrscPg};
use innermean::shared::{Picked, shared_form};
use innermean::{
    AnyRegularizer, L1, Method, Objective, Oracle, Portfolio, Problem, Ridged, Simplex, Square,
    Unregularized,
};
use innermean_data::generate_factor_model;

const OUTER: usize = 4;

/// Four outer iterations without an allocation in a step, the state written and read back before
/// the steps in `cuts`; what comes out.
fn run<'p, M: Method>(
    name: &str,
    problem: impl Into<Objective<'p>>,
    method: &M,
    cuts: &[(usize, usize)],
) -> Vec<u64> {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    for outer in 0..OUTER {
        method.outer(&mut oracle, &mut state);
        for k in 0..method.inner_iterations(&state) {
            if cuts.contains(&(outer, k)) {
                let bytes = postcard::to_stdvec(&state).expect("a state serialises");
                state = postcard::from_bytes(&bytes).expect("and comes back");
            }
            let count = allocations(|| method.inner(&mut oracle, &mut state));
            assert_eq!(count, 0, "{name}: allocations in step {k} of loop {outer}");
        }
    }
    let bits = method.theta(&state).iter().map(|t| t.to_bits());
    bits.chain([oracle.calls.total(), oracle.rows]).collect()
}

fn check<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) {
    let problem = problem.into();
    let whole = run(name, problem, method, &[]);
    assert!(f64::from_bits(whole[0]) != 0.1, "{name}: theta has moved");
    assert_eq!(run(name, problem, method, &[(0, 0), (1, 3), (2, 0), (3, 2)]), whole, "{name}");
}

fn check_all<'p>(name: &str, problem: impl Into<Objective<'p>>) {
    let problem = problem.into();
    let alpha_theta = 1e-4;
    let seed = 3;
    check(
        name,
        problem,
        &CompSvrg1 { alpha_theta, inner_iterations: 60, batch: 6, guarded: false, seed },
    );
    let (batch, jacobian_batch) = (3, 2);
    check(
        name,
        problem,
        &CompSvrg2 {
            alpha_theta,
            inner_iterations: 60,
            batch,
            jacobian_batch,
            guarded: false,
            seed,
        },
    );
    check(
        name,
        problem,
        &Ascvrg { alpha_theta, inner_iterations: 60, batch, jacobian_batch, guarded: false, seed },
    );
    let vrsc = VrscPg {
        alpha_theta,
        inner_iterations: 20,
        batch,
        jacobian_batch,
        outer_batch: 5,
        guarded: false,
        seed,
    };
    check(name, problem, &vrsc);
    let form = shared_form(problem.inner).expect("equally many samples");
    let merit = Picked::new(form, problem.merit, problem.inner.ell());
    let shared = Objective { inner: merit.form(), merit: &merit, ..problem };
    check(name, shared, &Scgd { alpha_theta, averaging: 0.5, guarded: false, seed });
    check(name, shared, &AscPg { alpha_theta, averaging: 0.5, guarded: false, seed });
    for outer_batch in [None, Some(3)] {
        check(name, shared, &CSaga { alpha_theta, batch: 2, outer_batch, guarded: false, seed });
    }
}

#[test]
fn no_step_allocates_and_a_state_from_a_file_continues_bit_for_bit() {
    let square = Square::new(1.0).expect("a weight");
    let any: [AnyRegularizer; 3] =
        [Unregularized.into(), L1::new(0.1).expect("a weight").into(), Simplex.into()];
    for g in any {
        let portfolio = Portfolio::new(7, generate_factor_model(40, 7, 1).values)
            .and_then(|f| f.problem(square, Ridged::new(g, 0.1)?))
            .expect("a portfolio");
        check_all(&format!("portfolio, {g:?}"), &portfolio);
    }
    let g = Ridged::new(any[0], 1.0).expect("a weight");
    let affine =
        Problem { inner: Affine::random(4, 2, 9, |_| 12, 1), merit: square, regularizer: g };
    check_all("affine, ell = 2", &affine);
    let softplus =
        Problem { inner: SoftplusUnits::random(4, 9, |_| 12, 1), merit: square, regularizer: g };
    check_all("not affine", &softplus);
}
