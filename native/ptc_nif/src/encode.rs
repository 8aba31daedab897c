//! `json_encode/3`: terms to JSON text.

use crate::atoms;
use crate::big_view;
use crate::bits_view;
use crate::heap::Beam;
use crate::map_view::{self, Entries};
use crate::raw::{Raw, Terms};
use crate::run::limits;
use num_bigint::BigInt;
use ptc_core::json::{write, Gap, Readable, Refusal, View, BYTES_PER_UNIT};
use ptc_core::meter::{Limits, Meter, Pace};
use ptc_core::stop::{Stop, Work};
use rustler::sys::ErlNifTermType::*;
use rustler::types::atom::{self, Atom};
use rustler::{Encoder, Env, NifResult, Term};
use std::cell::Cell;

/// As many bytes are written on a scheduler's own thread: a fraction of a millisecond.
const BYTES_IN_A_SLICE: usize = 65_536;
/// In a slice no integer is decoded that has more limbs …
const LIMBS_IN_A_SLICE: usize = 500;
/// … no more bytes are copied of a string that does not start at a byte …
const COPIED_IN_A_SLICE: usize = 16_384;
/// … and no larger map is taken apart in one go.
const ENTRIES_IN_A_SLICE: usize = 8_192;
/// The bytes of a word.
const BYTES_PER_WORD: usize = 8;

/// `{:ok, text}`; `{:partial, [text, foreign, text, ...]}` where something has no form in JSON;
/// `{:error, {:foreign, key_or_improper_list}}`, `{:error, {:not_utf8, string, offset}}`,
/// `{:error, :too_long}` for a text longer than `limit`, `{:error, :timeout | :memory_exceeded}`; or
/// `:busy` for a text too long for a scheduler's thread. `given` is {timeout, max_heap}.
#[rustler::nif]
fn json_encode<'a>(
    env: Env<'a>,
    term: Term<'a>,
    limit: usize,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("json_encode");
    let limits = limits(given.0, given.1).ok_or(rustler::Error::BadArg)?;
    Ok(encode(env, term, limit, limits, Pace::Slice))
}

/// The same on a dirty scheduler, to its end or to a limit; it ends early if the caller is gone.
#[rustler::nif(schedule = "DirtyCpu")]
fn json_encode_dirty<'a>(
    env: Env<'a>,
    term: Term<'a>,
    limit: usize,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("json_encode_dirty");
    let limits = limits(given.0, given.1).ok_or(rustler::Error::BadArg)?;
    Ok(encode(env, term, limit, limits, Pace::Quantum))
}

/// A buffer of up to this size stays with the thread, since fresh memory takes longer to get than
/// to fill.
const KEPT_BYTES: usize = 2 << 20;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

fn encode<'a>(env: Env<'a>, term: Term<'a>, limit: usize, limits: Limits, pace: Pace) -> Term<'a> {
    let source = Source::new(env, pace);
    let mut text = BUFFER.take();
    // What the buffer has already is not taken for this text.
    let kept = text.capacity();
    let (mut heap, mut meter) = (Beam::new(env, 0), Meter::new(limits, pace));
    let most = match pace {
        Pace::Quantum => limit,
        Pace::Slice | Pace::Probe => limit.min(BYTES_IN_A_SLICE),
    };
    let mut work = Work::in_one_go(&mut heap, &mut meter);
    let written = write(&source, term.into(), most, &mut text, &mut |bytes, held| {
        work.consume_fuel(bytes / BYTES_PER_UNIT)?;
        work.check_heap_limit(held.saturating_sub(kept) / BYTES_PER_WORD)
    });
    let written = match written {
        Err(Refusal::Stopped(Stop::SliceOver)) => Err(None),
        Err(Refusal::Exhausted) if most < limit => Err(None),
        other => other.map_err(Some),
    };
    let answer = answer(source.terms, written, &text);
    charge(env, text.len());
    if text.capacity() <= KEPT_BYTES {
        BUFFER.set(text);
    }
    answer
}

