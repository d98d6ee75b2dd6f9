//! Columns of texts, each text kept once.

/// A column of texts or whole numbers that name things: users, groups, states.
///
/// Texts are kept as they are in the file, trimmed and unquoted: `7` and `007` are two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// The column's name.
    pub name: String,
    /// For each row, which of `names` is there.
    pub codes: Vec<u32>,
    /// The different texts in the order of their first appearance.
    pub names: Vec<String>,
}

impl Keys {
    /// The text in row `row`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn text(&self, row: usize) -> &str {
        &self.names[self.codes[row] as usize]
    }
}

/// What stands for a missing text until rows are dropped.
const NONE: u32 = u32::MAX;

/// No code.
const EMPTY: (u32, u32) = (0, NONE);

/// A column of texts while it is read: they stand one behind the other, for a text of its own each
/// would be far from the others.
#[derive(Debug, Default)]
pub(crate) struct KeyColumn {
    name: String,
    codes: Vec<u32>,
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    /// Codes by the hash of their text, half of which is beside them; open addressing, the
    /// length a power of two.
    slots: Vec<(u32, u32)>,
}

impl KeyColumn {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), slots: vec![EMPTY; 64], ..Self::default() }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let Self { codes, texts, ends, slots, .. } = self;
        (size_of_val(&codes[..]) + texts.len() + size_of_val(&ends[..]) + size_of_val(&slots[..]))
            as u64
    }

    /// The text of each row, empty where it is missing.
    pub(crate) fn texts(&self) -> Vec<String> {
        let text = |&code: &u32| match code {
            NONE => String::new(),
            code => String::from_utf8_lossy(self.text(code)).into_owned(),
        };
        self.codes.iter().map(text).collect()
    }

    pub(crate) fn push_missing(&mut self) {
        self.codes.push(NONE);
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        self.codes[row] == NONE
    }

    /// Texts that are missing become `text`.
    pub(crate) fn fill_missing(&mut self, text: &str) {
        if self.codes.contains(&NONE) {
            let code = self.code(text);
            self.codes.iter_mut().filter(|found| **found == NONE).for_each(|found| *found = code);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        let code = self.code(text);
        self.codes.push(code);
    }

    /// A row whose text has this code.
    pub(crate) fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// How many different texts there are.
    pub(crate) fn texts_count(&self) -> usize {
        self.ends.len()
    }

    /// The rows in the order of the codes, those of one code as they were.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut next = vec![0; self.ends.len() + 1];
        for &code in &self.codes {
            next[code as usize + 1] += 1;
        }
        for code in 0..self.ends.len() {
            next[code + 1] += next[code];
        }
        let mut order = vec![0; self.codes.len()];
        for (row, &code) in self.codes.iter().enumerate() {
            order[next[code as usize]] = row;
            next[code as usize] += 1;
        }
        order
    }

    /// The code of a text, a new one if it has none; for those that keep the rows.
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        let hash = hash(text.as_bytes());
        let mut slot = self.slot(hash, text);
        if self.slots[slot].1 == NONE {
            if 2 * self.ends.len() >= self.slots.len() {
                self.grow();
                slot = self.slot(hash, text);
            }
            self.slots[slot] = ((hash >> 32) as u32, self.ends.len() as u32);
            self.texts.push_str(text);
            self.ends.push(self.texts.len());
        }
        self.slots[slot].1
    }

    /// Where `text` stands or would stand.
    fn slot(&self, hash: u64, text: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (half, code) = self.slots[slot];
            if code == NONE || (half == (hash >> 32) as u32 && self.text(code) == text.as_bytes()) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn text(&self, code: u32) -> &[u8] {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.texts.as_bytes()[start..self.ends[code]]
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for code in 0..self.ends.len() as u32 {
            let hash = hash(self.text(code));
            let mut slot = hash as usize & mask;
            while slots[slot].1 != NONE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = ((hash >> 32) as u32, code);
        }
        self.slots = slots;
    }

    /// Only the rows that are kept, and only their texts.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let mut all = std::mem::replace(self, Self::new(&self.name));
        let mut keep = kept.iter();
        all.codes.retain(|_| keep.next().copied().unwrap_or(true));
        for &code in &all.codes {
            let end = all.ends[code as usize];
            let start = (code as usize).checked_sub(1).map_or(0, |before| all.ends[before]);
            self.push(&all.texts[start..end]);
        }
    }

    /// The different texts, each at the place of its code.
    pub(crate) fn names(&self) -> Vec<String> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.texts[start..end].to_owned()).collect()
    }

    /// The column as it is handed over.
    pub(crate) fn finish(self) -> Keys {
        Keys { names: self.names(), name: self.name, codes: self.codes }
    }
}

/// Eight bytes at a time, multiplied into the hash and folded; the last ones overlap those before.
/// Quick for texts of a few characters.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(ODD);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let length = bytes.len() as u64 ^ ODD;
    if let Some(last) = bytes.last_chunk::<8>() {
        let words = bytes.as_chunks::<8>().0;
        let hash = words.iter().fold(length, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        return mix(hash, u64::from_le_bytes(*last));
    }
    let word =
        if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        } else {
            bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
    mix(length, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_first_appearance() {
        let mut column = KeyColumn::new("user");
        for text in ["b", "b", "a", "007", "7", "a", "é"] {
            column.push(text);
        }
        column.push_missing();
        assert_eq!(column.codes, [0, 0, 1, 2, 3, 1, 4, NONE]);
        assert!(column.is_missing(7) && !column.is_missing(0));
        column.keep(&[false, false, true, true, false, true, true, false]);
        let keys = column.finish();
        assert_eq!((&keys.name[..], &keys.codes[..]), ("user", &[0, 1, 0, 2][..]));
        assert_eq!(keys.names, ["a", "007", "é"]);
        assert_eq!(keys.text(1), "007");
    }

    #[test]
    fn many_texts_keep_apart() {
        let mut column = KeyColumn::new("id");
        for round in 0..2 {
            for k in 0..20_000_u32 {
                column.push(&format!("{}-{k}", "x".repeat(k as usize % 20)));
                assert_eq!(column.codes[(round * 20_000 + k) as usize], k);
            }
        }
        assert_eq!(column.finish().names.len(), 20_000);
    }
}
