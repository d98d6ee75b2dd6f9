//! A problem of your own, instrumental variables: demand is 3 - 2 price + a shock, and the price
//! answers to the shock, so that plain least squares is wrong. Over the days with one value of the
//! instrument, the shock averages out. See docs/adding-a-problem.md.

use innermean::{CheckOptions, Inner, Problem, Square, Unregularized};
use innermean::{Facts, check_problem, draws::Stream};

/// `demand - theta_0 - theta_1 price` on day j of those with value i of the instrument.
struct Days(Vec<Vec<[f64; 2]>>);

impl Inner for Days {
    fn d(&self) -> usize {
        2
    }
    fn n_x(&self) -> usize {
        self.0.len()
    }
    fn n_y(&self, i: usize) -> usize {
        self.0[i].len()
    }
    fn facts(&self) -> Facts {
        Facts::affine()
    }
    fn value(&self, theta: &[f64], i: usize, j: usize, out: &mut [f64]) {
        let [price, demand] = self.0[i][j];
        out[0] = demand - theta[0] - theta[1] * price;
    }
    fn add_jac_t(&self, _: &[f64], i: usize, j: usize, w: &[f64], c: f64, out: &mut [f64]) {
        out[0] -= c * w[0];
        out[1] -= c * w[0] * self.0[i][j][0];
    }
}

/// The closed form, two-stage least squares: the mean demands regressed on the mean prices.
fn two_stages(days: &[Vec<[f64; 2]>]) -> [f64; 2] {
    let mean = |x: &[[f64; 2]], k: usize| x.iter().map(|x| x[k]).sum::<f64>() / x.len() as f64;
    let points: Vec<[f64; 2]> = days.iter().map(|own| [mean(own, 0), mean(own, 1)]).collect();
    let [x, y] = [mean(&points, 0), mean(&points, 1)];
    let moment = |k: usize| points.iter().map(|p| (p[0] - x) * (p[k] - [x, y][k])).sum::<f64>();
    let slope = moment(1) / moment(0);
    [y - slope * x, slope]
}

pub(crate) fn main() {
    let mut draws = Stream::new(7, 0);
    let mut day = |instrument: f64| {
        let shock = 2.0 * draws.unit() - 1.0;
        let price = instrument + shock;
        [price, 3.0 - 2.0 * price + 2.0 * shock]
    };
    let days: Vec<Vec<_>> = (0..5).map(|i| (0..500).map(|_| day(f64::from(i))).collect()).collect();
    let [x, y] = two_stages(&days);
    let square = Square::new(1.0).expect("a weight above 0");
    let problem = Problem { inner: Days(days), merit: square, regularizer: Unregularized };
    check_problem(&problem, &CheckOptions::default()).assert_ok();
    let solution = innermean::solve(&problem, &[0.0; 2]).expect("numbers of ordinary size");
    let [a, b] = solution.theta[..] else { panic!() };
    println!("demand = {a:.4} {b:+.4} price, in closed form {x:.4} {y:+.4}");
    assert!((a - x).abs() < 1e-4 && (b - y).abs() < 1e-4);
}
