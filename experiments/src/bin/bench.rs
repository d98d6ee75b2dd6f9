//! The comparison with other software; `experiments/bench/run` makes what it needs and starts it.

use std::fs;
use std::mem::take;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use innermean_experiments::bench::cases::Case;
use innermean_experiments::bench::cases::bellman::BellmanCase;
use innermean_experiments::bench::cases::groups::GroupsCase;
use innermean_experiments::bench::cases::linear::{LinearCase, Loss};
use innermean_experiments::bench::cases::portfolio::{PortfolioCase, PortfolioTask};
use innermean_experiments::bench::contest::{Effort, Outcome, compete};
use innermean_experiments::bench::growth::{self, CURVES};
use innermean_experiments::bench::peer::{Python, Server};
use innermean_experiments::bench::results::{self, Detail, Results};
use innermean_experiments::bench::table::{self, Claim};
use innermean_experiments::bench::{machine, quoted};
use serde::Serialize;

/// The method of ours where a row does not say otherwise.
const OURS: &str = "auto";

/// A part of the benchmark: contests and claims, of which `--only` takes some.
struct Part {
    name: &'static str,
    run: fn(&mut Bench) -> Result<()>,
}

const PARTS: &[Part] = &[
    Part { name: "portfolio", run: portfolio },
    Part { name: "steps", run: steps },
    Part { name: "linear", run: linear },
    Part { name: "lasso", run: lasso },
    Part { name: "groups", run: groups },
    Part { name: "few-large", run: few_large },
    Part { name: "mdp", run: mdp },
    Part { name: "kernels", run: kernels },
    Part { name: "growth", run: growth },
];

struct Bench {
    quick: bool,
    python: Python,
    data: PathBuf,
    results: PathBuf,
    effort: Effort,
    /// Of the part that runs.
    claims: Vec<Claim>,
    details: Vec<Detail>,
}

