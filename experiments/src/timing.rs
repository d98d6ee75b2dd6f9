//! Times as ratios: what is compared runs in turns within one run, so that a busy machine is busy
//! for all.

use std::time::Instant;

/// Seconds that `work` takes.
pub fn seconds<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// The median; NaN of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

/// Runs the contestants in turns, `rounds` times after one round that is not counted, and returns
/// the median seconds of each.
pub fn in_turns(rounds: usize, contestants: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
    for round in 0..=rounds {
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            let (seconds, ()) = seconds(contestant);
            if round > 0 {
                times.push(seconds);
            }
        }
    }
    times.into_iter().map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn contestants_take_turns() {
        let mut order = Vec::new();
        let log = std::cell::RefCell::new(&mut order);
        let times = in_turns(
            2,
            &mut [&mut || log.borrow_mut().push('a'), &mut || log.borrow_mut().push('b')],
        );
        assert_eq!((times.len(), order.iter().collect::<String>()), (2, "ababab".to_owned()));
    }
}
