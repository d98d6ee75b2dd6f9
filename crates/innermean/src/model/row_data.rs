//! Rows of numbers that lie in memory, or are read a few at a time.
//!
//! A pass visits rows in *pieces*. Rows in memory are one piece; others are brought into a window
//! that each thread keeps, from a file or by a formula from other rows. Pieces are cut at multiples
//! of [`UNIT`] rows from where a pass begins, and all kernels add up row after row: the bits are
//! those of rows in memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::inner::Lost;
use crate::model::numbers::Numbers;

mod made;

pub(crate) use made::Made;

/// Rows that are not kept in memory, and can be read in any order, by several threads at once.
pub trait ReadRows: Send + Sync {
    /// How many numbers a row has.
    fn width(&self) -> usize;

    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Writes the rows from `first` on that fill `out`, which has room for whole rows.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&self, first: usize, out: &mut [f64]) -> Result<(), Lost>;
}

/// Many rows: numbers in memory, owned or [shared](Numbers), or rows that are read when they are
/// looked at ([`RowData::read`]). All passes give the same bits for both. A clone shares what is
/// not owned.
#[derive(Clone)]
pub struct RowData(Place);

#[derive(Clone)]
enum Place {
    Held(Numbers),
    Read(Arc<Pieces>),
}

struct Pieces {
    /// Different for every source in the program.
    number: u64,
    source: Box<dyn ReadRows>,
    lost: OnceLock<Lost>,
}

/// Pieces have a multiple of so many rows: of the 4 that kernels take at a time, and of all tiles.
const UNIT: usize = 256;
/// Numbers in a window, about: they stay in the second cache.
const WINDOW: usize = 1 << 15;
/// Whoever asks for fewer rows, not behind those before, jumps about.
const IN_ORDER: usize = 16;
/// Windows of a thread: of rows, and of rows that are made of them.
const WINDOWS: usize = 4;

/// Rows that a thread has at hand.
struct Window {
    number: u64,
    rows: Range<usize>,
    numbers: Vec<f64>,
}

thread_local! {
    static KEPT: RefCell<Vec<Window>> = const { RefCell::new(Vec::new()) };
}

/// The window of this source, or another to be filled.
fn take(number: u64) -> Window {
    KEPT.with_borrow_mut(|kept| {
        let own = kept.iter().position(|window| window.number == number);
        match own {
            Some(k) => kept.remove(k),
            None if kept.len() == WINDOWS => kept.remove(0),
            None => Window { number: 0, rows: 0..0, numbers: Vec::new() },
        }
    })
}

fn put_back(window: Window) {
    KEPT.with_borrow_mut(|kept| kept.push(window));
}

impl Pieces {
    /// Rows in a piece of a pass.
    fn step(&self) -> usize {
        (WINDOW / self.source.width().max(1) / UNIT).max(1) * UNIT
    }

    /// Runs `work` on rows, which are brought near if they are not.
    #[inline]
    fn with<R>(&self, rows: Range<usize>, work: impl FnOnce(&[f64]) -> R) -> R {
        let mut window = take(self.number);
        let width = self.source.width();
        let is_here = window.number == self.number
            && window.rows.start <= rows.start
            && rows.end <= window.rows.end;
        if !is_here {
            self.fill(&mut window, &rows);
        }
        let from = (rows.start - window.rows.start) * width;
        let result = work(&window.numbers[from..from + rows.len() * width]);
        put_back(window);
        result
    }

    fn fill(&self, window: &mut Window, rows: &Range<usize>) {
        let goes_on = window.number == self.number && window.rows.end == rows.start;
        let ahead = goes_on || rows.len() >= IN_ORDER;
        let end = rows.start + if ahead { self.step() } else { 0 };
        let all = rows.start..end.min(self.source.rows()).max(rows.end);
        window.numbers.resize(all.len() * self.source.width(), 0.0);
        (window.number, window.rows) = (self.number, all);
        if self.lost.get().is_some() {
            window.numbers.fill(f64::NAN);
        } else if let Err(lost) = self.source.read(window.rows.start, &mut window.numbers) {
            window.numbers.fill(f64::NAN);
            let _ = self.lost.set(lost);
        }
    }
}

impl RowData {
    /// Rows that are read when they are looked at.
    pub fn read(source: impl ReadRows + 'static) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let pieces = Pieces { number, source: Box::new(source), lost: OnceLock::new() };
        RowData(Place::Read(Arc::new(pieces)))
    }

