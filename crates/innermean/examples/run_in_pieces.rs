//! A run in pieces: advanced one outer iteration at a time, put aside as bytes, and resumed. The
//! answer has the same bits as that of a run without a break.

use innermean::run::{Begin, Driver, Limits, Prepared, Run};
use innermean::{Checkpoint, Choice, Listed, Portfolio, Square, Stop, Svrpda1, Unregularized};

pub(crate) fn main() {
    // Returns of two assets that are not the same every day.
    let returns = (0..200).flat_map(|day| {
        let x = f64::from(day);
        [0.3 + x.sin(), 0.1 + 0.5 * (1.7 * x).cos()]
    });
    let portfolio = Portfolio::new(2, returns.collect::<Vec<f64>>()).expect("whole rows");
    let square = Square::new(1.0).expect("a weight above 0");
    let problem = portfolio.problem(square, Unregularized).expect("lengths fit");
    let start = [0.0; 2];
    let method = Svrpda1::choose(&Choice::default(), &problem, &start).expect("ordinary numbers");
    let driver =
        Driver { stop: Stop { tolerance: Some(1e-9), ..Stop::default() }, ..Driver::default() };

    let prepared = Prepared::new(&problem);
    let begin = Begin::At(&start);
    let mut run = Run::start(&prepared, &method, begin, &driver, &mut ()).expect("lengths fit");
    let one = Limits { outer: Some(1), ..Limits::default() };
    for _ in 0..3 {
        assert_eq!(run.advance(&one, &mut ()), None, "the run has not ended yet");
        let record = run.record();
        println!("{} outer iterations, objective {:.12}", record.outer, record.objective);
    }
    // For a file; a program that is started later goes on from it.
    let bytes = run.checkpoint().expect("a run that goes well").to_bytes();
    drop(run);

    let checkpoint = Checkpoint::from_bytes(&bytes).expect("all of the bytes");
    let resumed = driver.resume(&problem, &method, &checkpoint, &mut ()).expect("the same problem");
    println!("resumed after {} bytes: {}, {:?}", bytes.len(), resumed.status, resumed.theta);

    let at_once = driver.run(&problem, &method, &start, &mut ());
    assert!(resumed.status.is_solved());
    assert_eq!(resumed.theta, at_once.theta);
    assert_eq!((resumed.outer, resumed.calls), (at_once.outer, at_once.calls));
}
