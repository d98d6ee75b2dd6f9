//! `check_problem` says of everything that is wrong what it is.

use super::check_problem::market;
use innermean::check::Part;
use innermean::*;

/// What is wrong with f.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slip {
    None,
    NoSamples,
    Adds,
    Unwritten,
    Sign,
    Factor,
    Overwrites,
    ForgetsC,
    Transposed,
    OneCoordinate,
    NoProduct,
    MeanNotDivided,
    MeanProductTwice,
    MeansShifted,
    SnapshotForgetsNx,
    WeightedOverwrites,
    Difference,
    SaysAffine,
    SaysShared,
    Bound,
    Random,
}

/// `f_theta(x_i, y_ij) = (theta_0 theta_1 y_ij, exp(theta_1) + y_ij theta_0)`, with a slip.
struct Sloppy {
    y: Vec<Vec<f64>>,
    slip: Slip,
    asked: std::sync::atomic::AtomicUsize,
}

impl Sloppy {
    fn new(slip: Slip) -> Self {
        let y = vec![vec![1.0, 2.0, 0.5], vec![-1.0, 3.0], vec![0.7], vec![1.0, 2.0, 3.0, 4.0]];
        Sloppy { y, slip, asked: 0.into() }
    }
}

impl Inner for Sloppy {
    fn d(&self) -> usize {
        2
    }
    fn ell(&self) -> usize {
        2
    }
    fn n_x(&self) -> usize {
        4
    }
    fn n_y(&self, i: usize) -> usize {
        if self.slip == Slip::NoSamples && i == 2 { 0 } else { self.y[i].len() }
    }
    fn facts(&self) -> Facts {
        let sample = if self.slip == Slip::SaysShared { Sample::Shared } else { Sample::Own };
        let says_affine = self.slip == Slip::SaysAffine;
        if says_affine { Facts::affine() } else { Facts::default() }.with_sample(sample)
    }
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let y = self.y[i][j];
        let (a, b) = (theta[0] * theta[1] * y, theta[1].exp() + y * theta[0]);
        match self.slip {
            Slip::Adds => {
                out[0] += a;
                out[1] += b;
            }
            Slip::Unwritten => out[0] = a,
            Slip::Random => {
                let asked = self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                out.copy_from_slice(&[a + asked as f64, b]);
            }
            _ => out.copy_from_slice(&[a, b]),
        }
    }
    fn add_jac_t(&self, theta: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let y = self.y[i][j];
        // f' is d x ell: rows by theta.
        let rows = [[theta[1] * y, y], [theta[0] * y, theta[1].exp()]];
        let c = if self.slip == Slip::ForgetsC { 1.0 } else { c };
        for l in 0..2 {
            let mut term = c * (rows[l][0] * w[0] + rows[l][1] * w[1]);
            match self.slip {
                Slip::Sign => term = -term,
                Slip::Factor => term *= 2.0,
                Slip::Transposed => term = c * (rows[0][l] * w[0] + rows[1][l] * w[1]),
                Slip::OneCoordinate if l == 1 => term += c * w[1],
                Slip::NoProduct => term = 0.0,
                Slip::Overwrites => out[l] = 0.0,
                _ => {}
            }
            out[l] += term;
        }
    }

    fn passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }
}

impl Fused for Sloppy {
    fn f(&self) -> &dyn Inner {
        self
    }

    fn difference(
        &self,
        a: &[f64],
        b: &[f64],
        i: usize,
        j: usize,
        work: &mut [f64],
        out: &mut [f64],
    ) {
        let (first, second) = if self.slip == Slip::Difference { (b, a) } else { (a, b) };
        self.value(first, i, j, out);
        self.value(second, i, j, work);
        out.iter_mut().zip(work).for_each(|(out, work)| *out -= *work);
    }

    fn mean(&self, theta: &[f64], i: usize, work: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        let n_y = if self.slip == Slip::MeanNotDivided { 1.0 } else { self.n_y(i) as f64 };
        for j in 0..self.n_y(i) {
            self.value(theta, i, j, work);
            out.iter_mut().zip(&*work).for_each(|(out, v)| *out += v / n_y);
        }
    }

    fn add_mean_jac_t(&self, theta: &[f64], i: usize, w: &[f64], c: f64, out: &mut [f64]) {
        let n_y = self.n_y(i) as f64;
        let share = if self.slip == Slip::MeanProductTwice { 1.0 / (n_y * n_y) } else { 1.0 / n_y };
        for j in 0..self.n_y(i) {
            self.add_jac_t(theta, i, j, w, c * share, out);
        }
    }
}

impl Passes for Sloppy {
    fn bounds(&self) -> Bounds {
        Bounds { b_f: (self.slip == Slip::Bound).then_some(0.1), ..Bounds::default() }
    }

    fn means(&self, theta: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        for i in 0..4 {
            let from = if self.slip == Slip::MeansShifted { (i + 1) % 4 } else { i };
            self.mean(theta, from, &mut [0.0; 2], &mut out[2 * i..2 * i + 2]);
        }
        Ok(())
    }

