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
        let mut part = self.empty();
        let mut owed = 0.0;
        for piece in self.pieces() {
            owed += share * piece.len() as f64;
            if owed >= 0.5 * piece.len() as f64 || part.windows.is_empty() {
                owed -= piece.len() as f64;
                part.add(self, piece);
            }
        }
        part
    }

    /// The same language and width, and no steps.
    fn empty(&self) -> Sequences {
        Sequences {
            language: self.language.clone(),
            scales: self.scales.clone(),
            width: self.width,
            rows: Vec::new(),
            opens: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// Adds the steps of a piece of `from`.
    fn add(&mut self, from: &Sequences, piece: Range<usize>) {
        let order = self.language.order();
        for t in 0..piece.len() {
            let opens = t + order <= piece.len();
            if opens {
                self.windows.push(self.opens.len());
            }
            self.opens.push(if opens { 1.0 } else { 0.0 });
        }
        self.rows.extend_from_slice(from.rows_of(piece));
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

    #[test]
    fn a_part_has_windows_of_the_whole_and_of_no_two_sequences() {
        let language = LanguageModel::new(2, 3, &[0, 1, 0], &[1.0]).expect("a language");
        let lengths = [5, 2, 1000, 3, 700, 1, 40];
        let steps: usize = lengths.iter().sum();
        let rows: Vec<f64> = (0..steps).map(|t| t as f64).collect();
        let f = Sequences::new(1, &rows, &lengths, language).expect("steps");
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
                let step = |k: usize| part.rows[(t + k) * part.width] as usize;
                assert!(
                    whole.contains(&step(0)) && step(1) == step(0) + 1 && step(2) == step(0) + 2
                );
            }
        }
    }
}
