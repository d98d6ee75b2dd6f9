#![allow(missing_docs, clippy::all, clippy::pedantic, dead_code)]
use std::collections::BTreeMap;
use std::path::PathBuf;
use innermean::draws::Stream;
use innermean::inner::Inner;
use innermean::merit::Merit;
use innermean::regularizer::Regularizer;
use innermean::oracle::{snapshot_calls, Oracle};
use innermean::vector::{axpy, dot, norm_squared};
use innermean::{Driver, Method, Problem, Stop, Solution};
use innermean::problem::ErasedProblem;
use innermean_experiments::cases::{self, Case};
use innermean_experiments::timing::median;
use rayon::prelude::*;
use serde::{Serialize, Deserialize};

fn env(name: &str, default: f64) -> f64 { std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default) }

#[derive(Clone, Copy)]
struct Knobs { kappa1: f64, trust: f64, reset: bool, modes: usize, verbose: bool, trustpow: f64, over: f64, a_list: [f64; 5] , mmin: f64, minc: f64, over1: f64, fd: bool, qa: bool }

struct Auto<'p> { problem: &'p ErasedProblem<'p>, seed: u64, knobs: Knobs }

#[derive(Clone, Serialize, Deserialize)]
struct State {
    theta: Vec<f64>, theta_ref: Vec<f64>, w: Vec<f64>, f_bar: Vec<f64>, jac: Vec<f64>, u: Vec<f64>,
    s: [Stream; 4], alpha_theta: f64, alpha_w: f64, m: usize, outer: usize,
    best: (f64, Vec<f64>), last: [f64; 3], gap: f64, predicted: f64, trust: f64, cap: f64, floor: f64, q: f64, cm: f64, shares: Vec<(f64,f64)>,
}

/// eigenvalues and squared first components of a symmetric tridiagonal matrix
fn golub_welsch(diag: &[f64], off: &[f64]) -> Vec<(f64, f64)> {
    // Jacobi on dense k x k
    let k = diag.len();
    let mut a = vec![0.0; k * k];
    for i in 0..k { a[i * k + i] = diag[i]; if i + 1 < k { a[i * k + i + 1] = off[i]; a[(i + 1) * k + i] = off[i]; } }
    let mut z = vec![0.0; k]; if k > 0 { z[0] = 1.0; }
    for _ in 0..60 {
        let mut offsum = 0.0;
        for p in 0..k { for q in p + 1..k { offsum += a[p * k + q] * a[p * k + q]; } }
        let total: f64 = (0..k).map(|i| a[i * k + i].powi(2)).sum();
        if offsum <= 1e-28 * total { break; }
        for p in 0..k { for q in p + 1..k {
            let apq = a[p * k + q];
            if apq == 0.0 { continue; }
            let t = (a[q * k + q] - a[p * k + p]) / (2.0 * apq);
            let t = t.signum() / (t.abs() + (t * t + 1.0).sqrt());
            let t = if t == 0.0 { 1.0 } else { t };
            let c = 1.0 / (t * t + 1.0).sqrt(); let s = t * c;
            for i in 0..k { let (x, y) = (a[i * k + p], a[i * k + q]); a[i * k + p] = c * x - s * y; a[i * k + q] = s * x + c * y; }
            for i in 0..k { let (x, y) = (a[p * k + i], a[q * k + i]); a[p * k + i] = c * x - s * y; a[q * k + i] = s * x + c * y; }
            let (x, y) = (z[p], z[q]); z[p] = c * x - s * y; z[q] = s * x + c * y;
        } }
    }
    (0..k).map(|i| (a[i * k + i], z[i] * z[i])).collect()
}

