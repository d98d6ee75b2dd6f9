//! What files are made of, put together wrongly.

/// Draws of one case (Steele, Lea and Flood's `SplitMix64`).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Those of case `number` under `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut dice = Dice(
            seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ number.wrapping_mul(0xA076_1D64_78BD_642F),
        );
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number below `n`; 0 for none.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

/// A case is cut off here.
const MOST_BYTES: usize = 1 << 16;
/// Changes of one case, at most.
const MOST_CHANGES: usize = 8;

/// Separators, quotes, ends of lines, numbers at the edge of what there is, words of headers,
/// beginnings of files.
const WORDS: &[&[u8]] = &[
    b",",
    b";",
    b"\t",
    b"|",
    b" ",
    b"\"",
    b"'",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"#",
    b":",
    b"=",
    b"-",
    b"+",
    b".",
    b"e",
    b"0",
    b"1",
    b"-1",
    b"-0",
    b"nan",
    b"NaN",
    b"NA",
    b"null",
    b"inf",
    b"-inf",
    b"Infinity",
    b"1e308",
    b"1e309",
    b"-1e400",
    b"1e-400",
    b"4.9e-324",
    b"9007199254740993",
    b"18446744073709551616",
    b"2147483648",
    b"4294967296",
    b"99999999",
    b"100000000",
    b"0x10",
    b"1,5",
    b"1.000,5",
    b"1_000",
    b"2024-01-02",
    b"02/01/2024",
    b"date",
    b"user",
    b"stars",
    b"label",
    b"group",
    b"qid:7",
    b"1:1",
    b"0:1",
    b"100000000:1",
    b"true",
    b"{",
    b"}",
    b"[",
    b"]",
    b"{\"theta\":[1,2,3]}",
    b"\"objective\":",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\x00",
    b"\xc3\x28",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"\x1f\x8b\x08\x00",
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"\x93NUMPY\x01\x00",
    b"'descr': '<f8'",
    b"'fortran_order': True",
    b"'shape': (1000000000, 1000000000)",
    b"'shape': ()",
    b"'shape': (0,)",
    b"<i8",
    b"|b1",
    b">f4",
    b"|O",
    b"--method",
    b"--tolerance",
    b"--l2",
    b"--max-outer",
    b"--help",
    b"newton",
    b"-1e-3",
    b"1e12",
];

/// Whole numbers at the edge of what there is, as binary files hold them.
const EDGES: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];

/// Case `number` of `seed`: one of the seeds, changed here and there.
pub fn case(seeds: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice::new(seed, number);
    let mut data = if seeds.is_empty() { Vec::new() } else { dice.of(seeds).to_vec() };
    for _ in 0..=dice.below(MOST_CHANGES) {
        change(&mut dice, &mut data, seeds);
        data.truncate(MOST_BYTES);
    }
    data
}

/// A part of at most `most` bytes.
fn part(dice: &mut Dice, len: usize, most: usize) -> std::ops::Range<usize> {
    let start = dice.below(len + 1);
    let end = start + dice.below((len - start).min(most) + 1);
    start..end
}

fn insert(data: &mut Vec<u8>, at: usize, bytes: impl IntoIterator<Item = u8>) {
    let end = data.split_off(at);
    data.extend(bytes);
    data.extend(end);
}

fn change(dice: &mut Dice, data: &mut Vec<u8>, seeds: &[&[u8]]) {
    let len = data.len();
    let at = dice.below(len + 1);
    match dice.below(12) {
        0 if len > 0 => data[at.min(len - 1)] ^= 1 << dice.below(8),
        1 if len > 0 => data[at.min(len - 1)] = dice.below(256) as u8,
        2 | 3 => insert(data, at, dice.of(WORDS).iter().copied()),
        4 => {
            let gone = part(dice, len, 64);
            data.drain(gone);
        }
        5 => {
            let copy = data[part(dice, len, 256)].to_vec();
            insert(data, at, copy);
        }
        6 if !seeds.is_empty() => {
            let other = dice.of(seeds);
            let piece = part(dice, other.len(), 512);
            insert(data, at, other[piece].iter().copied());
        }
        7 => data.truncate(at),
        8 => {
            // A word in the place of a number.
            let start = (at..len).find(|&k| data[k].is_ascii_digit()).unwrap_or(len);
            let end = (start..len).find(|&k| !data[k].is_ascii_digit()).unwrap_or(len);
            let word = dice.of(WORDS).to_vec();
            data.splice(start..end, word);
        }
        9 => {
            let edge = EDGES[dice.below(EDGES.len())];
            let width = [1, 2, 4, 8][dice.below(4)].min(len - at);
            data[at..at + width].copy_from_slice(&edge.to_le_bytes()[..width]);
        }
        10 => {
            let (word, times) = (dice.of(WORDS), 1 << dice.below(10));
            insert(data, at, word.repeat(times));
        }
        _ => {
            // Two parts change places: lines that are out of order.
            let cut = part(dice, len, len);
            data[cut].reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_depends_on_seed_and_number_alone_and_changes_something() {
        let seeds: [&[u8]; 2] = [b"a,b\n1,2\n3,4\n", b"1 1:0.5 7:2\n"];
        let cases: Vec<Vec<u8>> = (0..200).map(|k| case(&seeds, 1, k)).collect();
        assert!((0..200).rev().all(|k| case(&seeds, 1, k) == cases[k as usize]));
        let changed = cases.iter().filter(|case| seeds.iter().all(|seed| seed != case)).count();
        assert!(changed > 190, "{changed}");
        assert!(cases.iter().all(|case| case.len() <= MOST_BYTES));
        assert!((0..200).any(|k| case(&seeds, 2, k) != cases[k as usize]));
    }
}
