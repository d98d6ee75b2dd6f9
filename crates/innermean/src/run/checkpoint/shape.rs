//! What a memory is made of: how long its lists are, and which of its numbers never change.
//!
//! A memory that was read is compared with that of a run that begins: lists that are there from
//! the beginning have the same length for ever, and what is written by [`fixed`] is the same for
//! ever. Nothing that methods do with a state then leads out of its lists.

use serde::ser::{self, Serialize};

use self::serializer::{FIXED, FREE, SIZED, Walk};
use super::Hash;

mod serializer;

/// Larger whole numbers are no counters: no run is that long, and to count on would overflow.
const MOST: u64 = 1 << 56;

/// The shape of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A number, a text or nothing: there are no wrong ones.
    Plain,
    /// What stays as it is, by its hash; of a list whose length does, that.
    Fixed(u128),
    /// A list: how long it is and the shapes of its elements, equal neighbours once.
    List(usize, Vec<Shape>),
    /// The fields of a struct, or the elements of an array.
    Parts(Vec<Shape>),
    /// The variant of an enum and what it holds; of an option, 0 or 1.
    Choice(u32, Vec<Shape>),
}

impl Shape {
    /// Of a value; None if it is beyond any count.
    pub(crate) fn of(value: &impl Serialize) -> Option<Shape> {
        value.serialize(Walk).ok()
    }

    /// Whether a run in d coordinates that has begun with a memory of this shape may have one of
    /// that shape later.
    pub(crate) fn admits(&self, later: &Shape, d: usize) -> bool {
        let mut sizes = Sizes { known: Vec::new(), d };
        self.note_sizes(&mut sizes.known);
        self.admits_with(later, &sizes)
    }

    fn note_sizes(&self, sizes: &mut Vec<usize>) {
        if let Shape::List(len, _) = self {
            sizes.push(*len);
        }
        self.parts().iter().for_each(|part| part.note_sizes(sizes));
    }

    fn parts(&self) -> &[Shape] {
        match self {
            Shape::Plain | Shape::Fixed(_) => &[],
            Shape::List(_, parts) | Shape::Parts(parts) | Shape::Choice(_, parts) => parts,
        }
    }

    fn admits_with(&self, later: &Shape, sizes: &Sizes) -> bool {
        let all = |ours: &[Shape], theirs: &[Shape]| {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(a, b)| a.admits_with(b, sizes))
        };
        match (self, later) {
            (Shape::List(0, _), later) => later.is_of_sizes(sizes),
            (Shape::List(ours, first), Shape::List(theirs, parts)) => {
                ours == theirs && (first == parts || all(first, parts))
            }
            (Shape::Parts(ours), Shape::Parts(theirs)) => all(ours, theirs),
            (Shape::Choice(a, ours), Shape::Choice(b, theirs)) if a == b => all(ours, theirs),
            (Shape::Choice(..), Shape::Choice(..)) => later.is_of_sizes(sizes),
            (ours, theirs) => ours == theirs,
        }
    }

    /// Whether all lists of numbers are as long as one of a run that begins, or hold rows of d
    /// numbers. That is all that can be said here of what is not there from the beginning; a method
    /// that has more of it says more ([`Method::fits`](crate::Method::fits)).
    fn is_of_sizes(&self, sizes: &Sizes) -> bool {
        match self {
            Shape::List(len, parts) if matches!(**parts, [] | [Shape::Plain]) => sizes.has(*len),
            other => other.parts().iter().all(|part| part.is_of_sizes(sizes)),
        }
    }
}

/// How long lists may be.
struct Sizes {
    /// Those of a run that begins.
    known: Vec<usize>,
    d: usize,
}

impl Sizes {
    fn has(&self, len: usize) -> bool {
        self.known.contains(&len) || len.is_multiple_of(self.d)
    }
}

/// A way to write a number that is marked for [`Shape`]; in a file it is like any other.
macro_rules! marked {
    ($(#[$doc:meta])* $name:ident, $mark:ident) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(crate) fn serialize<T: Serialize, S: Serializer>(it: &T, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_newtype_struct(super::$mark, it)
            }

            pub(crate) fn deserialize<'a, T: Deserialize<'a>, D: Deserializer<'a>>(
                from: D,
            ) -> Result<T, D::Error> {
                T::deserialize(from)
            }
        }
    };
}

marked! {
    /// For `#[serde(with = "fixed")]`: sizes, and whatever else is the same from the beginning of a
    /// run to its end.
    fixed, FIXED
}

marked! {
    /// For `#[serde(with = "sized")]`: lists of numbers whose length never changes although it may
    /// be 0, which else is a list that will be filled.
    sized, SIZED
}

marked! {
    /// For `#[serde(with = "free")]`: seeds, of which none is too large, and lists of any length,
    /// at which [`Method::fits`](crate::Method::fits) looks.
    free, FREE
}

/// A hash of what is written.
fn hash_of<T: Serialize + ?Sized>(value: &T) -> Result<u128, TooLarge> {
    postcard::to_stdvec(value).map(|bytes| Hash::of_bytes(&bytes)).map_err(ser::Error::custom)
}

/// A whole number beyond [`MOST`].
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("a counter is out of all proportion")]
pub(crate) struct TooLarge;

impl ser::Error for TooLarge {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        TooLarge
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Clone, Serialize)]
    struct State {
        #[serde(with = "fixed")]
        d: usize,
        theta: Vec<f64>,
        k: u64,
        later: Option<Vec<f64>>,
        records: Vec<(f64, u64)>,
        moments: Vec<f64>,
        #[serde(with = "sized")]
        switched_off: Vec<f64>,
    }

    fn state() -> State {
        let theta = vec![0.0; 3];
        let (records, moments, switched_off) = (Vec::new(), Vec::new(), Vec::new());
        State { d: 3, theta, k: 0, later: None, records, moments, switched_off }
    }

    fn admitted(later: &State) -> bool {
        let shape = Shape::of(&state()).expect("small counters");
        Shape::of(later).is_some_and(|later| shape.admits(&later, 3))
    }

    #[test]
    fn a_state_may_move_count_and_fill_what_was_empty() {
        assert!(admitted(&state()));
        assert!(admitted(&State { theta: vec![1.0, f64::NAN, 2.0], k: 7, ..state() }));
        assert!(admitted(&State { later: Some(vec![1.0; 3]), moments: vec![0.5; 3], ..state() }));
        assert!(admitted(&State { records: vec![(0.5, 1); 10], ..state() }));
    }

    #[test]
    fn other_lengths_sizes_and_endless_counters_are_refused() {
        assert!(!admitted(&State { d: 2, ..state() }));
        assert!(!admitted(&State { theta: vec![0.0; 2], ..state() }));
        assert!(!admitted(&State { theta: Vec::new(), ..state() }));
        assert!(!admitted(&State { later: Some(vec![1.0; 4]), ..state() }));
        assert!(!admitted(&State { moments: vec![1.0; 2], ..state() }));
        assert!(!admitted(&State { switched_off: vec![1.0; 3], ..state() }));
        assert!(!admitted(&State { k: u64::MAX, ..state() }));
        assert!(!admitted(&State { records: vec![(0.5, u64::MAX)], ..state() }));
    }
}