/// Lanczos on g: modes (lambda, energy g_e^2) and x ~ H^-1 g
fn lanczos(h: &dyn Fn(&[f64], &mut [f64]), g: &[f64], most: usize) -> (Vec<(f64, f64)>, Vec<f64>) {
    let d = g.len();
    let norm = norm_squared(g).sqrt();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diag, mut off) = (Vec::new(), Vec::new());
    let mut v: Vec<f64> = g.iter().map(|x| x / norm).collect();
    let mut p = vec![0.0; d];
    let mut scale = 0.0f64;
    for _ in 0..most.min(d) {
        p.fill(0.0);
        h(&v, &mut p);
        let a = dot(&v, &p);
        scale = scale.max(a);
        diag.push(a);
        basis.push(v.clone());
        for b in &basis { let c = dot(b, &p); axpy(-c, b, &mut p); }
        for b in &basis { let c = dot(b, &p); axpy(-c, b, &mut p); }
        let b = norm_squared(&p).sqrt();
        if b <= 1e-10 * scale { break; }
        off.push(b);
        v = p.iter().map(|x| x / b).collect();
    }
    let k = diag.len();
    let modes: Vec<(f64, f64)> = golub_welsch(&diag, &off[..k - 1]).into_iter().map(|(l, z)| (l.max(1e-12 * scale), z * norm * norm)).collect();
    // solve T y = norm e1 by elimination, with a floor
    let mut c = vec![0.0; k]; let mut y = vec![0.0; k];
    let mut rhs = vec![0.0; k]; rhs[0] = norm;
    let mut piv = diag.clone();
    for i in 1..k { let f = off[i - 1] / piv[i - 1].max(1e-14 * scale); c[i] = f; piv[i] = (diag[i] - f * off[i - 1]).max(1e-14 * scale); rhs[i] -= f * rhs[i - 1]; }
    for i in (0..k).rev() { y[i] = (rhs[i] - if i + 1 < k { off[i] * y[i + 1] } else { 0.0 }) / piv[i]; }
    let mut x = vec![0.0; d];
    for (b, y) in basis.iter().zip(&y) { axpy(*y, b, &mut x); }
    (modes, x)
}

/// What is left of a mode's energy after m steps
fn left(alpha: f64, lambda: f64, beta: f64, n: f64, m: f64, over: f64) -> f64 {
    let gam = beta / n;
    let (r0, al) = (gam / 2.0, alpha * lambda);
    let disc = gam * gam / 4.0 - al * gam;
    if disc > 0.0 {
        let s = disc.sqrt().max(0.05 * gam);
        let r1 = (r0 - disc.sqrt()).max(0.0);
        let c = ((r0 + s - al) / (2.0 * s)).max(0.0).min(10.0);
        c * c * (-2.0 * r1 * m).exp()
    } else {
        let wd = (-disc).sqrt().max(0.1 * gam);
        let b = (r0 - al) / wd;
        (1.0 + over * b * b) * (-gam * m).exp()
    }
}

impl<'p> Auto<'p> {
    fn plan(&self, modes: &[(f64, f64)], gap: f64, noise: f64, trace: f64, cap: f64, trust: f64, snapshot: f64, step: f64, n: f64, over: f64) -> (f64, f64, usize, f64, f64) {
        let k = self.knobs;
        let mut best = (f64::INFINITY, 0.0, 0.0, 0usize, 0.0, 0.0);
        for e in 0..28 {
            let alpha = cap * 2f64.powf(-0.5 * e as f64);
            for a in k.a_list {
                let beta = a / (1.0 + a);
                let floor = trust * alpha * trace * noise / (4.0 * gap) * 2.0 / (2.0 - beta);
                if floor > 0.9 { continue; }
                let mut m = (k.mmin * n).max(1.0);
                for _ in 0..40 {
                    let decay: f64 = modes.iter().map(|(l, s)| s * left(alpha, *l, beta, n, m, over)).sum();
                    let c = decay + floor + k.minc;
                    if c < 0.95 {
                        let cost = (snapshot + step * m) / -c.ln();
                        if cost < best.0 { best = (cost, alpha, a, m as usize, c, floor); }
                    }
                    if decay < 0.1 * floor || step * m > 20.0 * snapshot + 40.0 * step * n { break; }
                    m *= 1.26;
                }
            }
        }
        (best.1, best.2, best.3, best.4, best.5)
    }
}

