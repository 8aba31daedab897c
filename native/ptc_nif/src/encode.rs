//! `json_encode/3`: terms to JSON text.

use crate::atoms;
use crate::big_view;
use crate::bits_view;
use crate::clock::nif;
use crate::heap::Beam;
use crate::map_view::{self, Flat};
use crate::raw::{Raw, TermKind, Terms};
use crate::schedule::Pace;
use crate::task::{Call, Work};
use num_bigint::BigInt;
use ptc_core::json::{Draft, Gap, JsonView, Readable, Refusal, Writer, BYTES_PER_UNIT};
use ptc_core::stop::Stop;
use ptc_core::workspace::Workspace;
use rustler::types::atom::{self, Atom};
use rustler::{Encoder, Env, NifResult, Term};
use std::cell::Cell;

/// In a slice, no integer with more limbs than this is decoded.
const LIMBS_IN_A_SLICE: usize = 500;
/// In a slice, no unaligned string with more bytes than this is copied.
const COPIED_IN_A_SLICE: usize = 16_384;
/// Bytes of a word.
const BYTES_PER_WORD: usize = 8;

/// A text that is being written.
pub struct Encoding {
    draft: Draft,
    /// Maximum bytes of the text.
    limit: usize,
    /// Capacity of the buffer at the start: it does not count as memory of this text.
    kept: usize,
    /// The text is complete and only has to be copied to the caller's heap.
    written: bool,
}

/// The terms of a suspended encoding, as lists in reverse order: the frozen ones, and those of its gaps.
/// `None` stands for the empty list.
#[derive(Default)]
struct EncodeTerms<'a> {
    frozen: Option<Raw<'a>>,
    foreign: Option<Raw<'a>>,
}

nif! {
    /// `{:ok, text}`, where a long text is a list of its parts; `{:partial, [text, foreign, text, ...]}` if
    /// a term has no form in JSON;
    /// `{:error, {:foreign, key_or_improper_list}}`, `{:error, {:not_utf8, string, offset}}`,
    /// `{:error, :too_long}` for a text longer than `limit`, `{:error, :timeout | :memory_exceeded}`; or
    /// `{:more, state, terms}`. `given` is `{timeout, max_heap}`.
    fn json_encode<'a>(env, term: Term<'a>, limit: usize, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let buffer = BUFFER.take();
        let encoding = Encoding {
            kept: buffer.capacity(),
            draft: Draft::new(buffer),
            limit,
            written: false,
        };
        let terms = EncodeTerms::default();
        Ok(encode(call, encoding, terms, Some(term.into())))
    }
}

/// Resumes the encoding; `None` if the terms belong to other work.
pub fn go_on<'a>(call: Call<'a>, encoding: Encoding, terms: &[Raw<'a>]) -> Option<Term<'a>> {
    let [frozen, foreign] = *terms else {
        return None;
    };
    if encoding.written {
        return Some(hand_over(call, encoding, frozen));
    }
    let terms = EncodeTerms {
        frozen: Some(frozen),
        foreign: Some(foreign),
    };
    Some(encode(call, encoding, terms, None))
}

/// A buffer of up to this size is kept for the thread, because allocating fresh memory takes longer than
/// filling it.
const KEPT_BYTES: usize = 2 << 20;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

fn encode<'a>(
    mut call: Call<'a>,
    mut encoding: Encoding,
    mut terms: EncodeTerms<'a>,
    root: Option<Raw<'a>>,
) -> Term<'a> {
    let source = WriterTerms::new(call.env, call.pace);
    let (mut heap, mut meter) = (Beam::new(call.env, 0), call.meter());
    let mut work = Workspace::new(&mut heap, &mut meter);
    let Encoding {
        ref mut draft,
        limit,
        kept,
        ..
    } = encoding;
    let mut spend = |bytes: usize, held: usize| {
        work.consume_fuel_or_suspend(bytes / BYTES_PER_UNIT)?;
        work.check_heap_limit(held.saturating_sub(kept) / BYTES_PER_WORD)
    };
    let mut writer = Writer::new(&source, draft, terms.frozen, limit, &mut spend);
    let begun = root.map_or(Ok(()), |root| writer.begin(root));
    let written = begun.and_then(|()| writer.go_on());
    terms.frozen = writer.frozen();
    let (frozen, foreign) = writer.freeze();
    call.settle(&meter);
    if !foreign.is_empty() {
        terms.foreign = Some(onto(source.terms, terms.foreign, foreign));
    }
    if matches!(written, Err(Refusal::Stopped(Stop::SliceOver))) {
        let frozen = onto(source.terms, terms.frozen, frozen);
        let foreign = onto(source.terms, terms.foreign, Vec::new());
        return call.more(Work::Encode(encoding), &[frozen, foreign]);
    }
    if written.is_ok() && encoding.draft.gaps.is_empty() && encoding.draft.text.len() > PIECE {
        encoding.written = true;
        let none = source.terms.make_list(&[]);
        return call.leave(Work::Encode(encoding), &[none, none], atoms::long());
    }
    let reply = match written {
        Ok(()) => text(source.terms, &encoding.draft, terms.foreign),
        Err(Refusal::Stopped(stop)) => call.stopped(stop),
        Err(refusal) => refused(call.env, refusal),
    };
    let buffer = encoding.draft.text;
    if buffer.capacity() <= KEPT_BYTES {
        BUFFER.set(buffer);
    }
    reply
}

