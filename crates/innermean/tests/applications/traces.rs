//! Eligibility traces: LSTD(lambda) by its formula, and what is refused.

use innermean::draws::Stream;
use innermean::problems::transitions::END;
use innermean::{Fused, Inner, Moves, Mspbe, StateFeatures, Traces};

const STATES: usize = 6;
const D: usize = 3;
const DISCOUNT: f64 = 0.8;
/// Two episodes whose steps take turns, and a third.
const ORDER: [usize; 9] = [0, 2, 4, 1, 3, 5, 6, 7, 8];
const STARTS: [usize; 4] = [0, 3, 6, 9];

struct Log {
    rows: Vec<f64>,
    moves: Moves,
    ratios: Vec<f64>,
}

fn log() -> Log {
    let mut stream = Stream::new(5, 0);
    let mut uniform = || stream.unit();
    let rows: Vec<f64> = (0..STATES * D).map(|_| uniform() - 0.3).collect();
    let mut state = || (uniform() * STATES as f64) as u32;
    let from: Vec<u32> = (0..9).map(|_| state()).collect();
    let mut next: Vec<u32> = (0..9).map(|_| state()).collect();
    next[4] = END;
    let rewards = (0..9).map(|_| uniform()).collect();
    let weights = Some((0..9).map(|_| 0.5 + uniform()).collect());
    let ratios = (0..9).map(|_| 2.0 * uniform()).collect();
    Log { rows, moves: Moves { from, next, rewards, weights }, ratios }
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13 * (1.0 + b.abs()))
}

#[test]
fn a_and_b_are_sums_over_traces() {
    let Log { rows, moves, ratios } = log();
    let features = StateFeatures::Rows { d: D, rows: rows.clone() };
    for (lambda, ratios) in [(0.0, None), (0.7, None), (0.7, Some(&ratios[..])), (1.0, None)] {
        let traces = Traces { lambda, order: &ORDER, starts: &STARTS, ratios };
        let f = Mspbe::of_episodes(&features, &moves, DISCOUNT, &traces).unwrap();
        let weights = moves.weights.as_ref().unwrap();
        let total: f64 = weights.iter().sum();
        let psi = |s: u32, k: usize| if s == END { 0.0 } else { rows[s as usize * D + k] };
        let (mut a, mut b) = (vec![0.0; D * D], vec![0.0; D]);
        for episode in STARTS.windows(2) {
            let mut z = [0.0; D];
            for &t in &ORDER[episode[0]..episode[1]] {
                let ratio = ratios.map_or(1.0, |ratios| ratios[t]);
                for (k, z) in z.iter_mut().enumerate() {
                    *z = ratio * (DISCOUNT * lambda * *z + psi(moves.from[t], k));
                }
                for (k, z) in z.iter().enumerate() {
                    let weighted = weights[t] / total * z;
                    b[k] += weighted * moves.rewards[t];
                    for l in 0..D {
                        let step = psi(moves.from[t], l) - DISCOUNT * psi(moves.next[t], l);
                        a[k * D + l] += weighted * step;
                    }
                }
            }
        }
        assert!(close(f.a(), &a) && close(f.b(), &b), "lambda {lambda}");
        // The mean of f is b - A theta, and products agree with values.
        let theta = [0.3, -1.1, 0.7];
        let (mut mean, mut value, mut by_mean) = (vec![0.0; D], vec![0.0; D], vec![0.0; D]);
        for t in 0..9 {
            f.value(&theta, 0, t, &mut value);
            mean.iter_mut().zip(&value).for_each(|(mean, value)| *mean += value / 9.0);
        }
        f.mean(&theta, 0, &mut value, &mut by_mean);
        assert!(close(&mean, &by_mean), "lambda {lambda}");
        let w = [1.0, 0.5, -2.0];
        let (mut product, mut of_mean) = (vec![0.0; D], vec![0.0; D]);
        (0..9).for_each(|t| f.add_jac_t(&theta, 0, t, &w, 1.0 / 9.0, &mut product));
        f.add_mean_jac_t(&theta, 0, &w, 1.0, &mut of_mean);
        assert!(close(&product, &of_mean), "lambda {lambda}");
        if lambda == 0.0 {
            let plain = Mspbe::of_moves(&features, &moves, DISCOUNT).unwrap();
            assert!(close(f.a(), plain.a()) && close(f.b(), plain.b()));
        }
    }
}

#[test]
fn traces_that_make_no_sense_are_refused() {
    let Log { rows, moves, ratios } = log();
    let features = StateFeatures::Rows { d: D, rows };
    let good = Traces { lambda: 0.5, order: &ORDER, starts: &STARTS, ratios: Some(&ratios) };
    let refusal = |traces: Traces<'_>| {
        Mspbe::of_episodes(&features, &moves, DISCOUNT, &traces).unwrap_err().to_string()
    };
    let twice = [0, 0, 2, 3, 4, 5, 6, 7, 8];
    let huge = [f64::MAX; 9];
    for (traces, word) in [
        (Traces { lambda: 1.5, ..good }, "lambda"),
        (Traces { lambda: f64::NAN, ..good }, "lambda"),
        (Traces { order: &ORDER[..8], ..good }, "order"),
        (Traces { order: &twice, ..good }, "order"),
        (Traces { starts: &STARTS[..3], ..good }, "starts"),
        (Traces { starts: &[0, 5, 4, 9], ..good }, "starts"),
        (Traces { ratios: Some(&ratios[..8]), ..good }, "ratios"),
        (Traces { ratios: Some(&[-1.0; 9]), ..good }, "ratios"),
        (Traces { ratios: Some(&huge), ..good }, "ratios"),
    ] {
        let said = refusal(traces);
        assert!(said.contains(word), "{word}: {said}");
    }
}
