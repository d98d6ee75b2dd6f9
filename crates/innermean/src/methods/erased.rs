//! A method and its state behind a pointer: what drives a run is compiled once, for all methods.
//!
//! Inner steps are asked for in chunks, and a chunk runs in the method's own code: the call through
//! the pointer costs nothing.

use std::any::type_name;
use std::fmt::Debug;

use super::{Method, Noise, Tempo};
use crate::linalg::vector::dispatch;
use crate::oracle::Oracle;
use crate::run::checkpoint::shape::Shape;
use crate::run::checkpoint::to_bytes;
use crate::run::evaluate::Known;

/// A [`Method`] of any type, before it has a state.
pub(crate) trait ErasedMethod: Debug {
    /// The name of its type.
    fn name(&self) -> &'static str;

    /// [`Method::init`]
    fn start<'m>(&'m self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Box<dyn AtWork + 'm>;

    /// With a state that [`AtWork::state`] has written, and the bytes behind it; None if they do
    /// not begin with a state of this method.
    fn resume<'m, 'b>(&'m self, bytes: &'b [u8]) -> Option<(Box<dyn AtWork + 'm>, &'b [u8])>;
}

/// A method with its state: each call is that of [`Method`] with the same name.
pub(crate) trait AtWork {
    /// The state as bytes.
    fn state(&self) -> Vec<u8>;
    fn shape(&self) -> Option<Shape>;
    fn fits(&self, oracle: &Oracle<'_>) -> bool;
    fn outer(&mut self, oracle: &mut Oracle<'_>);
    fn inner_iterations(&self) -> u64;
    fn inner_steps(&mut self, oracle: &mut Oracle<'_>, count: usize);
    fn show(&mut self, oracle: &Oracle<'_>);
    /// Goes on at this tempo of the method that was given; false if that has none.
    fn set_tempo(&mut self, tempo: Tempo) -> bool;
    fn noise(&self) -> Noise;
    fn reference(&self) -> Option<(&[f64], &[f64])>;
    fn restart(&mut self, oracle: &mut Oracle<'_>, theta: &[f64]);
    fn recovers(&self) -> bool;
    fn theta(&self) -> &[f64];
    fn endless(&self) -> Option<&[f64]>;
    /// Duals, Gram matrix and gradient.
    fn known(&self) -> Known<'_>;
}

struct Working<'m, M: Method> {
    given: &'m M,
    /// The same at another tempo.
    paced: Option<M>,
    state: M::State,
}

impl<M: Method> Working<'_, M> {
    fn method(&self) -> &M {
        self.paced.as_ref().unwrap_or(self.given)
    }

    fn parts(&mut self) -> (&M, &mut M::State) {
        (self.paced.as_ref().unwrap_or(self.given), &mut self.state)
    }
}

impl<M: Method> ErasedMethod for M {
    fn name(&self) -> &'static str {
        type_name::<M>().rsplit("::").next().unwrap_or_default()
    }

    fn start<'m>(&'m self, oracle: &mut Oracle<'_>, theta: &[f64]) -> Box<dyn AtWork + 'm> {
        Box::new(Working { given: self, paced: None, state: self.init(oracle, theta) })
    }

    fn resume<'m, 'b>(&'m self, bytes: &'b [u8]) -> Option<(Box<dyn AtWork + 'm>, &'b [u8])> {
        let (state, rest) = postcard::take_from_bytes(bytes).ok()?;
        Some((Box::new(Working { given: self, paced: None, state }), rest))
    }
}

impl<M: Method> AtWork for Working<'_, M> {
    fn state(&self) -> Vec<u8> {
        to_bytes(&self.state)
    }

    fn shape(&self) -> Option<Shape> {
        Shape::of(&self.state)
    }

    fn fits(&self, oracle: &Oracle<'_>) -> bool {
        self.method().fits(oracle, &self.state)
    }

    fn outer(&mut self, oracle: &mut Oracle<'_>) {
        let (method, state) = self.parts();
        method.outer(oracle, state);
    }

    fn inner_iterations(&self) -> u64 {
        self.method().inner_iterations(&self.state) as u64
    }

    fn inner_steps(&mut self, oracle: &mut Oracle<'_>, count: usize) {
        let (method, state) = self.parts();
        dispatch(
            #[inline(always)]
            || method.inner_steps(oracle, state, count),
        );
    }

    fn show(&mut self, oracle: &Oracle<'_>) {
        let (method, state) = self.parts();
        method.show(oracle, state);
    }

    fn set_tempo(&mut self, tempo: Tempo) -> bool {
        let mut paced = self.given.clone();
        let is_guarded = paced.guarded().map(|guarded| guarded.set(tempo)).is_some();
        self.paced = is_guarded.then_some(paced);
        is_guarded
    }

    fn noise(&self) -> Noise {
        self.given.noise()
    }

    fn reference(&self) -> Option<(&[f64], &[f64])> {
        self.method().reference(&self.state)
    }

    fn restart(&mut self, oracle: &mut Oracle<'_>, theta: &[f64]) {
        let (method, state) = self.parts();
        method.restart(oracle, state, theta);
    }

    fn recovers(&self) -> bool {
        self.given.recovers()
    }

    fn theta(&self) -> &[f64] {
        self.method().theta(&self.state)
    }

    fn endless(&self) -> Option<&[f64]> {
        self.method().endless(&self.state)
    }

    fn known(&self) -> Known<'_> {
        let (method, state) = (self.method(), &self.state);
        Known {
            duals: method.duals(state),
            gram: method.gram(state),
            gradient: method.gradient(state),
        }
    }
}
