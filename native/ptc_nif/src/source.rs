//! Questions about the source of a compiled program, which its handle answers: a part of it, the path of a call, its size, its digest.

use crate::atoms;
use crate::clock::nif;
use crate::handle::{consts_of, right_consts, Handle};
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::Pace;
use crate::task::{run, Call, Task};
use ptc_program::part::{CallPath, ProgramPart};
use ptc_program::source::Digests;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter};
use ptc_term::rooted;
use ptc_term::stop::Stop;
use rustler::{Atom, Encoder, Error, NifResult, ResourceArc, Term};

/// A part that is looked for, with the text.
struct Finding<T> {
    text: T,
    part: ProgramPart<T>,
}

rooted!(Finding { terms: text; states: part; });

nif! {
    /// `{:ok, term}`: the part at the end of a path in a program that was compiled from this text; `{:ok, nil}` if there is none.
    fn program_part<'a>(env, handle: ResourceArc<Handle>, text: Term<'a>, path: Term<'a>) -> NifResult<Term<'a>> {
        let call = Call::first(env, Limits::UNLIMITED, Pace::Slice);
        let text = Raw::from(text);
        let source = handle.source_of(call.terms(), text).filter(|source| source.has_text());
        let part = ProgramPart::new(source.ok_or(Error::BadArg)?, path.into());
        Ok(run::<Finding<()>>(call, Finding { text, part }))
    }
}

impl<'a> Task<'a> for Finding<Raw<'a>> {
    type Out = Option<Raw<'a>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        self.part.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, part: Self::Out) -> Term<'a> {
        let part = part.map_or(atoms::nil().encode(call.env), |part| part.term(call.env));
        (atoms::ok(), part).encode(call.env)
    }
}

/// The path of a call that is looked for, with the text and the constants.
struct Tracing<T> {
    text: T,
    consts: T,
    path: CallPath,
    is_text: bool,
}

rooted!(Tracing { terms: text, consts; plain: path, is_text });

nif! {
    /// `{:ok, path}`: of the call at this address, in a program that was compiled from this text, or from a term (nil);
    /// `{:ok, nil}` if there is none.
    fn call_path<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, text: Term<'a>, pc: u32) -> NifResult<Term<'a>> {
        let call = Call::first(env, Limits::UNLIMITED, Pace::Slice);
        right_consts(&Beam::new(env, 0), consts, handle.consts)?;
        let text = Raw::from(text);
        let source = handle.source_of(call.terms(), text).ok_or(Error::BadArg)?;
        let is_text = source.has_text();
        let number = handle.program.call_number(pc).checked_sub(1);
        let path = CallPath::new(source, number);
        let tracing = Tracing { text, consts: consts.into(), path, is_text };
        Ok(run::<Tracing<()>>(call, tracing))
    }
}

impl<'a> Task<'a> for Tracing<Raw<'a>> {
    type Out = Raw<'a>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        let consts = consts_of(heap, self.consts);
        let constant = |at: usize| consts.as_ref()?.slice().get(at).copied();
        self.path.step(text, constant, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, path: Self::Out) -> Term<'a> {
        (atoms::ok(), path.term(call.env)).encode(call.env)
    }

    fn reads_text(&self) -> bool {
        self.is_text
    }
}

nif! {
    /// The bytes that a compiled program keeps of its source, besides its text and its constants.
    fn source_bytes<'a>(_env, handle: ResourceArc<Handle>) -> usize {
        handle.source.as_ref().map_or(0, |source| source.bytes())
    }
}

/// Maximum bytes of a digest.
const LONGEST_DIGEST: usize = 64;

nif! {
    /// Keeps the digest of a program with that of its text.
    fn keep_digest<'a>(env, handle: ResourceArc<Handle>, text: Term<'a>, program: Term<'a>) -> NifResult<Atom> {
        let terms = Terms { env };
        let digest = |term: Term<'a>| {
            let bytes = terms.bytes(term.into()).filter(|bytes| bytes.len() <= LONGEST_DIGEST);
            bytes.map(Box::from).ok_or(Error::BadArg)
        };
        let (text, program) = (digest(text)?, digest(program)?);
        if let Some(source) = &handle.source {
            // The first one stays.
            let _ = source.digests.set(Digests { text, program });
        }
        Ok(atoms::ok())
    }
}

nif! {
    /// The digest of a program whose text has this digest, if it is kept; else nil.
    fn kept_digest<'a>(env, handle: ResourceArc<Handle>, text: Term<'a>) -> NifResult<Option<Term<'a>>> {
        let terms = Terms { env };
        let text = terms.bytes(text.into()).ok_or(Error::BadArg)?;
        let kept = handle.source.as_ref().and_then(|source| source.digests.get());
        let kept = kept.filter(|it| *it.text == *text);
        Ok(kept.map(|it| terms.make_binary(&it.program).term(env)))
    }
}
