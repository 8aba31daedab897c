//! Runs over JSON texts that are not decoded, and how texts are found in a context.

use crate::atoms;
use crate::clock::nif;
use crate::execution::started;
use crate::explain::right_consts;
use crate::heap::Beam;
use crate::map_view::{view, MapView};
use crate::program::Handle;
use crate::raw::{Raw, TermKind, Terms};
use crate::run::RunArgs;
use crate::task::{kept, run, Call, Task};
use crate::wire;
use ptc_program::over_texts::{Outcome, TextRun};
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;
use ptc_term::weight::words_of_row;
use rustler::types::atom::{__struct__, Atom};
use rustler::{Encoder, Error, NifResult, ResourceArc, Term};

rustler::atoms! { text = "Elixir.PtcRunner.Json.Text" }

/// Whether a value of a context is a `PtcRunner.Json.Text`. Looks at each value, but into none that is not a map.
#[inline]
pub fn has_text<'a>(terms: Terms<'a>, context: Raw<'a>) -> bool {
    match view(terms, context) {
        MapView::Flat(flat) => {
            let mut values = flat.values.iter();
            values.any(|value| terms.kind(*value) == TermKind::Map && is_text(terms, *value))
        }
        MapView::Large => {
            let entries = terms.entries(context);
            entries.iter().any(|(_, value)| is_text(terms, *value))
        }
        MapView::NotAMap => false,
    }
}

fn is_text<'a>(terms: Terms<'a>, value: Raw<'a>) -> bool {
    let word = |atom: Atom| Raw::from(atom.encode(terms.env)).word();
    match view(terms, value) {
        // The struct has one field.
        MapView::Flat(flat) if flat.keys.len() == 2 => {
            let place = flat
                .values
                .iter()
                .position(|value| value.word() == word(text()));
            place.is_some_and(|place| flat.keys[place].word() == word(__struct__()))
        }
        _ => false,
    }
}

nif! {
    /// Runs a compiled program over a context with texts: in the place of each one it has a tuple of a marker and a number, and
    /// `texts` is a tuple of the marker and the texts. The replies are those of `run_compiled`, or `:decode` if a text must be
    /// decoded. The run never moves.
    fn run_over_texts<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, given: RunArgs<'a>, texts: Term<'a>)
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, (given.timeout, given.max_heap))?;
        right_consts(&Beam::new(env, 0), consts, handle.consts)?;
        let (program, terms) = (handle.program.clone(), (texts.into(), consts.into()));
        let of_texts = TextRun::new(program, terms, given.data, &Beam::new(env, 0)).ok_or(Error::BadArg)?;
        Ok(run::<TextRun<()>>(call, of_texts))
    }
}

impl<'a> Task<'a> for TextRun<Raw<'a>> {
    type Out = Outcome<Raw<'a>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let terms = heap.terms;
        let texts = terms.tuple(self.texts).and_then(|all| all.get(1..));
        let texts = texts.unwrap_or_default().iter();
        let texts: Option<Vec<_>> = texts.map(|text| terms.bytes(*text)).collect();
        let texts = texts.ok_or(Stop::Abandoned)?;
        let below = std::mem::replace(heap, Beam::new(terms.env, 0));
        let (outcome, words) = TextRun::step(self, &texts, below, meter);
        *heap = Beam::new(terms.env, words);
        outcome
    }

    fn reply(self, mut call: Call<'a>, heap: Beam<'a>, outcome: Self::Out) -> Term<'a> {
        use ptc_term::heap::Heap;
        let env = call.env;
        match outcome {
            Outcome::Value(value) => (atoms::ok(), value.term(env), heap.words_built()).encode(env),
            Outcome::Fault(fault) => wire::fault(&heap, atoms::execution(), fault),
            Outcome::Undecoded => atoms::decode().encode(env),
            Outcome::Uncaught => atoms::uncaught().encode(env),
            Outcome::Call { tool, args } => {
                let left = started(env, &mut call.limits.deadline);
                let weight = words_of_row(&heap, args);
                let (tool, args) = (tool.term(env), args.term(env));
                let (_, state, terms) = kept::<TextRun<()>>(call, heap, self);
                (atoms::call(), state, terms, tool, args, left, weight).encode(env)
            }
        }
    }

    fn answered(&mut self, answer: Raw<'a>, failed: bool) {
        TextRun::answered(self, answer, failed);
    }

    fn reads_text(&self) -> bool {
        false
    }

    fn needs_quantum(&self) -> bool {
        TextRun::needs_quantum(self)
    }
}
