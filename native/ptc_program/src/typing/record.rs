//! What types were read of: terms as plain data, with which the terms of later calls are compared.

use super::intern::TypesMark;
use super::known::Want;
use super::ty::TyId;
use crate::analysis::names::NameId;
use ptc_term::heap::Heap;
use std::mem::Discriminant;

/// Maximum number of pieces, of the elements of a tuple, and of the bytes of all texts.
const MOST_PIECES: usize = 8_192;
const MOST_ELEMENTS: usize = 8;
const MOST_BYTES: usize = 65_536;
/// Maximum number of what plain fields hold.
const MOST_WORDS: usize = 32;

/// What types were read of, and the state of a walk that has read them and nothing else.
#[derive(Debug)]
pub(super) struct KeptTypes {
    /// Whether something is known of the context, the memory and the tools.
    pub scopes: [bool; 3],
    pub values: bool,
    pub wants: Vec<KeptWant>,
    pub record: TermRecord,
    pub types: TypesMark,
    pub sources: usize,
    pub roots: usize,
}

/// A type that was read.
#[derive(Debug)]
pub(super) struct KeptWant {
    pub kind: Discriminant<Want>,
    pub name: NameId,
    /// Whether it was given.
    pub is_given: bool,
}

/// A term without its parts, which follow it.
#[derive(Debug, Clone, Copy)]
enum TermPiece {
    /// An atom, for example: see [`Heap::lasting`].
    Lasting(usize),
    /// A text: its bytes end here.
    Text(u32),
    /// The cell of a list.
    Cell,
    /// A tuple of so many elements.
    Tuple(u32),
    /// The cell of a list whose head is a pair of a text, whose bytes end here, and of one of the words: most fields of objects.
    Field(u32, u32),
}

/// What a plain field holds: a word, or a pair of two.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FieldHolds {
    One(usize),
    Pair(usize, usize),
}

impl FieldHolds {
    fn of<H: Heap>(term: H::Term, heap: &H) -> Option<FieldHolds> {
        if let Some(word) = heap.lasting(term) {
            return Some(FieldHolds::One(word));
        }
        match heap.elements(term) {
            Some(&[tag, inner]) => Some(FieldHolds::Pair(heap.lasting(tag)?, heap.lasting(inner)?)),
            _ => None,
        }
    }

    #[inline(always)]
    fn is<H: Heap>(self, term: H::Term, heap: &H) -> bool {
        match self {
            FieldHolds::One(word) => heap.lasting(term) == Some(word),
            FieldHolds::Pair(tag, inner) => match heap.elements(term) {
                Some(&[a, b]) => heap.lasting(a) == Some(tag) && heap.lasting(b) == Some(inner),
                _ => false,
            },
        }
    }
}

/// Some terms, one after the other.
#[derive(Debug, Default)]
pub(super) struct TermRecord {
    pieces: Vec<TermPiece>,
    bytes: Vec<u8>,
    /// What plain fields hold, each once.
    words: Vec<FieldHolds>,
    /// The tuples that are the terms of types.
    types: Vec<(u32, TyId)>,
}