/// Charges the calling process for a text that was written: some 500 bytes a microsecond.
fn charge(env: Env, bytes: usize) {
    let percent = (bytes / 5_000).min(100) as i32;
    if percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

/// `None`: it takes longer than a slice.
type Written<'a> = Result<Vec<Gap<Raw<'a>>>, Option<Refusal<Raw<'a>>>>;

fn answer<'a>(terms: Terms<'a>, written: Written<'a>, text: &[u8]) -> Term<'a> {
    let env = terms.env;
    let refuse = |reason: Term<'a>| (atoms::error(), reason).encode(env);
    match written {
        Ok(gaps) if gaps.is_empty() => (atoms::ok(), terms.make_binary(text).term(env)).encode(env),
        Ok(gaps) => (atoms::partial(), pieces(terms, text, &gaps)).encode(env),
        Err(None) => atoms::busy().encode(env),
        Err(Some(refusal)) => refuse(match refusal {
            Refusal::Exhausted => atoms::too_long().encode(env),
            Refusal::Stopped(Stop::MemoryExceeded) => atoms::memory_exceeded().encode(env),
            Refusal::Stopped(_) => atoms::timeout().encode(env),
            Refusal::Foreign(term) => (atoms::foreign(), term.term(env)).encode(env),
            Refusal::NotUtf8(text, at) => (atoms::not_utf8(), text.term(env), at).encode(env),
        }),
    }
}

/// The text, cut where the foreign terms belong, with them between.
fn pieces<'a>(terms: Terms<'a>, text: &[u8], gaps: &[Gap<Raw<'a>>]) -> Term<'a> {
    let mut pieces = Vec::with_capacity(2 * gaps.len() + 1);
    let mut from = 0;
    for (at, foreign) in gaps {
        pieces.push(terms.make_binary(&text[from..*at]));
        pieces.push(*foreign);
        from = *at;
    }
    pieces.push(terms.make_binary(&text[from..]));
    terms.make_list(&pieces).term(terms.env)
}

/// The terms of one NIF call, for the writer.
struct Source<'a> {
    terms: Terms<'a>,
    nil: Raw<'a>,
    yes: Raw<'a>,
    no: Raw<'a>,
    struct_key: Raw<'a>,
    /// In a slice nothing long is decoded, copied or taken apart.
    pace: Pace,
}

impl<'a> Source<'a> {
    fn new(env: Env<'a>, pace: Pace) -> Self {
        let atom = |atom: Atom| Raw::from(atom.encode(env));
        Source {
            terms: Terms { env },
            nil: atom(atoms::nil()),
            yes: atom(atoms::true_()),
            no: atom(atoms::false_()),
            struct_key: atom(atom::__struct__()),
            pace,
        }
    }

    fn integer(&self, term: Raw<'a>) -> View<'_, Raw<'a>> {
        match self.terms.integer(term) {
            Some(value) => View::Int(value),
            None if self.is_slice() && self.limbs(term) > LIMBS_IN_A_SLICE => View::TooLong,
            None => {
                let big: Option<BigInt> = term.term(self.terms.env).decode().ok();
                big.map_or(View::Foreign, View::Big)
            }
        }
    }

    fn map(&self, term: Raw<'a>) -> View<'_, Raw<'a>> {
        match map_view::entries(self.terms, term) {
            Some(Entries::Flat(keys, values)) => {
                let is_tag = |key: &Raw| key.word() == self.struct_key.word();
                match keys.iter().position(is_tag) {
                    Some(at) if self.is_atom(values[at]) => View::Foreign,
                    _ => View::Map(keys, values),
                }
            }
            Some(Entries::Large) => match self.terms.map_get(term, self.struct_key) {
                Some(tag) if self.is_atom(tag) => View::Foreign,
                _ => match self.terms.map_size(term).unwrap_or(0) {
                    size if self.is_slice() && size > ENTRIES_IN_A_SLICE => View::TooLong,
                    size => View::LargeMap(size),
                },
            },
            None => View::Foreign,
        }
    }

    fn text(&self, term: Raw<'a>) -> View<'_, Raw<'a>> {
        let to_copy = bits_view::unaligned(self.terms, term).unwrap_or(0);
        match self.is_slice() && to_copy > COPIED_IN_A_SLICE {
            true => View::TooLong,
            false => self.terms.bytes(term).map_or(View::Foreign, View::Text),
        }
    }

    fn is_slice(&self) -> bool {
        self.pace != Pace::Quantum
    }

    /// The limbs of an integer beyond 64 bits; 0 where they cannot be told.
    fn limbs(&self, integer: Raw<'a>) -> usize {
        big_view::limbs(self.terms, integer).unwrap_or(0)
    }

    fn is_atom(&self, term: Raw<'a>) -> bool {
        matches!(self.terms.kind(term), ERL_NIF_TERM_TYPE_ATOM)
    }
}

impl<'a> Readable for Source<'a> {
    type Term = Raw<'a>;

    #[inline]
    fn view(&self, term: Raw<'a>) -> View<'_, Raw<'a>> {
        // There are many of these, and they need no question to the VM.
        match term.word() {
            word if word == self.nil.word() => return View::Null,
            word if word == self.yes.word() => return View::Bool(true),
            word if word == self.no.word() => return View::Bool(false),
            _ => {}
        }
        match self.terms.kind(term) {
            ERL_NIF_TERM_TYPE_BITSTRING => self.text(term),
            ERL_NIF_TERM_TYPE_ATOM => View::Name,
            ERL_NIF_TERM_TYPE_INTEGER => self.integer(term),
            ERL_NIF_TERM_TYPE_FLOAT => self.terms.float(term).map_or(View::Foreign, View::Float),
            ERL_NIF_TERM_TYPE_LIST => View::List,
            ERL_NIF_TERM_TYPE_MAP => self.map(term),
            _ => View::Foreign,
        }
    }

    fn name(&self, atom: Raw<'a>) -> String {
        self.terms.atom_text(atom).unwrap_or_default()
    }

    #[inline]
    fn uncons(&self, term: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        self.terms.uncons(term)
    }

    #[inline]
    fn is_empty_list(&self, term: Raw<'a>) -> bool {
        self.terms.is_empty_list(term)
    }

    fn entries(&self, map: Raw<'a>) -> Vec<(Raw<'a>, Raw<'a>)> {
        let mut entries = Vec::with_capacity(self.terms.map_size(map).unwrap_or(0));
        self.terms
            .each_entry(map, |key, value| entries.push((key, value)));
        entries
    }

    #[inline]
    fn identity(&self, term: Raw<'a>) -> usize {
        term.identity()
    }
}