impl Bench {
    /// A contest, kept under a heading.
    fn contest(
        &mut self,
        name: &str,
        case: &dyn Case,
        methods: &[&'static str],
        gap: f64,
    ) -> Result<Outcome> {
        eprintln!("{name}: {}, relative gap {gap:e}", case.sizes());
        let folder = self.data.join(name.replace(' ', "-"));
        let outcome = compete(case, methods, gap, &self.python, &folder, &self.effort)?;
        fs::remove_dir_all(&folder)?;
        self.detail(name, table::outcome(&outcome), &outcome)?;
        Ok(outcome)
    }

    fn detail(&mut self, name: &str, table: String, data: &impl Serialize) -> Result<()> {
        let data = serde_json::to_value(data)?;
        self.details.push(Detail { name: name.to_owned(), table, data });
        Ok(())
    }

    /// The time of ours as part of that of the fastest peer.
    fn against_fastest(
        &mut self,
        name: &str,
        case: &dyn Case,
        gap: f64,
        target: Option<f64>,
    ) -> Result<()> {
        let outcome = self.contest(name, case, &[OURS], gap)?;
        self.claims.push(Claim::time(name, outcome.ours(), outcome.fastest_peer(), target));
        Ok(())
    }

    fn scaled(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}

fn portfolio(bench: &mut Bench) -> Result<()> {
    let folder = Path::new("../shared/data/portfolio");
    let most = 18;
    let case = PortfolioCase::new(folder, most, PortfolioTask::Free)?;
    let outcome = bench.contest("portfolio", &case, &[OURS], 1e-10)?;
    let numpy = outcome.entrant("numpy cov + solve");
    bench.claims.push(Claim::time("portfolio", outcome.ours(), numpy, Some(1.0)));

    let case = PortfolioCase::new(folder, most, PortfolioTask::LongOnly)?;
    let outcome = bench.contest("portfolio long-only", &case, &[OURS], 1e-10)?;
    for (peer, target) in [("cvxpy + Clarabel", Some(0.3)), ("Clarabel alone", None)] {
        let other = outcome.entrant(peer);
        bench.claims.push(Claim::time("portfolio long-only", outcome.ours(), other, target));
    }

    let case = PortfolioCase::new(folder, bench.scaled(3, 1), PortfolioTask::Absolute)?;
    let outcome = bench.contest("portfolio absolute deviation", &case, &[OURS], 1e-6)?;
    let other = outcome.entrant("cvxpy + Clarabel");
    bench.claims.push(Claim::time("portfolio absolute deviation", outcome.ours(), other, None));
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "as the other parts")]
fn steps(bench: &mut Bench) -> Result<()> {
    bench.claims.extend(quoted::grid(&bench.results));
    Ok(())
}

fn linear(bench: &mut Bench) -> Result<()> {
    for (word, loss) in [("logistic", Loss::Logistic), ("squared hinge", Loss::SquaredHinge)] {
        let case = LinearCase::dense(bench.scaled(100_000, 20_000), 100, loss, 1);
        bench.against_fastest(&format!("{word} dense"), &case, 1e-6, Some(1.0))?;
        let (n, d) = (bench.scaled(200_000, 20_000), bench.scaled(50_000, 5_000));
        let case = LinearCase::sparse(n, d, 50, loss, 1);
        bench.against_fastest(&format!("{word} sparse"), &case, 1e-6, Some(1.0))?;
    }
    let case = LinearCase::elastic_net(bench.scaled(50_000, 10_000), 200, 1);
    bench.against_fastest("elastic net", &case, 1e-6, Some(1.0))
}

fn lasso(bench: &mut Bench) -> Result<()> {
    let sizes = [
        ("small", 2000, (250, 1250)),
        ("middle", 6000, (700, 3500)),
        ("large", 20_000, (2000, 10_000)),
    ];
    let most = bench.scaled(sizes.len(), 1);
    for &(size, sparse, (n, d)) in &sizes[..most] {
        for part in [0.1, 0.01] {
            let case = LinearCase::lasso_sparse(sparse, sparse, 50, part, 1);
            bench.against_fastest(
                &format!("lasso sparse {part} {size}"),
                &case,
                1e-6,
                Some(1.0),
            )?;
        }
        for part in [0.1, 0.02] {
            let case = LinearCase::lasso_dense(n, d, part, 1);
            bench.against_fastest(&format!("lasso dense {part} {size}"), &case, 1e-6, Some(1.0))?;
        }
    }
    Ok(())
}

fn groups(bench: &mut Bench) -> Result<()> {
    let case = GroupsCase::new(bench.scaled(10_000, 1000), 100, 50, false, 1);
    bench.against_fastest("groups", &case, 1e-6, Some(0.33))
}

fn few_large(bench: &mut Bench) -> Result<()> {
    let case = GroupsCase::new(100, bench.scaled(100_000, 10_000), 20, true, 1);
    let name = "few large groups";
    let outcome = bench.contest(name, &case, &["auto", "svrpda1", "lbfgs"], 1e-8)?;
    let (auto, lbfgs) = (outcome.ours(), outcome.entrant("innermean lbfgs"));
    let svrpda1 = outcome.entrant("innermean svrpda1").unwrap_or(auto);
    let passes = svrpda1.ours.as_ref().map(|run| run.passes);
    bench.claims.push(Claim::at_most(name, "SVRPDA-I, passes' worth of rows", passes, Some(8.0)));
    for (title, ours) in [("auto", auto), ("SVRPDA-I", svrpda1)] {
        for (other, target) in [(lbfgs, 0.4), (outcome.fastest_peer(), 0.15)] {
            let claim = Claim::time(name, ours, other, Some(target));
            bench.claims.push(Claim { what: format!("{title}, {}", claim.what), ..claim });
        }
    }
    Ok(())
}

fn mdp(bench: &mut Bench) -> Result<()> {
    let case = BellmanCase::new(bench.scaled(10_000, 2000), 10, 1);
    let outcome = bench.contest("mdp", &case, &[OURS], 1e-8)?;
    let other = outcome.entrant("numpy normal equations");
    bench.claims.push(Claim::time("mdp", outcome.ours(), other, Some(1.0)));
    Ok(())
}

fn kernels(bench: &mut Bench) -> Result<()> {
    let (claims, text) = quoted::kernels()?;
    bench.claims.extend(claims);
    bench.detail("kernels", format!("```text\n{}\n```\n", text.trim_end()), &text)
}

fn growth(bench: &mut Bench) -> Result<()> {
    for curve in CURVES {
        eprintln!("growth: {}", curve.what);
        let grown = growth::measure(*curve, OURS, bench.scaled(5, 1))?;
        bench.claims.extend(grown.claims());
        bench.detail(&format!("growth in {}", curve.name), grown.table(), &grown)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut quick, mut only, mut interpreter) = (false, Vec::new(), PathBuf::from("python3"));
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().with_context(|| format!("{argument}: a value is missing"));
        match argument.as_str() {
            "--quick" => quick = true,
            "--only" => only.push(value()?),
            "--python" => interpreter = value()?.into(),
            "--point" => {
                return growth::point(&value()?, value()?.parse()?, String::leak(value()?));
            }
            other => bail!("{other}: expected --quick, --only NAME or --python PATH"),
        }
    }
    let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--only {unknown}: expected one of {}", names.join(", "));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::set_current_dir(root.join(".."))?;
    let mut bench = Bench {
        quick,
        python: Python { interpreter, peers: root.join("bench/peers") },
        data: PathBuf::from("target/bench-data"),
        results: root.join("results"),
        effort: if quick {
            Effort { rounds: 3, patience: 20.0 }
        } else {
            Effort { rounds: 7, patience: 120.0 }
        },
        claims: Vec::new(),
        details: Vec::new(),
    };
    let mut machine = machine::facts();
    machine["peers"] = Server::without_case(&bench.python).versions()?;
    // Parts of small problems stay apart from those that are kept.
    let folder = if quick { PathBuf::from("target") } else { bench.results.clone() };
    let mut results =
        if quick { Results::default() } else { Results::read(&folder.join("bench.json")) };
    for part in
        PARTS.iter().filter(|part| only.is_empty() || only.iter().any(|name| name == part.name))
    {
        if let Err(error) = (part.run)(&mut bench) {
            bench
                .claims
                .push(Claim::at_most(part.name, "", None, None).noted(format!("{error:#}")));
        }
        let (claims, details) = (take(&mut bench.claims), take(&mut bench.details));
        println!("{}", table::claims(&claims));
        let part =
            results::Part { name: part.name.to_owned(), machine: machine.clone(), claims, details };
        results.put(part, &names);
        results.write(&folder)?;
    }
    println!("{}\nwritten: {}", results.claims(), folder.join("bench.md").display());
    Ok(())
}
