//! The methods, each in a file that reads like its paper's box, and what a driver asks of them.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::inner::recorded;
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::oracle::Oracle;
use crate::run::checkpoint::CheckpointError;
use crate::run::evaluate::Gradient;
use crate::run::{Begin, Driver, Observer, Solution, begun};
use crate::tuning::choice::{Choice, ChoiceError};

pub mod accelerated;
mod backtracking;
pub mod baselines;
pub mod direct;
mod form;
pub mod gradient_descent;
pub mod info;
mod lagged;
pub mod lbfgs;
pub mod multipliers;
pub mod newton;
pub mod precise;
pub(crate) mod program;
pub mod prox_linear;
pub mod reference;
pub mod safeguard;
pub mod svrpda;
pub mod svrpda1;
pub mod svrpda2;

pub use baselines::{
    alexr, asc_pg, ascvrg, averaged, c_saga, comp_svrg1, comp_svrg2, composition, decay, estimates,
    field, gtd2, mspbe_saga, mspbe_svrg, msvr, pdbg, saga, saga_table, scgd, sox, spdc, spdg, svrg,
    tracking, vrsc_pg,
};
pub use info::{Ask, Family, Form, MethodInfo, Rate};
pub use safeguard::{Noise, Tempo};

/// An iterative method with an outer loop (a pass over the data) and an inner loop (cheap steps).
///
/// Settings live in the method, and `Debug` shows all of them; everything that changes lives in the
/// state, and the state is plain data: clone it or serialise it (in a binary format: some hold
/// infinities, which JSON lacks) between two calls, and the run goes on bit for bit.
pub trait Method: Debug {
    /// All that the next step needs.
    type State: Clone + Serialize + DeserializeOwned;

    /// The state before the first outer iteration. No inner step allocates: all that it needs is
    /// made here.
    fn init(&self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Self::State;

    /// Whether a state that was read from a checkpoint fits the problem, beyond what a state of
    /// [`Self::init`] tells: lists that are there from the beginning have been found to be as long
    /// as these are.
    fn fits(&self, oracle: &Oracle<'_>, state: &Self::State) -> bool {
        let _ = (oracle, state);
        true
    }

    /// Starts an outer iteration: the reference point and its batch quantities.
    fn outer(&self, oracle: &mut Oracle<'_>, state: &mut Self::State);

    /// How many inner steps belong to the outer iteration that has been started.
    fn inner_iterations(&self, state: &Self::State) -> usize;

    /// One inner step: no allocation, no clock, no error.
    fn inner(&self, oracle: &mut Oracle<'_>, state: &mut Self::State);

    /// `count` inner steps, bit for bit as many calls of [`Self::inner`]: what is the same for all
    /// of them may be asked once.
    #[inline(always)]
    fn inner_steps(&self, oracle: &mut Oracle<'_>, state: &mut Self::State, count: usize) {
        for _ in 0..count {
            self.inner(oracle, state);
        }
    }

    /// Called before [`Self::theta`] is looked at, for methods that leave work for later. It must
    /// not change the run.
    fn show(&self, oracle: &Oracle<'_>, state: &mut Self::State) {
        let _ = (oracle, state);
    }

    /// The method with `tempo.steps` times its steps and `tempo.epoch` times its M, if its rule has
    /// found them and nobody else: then the safeguard (`safeguard.rs`) watches over them. None
    /// where they are given, and where a method adapts them by itself.
    fn at_tempo(&self, tempo: Tempo) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = tempo;
        None
    }

    /// What becomes of the noise of its steps.
    fn noise(&self) -> Noise {
        Noise::Vanishes
    }

    /// The reference point and the averages `fbar_i` at it, where [`Self::outer`] has just found
    /// them: with these a look costs nothing.
    fn reference<'s>(&self, state: &'s Self::State) -> Option<(&'s [f64], &'s [f64])> {
        let _ = state;
        None
    }

    /// Leaves the iterates for theta, where the safeguard has the run go back.
    fn restart(&self, oracle: &mut Oracle<'_>, state: &mut Self::State, theta: &[f64]) {
        *state = self.init(oracle, theta);
    }

    /// Whether the method finds its way back by itself after iterates have blown up: then the
    /// driver does not stop there.
    fn recovers(&self) -> bool {
        false
    }

    /// The point to report: the current iterate or, at the end of an outer iteration, the next
    /// reference point.
    fn theta<'s>(&self, state: &'s Self::State) -> &'s [f64];