impl TermRecord {
    /// Adds a term; `false` if it cannot be compared later. `type_of` says which type a tuple is the term of.
    pub fn add<H: Heap>(
        &mut self,
        term: H::Term,
        type_of: impl Fn(usize) -> Option<TyId>,
        heap: &H,
    ) -> bool {
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            let piece = if let Some(word) = heap.lasting(term) {
                TermPiece::Lasting(word)
            } else if let Some((head, tail)) = heap.uncons(term) {
                open.push(tail);
                match self.field(head, heap) {
                    Some(field) => field,
                    None => {
                        open.push(head);
                        TermPiece::Cell
                    }
                }
            } else if let Some(elements) = heap.elements(term) {
                if !(1..=MOST_ELEMENTS).contains(&elements.len()) {
                    return false;
                }
                open.extend(elements.iter().rev());
                if let Some(ty) = type_of(heap.identity(term)) {
                    self.types.push((self.pieces.len() as u32, ty));
                }
                TermPiece::Tuple(elements.len() as u32)
            } else {
                match self.text(term, heap) {
                    Some(end) => TermPiece::Text(end),
                    None => return false,
                }
            };
            if self.pieces.len() >= MOST_PIECES {
                return false;
            }
            self.pieces.push(piece);
        }
        true
    }

    /// Adds the bytes of a text; returns their end.
    fn text<H: Heap>(&mut self, term: H::Term, heap: &H) -> Option<u32> {
        let room = MOST_BYTES - self.bytes.len();
        heap.byte_length(term).filter(|length| *length <= room)?;
        self.bytes.extend_from_slice(heap.bytes(term)?);
        Some(self.bytes.len() as u32)
    }

    /// Adds a plain field.
    fn field<H: Heap>(&mut self, field: H::Term, heap: &H) -> Option<TermPiece> {
        let Some(&[name, holds]) = heap.elements(field) else {
            return None;
        };
        let holds = FieldHolds::of(holds, heap)?;
        let known = self.words.iter().position(|it| *it == holds);
        if known.is_none() && self.words.len() >= MOST_WORDS {
            return None;
        }
        let end = self.text(name, heap)?;
        let at = known.unwrap_or_else(|| {
            self.words.push(holds);
            self.words.len() - 1
        });
        Some(TermPiece::Field(end, at as u32))
    }

    /// Returns the number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }
}

/// A comparison with the terms of a record, one after the other.
pub(super) struct RecordedTerms<'r, T> {
    record: &'r TermRecord,
    at: usize,
    /// The bytes before the next text, and the types before the next tuple that is one.
    byte: usize,
    ty: usize,
    open: Vec<T>,
}

impl<'r, T: Copy> RecordedTerms<'r, T> {
    pub fn new(record: &'r TermRecord) -> Self {
        RecordedTerms {
            record,
            at: 0,
            byte: 0,
            ty: 0,
            open: Vec::with_capacity(16),
        }
    }

    /// Returns whether the next term of the record is equal to this one, and hands over the terms of types in it.
    pub fn is_next<H: Heap<Term = T>>(
        &mut self,
        mut term: T,
        heap: &H,
        mut found: impl FnMut(TyId, T),
    ) -> bool {
        self.open.clear();
        loop {
            let Some(piece) = self.record.pieces.get(self.at) else {
                return false;
            };
            self.at += 1;
            match *piece {
                TermPiece::Lasting(word) => {
                    if heap.lasting(term) != Some(word) {
                        return false;
                    }
                }
                TermPiece::Text(end) => {
                    if !self.is_text(term, end, heap) {
                        return false;
                    }
                }
                TermPiece::Field(end, word) => {
                    let Some((field, tail)) = heap.uncons(term) else {
                        return false;
                    };
                    let Some(&[name, holds]) = heap.elements(field) else {
                        return false;
                    };
                    let words = self.record.words[word as usize];
                    if !words.is(holds, heap) || !self.is_text(name, end, heap) {
                        return false;
                    }
                    term = tail;
                    continue;
                }
                TermPiece::Cell => {
                    let Some((head, tail)) = heap.uncons(term) else {
                        return false;
                    };
                    self.open.push(tail);
                    term = head;
                    continue;
                }
                TermPiece::Tuple(count) => {
                    let Some([first, others @ ..]) = heap.elements(term) else {
                        return false;
                    };
                    if others.len() + 1 != count as usize {
                        return false;
                    }
                    if let Some((at, ty)) = self.record.types.get(self.ty) {
                        if *at as usize == self.at - 1 {
                            found(*ty, term);
                            self.ty += 1;
                        }
                    }
                    self.open.extend(others.iter().rev());
                    term = *first;
                    continue;
                }
            }
            match self.open.pop() {
                Some(next) => term = next,
                None => return true,
            }
        }
    }

    /// Returns whether a term is the next text, which ends here.
    #[inline(always)]
    fn is_text<H: Heap<Term = T>>(&mut self, term: T, end: u32, heap: &H) -> bool {
        let text = &self.record.bytes[self.byte..end as usize];
        self.byte = end as usize;
        // The bytes of a longer one may have to be copied.
        heap.byte_length(term) == Some(text.len()) && heap.bytes(term) == Some(text)
    }
}
