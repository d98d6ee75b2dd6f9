//! The comparison with other software; `experiments/bench/run` makes what it needs and starts it.

use std::mem::take;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use innermean_experiments::bench::contest::Effort;
use innermean_experiments::bench::parts::{Bench, PARTS, Size};
use innermean_experiments::bench::peer::{Python, Server};
use innermean_experiments::bench::results::{self, Results};
use innermean_experiments::bench::table::{self, Claim};
use innermean_experiments::bench::{growth, machine};

/// What is asked for.
#[derive(Default)]
struct Asked {
    quick: bool,
    short: bool,
    sizes: Vec<Size>,
    only: Vec<String>,
    interpreter: PathBuf,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut asked = Asked { interpreter: "python3".into(), ..Asked::default() };
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().with_context(|| format!("{argument}: a value is missing"));
        match argument.as_str() {
            "--quick" => asked.quick = true,
            "--short" => asked.short = true,
            "--size" => {
                let name = value()?;
                let size = Size::ALL.into_iter().find(|size| size.name() == name);
                asked.sizes.push(
                    size.with_context(|| {
                        format!("--size {name}: expected small, middle or large")
                    })?,
                );
            }
            "--only" => asked.only.push(value()?),
            "--python" => asked.interpreter = value()?.into(),
            "--point" => {
                return growth::point(&value()?, value()?.parse()?, String::leak(value()?));
            }
            other => bail!(
                "{other}: expected --quick, --short, --size NAME, --only NAME or --python PATH"
            ),
        }
    }
    let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    if let Some(unknown) = asked.only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--only {unknown}: expected one of {}", names.join(", "));
    }
    measure(asked, &names)
}

fn measure(asked: Asked, names: &[&str]) -> Result<()> {
    let Asked { quick, short, mut sizes, only, interpreter } = asked;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::env::set_current_dir(root.join(".."))?;
    // Parts without some of their sizes stay apart from those that are kept.
    let kept = !quick && sizes.is_empty();
    if sizes.is_empty() {
        sizes = if quick { vec![Size::Small] } else { Size::ALL.to_vec() };
    }
    let mut bench = Bench {
        sizes,
        short,
        python: Python { interpreter, peers: root.join("bench/peers") },
        data: PathBuf::from("target/bench-data"),
        results: root.join("results"),
        effort: if quick || short { Effort::SHORT } else { Effort::WHOLE },
        claims: Vec::new(),
        details: Vec::new(),
    };
    let mut machine = machine::facts();
    machine["peers"] = Server::without_case(&bench.python).versions()?;
    machine["short"] = short.into();
    let folder = if kept { bench.results.clone() } else { PathBuf::from("target") };
    let mut results =
        if kept { Results::read(&folder.join("bench.json")) } else { Results::default() };
    let wanted = |name: &str, long: bool| {
        if only.is_empty() { !(long && short) } else { only.iter().any(|one| one == name) }
    };
    for part in PARTS.iter().filter(|part| wanted(part.name, part.long)) {
        if let Err(error) = (part.run)(&mut bench) {
            bench
                .claims
                .push(Claim::at_most(part.name, "", None, None).noted(format!("{error:#}")));
        }
        let (claims, details) = (take(&mut bench.claims), take(&mut bench.details));
        println!("{}", table::claims(&claims));
        let part =
            results::Part { name: part.name.to_owned(), machine: machine.clone(), claims, details };
        results.put(part, names);
        results.write(&folder)?;
    }
    println!("{}\nwritten: {}", results.claims(), folder.join("bench.md").display());
    Ok(())
}
