//! Data that a problem owns, or shares with whoever holds them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Many numbers: a vector, or memory with another owner (a mapped file, an array of another
/// language) that is read where it is. A clone of shared numbers shares them.
///
/// ```
/// use std::sync::Arc;
///
/// use innermean::{Numbers, Portfolio};
///
/// let returns = Arc::new(vec![1.0, 0.2, -0.6, 0.1, 0.5, -0.1]);
/// let whole = Portfolio::new(2, returns.clone())?;
/// // The same memory, read as three rows of two.
/// assert_eq!(whole.returns().held().map(<[f64]>::as_ptr), Some(returns.as_ptr()));
/// # Ok::<(), innermean::InvalidSetting>(())
/// ```
#[derive(Clone)]
pub struct Numbers(Held);

#[derive(Clone)]
enum Held {
    Own(Vec<f64>),
    Shared(Arc<dyn AsRef<[f64]> + Send + Sync>),
}

impl Numbers {
    /// The same in memory that clones share.
    #[must_use]
    pub fn into_shared(self) -> Self {
        match self.0 {
            Held::Own(numbers) => Arc::new(numbers).into(),
            Held::Shared(_) => self,
        }
    }

    /// Whether others may hold them too, so that a change would copy them.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Held::Shared(_))
    }

    /// As a vector of its own; shared numbers are copied.
    pub fn into_vec(self) -> Vec<f64> {
        match self.0 {
            Held::Own(numbers) => numbers,
            Held::Shared(numbers) => (*numbers).as_ref().to_vec(),
        }
    }

    /// To be changed; shared numbers are copied first.
    pub fn to_mut(&mut self) -> &mut [f64] {
        if let Held::Shared(numbers) = &self.0 {
            self.0 = Held::Own((**numbers).as_ref().to_vec());
        }
        match &mut self.0 {
            Held::Own(numbers) => numbers,
            Held::Shared(_) => unreachable!("it has been copied"),
        }
    }
}

impl Deref for Numbers {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        match &self.0 {
            Held::Own(numbers) => numbers,
            Held::Shared(numbers) => (**numbers).as_ref(),
        }
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Numbers(Held::Own(numbers))
    }
}

impl<T: AsRef<[f64]> + Send + Sync + 'static> From<Arc<T>> for Numbers {
    fn from(numbers: Arc<T>) -> Self {
        Numbers(Held::Shared(numbers))
    }
}

impl From<Arc<dyn AsRef<[f64]> + Send + Sync>> for Numbers {
    fn from(numbers: Arc<dyn AsRef<[f64]> + Send + Sync>) -> Self {
        Numbers(Held::Shared(numbers))
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl Serialize for Numbers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Numbers::from)
    }
}
