//! Changes to the steps of SVRPDA-I that were tried and are not in the library, beside the same
//! steps without them: as plain as can be, each with the best of the same grid of steps.

use innermean::Objective;
use innermean::draws::Stream;

use super::contest::pass;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Algorithm 1, with duals renewed at each snapshot.
    Nothing,
    /// A snapshot after each step with probability 1/M; duals go on.
    Loopless,
    /// Katyusha: steps on z, queries at a mixture of z, x and the reference point.
    Katyusha,
    /// The reference point is the average of the iterates.
    Averages,
    /// Differences of Jacobians from one iterate to the next add up in U.
    Sarah,
    /// Samples of a term in turn, not at random.
    Turns,
    /// Terms by the norms of their mean Jacobians, half of the time.
    Norms,
    /// A step ahead before each step, with a correction of its own.
    Extragradient,
    /// Back to the average of the iterates where P is lower there (PDLP), looked up by a pass of f.
    Restarts,
    /// Steps in the distance of the entropy, on a simplex: `theta_l <- theta_l exp(-alpha v_l)`.
    Entropic,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 10] = [
        Change::Nothing,
        Change::Loopless,
        Change::Katyusha,
        Change::Averages,
        Change::Sarah,
        Change::Turns,
        Change::Norms,
        Change::Extragradient,
        Change::Restarts,
        Change::Entropic,
    ];

    /// For tables.
    pub fn word(self) -> &'static str {
        match self {
            Change::Nothing => "SVRPDA-I",
            Change::Loopless => "loopless",
            Change::Katyusha => "Katyusha",
            Change::Averages => "averages",
            Change::Sarah => "SARAH for U",
            Change::Turns => "j in turn",
            Change::Norms => "i by norms",
            Change::Extragradient => "extragradient",
            Change::Restarts => "restarts",
            Change::Entropic => "entropic",
        }
    }
}

/// Dual steps over c; see rule D of `docs/beyond.md`.
const DUAL: f64 = 0.3;
/// Katyusha's weights of the reference point and of z.
const MIXTURE: (f64, f64) = (0.5, 0.25);

struct Run<'p> {
    problem: Objective<'p>,
    n_x: usize,
    theta: Vec<f64>,
    theta_ref: Vec<f64>,
    w: Vec<f64>,
    f_bar: Vec<f64>,
    jac_bar: Vec<f64>,
    u: Vec<f64>,
    /// Probabilities of terms, added up; empty where all are alike
    chances: Vec<f64>,
    calls: f64,
}

impl<'p> Run<'p> {
    fn new(problem: Objective<'p>, start: &[f64]) -> Self {
        let (n_x, d) = (problem.inner.n_x(), problem.inner.d());
        Run {
            problem,
            n_x,
            theta: start.to_vec(),
            theta_ref: start.to_vec(),
            w: vec![0.0; n_x],
            f_bar: vec![0.0; n_x],
            jac_bar: vec![0.0; n_x * d],
            u: vec![0.0; d],
            chances: Vec::new(),
            calls: 0.0,
        }
    }

    /// Averages, Jacobians and U at theta.
    fn snapshot(&mut self, renew: bool) {
        let (f, d) = (self.problem.inner, self.theta.len());
        self.theta_ref.copy_from_slice(&self.theta);
        self.jac_bar.fill(0.0);
        let mut value = [0.0];
        for i in 0..self.n_x {
            let (n_y, own) = (f.n_y(i), i * d..(i + 1) * d);
            self.f_bar[i] = 0.0;
            for j in 0..n_y {
                f.value(&self.theta_ref, i, j, &mut value);
                self.f_bar[i] += value[0] / n_y as f64;
                let share = 1.0 / n_y as f64;
                f.add_jac_t(&self.theta_ref, i, j, &[1.0], share, &mut self.jac_bar[own.clone()]);
            }
            self.calls += 2.0 * n_y as f64;
            if renew {
                self.problem.merit.gradient(i, &[self.f_bar[i]], &mut value);
                self.w[i] = value[0];
                self.calls += 1.0;
            }
        }
        self.u.fill(0.0);
        for (row, w) in self.jac_bar.chunks_exact(d).zip(&self.w) {
            let c = w / self.n_x as f64;
            self.u.iter_mut().zip(row).for_each(|(u, x)| *u += c * x);
        }
    }

