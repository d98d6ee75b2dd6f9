//! A corpus: texts as sequences of tokens, one sequence a line.

use std::collections::HashMap;
use std::path::Path;

use crate::error::ReadError;
use crate::limits::{Budget, Limits};
use crate::source::Source;
use crate::tables::keys::KeyColumn;

/// Sequences of tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corpus {
    /// Where it comes from.
    pub source: String,
    /// The different tokens, in the order of their first appearance.
    pub names: Vec<String>,
    /// For each line, which of `names` stand there.
    pub lines: Vec<Vec<u32>>,
}

/// Reads a corpus: tokens are separated by blanks or tabs, a line is a sequence. Blank lines are
/// skipped; nothing is a comment. The text may be packed by gzip.
///
/// # Errors
/// If the file cannot be read, is no text or has no tokens.
pub fn read_corpus(path: &Path) -> Result<Corpus, ReadError> {
    Limits::default().read_corpus(path)
}

impl Limits {
    /// [`read_corpus`] within these limits.
    ///
    /// # Errors
    /// As [`read_corpus`].
    pub fn read_corpus(&self, path: &Path) -> Result<Corpus, ReadError> {
        corpus_of(Source::open(path, *self)?)
    }
}

/// [`read_corpus`] from bytes; `name` stands for the file in messages and in [`Corpus::source`].
///
/// # Errors
/// As [`read_corpus`], but for those about opening a file.
pub fn parse_corpus(bytes: &[u8], name: &str) -> Result<Corpus, ReadError> {
    corpus_of(Source::of_bytes(bytes, name)?)
}

fn corpus_of(source: Source<'_>) -> Result<Corpus, ReadError> {
    let mut text = source.text()?;
    let mut corpus = Corpus { source: text.file().to_owned(), ..Corpus::default() };
    let mut tokens = KeyColumn::new("");
    let (mut budget, mut pieces, mut held) = (Budget::default(), 0, 0);
    let limits = *text.limits();
    while let Some(line) = text.next_line()? {
        let place = || format!("{}, line {}", corpus.source, line.number);
        let longest = line.text.split_whitespace().map(str::len).max().unwrap_or(0);
        limits.check_cell(longest, place)?;
        let sequence: Vec<u32> =
            line.text.split_whitespace().map(|token| tokens.code(token)).collect();
        if !sequence.is_empty() {
            held += size_of::<Vec<u32>>() + size_of_val(&sequence[..]);
            corpus.lines.push(sequence);
        }
        if text.pieces() != pieces {
            pieces = text.pieces();
            budget.check(held as u64 + tokens.bytes(), text.part(), &limits, &corpus.source)?;
        }
    }
    if corpus.lines.is_empty() {
        let expected = "tokens with blanks between them, one sequence a line";
        return Err(ReadError::Empty { file: corpus.source, expected });
    }
    corpus.names = tokens.names();
    Ok(corpus)
}

impl Corpus {
    /// How often each n-gram occurs within a line: N tokens for each, and its count, in the order
    /// of first appearance.
    pub fn ngrams(&self, order: usize) -> (Vec<u32>, Vec<u64>) {
        let mut places: HashMap<&[u32], usize> = HashMap::new();
        let (mut ngrams, mut counts) = (Vec::new(), Vec::new());
        for window in self.lines.iter().flat_map(|line| line.windows(order.max(1))) {
            let place = *places.entry(window).or_insert_with(|| {
                ngrams.extend_from_slice(window);
                counts.push(0);
                counts.len() - 1
            });
            counts[place] += 1;
        }
        (ngrams, counts)
    }
}
