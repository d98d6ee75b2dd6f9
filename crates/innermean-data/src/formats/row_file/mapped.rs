//! Numbers in a file, read where they are: by a mapping where there is one, which is made here
//! alone, and in pieces.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// Numbers of a file, which any thread may read from any place.
///
/// The file must not be written to while it is in use.
#[derive(Debug, Clone)]
pub struct FileNumbers {
    file: Arc<File>,
    name: String,
    /// In bytes.
    start: u64,
    count: usize,
    mapped: Option<Mapped>,
}

/// Numbers that are looked at in one go.
const PIECE: usize = 1 << 15;
/// Numbers whose bytes are read in one go: they stay in the nearest cache.
const AT_ONCE: usize = 1 << 12;

impl FileNumbers {
    /// The doubles of a file from byte `start` on, `count` of them; `None` where the machine has
    /// another order of bytes.
    pub(crate) fn new(path: &Path, start: usize, count: usize) -> io::Result<Option<Self>> {
        if cfg!(target_endian = "big") {
            return Ok(None);
        }
        let file = File::open(path)?;
        let end = count.checked_mul(size_of::<f64>()).and_then(|bytes| bytes.checked_add(start));
        if end.is_none_or(|end| file.metadata().is_ok_and(|found| found.len() < end as u64)) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // A mapping must leave room for what else a program takes.
        let bytes = (count * size_of::<f64>()) as u64;
        let fits = crate::memory::address_space().is_none_or(|left| bytes <= left / 2);
        let mapped = if fits { Mapped::new(&file, start, count).ok().flatten() } else { None };
        let name = path.display().to_string();
        Ok(Some(Self { file: Arc::new(file), name, start: start as u64, count, mapped }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What the file is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same as memory, where the system maps a file of this size and leaves room beside it.
    pub fn mapped(&self) -> Option<&Mapped> {
        self.mapped.as_ref()
    }

    /// Reads the numbers from place `first` on that fill `out`.
    ///
    /// # Errors
    /// If the file cannot be read, or ends before.
    pub fn read_at(&self, first: usize, out: &mut [f64]) -> io::Result<()> {
        let mut at = self.start + (size_of::<f64>() * first) as u64;
        let mut bytes = vec![0; size_of::<f64>() * AT_ONCE.min(out.len())];
        for out in out.chunks_mut(AT_ONCE) {
            let bytes = &mut bytes[..size_of_val(out)];
            self.fill(bytes, at)?;
            at += bytes.len() as u64;
            let numbers = bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x));
            out.iter_mut().zip(numbers).for_each(|(out, x)| *out = x);
        }
        Ok(())
    }

    fn fill(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match read_some(&self.file, bytes, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    bytes = &mut bytes[count..];
                    at += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands over all numbers in their order, some whole rows of `width` at a time, until one is
    /// refused.
    pub(crate) fn try_pieces<E: From<io::Error>>(
        &self,
        rows: usize,
        width: usize,
        mut work: impl FnMut(usize, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let most = (rows * width).max(1);
        if let Some(mapped) = &self.mapped {
            let mut pieces = mapped.as_ref().chunks(most).enumerate();
            return pieces.try_for_each(|(k, numbers)| work(k * most, numbers));
        }
        let mut numbers = vec![0.0; most.min(self.count)];
        let mut first = 0;
        while first < self.count {
            let own = most.min(self.count - first);
            self.read_at(first, &mut numbers[..own])?;
            work(first, &numbers[..own])?;
            first += own;
        }
        Ok(())
    }

    /// Whether all are finite.
    pub(crate) fn are_finite(&self) -> io::Result<bool> {
        let mut all = true;
        self.try_pieces(PIECE, 1, |_, numbers| {
            all &= numbers.iter().all(|x| x.is_finite());
            Ok::<(), io::Error>(())
        })?;
        Ok(all)
    }
}

#[cfg(unix)]
fn read_some(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_some(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

#[cfg(not(any(unix, windows)))]
fn read_some(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    // Threads share one place in the file.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ONE.lock();
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    file.read(out)
}

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
    /// The doubles of `file` from byte `start` on, `count` of them; `None` where they do not stand at
    /// a multiple of eight.
    fn new(file: &File, start: usize, count: usize) -> io::Result<Option<Self>> {
        if !start.is_multiple_of(size_of::<f64>()) {
            return Ok(None);
        }
        // SAFETY: the mapping is private to this type, which only reads it. What others do to the
        // file meanwhile cannot be prevented; the type says what is asked of them, and any bytes
        // are numbers.
        #[expect(unsafe_code, reason = "a file seen as memory")]
        let map = unsafe { Mmap::map(file)? };
        let end = start + count * size_of::<f64>();
        Ok((end <= map.len()).then(|| Self { map: Arc::new(map), start, end }))
    }

    /// The bytes of the numbers.
    fn bytes(&self) -> &[u8] {
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