    /// The dual variables `w_i`, flat, if the method keeps some.
    fn duals<'s>(&self, state: &'s Self::State) -> Option<&'s [f64]> {
        let _ = state;
        None
    }

    /// `F''` as it was made of the data, with nothing added, if F is quadratic and the method has
    /// it: a certificate need not make it again.
    fn gram<'s>(&self, state: &'s Self::State) -> Option<&'s [f64]> {
        let _ = state;
        None
    }

    /// The direction in which P falls without end, if the method has found one: then there is no
    /// minimum.
    fn endless<'s>(&self, state: &'s Self::State) -> Option<&'s [f64]> {
        let _ = state;
        None
    }

    /// `F'` at theta, if the method has just found it on terms that are those of the problem: with
    /// it an evaluation reads no data. Of a method that has duals, which then asks for a phi with
    /// kinks, the sum of weighted Jacobians that belongs to them.
    fn gradient<'s>(&self, state: &'s Self::State) -> Option<Gradient<'s>> {
        let _ = state;
        None
    }
}

/// A method of the table, which finds its own settings.
pub trait Listed: Sized {
    /// Its row.
    const INFO: MethodInfo;

    /// The method for `problem`, with what the choice says and otherwise its rule or defaults.
    /// `theta` is the start.
    ///
    /// # Errors
    /// If the choice names a setting that the method does not have, or a value makes no sense, or
    /// the problem is not what the method asks for.
    fn choose<'p>(
        choice: &Choice,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Self, ChoiceError> {
        let problem = problem.into();
        Self::INFO.suits(problem)?;
        choice.check(&Self::INFO)?;
        Self::settings(choice, problem, theta)
    }

    /// [`Listed::choose`] without the checks that all methods share.
    ///
    /// # Errors
    /// If a value makes no sense.
    fn settings(
        choice: &Choice,
        problem: Objective<'_>,
        theta: &[f64],
    ) -> Result<Self, ChoiceError>;
}

