//! The state of a text that is being written, live and frozen.
//!
//! When the writer is suspended, it freezes its open containers: their plain part as marks, their terms
//! on a stack that the caller keeps as a list. Each is frozen once and thawed when the writer reaches
//! it, so suspension costs no more than what was opened since.

use super::readable::{JsonView, Readable};

/// A text that is being written, without its terms.
#[derive(Debug, Default)]
pub struct Draft {
    /// The text so far.
    pub text: Vec<u8>,
    /// Cost beyond the length of the text, in bytes of text that take as long.
    pub(super) toll: usize,
    /// Number of lists and maps opened.
    pub(super) opened: usize,
    /// Total cost at the last check of the limits.
    pub(super) asked: usize,
    /// The offsets of the foreign terms, in order.
    pub gaps: Vec<usize>,
    /// The open containers that are frozen, innermost last.
    marks: Vec<Mark>,
    /// Number of frozen terms.
    pub(super) frozen: usize,
}

impl Draft {
    /// Creates an empty draft that reuses the memory of `text`.
    pub fn new(mut text: Vec<u8>) -> Self {
        text.clear();
        Draft {
            text,
            ..Draft::default()
        }
    }
}

/// An open container or value.
pub(super) enum OpenContainer<'s, T> {
    List {
        /// For the error if it turns out to be improper.
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
    /// A frozen large map: `left` entries are on top of the frozen terms.
    Frozen { left: usize, first: bool },
    /// A map so large that the limits are checked before its entries are fetched.
    Unopened(T),
    /// A long string or integer, of which `at` bytes are written.
    Long { scalar: T, at: usize, is_key: bool },
    /// The value after a long key.
    Value(T),
}

/// The plain part of [`OpenContainer`].
#[derive(Debug)]
enum Mark {
    List { first: bool },
    Map { at: usize },
    Entries { left: usize, first: bool },
    Unopened,
    Long { at: usize, is_key: bool },
    Value,
}

/// The open containers, live ones and the terms of frozen ones as a list, last one first.
pub(super) struct Stack<'s, T> {
    pub live: Vec<OpenContainer<'s, T>>,
    pub frozen: Option<T>,
}

impl<'s, T: Copy> Stack<'s, T> {
    pub fn new(frozen: Option<T>) -> Self {
        Stack {
            live: Vec::with_capacity(16),
            frozen,
        }
    }

    /// Thaws a term.
    pub fn pop<R: Readable<Term = T>>(&mut self, source: &R, draft: &mut Draft) -> Option<T> {
        let (term, rest) = source.uncons(self.frozen?)?;
        self.frozen = Some(rest);
        draft.frozen = draft.frozen.saturating_sub(1);
        Some(term)
    }

    /// Thaws the innermost container; `None` if the terms are not the frozen ones.
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
            Mark::Entries { left, first } => OpenContainer::Frozen { left, first },
            Mark::List { first } => {
                let rest = self.pop(source, draft)?;
                let whole = self.pop(source, draft)?;
                OpenContainer::List { whole, rest, first }
            }
            Mark::Map { at } => {
                let map = self.pop(source, draft)?;
                let JsonView::Map(keys, values) = source.view(map) else {
                    return None;
                };
                OpenContainer::Map {
                    map,
                    keys,
                    values,
                    at,
                }
            }
            Mark::Unopened => OpenContainer::Unopened(self.pop(source, draft)?),
            Mark::Long { at, is_key } => OpenContainer::Long {
                scalar: self.pop(source, draft)?,
                at,
                is_key,
            },
            Mark::Value => OpenContainer::Value(self.pop(source, draft)?),
        };
        self.live.push(open);
        Some(Thawed::Open)
    }

    /// Freezes all live containers; returns the terms to put onto the frozen ones, in order.
    pub fn freeze<R: Readable<Term = T>>(self, source: &R, draft: &mut Draft) -> Vec<T> {
        let mut terms = Vec::new();
        for open in self.live {
            draft.marks.push(match open {
                OpenContainer::List { whole, rest, first } => {
                    terms.extend([whole, rest]);
                    Mark::List { first }
                }
                OpenContainer::Map { map, at, .. } => {
                    terms.push(map);
                    Mark::Map { at }
                }
                OpenContainer::LargeMap { entries, first } => {
                    let left = entries.len();
                    terms.extend(entries.rev().flat_map(|(key, value)| [value, key]));
                    Mark::Entries { left, first }
                }
                OpenContainer::Frozen { left, first } => Mark::Entries { left, first },
                OpenContainer::Unopened(map) => {
                    terms.push(map);
                    Mark::Unopened
                }
                OpenContainer::Long { scalar, at, is_key } => {
                    terms.push(source.to_keep(scalar));
                    Mark::Long { at, is_key }
                }
                OpenContainer::Value(value) => {
                    terms.push(value);
                    Mark::Value
                }
            });
        }
        draft.frozen += terms.len();
        terms
    }
}

/// The result of thawing.
pub(super) enum Thawed {
    Open,
    /// Nothing is left: all is written.
    Nothing,
}
