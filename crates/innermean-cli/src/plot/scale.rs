//! From numbers to places along an axis, and the ticks on it.

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Division {
    /// Equal differences are equally far.
    Linear,
    /// Equal ratios are equally far.
    Log,
}

/// An axis from `lo` to `hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub(crate) division: Division,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// A place on an axis; only those with a label are numbers to be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<String>,
}

/// The smallest ratio of an axis' ends: a curve that does not move still gets a decade.
const LEAST_RATIO: f64 = 10.0;

impl Scale {
    /// From zero to a little more than the largest of `values`.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let hi = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        Scale { division: Division::Linear, lo: 0.0, hi: if hi > 0.0 { 1.02 * hi } else { 1.0 } }
    }

    /// Around all of `values` that are above zero.
    pub(crate) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (lo, hi) = values
            .filter(|value| value.is_finite() && *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| (lo.min(value), hi.max(value)));
        let (lo, hi) = if lo <= hi { (lo, hi) } else { (0.1, 1.0) };
        Scale { division: Division::Log, lo, hi: hi.max(LEAST_RATIO * lo) }
    }

    /// As [`Self::log`], from a power of ten to a power of ten. If some values are zero or below,
    /// there is room below for them.
    pub(crate) fn decades(values: impl Iterator<Item = f64> + Clone) -> Self {
        let zeros = values.clone().any(|value| value <= 0.0);
        let Scale { lo, hi, .. } = Scale::log(values);
        let (mut low, high) = ((lo.log10() + 1e-9).floor(), (hi.log10() - 1e-9).ceil());
        if zeros && lo.log10() < low + 0.3 {
            low -= 1.0;
        }
        Scale {
            division: Division::Log,
            lo: 10_f64.powf(low),
            hi: 10_f64.powf(high.max(low + 1.0)),
        }
    }

    /// 0 at `lo`, 1 at `hi`. What cannot be shown is at the lower end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let Scale { division, lo, hi } = *self;
        match division {
            Division::Linear => (value - lo) / (hi - lo),
            Division::Log if value > 0.0 => (value / lo).ln() / (hi / lo).ln(),
            Division::Log => 0.0,
        }
    }

    /// Ticks, of which about `most` have labels.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        match self.division {
            Division::Linear => self.linear_ticks(most),
            Division::Log => self.log_ticks(most),
        }
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let rough = (self.hi - self.lo) / most.max(1) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|step| *step >= 0.999 * rough);
        let step = step.unwrap_or(rough);
        let (first, last) =
            ((self.lo / step - 1e-9).ceil() as i64, (self.hi / step + 1e-9).floor() as i64);
        let values = (first..=last).map(|k| k as f64 * step);
        values.map(|value| Tick { value, label: Some(amount(value)) }).collect()
    }

    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let (low, high) = (self.lo.log10() - 1e-9, self.hi.log10() + 1e-9);
        let decades = (low.ceil() as i32)..=(high.floor() as i32);
        let count = decades.clone().count() as f64;
        let every = [1, 2, 3, 4, 5, 8, 10, 20, 50]
            .into_iter()
            .find(|every| (count / f64::from(*every)).ceil() <= most as f64);
        let every: i32 = every.unwrap_or(100);
        let mut ticks = Vec::new();
        for k in decades {
            let label = (k.rem_euclid(every) == 0).then(|| power_of_ten(k));
            ticks.push(Tick { value: 10_f64.powi(k), label });
        }
        if ticks.iter().filter(|tick| tick.label.is_some()).count() < 2 {
            // Within a decade or two: 1, 2 and 5 of each.
            ticks.clear();
            for k in low.floor() as i32..=high.ceil() as i32 {
                for m in [1.0, 2.0, 5.0] {
                    let value = m * 10_f64.powi(k);
                    if (low..=high).contains(&value.log10()) {
                        ticks.push(Tick { value, label: Some(amount(value)) });
                    }
                }
            }
        }
        ticks
    }
}

/// 2.5M, 300k, 0.05
pub(crate) fn amount(value: f64) -> String {
    let size = value.abs();
    let (unit, letter) = match size {
        _ if size >= 1e12 => (1e12, "T"),
        _ if size >= 1e9 => (1e9, "G"),
        _ if size >= 1e6 => (1e6, "M"),
        _ if size >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    if size != 0.0 && size < 1e-3 {
        return format!("{value:e}");
    }
    // Six digits are more than ticks have, and leave out what rounding adds.
    let text = format!("{:.6}", value / unit);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.replace('-', "−") + letter
}

/// 10⁻⁸
fn power_of_ten(k: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match k {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        _ => {
            let sign = if k < 0 { "⁻" } else { "" };
            let digits = k.unsigned_abs().to_string();
            let digits: String =
                digits.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect();
            format!("10{sign}{digits}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let linear = Scale { division: Division::Linear, lo: 0.0, hi: 4.1e6 };
        assert_eq!(labels(&linear, 5), ["0", "1M", "2M", "3M", "4M"]);
        let log = Scale { division: Division::Log, lo: 1e-10, hi: 10.0 };
        assert_eq!(labels(&log, 6), ["10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"]);
        assert_eq!(log.ticks(6).len(), 12);
        let narrow = Scale { division: Division::Log, lo: 20_000.0, hi: 210_000.0 };
        assert_eq!(labels(&narrow, 6), ["20k", "50k", "100k", "200k"]);
    }

    #[test]
    fn places_run_from_0_to_1_and_what_is_not_above_zero_stands_at_the_floor() {
        let values = [0.5, 3e-7, 0.0, -1e-20, f64::NAN, f64::INFINITY];
        let scale = Scale::decades(values.into_iter());
        assert_eq!((scale.lo, scale.hi), (1e-7, 1.0));
        assert!((scale.place(1e-7)).abs() < 1e-12 && (scale.place(1.0) - 1.0).abs() < 1e-12);
        assert_eq!((scale.place(0.0), scale.place(-1.0)), (0.0, 0.0));
        // Zeros do not hide behind the smallest of the others.
        assert_eq!(Scale::decades([1.0, 1e-7, 0.0].into_iter()).lo, 1e-8);
        for odd in [vec![], vec![0.0], vec![f64::NAN], vec![3.0], vec![3.0, 3.0]] {
            for scale in [
                Scale::decades(odd.iter().copied()),
                Scale::log(odd.iter().copied()),
                Scale::from_zero(odd.iter().copied()),
            ] {
                assert!(scale.lo < scale.hi && scale.place(3.0).is_finite(), "{odd:?}: {scale:?}");
                assert!(
                    !labels(&scale, 5).is_empty() && labels(&scale, 5).len() < 9,
                    "{odd:?}: {scale:?}"
                );
            }
        }
    }
}
