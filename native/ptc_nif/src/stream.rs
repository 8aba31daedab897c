//! Answers while they come in: a stream between two chunks, and the NIFs that feed and end it.
//!
//! A stream is a value on the Elixir side: the text so far, and a reference to what is here, which is
//! small: the text is kept where the VM counts its memory. If another value went on from the same
//! place, the reference has taken more, and the first of the two that comes back is given one of its
//! own, made from its text.

use crate::atoms;
use crate::heap::Beam;
use crate::program::charge_for_text;
use crate::raw::{Raw, Terms};
use crate::signature::{plan, Pace};
use ptc_core::answer::stream::{Caution, Mistake, Rules, Segment, Stream, What};
use ptc_core::signature::mismatch::UNEXPECTED_FIELD;
use rustler::{Binary, Encoder, Env, Resource, ResourceArc, Term};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A stream between two calls.
pub struct Held(Mutex<Stream>);

#[rustler::resource_impl]
impl Resource for Held {}

/// As many bytes are read on a scheduler's own thread: a fraction of a millisecond.
const BYTES_IN_A_SLICE: usize = 65_536;
const TEXT_IN_A_SLICE: usize = 32_768;

impl Held {
    /// The stream, unless another process is at it and this thread must not wait.
    fn take(&self, pace: Pace) -> Option<MutexGuard<'_, Stream>> {
        match pace {
            // Whoever held it panicked between two bytes at worst: the stream is as it was.
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
    match plan(env, of.into(), list, pace) {
        Some(plan) => ResourceArc::new(Held(Mutex::new(Stream::new(plan, rules)))).encode(env),
        None => atoms::busy().encode(env),
    }
}

fn feed<'a>(env: Env<'a>, held: &Held, taken: usize, chunk: Binary<'a>, pace: Pace) -> Term<'a> {
    let Some(mut stream) = held.take(pace) else {
        return atoms::busy().encode(env);
    };
    if stream.taken() != taken {
        return atoms::fork().encode(env);
    }
    if pace == Pace::Slice {
        charge_for_text(env, chunk.as_slice());
    }
    if pace == Pace::Slice && chunk.len() > BYTES_IN_A_SLICE {
        return atoms::busy().encode(env);
    }
    match stream.feed(chunk.as_slice()) {
        None => stream.taken().encode(env),
        Some(mistake) => (atoms::halt(), shown(env, mistake)).encode(env),
    }
}

fn shown<'a>(env: Env<'a>, mistake: &Mistake) -> Term<'a> {
    let message = match &mistake.what {
        What::Mismatch(mismatch) => mismatch.to_string(),
        What::Unexpected => UNEXPECTED_FIELD.to_string(),
        What::NotAnObject => return atoms::not_an_object().encode(env),
        What::NotWrapped => return atoms::not_wrapped().encode(env),
        What::Prose => return atoms::prose().encode(env),
        What::Syntax(offset) => return (atoms::syntax(), *offset).encode(env),
    };
    let terms = Terms { env };
    let segment = |segment: &Segment| match segment {
        Segment::Name(name) => terms.make_binary(name),
        Segment::Index(index) => terms.make_integer(*index as i64),
    };
    let path: Vec<Raw> = mistake.path.iter().map(segment).collect();
    let path = terms.make_list(&path).term(env);
    (path, message).encode(env)
}

fn partial<'a>(env: Env<'a>, held: &Held, text: Binary<'a>, pace: Pace) -> Term<'a> {
    if pace == Pace::Slice && text.len() > TEXT_IN_A_SLICE {
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

/// A stream of its own, of the same kind, that took this text.
#[rustler::nif(schedule = "DirtyCpu")]
fn stream_again(held: ResourceArc<Held>, text: Binary) -> rustler::NifResult<ResourceArc<Held>> {
    let _clock = crate::clock::start("stream_again");
    let stream = held.take(Pace::Quantum).ok_or(rustler::Error::BadArg)?;
    let again = stream.again(text.as_slice());
    Ok(ResourceArc::new(Held(Mutex::new(again))))
}

macro_rules! stream_nifs {
    ($new:ident, $feed:ident, $partial:ident, $schedule:literal, $pace:expr) => {
        /// A stream that nothing came from yet.
        #[rustler::nif(schedule = $schedule)]
        fn $new<'a>(env: Env<'a>, of: Term<'a>, list: bool, early: bool, prose: bool) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($new));
            let caution = match early {
                true => Caution::Early,
                false => Caution::Certain,
            };
            new(env, of, list, Rules { caution, prose }, $pace)
        }

        /// Takes a chunk.
        #[rustler::nif(schedule = $schedule)]
        fn $feed<'a>(
            env: Env<'a>,
            held: ResourceArc<Held>,
            taken: usize,
            chunk: Binary<'a>,
        ) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($feed));
            feed(env, &held, taken, chunk, $pace)
        }

        /// The value as far as it came.
        #[rustler::nif(schedule = $schedule)]
        fn $partial<'a>(env: Env<'a>, held: ResourceArc<Held>, text: Binary<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($partial));
            partial(env, &held, text, $pace)
        }
    };
}

stream_nifs!(
    stream_new,
    stream_feed,
    stream_partial,
    "Normal",
    Pace::Slice
);
stream_nifs!(
    stream_new_dirty,
    stream_feed_dirty,
    stream_partial_dirty,
    "DirtyCpu",
    Pace::Quantum
);