impl<'p, 'q> Method<&'q dyn Inner, innermean::merit::Borrowed<'q, dyn Merit + 'q>, &'q dyn Regularizer> for Auto<'p> {
    type State = State;
    fn init(&self, o: &mut Oracle<'_, &'q dyn Inner, innermean::merit::Borrowed<'q, dyn Merit + 'q>, &'q dyn Regularizer>, theta: &[f64]) -> State {
        let (d, n) = (o.d(), o.n_x());
        assert_eq!(o.ell(), 1);
        State { theta: theta.to_vec(), theta_ref: theta.to_vec(), w: vec![0.0; n], f_bar: vec![0.0; n], jac: vec![0.0; n * d], u: vec![0.0; d],
            s: [0, 1, 2, 3].map(|k| Stream::new(self.seed, k)), alpha_theta: 0.0, alpha_w: 0.0, m: 0, outer: 0,
            best: (f64::INFINITY, vec![0.0; d]), last: [f64::INFINITY; 3], gap: f64::NAN, predicted: f64::NAN, trust: self.knobs.trust, cap: 1.0, floor: 0.0, q: 1.0, cm: 1.0, shares: vec![] }
    }
    fn outer(&self, o: &mut Oracle<'_, &'q dyn Inner, innermean::merit::Borrowed<'q, dyn Merit + 'q>, &'q dyn Regularizer>, s: &mut State) {
        let p = self.problem;
        let f = p.inner;
        let (d, n) = (f.d(), f.n_x());
        let k = self.knobs;
        loop {
            s.theta_ref.copy_from_slice(&s.theta);
            let w = s.w.clone();
            let finite = s.theta.iter().all(|t| t.is_finite());
            let mut objective = f64::INFINITY;
            if finite {
                o.snapshot(&s.theta_ref, &w, &mut s.f_bar, &mut s.u);
                o.calls.merit += n as u64;
                objective = p.loss(&s.f_bar) + p.regularizer.value(&s.theta_ref);
            }
            let worst = s.last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if s.outer > 0 && !(objective <= worst) {
                if k.verbose { println!("  BACK {objective} worst {worst}"); }
                s.theta = s.best.1.clone();
                s.trust *= 4.0; s.cap *= 0.25;
                s.predicted = f64::NAN;
                s.last = [f64::INFINITY; 3];
                s.last[0] = f64::INFINITY;
                s.best.0 = f64::INFINITY;
                continue;
            }
            s.last.rotate_left(1); s.last[2] = objective;
            if s.outer == 0 { s.last = [objective; 3]; s.last[0]=f64::INFINITY; }
            if objective < s.best.0 { s.best = (objective, s.theta.clone()); }
            break;
        }
        let theta = s.theta_ref.clone();
        if s.outer == 0 || !o.affine() { f.mean_jacobians(&theta, &mut s.jac); }
        // gradient
        let mut fresh = vec![0.0; n];
        p.duals(&s.f_bar, &mut fresh);
        let mut g = vec![0.0; d];
        for i in 0..n { axpy(fresh[i] / n as f64, &s.jac[i * d..(i + 1) * d], &mut g); }
        if k.reset || s.outer == 0 || !s.predicted.is_finite() { s.w.copy_from_slice(&fresh); s.u.copy_from_slice(&g); }
        let (lambda, tilt) = p.regularizer.quadratic(d).unwrap();
        axpy(lambda, &theta, &mut g); axpy(1.0, &tilt, &mut g);
        // curvatures
        let c: Vec<f64> = (0..n).map(|i| p.merit.curvature(i, &s.f_bar[i..i + 1]).unwrap_or(1.0 / p.merit.gamma())).collect();
        let c: Vec<f64> = if k.fd && p.merit.square_weight().is_none() { (0..n).map(|i| {
            let h = 1e-4 * (1.0 + s.f_bar[i].abs()).min(1.0);
            let (mut x, mut y) = ([0.0], [0.0]);
            p.merit.gradient(i, &[s.f_bar[i] + h], &mut x); p.merit.gradient(i, &[s.f_bar[i] - h], &mut y);
            let v = (x[0] - y[0]) / (2.0 * h);
            if v.is_finite() && v >= 0.0 { v.min(c[i].max(0.0)) } else { c[i] }
        }).collect() } else { c };
        let cmax = c.iter().copied().fold(0.0, f64::max);
        let li: Vec<f64> = (0..n).map(|i| c[i] * norm_squared(&s.jac[i * d..(i + 1) * d])).collect();
        let trace = li.iter().sum::<f64>() / n as f64;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| li[*b].total_cmp(&li[*a]));
        let mut draws = 0.0f64;
        for &t in order.iter().take(8) {
            let v = &s.jac[t * d..(t + 1) * d];
            let (mut x, mut y) = (0.0, 0.0);
            for i in 0..n { let q = c[i] * dot(v, &s.jac[i * d..(i + 1) * d]).powi(2); x += q; y += q * li[i]; }
            if x > 0.0 { draws = draws.max(y / x); }
        }
        // modes
        let stride = (n / (512.max(4 * d))).max(1);
        let jac = &s.jac;
        let count = n.div_ceil(stride) as f64;
        let h = |v: &[f64], out: &mut [f64]| {
            for i in (0..n).step_by(stride) { let row = &jac[i * d..(i + 1) * d]; axpy(c[i] * dot(row, v) / count, row, out); }
            axpy(lambda, v, out);
        };
        let (modes, x) = lanczos(&h, &g, k.modes);
        let gap: f64 = modes.iter().map(|(l, e)| e / (2.0 * l)).sum();
        let shares0: Vec<(f64, f64)> = modes.iter().map(|(l, e)| (*l, e / (2.0 * l) / gap)).collect();
        // noise along x
        let mut noise = 0.0;
        let terms = n.min(64);
        let mut single = vec![0.0; d];
        for t in 0..terms {
            let i = t * n / terms;
            let mean = dot(&s.jac[i * d..(i + 1) * d], &x);
            let samples = f.n_y(i).min(64);
            let mut sum = 0.0;
            for m in 0..samples {
                single.fill(0.0);
                f.add_jac_t(&theta, i, m * f.n_y(i) / samples, &[1.0], 1.0, &mut single);
                sum += (dot(&single, &x) - mean).powi(2);
            }
            noise += c[i] * sum / samples as f64 / terms as f64;
        }
        let measured = gap / s.gap;
        if s.predicted.is_finite() {
            let ratio = (measured / s.predicted).clamp(0.1, 10.0);
            let decay = s.predicted - s.floor - k.minc;
            let by_floor = s.floor > decay;
            if k.qa && !by_floor {
                // rates: the q for which the modes leave what was measured
                let beta = s.alpha_w / s.cm; let beta = beta / (1.0 + beta);
                let of = |q: f64| s.floor + s.shares.iter().map(|(l, e)| e * left(s.alpha_theta, l * q, beta, n as f64, s.m as f64, 0.0)).sum::<f64>();
                let (mut lo, mut hi) = (0.01f64, 10.0f64);
                for _ in 0..30 { let mid = (lo * hi).sqrt(); if of(mid) > measured { lo = mid; } else { hi = mid; } }
                let q = (lo * hi).sqrt();
                s.q = (s.q * q.clamp(0.1, 3.0).powf(k.trustpow)).clamp(1e-3, 1.0);
            } else {
            s.trust = (s.trust * ratio.powf(k.trustpow)).clamp(1e-2, 1e4);
            }
        }
        let shares: Vec<(f64,f64)> = shares0.iter().map(|(l, e)| (l * s.q, *e)).collect();
        s.shares = shares.clone(); s.cm = cmax;
        let cap = s.cap * k.kappa1 / (draws.max(1e-300));
        let snap = snapshot_calls(&f).total() as f64 + n as f64;
        let step = if o.affine() { 2.0 } else { 4.0 };
        let (al, a, m, c_pred, floor) = self.plan(&shares, gap, noise, trace, cap, s.trust, snap, step, n as f64, if s.outer==0 || !s.predicted.is_finite() {k.over1} else {k.over});
        let ok = al > 0.0;
        s.alpha_theta = if ok { al } else { cap * 1e-2 };
        s.alpha_w = cmax * if ok { a } else { 1.0 };
        s.m = if ok { m } else { 4 * n };
        if k.verbose {
            println!("  outer {} gap {gap:.3e} measured {measured:.4} predicted {:.4} (floor {:.4}) trust {:.3} q {:.3} | alpha*max {:.4} alpha*draws {:.4} a {:.3} M/n {:.2} noise {:.3} lmin {:.2e} lmax {:.2e} calls {}", s.outer, s.predicted, s.floor, s.trust, s.q,
                s.alpha_theta * li[order[0]], s.alpha_theta * draws, s.alpha_w / cmax, s.m as f64 / n as f64, trace * noise / (4.0 * gap * draws),
                modes.iter().map(|m| m.0).fold(f64::INFINITY, f64::min) / trace, modes.iter().map(|m| m.0).fold(0.0, f64::max) / trace, o.calls.total());
        }
        s.predicted = if ok { c_pred } else { f64::NAN };
        s.floor = floor;
        s.gap = gap;
        s.outer += 1;
    }
    fn inner_iterations(&self, s: &State) -> usize { s.m }
    fn inner(&self, o: &mut Oracle<'_, &'q dyn Inner, innermean::merit::Borrowed<'q, dyn Merit + 'q>, &'q dyn Regularizer>, s: &mut State) {
        let d = o.d();
        let i = s.s[0].index(o.n_x());
        let j = s.s[1].index(o.n_y(i));
        let (mut delta, mut work) = ([0.0], [0.0]);
        o.difference(&s.theta, &s.theta_ref, i, j, &mut work, &mut delta);
        delta[0] = s.w[i] + s.alpha_w * (delta[0] + s.f_bar[i]);
        o.prox_conjugate(i, s.alpha_w, &mut delta);
        let change = delta[0] - s.w[i];
        s.w[i] = delta[0];
        axpy(change * o.one_over_n_x(), &s.jac[i * d..(i + 1) * d], &mut s.u);
        if o.affine() { o.primal_step(s.alpha_theta, &s.u, &mut s.theta); return; }
        let i = s.s[2].index(o.n_x());
        let j = s.s[3].index(o.n_y(i));
        let mut dir = s.u.clone();
        o.add_jac_t_difference(&s.theta, &s.theta_ref, i, j, &s.w[i..i + 1], &mut dir);
        o.primal_step(s.alpha_theta, &dir, &mut s.theta);
    }
    fn theta<'s>(&self, s: &'s State) -> &'s [f64] { &s.theta }
}

