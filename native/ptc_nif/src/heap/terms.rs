//! The core's `Heap` trait, implemented over the BEAM's terms.

use super::{Beam, FEW, LARGEST_INTEGER, SINCE_27, WORDS_OF_OTHER, WORDS_OF_REFERENCE};
use crate::map_view::{self, view, Flat, KeyCache, MapView, SMALL};
use crate::raw::{words, Raw, TermKind};
use crate::signature::{existing_atom, with_atom_name};
use crate::{atoms, bits_view};
use num_bigint::BigInt;
use ptc_term::heap::{
    words_of_map, words_of_put, words_of_string, Heap, Inside, Kind, Lookup, WORDS_OF_CELL,
    WORDS_OF_NUMBER,
};
use ptc_term::named::Named;
use ptc_term::number::Number;
use ptc_term::value::{Form, Value};
use rustler::Encoder;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;

/// Integers that are part of their term.
const IMMEDIATE: std::ops::Range<i64> = -(1 << 59)..1 << 59;

impl<'a> Heap for Beam<'a> {
    type Term = Raw<'a>;
    type KeyCache = KeyCache;

    #[inline]
    fn kind(&self, term: Raw<'a>) -> Kind {
        match self.terms.kind(term) {
            TermKind::Map => Kind::Map,
            TermKind::List => Kind::List,
            TermKind::Integer | TermKind::Float => Kind::Number,
            TermKind::Atom if term.word() == self.nil.word() => Kind::Nil,
            TermKind::Atom if term.word() == self.yes.word() => Kind::Bool,
            TermKind::Atom if term.word() == self.no.word() => Kind::Bool,
            TermKind::Binary => Kind::String,
            _ => Kind::Other,
        }
    }

    #[inline(always)]
    fn truthy(&self, term: Raw<'a>) -> bool {
        term.word() != self.no.word() && term.word() != self.nil.word()
    }

    #[inline]
    fn identical(&self, a: Raw<'a>, b: Raw<'a>) -> bool {
        self.terms.identical(a, b)
    }

    #[inline]
    fn compare(&self, a: Raw<'a>, b: Raw<'a>) -> Ordering {
        self.terms.compare(a, b)
    }

    #[inline]
    fn equal(&self, a: Raw<'a>, b: Raw<'a>) -> bool {
        self.terms.equal(a, b)
    }

    fn identity(&self, term: Raw<'a>) -> usize {
        term.identity()
    }

    fn hash(&self, term: Raw<'a>, seed: u64) -> u64 {
        self.terms.hash(term, seed)
    }

    fn inside(&self, term: Raw<'a>) -> Inside<'_, Raw<'a>> {
        match self.terms.kind(term) {
            TermKind::Tuple => self
                .terms
                .tuple(term)
                .map_or(Inside::Nothing, Inside::Elements),
            TermKind::Fun | TermKind::Binary | TermKind::Unknown => Inside::Unknown,
            _ => Inside::Nothing,
        }
    }

    #[inline]
    fn limbs(&self, term: Raw<'a>) -> usize {
        match self.terms.integer(term) {
            Some(_) => 0,
            None => self.limbs_of_big(term),
        }
    }

