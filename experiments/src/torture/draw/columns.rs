//! Tables of numbers, of every kind that makes trouble.

use innermean::draws::Stream;
use serde::Serialize;

/// What is the matter with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conditioning {
    /// Nothing: normal numbers.
    Ordinary,
    /// A column is another one, or a sum of others, but for a part in `1e4` to `1e12`.
    Collinear,
    /// A column stands twice.
    Duplicate,
    /// A column is constant.
    Constant,
    /// Columns in units from `1e-9` to `1e9`.
    MixedUnits,
    /// Cauchy's distribution.
    HeavyTails,
    /// Fewer rows than columns.
    Wide,
    /// Columns that lie 1e3 to 1e8 deviations from zero.
    Offset,
    /// All numbers in a unit from `1e-12` to `1e-5`.
    Tiny,
    /// All numbers in a unit from `1e5` to `1e12`.
    Huge,
    /// Classes that a line parts, targets that a line meets.
    Separable,
    /// Of portfolios: a return that no risk pays for.
    Unbounded,
}

impl Conditioning {
    /// All of them.
    pub const ALL: [Conditioning; 12] = [
        Conditioning::Ordinary,
        Conditioning::Collinear,
        Conditioning::Duplicate,
        Conditioning::Constant,
        Conditioning::MixedUnits,
        Conditioning::HeavyTails,
        Conditioning::Wide,
        Conditioning::Offset,
        Conditioning::Tiny,
        Conditioning::Huge,
        Conditioning::Separable,
        Conditioning::Unbounded,
    ];

    /// In a word or two.
    pub fn title(self) -> &'static str {
        match self {
            Conditioning::Ordinary => "ordinary",
            Conditioning::Collinear => "collinear",
            Conditioning::Duplicate => "duplicate",
            Conditioning::Constant => "constant",
            Conditioning::MixedUnits => "mixed units",
            Conditioning::HeavyTails => "heavy tails",
            Conditioning::Wide => "n < d",
            Conditioning::Offset => "offset",
            Conditioning::Tiny => "tiny",
            Conditioning::Huge => "huge",
            Conditioning::Separable => "separable",
            Conditioning::Unbounded => "unbounded",
        }
    }
}

/// Draws of one problem.
pub struct Dice(Stream);

impl Dice {
    /// Those of problem `number` under `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        Dice(Stream::new(seed, number))
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.index(n)
    }

    /// A whole number from `lo` to `hi`.
    pub fn between(&mut self, lo: usize, hi: usize) -> usize {
        lo + self.below(hi - lo + 1)
    }

    /// True so often.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of these.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A normal number.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) =
            ((-2.0 * (1.0 - self.unit()).ln()).sqrt(), std::f64::consts::TAU * self.unit());
        radius * angle.cos()
    }

    /// 10 to a power between these.
    pub fn power(&mut self, lo: f64, hi: f64) -> f64 {
        10.0_f64.powf(lo + (hi - lo) * self.unit())
    }
}

/// n and d for it.
pub fn size(dice: &mut Dice, conditioning: Conditioning, most: (usize, usize)) -> (usize, usize) {
    let least = if matches!(conditioning, Conditioning::Collinear | Conditioning::Duplicate) {
        2
    } else {
        1
    };
    let d = dice.between(least, most.1);
    if conditioning == Conditioning::Wide {
        let d = d.max(3);
        return (dice.between(2, d - 1), d);
    }
    (dice.between(2.max(d.min(3)), most.0), d)
}

/// n rows of d numbers.
pub fn table(dice: &mut Dice, conditioning: Conditioning, n: usize, d: usize) -> Vec<f64> {
    let cauchy = conditioning == Conditioning::HeavyTails;
    let mut rows: Vec<f64> = (0..n * d)
        .map(|_| {
            if cauchy { (std::f64::consts::PI * (dice.unit() - 0.5)).tan() } else { dice.normal() }
        })
        .collect();
    let column = dice.below(d);
    let other = (column + dice.between(1, d.max(2) - 1)) % d;
    match conditioning {
        Conditioning::Collinear => {
            let (part, several) =
                (10.0_f64.powi(-dice.of(&[4, 6, 8, 9, 10, 11, 12])), dice.chance(0.4));
            for row in rows.chunks_exact_mut(d) {
                let sum: f64 =
                    row.iter().enumerate().filter(|(l, _)| *l != column).map(|(_, x)| x).sum();
                let like = if several { sum } else { row[other] };
                row[column] = like + part * row[column];
            }
        }
        Conditioning::Duplicate => {
            for row in rows.chunks_exact_mut(d) {
                row[column] = row[other];
            }
        }
        Conditioning::Constant => {
            let value = dice.of(&[0.0, 1.0, 5.3, -0.1, 1e4, 1e-3]);
            rows.iter_mut().skip(column).step_by(d).for_each(|x| *x = value);
        }
        Conditioning::MixedUnits => {
            for l in 0..d {
                let unit = dice.power(-9.0, 9.0);
                rows.iter_mut().skip(l).step_by(d).for_each(|x| *x *= unit);
            }
        }
        Conditioning::Offset => {
            for l in 0..d {
                let offset = if dice.chance(0.3) { 0.0 } else { dice.power(3.0, 8.0) };
                rows.iter_mut().skip(l).step_by(d).for_each(|x| *x += offset);
            }
        }
        Conditioning::Tiny | Conditioning::Huge => {
            let power = dice.power(5.0, 12.0);
            let unit = if conditioning == Conditioning::Tiny { 1.0 / power } else { power };
            for x in &mut rows {
                *x *= unit;
            }
        }
        Conditioning::Ordinary
        | Conditioning::HeavyTails
        | Conditioning::Wide
        | Conditioning::Separable
        | Conditioning::Unbounded => {}
    }
    rows
}

/// Scores of rows that some coefficients make, of size 1 or so whatever the units of the columns.
pub fn scores(dice: &mut Dice, rows: &[f64], d: usize) -> Vec<f64> {
    let n = rows.len() / d;
    let mut scores = vec![0.0; n];
    for l in 0..d {
        let column = || rows.iter().skip(l).step_by(d);
        let mean = column().sum::<f64>() / n as f64;
        let size = column().map(|x| (x - mean).abs()).sum::<f64>() / n as f64;
        let weight = dice.normal();
        if size > 0.0 {
            scores.iter_mut().zip(column()).for_each(|(s, x)| *s += weight * ((x - mean) / size));
        }
    }
    scores
}
