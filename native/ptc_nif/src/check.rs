//! `check_program/7`: the types of a program's values, before it runs; `locate/2`: where a part stands in its text;
//! `type_of/2`: the type of a sample.

use crate::asked::Question;
use crate::atoms;
use crate::clock::nif;
use crate::handle::{right_consts, Handle};
use crate::heap::Beam;
use crate::program::{detail_of, refused, CompileOptionsArg};
use crate::raw::Raw;
use crate::schedule::Pace;
use crate::task::{run, Call, Task};
use ptc_program::load::Refusal;
use ptc_program::typing::given::GivenTypes;
use ptc_program::typing::job::Check;
use ptc_program::typing::locate::Locate;
use ptc_program::typing::sample::Sample;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter};
use ptc_term::rooted;
use ptc_term::stop::Stop;
use rustler::{Atom, Encoder, Error, NifResult, ResourceArc, Term};

/// A check, with its text or its program.
struct Checking<T> {
    source: T,
    check: Check<T>,
}

rooted!(Checking { terms: source; states: check; });

nif! {
    /// `{:ok, {type, reads, tools, findings}}`, or the errors of `compile_text` and `compile_node`. `source`: the text
    /// `{"program": …}`, or the program itself. `types`, `memory`: maps of names to types, `tools`: of names to signatures or nil,
    /// `returns`: a type; nil where nothing is known.
    fn check_program<'a>(
        env, source: Term<'a>, reading: CompileOptionsArg, types: Term<'a>, tools: Term<'a>, memory: Term<'a>,
        returns: Term<'a>, given: (Term<'a>, Term<'a>)
    ) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let options = reading.reading(true);
        let given = GivenTypes {
            types: types.into(),
            memory: memory.into(),
            tools: tools.into(),
            returns: returns.into(),
        };
        let source = Raw::from(source);
        let check = match call.terms().bytes(source) {
            Some(text) => Check::of_text(text.len(), options, given),
            None => Check::of_term(source, options, given),
        };
        Ok(run::<Checking<()>>(call, Checking { source, check }))
    }
}

nif! {
    /// Checks a program that was compiled, with its constants and its text, or nil if it is a term. Nothing is read again, and
    /// the answer to an equal question is that from before.
    /// `detail`: `:findings`, `:observed` (the type of each operation too), `:plan`, or
    /// `:recipes` (the plan, and how the arguments of each call are made).
    fn check_compiled<'a>(
        env, handle: ResourceArc<Handle>, consts: Term<'a>, text: Term<'a>, detail: Atom, types: Term<'a>, tools: Term<'a>,
        memory: Term<'a>, returns: Term<'a>, given: (Term<'a>, Term<'a>)
    ) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, handle.consts)?;
        let text = Raw::from(text);
        let source = handle.source_of(call.terms(), text).ok_or(Error::BadArg)?;
        let question = Question {
            detail: detail_of(detail),
            terms: [types, tools, memory, returns],
            limits: call.limits,
        };
        if let Some(answer) = handle.asked.find(env, &question) {
            return Ok((atoms::ok(), answer).encode(env));
        }
        let given = GivenTypes {
            types: types.into(),
            memory: memory.into(),
            tools: tools.into(),
            returns: returns.into(),
        };
        let constant = |at: usize| consts.slice().get(at).copied();
        let check = Check::of_source(source, constant, question.detail, given);
        let reply = run::<Checking<()>>(call, Checking { source: text, check });
        if let Ok((word, answer)) = reply.decode::<(Atom, Term)>() {
            if word == atoms::ok() {
                handle.asked.keep(env, &question, answer);
            }
        }
        Ok(reply)
    }
}

impl<'a> Task<'a> for Checking<Raw<'a>> {
    type Out = Result<Raw<'a>, Refusal<Raw<'a>>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.source).unwrap_or_default();
        self.check.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, mut heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        match out {
            Ok(reply) => (atoms::ok(), reply.term(call.env)).encode(call.env),
            Err(refusal) => refused(&mut heap, refusal),
        }
    }

    fn reads_text(&self) -> bool {
        self.check.needs_text()
    }
}

/// A place that is looked for, with the text.
struct Locating<T> {
    text: T,
    locate: Locate<T>,
}

rooted!(Locating { terms: text; states: locate; });

nif! {
    /// `{:ok, {line, column} | nil}`: of the end of a path in a program's text, from 1; columns in characters. The text is read, if
    /// there is no handle.
    fn locate<'a>(env, handle: Option<ResourceArc<Handle>>, text: Term<'a>, path: Term<'a>) -> NifResult<Term<'a>> {
        let call = Call::first(env, Limits::UNLIMITED, Pace::Slice);
        let text = Raw::from(text);
        let length = call.terms().bytes(text).ok_or(Error::BadArg)?.len();
        let locate = match handle {
            Some(handle) => Locate::of_source(handle.source_of(call.terms(), text).ok_or(Error::BadArg)?, path.into()),
            None => Locate::new(length, path.into()),
        };
        Ok(run::<Locating<()>>(call, Locating { text, locate }))
    }
}

impl<'a> Task<'a> for Locating<Raw<'a>> {
    type Out = Raw<'a>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        self.locate.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, place: Self::Out) -> Term<'a> {
        (atoms::ok(), place.term(call.env)).encode(call.env)
    }
}

nif! {
    /// `{:ok, type}`: of a sample, of which at most `rows` items of each list are read.
    fn type_of<'a>(env, value: Term<'a>, rows: usize) -> Term<'a> {
        let call = Call::first(env, Limits::UNLIMITED, Pace::Slice);
        let sample = Sample::new(value.into(), rows, &Beam::new(env, 0));
        run::<Sample<()>>(call, sample)
    }
}

impl<'a> Task<'a> for Sample<Raw<'a>> {
    type Out = Raw<'a>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        Job::step(self, &[], heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, ty: Self::Out) -> Term<'a> {
        (atoms::ok(), ty.term(call.env)).encode(call.env)
    }

    fn reads_text(&self) -> bool {
        false
    }
}
