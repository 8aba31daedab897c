//! Streams of answers: the NIFs that create a stream, feed it and read its partial value.
//!
//! On the Elixir side, a stream is a value: the text so far, and a reference to the state here. The state is
//! small, because the text is kept where the VM counts its memory. If two copies of a stream value are fed,
//! the state matches only the first one. The other one then receives a new state, built from its text.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::Terms;
use crate::repair::path;
use crate::schedule::{charge_for, is_too_long, nif_pair, Pace, CHUNK_BYTES, PARTIAL_BYTES};
use crate::signature::answer_type;
use ptc_answer::stream::{may_end_tag, Caution, Mistake, Rules, Stream, What};
use ptc_type::mismatch::UNEXPECTED_FIELD;
use rustler::{Atom, Binary, Encoder, Env, NifResult, Resource, ResourceArc, Term};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The state of a stream between two calls.
pub struct SharedStream(Mutex<Stream>);

#[rustler::resource_impl]
impl Resource for SharedStream {}

/// Number of bytes of a chunk read in a microsecond.
const BYTES_A_MICROSECOND: usize = 100;

impl SharedStream {
    /// Locks the stream; `None` if another process uses it and this thread must not wait.
    fn take(&self, pace: Pace) -> Option<MutexGuard<'_, Stream>> {
        match pace {
            // After a panic the stream may have lost its place. It is memory-safe, and `finish/1` reads the text.
            Pace::Quantum => Some(self.0.lock().unwrap_or_else(|held| held.into_inner())),
            Pace::Probe | Pace::Slice => match self.0.try_lock() {
                Ok(held) => Some(held),
                Err(TryLockError::Poisoned(held)) => Some(held.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            },
        }
    }
}

fn new<'a>(env: Env<'a>, of: Term<'a>, list: bool, rules: Rules, pace: Pace) -> Term<'a> {
    match answer_type(env, of.into(), list, pace) {
        Some(answer_type) => {
            let held = ResourceArc::new(SharedStream(Mutex::new(Stream::new(answer_type, rules))));
            (atoms::ok(), held).encode(env)
        }
        None => atoms::busy().encode(env),
    }
}

fn feed<'a>(
    env: Env<'a>,
    held: &SharedStream,
    (taken, looks): (usize, bool),
    chunk: Binary<'a>,
    pace: Pace,
) -> Term<'a> {
    if looks && may_end_tag(&chunk) {
        return atoms::tag().encode(env);
    }
    let Some(mut stream) = held.take(pace) else {
        return atoms::busy().encode(env);
    };
    if stream.taken() != taken {
        return atoms::fork().encode(env);
    }
    charge_for(env, pace, chunk.len(), BYTES_A_MICROSECOND);
    if is_too_long(pace, chunk.len(), CHUNK_BYTES) {
        return atoms::busy().encode(env);
    }
    match stream.feed(chunk.as_slice()) {
        None => atoms::ok().encode(env),
        Some(mistake) => (atoms::halt(), shown(env, mistake)).encode(env),
    }
}

fn shown<'a>(env: Env<'a>, mistake: &Mistake) -> Term<'a> {
    let message = match &mistake.what {
        What::Mismatch(mismatch) => mismatch.to_string(),
        What::Unexpected => UNEXPECTED_FIELD.to_string(),
        What::Rule => return (atoms::rule(), path(Terms { env }, &mistake.path)).encode(env),
        What::NotAnObject => return atoms::not_an_object().encode(env),
        What::NotWrapped => return atoms::not_wrapped().encode(env),
        What::Prose => return atoms::prose().encode(env),
        What::Syntax(offset) => return (atoms::syntax(), *offset).encode(env),
    };
    (path(Terms { env }, &mistake.path), message).encode(env)
}

fn partial<'a>(env: Env<'a>, held: &SharedStream, text: Binary<'a>, pace: Pace) -> Term<'a> {
    if is_too_long(pace, text.len(), PARTIAL_BYTES) {
        return atoms::busy().encode(env);
    }
    let mut heap = Beam::new(env, 0);
    match held.take(pace) {
        Some(stream) => match stream.partial(text.as_slice(), &mut heap) {
            Some(answer) => (atoms::ok(), answer.value.term(env)).encode(env),
            None => atoms::none().encode(env),
        },
        None => atoms::busy().encode(env),
    }
}

nif! {
    /// Makes `{:ok, stream}`: a separate stream of the same kind that has read this text.
    dirty fn stream_again(held: ResourceArc<SharedStream>, text: Binary) -> NifResult<(Atom, ResourceArc<SharedStream>)> {
        let stream = held.take(Pace::Quantum).ok_or(rustler::Error::BadArg)?;
        let again = stream.again(text.as_slice());
        Ok((atoms::ok(), ResourceArc::new(SharedStream(Mutex::new(again)))))
    }
}

nif_pair! {
    /// Makes `{:ok, stream}`, which has read nothing, or returns `:busy`.
    fn stream_new, stream_new_dirty<'a>(env, pace, of: Term<'a>, list: bool, early: bool, prose: bool) -> Term<'a> {
        let caution = [Caution::Certain, Caution::Early][usize::from(early)];
        new(env, of, list, Rules { caution, prose }, pace)
    }
}

nif_pair! {
    /// Reads a chunk: `:ok`, `{:halt, mistake}`, `:fork` if the stream has not read `taken` bytes, or `:busy`. With `looks`, nothing is read of a
    /// chunk that may end a tag of thinking: `:tag`.
    fn stream_feed, stream_feed_dirty<'a>(env, pace, held: &'a SharedStream, taken: usize, chunk: Binary<'a>, looks: bool) -> Term<'a> {
        feed(env, held, (taken, looks), chunk, pace)
    }
}

nif_pair! {
    /// The value of the text so far. Not suspended: the work is bounded by the text's length, which the
    /// stream's `:max_bytes` limits.
    fn stream_partial, stream_partial_dirty<'a>(env, pace, held: &'a SharedStream, text: Binary<'a>) -> Term<'a> {
        partial(env, held, text, pace)
    }
}