    /// The mean of `c_i |fbar_i'|^2`, and the largest `c_i`.
    fn units(&self) -> (f64, f64) {
        let (mut size, mut largest) = (0.0, 0.0_f64);
        for (i, row) in self.jac_bar.chunks_exact(self.theta.len()).enumerate() {
            let mut c = [0.0];
            self.problem.merit.hessian_diagonal(i..i + 1, &self.f_bar[i..=i], &mut c);
            size += c[0] * row.iter().map(|x| x * x).sum::<f64>() / self.n_x as f64;
            largest = largest.max(c[0]);
        }
        (size, largest)
    }

    /// Probabilities of terms by the norms of their Jacobians.
    fn weigh(&mut self) {
        let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let norms: Vec<f64> = self.jac_bar.chunks_exact(self.theta.len()).map(norm).collect();
        let (all, mut sum) = (norms.iter().sum::<f64>(), 0.0);
        let chance = |norm: &f64| 0.5 / norms.len() as f64 + 0.5 * norm / all;
        self.chances = norms
            .iter()
            .map(|norm| {
                sum += chance(norm);
                sum
            })
            .collect();
    }

    /// A term, and how much less likely it was than among equals.
    fn draw(&self, draws: &mut Stream) -> (usize, f64) {
        if self.chances.is_empty() {
            return (draws.index(self.n_x), 1.0);
        }
        let at = draws.unit();
        let i = self.chances.partition_point(|sum| *sum <= at).min(self.n_x - 1);
        let before = i.checked_sub(1).map_or(0.0, |k| self.chances[k]);
        (i, 1.0 / (self.n_x as f64 * (self.chances[i] - before)))
    }

    /// The next reference point, where it may be the average of the iterates.
    fn end(&mut self, change: Change, average: Vec<f64>) {
        let problem = self.problem;
        let goes_back = match change {
            Change::Averages => true,
            Change::Restarts => {
                self.calls += 0.5 * pass(problem) + self.n_x as f64;
                problem.objective(&average) < problem.objective(&self.theta)
            }
            _ => false,
        };
        if goes_back {
            self.theta = average;
        }
    }

    /// `out += (f'_at - f'_from) w_i` of a random pair.
    fn correct(&mut self, at: &[f64], from: &[f64], draws: &mut Stream, out: &mut [f64]) {
        let f = self.problem.inner;
        let (i, weight) = self.draw(draws);
        let j = draws.index(f.n_y(i));
        f.add_jac_t(at, i, j, &self.w[i..=i], weight, out);
        f.add_jac_t(from, i, j, &self.w[i..=i], -weight, out);
        self.calls += 2.0;
    }
}

