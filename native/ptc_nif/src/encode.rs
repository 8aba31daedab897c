//! `json_encode/3`: terms to JSON text.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::Pace;
use crate::task::{run, Call, Task};
use ptc_json::{Draft, OnHeap, Refusal, Writer, BYTES_PER_UNIT};
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::suspend::One;
use rustler::{Encoder, Env, NifResult, Term};
use std::cell::Cell;
use std::time::Duration;

/// Units of work that is done in one piece, from which on it must end before the deadline. The digits of an integer of half a
/// megabyte take some tenths of a second.
const LONG: usize = 100_000;
/// The time of a unit of such work on a fast machine.
const LEAST_PICOSECONDS_A_UNIT: u64 = 250;

/// Bytes of a word.
const BYTES_PER_WORD: usize = 8;

/// A text that is being written.
struct Encode<T> {
    /// The term, until the writer has begun with it.
    root: Option<One<T>>,
    /// The parts of the complete text that are on the caller's heap already, as a list.
    parts: Option<One<T>>,
    draft: Draft<T>,
    /// Maximum bytes of the text.
    limit: usize,
    /// Capacity of the buffer at the start: it does not count as memory of this text.
    kept: usize,
}

rooted!(Encode { states: root, parts, draft; plain: limit, kept });

nif! {
    /// `{:ok, text}`, where a long text is a list of its parts; `{:partial, [text, foreign, text, ...]}` if
    /// a term has no form in JSON;
    /// `{:error, {:foreign, key_or_improper_list}}`, `{:error, {:not_utf8, string, offset}}`,
    /// `{:error, :too_long}` for a text longer than `limit`, `{:error, :timeout | :memory_exceeded}`; or
    /// `{:more, state, terms}`. `given` is `{timeout, max_heap}`.
    fn json_encode<'a>(env, term: Term<'a>, limit: usize, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let buffer = BUFFER.take();
        let encode = Encode {
            root: Some(One(term.into())),
            parts: None,
            kept: buffer.capacity(),
            draft: Draft::new(buffer),
            limit,
        };
        Ok(run::<Encode<()>>(call, encode))
    }
}

/// A buffer of up to this size is kept for the thread, because allocating fresh memory takes longer than
/// filling it.
const KEPT_BYTES: usize = 2 << 20;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A longer text is copied in parts: the first access to new memory takes ten times as long as the copy.
const PIECE: usize = 1 << 20;

impl<'a> Task<'a> for Encode<Raw<'a>> {
    type Out = Result<(), Refusal<Raw<'a>>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        if let Some(One(parts)) = self.parts {
            self.hand_over(heap.terms, parts)?;
            return Ok(Ok(()));
        }
        let written = match self.write(heap, meter) {
            Err(Refusal::Stopped(stop)) => return Err(stop),
            written => written,
        };
        if written.is_ok() && !self.draft.has_gaps() && self.draft.text.len() > PIECE {
            self.parts = Some(One(heap.terms.make_list(&[])));
            return Err(Stop::SliceOver);
        }
        Ok(written)
    }

    fn reply(mut self, call: Call<'a>, mut heap: Beam<'a>, written: Self::Out) -> Term<'a> {
        let reply = match (written, self.parts) {
            (Err(refusal), _) => refused(call.env, refusal),
            (Ok(()), Some(One(parts))) => (atoms::ok(), parts.term(call.env)).encode(call.env),
            (Ok(()), None) => text(&mut heap, &mut self.draft),
        };
        let buffer = self.draft.text;
        if buffer.capacity() <= KEPT_BYTES {
            BUFFER.set(buffer);
        }
        reply
    }

    fn reads_text(&self) -> bool {
        false
    }

    /// Copying is left to quanta.
    fn needs_quantum(&self) -> bool {
        self.parts.is_some()
    }
}

impl<'a> Encode<Raw<'a>> {
    fn write(&mut self, heap: &Beam<'a>, meter: &mut Meter) -> Result<(), Refusal<Raw<'a>>> {
        let source = OnHeap {
            heap,
            in_slice: meter.pace() != Pace::Quantum,
        };
        let kept = self.kept;
        let mut consume_fuel = |bytes: usize, held: usize| {
            let units = bytes / BYTES_PER_UNIT;
            if units >= LONG {
                let picoseconds = (units as u64).saturating_mul(LEAST_PICOSECONDS_A_UNIT);
                meter.check_time_left(Duration::from_nanos(picoseconds / 1_000))?;
            }
            meter.consume_fuel(units, heap)?;
            meter.check_heap_limit(held.saturating_sub(kept) / BYTES_PER_WORD, heap)
        };
        let mut writer = Writer::new(&source, &mut self.draft, self.limit, &mut consume_fuel);
        let begun = self.root.take();
        let begun = begun.map_or(Ok(()), |One(root)| writer.begin(root));
        begun.and_then(|()| writer.resume())
    }

    /// Copies the last part of the text and puts it in front of the parts after it.
    fn hand_over(&mut self, terms: Terms<'a>, parts: Raw<'a>) -> Result<(), Stop> {
        let text = &mut self.draft.text;
        let from = text.len().saturating_sub(PIECE);
        let parts = terms.cons(terms.make_binary(&text[from..]), parts);
        self.parts = Some(One(parts));
        text.truncate(from);
        text.shrink_to(from);
        match from {
            0 => Ok(()),
            _ => Err(Stop::SliceOver),
        }
    }
}

fn text<'a>(heap: &mut Beam<'a>, draft: &mut Draft<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    match draft.has_gaps() {
        false => (atoms::ok(), heap.terms.make_binary(&draft.text).term(env)).encode(env),
        true => (atoms::partial(), draft.pieces(heap).term(env)).encode(env),
    }
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
