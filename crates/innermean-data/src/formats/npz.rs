//! Several arrays of numpy in one file: the npz format, a zip archive of npy files, stored or
//! deflated.
//!
//! A zip archive is read from its end: there stands where its directory begins, and the directory
//! says where each member begins, how it is packed and what its checksum is. Archives above 4 GB
//! say so in extra fields (zip64).

use std::io::{self, Read, SeekFrom};

use flate2::CrcReader;
use flate2::read::DeflateDecoder;

use crate::error::ReadError;
use crate::formats::npy::{self, Array};
use crate::limits::Limits;
use crate::source::{ReadSeek, unreadable};
use crate::wording::shorten;

/// Deflate packs at most 258 bytes into two bits.
const BEST_DEFLATE: u64 = 1032;

/// The arrays of a file, none of which has been read.
pub(crate) struct Archive<'a> {
    file: String,
    input: Box<dyn ReadSeek + 'a>,
    /// Its bytes.
    length: u64,
    limits: Limits,
    members: Vec<Member>,
}

/// One array.
#[derive(Debug, Clone)]
struct Member {
    /// Without `.npy`.
    name: String,
    method: u16,
    checksum: u32,
    packed: u64,
    unpacked: u64,
    /// Where it begins.
    offset: u64,
}

impl Member {
    /// The most bytes that it can unpack to: what the directory says is believed as far as an
    /// archive of `length` bytes can hold it.
    fn room(&self, length: u64) -> u64 {
        let there = self.packed.min(length.saturating_sub(self.offset));
        if self.method == 0 { there } else { self.unpacked.min(there.saturating_mul(BEST_DEFLATE)) }
    }
}

impl<'a> Archive<'a> {
    /// Reads the directory; an archive that has no arrays is refused.
    pub(crate) fn open(
        mut input: Box<dyn ReadSeek + 'a>,
        limits: Limits,
        file: &str,
    ) -> Result<Self, ReadError> {
        let length = input.seek(SeekFrom::End(0)).map_err(|source| unreadable(file, source))?;
        let members = directory(&mut input, length, file)?;
        let file = file.to_owned();
        Ok(Self { file, input, length, limits, members })
    }

    /// The file's name in messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The array to be read: the one of this name, or the only one; `None` if there are several and
    /// none is named.
    pub(crate) fn only(&self, name: Option<&str>) -> Result<Option<usize>, ReadError> {
        let Some(name) = name else { return Ok((self.members.len() == 1).then_some(0)) };
        match self.members.iter().position(|member| member.name == name) {
            Some(index) => Ok(Some(index)),
            None => Err(ReadError::UnknownArray {
                file: self.file.clone(),
                name: name.to_owned(),
                names: self.names(),
            }),
        }
    }

    /// The names of the arrays.
    pub(crate) fn names(&self) -> Vec<String> {
        self.members.iter().map(|member| member.name.clone()).collect()
    }

    /// The number of rows of an array, and of its columns if it has two dimensions.
    pub(crate) fn shape(&mut self, index: usize) -> Result<(usize, Option<usize>), ReadError> {
        let (file, _) = self.name_of(index);
        let room = self.room(index, &file)?;
        npy::read_shape(&mut self.unpacked(index, &file)?, room, &file)
    }

    /// Reads one array.
    pub(crate) fn read(&mut self, index: usize) -> Result<Array, ReadError> {
        let (file, _) = self.name_of(index);
        let (checksum, room) = (self.members[index].checksum, self.room(index, &file)?);
        let limits = self.limits;
        let mut checked = CrcReader::new(self.unpacked(index, &file)?);
        let array = npy::read(&mut checked, room, &limits, &file)?;
        io::copy(&mut checked, &mut io::sink()).map_err(|source| unreadable(&file, source))?;
        if checked.crc().sum() != checksum {
            return Err(ReadError::damaged(&file, "its checksum does not fit"));
        }
        Ok(array)
    }

    /// The most bytes that an array can unpack to, unless they are too many.
    fn room(&self, index: usize, file: &str) -> Result<u64, ReadError> {
        let member = &self.members[index];
        let room = member.room(self.length);
        self.limits.check_expansion(room, member.packed.min(self.length), file)?;
        Ok(room)
    }

    /// What is refused.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What an array is called in messages, as it can be asked for, and its name alone.
    pub(crate) fn name_of(&self, index: usize) -> (String, String) {
        let name = &self.members[index].name;
        (format!("{}:{}", self.file, shorten(name)), name.clone())
    }

