//! Decimal numbers from bytes: exactly the double nearest to what is written, as the standard
//! library reads it, but faster for the numbers that tables hold.
//!
//! A number is a whole number m of at most 19 digits times a power of ten.
//!
//! - If m <= 2^53 and the power is at most 10^22, both are doubles, and one multiplication or
//!   division rounds once.
//! - If the power is 10^-p, p <= 38, the product of m and a truncated reciprocal of 10^p tells the nearest double unless
//!   it lies next to the middle between two doubles, which is one number in 500.
//! - All else is left to the standard library.

/// The powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// For 10^p, the number b of its binary digits and the whole part of 2^(63 + b) / 10^p, which has
/// 64 binary digits.
const RECIPROCALS: [(u64, i32); 39] = {
    let mut all = [(0, 0); 39];
    let mut power: u128 = 1;
    let mut p = 1;
    while p < all.len() {
        power *= 10;
        let digits = 128 - power.leading_zeros();
        // Long division, bit by bit, of 2^(b - 1) and 64 zeros; 2^(b - 1) < 10^p.
        let mut rest = 1_u128 << (digits - 1);
        let mut quotient = 0_u64;
        let mut bit = 0;
        while bit < 64 {
            rest <<= 1;
            quotient <<= 1;
            if rest >= power {
                rest -= power;
                quotient |= 1;
            }
            bit += 1;
        }
        all[p] = (quotient, digits.cast_signed());
        p += 1;
    }
    all
};

/// Reads a number such as `-0.31` or `1.2e-5` from the front of `bytes`: its value and its length.
///
/// `None` for anything else, such as a plus sign, a name or an infinity.
#[inline(always)]
pub(crate) fn plain_number(bytes: &[u8], decimal: u8) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    if let Some(short) = short_number(bytes, start, decimal) {
        return Some(short);
    }
    long_or_last_number(bytes, start, decimal)
}

/// Of a number without and with a minus sign.
const SIGNS: [f64; 2] = [1.0, -1.0];

/// A number of at most seven digits with eight bytes behind its sign, if any, in front of `start`,
/// read without looking at one byte after the other: its value and where it ends.
#[inline(always)]
fn short_number(bytes: &[u8], start: usize, decimal: u8) -> Option<(f64, usize)> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(*bytes.get(start..)?.first_chunk::<8>()?);
    // The high bit of each byte that is no digit: it is 10 or more above '0'.
    let above = word ^ ZEROS;
    let marks = (((above & !HIGH) + 0x7676_7676_7676_7676) | above) & HIGH;
    let whole = marks.trailing_zeros() / 8;
    let after = if marks == 0 { return None } else { (word >> (8 * whole)) as u8 };
    let (digits, count, places) = if after == decimal {
        let marks = marks & (marks - 1);
        if marks == 0 {
            return None;
        }
        // The digits behind the point move up to those before it.
        let end = marks.trailing_zeros() / 8;
        let before = (1 << (8 * whole)) - 1;
        ((word & before) | ((word >> 8) & !before), end - 1, end - 1 - whole)
    } else {
        (word, whole, 0)
    };
    let end = start + count as usize + usize::from(after == decimal);
    // An exponent may follow.
    if count == 0 || bytes[end] | 0x20 == b'e' {
        return None;
    }
    let number = joined((digits << (64 - 8 * count)) & 0x0f0f_0f0f_0f0f_0f0f) as u32;
    // Signs come in no order that a processor could foresee, so they are multiplied with; -0 keeps
    // its own.
    Some((f64::from(number) * SIGNS[start & 1] / POWERS[places as usize & 7], end))
}

fn long_or_last_number(bytes: &[u8], start: usize, decimal: u8) -> Option<(f64, usize)> {
    let (mut mantissa, mut at) = digits(bytes, start, 0);
    let mut count = at - start;
    let mut places = 0;
    if bytes.get(at) == Some(&decimal) {
        let point = at + 1;
        (mantissa, at) = digits(bytes, point, mantissa);
        places = at - point;
        count += places;
    }
    if count == 0 {
        return None;
    }
    let mut exponent = 0;
    if bytes.get(at).is_some_and(|b| b | 0x20 == b'e')
        && let Some((power, end)) = exponent_at(bytes, at + 1)
    {
        (exponent, at) = (power, end);
    }
    if count > 19 && significant(&bytes[start..], decimal) > 19 {
        return long_number(&bytes[..at], decimal).map(|value| (value, at));
    }
    let power = exponent - (places as u32).cast_signed();
    let size = if mantissa <= 1 << 53 && (-22..=22).contains(&power) {
        let (whole, ten) = (mantissa.cast_signed() as f64, POWERS[power.unsigned_abs() as usize]);
        if power < 0 { whole / ten } else { whole * ten }
    } else if let Some(size) = scaled(mantissa, power) {
        size
    } else {
        return long_number(&bytes[..at], decimal).map(|value| (value, at));
    };
    Some((if start > 0 { -size } else { size }, at))
}

/// Appends the digits from `at` on to `number`, wrapping around; where they end.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>)
        && let Some(eight) = eight_digits(*eight)
    {
        number = number.wrapping_mul(100_000_000).wrapping_add(eight);
        at += 8;
    }
    while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// Eight digits at once; `None` if one of the bytes is no digit.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    let high = word & 0xf0f0_f0f0_f0f0_f0f0;
    // A digit's upper half is 3, and stays 3 if 6 is added.
    let carried = word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0;
    if high != 0x3030_3030_3030_3030 || carried != 0x3030_3030_3030_3030 {
        return None;
    }
    Some(joined(word & 0x0f0f_0f0f_0f0f_0f0f))
}

