//! `json_encode/3`: terms to JSON text.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::Pace;
use crate::task::{Call, Work};
use ptc_core::json::{Draft, Gap, OnHeap, Refusal, Writer, BYTES_PER_UNIT};
use ptc_core::stop::Stop;
use rustler::{Encoder, Env, NifResult, Term};
use std::cell::Cell;

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

impl Work for Encoding {
    fn go_on<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let [frozen, foreign] = *terms else {
            return None;
        };
        if self.written {
            return Some(hand_over(call, *self, frozen));
        }
        let terms = EncodeTerms {
            frozen: Some(frozen),
            foreign: Some(foreign),
        };
        Some(encode(call, *self, terms, None))
    }
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
    let (heap, mut meter) = (Beam::new(call.env, 0), call.meter());
    let source = OnHeap {
        heap: &heap,
        in_slice: call.pace != Pace::Quantum,
    };
    let Encoding {
        ref mut draft,
        limit,
        kept,
        ..
    } = encoding;
    let mut spend = |bytes: usize, held: usize| {
        meter.consume_fuel(bytes / BYTES_PER_UNIT, &heap)?;
        meter.check_heap_limit(held.saturating_sub(kept) / BYTES_PER_WORD, &heap)?;
        Ok(())
    };
    let mut writer = Writer::new(&source, draft, terms.frozen, limit, &mut spend);
    let begun = root.map_or(Ok(()), |root| writer.begin(root));
    let written = begun.and_then(|()| writer.go_on());
    terms.frozen = writer.frozen();
    let (frozen, foreign) = writer.freeze();
    call.settle(&meter);
    if !foreign.is_empty() {
        terms.foreign = Some(onto(heap.terms, terms.foreign, foreign));
    }
    if matches!(written, Err(Refusal::Stopped(Stop::SliceOver))) {
        let frozen = onto(heap.terms, terms.frozen, frozen);
        let foreign = onto(heap.terms, terms.foreign, Vec::new());
        return call.more(encoding, &[frozen, foreign]);
    }
    if written.is_ok() && encoding.draft.gaps.is_empty() && encoding.draft.text.len() > PIECE {
        encoding.written = true;
        let none = heap.terms.make_list(&[]);
        return call.leave(encoding, &[none, none], atoms::long());
    }
    let reply = match written {
        Ok(()) => text(heap.terms, &encoding.draft, terms.foreign),
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
    call.leave(encoding, &[parts, none], atoms::long())
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
