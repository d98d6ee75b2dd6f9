//! The methods, each in a file that reads like its paper's box, and what a driver asks of them.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::erased::ErasedMethod;
use crate::model::inner::recorded;
use crate::model::problem::Objective;
use crate::model::setting::InvalidSetting;
use crate::oracle::Oracle;
use crate::run::checkpoint::CheckpointError;
use crate::run::evaluate::Gradient;
use crate::run::{Begin, Driver, Observer, Prepared, Run, RunError, Solution, begun, finished};

use crate::tuning::choice::{Choice, ChoiceError};

mod backtracking;
pub mod baselines;
pub mod direct;
pub(crate) mod erased;
pub mod gradient_descent;
pub mod info;
mod lagged;
pub mod lbfgs;
mod momentum;
pub mod multipliers;
pub mod newton;
mod parts;
pub mod precise;
pub(crate) mod program;
pub mod prox_linear;
pub mod reference;
pub mod safeguard;
pub mod svrpda;
pub mod svrpda1;
pub mod svrpda2;
pub mod working_set;

pub use baselines::{
    alexr, asc_pg, ascvrg, averaged, c_saga, comp_svrg1, comp_svrg2, composition, decay, estimates,
    field, gtd2, mspbe_saga, mspbe_svrg, msvr, pdbg, saga, saga_table, scgd, sox, spdc, spdg, svrg,
    tracking, vrsc_pg,
};
pub use info::{Ask, Family, Form, MethodInfo, Rate};
pub(crate) use safeguard::Tempo;
pub use safeguard::{Guarded, Noise};

/// An iterative method with an outer loop (a pass over the data) and an inner loop (cheap steps).
///
/// Settings live in the method, and `Debug` shows all of them; everything that changes lives in the
/// state, and the state is plain data: clone it or serialise it (in a binary format: some hold
/// infinities, which JSON lacks) between two calls, and the run goes on bit for bit.
pub trait Method: Clone + Debug {
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

    /// Starts an outer iteration: the reference point and its batch quantities, if there are any.
    fn outer(&self, oracle: &mut Oracle<'_>, state: &mut Self::State) {
        let _ = (oracle, state);
    }

    /// How many inner steps belong to the outer iteration that has been started.
    fn inner_iterations(&self, state: &Self::State) -> usize {
        let _ = state;
        1
    }

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

    /// The settings that the safeguard (`safeguard.rs`) watches over and may change: those that the
    /// method's rule has found. None where they are given, and where a method adapts them by itself.
    fn guarded(&mut self) -> Option<Guarded<'_>> {
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
    ) -> Chosen<Self> {
        let problem = problem.into();
        Self::INFO.suits(problem)?;
        choice.check(&Self::INFO)?;
        Self::settings(choice, problem, theta)
    }

    /// [`Listed::choose`] without the checks that all methods share.
    ///
    /// # Errors
    /// If a value makes no sense.
    fn settings(choice: &Choice, problem: Objective<'_>, theta: &[f64]) -> Chosen<Self>;
}

/// A method with its settings, or why it cannot be had.
pub type Chosen<M> = Result<M, ChoiceError>;

/// Writes the table and the enum from the list of methods: a new method is one more word here, and
/// its file.
macro_rules! methods {
    ($($module:ident::$Name:ident)*) => {
        /// Every method there is.
        pub const METHODS: &[MethodInfo] = &[$(<$module::$Name as Listed>::INFO,)*];

        /// A method chosen at run time; serialises as its settings.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each names the type that it holds")]
        #[non_exhaustive]
        pub enum AnyMethod {
            $($Name($module::$Name),)*
        }

        impl AnyMethod {
            fn named_for(
                name: &str,
                choice: &Choice,
                problem: Objective<'_>,
                theta: &[f64],
            ) -> Result<Self, ChoiceError> {
                $(if name == <$module::$Name as Listed>::INFO.name {
                    return Ok(AnyMethod::$Name($module::$Name::choose(choice, problem, theta)?));
                })*
                Err(info::unknown(name).into())
            }

            /// Its row in [`METHODS`].
            pub fn info(&self) -> &'static MethodInfo {
                match self {
                    $(AnyMethod::$Name(_) => &<$module::$Name as Listed>::INFO,)*
                }
            }

            fn erased(&self) -> &dyn ErasedMethod {
                match self {
                    $(AnyMethod::$Name(method) => method,)*
                }
            }
        }
    };
}

methods! {
    svrpda1::Svrpda1
    svrpda2::Svrpda2
    gradient_descent::Accelerated
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
    asc_pg::AscPg
    c_saga::CSaga
    scgd::Scgd
    multipliers::Multipliers
    newton::Newton
    saga::Saga
    spdc::Spdc
    svrg::Svrg
    working_set::WorkingSet
}

impl AnyMethod {
    /// The method of that name in [`METHODS`], for `problem`; see [`Listed::choose`].
    ///
    /// # Errors
    /// If there is none (the error lists the names there are), or it cannot be had as chosen.
    pub fn named<'p>(
        name: &str,
        choice: &Choice,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Chosen<Self> {
        let problem = problem.into();
        problem.check_start(theta)?;
        recorded(problem, |problem| {
            let found = Self::named_for(name, choice, problem, theta);
            problem.inner.lost().map_or(found, |lost| Err(lost.into()))
        })
    }

    /// The problem in the form that this method works on; `theta` is the start. Making it is part
    /// of the run.
    ///
    /// # Errors
    /// If the start has not as many coordinates as the problem.
    pub fn prepare<'p>(
        &self,
        problem: impl Into<Objective<'p>>,
        theta: &[f64],
    ) -> Result<Prepared<'p>, InvalidSetting> {
        let problem = problem.into();
        problem.check_start(theta)?;
        Ok(Prepared::in_form(problem, self.info().form, theta))
    }

    /// A run of this method on what [`Self::prepare`] has made of the problem, up to the evaluation
    /// of the start.
    ///
    /// # Errors
    /// If the start has not as many coordinates as the problem, or a checkpoint is not one of such
    /// a run.
    pub fn start<'r>(
        &'r self,
        prepared: &'r Prepared<'_>,
        begin: Begin<'_>,
        driver: &Driver<'r>,
        observer: &mut dyn Observer,
    ) -> Result<Run<'r>, RunError> {
        Run::start_erased(prepared, self.erased(), begin, driver, observer)
    }

    /// [`Driver::run`] with this method, on the form of the problem that it asks for. Making that
    /// form is part of the run.
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
        // Recorded before another form is made, whose averages are passes over this f.
        recorded(problem.into(), |problem| {
            if let Begin::Resume(checkpoint) = begin {
                checkpoint.check_start(problem.inner.d())?;
            }
            let prepared = match self.prepare(problem, begin.start()) {
                Ok(prepared) => prepared,
                Err(wrong) => return Ok(Solution::failed(begin.start(), wrong.to_string())),
            };
            finished(self.start(&prepared, begin, driver, observer), begin, observer)
        })
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