    fn add_weighted_jac_t(&self, theta: &[f64], w: &[f64], out: &mut [f64]) -> Result<(), Lost> {
        if self.slip == Slip::WeightedOverwrites {
            out.fill(0.0);
        }
        for i in 0..4 {
            self.add_mean_jac_t(theta, i, &w[2 * i..2 * i + 2], 0.25, out);
        }
        Ok(())
    }

    fn snapshot(
        &self,
        theta: &[f64],
        w: &[f64],
        f_bar: &mut [f64],
        u: &mut [f64],
    ) -> Result<(), Lost> {
        self.means(theta, f_bar).unwrap();
        u.fill(0.0);
        self.add_weighted_jac_t(theta, w, u).unwrap();
        if self.slip == Slip::SnapshotForgetsNx {
            for u in u {
                *u *= 4.0;
            }
        }
        Ok(())
    }
}

#[test]
fn slips_in_f_are_named() {
    let says = |slip: Slip| {
        let problem = Problem {
            inner: Sloppy::new(slip),
            merit: Square::new(1.0).unwrap(),
            regularizer: Unregularized,
        };
        check_problem(&problem, &CheckOptions::default())
    };
    assert!(says(Slip::None).is_ok(), "{}", says(Slip::None));
    let cases: [(Slip, &str, &str); 20] = [
        (Slip::NoSamples, "n_y", "n_y(2) is 0"),
        (Slip::Adds, "value", "adds to out"),
        (Slip::Unwritten, "value", "leaves coordinate 1 of out unwritten"),
        (Slip::Random, "value", "asked twice; is it random?"),
        (
            Slip::Sign,
            "add_jac_t",
            "has the opposite sign of what differences of value give: a sign?",
        ),
        (Slip::Factor, "add_jac_t", "is 2 times what differences of value give: a factor?"),
        (Slip::Overwrites, "add_jac_t", "overwrites out instead of adding"),
        (Slip::ForgetsC, "add_jac_t", "leaves out the factor c"),
        (Slip::Transposed, "add_jac_t", "transpose of what differences of value give"),
        (Slip::OneCoordinate, "add_jac_t", "in coordinate 1, where differences of value give"),
        (Slip::NoProduct, "add_jac_t", "is zero where differences of value give"),
        (Slip::Difference, "difference", "has the opposite sign"),
        (
            Slip::MeanNotDivided,
            "mean",
            "is n_y = 3 times what the average of its values is: a division by n_y left out?",
        ),
        (Slip::MeanProductTwice, "add_mean_jac_t", "divided by n_y once too often?"),
        (Slip::MeansShifted, "means", "where the average of its values is"),
        (Slip::SnapshotForgetsNx, "snapshot", "is n_x = 4 times what"),
        (Slip::WeightedOverwrites, "add_weighted_jac_t", "overwrites out instead of adding"),
        (Slip::SaysAffine, "structure", "structure says affine, but f half-way"),
        (Slip::SaysShared, "structure", "n_y(0) is 3 and n_y(1) is 2"),
        (Slip::Bound, "bounds", "bounds says b_f = 0.1, but it is at least"),
    ];
    for (slip, call, words) in cases {
        let report = says(slip);
        let first = report.findings.first().unwrap_or_else(|| panic!("{slip:?} was not found"));
        assert_eq!((first.part, first.call), (Part::Inner, call), "{slip:?}: {report}");
        assert!(first.message.contains(words), "{slip:?}: {report}");
        assert!(!report.is_ok() && report.to_string().contains(words));
        println!("{first}");
    }
}

/// `phi(u) = u^2`, with a slip: what it says wrong is one of its numbers.
#[derive(Clone, Copy)]
struct Wrong {
    value: fn(f64) -> f64,
    slope: fn(f64) -> f64,
    conjugate: fn(f64) -> f64,
    prox: fn(f64, f64) -> f64,
    curvature: f64,
    steepest: f64,
}

impl ScalarMerit for Wrong {
    fn phi(&self, _: usize, u: f64) -> f64 {
        (self.value)(u)
    }
    fn slope(&self, _: usize, u: f64) -> f64 {
        (self.slope)(u)
    }
    fn phi_star(&self, _: usize, w: f64) -> f64 {
        (self.conjugate)(w)
    }
    fn prox_phi_star(&self, _: usize, alpha: f64, w: f64) -> f64 {
        (self.prox)(alpha, w)
    }
    fn max_curvature(&self) -> f64 {
        self.curvature
    }
    fn max_slope(&self) -> f64 {
        self.steepest
    }
}

