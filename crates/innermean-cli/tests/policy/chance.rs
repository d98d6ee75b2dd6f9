//! Random numbers, the same on every machine, and a direct solver to compare with.

/// `SplitMix64` (Steele, Lea and Flood 2014).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// Uniform in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    /// Mean 0, variance 1: a sum of twelve uniform numbers.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// `A x = b` by Gaussian elimination with pivots.
pub(super) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("rows");
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (above, below) = a.split_at_mut(i);
            for (lower, upper) in below[0][k..].iter_mut().zip(&above[k][k..]) {
                *lower -= factor * upper;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// `sum_t left_t right_t' x = sum_t left_t target_t`
pub(super) struct Sums {
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
}

impl Sums {
    pub(super) fn new(d: usize) -> Self {
        Sums { a: vec![vec![0.0; d]; d], b: vec![0.0; d] }
    }

    pub(super) fn add(&mut self, left: &[f64], right: &[f64], target: f64) {
        for ((row, b), left) in self.a.iter_mut().zip(&mut self.b).zip(left) {
            row.iter_mut().zip(right).for_each(|(sum, right)| *sum += left * right);
            *b += left * target;
        }
    }

    pub(super) fn solve(self) -> Vec<f64> {
        solve(self.a, self.b)
    }
}
