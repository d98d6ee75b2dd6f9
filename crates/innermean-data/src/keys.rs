//! Columns of texts, each text kept once.

/// A column of texts or whole numbers that name things: users, groups, states.
///
/// Texts are kept as they stand in the file, trimmed and unquoted: `7` and `007` are two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// The column's name.
    pub name: String,
    /// For each row, which of `names` stands there.
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

/// A column of texts while it is read.
#[derive(Debug, Default)]
pub(crate) struct KeyColumn {
    pub(crate) keys: Keys,
    /// A table of codes by the hash of their text, open addressing; its length is a power of two.
    slots: Vec<u32>,
}

impl KeyColumn {
    pub(crate) fn new(name: &str) -> Self {
        Self { keys: Keys { name: name.to_owned(), ..Keys::default() }, slots: vec![NONE; 64] }
    }

    pub(crate) fn push_missing(&mut self) {
        self.keys.codes.push(NONE);
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        self.keys.codes[row] == NONE
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        // Rows often come sorted by a key.
        let before = self.keys.codes.last().map_or(NONE, |&code| code);
        let same = self.keys.names.get(before as usize).is_some_and(|name| name == text);
        let code = if same { before } else { self.code(text) };
        self.keys.codes.push(code);
    }

    fn code(&mut self, text: &str) -> u32 {
        let mut slot = self.slot(text);
        if self.slots[slot] == NONE {
            if 2 * self.keys.names.len() >= self.slots.len() {
                self.grow();
                slot = self.slot(text);
            }
            self.slots[slot] = self.keys.names.len() as u32;
            self.keys.names.push(text.to_owned());
        }
        self.slots[slot]
    }

    /// Where `text` stands or would stand.
    fn slot(&self, text: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(text.as_bytes()) as usize & mask;
        while self.slots[slot] != NONE && self.keys.names[self.slots[slot] as usize] != text {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let mask = 2 * self.slots.len() - 1;
        self.slots = vec![NONE; mask + 1];
        for (code, name) in self.keys.names.iter().enumerate() {
            let mut slot = hash(name.as_bytes()) as usize & mask;
            while self.slots[slot] != NONE {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = code as u32;
        }
    }

    /// Only the rows that are kept, and only their texts.
    pub(crate) fn keep(&mut self, kept: &[bool]) {
        let all = std::mem::take(&mut self.keys.names);
        let mut renumbered = vec![NONE; all.len()];
        let mut keep = kept.iter();
        self.keys.codes.retain(|_| keep.next().copied().unwrap_or(true));
        for code in &mut self.keys.codes {
            let new = &mut renumbered[*code as usize];
            if *new == NONE {
                *new = self.keys.names.len() as u32;
                self.keys.names.push(all[*code as usize].clone());
            }
            *code = *new;
        }
    }
}

/// Eight bytes at a time, multiplied into the hash and folded: quick for texts of a few characters.
fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(ODD);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    hash = mix(hash, u64::from_le_bytes(last) ^ ODD);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_first_appearance() {
        let mut column = KeyColumn::new("user");
        for text in ["b", "b", "a", "007", "7", "a", ""] {
            column.push(text);
        }
        assert_eq!(column.keys.codes, [0, 0, 1, 2, 3, 1, 4]);
        assert_eq!(column.keys.names, ["b", "a", "007", "7", ""]);
        column.keep(&[false, false, true, true, false, true, true]);
        assert_eq!(column.keys.codes, [0, 1, 0, 2]);
        assert_eq!(column.keys.names, ["a", "007", ""]);
        assert_eq!(column.keys.text(1), "007");
    }

    #[test]
    fn many_texts_keep_apart() {
        let mut column = KeyColumn::new("id");
        for round in 0..2 {
            for k in 0..20_000_u32 {
                column.push(&format!("{}-{k}", "x".repeat(k as usize % 20)));
                assert_eq!(column.keys.codes[(round * 20_000 + k) as usize], k);
            }
        }
        assert_eq!(column.keys.names.len(), 20_000);
    }
}