/// A longer text is copied in parts: the first access to new memory takes ten times as long as the copy.
const PIECE: usize = 1 << 20;

/// Copies the last part of the text and puts it in front of the parts after it.
fn hand_over<'a>(call: Call<'a>, mut encoding: Encoding, parts: Raw<'a>) -> Term<'a> {
    let (terms, text) = (call.terms(), &mut encoding.draft.text);
    let from = text.len().saturating_sub(PIECE);
    let parts = terms.cons(terms.make_binary(&text[from..]), parts);
    text.truncate(from);
    if from == 0 {
        return (atoms::ok(), parts.term(call.env)).encode(call.env);
    }
    text.shrink_to(from);
    let none = terms.make_list(&[]);
    call.leave(Work::Encode(encoding), &[parts, none], atoms::long())
}

/// Prepends the items to a list, one after the other.
fn onto<'a>(terms: Terms<'a>, list: Option<Raw<'a>>, items: Vec<Raw<'a>>) -> Raw<'a> {
    let list = list.unwrap_or_else(|| terms.make_list(&[]));
    items
        .into_iter()
        .fold(list, |list, item| terms.cons(item, list))
}

fn text<'a>(terms: Terms<'a>, draft: &Draft, foreign: Option<Raw<'a>>) -> Term<'a> {
    let env = terms.env;
    if draft.gaps.is_empty() {
        return (atoms::ok(), terms.make_binary(&draft.text).term(env)).encode(env);
    }
    let (mut last_first, mut rest) = (Vec::with_capacity(draft.gaps.len()), foreign);
    while let Some((term, tail)) = rest.and_then(|rest| terms.uncons(rest)) {
        last_first.push(term);
        rest = Some(tail);
    }
    let foreign = last_first.into_iter().rev();
    let gaps: Vec<Gap<Raw<'a>>> = draft.gaps.iter().copied().zip(foreign).collect();
    (atoms::partial(), pieces(terms, &draft.text, &gaps)).encode(env)
}

fn refused<'a>(env: Env<'a>, refusal: Refusal<Raw<'a>>) -> Term<'a> {
    let reason = match refusal {
        Refusal::Exhausted => atoms::too_long().encode(env),
        Refusal::Foreign(term) => (atoms::foreign(), term.term(env)).encode(env),
        Refusal::NotUtf8(text, at) => (atoms::not_utf8(), text.term(env), at).encode(env),
        Refusal::Stopped(_) => atoms::timeout().encode(env),
    };
    (atoms::error(), reason).encode(env)
}

/// The text, split at the gaps, with the foreign terms between.
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

/// The writer's access to terms, for one NIF call.
struct WriterTerms<'a> {
    terms: Terms<'a>,
    nil: Raw<'a>,
    yes: Raw<'a>,
    no: Raw<'a>,
    struct_key: Raw<'a>,
    /// In a slice, no long integer is decoded and no long string is copied.
    pace: Pace,
}

