//! The methods, each in a file that reads like its paper's box, and what a driver asks of them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::primal_dual::Settings;
use self::svrpda1::Svrpda1;
use self::svrpda2::Svrpda2;
use crate::inner::Inner;
use crate::merit::Merit;
use crate::oracle::Oracle;
use crate::problem::Problem;
use crate::regularizer::Regularizer;
use crate::run::{Driver, Observer, Solution};
use crate::setting::InvalidSetting;

pub mod primal_dual;
pub mod reference;
pub mod svrpda1;
pub mod svrpda2;

/// An iterative method with an outer loop (a pass over the data) and an inner loop (cheap steps).
///
/// Settings live in the method, everything that changes lives in the state, and the state is plain data: clone it
/// or serialise it between two calls, and the run goes on bit for bit.
pub trait Method<F, P, G> {
    /// All that the next step needs.
    type State: Clone + Serialize + DeserializeOwned;

    /// The state before the first outer iteration. No inner step allocates: all that it needs is made here.
    fn init(&self, oracle: &mut Oracle<'_, F, P, G>, theta: &[f64]) -> Self::State;

    /// Starts an outer iteration: the reference point and its batch quantities.
    fn outer(&self, oracle: &mut Oracle<'_, F, P, G>, state: &mut Self::State);

    /// How many inner steps belong to the outer iteration that has been started.
    fn inner_iterations(&self, state: &Self::State) -> usize;

    /// One inner step: no allocation, no clock, no error.
    fn inner(&self, oracle: &mut Oracle<'_, F, P, G>, state: &mut Self::State);

    /// The point to report: the current iterate or, at the end of an outer iteration, the next reference point.
    fn theta<'s>(&self, state: &'s Self::State) -> &'s [f64];

    /// The dual variables `w_i`, flat, if the method keeps some.
    fn duals<'s>(&self, state: &'s Self::State) -> Option<&'s [f64]>;
}

/// One row of the table from which command line, documentation and tests take their lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name on the command line and in output.
    pub name: &'static str,
    /// The name in the literature.
    pub title: &'static str,
    /// What it is, in half a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// Numbers stored beside the data and theta.
    pub storage: &'static str,
}

/// Every method there is.
pub const METHODS: &[MethodInfo] = &[svrpda1::INFO, svrpda2::INFO];

/// A method chosen at run time.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyMethod {
    /// SVRPDA-I
    Svrpda1(Svrpda1),
    /// SVRPDA-II
    Svrpda2(Svrpda2),
}

impl AnyMethod {
    /// The method of that name in [`METHODS`].
    ///
    /// # Errors
    /// If there is none; the error lists the names there are.
    pub fn named(name: &str, settings: Settings) -> Result<Self, InvalidSetting> {
        match name {
            "svrpda1" => Ok(AnyMethod::Svrpda1(Svrpda1(settings))),
            "svrpda2" => Ok(AnyMethod::Svrpda2(Svrpda2(settings))),
            _ => {
                let names: Vec<&str> = METHODS.iter().map(|row| row.name).collect();
                Err(InvalidSetting::new("method", name, format!("one of {}", names.join(", "))))
            }
        }
    }

    /// [`Driver::run`] with this method.
    pub fn run<F: Inner, P: Merit, G: Regularizer>(
        &self,
        driver: &Driver<'_>,
        problem: &Problem<F, P, G>,
        theta: &[f64],
        observer: &mut dyn Observer,
    ) -> Solution {
        match self {
            AnyMethod::Svrpda1(method) => driver.run(problem, method, theta, observer),
            AnyMethod::Svrpda2(method) => driver.run(problem, method, theta, observer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reference::Reference;
    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_had_by_its_name() {
        let settings = Settings {
            alpha_theta: 1.0,
            alpha_w: 1.0,
            inner_iterations: 1,
            reference: Reference::Last,
            warmup_epochs: 0,
            single_loop: false,
            seed: 0,
        };
        for row in METHODS {
            assert!(AnyMethod::named(row.name, settings.clone()).is_ok(), "{}", row.name);
        }
        let error = AnyMethod::named("svrpda3", settings).expect_err("no such method").to_string();
        assert_eq!(error, "method = svrpda3, expected one of svrpda1, svrpda2");
    }
}
