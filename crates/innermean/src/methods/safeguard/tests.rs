use super::*;

/// A run whose gap falls by `rate(tempo)` for each of 100 calls, from a gap of 1 above an
/// objective of 3.
fn run(noise: Noise, looks: usize, rate: impl Fn(Tempo) -> f64) -> (Safeguard, f64) {
    let mut guard = Safeguard::new(noise);
    let mut gap = 1.0_f64;
    for look in 0..looks {
        let objective = 3.0 + gap;
        let seen = Seen { objective, magnitude: objective };
        if guard.judge(seen, &[gap], 100 * look as u64) == Verdict::GoBack {
            gap = guard.best()[0];
        }
        gap *= (-rate(guard.tempo())).exp();
    }
    (guard, gap)
}

/// Progress like `x (2 - x)` for steps of x times `1/L`, which diverge from 2 on.
fn descent(best: f64) -> impl Fn(Tempo) -> f64 {
    move |tempo| {
        let x = tempo.steps / best;
        0.1 * x * (2.0 - x)
    }
}

#[test]
fn steps_that_are_a_thousand_times_too_large_are_found_out() {
    let (guard, gap) = run(Noise::Vanishes, 200, descent(1e-3));
    assert!((1e-4..2e-3).contains(&guard.tempo().steps), "{:?}", guard.tempo());
    assert!(gap < 1e-3, "{gap}");
}

#[test]
fn steps_that_are_too_small_grow() {
    let (guard, _) = run(Noise::Vanishes, 120, descent(50.0));
    assert!((12.0..100.0).contains(&guard.tempo().steps), "{:?}", guard.tempo());
    let (guard, _) = run(Noise::Stays, 60, descent(50.0));
    assert!(guard.tempo().steps > 12.0, "{:?}", guard.tempo());
}

#[test]
fn steps_that_are_right_stay_so() {
    let (guard, gap) = run(Noise::Vanishes, 100, descent(1.0));
    assert!((0.5..=1.0).contains(&guard.tempo().steps), "{:?}", guard.tempo());
    assert!(gap < (-7.0_f64).exp(), "{gap}");
}

#[test]
fn what_is_not_finite_goes_back_to_the_best_point() {
    let mut guard = Safeguard::new(Noise::Stays);
    let seen = |objective: f64| Seen { objective, magnitude: objective };
    assert_eq!(guard.judge(seen(1.0), &[1.0], 0), Verdict::GoOn);
    assert_eq!(guard.judge(seen(0.5), &[2.0], 10), Verdict::GoOn);
    assert_eq!(guard.judge(Seen::NOT_FINITE, &[f64::NAN], 20), Verdict::GoBack);
    assert_eq!(
        (guard.best(), guard.tempo().steps, guard.tempo().returns),
        (&[2.0][..], BLOWN_UP, 1)
    );
    assert_ne!(guard.tempo().seed(7), 7);
}

/// Noise around an optimum that is reached is no reason for anything.
#[test]
fn rounding_says_nothing() {
    let mut guard = Safeguard::new(Noise::Vanishes);
    for look in 0..100 {
        let objective = 1.0 + 1e-13 * f64::from(look % 7);
        let verdict = guard.judge(Seen { objective, magnitude: 1.0 }, &[0.0], look as u64);
        assert_eq!(verdict, Verdict::GoOn);
    }
    assert_eq!(guard.tempo(), Tempo::RULE);
}
