//! Checkpoints that were changed by someone who knows what they are made of: lengths and hashes are
//! right, and lists have other lengths than the run gave them.

use std::ops::Range;

use innermean::Checkpoint;
use innermean::checkpoint::Hash;

use crate::mutate::Dice;

const HASH: usize = 16;
/// What is hashed begins with its length.
const HASHED: usize = Checkpoint::BEGINNING.len() + 4 + HASH;
const CONTENT: usize = HASHED + 8;

/// Gives a damaged file the length and the hash of what it holds.
pub(crate) fn repaired(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let length = bytes.len().checked_sub(CONTENT)? as u64;
    bytes[HASHED..CONTENT].copy_from_slice(&length.to_le_bytes());
    let hash = Hash::of_bytes(&bytes[HASHED..]).to_le_bytes();
    bytes[HASHED - HASH..HASHED].copy_from_slice(&hash);
    Some(bytes)
}

/// The number of the file that was changed: the one that begins with as many of the same bytes, for
/// the header names method and problem.
pub(crate) fn nearest<'a>(files: impl Iterator<Item = &'a [u8]>, data: &[u8]) -> usize {
    let content = data.get(CONTENT..).unwrap_or_default();
    let same =
        |file: &[u8]| file[CONTENT..].iter().zip(content).take_while(|(a, b)| a == b).count();
    files.map(same).enumerate().max_by_key(|(_, same)| *same).map_or(0, |(number, _)| number)
}

/// Damages what is in a real file: lists that are longer or shorter, counters and numbers at
/// the edge of what there is.
pub fn case(seeds: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed, number);
    let mut data = seeds[dice.below(seeds.len())].to_vec();
    for _ in 0..=dice.below(2) {
        if dice.below(3) == 0 && resize(&mut dice, &mut data).is_some() {
            continue;
        }
        // Mostly the state, which is behind the header; or what is behind the state.
        let body = Layout::of(&data).map_or(CONTENT..data.len(), |layout| layout.body);
        let from = match dice.below(20) {
            0 => CONTENT,
            1..6 if body.end < data.len() => body.end,
            _ => body.start,
        };
        let at = from + dice.below(data.len().saturating_sub(from));
        change(&mut dice, &mut data, at);
    }
    data
}

fn change(dice: &mut Dice, data: &mut Vec<u8>, at: usize) {
    const NUMBERS: [f64; 8] = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308, -1e308, 5e-324, 1e18];
    const WHOLE: [u64; 5] = [u64::MAX, 1 << 63, 1 << 32, 300, 0];
    if at >= data.len() {
        return;
    }
    match dice.below(5) {
        0 => data[at] = dice.below(256) as u8,
        1 => data[at] ^= 1 << dice.below(8),
        2 if at + 8 <= data.len() => {
            data[at..at + 8].copy_from_slice(&NUMBERS[dice.below(NUMBERS.len())].to_le_bytes());
        }
        3 => drop(data.splice(at..=at, written(WHOLE[dice.below(WHOLE.len())]))),
        _ => data[at] = data[at].wrapping_add(dice.below(5) as u8).wrapping_sub(2),
    }
}

