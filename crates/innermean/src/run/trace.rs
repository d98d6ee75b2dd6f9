//! The records of a run that are kept: as many as have been agreed on, however long it takes.
//!
//! Of the records that come, every `stride`-th is kept. Where these are as many as there may be,
//! every second one is dropped and the stride doubles. So they lie evenly, and
//! which they are follows from the records alone. The first, the best and the last are always among
//! them.

use serde::{Deserialize, Serialize};

use super::Record;

/// Fewer would show no course.
const FEWEST: usize = 4;

/// Records, thinned as they come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Thinned {
    kept: Vec<Record>,
    /// Those so far, the dropped ones included.
    seen: u64,
    stride: u64,
    best: Option<Record>,
    last: Option<Record>,
}

impl Default for Thinned {
    fn default() -> Self {
        Thinned { kept: Vec::new(), seen: 0, stride: 1, best: None, last: None }
    }
}

impl Thinned {
    /// Takes up the next record; at most `most` are kept, and the best and the last beside them.
    pub(crate) fn push(&mut self, record: Record, most: usize) {
        if self.seen.is_multiple_of(self.stride) {
            if self.kept.len() >= most.max(FEWEST) {
                let mut number = 0;
                self.kept.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.kept.push(record);
            }
        }
        self.seen += 1;
        self.last = Some(record);
        if self.best.is_none_or(|best| record.objective < best.objective) {
            self.best = Some(record);
        }
    }

    pub(crate) fn last(&self) -> Option<&Record> {
        self.last.as_ref()
    }

    /// All that are kept, in their order.
    pub(crate) fn into_records(self) -> Vec<Record> {
        let mut records = self.kept;
        for other in [self.best, self.last].into_iter().flatten() {
            let place = records.partition_point(|record| record.inner < other.inner);
            if records.get(place).is_none_or(|record| record.inner != other.inner) {
                records.insert(place, other);
            }
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Measure;
    use crate::oracle::Calls;

    fn record(inner: u64, objective: f64) -> Record {
        Record {
            outer: inner,
            inner,
            calls: Calls::default(),
            rows: 0,
            seconds: 0.0,
            objective,
            optimality: None,
            gap: None,
            measure: Measure::None,
        }
    }

    #[test]
    fn few_are_all_there_and_of_many_the_first_the_best_and_the_last() {
        for most in [4, 7, 64] {
            for count in [1, 4, 5, 64, 65, 1000, 12_345] {
                let best = count / 3;
                let mut trace = Thinned::default();
                for k in 0..count {
                    trace.push(record(k, (k as f64 - best as f64).abs()), most);
                    assert!(trace.kept.len() <= most);
                    assert_eq!(trace.last().map(|last| last.inner), Some(k));
                }
                let kept: Vec<u64> =
                    trace.into_records().iter().map(|record| record.inner).collect();
                assert!(kept.windows(2).all(|pair| pair[0] < pair[1]), "{kept:?}");
                assert!(
                    [0, best, count - 1].iter().all(|k| kept.contains(k)),
                    "{most}, {count}: {kept:?}"
                );
                assert!(kept.len() >= (count as usize).min(most / 2) && kept.len() <= most + 2);
                if count as usize <= most {
                    assert_eq!(kept.len() as u64, count);
                }
            }
        }
    }
}
