//! JSON texts that are not decoded: their indexes, and how they are found in a context.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::map_view::{view, MapView};
use crate::raw::{Raw, TermKind, Terms};
use crate::task::{run, Call, Task};
use ptc_index::{Index, Indexer, Invalid};
use ptc_lazy::fits;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use rustler::{Encoder, NifResult, Resource, ResourceArc, Term};

/// Bytes that are indexed between two looks at the clock, and the fuel for them.
const STEP: usize = 64 * 1024;
const FUEL_OF_STEP: usize = 4_096;
const BYTES_PER_WORD: usize = 8;

rustler::atoms! {
    struct_ = "__struct__",
    text = "Elixir.PtcRunner.Json.Text",
    invalid,
    unfit,
}

/// Resource of the index of a text.
pub struct TextIndex {
    pub index: Index,
}

#[rustler::resource_impl]
impl Resource for TextIndex {}

/// Whether a value of a context is a `PtcRunner.Json.Text`. Looks at each value, but into none that is not a struct.
pub fn has_text<'a>(terms: Terms<'a>, context: Raw<'a>) -> bool {
    match view(terms, context) {
        MapView::Flat(flat) => flat.values.iter().any(|value| is_text(terms, *value)),
        MapView::Large => terms
            .entries(context)
            .iter()
            .any(|(_, value)| is_text(terms, *value)),
        MapView::NotAMap => false,
    }
}

#[inline]
fn is_text<'a>(terms: Terms<'a>, value: Raw<'a>) -> bool {
    // Most values are lists and strings.
    if terms.kind(value) != TermKind::Map {
        return false;
    }
    let MapView::Flat(flat) = view(terms, value) else {
        return false;
    };
    // The struct has one field.
    if flat.keys.len() != 2 {
        return false;
    }
    let word = |atom: rustler::Atom| Raw::from(atom.encode(terms.env)).word();
    let (key, module) = (word(struct_()), word(text()));
    let mut pairs = flat.keys.iter().zip(flat.values);
    pairs.any(|(other, value)| other.word() == key && value.word() == module)
}

/// A text that is being indexed.
struct Indexing<T> {
    text: T,
    indexer: Box<Indexer>,
}

rooted!(Indexing { terms: text; plain: indexer });

nif! {
    /// `{:ok, index, words}`; `{:error, :invalid}` for a text that is not JSON; `{:error, :unfit}` for one that must be decoded,
    /// `{:error, :timeout | :memory_exceeded}` or `{:more, state, terms}`. `given` is `{timeout, max_heap}`.
    fn json_index<'a>(env, text: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let bytes = call.terms().bytes(text.into()).ok_or(rustler::Error::BadArg)?;
        let Some(indexer) = Indexer::new(bytes.len(), usize::MAX) else {
            return Ok((atoms::error(), unfit()).encode(env));
        };
        let indexing = Indexing {
            text: text.into(),
            indexer: Box::new(indexer),
        };
        Ok(run::<Indexing<()>>(call, indexing))
    }
}

/// Why a text has no index that is used.
enum Unusable {
    Invalid,
    Unfit,
}

impl<'a> Task<'a> for Indexing<Raw<'a>> {
    type Out = Result<Index, Unusable>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        loop {
            meter.consume_fuel(FUEL_OF_STEP, heap)?;
            meter.check_heap_limit(self.indexer.bytes() / BYTES_PER_WORD, heap)?;
            match self.indexer.step(text, STEP) {
                Err(Invalid) => return Ok(Err(Unusable::Invalid)),
                Ok(None) => {}
                Ok(Some(index)) if fits(&index) => return Ok(Ok(index)),
                Ok(Some(_)) => return Ok(Err(Unusable::Unfit)),
            }
        }
    }

    fn reply(self, call: Call<'a>, heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        let env = call.env;
        match out {
            Ok(index) => {
                let words = heap.words_built() + index.bytes() / BYTES_PER_WORD;
                let index = ResourceArc::new(TextIndex { index });
                (atoms::ok(), index, words).encode(env)
            }
            Err(Unusable::Invalid) => (atoms::error(), invalid()).encode(env),
            Err(Unusable::Unfit) => (atoms::error(), unfit()).encode(env),
        }
    }
}
