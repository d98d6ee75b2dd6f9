//! Dev.
use innermean::{AnyMethod, Choice, Driver, Inner, Listed, Stop, Svrpda1};
use innermean_experiments::groups::{Shape, draw};
use innermean_experiments::timing::in_turns;
use std::io::Write;

fn write(path: &str, numbers: &[f64]) {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for x in numbers {
        file.write_all(&x.to_le_bytes()).unwrap();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n = |k: usize| args[k].parse::<usize>().unwrap();
    let shape = Shape { groups: n(1), rows: n(2), width: n(3), scaled: args[4] == "scaled" };
    let (problem, start) = draw(shape, 1);
    let d = problem.inner.d();
    let f = &problem.inner;
    if args.len() > 5 && args[5].starts_with('/') {
        let groups = f.groups();
        let x: Vec<f64> = (0..groups.rows()).flat_map(|r| groups.row(r).to_vec()).collect();
        write(&format!("{}/x.f64", args[5]), &x);
        write(&format!("{}/q.f64", args[5]), problem.merit.proportions());
        write(&format!("{}/start.f64", args[5]), &start);
    }
    let n_x = f.n_x();
    let mut f_bar = vec![0.0; n_x];
    let mut f_bar2 = vec![0.0; n_x];
    let w2 = vec![0.1; n_x];
    let mut g = vec![0.0; d];
    let mut u = vec![0.0; d];
    let mut u2 = vec![0.0; d];
    let mut jac = vec![0.0; n_x * d];
    let times = in_turns(
        5,
        &mut [
            &mut || f.means(&start, &mut f_bar),
            &mut || f.add_weighted_jac_t(&start, &w2, &mut u),
            &mut || f.snapshot(&start, &w2, &mut f_bar2, &mut u2),
            &mut || f.mean_jacobians(&start, &mut jac),
            &mut || {
                problem.gradient(&start, &mut g);
            },
        ],
    );
    println!(
        "means {:.1} ms, weighted {:.1}, snapshot {:.1}, jacobians {:.1}, gradient {:.1}",
        times[0] * 1e3,
        times[1] * 1e3,
        times[2] * 1e3,
        times[3] * 1e3,
        times[4] * 1e3
    );
    // The optimum
    let stop = Stop { tolerance: Some(1e-11), max_outer: Some(2000), ..Stop::default() };
    let erased = problem.erased();
    let m = AnyMethod::named("lbfgs", &Choice::default(), &erased, &start).unwrap();
    let best = m.run(&Driver { stop, ..Driver::default() }, &erased, &start, &mut ());
    println!("optimum {} {} {}", best.objective, best.status, best.outer);
    let gap: f64 = if shape.scaled { 1e-8 } else { 1e-6 };
    let target = best.objective + gap * best.objective.abs();
    let pass = (shape.groups * shape.rows) as f64;
    let lbfgs_time;
    {
        let t0 = std::time::Instant::now();
        let m = AnyMethod::named("lbfgs", &Choice::default(), &erased, &start).unwrap();
        let setup = t0.elapsed().as_secs_f64();
        let stop = Stop {
            tolerance: None,
            target_objective: Some(target),
            max_outer: Some(200),
            max_seconds: Some(60.0),
            ..Stop::default()
        };
        let s = m.run(&Driver { stop, ..Driver::default() }, &erased, &start, &mut ());
        lbfgs_time = s.seconds;
        println!(
            "lbfgs: {} {:.3} s + setup {:.3}, outer {} inner {} rows/pass {:.2} gap {:.1e}",
            s.status,
            s.seconds,
            setup,
            s.outer,
            s.inner,
            s.rows as f64 / pass,
            (s.objective - best.objective) / best.objective.abs()
        );
    }
    for spec in &args[6..] {
        let v: Vec<f64> = spec.split(',').map(|x| x.parse().unwrap()).collect();
        let choice = Choice {
            alpha_theta: Some(v[0]),
            alpha_w: Some(v[1]),
            inner_iterations: Some((v[2] * n_x as f64) as usize),
            batch: Some(v[3] as usize),
            outer_batch: v.get(4).map(|x| *x as usize),
            ..Choice::default()
        };
        let choice = if v[0] == 0.0 {
            Choice {
                batch: Some(v[3] as usize),
                outer_batch: v.get(4).map(|x| *x as usize),
                ..Choice::default()
            }
        } else {
            choice
        };
        let m = Svrpda1::choose(&choice, &problem, &start).unwrap();
        let stop = Stop {
            tolerance: None,
            target_objective: Some(target),
            max_outer: Some(200),
            max_seconds: Some(20.0),
            ..Stop::default()
        };
        let s = Driver { stop, ..Driver::default() }.run(&problem, &m, &start, &mut ());
        print!(
            "svrpda1 {spec} ({:.2e},{:.2e},{}): {} {:.3} s = {:.2} lbfgs, outer {} inner {} rows/pass {:.2} gap {:.1e};",
            m.0.alpha_theta,
            m.0.alpha_w,
            m.0.inner_iterations,
            s.status,
            s.seconds,
            s.seconds / lbfgs_time,
            s.outer,
            s.inner,
            s.rows as f64 / pass,
            (s.objective - best.objective) / best.objective.abs()
        );
        for r in &s.trace {
            print!(" {:.0e}", (r.objective - best.objective) / best.objective.abs());
        }
        println!();
    }
}