    /// How many numbers all rows have together.
    pub fn len(&self) -> usize {
        match &self.0 {
            Place::Held(numbers) => numbers.len(),
            Place::Read(pieces) => pieces.source.rows() * pieces.source.width(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, where they lie in memory.
    #[inline(always)]
    pub fn held(&self) -> Option<&[f64]> {
        match &self.0 {
            Place::Held(numbers) => Some(numbers),
            Place::Read(_) => None,
        }
    }

    /// Whether these are rows of so many numbers.
    pub fn is_of(&self, width: usize) -> bool {
        match &self.0 {
            Place::Held(numbers) => width > 0 && numbers.len().is_multiple_of(width),
            Place::Read(pieces) => pieces.source.width() == width,
        }
    }

    /// Why rows could not be read, if so: what was looked at in their place is no number.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&self) -> Result<(), Lost> {
        match &self.0 {
            Place::Held(_) => Ok(()),
            Place::Read(pieces) => pieces.lost.get().cloned().map_or(Ok(()), Err),
        }
    }

    /// Runs `work` on some rows of `width` numbers, all at once.
    #[inline(always)]
    pub fn with<R>(&self, width: usize, rows: Range<usize>, work: impl FnOnce(&[f64]) -> R) -> R {
        match &self.0 {
            Place::Held(numbers) => work(&numbers[rows.start * width..rows.end * width]),
            Place::Read(pieces) => pieces.with(rows, work),
        }
    }

    /// Runs `work(which rows, their numbers)` on some rows of `width` numbers, piece by piece in
    /// their order.
    #[inline(always)]
    pub fn visit(
        &self,
        width: usize,
        rows: Range<usize>,
        mut work: impl FnMut(Range<usize>, &[f64]),
    ) {
        match &self.0 {
            Place::Held(numbers) => {
                let own = &numbers[rows.start * width..rows.end * width];
                work(rows, own);
            }
            Place::Read(pieces) => {
                let step = pieces.step();
                let mut first = rows.start;
                while first < rows.end {
                    let own = first..rows.end.min(first + step);
                    pieces.with(
                        own.clone(),
                        #[inline(always)]
                        |numbers| work(own.clone(), numbers),
                    );
                    first = own.end;
                }
            }
        }
    }

    /// Runs `work(number of the row, row)` on all rows of `width` numbers in their order.
    pub fn each_row(&self, width: usize, mut work: impl FnMut(usize, &[f64])) {
        self.visit(width, 0..self.len() / width.max(1), |rows, numbers| {
            rows.zip(numbers.chunks_exact(width.max(1))).for_each(|(i, row)| work(i, row));
        });
    }

    /// The rows from `first` on that fill `out`, of whole rows of `width` numbers.
    pub fn copy_to(&self, width: usize, first: usize, out: &mut [f64]) {
        self.visit(width, first..first + out.len() / width.max(1), |rows, numbers| {
            let from = (rows.start - first) * width;
            out[from..from + numbers.len()].copy_from_slice(numbers);
        });
    }

    /// All numbers at once, copied where they are not in memory.
    pub fn numbers(&self) -> Cow<'_, [f64]> {
        self.held().map_or_else(|| self.clone().into_vec().into(), Cow::from)
    }

    /// All numbers as a vector of its own.
    pub fn into_vec(self) -> Vec<f64> {
        match self.0 {
            Place::Held(numbers) => numbers.into_vec(),
            Place::Read(ref pieces) => {
                let mut all = vec![0.0; self.len()];
                self.copy_to(pieces.source.width(), 0, &mut all);
                all
            }
        }
    }

    /// To be changed; what is shared or not in memory is copied first.
    pub fn to_mut(&mut self) -> &mut [f64] {
        if let Place::Read(_) = self.0 {
            self.0 = Place::Held(self.clone().into_vec().into());
        }
        match &mut self.0 {
            Place::Held(numbers) => numbers.to_mut(),
            Place::Read(_) => unreachable!("it has been copied"),
        }
    }

    /// Whether others may hold them too, so that a change would copy them.
    pub fn is_shared(&self) -> bool {
        match &self.0 {
            Place::Held(numbers) => numbers.is_shared(),
            Place::Read(_) => true,
        }
    }

    /// The same in memory that clones share.
    #[must_use]
    pub fn into_shared(self) -> Self {
        match self.0 {
            Place::Held(numbers) => numbers.into_shared().into(),
            Place::Read(_) => self,
        }
    }

    /// As many rows of `to` numbers: `formula(row, out)` writes the one that is made of a row of
    /// `width` numbers. They are in memory if these are, and made when they are looked at if not.
    #[must_use]
    pub fn each_made(
        &self,
        width: usize,
        to: usize,
        formula: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> RowData {
        Made::where_they_are((self, width), to, formula)
    }

    /// Where the first number is that is not finite, and that number.
    pub(crate) fn first_bad(&self, width: usize) -> Option<(usize, f64)> {
        let mut found = None;
        self.visit(width, 0..self.len() / width.max(1), |rows, numbers| {
            if found.is_none() {
                let bad = numbers.iter().position(|x| !x.is_finite());
                found = bad.map(|k| (rows.start * width + k, numbers[k]));
            }
        });
        found
    }
}

impl From<Numbers> for RowData {
    fn from(numbers: Numbers) -> Self {
        RowData(Place::Held(numbers))
    }
}

impl From<Vec<f64>> for RowData {
    fn from(numbers: Vec<f64>) -> Self {
        Numbers::from(numbers).into()
    }
}

impl<T: AsRef<[f64]> + Send + Sync + 'static> From<Arc<T>> for RowData {
    fn from(numbers: Arc<T>) -> Self {
        Numbers::from(numbers).into()
    }
}

impl From<Arc<dyn AsRef<[f64]> + Send + Sync>> for RowData {
    fn from(numbers: Arc<dyn AsRef<[f64]> + Send + Sync>) -> Self {
        Numbers::from(numbers).into()
    }
}

impl Default for RowData {
    fn default() -> Self {
        Numbers::default().into()
    }
}

impl PartialEq for RowData {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Held(a), Place::Held(b)) => a == b,
            (Place::Read(a), Place::Read(b)) => a.number == b.number,
            _ => false,
        }
    }
}

impl fmt::Debug for RowData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Held(numbers) => numbers.fmt(f),
            Place::Read(_) => write!(f, "RowData({} numbers, read in pieces)", self.len()),
        }
    }
}

impl Serialize for RowData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Place::Held(numbers) => numbers.serialize(serializer),
            Place::Read(_) => self.clone().into_vec().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RowData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Numbers::deserialize(deserializer).map(RowData::from)
    }
}
