//! A part of the steps, for looks that need not be exact.

use std::ops::Range;

use super::Sequences;

/// Long sequences are cut into pieces of this many steps, so that a part is drawn from all over
/// them.
const PIECE: usize = 256;

impl Sequences {
    /// About `steps` steps in whole pieces of sequences, evenly spread; all of them if there are no
    /// more.
    pub(super) fn sample(&self, steps: usize) -> Sequences {
        if steps >= self.steps() {
            return self.clone();
        }
        let share = steps as f64 / self.steps() as f64;
        let (mut owed, mut any) = (0.0, false);
        let drawn = self.pieces().into_iter().filter(|piece| {
            owed += share * piece.len() as f64;
            let taken = owed >= 0.5 * piece.len() as f64 || !any;
            if taken {
                (owed, any) = (owed - piece.len() as f64, true);
            }
            taken
        });
        self.of_pieces(drawn)
    }

    /// The windows of these numbers alone.
    pub(super) fn of_windows(&self, numbers: impl Iterator<Item = Range<usize>>) -> Sequences {
        let last = self.language.order() - 1;
        // Windows that open at consecutive steps share these steps.
        let runs = numbers
            .flat_map(|windows| self.windows[windows].chunk_by(|now, next| now + 1 == *next));
        self.of_pieces(runs.map(|run| run[0]..run[run.len() - 1] + last + 1))
    }

    /// The steps of pieces alone, whose windows all lie within a sequence, in memory.
    fn of_pieces(&self, pieces: impl Iterator<Item = Range<usize>>) -> Sequences {
        let order = self.language.order();
        let (mut rows, mut opens, mut windows) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            for t in 0..piece.len() {
                let begins = t + order <= piece.len();
                if begins {
                    windows.push(opens.len());
                }
                opens.push(if begins { 1.0 } else { 0.0 });
            }
            self.with_rows(piece, |own| rows.extend_from_slice(own));
        }
        Sequences {
            language: self.language.clone(),
            scales: self.scales.clone(),
            width: self.width,
            rows: rows.into(),
            opens,
            windows,
        }
    }

    /// The sequences in pieces of at most [`PIECE`] steps and at least N.
    fn pieces(&self) -> Vec<Range<usize>> {
        let last = self.language.order() - 1;
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for &t in &self.windows {
            match pieces.last_mut() {
                // The window before this one opened a step earlier, in the same sequence.
                Some(piece) if piece.end == t + last && piece.len() < PIECE => piece.end += 1,
                _ => pieces.push(t..t + last + 1),
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::super::LanguageModel;
    use super::*;
    use crate::model::inner::{Inner, Passes, stretches};

    /// Averages over some windows, and their Jacobians, against those of single windows.
    #[test]
    fn some_terms_are_averaged_over_the_windows_that_stand_for_all() {
        let ngrams = [0, 0, 0, 1, 1, 2, 2, 0];
        let language = LanguageModel::new(3, 2, &ngrams, &[0.4, 0.3, 0.2, 0.1]).expect("bigrams");
        let lengths = [30, 1, 2, 45, 22];
        let rows: Vec<f64> = (0..200).map(|k| f64::from(k * k % 17) / 9.0 - 1.0).collect();
        let f = Sequences::new(2, rows, &lengths, language).expect("steps");
        let theta: Vec<f64> = (0..9).map(|k| f64::from(k * 5 % 7) / 7.0 - 0.4).collect();
        let terms = [0, 2, 3];
        for most in [16, 40, 64, usize::MAX] {
            let (mut means, mut jacobians) = (vec![0.0; 3], vec![0.0; 27]);
            f.means_of(&theta, &terms, most, &mut means, &mut jacobians).expect("no data lost");
            for (k, &i) in terms.iter().enumerate() {
                let all = f.n_y(i);
                let windows: Vec<usize> =
                    stretches(all, most).map_or((0..all).collect(), |js| js.flatten().collect());
                let (mut mean, mut jacobian) = (0.0, vec![0.0; 9]);
                for &j in &windows {
                    let (share, mut value) = (1.0 / windows.len() as f64, [0.0]);
                    f.value(&theta, i, j, &mut value);
                    mean += share * value[0];
                    f.add_jac_t(&theta, i, j, &[1.0], share, &mut jacobian);
                }
                assert!((means[k] - mean).abs() < 1e-12 * mean.abs(), "{} {mean}", means[k]);
                for (made, single) in jacobians[9 * k..].iter().zip(&jacobian) {
                    assert!((made - single).abs() < 1e-12, "{made} {single}");
                }
            }
        }
    }

    #[test]
    fn a_part_has_windows_of_the_whole_and_of_no_two_sequences() {
        let language = LanguageModel::new(2, 3, &[0, 1, 0], &[1.0]).expect("a language");
        let lengths = [5, 2, 1000, 3, 700, 1, 40];
        let steps: usize = lengths.iter().sum();
        let rows: Vec<f64> = (0..steps).map(|t| t as f64).collect();
        let f = Sequences::new(1, rows, &lengths, language).expect("steps");
        let whole: Vec<usize> = f.windows.clone();
        for asked in [1, 10, 300, 600, 1200, 1750, 9999] {
            let part = f.sample(asked);
            // Pieces of one sequence share their last steps; no window is in two of them.
            assert!(part.steps() <= asked + 2 * PIECE && !part.windows.is_empty());
            assert!(part.windows.len() <= whole.len());
            assert!(
                asked < 300 || part.steps() * 2 > asked.min(steps),
                "{asked}: {}",
                part.steps()
            );
            for &t in &part.windows {
                // The feature is the number of the step.
                let step = |k: usize| part.with_rows(t + k..t + k + 1, |row| row[0] as usize);
                assert!(
                    whole.contains(&step(0)) && step(1) == step(0) + 1 && step(2) == step(0) + 2
                );
            }
        }
    }
}