#[test]
fn slips_in_phi_are_named() {
    let right = Wrong {
        value: |u| u * u,
        slope: |u| 2.0 * u,
        conjugate: |w| w * w / 4.0,
        prox: |alpha, w| w / (1.0 + alpha / 2.0),
        curvature: 2.0,
        steepest: f64::INFINITY,
    };
    let says = |merit: Wrong| {
        check_problem(
            &Problem { inner: market(), merit, regularizer: Unregularized },
            &CheckOptions::default(),
        )
    };
    assert!(says(right).is_ok(), "{}", says(right));
    let cases: [(Wrong, &str, &str); 9] = [
        (
            Wrong { slope: |u| u, ..right },
            "gradient",
            "is 0.5 times what differences of value give",
        ),
        (Wrong { slope: |u| -2.0 * u, ..right }, "gradient", "has the opposite sign"),
        (Wrong { conjugate: |w| w * w, ..right }, "conjugate", "it is 4 times that"),
        (Wrong { conjugate: |w| -w * w / 4.0, ..right }, "conjugate", "a sign?"),
        // The slip of the authors' published script.
        (
            Wrong { prox: |alpha, w| w / (1.0 + 2.0 * alpha), ..right },
            "prox_conjugate",
            "which should be w",
        ),
        (Wrong { prox: |_, w| w / 1.5, ..right }, "prox_conjugate", "is alpha left out?"),
        (Wrong { curvature: 1.0, ..right }, "gamma", "gamma is 1, but slopes change by"),
        (Wrong { steepest: 0.01, ..right }, "lipschitz", "lipschitz is 0.01"),
        (Wrong { value: |u| -u * u, slope: |u| -2.0 * u, ..right }, "value", "is not convex"),
    ];
    for (merit, call, words) in cases {
        let report = says(merit);
        let found = report.findings.iter().find(|finding| finding.call == call);
        let found = found.unwrap_or_else(|| panic!("{call}, {words}: {report}"));
        assert!(found.part == Part::Merit && found.message.contains(words), "{call}: {report}");
        println!("{found}");
    }
}

/// `g = |theta|_1`, with a slip.
#[derive(Clone, Copy)]
struct Shrinks {
    prox: fn(f64, f64) -> f64,
    conjugate: fn(f64) -> f64,
    mu: f64,
    quadratic: bool,
    step: f64,
}

impl Regularizer for Shrinks {
    fn value(&self, theta: &[f64]) -> f64 {
        theta.iter().map(|t| t.abs()).sum()
    }
    fn prox(&self, alpha: f64, theta: &mut [f64]) {
        for t in theta {
            *t = (self.prox)(alpha, *t);
        }
    }
    fn step(&self, alpha: f64, direction: &[f64], theta: &mut [f64]) {
        theta.iter_mut().zip(direction).for_each(|(t, d)| *t -= self.step * alpha * d);
        self.prox(alpha, theta);
    }
    fn conjugate(&self, v: &[f64]) -> f64 {
        v.iter().map(|v| (self.conjugate)(*v)).sum()
    }
    fn mu(&self) -> f64 {
        self.mu
    }
    fn quadratic(&self, d: usize) -> Option<(f64, Vec<f64>)> {
        self.quadratic.then(|| (1.0, vec![0.0; d]))
    }
}

#[test]
fn slips_in_g_are_named() {
    let right = Shrinks {
        prox: |alpha, t| t - t.clamp(-alpha, alpha),
        conjugate: |v| if v.abs() <= 1.0 + 1e-12 { 0.0 } else { f64::INFINITY },
        mu: 0.0,
        quadratic: false,
        step: 1.0,
    };
    let says = |regularizer: Shrinks| {
        let merit = Square::new(1.0).unwrap();
        check_problem(&Problem { inner: market(), merit, regularizer }, &CheckOptions::default())
    };
    assert!(says(right).is_ok(), "{}", says(right));
    let cases: [(Shrinks, &str, &str); 7] = [
        (Shrinks { prox: |_, t| t - t.clamp(-0.5, 0.5), ..right }, "prox", "is alpha left out?"),
        (Shrinks { prox: |_, t| t, ..right }, "prox", "it changes nothing"),
        (
            Shrinks { prox: |alpha, t| t - t.clamp(-2.0 * alpha, 2.0 * alpha), ..right },
            "prox",
            "another point is better",
        ),
        (Shrinks { conjugate: |v| v * v / 2.0, ..right }, "conjugate", "at a subgradient"),
        (Shrinks { mu: 1.0, ..right }, "mu", "mu is 1, but between two points"),
        (Shrinks { quadratic: true, ..right }, "quadratic", "quadratic says lambda = 1"),
        (Shrinks { step: -1.0, ..right }, "step", "the prox of theta - alpha direction gives"),
    ];
    for (regularizer, call, words) in cases {
        let report = says(regularizer);
        let found = report.findings.iter().find(|finding| finding.call == call);
        let found = found.unwrap_or_else(|| panic!("{call}, {words}: {report}"));
        assert!(
            found.part == Part::Regularizer && found.message.contains(words),
            "{call}: {report}"
        );
        println!("{found}");
    }
}

#[test]
#[should_panic(expected = "adds to out")]
fn assert_ok_panics_with_the_findings() {
    let problem = Problem {
        inner: Sloppy::new(Slip::Adds),
        merit: Square::new(1.0).unwrap(),
        regularizer: Unregularized,
    };
    check_problem(&problem, &CheckOptions::default()).assert_ok();
}