fn run(case: &Case, target: f64, most: u64, seed: u64, knobs: Knobs) -> f64 {
    let problem = case.problem();
    let driver = Driver { stop: Stop { max_outer: None, max_calls: Some(most), max_seconds: None, target_objective: Some(target), tolerance: None }, ..Driver::default() };
    let method = Auto { problem: &problem, seed, knobs };
    let s: Solution = driver.run(&problem, &method, &case.start, &mut ());
    if s.objective <= target { s.calls.total() as f64 } else { f64::INFINITY }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let what = args.get(1).map_or("mgl", String::as_str);
    let filter = args.get(2).cloned().unwrap_or_default();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/portfolio");
    let mut all: Vec<Case> = Vec::new();
    if what.contains('p') { all.extend(cases::portfolios(&folder).unwrap().into_iter().step_by(6)); }
    if what.contains('m') { all.extend(cases::processes(18)); }
    if what.contains('g') { all.extend(cases::groups()); }
    if what.contains('l') { all.extend(cases::logistic()); }
    if what.contains('b') { all.push(cases::proportions(100, 20000, 20, true, false, 1)); all.push(cases::proportions(100, 20000, 20, true, true, 1)); }
    let known: BTreeMap<String, (f64, [f64; 3])> = std::fs::read("/tmp/h5-steps-known.json").ok().and_then(|t| serde_json::from_slice(&t).ok()).unwrap_or_default();
    let verbose = env("V", 0.0) > 0.0;
    let knobs = Knobs { kappa1: env("K1", 0.5), trust: env("TRUST", 1.0), reset: env("RESET", 0.0) > 0.0, modes: env("MODES", 20.0) as usize, verbose, trustpow: env("TP", 0.5), over: env("OVER", 0.0), a_list: [0.25, 0.5, 1.0, 2.0, 8.0], mmin: env("MMIN", 1.0), minc: env("MINC", 0.01), over1: env("OVER1", 0.0), fd: env("FD", 1.0)>0.0, qa: env("QA", 1.0)>0.0 };
    all.retain(|c| c.name.contains(&filter));
    let mut out: Vec<(String, f64, f64)> = all.par_iter().map(|case| {
        let key = format!("{:?} {}", case.family, case.name);
        let (_, target) = case.target(1e-6);
        let best = known.get(&key).map_or(f64::NAN, |b| b.0);
        let most = if best.is_nan() { 300_000_000 } else { (30.0 * best) as u64 };
        let seeds = if verbose { 1 } else { 5 };
        let runs: Vec<f64> = (11..11 + seeds).map(|s| run(case, target, most, s, knobs)).collect();
        let med = median(runs.clone());
        println!("{key:45} best {best:10.0} auto {med:10.0} ratio {:.2} ({:.2} {:.2}) passes {:.1}", med / best, runs.iter().copied().fold(f64::INFINITY, f64::min) / best, runs.iter().copied().fold(0.0, f64::max) / best, med / snapshot_calls(&case.problem().inner).total() as f64);
        (format!("{:?}", case.family), med / best, med)
    }).collect();
    out.sort_by(|a, b| a.0.cmp(&b.0));
    for family in ["Portfolio", "Mdp", "Groups", "Logistic"] {
        let r: Vec<f64> = out.iter().filter(|x| x.0 == family && x.1.is_finite()).map(|x| x.1).collect();
        let bad = out.iter().filter(|x| x.0 == family && x.1 == f64::INFINITY).count();
        if !r.is_empty() { println!("{family}: median {:.2} worst {:.2} failed {bad}", median(r.clone()), r.iter().copied().fold(0.0, f64::max)); }
    }
}
