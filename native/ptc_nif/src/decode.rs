//! `json_decode/3` and `json_decode_exact/2`: JSON text to terms. `json_measure/3`: how large these would be.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::task::{run, Call, Task};
use crate::wire;
use ptc_json::{Decoding, JsonError, JsonLimits, Measuring, Words};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use rustler::{Encoder, NifResult, Term};

/// Each bracket costs one byte during parsing, so the depth needs no limit.
const ANY_DEPTH: JsonLimits = JsonLimits::depth(usize::MAX);

struct Decode<T> {
    text: T,
    decoding: Decoding<T>,
}

rooted!(Decode { terms: text; states: decoding; });

nif! {
    /// `{:ok, term}`, `{:error, {kind, position}}`, `{:error, {:too_deep, limit, position}}`,
    /// `{:error, :timeout | :memory_exceeded}` or `{:more, state, terms}`. If `depth` is not an integer,
    /// there is no limit. `given` is `{timeout, max_heap}`.
    fn json_decode<'a>(env, text: Term<'a>, depth: Term<'a>, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        call.terms().bytes(text.into()).ok_or(rustler::Error::BadArg)?;
        let depth = depth.decode().map_or(ANY_DEPTH, JsonLimits::depth);
        let decode = Decode {
            text: text.into(),
            decoding: Decoding::new(depth),
        };
        Ok(run::<Decode<()>>(call, decode))
    }
}

nif! {
    /// Decodes a JSON text without a limit of depth. A number that is not the value of its double is the tuple of the double and its
    /// digits.
    fn json_decode_exact<'a>(env, text: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        call.terms().bytes(text.into()).ok_or(rustler::Error::BadArg)?;
        let decode = Decode {
            text: text.into(),
            decoding: Decoding::exact(ANY_DEPTH),
        };
        Ok(run::<Decode<()>>(call, decode))
    }
}

struct Measure<T> {
    text: T,
    measuring: Measuring,
}

rooted!(Measure { terms: text; plain: measuring });

nif! {
    /// `{:ok, {words, held}}` for a text whose value takes so many words, as limits count them and in the memory of a heap; else the replies of
    /// `json_decode/3`. Nothing is built.
    fn json_measure<'a>(env, text: Term<'a>, depth: Term<'a>, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        call.terms().bytes(text.into()).ok_or(rustler::Error::BadArg)?;
        let depth = depth.decode().map_or(ANY_DEPTH, JsonLimits::depth);
        let measure = Measure {
            text: text.into(),
            measuring: Measuring::new(depth),
        };
        Ok(run::<Measure<()>>(call, measure))
    }
}

impl<'a> Task<'a> for Measure<Raw<'a>> {
    type Out = Result<Words, JsonError>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        self.measuring.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        match out {
            Ok(words) => (atoms::ok(), (words.built, words.held)).encode(call.env),
            Err(error) => {
                (atoms::error(), wire::json_error_detail(call.env, error)).encode(call.env)
            }
        }
    }
}

impl<'a> Task<'a> for Decode<Raw<'a>> {
    type Out = Result<Raw<'a>, JsonError>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        self.decoding.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        match out {
            Ok(term) => (atoms::ok(), term.term(call.env)).encode(call.env),
            Err(error) => {
                (atoms::error(), wire::json_error_detail(call.env, error)).encode(call.env)
            }
        }
    }
}
