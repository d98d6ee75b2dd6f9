//! Numbers in a file, read where they are: the only place where memory is mapped.

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;

use memmap2::Mmap;

/// Numbers of a file that is mapped into memory: the system reads what is looked at, and gives it
/// up again where memory is short. Clones share the mapping.
///
/// The file must not be written to or cut short while it is in use: numbers would change under
/// whoever reads them, and a part that is gone ends the program.
#[derive(Clone)]
pub struct Mapped {
    map: Arc<Mmap>,
    /// In bytes.
    start: usize,
    end: usize,
}

impl Mapped {
    /// The doubles of `file` from byte `start` on, `count` of them; `None` where they cannot be
    /// read as they are, in another order of bytes or not at a multiple of eight.
    pub(crate) fn new(file: &File, start: usize, count: usize) -> io::Result<Option<Self>> {
        if cfg!(target_endian = "big") || !start.is_multiple_of(size_of::<f64>()) {
            return Ok(None);
        }
        // SAFETY: the mapping is private to this type, which only reads it. What others do to the
        // file meanwhile cannot be prevented; the type says what is asked of them, and any bytes
        // are numbers.
        #[expect(unsafe_code, reason = "a file seen as memory")]
        let map = unsafe { Mmap::map(file)? };
        let end = count.checked_mul(size_of::<f64>()).and_then(|bytes| bytes.checked_add(start));
        let Some(end) = end.filter(|&end| end <= map.len()) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        Ok(Some(Self { map: Arc::new(map), start, end }))
    }

    /// The bytes of the numbers.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[self.start..self.end]
    }
}

impl AsRef<[f64]> for Mapped {
    #[inline(always)]
    fn as_ref(&self) -> &[f64] {
        // SAFETY: every eight bytes are a double, and what does not stand at a multiple of eight
        // is left out: nothing is, since a mapping begins with a page and `start` is such a
        // multiple.
        #[expect(unsafe_code, reason = "bytes seen as numbers")]
        unsafe {
            self.bytes().align_to().1
        }
    }
}

impl fmt::Debug for Mapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mapped({} numbers)", self.as_ref().len())
    }
}
