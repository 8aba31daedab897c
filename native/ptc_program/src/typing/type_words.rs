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

/// All words, each with its atom's name.
const WORDS: [(&[u8], TypeWord); 20] = [
    (b"string", TypeWord::Ty(TyId::TEXT)),
    (b"int", TypeWord::Ty(TyId::INT)),
    (b"whole", TypeWord::Ty(TyId::WHOLE)),
    (b"float", TypeWord::Ty(TyId::PLAIN)),
    (b"number", TypeWord::Ty(TyId::NUMBER)),
    (b"bool", TypeWord::Ty(TyId::BOOL)),
    (b"boolean", TypeWord::Ty(TyId::BOOL)),
    (b"keyword", TypeWord::Ty(TyId::KEYWORD)),
    (b"any", TypeWord::Ty(TyId::UNKNOWN)),
    (b"datetime", TypeWord::Ty(TyId::MOMENT)),
    (b"null", TypeWord::Ty(TyId::NULL)),
    (b"nil", TypeWord::Ty(TyId::NULL)),
    (b"never", TypeWord::Ty(TyId::NEVER)),
    (b"optional", TypeWord::Optional),
    (b"list", TypeWord::List),
    (b"map", TypeWord::Map),
    (b"closed_map", TypeWord::ClosedMap),
    (b"open_map", TypeWord::OpenMap),
    (b"union", TypeWord::Union),
    (b"literal", TypeWord::Literal),
];
/// Words that the types of a reply are not written with.
const UNUSUAL: [&[u8]; 5] = [b"number", b"boolean", b"null", b"nil", b"closed_map"];

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

    /// The same for a term that may be another one: `None` if it is not in the cache.
    #[inline]
    pub fn known<H: Heap>(&self, term: H::Term, heap: &H) -> Option<(TypeWord, bool)> {
        let identity = heap.identity(term);
        let found = self.words.iter().find(|(it, ..)| *it == identity);
        found.map(|(_, word, usual)| (*word, *usual))
    }

    #[cold]
    fn add<H: Heap>(&mut self, atom: H::Term, identity: usize, heap: &H) -> (TypeWord, bool) {
        let (word, usual) = heap.with_name(atom, |name| {
            let found = WORDS.iter().find(|(word, _)| *word == name);
            let word = found.map_or(TypeWord::Unknown, |(_, word)| *word);
            (word, found.is_some() && !UNUSUAL.contains(&name))
        });
        if self.words.len() < WORDS.len() {
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
