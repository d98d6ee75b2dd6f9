//! Nothing is allocated in an inner step of the primal-dual and averaging methods.

use crate::allocations::allocations;
use crate::support::chain::Chain;

use crate::support::sparse::SparseData;
use crate::support::toy::Affine;
use innermean::choice::{Leak, Mirror};
use innermean::methods::alexr::Alexr;
use innermean::methods::gtd2::Gtd2;
use innermean::methods::mspbe_saga::MspbeSaga;
use innermean::methods::mspbe_svrg::MspbeSvrg;
use innermean::methods::msvr::Msvr;
use innermean::methods::pdbg::Pdbg;
use innermean::methods::saga::Saga;
use innermean::methods::sox::Sox;
use innermean::methods::spdc::Spdc;
use innermean::methods::spdg::Spdg;
use innermean::{
    Choice, Collapsed, ElasticNet, FreeTail, Listed, Method, Objective, Oracle, Problem, Reference,
    Ridge, Square, Svrpda1, Svrpda2,
};

fn check<'p, M: Method>(name: &str, problem: impl Into<Objective<'p>>, method: &M) {
    let problem = problem.into();
    let mut oracle = Oracle::new(problem);
    let mut state = method.init(&mut oracle, &vec![0.1; problem.inner.d()]);
    for outer in 0..3 {
        method.outer(&mut oracle, &mut state);
        let count = allocations(|| {
            for _ in 0..method.inner_iterations(&state) {
                method.inner(&mut oracle, &mut state);
            }
        });
        assert_eq!(count, 0, "{name}, outer iteration {outer}");
    }
}

fn chosen<'p, M: Listed>(problem: impl Into<Objective<'p>>, choice: Choice) -> M {
    let problem = problem.into();
    M::choose(&choice, problem, &vec![0.1; problem.inner.d()]).unwrap()
}

#[test]
fn no_inner_step_allocates() {
    let plain = Choice::seeded(1);
    let batches = Choice { batch: Some(3), outer_batch: Some(2), ..plain };
    for ell in [1, 2] {
        let inner = Affine::random(4, ell, 300, |_| 3, 1);
        let merit = Square::new(1.0).unwrap();
        let regularizer = Ridge::from_weight(0.1).unwrap();
        let rows = Problem { inner: Collapsed::new(&inner, &[0.0; 4]), merit, regularizer };
        let problem = Problem { inner, merit, regularizer };
        check("spdg", &problem, &chosen::<Spdg>(&problem, plain));
        check("sox", &problem, &chosen::<Sox>(&problem, batches));
        check("msvr", &problem, &chosen::<Msvr>(&problem, batches));
        for mirror in [Mirror::Euclidean, Mirror::Conjugate] {
            let choice = Choice { mirror: Some(mirror), ..batches };
            check("alexr", &problem, &chosen::<Alexr>(&problem, choice));
        }
        for choice in [
            Choice { mirror: Some(Mirror::Conjugate), ..plain },
            Choice { leak: Some(Leak::Part(0.01)), ..plain },
            Choice { leak: Some(Leak::Part(0.01)), ..batches },
            Choice { anderson: Some(3), ..plain },
        ] {
            check("svrpda2", &problem, &chosen::<Svrpda2>(&problem, choice));
            check("svrpda2, rows", &rows, &chosen::<Svrpda2>(&rows, choice));
        }
        let spdc: Spdc = chosen(&rows, Choice { batch: Some(3), ..plain });
        check("spdc", &rows, &spdc);
        check("spdc, averages", &rows, &Spdc { reference: Reference::Average, ..spdc });
    }
    let data = SparseData::random(200, 900, 4, true, 1);
    let regularizer = FreeTail::new(ElasticNet::from_weights(1e-3, 1e-2).unwrap(), 899);
    let lagging = Problem { inner: data.sparse(), merit: Square::new(0.5).unwrap(), regularizer };
    let warm = Choice { warmup_epochs: Some(1), reference: Some(Reference::Random), ..plain };
    check("svrpda1, lagging", &lagging, &chosen::<Svrpda1>(&lagging, warm));
    check("spdc, lagging", &lagging, &chosen::<Spdc>(&lagging, Choice { batch: Some(3), ..plain }));
    check("saga, lagging", &lagging, &chosen::<Saga>(&lagging, plain));
    let task = Chain::random(5, 100, 1.0, 1.0, 1).mspbe().problem(0.1).unwrap();
    check("pdbg", &task, &chosen::<Pdbg>(&task, plain));
    check("mspbe-svrg", &task, &chosen::<MspbeSvrg>(&task, plain));
    check("mspbe-saga", &task, &chosen::<MspbeSaga>(&task, plain));
    check("gtd2", &task, &chosen::<Gtd2>(&task, plain));
    check("svrpda1, by the prox of a form", &task, &chosen::<Svrpda1>(&task, plain));
}
