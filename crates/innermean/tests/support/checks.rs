//! What every method must do, whatever it is.

use innermean::{Calls, Method, Objective, Oracle};

/// The calls of the start, and of each of three outer iterations: (at its head, in its steps).
pub(crate) fn calls<'p, M: Method>(
    problem: impl Into<Objective<'p>>,
    method: &M,
) -> (Calls, Vec<(Calls, Calls)>) {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    let start = oracle.calls;
    let outers = (0..3)
        .map(|_| {
            let before = oracle.calls;
            method.outer(&mut oracle, &mut state);
            let between = oracle.calls;
            for _ in 0..method.inner_iterations(&state) {
                method.inner(&mut oracle, &mut state);
            }
            (between - before, oracle.calls - between)
        })
        .collect();
    (start, outers)
}

pub(crate) fn counted(f: usize, jacobian: usize, merit: usize) -> Calls {
    Calls { f: f as u64, jacobian: jacobian as u64, merit: merit as u64 }
}

/// Runs three outer iterations, whole and with the state written and read between two steps, and
/// compares bit for bit.
pub(crate) fn resumes<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) {
    let problem = problem.into();
    let run = |cut: Option<usize>| {
        let mut oracle = Oracle::new(problem);
        let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
        let mut steps = 0;
        for _ in 0..3 {
            method.outer(&mut oracle, &mut state);
            for _ in 0..method.inner_iterations(&state) {
                if cut == Some(steps) {
                    let bytes = postcard::to_stdvec(&state).unwrap();
                    state = postcard::from_bytes(&bytes).unwrap();
                }
                method.inner(&mut oracle, &mut state);
                steps += 1;
            }
        }
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        (steps, bits(method.theta(&state)), method.duals(&state).map(bits))
    };
    let whole = run(None);
    assert!(whole.1.iter().any(|&bits| f64::from_bits(bits) != 0.1), "{name} moves");
    for cut in [0, 1, whole.0 / 2, whole.0 - 1] {
        assert_eq!(run(Some(cut)), whole, "{name}, cut at step {cut} of {}", whole.0);
    }
}