/// Passes to a gap, at snapshots; none if not within `most`.
pub fn passes(
    (problem, start): (Objective<'_>, &[f64]),
    change: Change,
    (factor, epoch): (f64, usize),
    target: f64,
    most: f64,
) -> Option<f64> {
    let f = problem.inner;
    let (n_x, d) = (f.n_x(), f.d());
    let mut run = Run::new(problem, start);
    let mut streams: Vec<Stream> = (0..6).map(|k| Stream::new(1, 8000 + k)).collect();
    let mut turns = vec![0; n_x];
    let (mut first, mut alpha, mut alpha_w) = (true, 0.0, 0.0);
    loop {
        run.snapshot(first || change != Change::Loopless);
        if change == Change::Norms {
            run.weigh();
        }
        if first {
            let (size, largest) = run.units();
            (alpha, alpha_w) = (factor / size, DUAL * largest);
            first = false;
        }
        let objective = problem.objective(&run.theta);
        if objective <= target {
            return Some(run.calls / pass(problem));
        }
        if !objective.is_finite() || run.calls > most * pass(problem) {
            return None;
        }
        let (mut z, mut x) = (run.theta.clone(), run.theta.clone());
        let mut sum = vec![0.0; d];
        let mut before = run.theta.clone();
        let mut k = 0;
        loop {
            let at = if change == Change::Katyusha {
                let (reference, ahead) = MIXTURE;
                let mix = |l: usize| {
                    ahead * z[l] + reference * run.theta_ref[l] + (1.0 - ahead - reference) * x[l]
                };
                (0..d).map(mix).collect()
            } else if change == Change::Extragradient {
                let (mut direction, theta) = (run.u.clone(), run.theta.clone());
                let from = run.theta_ref.clone();
                run.correct(&theta, &from, &mut streams[4], &mut direction);
                let mut ahead = theta;
                problem.regularizer.step(alpha, &direction, &mut ahead);
                ahead
            } else {
                run.theta.clone()
            };
            // The dual step.
            let (i, _) = run.draw(&mut streams[0]);
            let j = if change == Change::Turns {
                turns[i] = (turns[i] + 1) % f.n_y(i);
                turns[i]
            } else {
                streams[1].index(f.n_y(i))
            };
            let (mut here, mut there) = ([0.0], [0.0]);
            f.value(&at, i, j, &mut here);
            f.value(&run.theta_ref, i, j, &mut there);
            run.calls += 2.0;
            let mut new = [alpha_w.mul_add(here[0] - there[0] + run.f_bar[i], run.w[i])];
            problem.merit.prox_conjugate(i, alpha_w, &mut new);
            let c = (new[0] - run.w[i]) / n_x as f64;
            run.w[i] = new[0];
            let row = &run.jac_bar[i * d..(i + 1) * d];
            run.u.iter_mut().zip(row).for_each(|(u, x)| *u += c * x);
            // The primal step.
            let mut direction = run.u.clone();
            let from = run.theta_ref.clone();
            if change == Change::Sarah {
                let mut u = std::mem::take(&mut run.u);
                run.correct(&at, &before, &mut streams[2], &mut u);
                direction.copy_from_slice(&u);
                run.u = u;
                before.copy_from_slice(&at);
            } else {
                run.correct(&at, &from, &mut streams[2], &mut direction);
            }
            if change == Change::Katyusha {
                let last = z.clone();
                problem.regularizer.step(alpha, &direction, &mut z);
                for l in 0..d {
                    x[l] = at[l] + MIXTURE.1 * (z[l] - last[l]);
                }
                run.theta.copy_from_slice(&x);
            } else if change == Change::Entropic {
                // A coordinate of a simplex is 1/d on average: steps of the same size.
                entropic(alpha * d as f64, &direction, &mut run.theta);
            } else {
                problem.regularizer.step(alpha, &direction, &mut run.theta);
            }
            sum.iter_mut().zip(&run.theta).for_each(|(sum, theta)| *sum += theta);
            k += 1;
            let ended =
                if change == Change::Loopless { streams[3].index(epoch) == 0 } else { k == epoch };
            if ended {
                break;
            }
        }
        for sum in &mut sum {
            *sum /= k as f64;
        }
        run.end(change, sum);
    }
}

/// A step along v on the simplex, in the distance of the entropy.
fn entropic(alpha: f64, v: &[f64], theta: &mut [f64]) {
    let least = v.iter().copied().fold(f64::INFINITY, f64::min);
    theta.iter_mut().zip(v).for_each(|(theta, v)| *theta *= (-alpha * (v - least)).exp());
    let sum: f64 = theta.iter().sum();
    for theta in theta.iter_mut() {
        *theta /= sum;
    }
}

/// The best of the grid: `alpha_theta` in units of the mean curvature of a term, M in samples.
pub fn best(of: (Objective<'_>, &[f64]), change: Change, target: f64, most: f64) -> Option<f64> {
    let f = of.0.inner;
    // Off the simplex there is no such step.
    if change == Change::Entropic && !of.0.regularizer.value(&vec![0.0; f.d()]).is_infinite() {
        return None;
    }
    let samples: usize = (0..f.n_x()).map(|i| f.n_y(i)).sum();
    let mut least = None;
    for factor in [0.02, 0.06, 0.2, 0.6] {
        for epoch in [samples / 4, samples / 2, samples] {
            let most = least.unwrap_or(most);
            let took = passes(of, change, (factor, epoch), target, most);
            least = took.filter(|took| *took < most).or(least);
        }
    }
    least
}