    /// The bytes of a member.
    fn unpacked(&mut self, index: usize, file: &str) -> Result<Box<dyn Read + '_>, ReadError> {
        let Member { method, packed, offset, .. } = self.members[index];
        let failed = |source| unreadable(file, source);
        // The local header repeats the name, and may have other extra fields than the directory.
        self.input.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut local = [0; 30];
        self.input.read_exact(&mut local).map_err(failed)?;
        if !local.starts_with(b"PK\x03\x04") {
            return Err(ReadError::damaged(file, "its directory points nowhere"));
        }
        let skip = i64::from(u16_at(&local, 26)) + i64::from(u16_at(&local, 28));
        self.input.seek(SeekFrom::Current(skip)).map_err(failed)?;
        let bytes = self.input.by_ref().take(packed);
        match method {
            0 => Ok(Box::new(bytes)),
            8 => Ok(Box::new(DeflateDecoder::new(bytes))),
            _ => {
                let reason = format!("is packed by method {method} of zip");
                Err(ReadError::unsuitable(file, &reason, "save it with numpy.savez"))
            }
        }
    }
}

/// The members that are arrays, in an archive of `length` bytes.
fn directory(input: &mut dyn ReadSeek, length: u64, file: &str) -> Result<Vec<Member>, ReadError> {
    let failed = |source| unreadable(file, source);
    // The last record has 22 bytes and a remark of at most 65535.
    let tail_from = length.saturating_sub(22 + 65_535 + 20);
    let mut tail = Vec::new();
    input.seek(SeekFrom::Start(tail_from)).map_err(failed)?;
    input.read_to_end(&mut tail).map_err(failed)?;
    let Some(end) = tail.windows(22).rposition(|bytes| bytes.starts_with(b"PK\x05\x06")) else {
        return Err(ReadError::damaged(file, "it ends too early"));
    };
    let record = &tail[end..];
    let (mut count, mut from) = (u64::from(u16_at(record, 10)), u64::from(u32_at(record, 16)));
    // A zip64 locator just before it leads to a record with longer numbers.
    if let Some(locator) = end.checked_sub(20).map(|at| &tail[at..end])
        && locator.starts_with(b"PK\x06\x07")
    {
        let mut long = [0; 56];
        input.seek(SeekFrom::Start(u64_at(locator, 8))).map_err(failed)?;
        input.read_exact(&mut long).map_err(failed)?;
        (count, from) = (u64_at(&long, 32), u64_at(&long, 48));
    }
    if from > length {
        return Err(ReadError::damaged(file, "its directory points nowhere"));
    }
    input.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut bytes = Vec::new();
    input.take(length - from).read_to_end(&mut bytes).map_err(failed)?;
    let mut members = Vec::new();
    let mut workbook = false;
    let mut rest = &bytes[..];
    for _ in 0..count {
        let Some((member, after)) = entry(rest) else {
            return Err(ReadError::damaged(file, "its directory is broken"));
        };
        workbook |= is_of_workbook(&member.name);
        if let Some(name) = member.name.strip_suffix(".npy") {
            members.push(Member { name: name.to_owned(), ..member });
        }
        rest = after;
    }
    let file = || file.to_owned();
    match members.is_empty() {
        true if workbook => Err(ReadError::Workbook { file: file() }),
        true => Err(ReadError::Zip { file: file() }),
        false => Ok(members),
    }
}

/// Whether a member is one that every workbook has: `.xlsx`, `.xlsm` and `.xlsb`, or `.ods`.
fn is_of_workbook(name: &str) -> bool {
    name.starts_with("xl/workbook.") || name == "content.xml"
}

/// One entry of the directory, and what follows.
fn entry(bytes: &[u8]) -> Option<(Member, &[u8])> {
    if bytes.len() < 46 || !bytes.starts_with(b"PK\x01\x02") {
        return None;
    }
    let [name, extra, remark] = [28, 30, 32].map(|at| usize::from(u16_at(bytes, at)));
    let text = bytes.get(46..46 + name)?;
    let extras = bytes.get(46 + name..46 + name + extra)?;
    let rest = bytes.get(46 + name + extra + remark..)?;
    let [mut packed, mut unpacked, mut offset] =
        [20, 24, 42].map(|at| u64::from(u32_at(bytes, at)));
    // Numbers that do not fit are all ones, and are in this order in an extra field.
    if let Some(mut long) = zip64_field(extras) {
        let mut next = || {
            let (first, after) = long.split_first_chunk::<8>()?;
            long = after;
            Some(u64::from_le_bytes(*first))
        };
        for number in [&mut unpacked, &mut packed, &mut offset] {
            if *number == u64::from(u32::MAX) {
                *number = next()?;
            }
        }
    }
    let name = String::from_utf8_lossy(text).into_owned();
    let (method, checksum) = (u16_at(bytes, 10), u32_at(bytes, 16));
    Some((Member { name, method, checksum, packed, unpacked, offset }, rest))
}

/// The extra field of number 1.
fn zip64_field(mut extras: &[u8]) -> Option<&[u8]> {
    while extras.len() >= 4 {
        let (kind, length) = (u16_at(extras, 0), usize::from(u16_at(extras, 2)));
        let field = extras.get(4..4 + length)?;
        if kind == 1 {
            return Some(field);
        }
        extras = &extras[4 + length..];
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