/// The number of eight digits from 0 to 9, the first in the lowest byte: neighbours are joined to
/// pairs, pairs to fours, fours to eight.
#[inline(always)]
fn joined(ones: u64) -> u64 {
    let pairs = (10 * ones + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (100 * pairs + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (10_000 * fours + (fours >> 32)) & 0xffff_ffff
}

/// A whole number of one to four digits with or without a sign; where it ends.
#[cold]
fn exponent_at(bytes: &[u8], at: usize) -> Option<(i32, usize)> {
    let sign = bytes.get(at).copied();
    let start = at + usize::from(matches!(sign, Some(b'-' | b'+')));
    let length = bytes.get(start..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 || length > 4 {
        return None;
    }
    let size =
        bytes[start..start + length].iter().fold(0, |size, b| 10 * size + i32::from(b - b'0'));
    Some((if sign == Some(b'-') { -size } else { size }, start + length))
}

/// The number of digits without zeros in front.
#[cold]
fn significant(bytes: &[u8], decimal: u8) -> usize {
    let digits = bytes.iter().take_while(|&&b| b.is_ascii_digit() || b == decimal);
    digits.filter(|&&b| b != decimal).skip_while(|&&b| b == b'0').count()
}

/// The double nearest to `mantissa * 10^power`, if that can be told.
///
/// With w = mantissa * 2^z of 64 binary digits and T the truncated reciprocal, the number is X *
/// 2^-(z + 63 + b) for some w T <= X < w (T + 1). So X / 2^64 is at least h, the upper half of w T,
/// and below h + 2. Of the 64 or 63 binary digits of h, 53 are kept. The digits dropped tell how to
/// round, unless they are one half or just below, where X may lie on either side.
#[inline]
fn scaled(mantissa: u64, power: i32) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    let &(reciprocal, binary_digits) =
        RECIPROCALS.get(power.checked_neg()? as usize).filter(|r| r.1 > 0)?;
    let zeros = mantissa.leading_zeros();
    let product = u128::from(mantissa << zeros) * u128::from(reciprocal);
    let upper = (product >> 64) as u64;
    let dropped = 11 - upper.leading_zeros();
    let tail = upper & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    if tail == half || tail + 1 == half {
        return None;
    }
    let kept = (upper >> dropped) + u64::from(tail > half);
    let exponent = dropped.cast_signed() + 1 - zeros.cast_signed() - binary_digits;
    // A power of two far from the ends of a double's range: the product is exact.
    Some(kept as f64 * f64::from_bits(((1023 + exponent) as u64) << 52))
}

/// Any finite number.
#[cold]
fn long_number(bytes: &[u8], decimal: u8) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let value =
        if decimal == b'.' { text.parse() } else { text.replacen(decimal as char, ".", 1).parse() };
    value.ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_same(text: &str) {
        let (value, length) =
            plain_number(text.as_bytes(), b'.').unwrap_or_else(|| panic!("{text}"));
        assert_eq!(length, text.len(), "{text}");
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        for behind in [",7", ",1.234567890", " \t        ", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
            let longer = format!("{text}{behind}");
            let (again, length) = plain_number(longer.as_bytes(), b'.').unwrap();
            assert_eq!((again.to_bits(), length), (value.to_bits(), text.len()), "{longer}");
        }
    }

    #[test]
    fn numbers_at_the_edges() {
        for text in [
            "0",
            "-0",
            "0.0",
            "0e5",
            "00012",
            "5.",
            ".5",
            "-.5",
            "9007199254740993",
            "9007199254740993.0",
            "0.1234567890123456789",
            "18446744073709551615",
            "18446744073709551616",
            "1e22",
            "1e23",
            "1E-22",
            "123456789e-40",
            "1.7976931348623157e308",
            "2.2250738585072014e-308",
            "5e-324",
            "1e-400",
            "0.000000000000000000000000000000000000001",
            "00000000000000000000000000000000.1",
            "8.5",
            "0.5000000000000000277555756156289135",
            "1.00000000000000011102230246251565",
        ] {
            assert_same(text);
        }
        for text in [
            "",
            "-",
            ".",
            "e5",
            "+1",
            "inf",
            "nan",
            "-e1",
            "1e999",
            "x",
            ".,,,,,,,,,",
            "-,,,,,,,,,,",
        ] {
            assert_eq!(plain_number(text.as_bytes(), b'.'), None, "{text}");
        }
        for (text, length) in
            [("1e", 1), ("1e+", 1), ("1.5x", 3), ("1 2", 1), ("1.2.3", 3), ("1e12345", 1)]
        {
            assert_eq!(
                plain_number(text.as_bytes(), b'.').map(|read| read.1),
                Some(length),
                "{text}"
            );
        }
        assert_eq!(plain_number(b"1,25;3", b','), Some((1.25, 4)));
    }

    #[test]
    fn middles_between_two_doubles_are_left_to_the_standard_library() {
        // 2^53 + 1 over powers of ten and two: as close to a middle as 17 digits get.
        for k in 0..2000_u64 {
            for places in 1..17 {
                let mut text = format!("{:018}", 900_719_925_474_099_300 + k);
                text.insert(18 - places, '.');
                assert_same(&text);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_value_is_the_standard_librarys(text in "-?[0-9]{1,22}([.][0-9]{0,22})?([eE][-+]?[0-9]{1,2})?") {
            assert_same(&text);
        }

        #[test]
        fn doubles_written_in_full_are_read_back(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            assert_same(&format!("{value}"));
            assert_same(&format!("{value:e}"));
            assert_same(&format!("{value:.17e}"));
        }

        #[test]
        fn returns_in_full_are_read_back(value in -1.0..1.0_f64) {
            assert_same(&format!("{value}"));
            assert_same(&format!("{value:.16}"));
            assert_same(&format!("{value:.17}"));
        }
    }
}