impl<'a> WriterTerms<'a> {
    fn new(env: Env<'a>, pace: Pace) -> Self {
        let atom = |atom: Atom| Raw::from(atom.encode(env));
        WriterTerms {
            terms: Terms { env },
            nil: atom(atoms::nil()),
            yes: atom(atoms::true_()),
            no: atom(atoms::false_()),
            struct_key: atom(atom::__struct__()),
            pace,
        }
    }

    fn integer(&self, term: Raw<'a>) -> JsonView<'_, Raw<'a>> {
        match self.terms.integer(term) {
            Some(value) => JsonView::Int(value),
            None if self.is_slice() && self.limbs(term) > LIMBS_IN_A_SLICE => JsonView::TooLong,
            None => {
                let big: Option<BigInt> = term.term(self.terms.env).decode().ok();
                big.map_or(JsonView::Foreign, JsonView::Big)
            }
        }
    }

    fn map(&self, term: Raw<'a>) -> JsonView<'_, Raw<'a>> {
        match map_view::view(self.terms, term) {
            map_view::MapView::Flat(Flat { keys, values }) => {
                let is_tag = |key: &Raw| key.word() == self.struct_key.word();
                match keys.iter().position(is_tag) {
                    Some(at) if self.is_atom(values[at]) => JsonView::Foreign,
                    _ => JsonView::Map(keys, values),
                }
            }
            map_view::MapView::Large => match self.terms.map_get(term, self.struct_key) {
                Some(tag) if self.is_atom(tag) => JsonView::Foreign,
                _ => JsonView::LargeMap(self.terms.map_size(term).unwrap_or(0)),
            },
            map_view::MapView::NotAMap => JsonView::Foreign,
        }
    }

    fn text(&self, term: Raw<'a>) -> JsonView<'_, Raw<'a>> {
        let to_copy = bits_view::unaligned(self.terms, term).unwrap_or(0);
        match self.is_slice() && to_copy > COPIED_IN_A_SLICE {
            true => JsonView::TooLong,
            false => self
                .terms
                .bytes(term)
                .map_or(JsonView::Foreign, JsonView::Text),
        }
    }

    fn is_slice(&self) -> bool {
        self.pace != Pace::Quantum
    }

    /// The limbs of an integer beyond 64 bits; 0 if they cannot be read.
    fn limbs(&self, integer: Raw<'a>) -> usize {
        big_view::limbs(self.terms, integer).unwrap_or(0)
    }

    fn is_atom(&self, term: Raw<'a>) -> bool {
        self.terms.kind(term) == TermKind::Atom
    }
}

impl<'a> Readable for WriterTerms<'a> {
    type Term = Raw<'a>;

    #[inline]
    fn view(&self, term: Raw<'a>) -> JsonView<'_, Raw<'a>> {
        // These are frequent, and comparing words needs no call of the VM.
        match term.word() {
            word if word == self.nil.word() => return JsonView::Null,
            word if word == self.yes.word() => return JsonView::Bool(true),
            word if word == self.no.word() => return JsonView::Bool(false),
            _ => {}
        }
        match self.terms.kind(term) {
            TermKind::Binary => self.text(term),
            TermKind::Atom => JsonView::Name,
            TermKind::Integer => self.integer(term),
            TermKind::Float => self
                .terms
                .float(term)
                .map_or(JsonView::Foreign, JsonView::Float),
            TermKind::List => JsonView::List,
            TermKind::Map => self.map(term),
            _ => JsonView::Foreign,
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
        self.terms.entries(map)
    }

    #[inline]
    fn identity(&self, term: Raw<'a>) -> usize {
        term.identity()
    }

    /// Replaces an unaligned string by an aligned copy, because each call that reads it would copy it. A long
    /// one is copied by the quantum that resumes the work.
    fn to_keep(&self, term: Raw<'a>) -> Raw<'a> {
        let to_copy = bits_view::unaligned(self.terms, term).unwrap_or(0);
        if self.is_slice() && to_copy > COPIED_IN_A_SLICE {
            return term;
        }
        let (Some(bytes), Some(again)) = (self.terms.bytes(term), self.terms.bytes(term)) else {
            return term;
        };
        match bytes.as_ptr() == again.as_ptr() {
            true => term,
            false => self.terms.make_binary(bytes),
        }
    }
}