    #[inline]
    fn number(&self, term: Raw<'a>) -> Option<Number> {
        if let Some(value) = self.terms.integer(term) {
            return Some(Number::Int(value));
        }
        if let Some(value) = self.terms.float(term) {
            return Some(Number::Float(value));
        }
        match self.terms.kind(term) {
            TermKind::Integer => {
                let big: Option<BigInt> = term.term(self.terms.env).decode().ok();
                big.map(Number::from_big)
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn is_scalar(&self, term: Raw<'a>) -> bool {
        (words::known() && words::is_scalar(term))
            || !matches!(self.kind(term), Kind::List | Kind::Map | Kind::Other)
            || self.is_name(term)
    }

    #[inline(always)]
    fn small_integer(&self, term: Raw<'a>) -> Option<i64> {
        self.terms.integer(term)
    }

    #[inline]
    fn float(&self, term: Raw<'a>) -> Option<f64> {
        self.terms.float(term)
    }

    #[inline]
    fn is_name(&self, term: Raw<'a>) -> bool {
        self.terms.kind(term) == TermKind::Atom && self.kind(term) == Kind::Other
    }

    fn with_name<R>(&self, atom: Raw<'a>, read: impl FnOnce(&[u8]) -> R) -> R {
        with_atom_name(self.terms, atom, read)
    }

    fn compare_text(&self, text: &[u8], term: Raw<'a>) -> Ordering {
        match self.kind(term) {
            Kind::String => self
                .bytes(term)
                .map_or(Ordering::Greater, |bytes| text.cmp(bytes)),
            // A bitstring that is not a binary has a place among strings.
            Kind::Other => self.compare(self.terms.make_binary(text), term),
            _ => Ordering::Greater,
        }
    }

    fn atom_of(&self, name: &[u8]) -> Option<Raw<'a>> {
        existing_atom(self.terms, name)
    }

    fn string_for_lookup(&self, bytes: &[u8]) -> Option<Raw<'a>> {
        Some(self.terms.make_binary(bytes))
    }

    #[inline]
    fn byte_length(&self, term: Raw<'a>) -> Option<usize> {
        let short = words::short_binary(term).map(<[u8]>::len);
        let unaligned = || bits_view::unaligned(self.terms, term);
        let length = short.or_else(unaligned);
        length.or_else(|| self.bytes(term).map(<[u8]>::len))
    }

    #[inline]
    fn bytes_to_copy(&self, term: Raw<'a>) -> usize {
        match bits_view::unaligned(self.terms, term) {
            None => 0,
            Some(length) => match self.last_binary.get() {
                Some((word, _)) if word == term.word() => 0,
                _ => length,
            },
        }
    }

    fn aligned(&self, term: Raw<'a>) -> Raw<'a> {
        match (self.terms.bytes(term), self.terms.bytes(term)) {
            (Some(bytes), Some(again)) if bytes.as_ptr() != again.as_ptr() => {
                self.terms.make_binary(bytes)
            }
            _ => term,
        }
    }

    #[inline]
    fn bytes(&self, term: Raw<'a>) -> Option<&[u8]> {
        if let Some(bytes) = words::short_binary(term) {
            return Some(bytes);
        }
        if let Some((word, bytes)) = self.last_binary.get() {
            if word == term.word() {
                return Some(bytes);
            }
        }
        let bytes = self.terms.bytes(term)?;
        self.last_binary.set(Some((term.word(), bytes)));
        Some(bytes)
    }

    #[inline(always)]
    fn uncons(&self, term: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        self.terms.uncons(term)
    }

    #[inline]
    fn is_empty_list(&self, term: Raw<'a>) -> bool {
        self.terms.is_empty_list(term)
    }

    fn map_size(&self, term: Raw<'a>) -> Option<usize> {
        self.terms.map_size(term)
    }

    #[inline]
    fn lookup(&self, map: Raw<'a>, key: Raw<'a>, cache: &mut KeyCache) -> Lookup<Raw<'a>> {
        map_view::lookup(self.terms, &self.last_map, map, key, cache)
    }

    fn lookup_atom(&self, map: Raw<'a>, atom: Raw<'a>, cache: &mut KeyCache) -> Lookup<Raw<'a>> {
        map_view::lookup_atom(self.terms, &self.last_map, map, atom, cache)
    }

    #[inline(always)]
    fn quick_lookup(&self, map: Raw<'a>, cache: &KeyCache) -> Option<Raw<'a>> {
        map_view::quick_lookup(map, cache)
    }

    #[inline]
    fn form(&self, map: Raw<'a>) -> Form {
        self.structs.form(self, map)
    }

    fn is_hidden(&self, key: Raw<'a>) -> bool {
        self.structs.is_hidden(self.terms, key)
    }

    fn value(&self, term: Raw<'a>) -> Value<Raw<'a>> {
        self.structs.value(self, term)
    }

    fn entries(&self, map: Raw<'a>) -> Vec<(Raw<'a>, Raw<'a>)> {
        match map_view::view(self.terms, map) {
            MapView::Flat(Flat { keys, values }) => {
                let entries = keys.iter().copied().zip(values.iter().copied());
                entries.collect()
            }
            MapView::Large | MapView::NotAMap => self.terms.entries(map),
        }
    }

    #[inline]
    fn flat(&self, map: Raw<'a>) -> Option<(&[Raw<'a>], &[Raw<'a>])> {
        match view(self.terms, map) {
            MapView::Flat(Flat { keys, values }) => Some((keys, values)),
            MapView::Large | MapView::NotAMap => None,
        }
    }

    #[inline]
    fn nil(&self) -> Raw<'a> {
        self.nil
    }

    #[inline]
    fn boolean(&self, value: bool) -> Raw<'a> {
        if value {
            self.yes
        } else {
            self.no
        }
    }

