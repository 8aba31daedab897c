//! `json_decode/3`: JSON text to terms.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::task::{Call, Work};
use crate::wire;
use ptc_core::json::{Extent, FrozenTerms, JsonLimits, Parts, ReadError, Reader, TermBuilder};
use ptc_core::stop::Stop;
use ptc_core::workspace::Workspace;
use rustler::{Encoder, NifResult, Term};

/// Each bracket costs one byte during parsing, so the depth needs no limit.
const ANY_DEPTH: JsonLimits = JsonLimits::depth(usize::MAX);

/// A text that is being parsed.
pub struct Decoding {
    reader: Reader,
    parts: Parts,
}

nif! {
    /// `{:ok, term}`, `{:error, {kind, position}}`, `{:error, {:too_deep, limit, position}}`,
    /// `{:error, :timeout | :memory_exceeded}` or `{:more, state, terms}`. If `depth` is not an integer,
    /// there is no limit. `given` is `{timeout, max_heap}`.
    fn json_decode<'a>(env, text: Term<'a>, depth: Term<'a>, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let bytes = call.terms().bytes(text.into());
        let bytes = bytes.ok_or(rustler::Error::BadArg)?;
        let depth = depth.decode().map_or(ANY_DEPTH, JsonLimits::depth);
        let decoding = Decoding {
            reader: Reader::new(0, Extent::Whole, depth),
            parts: Parts::default(),
        };
        let values = Raw::from(atoms::nil().encode(env));
        let frozen = FrozenTerms { values, tail: None };
        Ok(read(call, text.into(), bytes, decoding, frozen))
    }
}

impl Work for Decoding {
    fn go_on<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let [text, values, tail] = *terms else {
            return None;
        };
        let bytes = call.terms().bytes(text)?;
        let frozen = thawed(&call, values, tail);
        Some(read(call, text, bytes, *self, frozen))
    }

    fn reads_text(&self) -> bool {
        true
    }
}

/// The builder's terms from the tuple of a suspension.
pub fn thawed<'a>(call: &Call<'a>, values: Raw<'a>, tail: Raw<'a>) -> FrozenTerms<Raw<'a>> {
    let is_none = atoms::nil() == tail.term(call.env);
    FrozenTerms {
        values,
        tail: (!is_none).then_some(tail),
    }
}

/// The builder's terms for the tuple of a suspension.
pub fn frozen<'a>(call: &Call<'a>, frozen: FrozenTerms<Raw<'a>>) -> [Raw<'a>; 2] {
    let nil = Raw::from(atoms::nil().encode(call.env));
    [frozen.values, frozen.tail.unwrap_or(nil)]
}

fn read<'a>(
    mut call: Call<'a>,
    text: Raw<'a>,
    bytes: &[u8],
    decoding: Decoding,
    terms: FrozenTerms<Raw<'a>>,
) -> Term<'a> {
    let env = call.env;
    let Decoding { mut reader, parts } = decoding;
    let (mut heap, mut meter) = (Beam::new(env, call.words), call.meter());
    let work = Workspace::new(&mut heap, &mut meter);
    let mut builder = TermBuilder::thaw(work, parts, terms);
    let read = reader.read(bytes, &mut builder);
    let within = builder.check_heap_limit();
    match read {
        Ok(_) if within.is_err() => call.stopped(Stop::MemoryExceeded),
        Ok(_) => {
            let term = builder.finish().term(env);
            call.settle(&meter);
            (atoms::ok(), term).encode(env)
        }
        Err(ReadError::Json(error)) => {
            drop(builder);
            call.settle(&meter);
            (atoms::error(), wire::json_error_detail(env, error)).encode(env)
        }
        Err(ReadError::Stop(Stop::SliceOver)) => {
            let (parts, terms) = builder.freeze();
            call.settle(&meter);
            call.words = ptc_core::heap::Heap::words_built(&heap);
            let [values, tail] = frozen(&call, terms);
            call.more(Decoding { reader, parts }, &[text, values, tail])
        }
        Err(ReadError::Stop(stop)) => call.stopped(stop),
    }
}
