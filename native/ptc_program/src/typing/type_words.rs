//! The words that types are written with.

use super::ty::{TyId, Types};
use crate::analysis::names::NameId;
pub(super) use crate::analysis::names::LONGEST_NAME;
use ptc_term::heap::{Heap, Kind};

/// The words of type terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TypeWord {
    Ty(TyId),
    Optional,
    List,
    Map,
    ClosedMap,
    OpenMap,
    Union,
    Literal,
    Unknown,
}

/// Number of the words.
const WORDS: usize = 20;

/// Returns the word of an atom's name, and whether the types of a reply are written with it.
fn word_of(name: &[u8]) -> (TypeWord, bool) {
    match name {
        b"string" => (TypeWord::Ty(TyId::TEXT), true),
        b"int" => (TypeWord::Ty(TyId::INT), true),
        b"whole" => (TypeWord::Ty(TyId::WHOLE), true),
        b"float" => (TypeWord::Ty(TyId::PLAIN), true),
        b"number" => (TypeWord::Ty(TyId::NUMBER), false),
        b"bool" => (TypeWord::Ty(TyId::BOOL), true),
        b"boolean" => (TypeWord::Ty(TyId::BOOL), false),
        b"keyword" => (TypeWord::Ty(TyId::KEYWORD), true),
        b"any" => (TypeWord::Ty(TyId::UNKNOWN), true),
        b"datetime" => (TypeWord::Ty(TyId::MOMENT), true),
        b"null" | b"nil" => (TypeWord::Ty(TyId::NULL), false),
        b"never" => (TypeWord::Ty(TyId::NEVER), true),
        b"optional" => (TypeWord::Optional, true),
        b"list" => (TypeWord::List, true),
        b"map" => (TypeWord::Map, true),
        b"closed_map" => (TypeWord::ClosedMap, false),
        b"open_map" => (TypeWord::OpenMap, true),
        b"union" => (TypeWord::Union, true),
        b"literal" => (TypeWord::Literal, true),
        _ => (TypeWord::Unknown, false),
    }
}

/// The words by the identity of their atoms, within one call.
#[derive(Debug, Default)]
pub(super) struct WordCache {
    words: Vec<(usize, TypeWord, bool)>,
}

impl WordCache {
    /// Returns the word that an atom is, and whether the types of a reply are written with it.
    #[inline]
    pub fn of<H: Heap>(&mut self, atom: H::Term, heap: &H) -> (TypeWord, bool) {
        let identity = heap.identity(atom);
        match self.words.iter().find(|(it, ..)| *it == identity) {
            Some((_, word, usual)) => (*word, *usual),
            None => self.add(atom, identity, heap),
        }
    }

    /// Returns what [`WordCache::of`] returns, for any term: `None` if it is not in the cache.
    #[inline]
    pub fn known<H: Heap>(&self, term: H::Term, heap: &H) -> Option<(TypeWord, bool)> {
        let identity = heap.identity(term);
        let found = self.words.iter().find(|(it, ..)| *it == identity);
        found.map(|(_, word, usual)| (*word, *usual))
    }

    #[cold]
    fn add<H: Heap>(&mut self, atom: H::Term, identity: usize, heap: &H) -> (TypeWord, bool) {
        let (word, usual) = heap.with_name(atom, word_of);
        if self.words.len() < WORDS {
            self.words.push((identity, word, usual));
        }
        (word, usual)
    }
}

/// Returns the type of a constant.
pub(super) fn literal<H: Heap>(term: H::Term, types: &mut Types, heap: &H) -> TyId {
    match heap.kind(term) {
        Kind::Nil => TyId::NULL,
        Kind::Bool if heap.truthy(term) => TyId::TRUE,
        Kind::Bool => TyId::FALSE,
        Kind::String => types.text(heap.bytes(term).unwrap_or_default()),
        Kind::Number => match (heap.small_integer(term), heap.float(term)) {
            (Some(value), _) => types.int(value),
            (_, Some(value)) => types.float(value),
            _ => TyId::INT,
        },
        _ => TyId::UNKNOWN,
    }
}

/// Returns the name that a key is, unless it is too long for one.
pub fn name_of<H: Heap>(key: H::Term, types: &mut Types, heap: &H) -> Option<NameId> {
    match heap.is_name(key) {
        true => Some(heap.with_name(key, |name| types.names.id(name))),
        false if heap.byte_length(key)? > LONGEST_NAME => None,
        false => heap.bytes(key).map(|name| types.names.id(name)),
    }
}