/// A whole number as it is written: seven bits a byte, the lowest first.
fn written(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The whole number at a place, and where it ends.
fn whole(data: &[u8], at: usize) -> Option<(usize, usize)> {
    let end = at + data.get(at..)?.iter().position(|byte| *byte < 0x80)? + 1;
    let number =
        data[at..end].iter().rev().fold(0_u128, |sum, byte| sum << 7 | u128::from(byte & 0x7f));
    // Of a hash, which is larger, only the end is asked for.
    Some((usize::try_from(number).unwrap_or(usize::MAX), end))
}

/// A list of doubles.
#[derive(Debug, Clone, PartialEq)]
struct List {
    /// Where its length stands.
    at: usize,
    numbers: Range<usize>,
}

impl List {
    /// The one at a place; none if it is longer than what is left.
    fn at(data: &[u8], at: usize) -> Option<Self> {
        let (count, first) = whole(data, at)?;
        let end = first.checked_add(count.checked_mul(8)?)?;
        (end <= data.len()).then_some(List { at, numbers: first..end })
    }

    fn count(&self) -> usize {
        self.numbers.len() / 8
    }

    /// Whether the numbers look like those of a run: bytes of something else hardly ever do.
    fn is_likely(&self, data: &[u8]) -> bool {
        let likely = |bytes: &[u8]| {
            let x = bytes.try_into().map_or(f64::NAN, f64::from_le_bytes).abs();
            x == 0.0 || (1e-60..1e60).contains(&x)
        };
        self.count() > 0 && data[self.numbers.clone()].chunks_exact(8).all(likely)
    }

    /// The same with this many numbers: the first of them, over and over.
    fn resized(&self, data: &[u8], count: usize) -> Vec<u8> {
        let numbers = data[self.numbers.clone()].iter().copied().cycle().take(8 * count);
        written(count as u64).into_iter().chain(numbers).collect()
    }
}

/// Where things are in a file.
struct Layout {
    /// Where the run began.
    start: List,
    /// The place of the length of the state.
    length: usize,
    /// The state.
    body: Range<usize>,
}

impl Layout {
    fn of(data: &[u8]) -> Option<Self> {
        let mut at = CONTENT;
        // The release and the method.
        for _ in 0..2 {
            let (length, text) = whole(data, at)?;
            at = text.checked_add(length)?;
        }
        // Hashes of the settings and of the problem.
        for _ in 0..2 {
            at = whole(data, at)?.1;
        }
        let start = List::at(data, at)?;
        // After the seconds since then.
        let length = start.numbers.end + 8;
        let (bytes, first) = whole(data, length)?;
        let end = first.checked_add(bytes)?;
        (end <= data.len()).then_some(Layout { start, length, body: first..end })
    }

    /// What looks like lists of doubles in the state.
    fn lists(&self, data: &[u8]) -> Vec<List> {
        let (mut lists, mut at) = (Vec::new(), self.body.start);
        while at < self.body.end {
            let list = List::at(&data[..self.body.end], at).filter(|list| list.is_likely(data));
            at = list.as_ref().map_or(at + 1, |list| list.numbers.end);
            lists.extend(list);
        }
        lists
    }
}

/// Makes a list of the state longer or shorter, or all that are as long, the start among them; the
/// length of the state goes along. None if there is none.
fn resize(dice: &mut Dice, data: &mut Vec<u8>) -> Option<()> {
    let layout = Layout::of(data)?;
    let mut lists = layout.lists(data);
    let chosen = lists.get(dice.below(lists.len()))?.clone();
    let n = chosen.count();
    let count = [0, 1, n - 1, n + 1, 2 * n, n + 300][dice.below(6)];
    if dice.below(2) == 0 {
        lists = vec![chosen];
    } else {
        lists.insert(0, layout.start.clone());
        lists.retain(|list| list.count() == n);
    }
    let (mut start, mut body) = (layout.start.numbers.end, layout.body.len());
    for list in lists.iter().rev() {
        let resized = list.resized(data, count);
        let before = list.numbers.end - list.at;
        let changed = if list.at < layout.body.start { &mut start } else { &mut body };
        *changed = *changed + resized.len() - before;
        data.splice(list.at..list.numbers.end, resized);
    }
    let length = layout.length + start - layout.start.numbers.end;
    let (_, end) = whole(data, length)?;
    data.splice(length..end, written(body as u64));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoints::seeds;

    #[test]
    fn whole_numbers_are_read_as_they_are_written() {
        for number in [0, 1, 127, 128, 300, 1 << 32, (1 << 62) + 5] {
            let bytes = written(number);
            assert_eq!(whole(&bytes, 0), Some((number as usize, bytes.len())));
        }
        assert_eq!(whole(&[0x80, 0x80], 0), None);
    }

    /// What is resized is still a checkpoint, with the state of another length and nothing behind.
    #[test]
    fn resized_files_are_read() {
        let mut longer = 0;
        for (name, bytes) in seeds() {
            let layout = Layout::of(&bytes).expect("a real one");
            assert_eq!(layout.body.end, bytes.len(), "{name}");
            assert!(!layout.lists(&bytes).is_empty(), "{name}");
            for number in 0..20 {
                let mut data = bytes.clone();
                resize(&mut Dice::new(5, number), &mut data).expect("a list");
                let whole = repaired(&data).expect("it is long enough");
                let checkpoint =
                    Checkpoint::from_bytes(&whole).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert!(checkpoint.note().is_empty(), "{name}");
                longer += usize::from(data.len() > bytes.len());
            }
        }
        assert!(longer > 200, "{longer}");
    }
}
