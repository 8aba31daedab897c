//! A text that is half written: what is open in it, live and frozen.
//!
//! What is open when the writer is left is frozen: its plain part to marks, its terms to a stack
//! that the caller keeps as a list. Each is frozen once and taken back when the writer comes to it, so
//! leaving costs no more than what was opened since.

use super::readable::{JsonView, Readable};

/// A text that is being written, less its terms.
#[derive(Debug, Default)]
pub struct Draft {
    /// What is written.
    pub text: Vec<u8>,
    /// What took longer than its text shows, in bytes of text that take as long.
    pub(super) toll: usize,
    /// The lists and maps that were opened.
    pub(super) opened: usize,
    /// How much had been spent when it was asked last.
    pub(super) asked: usize,
    /// Where the foreign terms belong, in their order.
    pub gaps: Vec<usize>,
    /// What is open and frozen, innermost last.
    marks: Vec<Mark>,
    /// How many terms are frozen.
    pub(super) frozen: usize,
}

impl Draft {
    /// Nothing yet, in memory that is there already.
    pub fn new(mut text: Vec<u8>) -> Self {
        text.clear();
        Draft {
            text,
            ..Draft::default()
        }
    }
}

/// What is being written, innermost last.
pub(super) enum Open<'s, T> {
    List {
        /// For the report, should it turn out to be improper.
        whole: T,
        rest: T,
        first: bool,
    },
    Map {
        map: T,
        keys: &'s [T],
        values: &'s [T],
        at: usize,
    },
    LargeMap {
        entries: std::vec::IntoIter<(T, T)>,
        first: bool,
    },
    /// A large map that was frozen: so many entries are left, on top of the frozen terms.
    Frozen { left: usize, first: bool },
    /// A map so large that its entries must be asked for.
    Unopened(T),
    /// A long string or integer, of whose bytes so many are written.
    Long { scalar: T, at: usize, is_key: bool },
    /// The value behind a long key.
    Value(T),
}

/// The plain part of [`Open`].
#[derive(Debug)]
enum Mark {
    List { first: bool },
    Map { at: usize },
    Entries { left: usize, first: bool },
    Unopened,
    Long { at: usize, is_key: bool },
    Value,
}

/// What is open, and the frozen terms as a list, last one first.
pub(super) struct Stack<'s, T> {
    pub live: Vec<Open<'s, T>>,
    pub frozen: Option<T>,
}

impl<'s, T: Copy> Stack<'s, T> {
    pub fn new(frozen: Option<T>) -> Self {
        Stack {
            live: Vec::with_capacity(16),
            frozen,
        }
    }

    /// Takes a frozen term back.
    pub fn pop<R: Readable<Term = T>>(&mut self, source: &R, draft: &mut Draft) -> Option<T> {
        let (term, rest) = source.uncons(self.frozen?)?;
        self.frozen = Some(rest);
        draft.frozen = draft.frozen.saturating_sub(1);
        Some(term)
    }

    /// Takes back what is innermost; `None` if these are not the terms that were frozen.
    #[cold]
    pub fn thaw<R: Readable<Term = T>>(
        &mut self,
        source: &'s R,
        draft: &mut Draft,
    ) -> Option<Thawed> {
        let Some(mark) = draft.marks.pop() else {
            return Some(Thawed::Nothing);
        };
        let open = match mark {
            Mark::Entries { left, first } => Open::Frozen { left, first },
            Mark::List { first } => {
                let rest = self.pop(source, draft)?;
                let whole = self.pop(source, draft)?;
                Open::List { whole, rest, first }
            }
            Mark::Map { at } => {
                let map = self.pop(source, draft)?;
                let JsonView::Map(keys, values) = source.view(map) else {
                    return None;
                };
                Open::Map {
                    map,
                    keys,
                    values,
                    at,
                }
            }
            Mark::Unopened => Open::Unopened(self.pop(source, draft)?),
            Mark::Long { at, is_key } => Open::Long {
                scalar: self.pop(source, draft)?,
                at,
                is_key,
            },
            Mark::Value => Open::Value(self.pop(source, draft)?),
        };
        self.live.push(open);
        Some(Thawed::Open)
    }

    /// Freezes all that is live: the terms to put onto the frozen ones, in their order.
    pub fn freeze<R: Readable<Term = T>>(self, source: &R, draft: &mut Draft) -> Vec<T> {
        let mut terms = Vec::new();
        for open in self.live {
            draft.marks.push(match open {
                Open::List { whole, rest, first } => {
                    terms.extend([whole, rest]);
                    Mark::List { first }
                }
                Open::Map { map, at, .. } => {
                    terms.push(map);
                    Mark::Map { at }
                }
                Open::LargeMap { entries, first } => {
                    let left = entries.len();
                    terms.extend(entries.rev().flat_map(|(key, value)| [value, key]));
                    Mark::Entries { left, first }
                }
                Open::Frozen { left, first } => Mark::Entries { left, first },
                Open::Unopened(map) => {
                    terms.push(map);
                    Mark::Unopened
                }
                Open::Long { scalar, at, is_key } => {
                    terms.push(source.to_keep(scalar));
                    Mark::Long { at, is_key }
                }
                Open::Value(value) => {
                    terms.push(value);
                    Mark::Value
                }
            });
        }
        draft.frozen += terms.len();
        terms
    }
}

/// What thawing comes to.
pub(super) enum Thawed {
    Open,
    /// All is written.
    Nothing,
}