    fn make_number(&mut self, number: Number) -> Option<Raw<'a>> {
        match number {
            Number::Int(value) => {
                self.words += WORDS_OF_NUMBER;
                Some(self.terms.make_integer(value))
            }
            Number::Float(value) => {
                self.words += WORDS_OF_NUMBER;
                self.terms.make_float(value)
            }
            Number::Big(value) if value.bits() > LARGEST_INTEGER => None,
            Number::Big(value) => {
                self.words += 1 + value.bits().div_ceil(64) as usize;
                let term = Raw::from(value.encode(self.terms.env));
                // Later versions of the VM have a lower limit; rustler then returns an atom.
                (self.kind(term) == Kind::Number).then_some(term)
            }
        }
    }

    #[inline(always)]
    fn make_counter(&mut self, number: Number) -> Option<Raw<'a>> {
        match number {
            Number::Int(value) if IMMEDIATE.contains(&value) => {
                Some(self.terms.make_integer(value))
            }
            number => self.make_number(number),
        }
    }

    fn make_string(&mut self, bytes: &[u8]) -> Raw<'a> {
        self.words += words_of_string(bytes.len());
        self.terms.make_binary(bytes)
    }

    fn make_list(&mut self, items: &[Raw<'a>]) -> Raw<'a> {
        self.words += WORDS_OF_CELL * items.len();
        self.terms.make_list(items)
    }

    fn make_list_onto(&mut self, items: &[Raw<'a>], tail: Raw<'a>) -> Raw<'a> {
        if self.is_empty_list(tail) {
            return self.make_list(items);
        }
        self.words += WORDS_OF_CELL * items.len();
        let cons = |tail, item: &Raw<'a>| self.terms.cons(*item, tail);
        items.iter().rev().fold(tail, cons)
    }

    fn remake_map(
        &mut self,
        map: Raw<'a>,
        keys: &[Raw<'a>],
        old: &[Raw<'a>],
        values: &[Raw<'a>],
    ) -> Raw<'a> {
        let terms = self.terms;
        let others = || (0..keys.len()).filter(|at| values[*at].word() != old[*at].word());
        if self.map_size(map) == Some(keys.len()) && others().take(FEW + 1).count() <= FEW {
            let update =
                |map, at: usize| terms.map_update(map, keys[at], values[at]).unwrap_or(map);
            return others().fold(map, update);
        }
        terms.make_map(keys, values).unwrap_or(map)
    }

    fn put(&mut self, map: Raw<'a>, key: Raw<'a>, value: Raw<'a>) -> Raw<'a> {
        self.words += words_of_put(self.map_size(map).unwrap_or(0));
        self.terms.map_put(map, key, value).unwrap_or(map)
    }

    fn without(&mut self, map: Raw<'a>, key: Raw<'a>) -> Raw<'a> {
        self.words += words_of_put(self.map_size(map).unwrap_or(0));
        self.terms.map_remove(map, key).unwrap_or(map)
    }

    fn make_tuple(&mut self, elements: &[Raw<'a>]) -> Raw<'a> {
        self.terms.make_tuple(elements)
    }

    #[inline]
    fn elements(&self, term: Raw<'a>) -> Option<&[Raw<'a>]> {
        self.terms.tuple(term)
    }

    fn word<N: Named>(&mut self, variant: N) -> Raw<'a> {
        atoms::named(self.terms.env, variant)
            .encode(self.terms.env)
            .into()
    }

    fn cons(&mut self, head: Raw<'a>, tail: Raw<'a>) -> Raw<'a> {
        self.terms.cons(head, tail)
    }

    #[inline]
    fn make_tuple_value(&mut self, elements: &[Raw<'a>]) -> Raw<'a> {
        self.words += 1 + elements.len();
        self.make_tuple(elements)
    }

    #[inline]
    fn make_map(&mut self, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Raw<'a> {
        // A large map is a tree: given equal keys, the VM builds an invalid one without an error.
        self.words += words_of_map(keys.len());
        if keys.len() > SMALL {
            return self.make_map_of_repeated(keys, values);
        }
        match self.terms.make_map(keys, values) {
            Some(map) => map,
            None => self.make_map_of_repeated(keys, values),
        }
    }

    #[inline]
    fn words_built(&self) -> usize {
        self.words
    }

    fn built(&mut self, words: usize) {
        self.words += words;
    }

    fn words_of_reference(&self) -> usize {
        WORDS_OF_REFERENCE[usize::from(SINCE_27.load(Relaxed))]
    }

    fn words_of_opaque(&self, term: Raw<'a>) -> usize {
        match self.terms.kind(term) {
            TermKind::Fun | TermKind::Reference => WORDS_OF_OTHER,
            TermKind::Pid | TermKind::Port if !self.terms.is_local(term) => WORDS_OF_OTHER,
            // For example a bitstring: a reference into a binary, with a position.
            TermKind::Unknown => self.words_of_reference() + WORDS_OF_OTHER,
            _ => 0,
        }
    }

    fn abandoned(&self) -> bool {
        !self.terms.caller_is_alive()
    }
}