/// Writes the table and the enum from the list of methods, each under the form of the problem on
/// which it works: a new method is one more word here, and its file.
macro_rules! methods {
    (
        given { $($given:ident::$Given:ident)* }
        shared { $($shared:ident::$Shared:ident)* }
        collapsed { $($collapsed:ident::$Collapsed:ident)* }
    ) => {
        /// Every method there is.
        pub const METHODS: &[MethodInfo] = &[
            $($given::INFO,)* $($shared::INFO,)* $($collapsed::INFO,)*
        ];

        /// A method chosen at run time; serialises as its settings.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each names the type that it holds")]
        pub enum AnyMethod {
            $($Given($given::$Given),)*
            $($Shared($shared::$Shared),)*
            $($Collapsed($collapsed::$Collapsed),)*
        }

        impl AnyMethod {
            /// The method of that name in [`METHODS`], for `problem`; see [`Listed::choose`].
            ///
            /// # Errors
            /// If there is none (the error lists the names there are), or it cannot be had as
            /// chosen.
            pub fn named<'p>(
                name: &str,
                choice: &Choice,
                problem: impl Into<Objective<'p>>,
                theta: &[f64],
            ) -> Result<Self, ChoiceError> {
                let problem = problem.into();
                problem.check_start(theta)?;
                recorded(problem, |problem| {
                    let found = Self::named_for(name, choice, problem, theta);
                    problem.inner.lost().map_or(found, |lost| Err(lost.into()))
                })
            }

            fn named_for(
                name: &str,
                choice: &Choice,
                problem: Objective<'_>,
                theta: &[f64],
            ) -> Result<Self, ChoiceError> {
                $(if name == $given::INFO.name {
                    return Ok(AnyMethod::$Given($given::$Given::choose(choice, problem, theta)?));
                })*
                $(if name == $shared::INFO.name {
                    return Ok(AnyMethod::$Shared($shared::$Shared::choose(choice, problem, theta)?));
                })*
                $(if name == $collapsed::INFO.name {
                    return Ok(AnyMethod::$Collapsed($collapsed::$Collapsed::choose(choice, problem, theta)?));
                })*
                Err(info::unknown(name).into())
            }

            /// Its row in [`METHODS`].
            pub fn info(&self) -> &'static MethodInfo {
                match self {
                    $(AnyMethod::$Given(_) => &$given::INFO,)*
                    $(AnyMethod::$Shared(_) => &$shared::INFO,)*
                    $(AnyMethod::$Collapsed(_) => &$collapsed::INFO,)*
                }
            }

            /// [`Driver::run`] with this method, on the form of the problem that it asks for.
            /// Making that form is part of the run.
            pub fn run<'p>(
                &self,
                driver: &Driver<'_>,
                problem: impl Into<Objective<'p>>,
                theta: &[f64],
                observer: &mut dyn Observer,
            ) -> Solution {
                begun(self.run_from(driver, problem, Begin::At(theta), observer))
            }

            /// [`Self::run`], or [`Driver::resume`].
            ///
            /// # Errors
            /// If a checkpoint is not one of such a run.
            pub fn run_from<'p>(
                &self,
                driver: &Driver<'_>,
                problem: impl Into<Objective<'p>>,
                begin: Begin<'_>,
                observer: &mut dyn Observer,
            ) -> Result<Solution, CheckpointError> {
                recorded(problem.into(), |problem| {
                    self.run_on_form(driver, problem, begin, observer)
                })
            }

            fn run_on_form(
                &self,
                driver: &Driver<'_>,
                problem: Objective<'_>,
                begin: Begin<'_>,
                observer: &mut dyn Observer,
            ) -> Result<Solution, CheckpointError> {
                if let Begin::Resume(checkpoint) = begin {
                    checkpoint.check_start(problem.inner.d())?;
                }
                if let Begin::At(start) = begin
                    && let Err(wrong) = problem.check_start(start)
                {
                    return Ok(Solution::failed(start, wrong.to_string()));
                }
                match self {
                    $(AnyMethod::$Given(method) => driver.run_from(problem, method, begin, observer),)*
                    $(AnyMethod::$Shared(method) => {
                        form::run_shared(driver, problem, method, begin, observer)
                    })*
                    $(AnyMethod::$Collapsed(method) => {
                        form::run_collapsed(driver, problem, method, begin, observer)
                    })*
                }
            }
        }
    };
}

methods! {
    given {
        svrpda1::Svrpda1
        svrpda2::Svrpda2
        accelerated::Accelerated
        alexr::Alexr
        ascvrg::Ascvrg
        comp_svrg1::CompSvrg1
        comp_svrg2::CompSvrg2
        direct::Direct
        gradient_descent::GradientDescent
        gtd2::Gtd2
        lbfgs::Lbfgs
        mspbe_saga::MspbeSaga
        mspbe_svrg::MspbeSvrg
        msvr::Msvr
        pdbg::Pdbg
        precise::Precise
        prox_linear::ProxLinear
        sox::Sox
        spdg::Spdg
        vrsc_pg::VrscPg
    }
    shared {
        asc_pg::AscPg
        c_saga::CSaga
        scgd::Scgd
    }
    collapsed {
        multipliers::Multipliers
        newton::Newton
        saga::Saga
        spdc::Spdc
        svrg::Svrg
    }
}

/// The row of that name.
///
/// # Errors
/// If there is none; the error lists the names there are.
pub fn info(name: &str) -> Result<&'static MethodInfo, InvalidSetting> {
    METHODS.iter().find(|row| row.name == name).ok_or_else(|| info::unknown(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_words_of_the_command_line() {
        for (k, row) in METHODS.iter().enumerate() {
            assert!(METHODS[..k].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(
                row.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            );
            assert_eq!(info(row.name), Ok(row));
        }
        let error = info("svrpda3").expect_err("no such method").to_string();
        assert!(error.starts_with("method = svrpda3, expected one of svrpda1, svrpda2"), "{error}");
    }
}
